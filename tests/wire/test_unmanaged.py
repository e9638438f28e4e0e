"""Pods that name no GPU resource: kube-scheduler places them without asking gpu-extender, so their annotations have no effect.

tests/control-plane/test_all_pods.py compares the dry run with a real kube-scheduler.
"""

import json

import pytest
from objects import GPU, annotated, filter_args, merged, node, pod

ALL_PODS = "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\nscheduler: {allPods: true}\n"
LEGACY = "scheduler.alpha.kubernetes.io/affinity"
ONLY_ZONE_B = json.dumps(
    {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]}]}]
            }
        }
    }
)
NODES = [node("gpus"), node("plain", None, None)]
WITHOUT_EFFECT = " has no effect: kube-scheduler places pods that name no GPU resource alone (scheduler.allPods is false)"


def with_annotation(key, value, gpus=None):
    return pod("asks", gpus, metadata={"annotations": {key: value}})


REJECTED = {
    "model": with_annotation("gpu-extender.io/models", "T4"),
    "memory": with_annotation("gpu-extender.io/min-gpu-memory", "500Gi"),
    "unreadable": with_annotation("gpu-extender.io/models", ","),
    "shared": with_annotation("gpu-extender.io/allow-shared", "perhaps"),
    "legacy": with_annotation(LEGACY, ONLY_ZONE_B),
}


def dry_run(service, asking):
    (workload,) = service.post("/v1/dry-run", asking).json()["workloads"]
    return [item["node"] for item in workload["nodes"] if item["fits"]], warnings_of(workload)


def explained(service):
    answer = service.get("/v1/pods/ml/asks/explain").json()
    return [item["node"] for item in answer["nodes"] if item["fits"]], warnings_of(answer["pod"])


def warnings_of(holder):
    return [line for line in holder["notEvaluated"] if "has no effect" in line]


@pytest.mark.parametrize("asking", REJECTED.values(), ids=REJECTED)
def test_annotations_of_a_pod_without_gpus_have_no_effect(asking, start_over):
    (annotation,) = asking["metadata"]["annotations"]
    service = start_over(*NODES, asking)
    expected = (["gpus", "plain"], [f"annotation {annotation}{WITHOUT_EFFECT}"])
    assert dry_run(service, asking) == expected
    assert explained(service) == expected
    assert service.get("/v1/pods/ml/asks/explain").json()["pod"]["refusal"] is None


@pytest.mark.parametrize("asking", REJECTED.values(), ids=REJECTED)
def test_with_all_pods_they_count(asking, start_over, write):
    service = start_over(*NODES, asking, options=["--config", write("policy.yaml", ALL_PODS)])
    assert dry_run(service, asking) == explained(service) == ([], [])


@pytest.mark.parametrize("asking", REJECTED.values(), ids=REJECTED)
def test_for_a_pod_that_comes_anyway_they_count(asking, start_over):
    """kube-scheduler asks about it, whatever the policy says."""
    service = start_over(*NODES)
    answer = service.post("/scheduler/filter", filter_args(asking, ["gpus", "plain"])).json()
    assert sorted(answer["FailedAndUnresolvableNodes"]) == ["gpus", "plain"]


@pytest.mark.parametrize("member", ["requests", "limits"])
@pytest.mark.parametrize("containers", ["containers", "initContainers"])
def test_the_name_alone_brings_a_pod_here(member, containers, start_over):
    """kube-scheduler looks for the name in the requests and limits of containers and init containers, not at the amount."""
    asking = annotated("asks", None, models="T4")
    asking["spec"].setdefault("initContainers", [{"name": "first"}])
    asking["spec"][containers][0]["resources"] = {"requests": {GPU: "0"}, "limits": {GPU: "0"}}
    del asking["spec"][containers][0]["resources"][{"requests": "limits", "limits": "requests"}[member]]
    service = start_over(*NODES, asking)
    assert dry_run(service, asking) == explained(service) == ([], [])


def test_a_snapshot_keeps_the_wishes_of_a_pod_with_zero_gpus(start_over, start_service, write):
    asking = annotated("asks", 0, models="T4")
    service = start_over(*NODES, asking)
    again = start_service("--cluster-file", write("snapshot.json", service.get("/v1/snapshot").body))
    assert explained(again) == explained(service) == ([], [])


def test_a_node_selector_still_rejects_nodes(start_over):
    asking = merged(annotated("asks", None, models="T4"), {"spec": {"nodeSelector": {"nvidia.com/gpu.product": "Tesla-T4"}}})
    service = start_over(*NODES)
    (workload,) = service.post("/v1/dry-run", asking).json()["workloads"]
    assert [item["reason"] for item in workload["nodes"]] == ["node_selector"] * 2


def test_a_pod_without_annotations_gets_no_warning(start_over):
    assert dry_run(start_over(*NODES), pod("asks", None)) == (["gpus", "plain"], [])
