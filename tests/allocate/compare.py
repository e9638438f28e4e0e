"""Runs questions through allocate/ and through tests/allocate/oracle.go, and finds answers that differ.

"Not judged" never differs. A question that upstream could not answer in its time is not compared.
"""

import collections
import dataclasses
import json
import subprocess

NOT_JUDGED, TIMEOUT = "not judged", "timeout"
TRIES = 3


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


def written(answer):
    """What counts of an answer, as a word and its details. Messages of selectors and classes begin with upstream's words; what
    follows is another program's."""
    if answer["verdict"] == "fits":
        return "fits " + ";".join(" ".join(map(result_text, claim)) for claim in answer["results"])
    if answer["verdict"] == "error":
        return "error " + answer["message"].split(" error: ")[0].split(": there is none")[0]
    return answer["verdict"]


def result_text(result):
    """The star: with admin access."""
    return f"{result['request']}={result['driver']}/{result['pool']}/{result['device']}{'*' if result['admin'] else ''}"


# ---- answers as written ----


def each_node(questions):
    """Questions of one node each; some have several ("nodes"), which upstream answers at once."""
    return [{**question, "node": node} for question in questions for node in question.get("nodes") or [question["node"]]]


def ours(our_program, questions):
    """A list for each question, with an answer for each node."""
    each = map(written, answers(our_program, each_node(questions)))
    return [[next(each) for _ in question.get("nodes", "1")] for question in questions]


def asked_once(oracle, questions):
    given = answers(oracle, questions) if questions else []
    return [[written(answer) for answer in (each if isinstance(each, list) else [each])] for each in given]


def upstream(oracle, questions):
    """As ours(). On a busy machine upstream may miss its time, so it is asked again what it did not answer."""
    given = asked_once(oracle, questions)
    for _ in range(TRIES - 1):
        late = [i for i, each in enumerate(given) if TIMEOUT in each]
        for i, each in zip(late, asked_once(oracle, [questions[i] for i in late]), strict=True):
            given[i] = each
    return given


# ---- tallies ----


def reason(message):
    """The kind of what is not judged."""
    return "slices disagree" if "disagree" in message else message.rsplit(": ", 1)[-1]


def compare(tally, questions, our_program, oracle):
    for question, ours, theirs in zip(questions, answers(our_program, questions), answers(oracle, questions), strict=True):
        tally.questions += 1
        if theirs["verdict"] == TIMEOUT:
            tally.timeouts += 1
        elif ours["verdict"] == NOT_JUDGED:
            tally.not_judged[reason(ours["message"])] += 1
        else:
            tally.verdicts[theirs["verdict"]] += 1
            if written(ours) != written(theirs):
                tally.differences.append((question, ours, theirs))
