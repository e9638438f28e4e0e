"""gpu-extender --doctor against a real API server: rights by SubjectAccessReview, versions, the clock, the Lease and its EndpointSlice."""

import json

import pytest
from identity import Identity, attributes_of, manifests, renamed, wait_until_given, wait_until_may, without
from replicas import SERVICE, SLICES, Replicas, leads_since
from rights import AT_HOME, EVERYWHERE, READ
from service import run_to_end

MODEL = "NVIDIA-H100-80GB-HBM3"
SHIPPED = "manifests/kube-scheduler-config.yaml"
POLICY = """apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
listen: {verbs: "127.0.0.1:0", people: "127.0.0.1:0", probes: "127.0.0.1:0"}
leaderElection: {enabled: true, namespace: gpu-extender}
"""


class Diagnosis:
    def __init__(self, *options):
        done = run_to_end("--doctor", "--output", "json", *options)
        assert done.stderr == "", done
        self.status, self.answer = done.returncode, json.loads(done.stdout)

    def of(self, check):
        return [(found["level"], found["seen"]) for found in self.answer["findings"] if found["check"] == check]

    def bad(self):
        return [found for found in self.answer["findings"] if found["level"] != "ok"]


@pytest.fixture
def account(plane, name):
    """account(objects of a manifest) -> (NAMESPACE/NAME, its kubeconfig), once the API server knows its rights."""

    def make(objects, kind):
        identity = Identity(plane, f"{name}-{kind}", renamed(objects, f"doctor-{kind}"))
        (role,) = [item for item in objects if item["kind"] == "ClusterRole"]
        subject = {"kind": "ServiceAccount", "namespace": "kube-system", "name": identity.account}
        wait_until_may(plane.api, subject, attributes_of(role["rules"][0], ""))
        return f"kube-system/{identity.account}", identity.kubeconfig()

    return make


def test_all_is_well(live, account):
    live.add_node("node", MODEL, 8)
    there, _ = account(manifests(), "well")
    found = Diagnosis("--kubeconfig", live.plane.kubeconfig(), "--account", there, "--scheduler-config", SHIPPED)
    # The tests build kube-apiserver without a version, and kube-scheduler is no pod here.
    assert ([each for each in found.bad() if each["check"] not in ("versions.apiServer", "scheduler.running")], found.status) == ([], 0)
    assert [(level, seen.startswith("not checked: no pod of kube-scheduler")) for level, seen in found.of("scheduler.running")] == [("warn", True)]
    assert len(found.of("rights")) == len(READ) + 2
    for check in ("clock", "cluster.objects", "nodes.model", "pods.refused"):
        assert [level for level, _ in found.of(check)] == ["ok"], check


@pytest.mark.parametrize(
    ("resource", "verb", "level"),
    [("nodes", "watch", "fail"), ("pods/binding", "create", "fail"), ("resourceclaims", "list", "warn")],
)
def test_a_missing_right_is_named(plane, account, resource, verb, level):
    there, _ = account(without(resource, verb), f"{verb}-{resource.replace('/', '-')}")
    found = Diagnosis("--kubeconfig", plane.kubeconfig(), "--account", there)
    ((is_level, seen),) = [each for each in found.of("rights") if each[0] != "ok"]
    assert is_level == level and f"may not {verb} {resource}" in seen and there.replace("/", ":") in seen
    assert found.status == (1 if level == "fail" else 0)


def test_who_may_not_ask_hears_of_its_own_rights(account):
    """Ours may not create SubjectAccessReviews with manifests/rbac alone."""
    there, kubeconfig = account(without("pods", "get"), "self")
    found = Diagnosis("--kubeconfig", kubeconfig, "--account", there)
    first, *rest = found.of("rights")
    assert first[0] == "warn" and "not checked" in first[1] and "subjectaccessreviews" in first[1]
    assert [level for level, _ in rest].count("ok") == len(READ) + 1
    assert [(level, "may not get pods" in seen) for level, seen in rest if level != "ok"] == [("fail", True)]


def test_own_rights_say_nothing_of_another_account(account):
    _, kubeconfig = account(manifests(), "other")
    found = Diagnosis("--kubeconfig", kubeconfig, "--account", "kube-system/somebody")
    first, *rest = found.of("rights")
    assert first[0] == "warn" and "are about the caller" in first[1] and "kube-system/somebody" not in first[1]
    assert {(level, "somebody" in seen) for level, seen in rest} == {("ok", False)}
    assert found.status == 0


def asked_rights(found):
    """{right} of the findings about rights, as in rights.py."""
    asked = set()
    for _, seen in found.of("rights"):
        verbs, resource, *rest = seen.split(" may ")[1].removeprefix("not ").split(": ")[0].replace(", ", ",").split(" ")
        group = rest.pop() if "of" in rest else ""
        name = rest[0] if rest and rest[0] != "of" else ""
        full = ".".join(filter(None, (resource, group))) + (f"/{name}" if name else "")
        asked |= {(verb, full) for verb in verbs.split(",")}
    return asked


def test_every_right_of_the_manifests_is_checked(plane):
    found = Diagnosis("--kubeconfig", plane.kubeconfig(), "--config", "manifests/base/scheduler-policy.yaml")
    assert asked_rights(found) == EVERYWHERE | AT_HOME
    assert all("system:serviceaccount:gpu-extender:gpu-extender" in seen for _, seen in found.of("rights"))


def test_the_right_of_the_aggregated_api_is_checked(plane):
    """The right is checked for the ConfigMap's name in kube-system, as the RoleBinding in manifests/overlays/aggregated-api grants it."""
    policy = plane.write("doctor-aggregated.yaml", POLICY + "aggregatedAPI: {enabled: true}\n")
    found = Diagnosis("--kubeconfig", plane.kubeconfig(), "--config", policy, "--account", "kube-system/nobody")
    (seen,) = [each for each in found.of("rights") if "configmaps" in each[1]]
    assert seen[0] == "fail" and "may not get, list, watch configmaps extension-apiserver-authentication: " in seen[1]
    reads = {"metadata": {"name": "front-reader", "namespace": "kube-system"}}
    reads["roleRef"] = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "extension-apiserver-authentication-reader"}
    reads["subjects"] = [{"kind": "ServiceAccount", "name": "nobody", "namespace": "kube-system"}]
    plane.api.create("/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/rolebindings", reads)
    wait_until_given(plane.api, reads)
    found = Diagnosis("--kubeconfig", plane.kubeconfig(), "--config", policy, "--account", "kube-system/nobody")
    assert [level for level, text in found.of("rights") if "configmaps" in text] == ["ok"]


def test_the_leader_is_found(live):
    replicas = Replicas(live)
    policy = live.plane.write("doctor-policy.yaml", POLICY)
    files = ["--kubeconfig", live.plane.kubeconfig(), "--config", policy]
    leads_since(replicas.start())
    live.api.wait_for(SLICES, f"metadata.name={SERVICE}", lambda item: item["endpoints"])
    found = Diagnosis(*files)
    assert [level for level, _ in found.of("lease") + found.of("endpointSlice")] == ["ok", "ok"], found.answer


def test_no_leader(plane):
    policy = plane.write("doctor-policy.yaml", POLICY.replace("namespace: gpu-extender", "namespace: nowhere"))
    found = Diagnosis("--kubeconfig", plane.kubeconfig(), "--config", policy)
    assert [level for level, _ in found.of("lease") + found.of("endpointSlice")] == ["fail", "fail"]
    assert "no replica has led" in found.of("lease")[0][1]


def test_a_refused_token(plane):
    found = Diagnosis("--kubeconfig", plane.write_kubeconfig("doctor-refused", {"token": "wrong"}, plane.port))
    ((level, seen),) = found.of("apiServer")
    assert (level, found.status) == ("fail", 1) and "401" in seen


def test_what_may_not_be_listed_is_not_checked(account):
    _, kubeconfig = account(without("namespaces", "list"), "blind")
    found = Diagnosis("--kubeconfig", kubeconfig)
    (blind,) = [seen for _, seen in found.of("cluster") if "namespaces" in seen]
    assert blind.startswith("not checked: ") and found.of("quotas") == found.of("nodes.model") == []
