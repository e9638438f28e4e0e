"""filter.shortlist: of many fitting nodes, filter returns the best. All are judged, and each rejected one has its reason."""

import pytest
from objects import filter_args, node, pod

N, SHORT = 130, 100
HEAD = "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\n"
# Every thirteenth one is full, and its neighbour partly used.
NODES = [node(f"n-{i:03}", 8) for i in range(N)]
FULL = {f"n-{i:03}" for i in range(0, N, 13)}
PODS = [*(pod(f"full-{name}", 8, name) for name in sorted(FULL)), *(pod(f"part-{i}", i % 7 + 1, f"n-{i:03}") for i in range(1, N, 13))]
NAMES = [item["metadata"]["name"] for item in NODES][::-1]
FITTING = [name for name in NAMES if name not in FULL]


@pytest.fixture
def start_with(start_over, write):
    """start_with("filter: {shortlist: 7}") -> a Service over NODES and PODS with that in its policy."""

    def start(policy=""):
        return start_over(*NODES, *PODS, options=["--config", write("policy.yaml", HEAD + policy + "\n")])

    return start


def ask(service, asking, **more):
    answer = service.post("/scheduler/filter", filter_args(asking, **(more or {"names": NAMES})))
    assert answer.status == 200, answer
    return answer.json()


def best(service, names):
    found = service.post("/scheduler/prioritize", filter_args(pod(), names)).json()
    (name,) = [entry["Host"] for entry in found if entry["Score"] == 10]
    return name


def test_the_best_are_returned_in_the_requested_order(start_with):
    result = ask(start_with(), pod())
    handed_on = result["NodeNames"]
    assert len(handed_on) == SHORT
    assert handed_on == [name for name in FITTING if name in set(handed_on)]
    assert set(result["FailedAndUnresolvableNodes"]) == FULL and result["FailedNodes"] == {} and result["Error"] == ""


def test_the_shortlist_does_not_change_the_chosen_node(start_with):
    with_it, without = start_with(), start_with("filter: {shortlist: 0}")
    every = ask(without, pod())["NodeNames"]
    assert every == FITTING
    assert best(with_it, ask(with_it, pod())["NodeNames"]) == best(without, every)


def test_a_shortlist_of_1_returns_the_best_node(start_with):
    service = start_with("filter: {shortlist: 1}")
    assert ask(service, pod())["NodeNames"] == [best(service, FITTING)]


def test_a_name_sent_twice_takes_one_place(start_with):
    service = start_with("filter: {shortlist: 7}")
    once = ask(service, pod())["NodeNames"]
    first = best(service, FITTING)
    assert ask(service, pod(), names=[*NAMES, first, first])["NodeNames"] == [*once, first, first]


def test_whole_nodes_are_cut_too(start_with):
    result = ask(start_with(), pod(), nodes=NODES[::-1])
    assert [item["metadata"]["name"] for item in result["Nodes"]["items"]] == ask(start_with(), pod())["NodeNames"]


@pytest.mark.parametrize("policy", ["scheduler: {weight: 140}", "scheduler: {otherExtenders: true}"])
def test_all_nodes_are_returned_if_other_scores_may_decide(policy, start_with):
    assert ask(start_with(policy), pod())["NodeNames"] == FITTING


def test_the_nominated_node_is_never_cut_away(start_with):
    asking = pod(status={"phase": "Pending", "nominatedNodeName": FITTING[0]})
    assert ask(start_with("filter: {shortlist: 1}"), asking)["NodeNames"] == FITTING


def test_an_empty_result_is_never_counted_as_short(start_with):
    result = ask(start_with("filter: {shortlist: 1}"), pod(gpus=9))
    assert result["NodeNames"] == [] and set(result["FailedAndUnresolvableNodes"]) == set(NAMES)


def test_a_list_of_the_limit_is_returned_whole(start_with):
    assert ask(start_with(f"filter: {{shortlist: {len(FITTING)}}}"), pod())["NodeNames"] == FITTING
