"""filter and prioritize used by the real kube-scheduler; its default binder binds.

Each answer is read where users see it: the pod's node, its condition PodScheduled, its events.
"""

import pytest

UNREADABLE = "gpu-extender: annotation gpu-extender.io/models: an item of the list is empty"
MODELS = {"a100": "NVIDIA-A100-SXM4-80GB", "h100": "NVIDIA-H100-80GB-HBM3", "t4": "Tesla-T4"}


def add_one_of_each_model(cluster):
    for name, model in MODELS.items():
        cluster.add_node(name, model, 8)


@pytest.mark.parametrize("by_name", [True, False], ids=["names", "nodes"])
def test_pods_land_on_the_requested_model(cluster, by_name):
    """Whether kube-scheduler sends names or whole nodes. Without our scores: filter alone decides."""
    add_one_of_each_model(cluster)
    cluster.start(nodeCacheCapable=by_name, prioritizeVerb="")
    wanted = {f"{model.lower()}-{number}": model for number in range(3) for model in ("H100", "A100", "T4")}
    for name, model in wanted.items():
        cluster.create(name, 1, models=model)
    assert {name: cluster.node_of(name) for name in wanted} == {name: model.lower() for name, model in wanted.items()}


@pytest.mark.parametrize("by_name", [True, False], ids=["names", "nodes"])
def test_pods_land_on_the_first_of_the_models_in_their_order(cluster, by_name):
    add_one_of_each_model(cluster)
    cluster.start(nodeCacheCapable=by_name)
    wanted = {f"pod-{number}": ("t4", "a100", "h100")[number % 3] for number in range(6)}
    orders = {"t4": "T4, A100, H100", "a100": "A100, H100, T4", "h100": "H100, T4, A100"}
    for name, first in wanted.items():
        cluster.create(name, 1, models=orders[first])
    assert {name: cluster.node_of(name) for name in wanted} == wanted


@pytest.mark.parametrize("verb, expected", [("prioritize", "used"), ("", "idle")], ids=["asked", "not-asked"])
def test_our_score_decides_between_nodes_that_fit(cluster, verb, expected):
    """kube-scheduler's own scores favour the idle node, with more CPU and memory free; binpack favours the one with fewer GPUs left."""
    cluster.add_node("idle", MODELS["h100"], 8)
    cluster.add_node("used", MODELS["h100"], 8)
    cluster.add_running("runs", "used", 5, cpu="12")
    cluster.start(prioritizeVerb=verb)
    cluster.create("first", 1, models="H100")
    cluster.create("second", 1, models="H100")
    assert [cluster.node_of(name) for name in ("first", "second")] == [expected, expected]


def test_invalid_request_is_rejected_with_its_fault(cluster):
    add_one_of_each_model(cluster)
    cluster.start()
    cluster.create("unreadable", 1, models="H100, , T4")
    assert f"0/3 nodes are available: 3 {UNREADABLE}." in cluster.refusal_of("unreadable")["message"]
