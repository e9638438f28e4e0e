"""Whether the recorded answers are still those of kube-scheduler's own allocator. ALLOCATION_ORACLE: the folder of tests/allocate/build."""

import os

import pytest
import recorded
from compare import TIMEOUT
from recorded import answer_files

OURS = os.path.join(recorded.HERE, "../../build/test/tests/allocate/allocate_answer")


@pytest.fixture(scope="module")
def folder():
    assert "ALLOCATION_ORACLE" in os.environ, "ALLOCATION_ORACLE is not set: tests/allocate/build prints the folder"
    return os.environ["ALLOCATION_ORACLE"]


def test_upstreams_table_is_the_recorded_one(folder):
    change = answer_files.first_change(recorded.path_of("table.jsonl"), recorded.table_lines(os.path.join(folder, "table.jsonl")), recorded.RECORD)
    assert change is None, change


def is_late(was, now):
    """On a slower or faster machine a few nodes may be given up; the answers of the line's other nodes are the same."""
    pairs = list(zip(was.split("\t"), now.split("\t")))
    late = [pair for pair in pairs if TIMEOUT in pair and pair[0] != pair[1]]
    return was.count("\t") == now.count("\t") and all(pair in late or pair[0] == pair[1] for pair in pairs) and 2 * len(late) <= len(pairs)


@pytest.mark.parametrize("name", recorded.SETS)
def test_upstream_answers_as_recorded(folder, name):
    fresh = recorded.fresh(name, OURS, os.path.join(folder, "oracle"))
    change = answer_files.first_change(recorded.answers_path(name), fresh, recorded.RECORD, is_late)
    assert change is None, change
