"""Pods of the largest size that the API server accepts. A tenant with one such pod must not prevent the scheduling of others.

etcd accepts objects of 1.5 MiB; their JSON may be six times as large, because "<" becomes "\\u003c".
"""

from cluster import PODS, pod

# This is not about speed: a sanitized build reads 8 MB with each change, maybe on a busy machine.
POLICY = """
apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
kubernetes: {watchLagSeconds: 60}
"""
H100 = "NVIDIA-H100-80GB-HBM3"
TEXT = "<" * 1_400_000


def with_much_to_drop():
    """Its large part is not read."""
    large = pod("drops", 2)
    large["spec"]["containers"][0]["workingDir"] = TEXT
    return large


def with_much_to_keep():
    """An affinity is read."""
    large = pod("keeps", 2)
    unlikely = {"matchExpressions": [{"key": "a", "operator": "In", "values": [TEXT]}]}
    preferred = [{"weight": 1, "preference": unlikely}]
    large["spec"]["affinity"] = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    return large


def test_large_pods_are_scheduled_like_others_and_beside_them(live):
    live.add_node("node", H100, 8)
    live.start("--config", live.plane.write(f"policy-{live.name}.yaml", POLICY), httpTimeout="30s")
    live.create("small", 1)
    for large in (with_much_to_drop(), with_much_to_keep()):
        live.api.create(PODS, large)
    live.wait_until_bound(3)
    assert live.used() == {"node": 5}
    assert live.service.get("/readyz").status == 200


def test_large_pods_exist_at_the_start(live):
    live.add_node("node", H100, 8)
    for large in (with_much_to_drop(), with_much_to_keep()):
        large["spec"]["nodeName"] = "node"
        live.api.create(PODS, large)
    live.start_service()
    assert live.used() == {"node": 4}
