"""Our watches are 3 s behind kube-scheduler's, longer than filter ever waits: no pod is evicted in vain, and all are bound.

kube-scheduler retries rejected pods after five minutes, much later than any wait here ends (api.LIMIT_S); after an Error, in seconds.

TLS hides from the proxy which connections are watches: those that are open before the first binding.
"""

import pytest
from cluster import ABOVE, PODS
from live import bound

MODEL = "NVIDIA-H100-80GB-HBM3"
LAG_S = 3


@pytest.fixture
def full(proxied):
    """Four nodes of 8 GPUs, each with two running pods of 4; from now on our watches lag."""
    proxied.add_nodes("node", 4, MODEL, 8)
    for number in range(8):
        proxied.create(f"runs-{number}", 4, node_name=f"node-{number % 4}")
    proxied.start()
    assert set(proxied.used().values()) == {8}
    proxied.proxy.delay(LAG_S)
    return proxied


def lagged(cluster):
    """Whether kube-scheduler got that Error at least once: else there was no delay. (Its event may come later, or be merged with
    another.)"""
    return cluster.metric("gpu_extender_filter_ledger_behind_total") > 0


def test_deleted_pods_make_room(full):
    full.create_all("next", 8, 4)
    for number in range(8):
        full.refusal_of(f"next-{number}")
    for number in range(8):
        full.api.delete(f"{PODS}/runs-{number}")
    pods = full.wait_until_bound(8, "next")
    assert not full.bound_by_others(pods)
    assert lagged(full)
    full.proxy.no_delay()
    assert set(full.used().values()) == {8}


def test_no_needless_pods_are_preempted(full):
    """Two pods of higher priority with 4 GPUs each: exactly two victims, though we see their end late."""
    full.create_all("above", 2, 4, priority_class=ABOVE)
    full.wait_until_bound(2, "above")
    assert lagged(full)
    full.proxy.no_delay()
    assert set(full.used().values()) == {8}
    pods = full.api.get(PODS)["items"]
    assert sorted(item["metadata"]["name"] for item in pods if item["metadata"].get("deletionTimestamp")) == []
    assert len(pods) == 8 and len(bound({item["metadata"]["name"]: item for item in pods})) == 8
