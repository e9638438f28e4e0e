"""Budgets of values: bodies of users, and the Pod of kube-scheduler, before they become trees (limits.userRequestValues ...)."""

import json

import pytest
from objects import filter_args, pod

PATH = "/v1/what-if"


LARGE = {
    "what-if-values": (PATH, b'{"workloads":[{}' + b",{}" * 200000 + b"]}", "body: has 200003 values, should have at most 200000 (limits.userRequestValues)"),
    "what-if-memory": (PATH, b'{"workloads":[{}' + b",{}" * 130000 + b"]}", "(limits.userRequestTreeBytes)"),
    "dry-run-memory": ("/v1/dry-run", b'{"kind":"List","items":[{}' + b",{}" * 200000 + b"]}", "(limits.userRequestTreeBytes)"),
    "dry-run-yaml": ("/v1/dry-run", b"kind: List\nitems:\n" + b"- {kind: A, a: [1, 1, 1]}\n" * 33400, "(limits.userRequestTreeBytes)"),
    "dry-run-bytes": ("/v1/dry-run", b"x" * (4 * 1024 * 1024 + 1), "the body must not be larger than 4194304 bytes"),
}


@pytest.mark.parametrize("name", LARGE)
def test_a_large_body_gets_413(service, name):
    path, body, says = LARGE[name]
    refused = service.ask("POST", path, body)
    assert refused.status == 413 and says in refused.json()["error"], refused


def test_kube_scheduler_may_send_more_than_users(service):
    """limits.requestBytes is its own."""
    body = json.dumps(filter_args(pod("p", 1), [f"node-{i}" for i in range(400000)])).encode()
    assert len(body) > 4 * 1024 * 1024 and service.ask("POST", "/scheduler/filter", body).status == 200


@pytest.mark.parametrize("verb", ["filter", "prioritize"])
@pytest.mark.parametrize("form", ["names", "nodes"])
def test_a_pod_of_too_many_values_is_rejected_by_name(service, verb, form):
    """Not an Error, and with the count; its terms may stand before what names it."""
    dense = {"spec": {"affinity": {"nodeAffinity": {"x": [{}] * 60000}}, "containers": []}}
    dense["metadata"] = {"name": "dense", "namespace": "ml", "uid": "u-dense"}
    asked = {"Pod": dense, "NodeNames": ["a"]} if form == "names" else {"Nodes": {"items": [{"metadata": {"name": "a"}}]}, "Pod": dense}
    answer = service.post(f"/scheduler/{verb}", asked)
    said = service.get("/v1/decisions").json()["decisions"][0]
    assert answer.status == 200 and said["pod"]["name"] == "dense" and "values, should have at most 50000 (limits.objectValues)" in said["error"], said


def dense(value):
    return {"metadata": {"name": "p", "uid": "u"}, "spec": {"affinity": {"nodeAffinity": {"x": [value] * 60000}}, "containers": []}}


def test_a_pod_within_the_budget_is_judged(service):
    """The same pod with fewer values."""
    asked = {"Pod": {**dense({}), "spec": {"affinity": {"nodeAffinity": {"x": [{}] * 40000}}, "containers": []}}, "NodeNames": ["none"]}
    answer = service.post("/scheduler/filter", asked).json()
    assert "limits.objectValues" not in json.dumps(answer)
