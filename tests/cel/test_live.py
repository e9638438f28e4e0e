"""Whether the recorded answers are still those of kube-scheduler's own judge of selectors. SELECTORS_ORACLE: the folder of tests/cel/build."""

import os

import answer_files
import pytest
import recorded

OURS = os.path.join(recorded.HERE, "../../build/test/tests/cel/cel_answer")


@pytest.fixture(scope="module")
def folder():
    assert "SELECTORS_ORACLE" in os.environ, "SELECTORS_ORACLE is not set: tests/cel/build prints the folder"
    return os.environ["SELECTORS_ORACLE"]


def test_upstreams_table_is_the_recorded_one(folder):
    change = answer_files.first_change(recorded.path_of("table.jsonl"), answer_files.lines_of(os.path.join(folder, "table.jsonl")), recorded.RECORD)
    assert change is None, change


@pytest.mark.parametrize("name", recorded.SETS)
def test_upstream_answers_as_recorded(folder, name):
    change = answer_files.first_change(recorded.answers_path(name), recorded.fresh(name, OURS, os.path.join(folder, "oracle")), recorded.RECORD)
    assert change is None, change
