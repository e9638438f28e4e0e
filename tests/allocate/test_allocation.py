"""allocate/ against kube-scheduler's own allocator of devices, which is built from Kubernetes' source."""

import json
import os
import random
import sys

import compare
import generate
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../wire"), os.path.join(HERE, "../control-plane")]

import node_sets  # noqa: E402

OURS = os.path.join(HERE, "../../build/test/tests/allocate/allocate_answer")
CASES, SEED = 1000, 11


@pytest.fixture(scope="module")
def folder():
    return os.environ["ALLOCATION_ORACLE"]


def compared(folder, questions):
    tally = compare.Tally()
    compare.compare(tally, questions, OURS, os.path.join(folder, "oracle"))
    assert not tally.differences, json.dumps(tally.differences[0], indent=1)
    return tally


def test_upstreams_own_table(folder):
    with open(os.path.join(folder, "table.jsonl"), encoding="utf-8") as table:
        tally = compared(folder, [json.loads(line) for line in table])
    assert not tally.not_judged


def test_random_clusters_and_claims(folder):
    dice = random.Random(SEED)
    tally = compared(folder, [generate.question(dice) for _ in range(CASES)])
    assert tally.judged() > 0.9 * CASES
    assert all(tally.verdicts[verdict] for verdict in ("fits", "no", "error", "pools", "elsewhere")), tally.verdicts
    assert tally.verdicts["fits"] > CASES / 10


def test_sets_of_nodes_that_the_dry_run_says(folder, tmp_path):
    tally = node_sets.Tally()
    node_sets.compare_clusters(tally, tmp_path, range(10), 10, OURS, os.path.join(folder, "oracle"))
    assert not tally.differences, json.dumps(tally.differences[0], indent=1)
    assert tally.cases == 100 and tally.agreed > 0.85 * tally.cases and tally.nodes > tally.fitting > 0
