#!/usr/bin/env python3
# Compares allocate/ with the recorded answers of kube-scheduler's own allocator of devices; no Go is needed.
"""Compares allocate/ with the recorded answers of kube-scheduler's own allocator of devices.

    tests/allocate/recorded.py --program build/test/tests/allocate/allocate_answer

The questions come in three sets: upstream's own tests, random clusters and claims (generate.py), and random pods that are asked on all
nodes of a cluster (clusters.py). Status 1: some answers differ. tests/allocate/record asks upstream's code and writes the files in
tests/allocate/recorded.

The answer is that of compare.written(), in the set "sets" one for each node. After "~", allocate/ did not judge it when it was
recorded, and need not now; whatever else it judges must stay judged. "timeout": upstream takes too long, and nothing is compared.
"""

import argparse
import json
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.append(os.path.join(HERE, "../cel"))

import answer_files  # noqa: E402
import clusters  # noqa: E402
import compare  # noqa: E402
import generate  # noqa: E402

RECORD = "tests/allocate/record"
CASES, SEED = 1000, 11
CLUSTERS, CASES_OF_CLUSTER = 10, 10


def path_of(name):
    return os.path.join(HERE, "recorded", name)


def answers_path(name):
    return path_of(f"{name}.txt")


# ---- the questions ----


def at_random():
    dice = random.Random(SEED)
    return [generate.question(dice) for _ in range(CASES)]


def states():
    return [clusters.Cluster(seed, CASES_OF_CLUSTER) for seed in range(CLUSTERS)]


def sets():
    return [question for each in states() for question in each.questions()]


def table():
    """A member that a line does not have is that of the line before."""
    questions, question = [], {}
    for line in answer_files.lines_of(path_of("table.jsonl")):
        question = {**question, **json.loads(line)}
        questions.append(question)
    return questions


MEMBERS = ("node", "classes", "others", "slices", "claims")


def without_nothing(value):
    """Without null, which Go prints for what is not there."""
    if isinstance(value, dict):
        return {key: without_nothing(each) for key, each in value.items() if each is not None}
    return [without_nothing(each) for each in value] if isinstance(value, list) else value


def as_recorded(question):
    """A question of upstream's table without what its answer cannot depend on: Go prints empty structs, and sets in no order."""
    question = without_nothing(question)
    for claim in question["others"]:
        claim["status"]["allocation"]["devices"].get("results", []).sort(key=json.dumps)
    return {
        "node": {"metadata": question["node"]["metadata"]},
        "classes": sorted(question.get("classes", []), key=json.dumps),
        "others": [{"status": claim["status"]} for claim in question["others"] if claim["status"]["allocation"]["devices"]],
        "slices": question.get("slices", []),
        "claims": [{key: each for key, each in claim.items() if each} for claim in question.get("claims", [])],
    }


def table_lines(path):
    """The lines of table.jsonl from upstream's table, in an order in which much is the same as in the line before."""
    with open(path, encoding="utf-8") as file:
        questions = [as_recorded(json.loads(line)) for line in file]
    texts = sorted({tuple(json.dumps(question[name], sort_keys=True, separators=(",", ":")) for name in MEMBERS) for question in questions})
    lines, before = [], [None] * len(MEMBERS)
    for each in texts:
        new = (f'"{name}":{now}' for name, now, was in zip(MEMBERS, each, before, strict=True) if now != was)
        lines.append("{" + ",".join(new) + "}")
        before = each
    return lines


SETS = {"table": table, "random": at_random, "sets": sets}


def line(theirs, mine):
    """The answers on the nodes of a question, as in the files."""
    is_free = [our == compare.NOT_JUDGED and their != compare.TIMEOUT for their, our in zip(theirs, mine, strict=True)]
    return "\t".join(f"{'~' if free else ''}{their}" for their, free in zip(theirs, is_free, strict=True))


def fresh(name, program, oracle):
    """The lines that the set's file has if upstream is asked now."""
    questions = SETS[name]()
    return answer_files.lines_for(questions, map(line, compare.upstream(oracle, questions), compare.ours(program, questions)))


def answers_of(name, questions):
    """A list a question, an answer a node."""
    return [answer.split("\t") for answer in answer_files.answers_for(questions, answers_path(name), RECORD)]


def answers_by_cluster():
    """For node_sets.compare_clusters(): a function of a cluster's questions, which come in the order of states()."""
    each = iter(answers_of("sets", sets()))
    return lambda questions: [[answer.removeprefix("~") for answer in next(each)] for _ in questions]


def agrees(our, recorded):
    return our == recorded or recorded == compare.TIMEOUT or (recorded.startswith("~") and our in (compare.NOT_JUDGED, recorded[1:]))


def differences(name, program):
    """(how many answers were compared, [(the question, our answer, the recorded one)])."""
    questions = SETS[name]()
    recorded = [answer for each in answers_of(name, questions) for answer in each]
    mine = [answer for each in compare.ours(program, questions) for answer in each]
    both = list(zip(compare.each_node(questions), mine, recorded, strict=True))
    return len(both), [(question, our, their) for question, our, their in both if not agrees(our, their)]


def main():
    parser = argparse.ArgumentParser(description="Compares allocate/ with recorded answers of kube-scheduler's own allocator.")
    parser.add_argument("--program", required=True, help="allocate_answer of a build")
    program = parser.parse_args().program
    n, found = 0, []
    try:
        for name in SETS:
            more, differ = differences(name, program)
            n, found = n + more, found + differ
    except (answer_files.Outdated, subprocess.CalledProcessError) as error:
        print(error)
        return 1
    for question, our, their in found[:10]:
        print(json.dumps(question), "\n  ours:  ", our[:600], "\n  theirs:", their[:600])
    print(f"{n} answers, {len(found)} differ")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
