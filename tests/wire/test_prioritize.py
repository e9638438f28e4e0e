"""POST /scheduler/prioritize: which of these nodes is best? Answers by PROTOCOL 1.5 and 2.6.

The policy is binpack here; test_placement.py covers the other placement policies.
"""

import re

import pytest
from objects import annotated, container, filter_args, node, pod
from service import PACKING

NODES = [
    node("empty", 8),
    node("half", 8),
    node("nearly-full", 8),
    node("h100", 8, "NVIDIA-H100-80GB-HBM3"),
    node("t4", 4, "Tesla-T4"),
    node("ssd", 8, metadata={"labels": {"disk": "ssd"}}),
    node("cpu", None, None),
]
PODS = [pod("half-0", 4, "half"), pod("full-0", 7, "nearly-full")]
NAMES = [item["metadata"]["name"] for item in NODES]


@pytest.fixture(scope="module")
def service(module_service):
    return module_service(*NODES, *PODS, options=PACKING)


def ask(service, arguments):
    answer = service.post("/scheduler/prioritize", arguments)
    assert answer.status == 200, answer
    assert answer.headers["content-type"] == "application/json"
    return answer


def scores(service, asking, names):
    answered = ask(service, filter_args(asking, names)).json()
    assert all(sorted(entry) == ["Host", "Score"] for entry in answered)
    assert sorted(entry["Host"] for entry in answered) == sorted(names), "every node once"
    return {entry["Host"]: entry["Score"] for entry in answered}


def test_scores_are_bare_integers_from_0_to_10(service):
    """As tokens: 7.0, 1e1 and "7" void the whole answer, silently (PROTOCOL 1.5)."""
    text = ask(service, filter_args(pod(), NAMES)).text
    tokens = re.findall(r'"Score":\s*([^,}\]]*)', text)
    assert len(tokens) == len(NAMES)
    assert [token for token in tokens if not re.fullmatch(r"10|\d", token)] == []


def test_the_fullest_node_that_fits_is_best(service):
    found = scores(service, pod(), ["empty", "half", "nearly-full"])
    assert found["nearly-full"] == 10
    assert found["nearly-full"] > found["half"] > found["empty"]


def test_models_are_preferred_in_their_order(service):
    found = scores(service, annotated(models="H100, T4, A100"), ["nearly-full", "t4", "h100"])
    assert found["h100"] > found["t4"] > found["nearly-full"], "the order of the models comes before the packing"


def test_whole_nodes_are_scored_like_names(service):
    by_name = scores(service, pod(), NAMES)
    whole = ask(service, filter_args(pod(), nodes=NODES)).json()
    assert {entry["Host"]: entry["Score"] for entry in whole} == by_name


def test_an_unknown_node_gets_0(service):
    found = scores(service, pod(), ["gone", "empty"])
    assert found == {"gone": 0, "empty": 10}


@pytest.mark.parametrize("arguments", [filter_args(pod(), []), filter_args(pod(), nodes=[])])
def test_empty_node_list_gives_an_empty_array(arguments, service):
    assert ask(service, arguments).text == "[]"


def test_a_pod_without_gpus_is_scored_too(service):
    """It goes to the node with the fewest GPUs."""
    found = scores(service, pod(gpus=None), ["empty", "cpu", "nearly-full"])
    assert found["cpu"] == 10 and found["nearly-full"] > found["empty"]


def test_the_same_question_has_the_same_answer(service):
    answers = {ask(service, filter_args(pod(), NAMES)).body for _ in range(20)}
    assert len(answers) == 1


def test_the_best_node_equals_the_choice_of_the_dry_run(service):
    for asking in (pod(), pod(gpus=4), annotated(models="T4, H100"), pod(spec={"containers": [container(), container("b")]})):
        fitting = service.post("/scheduler/filter", filter_args(asking, NAMES)).json()["NodeNames"]
        found = scores(service, asking, fitting)
        (workload,) = service.post("/v1/dry-run", asking).json()["workloads"]
        assert found[workload["placements"][0]["node"]] == 10
