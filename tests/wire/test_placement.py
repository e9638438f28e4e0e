"""placement.policy: which of the nodes that fit is best. Each policy's choice is in tests/cases/policies."""

import json

import pytest
from objects import annotated, filter_args, node, pod

T4, H100 = "Tesla-T4", "NVIDIA-H100-80GB-HBM3"


def policy_text(name):
    return f"apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\nplacement: {{policy: {name}}}\n"


@pytest.fixture
def start_with(start_over, write):
    """start_with("fgd", node, pod, ...) -> a Service; policy None: without a policy file."""

    def start(policy, *items):
        options = ["--config", write("policy.yaml", policy_text(policy))] if policy else []
        return start_over(*items, options=options)

    return start


def ask(service, asking, *names):
    return service.post("/scheduler/prioritize", filter_args(asking, list(names)))


def best(service, asking, *names):
    (name,) = [entry["Host"] for entry in ask(service, asking, *names).json() if entry["Score"] == 10]
    return name


# Typical pods take 4 GPUs. One GPU less takes a place of theirs from four-free and from empty, but not from five-free, and one-free is
# too small for them anyway.
FLEET = [
    *(node(name, 8) for name in ("one-free", "four-free", "five-free", "empty")),
    pod("a", 7, "one-free"),
    pod("b", 4, "four-free"),
    pod("c", 3, "five-free"),
    *(pod(f"typical-{i}", 4) for i in range(20)),
]


def test_slot_price_is_the_default(start_with):
    unsaid, said = start_with(None, *FLEET), start_with("slot-price", *FLEET)
    asked = (pod(gpus=1), "empty", "five-free", "four-free")
    assert ask(unsaid, *asked).body == ask(said, *asked).body


SCARCE = [
    node("a-h100", 8, H100),
    node("b-t4", 8, T4),
    *(annotated(f"wants-h100-{i}", 8, models="H100") for i in range(10)),
]


def test_the_scarce_model_goes_to_pods_that_request_it(start_with):
    assert best(start_with("slot-price", *SCARCE), annotated(models="H100, T4"), "a-h100", "b-t4") == "a-h100"


# With GPUs free and in use, and of a service's replicas, which keep away from each other. c-plain has two of three already.
OWNER = {"ownerReferences": [{"kind": "ReplicaSet", "name": "web", "uid": "rs", "controller": True}]}
MIXED = [
    *(node(name, 8) for name in ("a-idle", "b-full")),
    node("c-plain", None, None),
    pod("fills", 8, "b-full"),
    pod("typical"),
    *(pod(f"web-{i}", None, "c-plain", metadata=OWNER) for i in range(2)),
]


@pytest.mark.parametrize("policy", ["slot-price", "binpack", "spread", "fgd"])
def test_pods_without_gpus_stay_off_gpu_nodes(start_with, policy):
    """Asks every policy as kube-scheduler does without managedResources."""
    service = start_with(policy, *MIXED)
    asking = pod("web-2", None, metadata=OWNER, spec={"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]})
    names = ["a-idle", "b-full", "c-plain"]
    assert service.post("/scheduler/filter", filter_args(asking, names)).json()["NodeNames"] == names
    assert best(service, asking, *names) == "c-plain"


def test_cordoned_gpu_nodes_rank_last_for_pods_without_gpus(start_with):
    """It has no allocatable room to lose, and still ranks last."""
    service = start_with("slot-price", node("a-cordoned", 8, spec={"unschedulable": True}), node("b-idle", 8), *(pod(f"typical-{i}", 8) for i in range(3)))
    tolerates = [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]
    asking = pod(gpus=None, spec={"tolerations": tolerates, "containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]})
    assert best(service, asking, "a-cordoned", "b-idle") == "b-idle"


def test_the_order_of_the_objects_changes_nothing(start_with):
    names = ["empty", "five-free", "four-free", "one-free"]
    answers = {ask(start_with("slot-price", *items), pod(gpus=2), *names).body for items in (FLEET, FLEET[::-1])}
    assert len(answers) == 1


def test_the_dry_run_places_like_the_ledger(start_with):
    """The dry run of a Deployment equals the answers to kube-scheduler for its pods, one after another, once all are pending."""
    nodes = [node("a", 8, H100), node("b", 8, T4), node("c", 4, T4), node("d", 8)]
    owner = {"ownerReferences": [{"kind": "ReplicaSet", "name": "replica", "uid": "rs", "controller": True}]}
    waiting = [pod(f"replica-{i}", 2, metadata=owner) for i in range(6)]
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "replica", "namespace": "ml"},
        "spec": {"replicas": 6, "template": {"spec": waiting[0]["spec"]}},
    }
    (workload,) = start_with("slot-price", *nodes).post("/v1/dry-run", json.dumps(deployment)).json()["workloads"]
    said = [placement["node"] for placement in workload["placements"]]
    service, told = start_with("slot-price", *nodes, *waiting), []
    for i, asking in enumerate(waiting):
        fitting = service.post("/scheduler/filter", filter_args(asking, list("abcd"))).json()["NodeNames"]
        told.append(best(service, asking, *fitting))
        waiting[i] = pod(f"replica-{i}", 2, told[-1], metadata=owner)
        service = start_with("slot-price", *nodes, *waiting)
    assert told == said
