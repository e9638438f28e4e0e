"""A true 410: our watches continue from a version that the API server has forgotten, so everything is relisted.

kube-apiserver serves watches from memory that begins at its start; without that memory, from etcd, which forgets by compaction.
Either happens while our connections are cut.
"""

import cluster as clusters
import pytest
from api import wait_until
from cluster import NODES, PODS
from live import LiveCluster, wait_until_it_binds
from plane import Plane

MODEL = "NVIDIA-H100-80GB-HBM3"
KINDS = ("nodes", "pods", "namespaces", "priorityclasses")


def relisted(cluster):
    return {kind: cluster.metric("gpu_extender_watch_relists_total", kind=kind, cause="gone") for kind in KINDS}


def change_everything(cluster):
    """Changes while we are cut off: a pod is deleted, one is recreated, one is created, a node is deleted, one shrinks."""
    api = cluster.api
    api.delete(f"{PODS}/leaves")
    api.delete(f"{PODS}/changes")
    cluster.create("changes", 3, node_name="stays")
    cluster.create("comes", 1, node_name="stays")
    api.delete(f"{NODES}/leaves")
    api.merge(f"{NODES}/shrinks/status", {"status": {"allocatable": {clusters.GPU: "2"}}})
    api.create("/api/v1/namespaces", {"metadata": {"generateName": "other-"}})
    return api.get(f"{PODS}/comes")["metadata"]["resourceVersion"]


def prepare(cluster):
    for name in ("stays", "leaves", "shrinks"):
        cluster.add_node(name, MODEL, 8)
    cluster.create("leaves", 2, node_name="stays")
    cluster.create("changes", 1, node_name="stays")
    cluster.create("on-a-node-that-goes", 1, node_name="leaves")
    cluster.start_service()
    cluster.wait_until_told()
    wait_until_it_binds(cluster.service)
    assert not any(relisted(cluster).values())


def all_is_seen_again(cluster):
    told = cluster.wait_until_told()
    assert {name: (shown["gpus"], shown["used"]) for name, shown in told.items()} == {"stays": (8, 4), "shrinks": (2, 0)}
    wait_until(lambda: all(relisted(cluster).values()), lambda: relisted(cluster))
    cluster.start_scheduler()
    cluster.create("after", 4)
    assert cluster.node_of("after") == "stays"
    assert cluster.used()["stays"] == 8


def test_restarted_kube_apiserver_has_no_old_events(proxied):
    prepare(proxied)
    proxied.proxy.cut()
    change_everything(proxied)
    proxied.plane.kill_apiserver()
    proxied.plane.start_apiserver()
    proxied.proxy.mend()
    all_is_seen_again(proxied)


@pytest.fixture
def without_memory(programs, tmp_path, name):
    with Plane(programs, tmp_path, watch_cache=False) as plane:
        clusters.prepare(plane.api)
        with LiveCluster(plane, name, proxied=True) as running:
            yield running


def test_compacted_etcd_has_no_old_events(without_memory):
    prepare(without_memory)
    without_memory.proxy.cut()
    revision = change_everything(without_memory)
    without_memory.plane.compact_etcd(revision)
    without_memory.proxy.mend()
    all_is_seen_again(without_memory)
