"""POST /scheduler/preempt: on which of these nodes would evicting these pods help? PROTOCOL 1.7 and 4.2.

It is a veto: a node is returned with the victims that kube-scheduler chose, or not at all. A null would crash kube-scheduler.
"""

import json

import pytest
from objects import annotated, merged, node, pod, preempt_args

T4 = "Tesla-T4"
NODES = [node("a"), node("b"), node("t4", 8, T4)]
PODS = [
    *(pod(f"a-{i}", 2, "a") for i in range(4)),
    *(pod(f"b-{i}", 4, "b") for i in range(2)),
    pod("t-0", 8, "t4"),
    pod("first", 4, spec={"priority": 100}, status={"nominatedNodeName": "b"}),
]


@pytest.fixture(scope="module")
def service(module_service):
    return module_service(*NODES, *PODS)


def asks(gpus, priority=10, **changes):
    return merged(pod("asks", gpus), {"spec": {"priority": priority}, **changes})


def ask(service, asking, victims, **how):
    answer = service.post("/scheduler/preempt", preempt_args(asking, victims, **how))
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json"), answer
    assert "null" not in answer.text
    return answer.json()


def kept(service, asking, victims, **how):
    """Node -> UIDs; each as it was sent."""
    found = ask(service, asking, victims, **how)
    assert list(found) == ["NodeNameToMetaVictims"]
    for name, item in found["NodeNameToMetaVictims"].items():
        assert item == {"Pods": [{"UID": uid} for uid in victims[name]], "NumPDBViolations": len(name)}, name
    return set(found["NodeNameToMetaVictims"])


@pytest.mark.parametrize("whole", [False, True], ids=["by UID", "whole pods"])
@pytest.mark.parametrize(
    ("asking", "victims", "want"),
    [
        (asks(4), {"a": ["pod-a-3", "pod-a-1"], "t4": ["pod-t-0"]}, {"a", "t4"}),
        (asks(4), {"a": ["pod-a-1"]}, set()),  # too few
        (asks(4), {"a": ["pod-a-1", "pod-a-1"]}, set()),  # counts once
        (asks(4), {"a": ["pod-a-1", "pod-b-0"]}, set()),  # a pod on another node
        (asks(4), {"a": ["pod-a-1", "nobody", "pod-a-0"]}, {"a"}),  # an unknown pod stays in the list
        (asks(9), {"a": [f"pod-a-{i}" for i in range(4)]}, set()),
        (asks(4), {"a": ["pod-a-1", "pod-a-2"], "gone": ["pod-a-0"]}, {"a"}),
        (asks(4), {"a": []}, set()),  # where it fits or not: up to 1.37 kube-scheduler takes an empty list for a fault
        (asks(4), {"a": [], "t4": ["pod-t-0"]}, {"t4"}),  # kube-scheduler 1.38 offers empty lists
        (asks(4), {}, set()),
        (asks(4), {"b": ["pod-b-0"]}, set()),  # that room is promised to the first
        (asks(4), {"b": ["pod-b-0", "pod-b-1"]}, {"b"}),
        (asks(4, 101), {"b": ["pod-b-0"]}, {"b"}),
        (PODS[-1], {"b": ["pod-b-0"]}, {"b"}),  # the first itself
        (merged(annotated("asks", 4, models="A100"), {"spec": {"priority": 10}}), {"a": ["pod-a-0", "pod-a-1"], "t4": ["pod-t-0"]}, {"a"}),
        (merged(annotated("asks", 4, exclude_models="A100"), {"spec": {"priority": 10}}), {"a": ["pod-a-0", "pod-a-1"], "t4": ["pod-t-0"]}, {"t4"}),
        (asks(4, 0), {"a": ["pod-a-0", "pod-a-1"], "b": ["nobody", "pod-b-0", "pod-b-1"]}, set()),  # their priority is 0, too
        (asks(4, -5), {"t4": ["pod-t-0"]}, set()),
        (asks("1.5"), {"a": ["pod-a-0", "pod-a-1"]}, set()),
    ],
)
def test_nodes_that_fit_without_the_victims_are_kept(asking, victims, want, whole, service):
    assert kept(service, asking, victims, whole=whole) == want


def test_the_ledger_overrides_the_sent_pod(service):
    """Usage that the ledger does not count is not freed."""
    arguments = preempt_args(asks(4), {"a": ["pod-a-1"]}, whole=True)
    for stranger in (pod("stranger", 8, "a"), pod("a-2", 8, "b", metadata={"uid": "other"})):
        arguments["NodeNameToVictims"]["a"]["Pods"].append(stranger)
    assert service.post("/scheduler/preempt", arguments).json() == {"NodeNameToMetaVictims": {}}


@pytest.mark.parametrize("whole", [False, True], ids=["by UID", "whole pods"])
def test_a_name_may_be_escaped(whole, service):
    text = json.dumps(preempt_args(asks(4), {"a": ["pod-a-0", "pod-a-1"], "b": ["pod-b-0"]}, whole=whole))
    escaped = text.replace('"Pod"', r'"\u0050od"', 1)
    assert escaped != text
    assert service.post("/scheduler/preempt", escaped.encode()).body == service.post("/scheduler/preempt", text.encode()).body


def test_the_number_of_violations_is_returned_unchanged(service):
    arguments = preempt_args(asks(2), {"a": ["pod-a-1"]})
    for number in (0, 1, -1, 2**63 - 1):
        arguments["NodeNameToMetaVictims"]["a"]["NumPDBViolations"] = number
        answer = service.post("/scheduler/preempt", arguments).json()
        assert answer["NodeNameToMetaVictims"]["a"]["NumPDBViolations"] == number
    del arguments["NodeNameToMetaVictims"]["a"]["NumPDBViolations"]
    assert service.post("/scheduler/preempt", arguments).json()["NodeNameToMetaVictims"]["a"]["NumPDBViolations"] == 0


def test_a_node_without_a_list_is_left_out(service):
    for nothing in (None, {}, {"Pods": None}, {"NumPDBViolations": 0}):
        arguments = preempt_args(asks(2), {"a": ["pod-a-1"]})
        arguments["NodeNameToMetaVictims"]["t4"] = nothing
        assert list(service.post("/scheduler/preempt", arguments).json()["NodeNameToMetaVictims"]) == ["a"]


def test_uids_take_precedence_over_pods(service):
    both = preempt_args(asks(2), {"t4": ["pod-t-0"]}, whole=True)
    both["NodeNameToMetaVictims"] = preempt_args(asks(2), {"a": ["pod-a-1"]})["NodeNameToMetaVictims"]
    assert list(service.post("/scheduler/preempt", both).json()["NodeNameToMetaVictims"]) == ["a"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"Pod": None}, ["Pod"]),
        ({"Pod": 7}, ["Pod"]),
        ({"NodeNameToMetaVictims": None}, ["NodeNameToMetaVictims", "NodeNameToVictims"]),
        ({"NodeNameToMetaVictims": []}, ["NodeNameToMetaVictims", "an array"]),
        ({"NodeNameToMetaVictims": {"a": 7}}, ["NodeNameToMetaVictims[a]", "object"]),
        ({"NodeNameToMetaVictims": {"a": {"Pods": {}}}}, ["NodeNameToMetaVictims[a]", "Pods"]),
        ({"NodeNameToMetaVictims": {"a": {"Pods": [None]}}}, ["Pods[0].UID"]),
        ({"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": "x"}, {"UID": 7}]}}}, ["Pods[1].UID"]),
        ({"NodeNameToMetaVictims": {"a": {"Pods": [], "NumPDBViolations": "1"}}}, ["NumPDBViolations"]),
        ({"NodeNameToMetaVictims": None, "NodeNameToVictims": {"a": {"Pods": [{"metadata": None}]}}}, ["NodeNameToVictims[a]", "Pods[0].metadata.uid"]),
    ],
)
def test_a_bad_request_is_another_status(changes, words, service):
    """This answer has no Error member. kube-scheduler takes any status but 200 as an error and evicts no pod."""
    answer = service.post("/scheduler/preempt", {**preempt_args(asks(2), {"a": ["pod-a-1"]}), **changes})
    assert answer.status == 400
    error = answer.json()["error"]
    assert error.startswith("gpu-extender: request: ") and [word for word in words if word not in error] == [], error


@pytest.mark.parametrize("body", [b"", b"{", b"null", b"[]", b"\xff", b"[" * 100000])
def test_no_json(body, service):
    assert service.post("/scheduler/preempt", body).status == 400


def test_preempt_changes_nothing(service):
    before = service.get("/v1/inventory").json()["nodes"]
    first = json.dumps(ask(service, asks(4), {"a": ["pod-a-3", "pod-a-1"]}))
    assert {json.dumps(ask(service, asks(4), {"a": ["pod-a-3", "pod-a-1"]})) for _ in range(5)} == {first}
    assert service.get("/v1/inventory").json()["nodes"] == before


def test_preempt_is_recorded(service):
    kept(service, asks(4), {"a": ["pod-a-3", "pod-a-1"], "b": ["pod-b-0"], "t4": ["pod-t-0"]})
    (last,) = service.get("/v1/decisions?verb=preempt&limit=1").json()["decisions"]
    assert (last["nodesAsked"], last["nodesHandedOn"], last["pod"]["name"]) == (3, 2, "asks")
    assert last["verdicts"] == {"fits": 2, "gpu_nominated": 1}


@pytest.fixture
def with_quota(start_over, write):
    """Starts over the nodes and pods, with this limit for the namespace ml."""

    def start(limits, *objects):
        quotas = f"quotas: [{{name: team, namespaces: [ml], limits: {limits}}}]\n"
        policy = write("policy.yaml", "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\n" + quotas)
        return start_over(*objects, options=["--config", policy])

    return start


def test_victims_free_only_their_own_quota(with_quota):
    theirs = pod("theirs", 8, "b", metadata={"namespace": "others"})
    service = with_quota("[{total: 8}]", *NODES[:2], *PODS[:4], theirs)
    victims = {"a": ["pod-a-0", "pod-a-1"], "b": ["pod-theirs"]}
    assert kept(service, asks(4), victims) == {"a"}
    assert kept(service, asks(5), victims) == set()
    assert kept(service, asks(4, metadata={"namespace": "others"}), victims) == {"a", "b"}


def test_only_victims_on_the_node_free_its_quota(with_quota):
    """c has free GPUs, and only the quota rejects there. Victims on t4 free none of the exhausted model."""
    pods = [pod("a-0", 4, "a"), pod("b-0", 2, "b"), pod("b-1", 6, "b", metadata={"namespace": "others"}), pod("c-0", 4, "c"), pod("t-0", 8, "t4")]
    service = with_quota("[{total: 24, models: {A100: 10}}]", *NODES, node("c", 16), *pods)
    victims = {"a": ["pod-a-0"], "b": ["pod-b-0", "pod-b-1"], "c": ["pod-c-0"], "t4": ["pod-t-0"]}
    assert kept(service, asks(4), victims) == {"a", "c", "t4"}
    assert kept(service, asks(3), {**victims, "a": ["pod-b-0"], "c": ["pod-t-0"]}) == {"t4"}
    assert kept(service, asks(2), victims) == {"a", "b", "c", "t4"}
    assert kept(service, asks(5), victims) == {"t4"}
