"""Pods with long affinities: placed like others, but not judged where that would be too expensive.

tests/unit/decide/test_shape_limits.c covers what the ledger keeps of them, and the limits per namespace.
"""

import json

import pytest
from objects import A100, filter_args, node, pod

T4 = "Tesla-T4"
HEAD = "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\n"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
HOSTS = [f"ip-10-0-{i // 256}-{i % 256}.example.internal" for i in range(5000)]
TERM = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": HOSTS}]}
LONG = {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [TERM]}, PREFERRED: [{"weight": 9, "preference": TERM}]}}}
NODES = [node("a100", 8, A100), node("t4", 8, T4)]
NAMES = ["a100", "t4"]
SAYS = "not judged: shape over limits.podShapeBytes"


def fat(name="fat", on=None):
    return pod(name, 2, on, spec=LONG, metadata={"annotations": {"gpu-extender.io/models": "T4"}})


def deployment():
    template = {"metadata": fat()["metadata"], "spec": fat()["spec"]}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "fat"}, "spec": {"replicas": 2, "template": template}}


@pytest.fixture
def service(start_over):
    return start_over(*NODES, fat(), fat("runs", "t4"), pod("plain", 1))


def test_filter_and_prioritize_judge_the_gpus_of_a_large_pod(service):
    answer = service.post("/scheduler/filter", filter_args(fat(), NAMES)).json()
    assert answer["NodeNames"] == ["t4"]
    assert answer["FailedAndUnresolvableNodes"] == {"a100": "gpu-extender: the node's GPU model is not one that the pod asks for"}
    # It has preferences, so kube-scheduler decides.
    assert service.post("/scheduler/prioritize", filter_args(fat(), ["t4"])).json() == []


def test_gpus_of_a_large_pod_are_counted(service):
    t4 = {item["name"]: item for item in service.get("/v1/inventory").json()["nodes"]}["t4"]
    assert "runs" in json.dumps(t4)
    full = pod("asks", 7)
    answer = service.post("/scheduler/filter", filter_args(full, ["t4"])).json()
    assert "too few free GPUs now" in answer["FailedAndUnresolvableNodes"].get("t4", "") + answer["FailedNodes"].get("t4", "")


def test_users_see_that_a_large_pod_is_not_judged(service):
    pending = service.get("/v1/pending").json()
    assert pending["notJudged"] == 1
    assert {item["name"]: item["judged"] for item in pending["pods"]} == {"fat": False, "plain": True}
    explained = service.get("/v1/pods/ml/fat/explain").json()
    assert explained["pod"]["summary"] == f"ml/fat: was {SAYS}" and explained["nodes"] == []
    trial = service.post("/v1/dry-run", json.dumps(deployment())).json()["workloads"][0]
    assert trial["placed"] == 0 and trial["summary"].endswith(SAYS)


def test_metrics_count_large_pods(service):
    text = service.get("/metrics").text
    assert 'gpu_extender_pods_over_shape_limits{limit="limits.podShapeBytes"} 2' in text
    kept = [line for line in text.splitlines() if line.startswith("gpu_extender_pod_shapes_bytes ")]
    assert 0 < float(kept[0].split()[1]) < 16384


def test_a_snapshot_notes_it_and_reads_back(service, start_service, write):
    text = service.get("/v1/snapshot").text
    kept = [item for item in json.loads(text)["items"] if item.get("shapeOver")]
    assert [item["metadata"]["name"] for item in kept] == ["fat", "runs"]
    assert {item["shapeOver"] for item in kept} == {"limits.podShapeBytes"} and len(text) < 65536
    again = start_service("--cluster-file", write("snapshot.json", text))
    assert again.get("/v1/pods/ml/fat/explain").json()["pod"]["summary"] == f"ml/fat: was {SAYS}"
    assert again.get("/v1/inventory").json()["problems"] == []


def test_an_exhausted_sum_is_named(start_over, write):
    """1Mi holds 25 such shapes of one namespace at most; all pods can be placed, and those beyond are not judged."""
    pods = []
    for i in range(40):
        term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [f"{i}-{host}" for host in HOSTS[:600]]}]}
        pods.append(pod(f"p{i:02}", 1, spec={"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term]}}}}))
    service = start_over(*NODES, *pods, options=["--config", write("policy.yaml", HEAD + "limits: {podShapesBytes: 1Mi}\n")])
    answer = service.get("/v1/pending").json()
    says = {item["summary"].split(": ", 1)[1] for item in answer["pods"] if not item["judged"]}
    assert says == {"was not judged: shape over limits.podShapesBytes"} and 10 < answer["notJudged"] < 35
    assert service.post("/scheduler/filter", filter_args(pods[-1], NAMES)).json()["NodeNames"] == NAMES
