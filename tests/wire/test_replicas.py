"""placement.replicaSpread: replicas of one ReplicaSet or StatefulSet keep away from each other, pods of a Job do not."""

import json

import pytest
from objects import filter_args, node, pod

T4 = "Tesla-T4"
HEAD = "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\n"
ZONES = {"a1": "a", "a2": "a", "b": "b"}
# Half of each node is used, by pods of one GPU: what is left costs about the same everywhere.
FLEET = [
    *(node(name, 8, T4, metadata={"labels": {"topology.kubernetes.io/zone": zone}}) for name, zone in ZONES.items()),
    *(pod(f"on-{name}-{i}", 1, name) for name in ZONES for i in range(4)),
]


def owned(name, kind="ReplicaSet", on=None, controller=True):
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": "serve", "uid": "owner-1", "controller": controller}
    return pod(name, 1, on, metadata={"ownerReferences": [owner]})


@pytest.fixture
def start_with(start_over, write):
    def start(*items, policy=""):
        return start_over(*FLEET, *items, options=["--config", write("policy.yaml", HEAD + policy + "\n")])

    return start


def best(service, asking):
    found = service.post("/scheduler/prioritize", filter_args(asking, list(ZONES))).json()
    (name,) = [entry["Host"] for entry in found if entry["Score"] == 10]
    return name


def placed_by_wire(start_with, kind, **more):
    """The nodes of three pods, each filtered after the previous one is bound."""
    nodes = []
    for i in range(3):
        service = start_with(*(owned(f"serve-{j}", kind, name) for j, name in enumerate(nodes)), **more)
        nodes.append(best(service, owned(f"serve-{i}", kind)))
    return nodes


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet", "ReplicationController"])
def test_three_replicas_go_to_three_nodes_and_both_zones(kind, start_with):
    assert placed_by_wire(start_with, kind) == ["a1", "b", "a2"]


def test_pods_of_a_job_pack(start_with):
    assert placed_by_wire(start_with, "Job") == ["a1", "a1", "a1"]


def test_the_policy_may_disable_spreading(start_with):
    assert placed_by_wire(start_with, "ReplicaSet", policy="placement: {replicaSpread: 0}") == ["a1", "a1", "a1"]


def test_only_the_controlling_owner_counts(start_with):
    service = start_with(owned("other", on="a1", controller=False))
    assert best(service, owned("serve-0")) == "a1"


@pytest.mark.parametrize(("kind", "nodes"), [("Deployment", ["a1", "b", "a2"]), ("Job", ["a1", "a1", "a1"])])
def test_the_dry_run_places_a_workload_like_its_pods(kind, nodes, start_with):
    counts = {"parallelism": 3, "completions": 3} if kind == "Job" else {"replicas": 3}
    workload = {"kind": kind, "metadata": {"name": "w", "namespace": "ml"}, "spec": {**counts, "template": {"spec": pod()["spec"]}}}
    (answer,) = start_with().post("/v1/dry-run", json.dumps(workload)).json()["workloads"]
    assert [placement["node"] for placement in answer["placements"]] == nodes
