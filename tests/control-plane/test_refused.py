"""Rejected pods on a real control plane: events that wake them without helping do not make kube-scheduler write their status repeatedly.

Each status change saved is two blocking writes less in kube-scheduler's cycle, for all other pods. tests/bench/errors is the long
form, with 500 pods and five minutes.
"""

import concurrent.futures

import pytest
from api import wait_until
from cluster import PODS, is_refused, scheduled

H100 = "NVIDIA-H100-80GB-HBM3"
POLICY = """
apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
quotas: [{name: team-a, namespaces: [gpu], limits: [{resource: nvidia.com/gpu, total: 1}]}]
"""
REFUSED, CRASHES = 20, 12


def crash(live, number):
    """The kubelet writes this after each restart. It wakes all rejected pods and helps none."""
    status = [{"name": "main", "image": "x", "imageID": "x", "ready": False, "restartCount": number, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]
    live.api.merge(f"{PODS}/crashes/status", {"status": {"containerStatuses": status}})


def count_changes(live, since, first):
    """{pod: changes of kube-scheduler's message} from there on, until the pod that crashes is marked as the last."""
    said, changes = dict(first), dict.fromkeys(first, 0)
    for _, item in live.api.watch(PODS, "", 600, since):
        name = item["metadata"]["name"]
        if item["metadata"].get("labels", {}).get("last"):
            return changes
        if name in said and scheduled(item) and said[name] != words(item):
            said[name] = words(item)
            changes[name] += 1
    return changes


def words(item):
    return scheduled(item).get("reason"), scheduled(item).get("message")


@pytest.mark.since("1.32", "changes of any pod that wake rejected pods")
def test_crash_looping_pod_wakes_no_rejected_pod(live):
    live.add_nodes("h100", 2, H100, 8, kwok=False)
    live.start_service("--config", live.plane.write(f"policy-{live.name}.yaml", POLICY))
    live.add_running("crashes", "h100-0", 1)
    live.start_scheduler()
    live.create_all("refused", REFUSED, 1)
    live.api.wait_for_all(PODS, lambda items: sum(map(is_refused, items.values())) == REFUSED, live.shown)
    listed = live.api.get(PODS)
    first = {item["metadata"]["name"]: words(item) for item in listed["items"] if item["metadata"]["name"] != "crashes"}

    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        changes = thread.submit(count_changes, live, listed["metadata"]["resourceVersion"], first)
        for number in range(1, CRASHES + 1):
            asked = live.filter_requests()
            crash(live, number)
            wait_until(lambda: live.filter_requests() >= asked + REFUSED, live.filter_requests)
        live.api.merge(f"{PODS}/crashes", {"metadata": {"labels": {"last": "yes"}}})
    assert max(changes.result().values()) <= 2, changes.result()
    assert live.metric("gpu_extender_filter_repeats_total") >= 1, "so the changes are those of Errors"
