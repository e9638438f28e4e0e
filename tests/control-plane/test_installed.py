"""The kustomizations of manifests/ on a real API server: it accepts them, admits the pods, gives our requests their priority, and our
account the rights that it uses and no others."""

import copy
import re

import identity
import kustomize
import pytest
from api import wait_until
from kustomize import one
from rights import AT_HOME, EVERYWHERE

NAMESPACE = "gpu-extender"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"
SLICES = f"/apis/discovery.k8s.io/v1/namespaces/{NAMESPACE}/endpointslices"
FLOW_CONTROL = "/apis/flowcontrol.apiserver.k8s.io/v1"


@pytest.mark.parametrize("overlay", kustomize.OVERLAYS)
def test_overlay_is_applied_without_a_warning(installed, kubectl, overlay):
    status, said = installed[1][overlay]
    assert status == 0, said
    lines = said.strip().split("\n")
    assert [line for line in lines if not line.endswith(" serverside-applied")] == []
    assert len(lines) == len(kubectl.rendered(overlay))


def test_second_apply_changes_nothing(installed, kubectl):
    api, _ = installed
    deployment = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/gpu-extender"
    before = api.get(deployment)["metadata"]
    status, said = kubectl.apply("self-signed")
    assert status == 0, said
    after = api.get(deployment)["metadata"]
    assert (after["resourceVersion"], after["generation"]) == (before["resourceVersion"], before["generation"])


# ---- the pods ----


def pod_of(kubectl, overlay, name):
    template = one(kubectl.rendered(overlay), "Deployment", name)["spec"]["template"]
    return {"metadata": {"generateName": f"{name}-", **template["metadata"]}, "spec": template["spec"]}


@pytest.mark.parametrize("overlay, name", [("self-signed", "gpu-extender"), ("second-scheduler", "gpu-scheduler")])
def test_namespace_admits_the_pods(installed, kubectl, overlay, name):
    """Its Pod Security Standard is "restricted", as the next test shows."""
    made = installed[0].create(PODS, pod_of(kubectl, overlay, name))
    assert made["spec"]["priority"] == 2000000000
    assert made["spec"]["serviceAccountName"] == name


@pytest.mark.parametrize("change", [{"runAsNonRoot": False}, {"seccompProfile": None}], ids=["root", "no-seccomp"])
def test_namespace_rejects_other_pods(installed, kubectl, change):
    pod = pod_of(kubectl, "self-signed", "gpu-extender")
    pod["spec"]["securityContext"].update(change)
    with pytest.raises(AssertionError, match=r'403.*violates PodSecurity \\"restricted:latest\\"'):
        installed[0].create(PODS, pod)


def test_critical_pods_are_counted(installed, kubectl):
    """The ResourceQuota that the API server's admission may require counts them."""
    api, _ = installed
    before = int(api.get(kustomize.QUOTA)["status"]["used"]["pods"])
    ordinary = pod_of(kubectl, "self-signed", "gpu-extender")
    critical = copy.deepcopy(ordinary)
    del ordinary["spec"]["priorityClassName"]
    for pod in (ordinary, critical):
        api.create(PODS, pod)
    assert int(api.get(kustomize.QUOTA)["status"]["used"]["pods"]) == before + 1


# ---- priority ----


@pytest.fixture(scope="module")
def tokens(installed):
    """token(account) -> the API as that account of our namespace."""
    return lambda account: installed[0].with_token(identity.Token(installed[0], account, NAMESPACE).text)


def names_of(api, kind):
    return {item["metadata"]["uid"]: item["metadata"]["name"] for item in api.get(f"{FLOW_CONTROL}/{kind}")["items"]}


def flow_of(api, asked_as, method, path, body=None):
    """(FlowSchema, PriorityLevelConfiguration) assigned to a request."""
    headers = asked_as.headers_of(method, path, body)
    schema, level = (headers[f"x-kubernetes-pf-{name}-uid"] for name in ("flowschema", "prioritylevel"))
    return names_of(api, "flowschemas")[schema], names_of(api, "prioritylevelconfigurations")[level]


REQUESTS = [
    ("GET", f"{LEASES}/gpu-extender", None, ("gpu-extender-leases", "leader-election")),
    ("POST", LEASES, {"metadata": {"name": "gpu-extender"}}, ("gpu-extender-leases", "leader-election")),
    ("GET", "/api/v1/nodes?resourceVersion=0", None, ("gpu-extender", "workload-high")),
    ("GET", "/api/v1/pods?limit=1", None, ("gpu-extender", "workload-high")),
    ("POST", "/api/v1/namespaces/default/pods/none/binding", {"target": {"name": "none"}}, ("gpu-extender", "workload-high")),
    ("POST", SLICES, {"addressType": "IPv4", "endpoints": []}, ("gpu-extender", "workload-high")),
    ("GET", "/version", None, ("gpu-extender", "workload-high")),
    ("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {"token": "none"}}, ("gpu-extender-reviews", "workload-low")),
]


@pytest.mark.parametrize("method, path, body, wanted", REQUESTS, ids=[f"{method} {path}" for method, path, _, _ in REQUESTS])
def test_gpu_extender_requests_have_their_priority(installed, tokens, method, path, body, wanted):
    api, _ = installed
    us = tokens("gpu-extender")
    wait_until(lambda: flow_of(api, us, method, path, body) == wanted, lambda: flow_of(api, us, method, path, body))


def test_other_accounts_have_no_priority(installed, tokens):
    assert flow_of(installed[0], tokens("gpu-scheduler"), "GET", f"{LEASES}/gpu-extender")[1] == "workload-low"


# ---- rights ----

# Rights of every account.
EVERYBODYS = re.compile(r"self\w+reviews|^\[/")


def rights(kubectl, namespace):
    """{(verb, resource, or resource/name for a right on one name only)}, listed by the API server."""
    status, said = kubectl.run("auth", "can-i", "--list", "--no-headers", "--namespace", namespace, "--as", f"system:serviceaccount:{NAMESPACE}:gpu-extender")
    assert status == 0, said
    found = set()
    for line in said.strip().split("\n"):
        resource, urls, names, verbs = re.match(r"(\S*)\s+\[(.*?)\]\s+\[(.*?)\]\s+\[(.*?)\]$", line).groups()
        if urls or EVERYBODYS.search(resource):
            continue
        found |= {(verb, f"{resource}/{name}" if name else resource) for verb in verbs.split() for name in (names.split() or [""])}
    return found


def test_granted_rights_are_exact(installed, kubectl):
    assert rights(kubectl, "default") == EVERYWHERE
    assert rights(kubectl, NAMESPACE) == EVERYWHERE | AT_HOME


def may(kubectl, who, verb, url):
    status, said = kubectl.run("auth", "can-i", verb, url, "--as", who)
    assert said.strip().endswith(("yes", "no")), said
    return status == 0


def test_users_have_exactly_the_rights_of_their_role(installed, kubectl):
    for role, name in (("gpu-extender-viewer", "viewer"), ("gpu-extender-metrics", "prometheus")):
        status, said = kubectl.run("create", "clusterrolebinding", name, "--clusterrole", role, "--user", name)
        assert status == 0, said
    urls = [("get", "/v1/inventory"), ("get", "/v1/pods/ml/train-0/explain"), ("post", "/v1/dry-run"), ("get", "/metrics"), ("post", "/scheduler/bind")]
    wanted = {
        "viewer": [True, True, True, False, False],
        "prometheus": [False, False, False, True, False],
        "nobody": [False] * 5,
    }

    def answers():
        return {name: [may(kubectl, name, verb, url) for verb, url in urls] for name in wanted}

    wait_until(lambda: answers() == wanted, answers)


# ---- the second scheduler ----


def test_the_second_scheduler_starts_with_its_rights(installed, kubectl, own_plane, tokens):
    """With its own account and configuration; only file paths are the test's."""
    api, _ = installed
    (text,) = one(kubectl.rendered("second-scheduler"), "ConfigMap", "gpu-scheduler-configuration")["data"].values()
    certificates = kubectl.path("overlays/self-signed/certificates/")
    for mounted, made in (("ca.crt", "ca.crt"), ("tls.crt", "client.crt"), ("tls.key", "client.key")):
        text = text.replace(f"/etc/gpu-extender-client/{mounted}", certificates + made)
    kubeconfig = own_plane.write_kubeconfig("gpu-scheduler.kubeconfig", {"token": tokens("gpu-scheduler").token}, own_plane.port)
    text += f"clientConnection:\n  kubeconfig: {kubeconfig}\n"
    scheduler = own_plane.start(
        "kube-scheduler",
        f"--config={own_plane.write('gpu-scheduler.yaml', text)}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--secure-port=0",
        log="gpu-scheduler.log",
    )
    try:
        api.wait_for(LEASES, "metadata.name=gpu-scheduler", lambda lease: lease["spec"].get("holderIdentity"))
        pod = {"metadata": {"name": "gpu"}, "spec": pod_of(kubectl, "self-signed", "gpu-extender")["spec"]}
        pod["spec"]["schedulerName"] = "gpu-scheduler"
        api.create(PODS, pod)
        api.wait_for(PODS, "metadata.name=gpu", lambda seen: seen["status"].get("conditions"))
    finally:
        scheduler.kill()
    with open(scheduler.log, encoding="utf-8") as file:
        assert [line for line in file if "forbidden" in line.lower()] == []
