"""Quotas on a real control plane: a burst does not exceed one, a waiting pod is rejected once, and changed labels count at once."""

import os
import signal

import pytest
from api import wait_until
from cluster import NAMESPACE, PODS, is_refused, scheduled
from live import bound, node_name
from plane import is_since

H100 = "NVIDIA-H100-80GB-HBM3"
QUIET_S = 3
LATE_S = 3600  # ended earlier
OF_MODEL = "2 gpu-extender: quota team-a leaves too few GPUs of the node's model."
POLICY = """
apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
quotas:
- name: team-a
  {}
  limits: [{{resource: nvidia.com/gpu, models: {{H100: {}}}}}]
"""


def prepare(live, covers, h100, kwok=True):
    live.add_nodes("h100", 2, H100, 8, kwok)
    live.add_nodes("t4", 1, "Tesla-T4", 4, kwok)
    live.start_service("--config", live.plane.write(f"policy-{live.name}.yaml", POLICY.format(covers, h100)))


def start(live, covers, h100):
    prepare(live, covers, h100)
    live.start_scheduler()


def name_of(key):
    return key.partition("/")[2]


def on_h100(items):
    return {key for key, item in items.items() if (node_name(item) or "").startswith("h100")}


def waiting(items):
    return {key: item for key, item in items.items() if not node_name(item)}


def most_seen(live, holds):
    """Waits until holds(pods). Returns those pods, and the most pods on H100 nodes at any time until then."""
    counts = []

    def look(items):
        counts.append(len(on_h100(items)))
        return holds(items)

    return live.api.wait_for_all(PODS, look, live.shown), max(counts)


def test_burst_gets_exactly_the_quota(live):
    """5 of 16 H100, and the 4 T4, which the quota does not limit. Waiting pods are not retried until one ends; then the next is bound.
    The last event before may cause one retry: the Error in a pod's status, then the rejection."""
    start(live, "namespaces: [gpu]", 5)
    live.create_all("burst", 15, 1)

    def says_why(item):
        said = scheduled(item).get("message", "")
        return is_refused(item) and "1 Insufficient nvidia.com/gpu" in said and OF_MODEL in said

    def nine_run_and_six_say_why(items):
        running = [item["status"]["phase"] for item in bound(items)]
        return running == ["Running"] * 9 and sum(map(says_why, waiting(items).values())) == 6

    pods, most = most_seen(live, nine_run_and_six_say_why)
    assert most == 5 and live.used()["t4-0"] == 4
    asked = live.filter_requests()
    assert len(live.changes_of(name_of(min(waiting(pods))), QUIET_S)) <= 3, "the pod's status is written again and again"
    assert live.filter_requests() - asked < 60, "kube-scheduler asks again and again"

    ended = min(on_h100(pods))
    live.api.delete(f"{PODS}/{name_of(ended)}")
    live.wait_until_told()
    live.wake("t4-0")
    pods, most = most_seen(live, lambda items: ended not in items and len(bound(items)) == 9)
    assert most == len(on_h100(pods)) == 5 and live.used()["t4-0"] == 4
    assert covered(live) == (1, 5)


@pytest.mark.since("1.32", "a call after the pod's own status was written, or the next is no repetition (PROTOCOL 6.2)")
def test_our_watch_is_late_when_a_pod_of_the_quota_has_ended(proxied):
    """kube-scheduler calls for the next pod at once, and we see the end only afterwards: the same rejection would be final. Before, only
    that pod changes, and our ledger is current."""
    prepare(proxied, "namespaces: [gpu]", 1, kwok=False)
    proxied.create("ends", 1, node_name="h100-0")
    proxied.create_all("there", 4, 1, node_name="t4-0")
    proxied.create("left", 1)
    proxied.wait_until_told()
    proxied.start_scheduler()
    wait_until_asked_no_more(proxied, "left")
    proxied.proxy.delay(LATE_S)
    proxied.api.delete(f"{PODS}/ends")
    said = proxied.error_of("left")["message"]
    proxied.proxy.no_delay()
    assert "0/2 nodes fit: 2 a quota of the pod's namespace leaves too few GPUs (retry once" in said
    assert proxied.node_of("left").startswith("h100")
    assert proxied.metric("gpu_extender_filter_repeats_total") == 1


def asked_about(live, name):
    """Filter calls about the pod that returned no node."""
    calls = live.service.get(f"/v1/decisions?verb=filter&name={name}").json()["decisions"]
    return [call for call in calls if call["nodesHandedOn"] == 0]


def wait_until_asked_no_more(live, name):
    """From 1.32 on, kube-scheduler asks once again after it has written the pod's status."""
    wait_until(lambda: len(asked_about(live, name)) >= 1 + is_since("1.32"), live.service.log.text)


def covered(live):
    """Number of namespaces that the quota covers, and their use."""
    (quota,) = live.service.get("/v1/quota").json()["quotas"]
    return quota["namespaces"], quota["limits"][0]["used"]


def label(live, stage):
    """Adds the namespace to the quota, or removes it with None; returns once our service has seen it."""
    live.api.merge(NAMESPACE, {"metadata": {"labels": {"stage": stage}}})
    wait_until(lambda: covered(live)[0] == (1 if stage else 0), lambda: covered(live))


def test_a_label_of_the_namespace_counts_without_a_restart(live):
    live.ends.callback(live.api.merge, NAMESPACE, {"metadata": {"labels": {"stage": None}}})
    start(live, "namespaceSelector: {matchLabels: {stage: test}}", 1)
    live.create_all("before", 3, 1, models="H100")
    live.wait_until_bound(3, "before")
    assert covered(live) == (0, 0)

    label(live, "test")
    live.wait_until_told()
    assert covered(live) == (1, 3), "more than it allows, and nobody is evicted"
    live.create("under", 1, models="H100")
    assert OF_MODEL in live.refusal_of("under")["message"]
    assert len(live.api.get(PODS)["items"]) == 4

    label(live, None)
    live.create("after", 1, models="H100")
    assert live.node_of("after").startswith("h100")


def test_a_raised_quota_counts_without_a_restart(live):
    """The policy file is reloaded. A changed annotation of a node wakes the pod, as docs/OPERATIONS.md says."""
    start(live, "namespaces: [gpu]", 1)
    live.create("first", 1, models="H100")
    live.node_of("first")
    live.create("second", 1, models="H100")
    assert OF_MODEL in live.refusal_of("second")["message"]

    raised = live.plane.write(f"raised-{live.name}.yaml", POLICY.format("namespaces: [gpu]", 2))
    os.replace(raised, live.plane.path(f"policy-{live.name}.yaml"))
    live.service.signal(signal.SIGHUP)
    live.service.log.wait_for({"msg": "the policy file was reloaded"})
    assert covered(live) == (1, 1)
    live.wake("t4-0")
    assert live.node_of("second").startswith("h100")
    assert covered(live) == (1, 2)
    live.create("third", 1, models="H100")
    assert OF_MODEL in live.refusal_of("third")["message"]
