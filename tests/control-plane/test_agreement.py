"""What the dry run says is what kube-scheduler does: random clusters and pods, the short form of tests/control-plane/agreement/check."""

import os

import pytest
from agreement.rounds import MOST_UNJUDGED, Tally, plan_of, run_plan
from agreement.states import prepare

CLUSTERS, CASES = 4, 12
SEED = int(os.environ.get("AGREEMENT_SEED", "1"))


@pytest.fixture(scope="module")
def prepared(plane):
    prepare(plane.api)
    return plane


def test_the_dry_run_says_what_kube_scheduler_does(prepared, tmp_path_factory):
    """Half of the clusters beside our service, half without it. A disagreement replays with agreement/check --replay FOLDER."""
    tally, folder = Tally(), tmp_path_factory.mktemp("agreement")
    for seed in range(SEED, SEED + CLUSTERS):
        run_plan(prepared, plan_of(seed, CASES), folder, tally)
    assert not tally.disagreements, "\n".join(map(str, tally.disagreements))
    assert tally.agreed + tally.unjudged == CLUSTERS * CASES and tally.unjudged <= MOST_UNJUDGED * tally.cases, tally
