"""mode: observe with the real kube-scheduler and manifests/kube-scheduler-config-observe.yaml: no pod waits for us."""

import json

import pytest
from api import wait_until
from live import BOUND_BY, node_name

OBSERVE = "kube-scheduler-config-observe.yaml"
MODEL = "NVIDIA-H100-80GB-HBM3"
POLICY = {
    "apiVersion": "gpu-extender.io/v1alpha1",
    "kind": "SchedulerPolicy",
    "mode": "observe",
    "quotas": [{"name": "none", "namespaces": ["gpu"], "limits": [{"total": 0}]}],
    "kubernetes": {"watchSilenceSeconds": 5},
}


@pytest.fixture
def observing(proxied):
    """One node; our service would refuse every pod for its quota."""
    proxied.add_node("node", MODEL, 8)
    proxied.start_service("--config", proxied.plane.write("observe.yaml", json.dumps(POLICY)))
    proxied.start_scheduler(shipped=OBSERVE)
    proxied.wait_until_told()
    return proxied


def assert_binds(cluster, name, **more):
    """kube-scheduler binds it."""
    cluster.create(name, 1, **more)
    pods = cluster.wait_until_bound(1, name)
    (found,) = [item for item in pods.values() if item["metadata"]["name"] == name]
    assert node_name(found) == "node" and BOUND_BY not in found["metadata"].get("annotations", {})


def test_refused_pods_bind(observing):
    assert_binds(observing, "over-the-quota")
    assert_binds(observing, "of-another-model", models="T4")
    assert_binds(observing, "invalid", models="no model of any vendor")
    assert observing.metric("gpu_extender_verb_calls_total", verb="filter", result="none") == 3


def test_with_stale_data_every_pod_binds(observing):
    observing.proxy.cut()
    service = observing.service
    wait_until(lambda: not service.get("/v1/inventory").json()["usable"], lambda: service.get("/v1/inventory").text)
    for number in range(3):
        assert_binds(observing, f"stale-{number}")
    assert observing.metric("gpu_extender_verb_calls_total", verb="filter", result="unusable") == 3


def test_with_all_replicas_killed_every_pod_binds(observing):
    assert_binds(observing, "before")
    observing.service.kill()
    for number in range(3):
        assert_binds(observing, f"killed-{number}")
