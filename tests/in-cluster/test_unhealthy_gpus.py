"""A real kubelet whose device plugin fails: pods that bind sends there are rejected, and the node goes into quarantine. Its name sorts
last, because afterwards the node has GPUs that it offers to no pod."""

import os

import pytest
import yaml
from api import wait_until
from plane import Program, built
from real import NODE
from service import Service

CLIENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../control-plane/clients/build")
GPU = "amd.com/gpu"  # which no pod of another test requests
NODES = "/api/v1/nodes"
QUARANTINE = {"apiVersion": "gpu-extender.io/v1alpha1", "kind": "SchedulerPolicy", "quarantine": {"mode": "avoid", "settleSeconds": 0}}
READY = {"type": "Ready", "status": "True"}
HAS = {GPU: "4", "cpu": "8", "memory": "8Gi", "pods": "100"}


@pytest.fixture
def plugin(cluster):
    program = Program([os.path.join(built(CLIENTS), "failing_plugin"), GPU], cluster.path("failing_plugin.log"))
    cluster.api.wait_for(NODES, f"metadata.name={NODE}", lambda item: item["status"].get("allocatable", {}).get(GPU) == "4")
    yield
    program.kill()


@pytest.fixture
def service(cluster, tmp_path):
    """Of two nodes with such GPUs: the last one is never put into quarantine."""
    cluster.api.create(NODES, {"metadata": {"name": "spare"}})
    cluster.api.merge(f"{NODES}/spare/status", {"status": {"capacity": HAS, "allocatable": HAS, "conditions": [READY]}})
    policy = tmp_path / "policy.yaml"
    policy.write_text(yaml.safe_dump(QUARANTINE))
    running = Service("--kubeconfig", cluster.kubeconfig(), "--config", policy)
    running.log.wait_for({"msg": "bindings are sent from now on"})
    yield running
    running.stop()
    cluster.api.delete(f"{NODES}/spare")


def state(service):
    return {node["name"]: node.get("quarantine") for node in service.get("/v1/inventory").json()["nodes"]}[NODE]


def lose(api, service, namespace):
    """Binds a pod that the kubelet then rejects."""
    pods = f"/api/v1/namespaces/{namespace}/pods"
    api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    api.wait_for(f"/api/v1/namespaces/{namespace}/serviceaccounts", "metadata.name=default", lambda item: item)
    box = {"name": "main", "image": "localhost/none:1", "imagePullPolicy": "Never", "resources": {"limits": {GPU: "1"}}}
    api.create(pods, {"metadata": {"name": "lost"}, "spec": {"schedulerName": "nobody", "restartPolicy": "Never", "containers": [box]}})
    uid = api.get(f"{pods}/lost")["metadata"]["uid"]
    names = {"PodName": "lost", "PodNamespace": namespace, "PodUID": uid}
    wait_until(lambda: any(pod["namespace"] == namespace for pod in service.get("/v1/pending").json()["pods"]), lambda: "the pod is seen")
    assert service.post("/scheduler/bind", {**names, "Node": NODE}).json() == {"Error": ""}
    over = api.wait_for(pods, "metadata.name=lost", lambda item: item["status"]["phase"] == "Failed")
    assert over["status"]["reason"] == "UnexpectedAdmissionError", over["status"]


def test_a_node_whose_allocations_fail_is_avoided(cluster, plugin, service):
    for namespace in ("sick-1", "sick-2", "sick-3"):
        assert state(service) is None
        lose(cluster.api, service, namespace)
    wait_until(lambda: state(service) == "quarantine", lambda: f"the node is in quarantine, not {state(service)}")
    assert 'gpu_extender_quarantine_total{cause="unexpected_admission"} 1' in service.get("/metrics").text
