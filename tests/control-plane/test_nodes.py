"""Nodes that change under running pods: another model, fewer GPUs, cordoned, deleted, and recreated under the same name."""

import pytest
from api import wait_until
from cluster import GPU, NODES, PODS, node, pod

A100, H100 = "NVIDIA-A100-SXM4-80GB", "NVIDIA-H100-80GB-HBM3"


@pytest.fixture
def two(live):
    """Two nodes of 8 H100, a pod with 4 on the first; our service and kube-scheduler run."""
    live.add_node("first", H100, 8)
    live.add_node("second", H100, 8)
    live.add_running("runs", "first", 4)
    live.start()
    assert live.used() == {"first": 4, "second": 0}
    return live


def inventory(live, name):
    nodes = live.service.get("/v1/inventory").json()["nodes"]
    return next((each for each in nodes if each["name"] == name), None)


def wait_until_model(live, name, model):
    wait_until(lambda: model in (inventory(live, name) or {}).get("model", ""), lambda: inventory(live, name))


def test_a_node_gets_another_model(two):
    two.api.merge(f"{NODES}/first", {"metadata": {"labels": {"nvidia.com/gpu.product": A100}}})
    wait_until_model(two, "first", "A100")
    two.create("wants-a100", 4, models="A100")
    two.create("wants-h100", 8, models="H100")
    assert (two.node_of("wants-a100"), two.node_of("wants-h100")) == ("first", "second")
    assert two.used() == {"first": 8, "second": 8}


def test_node_has_fewer_gpus_than_used(two):
    two.api.merge(f"{NODES}/first/status", {"status": {"allocatable": {GPU: "2"}}})
    told = two.wait_until_told()
    assert (told["first"]["gpus"], told["first"]["used"]) == (2, 4)
    assert inventory(two, "first")["resources"][GPU]["free"] == -2
    two.create("one", 1)
    assert two.node_of("one") == "second", "binpack would have taken the first"
    two.api.merge(f"{NODES}/first/status", {"status": {"allocatable": {GPU: "8"}}})
    two.wait_until_told()
    two.wait_until_scheduler_saw("first")
    two.create("four", 4)
    assert two.node_of("four") == "first"


def test_node_is_cordoned_and_uncordoned(two):
    two.api.merge(f"{NODES}/first", {"spec": {"unschedulable": True}})
    two.wait_until_scheduler_saw("first")
    two.create("elsewhere", 1)
    assert two.node_of("elsewhere") == "second"
    assert two.used() == {"first": 4, "second": 1}
    two.api.merge(f"{NODES}/first", {"spec": {"unschedulable": None}})
    two.create("all-of-second", 7)
    two.create("here", 4)
    assert (two.node_of("all-of-second"), two.node_of("here")) == ("second", "first")


def test_a_node_goes_and_comes_back_with_its_pods(two):
    """The pods are not deleted here (a controller would, after a while): their node is missing, then returns."""
    two.api.delete(f"{NODES}/first")
    assert two.used() == {"second": 0}
    two.create("one", 1)
    assert two.node_of("one") == "second"
    two.api.create(NODES, node("first", A100, 8))
    assert two.used() == {"first": 4, "second": 1}
    two.wait_until_scheduler_saw("first")
    two.create("too-many-for-first", 5, models="A100")
    two.create("fits", 4, models="A100")
    assert two.node_of("fits") == "first"
    assert "1 Insufficient nvidia.com/gpu" in two.refusal_of("too-many-for-first")["message"]


def test_pod_is_replaced_by_another_of_its_name(two):
    """Same name, other UID, other node, other size."""
    two.api.delete(f"{PODS}/runs")
    two.add_running("runs", "second", 7)
    assert two.used() == {"first": 0, "second": 7}
    two.create("whole", 8)
    assert two.node_of("whole") == "first"


@pytest.mark.parametrize("effects, fits", [(["NoExecute"], True), (["NoSchedule", "NoExecute"], False)], ids=["recovers", "lost"])
def test_the_dry_run_adds_the_tolerations_that_admission_adds(live, effects, fits):
    """The API server's DefaultTolerationSeconds. When a node recovers, its taint NoSchedule goes first."""
    lost = node("lost", H100, 8)
    lost["spec"] = {"taints": [{"key": "node.kubernetes.io/unreachable", "effect": effect} for effect in effects]}
    live.api.create(NODES, lost)
    live.start()
    live.wait_until_told()
    asks = {"apiVersion": "v1", "kind": "Pod", **pod("asks", 1)}
    (workload,) = live.service.post("/v1/dry-run", asks).json()["workloads"]
    assert [item["fits"] for item in workload["nodes"]] == [fits]
    live.create("asks", 1)
    if fits:
        assert live.node_of("asks") == "lost"
    else:
        assert "untolerated taint" in live.refusal_of("asks")["message"]


CLASSES = "/apis/resource.k8s.io/v1/deviceclasses"


@pytest.mark.since("1.36", "DeviceClasses that map extended resources")
def test_device_class_mapping_appears_and_disappears(live):
    """Seen by watch: a node without a device plugin is then judged by its model only."""
    live.add_node("driver", H100, 0)
    live.start_service()
    asks = {"apiVersion": "v1", "kind": "Pod", **pod("asks", 1)}

    def verdict():
        (workload,) = live.service.post("/v1/dry-run", asks).json()["workloads"]
        return next((item["message"] for item in workload["nodes"] if item["node"] == "driver"), "")

    wait_until(lambda: "has no GPUs" in verdict(), verdict)
    live.api.create(CLASSES, {"metadata": {"name": "gpu.nvidia.com"}, "spec": {"extendedResourceName": GPU}})
    wait_until(lambda: "claims are judged by quotas only" in verdict(), verdict)
    live.api.delete(f"{CLASSES}/gpu.nvidia.com")
    wait_until(lambda: "has no GPUs" in verdict(), verdict)
