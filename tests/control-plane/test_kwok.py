"""KWOK stands for the kubelets of other tests. It ends deleted pods, and leaves the next pod of their name alone."""

from api import wait_until
from cluster import PODS, Cluster, node, pod
from live import RUN_BY_KWOK

NAMES = [f"ends-{number}" for number in range(20)]


def runs(seen):
    return seen["status"].get("phase") == "Running"


def ended_since(log, start):
    """KWOK's lines about deleted pods from there on."""
    log.seek(start)
    lines = [line for line in log if line.endswith("\n")]
    return [line for line in lines if '"stage":"pod-delete"' in line or '"msg":"Delete pod"' in line]


def test_kwok_deletes_only_pods_with_a_grace_period(plane, name):
    """The API server itself deletes the others: KWOK would delete them by name, perhaps later than a test creates the next."""
    with Cluster(plane, name) as cluster, open(plane.path("kwok.log"), encoding="utf-8") as log:
        start = log.seek(0, 2)
        there = node("kwok", "NVIDIA-H100-80GB-HBM3", 8)
        there["metadata"]["annotations"] = RUN_BY_KWOK
        cluster.api.create("/api/v1/nodes", there)
        cluster.api.create_all(PODS, [pod(each, 0, node_name="kwok") for each in (*NAMES, "last")])
        for each in (*NAMES, "last"):
            cluster.api.wait_for(PODS, f"metadata.name={each}", runs)
        for each in NAMES:
            cluster.api.delete(f"{PODS}/{each}")
        cluster.api.ask("DELETE", f"{PODS}/last")
        cluster.api.wait_for_all(PODS, lambda items: not items)
        # KWOK writes the line after the deletion.
        ended = wait_until(lambda: ended_since(log, start), lambda: "KWOK tells of no deletion")
    assert len(ended) == 1 and "/last" in ended[0]
