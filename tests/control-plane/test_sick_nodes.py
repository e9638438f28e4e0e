"""A node whose kubelet rejects each pod, beside a real kube-scheduler: once pods of three namespaces failed there it is avoided, and a pod
that waits for it is bound soon after the quarantine is lifted."""

import pytest
import yaml
from api import wait_until
from cluster import NODES, pod
from test_failed_pods import MODEL, REJECTIONS
from test_wake import allow, make_object, shipped

TENANTS = ("blue", "green", "red")
ON_IT = {"sick": "yes"}


def text():
    wakes = {key: shipped("scheduler-policy.yaml")[0][key] for key in ("leaderElection", "wake")}
    quarantine = {"mode": "avoid", "settleSeconds": 0, "firstMinutes": 1}
    return yaml.safe_dump({"apiVersion": "gpu-extender.io/v1alpha1", "kind": "SchedulerPolicy", "quarantine": quarantine, **wakes})


@pytest.fixture
def avoiding(live):
    """Two nodes, of which n-0 has a label of its own; whose service avoids sick nodes and may wake kube-scheduler."""
    make_object(live)
    allow(live)
    live.add_nodes("n", 2, MODEL, 8, kwok=False)
    live.api.merge(f"{NODES}/n-0", {"metadata": {"labels": ON_IT}})
    for tenant in TENANTS:
        live.api.create("/api/v1/namespaces", {"metadata": {"name": f"{live.name}-{tenant}"}})
    live.start_service("--config", live.plane.write(f"policy-{live.name}.yaml", text()))
    live.wait_until_told()
    live.start_scheduler()
    return live


def state(live):
    return {node["name"]: node.get("quarantine") for node in live.service.get("/v1/inventory").json()["nodes"]}["n-0"]


def lose(live, tenant):
    """kube-scheduler binds a pod to n-0, and its kubelet rejects it."""
    pods = f"/api/v1/namespaces/{live.name}-{tenant}/pods"
    live.api.create(pods, pod("lost", 1, nodeSelector=ON_IT))
    shown = lambda: live.service.log.text()[-3000:]  # noqa: E731
    wait_until(lambda: live.api.get(f"{pods}/lost")["spec"].get("nodeName") == "n-0", shown)
    reason, message = REJECTIONS["unexpected_admission"]
    live.api.merge(f"{pods}/lost/status", {"status": {"phase": "Failed", "reason": reason, "message": f"Pod was rejected: {message}"}})
    wait_until(lambda: live.metric("gpu_extender_node_pods_refused_total", node="n-0") == 1 + TENANTS.index(tenant), shown)


def test_a_sick_node_is_avoided_until_it_is_lifted(avoiding):
    for tenant in TENANTS:
        assert state(avoiding) is None
        lose(avoiding, tenant)
    wait_until(lambda: state(avoiding) == "quarantine", lambda: avoiding.service.log.text()[-3000:])
    avoiding.create_all("elsewhere", 8, 1)
    bound = avoiding.wait_until_bound(8, "elsewhere")
    assert {item["spec"]["nodeName"] for item in bound.values() if item["metadata"]["name"].startswith("elsewhere")} == {"n-1"}
    avoiding.create("waits", 1, nodeSelector=ON_IT)
    assert "the node is in quarantine" in avoiding.refusal_of("waits")["message"]
    assert [one["name"] for one in avoiding.service.post("/v1/what-if", {"changes": [{"lift": ["n-0"]}]}).json()["pending"]["nowRun"]] == ["waits"]
    avoiding.api.merge(f"{NODES}/n-0", {"metadata": {"annotations": {"gpu-extender.io/quarantine-lifted": "today"}}})
    assert avoiding.node_of("waits") == "n-0" and state(avoiding) is None


def test_the_end_of_a_quarantine_wakes(avoiding):
    """After a minute nothing changes in the API server, so that kube-scheduler alone would ask again minutes later."""
    for tenant in TENANTS:
        lose(avoiding, tenant)
    avoiding.create("waits", 1, nodeSelector=ON_IT)
    assert "the node is in quarantine" in avoiding.refusal_of("waits")["message"]
    assert avoiding.node_of("waits") == "n-0"
    assert avoiding.metric("gpu_extender_wakes_total", cause="quarantine") >= 1
    wait_until(lambda: state(avoiding) == "probation", lambda: avoiding.service.log.text()[-3000:])
