"""What the API server shows of a pod that its kubelet rejects (docs/dev/PROTOCOL.md 8.7), and that we count it with the kubelet's reason."""

import pytest
from api import wait_until
from cluster import PODS

MODEL = "NVIDIA-H100-80GB-HBM3"
REFUSED = "gpu_extender_node_pods_refused_total"
# As a kubelet 1.36 writes them.
REJECTIONS = {
    "unexpected_admission": ("UnexpectedAdmissionError", "Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 1, Available: 0, which is unexpected"),
    "out_of_gpus": ("OutOfnvidia.com/gpu", "Node didn't have enough resource: nvidia.com/gpu, requested: 1, used: 8, capacity: 8"),
    "topology": ("TopologyAffinityError", "Resources cannot be allocated with Topology locality"),
    "other": ("UnexpectedAdmissionError", "Allocate failed due to not enough cpus available to satisfy request: requested=4, available=2, which is unexpected"),
}


def bind(api, name, node):
    target = {"apiVersion": "v1", "kind": "Node", "name": node}
    api.create(f"{PODS}/{name}/binding", {"metadata": {"name": name}, "target": target})


def reject(api, name, cause):
    reason, message = REJECTIONS[cause]
    return api.merge(f"{PODS}/{name}/status", {"status": {"phase": "Failed", "reason": reason, "message": f"Pod was rejected: {message}"}})


@pytest.fixture
def bound(live):
    """One pod for each cause, bound to a node without a kubelet."""
    live.add_nodes("n", 1, MODEL, 8, kwok=False)
    for cause in REJECTIONS:
        live.create(cause.replace("_", "-"), 1, schedulerName="nobody")
    return live


def seen(api, selector, since):
    events = [(kind, item["metadata"]["name"], item["status"].get("phase"), item["status"].get("reason")) for kind, item in api.watch(PODS, selector, 2, since)]
    return [event for event in events if event[1] == "topology"]


def test_only_a_watch_of_failed_pods_has_the_reason(bound):
    bind(bound.api, "topology", "n-0")
    since = bound.api.get(PODS)["metadata"]["resourceVersion"]
    reject(bound.api, "topology", "topology")
    assert seen(bound.api, "status.phase!=Succeeded,status.phase!=Failed", since) == [("DELETED", "topology", "Pending", None)]
    assert seen(bound.api, "status.phase=Failed", since) == [("ADDED", "topology", "Failed", "TopologyAffinityError")]


def test_rejected_pods_are_counted_by_cause(bound):
    bound.start_service()
    bound.wait_until_told()
    for cause in REJECTIONS:
        bind(bound.api, cause.replace("_", "-"), "n-0")
    wait_until(lambda: bound.wait_until_told()["n-0"]["used"] == len(REJECTIONS), lambda: "all are bound")
    for cause in REJECTIONS:
        reject(bound.api, cause.replace("_", "-"), cause)
    text = lambda: bound.service.get("/metrics").text  # noqa: E731
    wait_until(lambda: all(f'{REFUSED}{{node="n-0",cause="{cause}"}} 1' in text() for cause in REJECTIONS), text)
