"""Quotas judge the resource claims that a pod names: users get the same verdict as kube-scheduler (docs/QUOTA.md)."""

import json

import pytest
from objects import filter_args, merged, node, pod
from test_bind_waits_for_claims import CLASS
from test_devices import DRIVER, H100, claim, resource_slice

POLICY = """
apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
quotas:
- name: team
  namespaces: [ml]
  limits: [{total: 4, models: {H100: 3}}]
"""


def asking(name, n_devices):
    """A claim without an allocation."""
    exactly = {"deviceClassName": DRIVER, "count": n_devices}
    return merged(claim(name), {"spec": {"devices": {"requests": [{"name": "gpus", "exactly": exactly}]}}})


def naming(name, *claims, gpus=None):
    """A pending pod that names these claims."""
    entries = [{"name": each, "resourceClaimName": each} for each in claims]
    return merged(pod(name, gpus), {"spec": {"resourceClaims": entries}})


PODS = [
    (naming("one", "c1"), True),
    (naming("four", "c4"), False),  # more than the limit of the node's model
    (naming("with-gpu", "c1", gpus=1), True),
    (naming("with-gpus", "c3", gpus=2), False),
    (naming("allocated", "held"), True),
    (naming("allocated-and-more", "held", "c3"), False),
]


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    path = tmp_path_factory.mktemp("policy") / "policy.yaml"
    path.write_text(POLICY, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def service(module_service, policy):
    claims = [asking("c1", 1), asking("c3", 3), asking("c4", 4), claim("held", "devices", [0, 1])]
    nodes = [node("devices", None, None), node("plugin", 8), resource_slice("devices", 8, model=H100)]
    return module_service(*nodes, CLASS, *claims, *(each for each, _ in PODS), options=["--config", policy])


@pytest.mark.parametrize("asks, fits", PODS, ids=lambda value: value["metadata"]["name"] if isinstance(value, dict) else "")
def test_all_answers_agree(service, asks, fits):
    name, gpus = asks["metadata"]["name"], "with" in asks["metadata"]["name"]
    where = "plugin" if gpus else "devices"
    filtered = service.post("/scheduler/filter", filter_args(asks, [where])).json()
    assert bool(filtered["NodeNames"]) == fits, filtered
    explained = service.get(f"/v1/pods/ml/{name}/explain").json()
    tried = service.post("/v1/dry-run", json.dumps(asks)).json()["workloads"][0]
    for nodes in (explained["nodes"], tried["nodes"]):
        (verdict,) = [each for each in nodes if each["node"] == where]
        assert verdict["fits"] == fits and verdict["reason"] == ("fits" if fits else "quota"), verdict
        assert fits or filtered["FailedAndUnresolvableNodes"][where] == f"gpu-extender: {verdict['message']}"
    if gpus:
        (waits,) = [each for each in service.get("/v1/pending").json()["pods"] if each["name"] == name]
        assert ("quota" in {each["reason"] for each in waits["reasons"]}) != fits, waits


def fitting(service, name):
    return [each["node"] for each in service.get(f"/v1/pods/ml/{name}/explain").json()["nodes"] if each["fits"]]


def test_a_snapshot_gives_the_same_verdicts(service, start_service, write, policy):
    again = start_service("--cluster-file", write("snapshot.json", service.get("/v1/snapshot").text), "--config", policy)
    names = [each["metadata"]["name"] for each, _ in PODS]
    assert [fitting(again, name) for name in names] == [fitting(service, name) for name in names]
