"""cel/ against the recorded answers of kube-scheduler's own judge of selectors; test_live.py shows whether they are still its answers."""

import json
import os

import answer_files
import compare
import pytest
import recorded

OURS = os.path.join(recorded.HERE, "../../build/test/tests/cel/cel_answer")


def compared(name):
    tally = compare.Tally()
    recorded.judge(name, OURS, tally)
    assert not tally.differences, json.dumps(tally.differences[0], indent=1)
    return tally


def test_upstreams_own_table():
    # All but those of list-typed attributes, and one that uses find().
    questions = recorded.table()
    assert compared("table").not_judged <= sum("includes" in question["expression"] or "find(" in question["expression"] for question in questions)


@pytest.mark.parametrize("name", ["wild", "corners"])
def test_selectors_that_were_chosen_are_all_judged(name):
    assert compared(name).not_judged == 0


def test_random_selectors():
    tally = compared("random")
    assert tally.share_not_judged() < 0.05
    assert tally.true > recorded.PAIRS / 20


@pytest.mark.parametrize("name", recorded.SETS)
def test_an_answer_has_one_form(name):
    """What is read from a file is written as it stands there, so nothing that the comparison needs is lost."""
    questions = recorded.SETS[name]()
    for question, answer in zip(questions, answer_files.answers_for(questions, recorded.answers_path(name), recorded.RECORD), strict=True):
        theirs, is_judged = recorded.read(answer)
        mine = {"verdicts": [{} if must else {"notJudged": ""} for must in is_judged]}
        mine = {"notJudged": ""} if answer == "~invalid" else mine
        assert recorded.written(question, theirs, mine) == answer


def test_an_answer_of_another_question_is_not_compared(tmp_path):
    path = tmp_path / "answers.txt"
    answer_files.write(path, "Two answers.", answer_files.lines_for(["a", "b"], ["0", "1\tof b"]))
    assert answer_files.answers_for(["a", "b"], path, recorded.RECORD) == ["0", "1\tof b"]
    for questions in (["a"], ["a", "c"], ["b", "a"]):
        with pytest.raises(answer_files.Outdated, match="record again, with tests/cel/record"):
            answer_files.answers_for(questions, path, recorded.RECORD)


def test_what_was_judged_must_stay_judged(tmp_path):
    program = tmp_path / "knows_nothing"
    program.write_text("#!/usr/bin/env python3\nimport sys\nfor _ in sys.stdin: print('{\"notJudged\": \"x\", \"verdicts\": []}')\n")
    program.chmod(0o755)
    tally = compare.Tally()
    recorded.judge("wild", program, tally)
    assert len(tally.differences) == len(recorded.wild())
