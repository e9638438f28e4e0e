"""mode: observe with the real kube-scheduler and manifests/kube-scheduler-config-observe.yaml: no pod waits for us."""

import json

import pytest
from api import wait_until
from cluster import PODS, is_refused, pod
from live import BOUND_BY, node_name, wait_until_it_binds

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


# ---- enforceNamespaces: namespace gpu is enforced, namespace default is observed ----

OTHER_PODS = "/api/v1/namespaces/default/pods"
MIXED = {**POLICY, "enforceNamespaces": {"matchLabels": {"kubernetes.io/metadata.name": "gpu"}}}


@pytest.fixture
def mixed(proxied):
    proxied.ends.callback(proxied.api.delete_all, OTHER_PODS)
    proxied.add_node("node", MODEL, 8)
    proxied.start_service("--config", proxied.plane.write("mixed.yaml", json.dumps(MIXED)))
    proxied.start_scheduler(shipped=OBSERVE)
    proxied.wait_until_told()
    wait_until_it_binds(proxied.service)
    return proxied


def assert_binds_other(cluster, name, **more):
    cluster.api.create(OTHER_PODS, pod(name, 1, **more))
    bound = cluster.api.wait_for(OTHER_PODS, f"metadata.name={name}", node_name)
    assert node_name(bound) == "node"


def test_only_the_enforced_namespace_is_enforced(mixed):
    mixed.create("enforced", 1, models="T4")
    assert "GPU model is not one" in mixed.refusal_of("enforced")["message"]
    mixed.create("over-the-quota", 1)
    assert "quota none" in mixed.refusal_of("over-the-quota")["message"]
    assert_binds_other(mixed, "observed", models="T4")
    assert [item["namespace"] for item in mixed.service.get("/v1/observed").json()["namespaces"]] == ["default"]


def test_with_stale_data_every_pod_of_an_observed_namespace_binds(mixed):
    mixed.proxy.cut()
    service = mixed.service
    wait_until(lambda: not service.get("/v1/inventory").json()["usable"], lambda: service.get("/v1/inventory").text)
    for number in range(3):
        assert_binds_other(mixed, f"stale-{number}", models="T4")
    mixed.service.kill()
    for number in range(3):
        assert_binds_other(mixed, f"killed-{number}", models="T4")


# ---- GET /v1/observed ----

ASKING = {
    "fits": {},
    "wants-t4": {"models": "T4"},
    "wants-v100": {"models": "V100"},
    "wants-none-there-is": {"models": "no model of any vendor"},
    "too-expensive": {"models": "H200"},
}
LIMITED = {**POLICY, "quotas": [{"name": "no-h200", "namespaces": ["gpu"], "limits": [{"models": {"H200": 0}}]}]}


def answers_of(cluster):
    """Creates the pods one after the other: the node of each, and None for the refused ones."""
    nodes = {}
    for name, more in ASKING.items():
        cluster.create(name, 1, **more)
        seen = cluster.api.wait_for(PODS, f"metadata.name={name}", lambda item: node_name(item) or is_refused(item))
        nodes[name] = node_name(seen)
    return nodes


def test_observed_agrees_with_what_enforce_does(proxied):
    """kube-scheduler alone avoids the fuller nodes, which have what two pods want."""
    for name, model in (("h100", MODEL), ("t4", "Tesla-T4"), ("h200", "NVIDIA-H200")):
        proxied.add_node(name, model, 8)
    for name in ("t4", "h200"):
        proxied.add_running(f"on-{name}", name, 1, cpu="12")
    proxied.start_service("--config", proxied.plane.write("limited.yaml", json.dumps(LIMITED)))
    proxied.start_scheduler(shipped=OBSERVE)
    proxied.wait_until_told()
    assert set(answers_of(proxied).values()) == {"h100"}
    wait_until(lambda: proxied.service.get("/v1/observed").json()["pods"]["waiting"] == 0, lambda: proxied.service.get("/v1/observed").text)
    observed = proxied.service.get("/v1/observed").json()
    refused = {item["reason"]: item["wouldBeRefused"] for item in observed["reasons"] if item["wouldBeRefused"]}
    assert refused == {"model_not_wanted": 2, "quota": 1}
    expected = dict.fromkeys(ASKING, "h100")
    for example in observed["examples"]:
        assert example["node"] == "h100"
        expected[example["pod"]["name"]] = example["best"] if example["difference"] == "elsewhere" else None
    proxied.end_scheduler()
    proxied.service.stop()
    for name in ASKING:
        proxied.api.delete(f"{PODS}/{name}")
    enforcing = {**LIMITED, "mode": "enforce"}
    proxied.start_service("--config", proxied.plane.write("enforcing.yaml", json.dumps(enforcing)))
    proxied.start_scheduler()
    proxied.wait_until_told()
    assert answers_of(proxied) == expected
