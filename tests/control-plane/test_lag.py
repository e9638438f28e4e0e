"""Our watches are behind kube-scheduler's, for longer than filter ever waits: no pod is evicted in vain, and all are bound.

The watches stand still until kube-scheduler has got several Errors for it. kube-scheduler retries rejected pods after five minutes, much
later than any wait here ends (api.LIMIT_S); after an Error, in seconds.

TLS hides from the proxy which connections are watches: those that are open before the first binding.
"""

import pytest
from api import LIMIT_S, wait_until
from cluster import ABOVE, PODS
from live import bound, wait_until_it_binds

MODEL = "NVIDIA-H100-80GB-HBM3"
N_ERRORS = 3  # more than the two pods of a test, so at least one was retried in vain


@pytest.fixture
def full(proxied):
    """Four nodes of 8 GPUs, each with two running pods of 4; from now on our watches stand still until catch_up()."""
    proxied.add_nodes("node", 4, MODEL, 8)
    for number in range(8):
        proxied.create(f"runs-{number}", 4, node_name=f"node-{number % 4}")
    proxied.start()
    wait_until_it_binds(proxied.service)  # before that it lists the pods again, perhaps over a connection that is not delayed
    assert set(proxied.used().values()) == {8}
    proxied.proxy.delay(2 * LIMIT_S)
    return proxied


def catch_up(cluster):
    """Once kube-scheduler has got that Error so often."""
    wait_until(lambda: errors(cluster) >= N_ERRORS, lambda: errors(cluster))
    cluster.proxy.no_delay()


def errors(cluster):
    return cluster.metric("gpu_extender_filter_ledger_behind_total")


def test_deleted_pods_make_room(full):
    full.create_all("next", 8, 4)
    for number in range(8):
        full.refusal_of(f"next-{number}")
    for number in range(8):
        full.api.delete(f"{PODS}/runs-{number}")
    catch_up(full)
    pods = full.wait_until_bound(8, "next")
    assert not full.bound_by_others(pods)
    assert set(full.used().values()) == {8}


def test_no_needless_pods_are_preempted(full):
    """Two pods of higher priority with 4 GPUs each: exactly two victims, though we see their end late."""
    full.create_all("above", 2, 4, priority_class=ABOVE)
    catch_up(full)
    full.wait_until_bound(2, "above")
    assert set(full.used().values()) == {8}
    pods = full.api.get(PODS)["items"]
    assert sorted(item["metadata"]["name"] for item in pods if item["metadata"].get("deletionTimestamp")) == []
    assert len(pods) == 8 and len(bound({item["metadata"]["name"]: item for item in pods})) == 8
