"""manifests/overlays/admission on a real API server: in labelled namespaces no pod escapes the quotas, and everything else is admitted."""

import ast
import json

import pytest
import yaml
from api import wait_until
from kustomize import MANIFESTS, one

ENFORCED, FREE = "enforced", "free"
GPU = "nvidia.com/gpu"
NODE = "system:node:n1"
POLICY = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/gpu-extender-quota"


def pods(namespace):
    return f"/api/v1/namespaces/{namespace}/pods"


def container(name="main", **resources):
    return {"name": name, "image": "none", "resources": resources}


def asking(resource, amount="1"):
    return {"limits": {resource: amount}, "requests": {resource: amount}}


def pod(name="ordinary", **spec):
    return {"metadata": {"name": name}, "spec": {"containers": [container(**asking(GPU))], **spec}}


@pytest.fixture(scope="module")
def api(own_plane, kubectl):
    """An API server with the overlay in force, and two namespaces: with and without the label."""
    own = own_plane.api
    for name, labels in (("gpu-extender", {}), (ENFORCED, {"gpu-extender.io/quota": "enforced"}), (FREE, {})):
        own.create("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
    status, said = kubectl.apply("admission")
    assert status == 0, said
    assert [line for line in said.strip().split("\n") if not line.endswith(" serverside-applied")] == []
    # It takes effect a moment later.
    wait_until(lambda: refusal(own, pod("probe", nodeName="n1"), dry=True), lambda: "nothing is rejected")
    return own


def refusal(api, item, namespace=ENFORCED, dry=False):
    """The API server's message on rejection, or None."""
    try:
        api.create(pods(namespace) + ("?dryRun=All" if dry else ""), item)
    except AssertionError as error:
        return str(error)
    return None



ESCAPES = {
    "another scheduler": ({"schedulerName": "my-own"}, "spec.schedulerName is my-own"),
    "a node of its own choice": ({"nodeName": "n1"}, "spec.nodeName passes the quotas"),
    "a claim": ({"containers": [container()], "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "any"}]}, "spec.resourceClaims pass the quotas"),
    "MIG": ({"containers": [container(**asking("nvidia.com/mig-1g.5gb"))]}, "should be one of nvidia.com/gpu,"),
    "a renamed resource": ({"containers": [container(**asking("nvidia.com/gpu.shared"))]}, "should be one of nvidia.com/gpu,"),
    "a device class": ({"containers": [container(**asking("deviceclass.resource.kubernetes.io/gpu"))]}, "resources deviceclass.resource.kubernetes.io/"),
    "MIG in a second container": ({"containers": [container(), container("two", **asking("nvidia.com/mig-1g.5gb"))]}, "should be one of"),
    "MIG in an init container": ({"initContainers": [container("init", **asking("nvidia.com/mig-1g.5gb"))]}, "should be one of"),
    "a device class in an init container": (
        {"initContainers": [container("init", **asking("deviceclass.resource.kubernetes.io/gpu"))]},
        "resources deviceclass.resource.kubernetes.io/",
    ),
}


@pytest.mark.parametrize("escape", ESCAPES)
def test_pods_that_escape_a_quota_are_rejected(api, escape):
    spec, why = ESCAPES[escape]
    said = refusal(api, pod(**spec), dry=True)
    assert said and "422" in said and "gpu-extender-quota" in said and why in said, said
    assert refusal(api, pod(**spec), FREE, dry=True) is None, "in a namespace without the label"


def test_claims_with_the_marker_are_admitted(api):
    """They come to us, and quotas count them."""
    marked = pod("marked", containers=[container(limits={"gpu-extender.io/claims": "0"})], resourceClaims=ESCAPES["a claim"][0]["resourceClaims"])
    assert refusal(api, marked, dry=True) is None


def test_api_server_rejects_gpus_of_pods_and_ephemeral_containers(api):
    """The API server rejects them itself, so the overlay needs no rule for them."""
    whole = pod("whole", resources=asking("nvidia.com/mig-1g.5gb"))
    assert refusal(api, whole, FREE, dry=True)
    api.create(pods(FREE), pod("debugged"))
    late = {"spec": {"ephemeralContainers": [container("late", **asking("nvidia.com/mig-1g.5gb"))]}}
    with pytest.raises(AssertionError, match="422.*orbidden"):
        api.ask("PATCH", f"{pods(FREE)}/debugged/ephemeralcontainers", late, "application/strategic-merge-patch+json")


def test_ordinary_pods_are_admitted_and_may_be_updated(api):
    named = pod("named", schedulerName="gpu-scheduler", resources={"limits": {"cpu": "1"}})
    assert refusal(api, pod()) is None and refusal(api, named) is None and refusal(api, pod("no-gpu", containers=[container()])) is None
    api.merge(f"{pods(ENFORCED)}/ordinary", {"metadata": {"labels": {"seen": "yes"}}})
    debug = {"spec": {"ephemeralContainers": [{"name": "debug", "image": "none"}]}}
    api.ask("PATCH", f"{pods(ENFORCED)}/ordinary/ephemeralcontainers", debug, "application/strategic-merge-patch+json")
    api.create(f"{pods(ENFORCED)}/ordinary/binding", {"metadata": {"name": "ordinary"}, "target": {"kind": "Node", "name": "n1"}})


def test_a_pod_from_before_the_label_may_go_on_but_not_be_released(api):
    """Its gates prevent scheduling; all other changes of pods are allowed."""
    namespace = "late"
    api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    gated = pod("gated", schedulerName="my-own", schedulingGates=[{"name": "example.com/one"}, {"name": "example.com/two"}])
    api.create(pods(namespace), gated)
    api.create(pods(namespace), pod("running", schedulerName="my-own", nodeName="n1"))
    api.merge(f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": {"gpu-extender.io/quota": "enforced"}}})
    wait_until(lambda: refusal(api, pod("probe", nodeName="n1"), namespace, dry=True), lambda: "nothing is rejected")
    api.merge(f"{pods(namespace)}/gated", {"spec": {"schedulingGates": [{"name": "example.com/two"}]}})
    with pytest.raises(AssertionError, match="spec.schedulerName is my-own"):
        api.merge(f"{pods(namespace)}/gated", {"spec": {"schedulingGates": None}})
    api.merge(f"{pods(namespace)}/running", {"metadata": {"annotations": {"seen": "yes"}}})
    api.delete(f"{pods(namespace)}/running")


MIRROR = {"kubernetes.io/config.mirror": "hash", "kubernetes.io/config.source": "file", "kubernetes.io/config.hash": "hash"}


def create_as(kubectl, own_plane, item, *who):
    path = own_plane.write("as.json", json.dumps({"apiVersion": "v1", "kind": "Pod", **item}))
    return kubectl.run("create", "--namespace", ENFORCED, "--filename", path, "--dry-run=server", *who)


def test_mirror_pods_are_allowed_only_for_nodes(api, kubectl, own_plane):
    for name, who in (("nodes", "--group=system:nodes"), ("tenant", "--user=tenant")):
        assert kubectl.run("create", "clusterrolebinding", name, "--clusterrole=cluster-admin", who)[0] == 0
    mirror = pod("static-n1", nodeName="n1")
    mirror["metadata"]["annotations"] = MIRROR
    as_node = ("--as", NODE, "--as-group", "system:nodes")
    wait_until(lambda: create_as(kubectl, own_plane, mirror, *as_node)[0] == 0, lambda: create_as(kubectl, own_plane, mirror, *as_node))
    status, said = create_as(kubectl, own_plane, mirror, "--as", "tenant")
    assert status != 0 and "spec.nodeName passes the quotas" in said
    del mirror["metadata"]["annotations"]
    assert create_as(kubectl, own_plane, mirror, *as_node)[0] != 0


def test_allowed_schedulers_and_resources_are_parameters(api):
    shipped = api.get(POLICY)["spec"]["variables"]
    mig = pod("sliced", containers=[container(**asking("nvidia.com/mig-1g.5gb"))], schedulerName="my-own")
    more = {"schedulerNames": ["my-own"], "managedResources": ["nvidia.com/mig-1g.5gb"]}
    changed = [{**variable, "expression": f"{variable['expression']} + {more.get(variable['name'])}" if variable["name"] in more else variable["expression"]} for variable in shipped]
    try:
        api.merge(POLICY, {"spec": {"variables": changed}})
        wait_until(lambda: refusal(api, mig, dry=True) is None, lambda: refusal(api, mig, dry=True))
    finally:
        api.merge(POLICY, {"spec": {"variables": shipped}})
        wait_until(lambda: refusal(api, mig, dry=True), lambda: "it is still allowed")


def test_managed_resources_match_the_kube_scheduler_configuration(kubectl):
    with open(f"{MANIFESTS}/kube-scheduler-config.yaml", encoding="utf-8") as file:
        (extender,) = yaml.safe_load(file)["extenders"]
    variables = {item["name"]: item["expression"] for item in one(kubectl.rendered("admission"), "ValidatingAdmissionPolicy", "gpu-extender-quota")["spec"]["variables"]}
    assert ast.literal_eval(variables["managedResources"]) == [item["name"] for item in extender["managedResources"]]


def test_what_was_taken_out_comes_back(api, kubectl):
    """Without an object of parameters, which an API server may not find a second time (kubernetes/kubernetes#133827)."""
    escape = pod("probe", nodeName="n1")
    status, said = kubectl.run("delete", "--kustomize", kubectl.path("overlays/admission"))
    assert status == 0, said
    wait_until(lambda: refusal(api, escape, dry=True) is None, lambda: refusal(api, escape, dry=True))
    status, said = kubectl.apply("admission")
    assert status == 0, said
    wait_until(lambda: refusal(api, escape, dry=True), lambda: "nothing is rejected")
    assert refusal(api, pod("back"), dry=True) is None
