"""Runs questions through cel/, and through tests/cel/oracle.go or its recorded answers (recorded.py), and finds answers that differ.

A question is {"expression", "driver", "devices"}, with devices as in a ResourceSlice. "Not judged" never differs.
"""

import dataclasses
import json
import re
import subprocess


@dataclasses.dataclass
class Tally:
    """Counts of verdicts on pairs of an expression and a device; an expression that does not compile is one pair."""

    pairs: int = 0
    not_judged: int = 0
    errors: int = 0
    true: int = 0
    invalid: int = 0
    too_complex: int = 0  # not judged, and the API server refuses it for its estimated cost
    differences: list = dataclasses.field(default_factory=list)

    def share_not_judged(self):
        return self.not_judged / max(self.pairs, 1)


COST_MAX = 1000000  # resourceapi.CELSelectorExpressionMaxCost


def run(program, text):
    return subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout.splitlines()


def answers(program, questions):
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    return [json.loads(line) for line in run(program, lines)]


# Words of an error that users search for; the rest may differ.
WORDS = ("no such key", "no such overload", "index out of bounds", "division by zero", "modulus by zero", "integer overflow",
         "could not be converted to bool", "dereference", "unhashable", "unsupported attribute value")


def words_of(error):
    """What counts of an error. The words of these words are themselves."""
    error = re.sub(r"[\x00-\x1f\x7f]", " ", error)  # ours are one line
    return error if error.startswith("no such key: ") else "; ".join(word for word in WORDS if word in error)


def goes_over_maps(question):
    """Upstream goes over maps in no order, so any of several errors may come first."""
    return any(word in question["expression"] for word in ("exists", "all(", "map(", "filter("))


def differs(question, ours, theirs):
    """Compares verdicts on one device."""
    if ("error" in ours) != ("error" in theirs):
        return True
    if "error" in ours:
        return not goes_over_maps(question) and words_of(ours["error"]) != words_of(theirs["error"])
    return ours["value"] != theirs["value"]


def compare_one(tally, question, ours, theirs):
    if "notJudged" in ours:
        tally.pairs += max(len(question["devices"]), 1)
        if "compileError" not in theirs and theirs["maxCost"] > COST_MAX:
            tally.too_complex += max(len(question["devices"]), 1)
        else:
            tally.not_judged += max(len(question["devices"]), 1)
        return
    if "compileError" in ours or "compileError" in theirs:
        tally.pairs += 1
        tally.invalid += 1
        if ("compileError" in ours) != ("compileError" in theirs):
            tally.differences.append((question, ours, theirs))
        return
    if theirs["maxCost"] > COST_MAX:
        tally.differences.append((question, ours, theirs))
        return
    for device, mine, upstream in zip(question["devices"], ours["verdicts"], theirs["verdicts"], strict=True):
        tally.pairs += 1
        tally.not_judged += "notJudged" in mine
        tally.errors += "error" in mine
        tally.true += mine.get("value", False)
        if "notJudged" not in mine and differs(question, mine, upstream):
            tally.differences.append(({**question, "devices": [device]}, mine, upstream))


def compare(tally, questions, our_program, oracle):
    theirs = answers(oracle, questions)
    for question, mine, upstream in zip(questions, answers(our_program, questions), theirs, strict=True):
        compare_one(tally, question, mine, upstream)
