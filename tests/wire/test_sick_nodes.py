"""A node whose kubelet rejects the pods of several tenants, over a fake API server: what filter, views and a what-if say of it. Which
evidence counts is in tests/unit/ledger/test_sick_nodes.c."""

import json
import re

import openapi
import pytest
from kubectl_gpu import said
from objects import GPU, filter_args, pod
from sick import OBSERVED, POLICY, make_sick, node_of

JUDGE = openapi.Judge(openapi.load())


@pytest.fixture
def sick(follow):
    """sick(policy) -> a service that has put node b in quarantine."""

    def start(more):
        service = follow(more=more)
        service.settle()
        make_sick(service)
        return service

    return start


def filtered(service, asked=None):
    return service.post("/scheduler/filter", filter_args(asked or pod("new"), ["a", "b"])).json()


def split_of(service):
    """Usable and closed GPUs of node b."""
    gpus = node_of(service, "b")["resources"][GPU]
    return gpus["usable"], gpus["closed"]


def what_if(service, *changes):
    answer = service.post("/v1/what-if", {"changes": list(changes)})
    assert JUDGE.faults_of_answer("POST", "/v1/what-if", answer) == []
    return answer.json()


def test_a_marked_node_gets_no_pods_until_it_is_repaired(sick, api):
    service = sick(POLICY)
    answer = filtered(service)
    assert answer["NodeNames"] == ["a"] and "quarantine" in answer["FailedAndUnresolvableNodes"]["b"]
    assert split_of(service) == (0, 4), "no view calls usable what no pod gets"
    api.store.change("nodes", "b", metadata={"annotations": {"gpu-extender.io/quarantine-lifted": "today"}})
    service.wait("the node is open", lambda: filtered(service)["NodeNames"] == ["a", "b"])
    assert "quarantine" not in node_of(service, "b") and split_of(service) == (4, 0)


def test_a_what_if_lifts_it(sick, api):
    """Pods that only node b has room for find a place; the service itself goes on as before."""
    service = sick(POLICY)
    api.store.put(pod("full", 5, "a"), pod("waits", 4))
    service.wait("it is known", lambda: "pod-waits" in service.ledger()[1] and "pod-full" in service.ledger()[0]["a"][1])
    assert what_if(service)["pending"]["after"]["fit"] == 0
    lifted = what_if(service, {"lift": ["b"]})
    assert lifted["changes"] == [{"change": "lift", "node": "b", "was": "quarantine", "shapeTraps": 0, "wasAvoided": True}]
    assert [(one["name"], one["node"]) for one in lifted["pending"]["nowRun"]] == [("waits", "b")]
    # Another policy makes a second copy, which has the mark, too.
    both = what_if(service, {"placement": {"policy": "binpack"}}, {"lift": ["b", "a"]})
    assert both["changes"][1]["was"] == "quarantine" and both["changes"][2] == {
        "change": "lift", "node": "a", "was": None, "shapeTraps": 0, "wasAvoided": False}  # fmt: skip
    assert [one["name"] for one in both["pending"]["nowRun"]] == ["waits"]
    assert node_of(service, "b")["quarantine"] == "quarantine"


def test_the_doctor_names_it(sick):
    service = sick(POLICY)
    assert {node["name"] for node in service.get("/v1/inventory?state=marked").json()["nodes"]} == {"b"}
    found = {one["check"]: one for one in json.loads(said("doctor", "--url", f"http://{service.address}", "-o", "json"))["findings"]}
    assert found["nodes.sick"]["level"] == "warn" and found["nodes.sick"]["seen"] == "kubelets reject pods: b (quarantine)"
    assert "RUNBOOKS.md" in found["nodes.sick"]["advice"]
    assert "data.problems" not in found, "it is said once"


def test_what_others_report_of_a_node_is_shown(sick, api):
    """Also in a saved snapshot."""
    service = sick(POLICY)
    xid = {"type": "GpuXidError", "status": "True", "reason": "GpuXidErrorIsNotHealthy", "message": "ErrorCode:79 GPU:0"}
    line = "GpuXidError=True GpuXidErrorIsNotHealthy: ErrorCode:79 GPU:0"
    api.store.change("nodes", "b", status={"conditions": [{"type": "Ready", "status": "True"}, xid, {"type": "KernelDeadlock", "status": "False"}]})
    service.wait("the condition is known", lambda: node_of(service, "b").get("conditions") == [line])
    assert "conditions" not in node_of(service, "a")
    api.store.put(pod("waits", 9))
    service.wait("it is known", lambda: "pod-waits" in service.ledger()[1])
    answer = service.get("/v1/explain?namespace=ml&name=waits")
    assert JUDGE.faults_of_answer("GET", "/v1/explain", answer) == []
    assert {node["node"]: node.get("conditions") for node in answer.json()["nodes"]} == {"a": None, "b": [line]}
    assert JUDGE.faults_of_answer("GET", "/v1/inventory", service.get("/v1/inventory")) == []
    shown = said("nodes", "--url", f"http://{service.address}")
    assert "GpuXidError=True" in shown and " quarantine" in shown
    assert "in quarantine: its kubelet rejected pods of several namespaces (UnexpectedAdmissionError)" in " ".join(shown.split())
    for text in (service.get("/v1/explain?namespace=ml&name=waits&output=table").text, said("why", "waits", "-n", "ml", "--url", f"http://{service.address}")):
        assert re.search(r"\nNODE +REPORTED\nb +GpuXidError=True GpuXidErrorIsNotHealthy: ErrorCode:79 GPU:0\n", text)
    assert xid in [one for item in service.get("/v1/snapshot").json()["items"] if item["kind"] == "Node" for one in item["status"]["conditions"]]
    api.store.change("nodes", "b", status={"conditions": [{"type": "Ready", "status": "True"}]})
    service.wait("it is over", lambda: "conditions" not in node_of(service, "b"))


def test_what_is_only_observed_has_nothing_to_lift(sick):
    service = sick(OBSERVED)
    assert filtered(service)["NodeNames"] == ["a", "b"] and split_of(service) == (4, 0)
    assert what_if(service, {"lift": ["b"]})["changes"][0]["wasAvoided"] is False
    answer = service.post("/v1/what-if?output=table", {"changes": [{"lift": ["b"]}], "workloads": [pod("new")]})
    assert "Changes: lift b (not avoided now)." in answer.text


@pytest.mark.parametrize("value, said", [(["bb"], "there is no node bb; did you mean b?"), ([], "is empty"), ([7], "should be the name of a node")])
def test_what_cannot_be_lifted(follower, value, said):
    answer = follower.post("/v1/what-if", {"changes": [{"lift": value}]})
    assert answer.status in (400, 404) and said in answer.json()["error"]
