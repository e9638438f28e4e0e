"""Pods without GPUs: with all pods coming to us, in the usual configuration with tainted GPU nodes, and while none of our replicas runs."""

import pytest
from cluster import GPU, NODES, PODS, node, pod
from live import BOUND_BY

USUAL, ALL_PODS = "kube-scheduler-config.yaml", "kube-scheduler-config-all-pods.yaml"
MODEL = "NVIDIA-H100-80GB-HBM3"
TAINT = {"key": GPU, "value": "present", "effect": "NoSchedule"}
TOLERATION = {"key": GPU, "operator": "Exists", "effect": "NoSchedule"}


def add_nodes(live, taints=()):
    """An idle GPU node, and a plain one with 4 of 16 cores free: kube-scheduler's own scores prefer the first."""
    gpus, plain = node("gpus", MODEL, 8), node("plain", MODEL, 0)
    gpus["spec"] = {"taints": list(taints)}
    del plain["metadata"]["labels"]["nvidia.com/gpu.product"]
    del plain["status"]["allocatable"][GPU]  # also removes it from capacity: the same object
    live.api.create(NODES, gpus)
    live.api.create(NODES, plain)
    live.add_running("runs", "plain", 0, cpu="12")


def create_tolerant(live, name, gpus):
    item = pod(name, gpus)
    item["spec"]["tolerations"] = [TOLERATION]
    live.api.create(PODS, item)


def nodes_of(live, *names):
    """One after another, so that each decision sees the result of the previous one."""
    found = []
    for name in names:
        live.create(name, 0, cpu="1")
        found.append(live.node_of(name))
    return found


@pytest.mark.parametrize("verb, expected", [("prioritize", "plain"), ("", "gpus")], ids=["asked", "not-asked"])
def test_all_pods_mode_keeps_gpu_nodes_free(live, verb, expected):
    """Without our scores kube-scheduler takes the idle node."""
    add_nodes(live)
    live.start(shipped=ALL_PODS, prioritizeVerb=verb)
    assert nodes_of(live, "one", "two", "three") == [expected] * 3


def test_all_pods_mode_makes_gpu_nodes_the_last_resort(live):
    add_nodes(live)
    live.start(shipped=ALL_PODS)
    live.create("large", 0, cpu="8")
    live.create("trains", 8)
    assert (live.node_of("large"), live.node_of("trains")) == ("gpus", "gpus")
    assert not live.bound_by_others({name: live.api.get(f"{PODS}/{name}") for name in ("large", "trains")})


def test_a_taint_keeps_pods_without_gpus_off_gpu_nodes(live):
    """In the usual configuration, where these pods do not come to us."""
    add_nodes(live, [TAINT])
    live.start()
    assert nodes_of(live, "one", "two", "three") == ["plain"] * 3
    assert live.filter_requests() == 0
    live.create("large", 0, cpu="8")
    assert "untolerated taint" in live.refusal_of("large")["message"]
    create_tolerant(live, "trains", 1)
    assert live.node_of("trains") == "gpus"


ALL_PODS_POLICY = "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\nscheduler: {allPods: true}\n"


def dry_run(live, name, gpus, **more):
    asks = {"apiVersion": "v1", "kind": "Pod", **pod(name, gpus, **more)}
    (workload,) = live.service.post("/v1/dry-run", asks).json()["workloads"]
    warned = any("has no effect" in line for line in workload["notEvaluated"])
    return {item["node"] for item in workload["nodes"] if item["fits"]}, warned


def test_annotations_of_a_pod_without_gpus_have_no_effect(live):
    """In the usual configuration. The dry run agrees with kube-scheduler."""
    add_nodes(live)
    live.start()
    live.wait_until_told()
    live.create("asks", 0, models="T4")
    assert live.node_of("asks") in ("gpus", "plain")
    assert dry_run(live, "asks", 0, models="T4") == ({"gpus", "plain"}, True)


def test_with_all_pods_the_same_annotations_count(live):
    add_nodes(live)
    policy = live.plane.write("all-pods.yaml", ALL_PODS_POLICY)
    live.start_service("--config", policy)
    live.start_scheduler(shipped=ALL_PODS)
    live.wait_until_told()
    live.create("asks", 0, models="T4")
    assert "gpu-extender: " in live.refusal_of("asks")["message"]
    assert dry_run(live, "asks", 0, models="T4") == (set(), False)


def without_us(live, shipped):
    """kube-scheduler calls an address without a listener."""
    add_nodes(live)
    live.start_scheduler(shipped=shipped)


def assert_waits(live, name):
    assert "connection refused" in live.error_of(name)["message"]


def test_gpu_extender_pods_start_while_it_is_down(live):
    """They request no GPUs. A GPU pod waits until we run."""
    without_us(live, USUAL)
    live.create("trains", 1)
    assert_waits(live, "trains")
    live.create("gpu-extender", 0)
    live.node_of("gpu-extender")
    live.start_service()
    assert live.node_of("trains") == "gpus"
    assert BOUND_BY in live.api.get(f"{PODS}/trains")["metadata"]["annotations"]


def test_all_pods_mode_locks_gpu_extender_out_while_it_is_down(live):
    """The reason for the warning of `--check` about scheduler.allPods."""
    without_us(live, ALL_PODS)
    live.create("gpu-extender", 0)
    assert_waits(live, "gpu-extender")
    live.start_service()
    assert live.node_of("gpu-extender") == "plain"
