"""allocate/ against kube-scheduler's own allocator of devices, which is built from Kubernetes' source."""

import json
import os
import random

import compare
import generate
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = os.path.join(HERE, "../../build/test/tests/allocate/allocate_answer")
CASES, SEED = 1000, 11


@pytest.fixture(scope="module")
def oracle():
    return os.path.join(os.environ["ALLOCATION_ORACLE"], "oracle")


def test_random_clusters_and_claims(oracle):
    dice = random.Random(SEED)
    tally = compare.Tally()
    compare.compare(tally, [generate.question(dice) for _ in range(CASES)], OURS, oracle)
    assert not tally.differences, json.dumps(tally.differences[0], indent=1)
    assert tally.judged() > 0.8 * CASES
    assert all(tally.verdicts[verdict] for verdict in ("fits", "no", "error", "pools", "elsewhere")), tally.verdicts
    assert tally.verdicts["fits"] > CASES / 10
