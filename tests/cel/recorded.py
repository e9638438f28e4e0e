#!/usr/bin/env python3
# Compares cel/ with the recorded answers of kube-scheduler's own judge of selectors; no Go is needed.
"""Compares cel/ with the recorded answers of kube-scheduler's own judge of selectors.

    tests/cel/recorded.py --program build/test/tests/cel/cel_answer

The questions come in four sets: upstream's own table, the published selectors of wild.txt, those of corners.txt, and random ones
(generate.py). Status 1: some answers differ. tests/cel/record asks upstream's code and writes the files in tests/cel/recorded.

The answer to a question has a mark for each device: 1 and 0 are the value, a letter is an error at run time, whose words follow
after tabs in the order of the letters ("other": none that count; "any": upstream has no order). "invalid" does not compile, "costly" is more than kube-apiserver allows. After "~", cel/ did
not judge it when it was recorded, and need not now; whatever else it judges must stay judged.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import answer_files  # noqa: E402
import compare  # noqa: E402
import generate  # noqa: E402

RECORD = "tests/cel/record"
PAIRS, DEVICES, SEED = 10000, 10, 7
H100 = {
    "attributes": {
        "productName": {"string": "NVIDIA H100 80GB HBM3"},
        "type": {"string": "gpu"},
        "index": {"int": 1},
        "uuid": {"string": "GPU-1"},
        "architecture": {"string": "Hopper"},
        "driverVersion": {"version": "580.65.6"},
        "cudaComputeCapability": {"version": "9.0.0"},
        "resource.kubernetes.io/pciBusID": {"string": "0000:04:00.0"},
    },
    "capacity": {"memory": {"value": "81559Mi"}},
}
MIG = {
    "attributes": {"productName": {"string": "NVIDIA A100-SXM4-40GB"}, "type": {"string": "mig"}, "profile": {"string": "1g.5gb"}},
    "capacity": {"memory": {"value": "4864Mi"}},
}
# A second H100, of corners.txt.
OTHER = {
    "attributes": {
        **{name: H100["attributes"][name] for name in ("productName", "type", "cudaComputeCapability", "resource.kubernetes.io/pciBusID")},
        "index": {"int": 2},
        "sriov": {"bool": False},
        "driverVersion": {"version": "580.65.6-rc.1"},
    },
    "capacity": H100["capacity"],
}
EMPTY = {"allowMultipleAllocations": True}


def path_of(name):
    return os.path.join(HERE, "recorded", name)


def table():
    return [json.loads(line) for line in answer_files.lines_of(path_of("table.jsonl"))]


def of_file(name, devices):
    expressions = answer_files.lines_of(os.path.join(HERE, name))
    return [{"expression": text, "driver": "gpu.nvidia.com", "devices": devices} for text in expressions]


def wild():
    return of_file("wild.txt", [H100, MIG, EMPTY])


def corners():
    return of_file("corners.txt", [OTHER])


def at_random():
    dice = random.Random(SEED)
    return [generate.question(dice, DEVICES) for _ in range(PAIRS // DEVICES)]


SETS = {"table": table, "wild": wild, "corners": corners, "random": at_random}


def answers_path(name):
    return path_of(f"{name}.txt")


# ---- the form of an answer ----


def not_judged(mine, i):
    return "notJudged" in mine or ("compileError" not in mine and "notJudged" in mine["verdicts"][i])


def written(question, theirs, mine):
    """As in the files."""
    if "compileError" in theirs:
        return "~invalid" if "notJudged" in mine else "invalid"
    if theirs["maxCost"] > compare.COST_MAX:
        return "costly"
    marks, errors = [], []
    for i, verdict in enumerate(theirs["verdicts"]):
        mark = str(int(verdict["value"])) if "error" not in verdict else None
        if mark is None:
            words = "any" if compare.goes_over_maps(question) else compare.words_of(verdict["error"]) or "other"
            errors += [words] if words not in errors else []
            mark = chr(ord("a") + errors.index(words))
        marks.append(f"{'~' if not_judged(mine, i) else ''}{mark}")
    return "\t".join(["".join(marks), *errors])


def read(answer):
    """(upstream's answer in the form of oracle.go, whether cel/ must judge it on each device)."""
    marks, *errors = answer.split("\t")
    if marks.endswith("invalid"):
        return {"compileError": ""}, [marks == "invalid"]
    if marks == "costly":
        return {"maxCost": compare.COST_MAX + 1}, []
    found = re.findall("(~?)(.)", marks)
    verdicts = [{"value": mark == "1"} if mark in "01" else {"value": False, "error": errors[ord(mark) - ord("a")]} for _, mark in found]
    return {"maxCost": 0, "verdicts": verdicts}, [not tilde for tilde, _ in found]


# ---- comparing ----


def judge(name, program, tally):
    """Adds the set's pairs and differences to the tally."""
    questions = SETS[name]()
    recorded = answer_files.answers_for(questions, answers_path(name), RECORD)
    for question, mine, answer in zip(questions, compare.answers(program, questions), recorded, strict=True):
        theirs, is_judged = read(answer)
        if any(must and not_judged(mine, i) for i, must in enumerate(is_judged)):
            tally.differences.append((question, mine, {"judged when recorded": answer}))
        compare.compare_one(tally, question, mine, theirs)


def fresh(name, program, oracle):
    """The lines that the set's file has if upstream is asked now."""
    questions = SETS[name]()
    both = zip(questions, compare.answers(oracle, questions), compare.answers(program, questions), strict=True)
    return answer_files.lines_for(questions, [written(*each) for each in both])


def main():
    parser = argparse.ArgumentParser(description="Compares cel/ with recorded answers of kube-scheduler's own judge.")
    parser.add_argument("--program", required=True, help="cel_answer of a build")
    program = parser.parse_args().program
    tally = compare.Tally()
    try:
        for name in SETS:
            judge(name, program, tally)
    except (answer_files.Outdated, subprocess.CalledProcessError) as error:
        print(error)
        return 1
    for question, ours, theirs in tally.differences[:10]:
        print(json.dumps(question)[:600], "\n  ours:  ", json.dumps(ours)[:300], "\n  theirs:", json.dumps(theirs)[:300])
    print(f"{tally.pairs} pairs: {tally.true} match, {tally.errors} errors at run time, {tally.invalid} do not compile, {tally.too_complex} too complex for the API server, {tally.not_judged} not judged, {len(tally.differences)} differ")
    return 1 if tally.differences else 0


if __name__ == "__main__":
    sys.exit(main())
