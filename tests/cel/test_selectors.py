"""cel/ against kube-scheduler's own judge of selectors, which is built from Kubernetes' source."""

import json
import os
import random

import compare
import generate
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = os.path.join(HERE, "../../build/test/tests/cel/cel_answer")
PAIRS, SEED = 10000, 7

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
EMPTY = {"allowMultipleAllocations": True}


@pytest.fixture(scope="module")
def folder():
    return os.environ["SELECTORS_ORACLE"]


def compared(folder, questions):
    tally = compare.Tally()
    compare.compare(tally, questions, OURS, os.path.join(folder, "oracle"))
    assert not tally.differences, json.dumps(tally.differences[0], indent=1)
    return tally


def test_upstreams_own_table(folder):
    with open(os.path.join(folder, "table.jsonl"), encoding="utf-8") as table:
        questions = [json.loads(line) for line in table]
    tally = compared(folder, questions)
    # All but those of list-typed attributes, and one that uses find().
    assert tally.not_judged <= sum("includes" in question["expression"] or "find(" in question["expression"] for question in questions)


def test_published_selectors_are_all_judged(folder):
    with open(os.path.join(HERE, "wild.txt"), encoding="utf-8") as lines:
        expressions = [line.rstrip("\n") for line in lines if not line.startswith("#")]
    questions = [{"expression": text, "driver": "gpu.nvidia.com", "devices": [H100, MIG, EMPTY]} for text in expressions]
    assert compared(folder, questions).not_judged == 0


def test_random_selectors(folder):
    dice = random.Random(SEED)
    tally = compared(folder, [generate.question(dice, 10) for _ in range(PAIRS // 10)])
    assert tally.share_not_judged() < 0.05
    assert tally.true > PAIRS / 20
