"""Pods with resource claims come to our service by the marker of manifests/overlays/claims, on the real control plane."""

import dra
import pytest
import yaml
from api import wait_until
from cluster import PODS
from kustomize import MANIFESTS
from live import BOUND_BY
from test_doctor import SHIPPED, Diagnosis

pytestmark = pytest.mark.since("1.36", "MutatingAdmissionPolicy in v1")
MARKER = "gpu-extender.io/claims"
GROUP = "/apis/admissionregistration.k8s.io/v1"
A100 = "NVIDIA A100-SXM4-80GB"


def overlay():
    """[(the path of its collection, the object)] of the overlay."""
    with open(f"{MANIFESTS}/overlays/claims/policy.yaml", encoding="utf-8") as file:
        policy, binding = yaml.safe_load_all(file)
    return [(f"{GROUP}/mutatingadmissionpolicies", policy), (f"{GROUP}/mutatingadmissionpolicybindings", binding)]


def gets_marker(api, **spec):
    """Whether a pod with a claim gets the marker, by a dry run."""
    container = {"name": "main", "image": "none"}
    made = {"metadata": {"name": "probe"}, "spec": {"containers": [container], **dra.asks_by_template("any"), **spec}}
    return MARKER in api.create(f"{PODS}?dryRun=All", made)["spec"]["containers"][0].get("resources", {}).get("limits", {})


@pytest.fixture
def marking(live):
    """Nodes with GPUs by claims, templates for one and four of them, and the overlay in force in the namespace of the pods."""
    api = live.api
    for kind in ("resourceclaims", "resourceclaimtemplates", "resourceslices", "deviceclasses"):
        live.ends.callback(api.delete_all, dra.PATHS[kind])
    live.ends.callback(dra.free_all, api)
    live.ends.callback(dra.start_controller(live.plane).kill)
    live.add_nodes("node", 3, "NVIDIA-H100-80GB-HBM3", 0)
    api.create(dra.PATHS["deviceclasses"], dra.device_class())
    for count in (1, 4):
        api.create(dra.PATHS["resourceclaimtemplates"], {"metadata": {"name": f"of-{count}"}, "spec": {"spec": dra.wanted(count)}})
    for path, item in overlay():
        api.create(path, item)
        live.ends.callback(api.delete, f"{path}/{item['metadata']['name']}")
    live.ends.callback(api.merge, "/api/v1/namespaces/gpu", {"metadata": {"labels": {MARKER: None}}})
    api.merge("/api/v1/namespaces/gpu", {"metadata": {"labels": {MARKER: "enabled"}}})
    wait_until(lambda: gets_marker(api), lambda: "no pod gets the marker")
    return live


def verbs_of(live, name):
    return [each["verb"] for each in live.service.get(f"/v1/decisions?namespace=gpu&name={name}").json()["decisions"]]


def test_a_pod_with_a_claim_comes_to_us(marking):
    for number in range(3):
        marking.api.create(dra.PATHS["resourceslices"], dra.resource_slice(f"node-{number}", range(4)))
    marking.start()
    marking.create("claims", 0, **dra.asks_by_template("of-1"))
    marking.node_of("claims")
    made = marking.api.get(f"{PODS}/claims")
    amounts = made["spec"]["containers"][0]["resources"]
    assert amounts["limits"][MARKER] == amounts["requests"][MARKER] == "0"
    assert BOUND_BY in made["metadata"]["annotations"]
    assert {"filter", "bind"} <= set(verbs_of(marking, "claims"))


QUOTA = """
apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
quotas:
- name: team
  namespaces: [gpu]
  limits: [{resource: nvidia.com/gpu, total: 5}]
"""


def test_the_node_with_the_best_score_is_taken(marking):
    """kube-scheduler alone spreads the pods. Ours begins no further node, and quotas count the claims."""
    for number in range(3):
        marking.api.create(dra.PATHS["resourceslices"], dra.resource_slice(f"node-{number}", range(4)))
    marking.start("--config", marking.plane.write("claims-quota.yaml", QUOTA))
    nodes = []
    for number in range(4):
        marking.create(f"one-{number}", 0, **dra.asks_by_template("of-1"))
        nodes.append(marking.node_of(f"one-{number}"))
        dra.wait_until_counted(marking.service, marking.api)
    assert len(set(nodes)) == 1, nodes
    (last,) = [each for each in marking.service.get("/v1/decisions?namespace=gpu&name=one-3&verb=prioritize&limit=1").json()["decisions"]]
    assert (last["claims"], last["best"][0]["node"]) == ("ranked", nodes[0])
    marking.create("four", 0, **dra.asks_by_template("of-4"))
    assert "quota team" in marking.refusal_of("four")["message"]


def test_critical_and_other_pods_get_no_marker(marking):
    api = marking.api
    assert not gets_marker(api, priorityClassName="system-node-critical")
    assert not gets_marker(api, resourceClaims=[])
    asks = {"limits": {"nvidia.com/gpu": "1"}}
    assert not gets_marker(api, initContainers=[{"name": "init", "image": "none", "resources": asks}])
    assert gets_marker(api, initContainers=[{"name": "init", "image": "none"}])


def test_doctor_compares_overlay_and_configuration(marking, tmp_path):
    def found(text):
        path = tmp_path / "scheduler.yaml"
        path.write_text(text)
        return Diagnosis("--kubeconfig", marking.plane.kubeconfig(), "--scheduler-config", str(path)).of("claims")

    with open(SHIPPED, encoding="utf-8") as file:
        shipped = file.read()
    ((level, seen),) = found(shipped)
    assert level == "ok" and MARKER in seen
    ((level, seen),) = found(shipped.replace(f"- name: {MARKER}", "- name: amd.com/other"))
    assert level == "fail" and f"does not list {MARKER}" in seen
    ((level, seen),) = found(shipped.replace("- name: amd.com/gpu\n", "- name: amd.com/other\n"))
    assert level == "warn" and "does not name amd.com/other" in seen
    path, binding = overlay()[1]
    marking.api.delete(f"{path}/{binding['metadata']['name']}")
    ((level, seen),) = found(shipped)
    marking.api.create(path, binding)
    assert level == "warn" and "Binding is missing" in seen
