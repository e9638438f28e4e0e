"""What the dry run says of pods with claims is what kube-scheduler does: the short form of tests/control-plane/agreement/check --claims."""

import os

import pytest
from agreement.claim_rounds import RulesPlane, Tally, plan_of, prepare, run_plan
from agreement.rounds import MOST_UNJUDGED

CASES = 12
SEED = int(os.environ.get("AGREEMENT_SEED", "1"))


@pytest.mark.parametrize("is_marked, n_clusters", [(False, 5), (True, 2)])
def test_claims_get_the_nodes_and_devices_that_the_dry_run_says(is_marked, n_clusters, programs, tmp_path_factory):
    """is_marked: the pods come to us, and the node is the one that the dry run ranks first. A disagreement replays with
    agreement/check --replay FOLDER."""
    tally, folder = Tally(), tmp_path_factory.mktemp("agreement")
    with RulesPlane(programs, tmp_path_factory.mktemp("with-rules")) as plane:
        prepare(plane.api)
        for seed in range(SEED, SEED + n_clusters):
            run_plan(plane, plan_of(seed, CASES, is_marked), folder, tally)
    assert not tally.disagreements, "\n".join(map(str, tally.disagreements))
    # So few cases vary more than those of the long form: kube-scheduler chooses among equal nodes at random.
    assert tally.cases == n_clusters * CASES and len(tally.unjudged) <= 2 * MOST_UNJUDGED * tally.cases, tally
    assert tally.placed and tally.devices and tally.reasons, tally
