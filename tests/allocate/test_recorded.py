"""allocate/ against the recorded answers of kube-scheduler's own allocator of devices; test_live.py shows whether they are still its answers."""

import collections
import json
import os
import sys

import pytest
import recorded

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../wire"), os.path.join(HERE, "../control-plane")]

import node_sets  # noqa: E402

OURS = os.path.join(HERE, "../../build/test/tests/allocate/allocate_answer")


def answers_of(name):
    return [answer for each in recorded.answers_of(name, recorded.SETS[name]()) for answer in each]


@pytest.mark.parametrize("name", recorded.SETS)
def test_our_allocator_answers_as_recorded(name):
    n, found = recorded.differences(name, OURS)
    assert n >= 100 and not found, json.dumps(found[0], indent=1)


def test_the_dry_run_says_as_recorded(tmp_path):
    tally = node_sets.Tally()
    node_sets.compare_clusters(tally, tmp_path, recorded.states(), OURS, recorded.answers_by_cluster())
    assert not tally.differences, json.dumps(tally.differences[0], indent=1)
    assert tally.cases == 100 and tally.agreed > 0.85 * tally.cases and tally.nodes > tally.fitting > 0


def test_upstreams_table_is_all_judged():
    assert not [answer for answer in answers_of("table") if answer.startswith("~")]


def test_random_clusters_have_every_answer():
    verdicts = collections.Counter(answer.split(" ", 1)[0] for answer in answers_of("random"))
    assert all(verdicts[verdict] for verdict in ("fits", "no", "error", "pools", "elsewhere")), verdicts
    assert verdicts["fits"] > recorded.CASES / 10
    assert sum(n for verdict, n in verdicts.items() if not verdict.startswith("~")) > 0.9 * recorded.CASES


@pytest.mark.parametrize(
    ("our", "their", "agrees"),
    [
        ("no", "no", True),
        ("no", "pools", False),
        ("not judged", "no", False),
        ("not judged", "~no", True),
        ("no", "~no", True),
        ("pools", "~no", False),
        ("no", "timeout", True),
    ],
)
def test_what_agrees(our, their, agrees):
    assert recorded.agrees(our, their) == agrees
