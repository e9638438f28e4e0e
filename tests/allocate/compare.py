"""Runs questions through tests/allocate/oracle.go and through allocate/, and finds answers that differ.

"Not judged" never differs. A question that upstream could not answer in its time is not compared.
"""

import collections
import dataclasses
import json
import subprocess


@dataclasses.dataclass
class Tally:
    """How many questions had which verdict upstream, and what of them was judged here."""

    questions: int = 0
    timeouts: int = 0
    not_judged: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    verdicts: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    differences: list = dataclasses.field(default_factory=list)

    def judged(self):
        return sum(self.verdicts.values())


def answers(program, questions):
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    output = subprocess.run([program], input=lines, capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in output.splitlines()]


def same_words(ours, theirs):
    """Messages of selectors and classes begin with upstream's words; what follows is another program's."""
    return ours.split(" error: ")[0].split(": there is none")[0] == theirs.split(" error: ")[0].split(": there is none")[0]


def differs(ours, theirs):
    if ours["verdict"] != theirs["verdict"]:
        return True
    if ours["verdict"] == "fits":
        return ours["results"] != theirs["results"]
    return ours["verdict"] == "error" and not same_words(ours["message"], theirs["message"])


def reason(message):
    """The kind of what is not judged."""
    return "slices disagree" if "disagree" in message else message.rsplit(": ", 1)[-1]


def compare(tally, questions, our_program, oracle):
    for question, ours, theirs in zip(questions, answers(our_program, questions), answers(oracle, questions), strict=True):
        tally.questions += 1
        if theirs["verdict"] == "timeout":
            tally.timeouts += 1
        elif ours["verdict"] == "not judged":
            tally.not_judged[reason(ours["message"])] += 1
        else:
            tally.verdicts[theirs["verdict"]] += 1
            if differs(ours, theirs):
                tally.differences.append((question, ours, theirs))
