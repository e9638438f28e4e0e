"""Six pods over limits.objectValues, which the API server accepts and kube-scheduler asks us about again and again, beside other pods.

The control is six pods that wait for a model that no node has. How long filter took is printed, to compare, not judged.
"""

import time

import pytest
from api import wait_until
from cluster import EVENTS, PODS
from live import wait_until_it_binds

MODEL = "NVIDIA-H100-80GB-HBM3"
N_WAITING, N_OTHERS = 6, 40
# 740,000 are the most that the API server accepts, but they keep the API server itself busy for minutes.
N_TERMS = 100_000
# Only the first one matches a node, or kube-scheduler would never ask us.
TERMS = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "Exists"}]}, *[{}] * (N_TERMS - 1)]
DENSE = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": TERMS}}}
WAITING = {"dense": {"affinity": DENSE}, "control": {"models": "A100"}}


def rejected(live):
    """Names of the pods that filter found no node for."""
    decisions = live.service.get("/v1/decisions").json()["decisions"]
    return {shown["pod"]["name"] for shown in decisions if shown["verb"] == "filter" and shown["nodesHandedOn"] == 0}


def filter_s(live):
    return live.metric("gpu_extender_http_request_duration_seconds_sum", route="filter")


@pytest.mark.parametrize("kind", WAITING)
def test_others_are_bound_beside_dense_pods(live, kind):
    """One after the other: each wakes the waiting pods. Half of them without GPUs."""
    names = {f"{kind}-{number}" for number in range(N_WAITING)}
    live.add_nodes("node", 4, MODEL, 8)
    live.start()
    wait_until_it_binds(live.service)
    for name in sorted(names):
        live.create(name, 1, **WAITING[kind])
        live.ends.callback(live.api.delete, f"{PODS}/{name}")
    wait_until(lambda: names <= rejected(live), lambda: f"{rejected(live)}")
    began_s, spent_s, calls = time.monotonic(), filter_s(live), live.filter_requests()
    for number in range(N_OTHERS):
        live.create(f"other-{number}", number % 2)
        assert live.node_of(f"other-{number}")
    print(f"{kind}: {live.filter_requests() - calls} filter calls took {filter_s(live) - spent_s:.3f} s of {time.monotonic() - began_s:.1f} s")
    failed = [event for event in live.api.get(EVENTS)["items"] if event["reason"] == "FailedScheduling"]
    assert not [event["message"] for event in failed if event["involvedObject"]["name"].startswith("other")]
