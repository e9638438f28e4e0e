"""The kustomizations of manifests/ are consistent with themselves, with other files of manifests/, and with their policy."""

import copy
import os
import re
import subprocess

import kustomize
import pytest
import yaml
from kustomize import MANIFESTS, Kubectl, one
from service import BINARY

ROOT = os.path.join(MANIFESTS, "..")
KUBECONFIG = """{"current-context": "test", "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
"clusters": [{"name": "test", "cluster": {"server": "https://192.0.2.1"}}], "users": [{"name": "test", "user": {"token": "none"}}]}"""
PORTS = {"verbs": 8443, "people": 8444, "probes": 8080}


@pytest.fixture(scope="module")
def kubectl(programs, tmp_path_factory):
    return Kubectl(programs, tmp_path_factory.mktemp("kustomize"))


@pytest.fixture(params=kustomize.WHOLE)
def objects(request, kubectl):
    return kubectl.rendered(request.param)


def read(name):
    with open(os.path.join(MANIFESTS, name), encoding="utf-8") as file:
        return file.read()


def policy(objects):
    (text,) = one(objects, "ConfigMap", "gpu-extender-policy")["data"].values()
    return yaml.safe_load(text)


def pod_of(objects, name="gpu-extender"):
    """The spec and the only container of a Deployment's pods."""
    spec = one(objects, "Deployment", name)["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    return spec, container


def test_the_image_is_of_this_version(objects):
    with open(os.path.join(ROOT, "meson.build"), encoding="utf-8") as file:
        version = re.search(r"version: '(.*?)'", file.read())[1]
    assert pod_of(objects)[1]["image"] == f"gpu-extender:{version}"


def test_namespaced_objects_are_in_the_gpu_extender_namespace(objects):
    cluster_scoped = {"Namespace", "ClusterRole", "ClusterRoleBinding", "FlowSchema"}
    for item in objects:
        wanted = None if item["kind"] in cluster_scoped else "gpu-extender"
        assert item["metadata"].get("namespace") == wanted, item["kind"]


def accounts_of(item):
    """(namespace, name) of each ServiceAccount in a binding or FlowSchema."""
    for subject in item.get("subjects", []):
        yield subject["namespace"], subject["name"]
    for rule in item.get("spec", {}).get("rules", []):
        for subject in rule["subjects"]:
            yield subject["serviceAccount"]["namespace"], subject["serviceAccount"]["name"]


def test_rights_and_priority_are_those_of_the_pods_account(objects):
    ours = one(objects, "ServiceAccount")["metadata"]
    assert pod_of(objects)[0]["serviceAccountName"] == ours["name"]
    named = [item for item in objects if item["kind"] in ("RoleBinding", "ClusterRoleBinding", "FlowSchema")]
    assert len(named) == 6
    for item in named:
        assert list(accounts_of(item)) == [(ours["namespace"], ours["name"])], item


def test_account_has_the_rules_of_rbac_yaml(objects):
    (written,) = [item for item in yaml.safe_load_all(read("rbac/rbac.yaml")) if item["kind"] == "ClusterRole"]
    assert one(objects, "ClusterRole")["rules"] == written["rules"]


def test_selectors_match_gpu_extender_pods(objects):
    labels = one(objects, "Deployment")["spec"]["template"]["metadata"]["labels"]
    spread = [item["labelSelector"] for item in pod_of(objects)[0]["topologySpreadConstraints"]]
    selectors = [
        one(objects, "Deployment")["spec"]["selector"]["matchLabels"],
        one(objects, "Service")["spec"]["selector"],
        one(objects, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
        one(objects, "NetworkPolicy")["spec"]["podSelector"]["matchLabels"],
        *[item["matchLabels"] for item in spread],
    ]
    for selector in selectors:
        assert selector.items() <= labels.items() and selector


def test_the_verbs_service_selects_nothing(objects):
    assert "selector" not in one(objects, "Service", "gpu-extender-verbs")["spec"]


def test_ports_are_those_of_the_policy(objects):
    assert {name: int(where.rpartition(":")[2]) for name, where in policy(objects)["listen"].items()} == PORTS
    spec, container = pod_of(objects)
    assert {item["name"]: item["containerPort"] for item in container["ports"]} == PORTS
    served = {name: one(objects, "Service", name)["spec"]["ports"] for name in ("gpu-extender-verbs", "gpu-extender")}
    numbers = {name: {port["name"]: port["port"] for port in ports} for name, ports in served.items()}
    assert numbers == {
        "gpu-extender-verbs": {"verbs": PORTS["verbs"], "leader": PORTS["people"]},
        "gpu-extender": {"people": PORTS["people"]},
    }
    ingress = one(objects, "NetworkPolicy")["spec"]["ingress"]
    assert {item["port"] for rule in ingress for item in rule["ports"]} == set(PORTS)
    assert all(container[probe]["httpGet"]["port"] == "probes" for probe in ("startupProbe", "livenessProbe", "readinessProbe"))


def test_network_policy_restricts_only_users(objects):
    ingress = one(objects, "NetworkPolicy")["spec"]["ingress"]
    assert {item["port"] for rule in ingress if "from" not in rule for item in rule["ports"]} == {"verbs", "probes"}


def mounted(objects, name="gpu-extender"):
    """{folder: source of its volume}."""
    spec, container = pod_of(objects, name)
    volumes = {item["name"]: item for item in spec["volumes"]}
    return {item["mountPath"]: volumes[item["name"]] for item in container["volumeMounts"]}


def test_files_are_where_they_are_mounted(objects):
    folders = mounted(objects)
    made = one(objects, "ConfigMap", "gpu-extender-policy")
    assert folders["/etc/gpu-extender"]["configMap"]["name"] == made["metadata"]["name"] == "gpu-extender-policy"
    assert pod_of(objects)[1]["args"] == ["--config", f"/etc/gpu-extender/{next(iter(made['data']))}"]
    tls = policy(objects)["tls"]
    secret = folders["/etc/gpu-extender/tls"]["secret"]["secretName"]
    assert [tls[key] for key in ("certificateFile", "privateKeyFile", "clientCAFile")] == [
        f"/etc/gpu-extender/tls/{name}" for name in ("tls.crt", "tls.key", "ca.crt")
    ]
    made_by = {item["spec"]["secretName"] for item in objects if item["kind"] == "Certificate"}
    assert secret in made_by | {item["metadata"]["name"] for item in objects if item["kind"] == "Secret"}


def test_program_accepts_the_policy(kubectl, objects, tmp_path):
    """With the files of the other overlay, because there is no cert-manager to make them."""
    (text,) = one(objects, "ConfigMap", "gpu-extender-policy")["data"].values()
    at = kubectl.path("overlays/self-signed/certificates")
    for mounted_as, made in (("tls.crt", "server.crt"), ("tls.key", "server.key"), ("ca.crt", "ca.crt")):
        assert f"/etc/gpu-extender/tls/{mounted_as}" in text
        text = text.replace(f"/etc/gpu-extender/tls/{mounted_as}", f"{at}/{made}")
    (tmp_path / "policy.yaml").write_text(text)
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    command = [BINARY, "--config", tmp_path / "policy.yaml", "--kubeconfig", tmp_path / "kubeconfig", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "by up to 10 s: " in done.stdout


def test_rights_match_leader_election_and_publishing(objects):
    assert policy(objects)["leaderElection"]["enabled"] is True
    names = {name for rule in one(objects, "Role")["rules"] for name in rule.get("resourceNames", [])}
    wakes = policy(objects)["wake"]["objectName"]
    assert names == {"gpu-extender", "gpu-extender-verbs", wakes}
    assert "annotations" not in one(objects, "CSIStorageCapacity", wakes)["metadata"]
    env = {item["name"]: item["valueFrom"]["fieldRef"]["fieldPath"] for item in pod_of(objects)[1]["env"]}
    assert env == {"POD_NAME": "metadata.name", "POD_NAMESPACE": "metadata.namespace", "POD_IP": "status.podIP"}


def test_gpu_extender_pods_never_need_gpu_extender(objects):
    """The cluster's own scheduler places these pods and those of the second scheduler, without calling us."""
    managed = {item["name"] for item in yaml.safe_load(read("kube-scheduler-config.yaml"))["extenders"][0]["managedResources"]}
    spec, container = pod_of(objects)
    assert spec["schedulerName"] == "default-scheduler"
    for amounts in container["resources"].values():
        assert not managed & set(amounts)


# ---- the second scheduler ----


@pytest.fixture
def second(kubectl):
    return kubectl.rendered("second-scheduler")


def second_configuration(second):
    (text,) = one(second, "ConfigMap", "gpu-scheduler-configuration")["data"].values()
    return yaml.safe_load(text)


def test_second_scheduler_has_the_usual_extender_configuration(second):
    usual, other = yaml.safe_load(read("kube-scheduler-config.yaml")), second_configuration(second)
    whole = copy.deepcopy(other)
    (asked,), (as_usual,) = whole["extenders"], usual["extenders"]
    assert asked.pop("urlPrefix") == "https://gpu-extender-verbs.gpu-extender.svc:8443/scheduler"
    folder = "/etc/gpu-extender-client"
    assert asked.pop("tlsConfig") == {"caFile": f"{folder}/ca.crt", "certFile": f"{folder}/tls.crt", "keyFile": f"{folder}/tls.key"}
    assert mounted(second, "gpu-scheduler")[folder]["secret"]["secretName"] == "gpu-extender-client"
    as_usual.pop("urlPrefix")
    assert whole.pop("profiles") == [{"schedulerName": "gpu-scheduler"}]
    assert whole.pop("leaderElection") == {"leaderElect": True, "resourceName": "gpu-scheduler", "resourceNamespace": "gpu-extender"}
    assert whole == usual


def test_second_scheduler_may_write_its_lease(second):
    names = [name for rule in one(second, "Role", "gpu-scheduler")["rules"] for name in rule.get("resourceNames", [])]
    assert names == [second_configuration(second)["leaderElection"]["resourceName"]]


def test_second_scheduler_pods_never_need_it(second):
    assert pod_of(second, "gpu-scheduler")[0]["schedulerName"] == "default-scheduler"


# ---- certificates ----


def openssl(*arguments):
    return subprocess.run(["openssl", *arguments], check=True, capture_output=True, text=True).stdout


def server_of(second):
    return re.search(r"//(.*):", second_configuration(second)["extenders"][0]["urlPrefix"])[1]


def test_made_certificates_are_good_for_both_sides(kubectl, second):
    objects = kubectl.rendered("self-signed")
    at = kubectl.path("overlays/self-signed/certificates/")
    openssl("verify", "-CAfile", f"{at}ca.crt", "-purpose", "sslserver", "-verify_hostname", server_of(second), f"{at}server.crt")
    openssl("verify", "-CAfile", f"{at}ca.crt", "-purpose", "sslclient", f"{at}client.crt")
    (name,) = policy(objects)["tls"]["verbClients"]["names"]
    assert openssl("x509", "-in", f"{at}client.crt", "-noout", "-subject", "-nameopt", "RFC2253").strip() == f"subject=CN={name}"
    assert {os.stat(at + file).st_mode & 0o077 for file in os.listdir(at)} == {0}


def test_the_server_cannot_be_a_client(kubectl):
    """The replicas' key cannot be used to bind."""
    at = kubectl.path("overlays/self-signed/certificates/")
    with pytest.raises(subprocess.CalledProcessError):
        openssl("verify", "-CAfile", f"{at}ca.crt", "-purpose", "sslclient", f"{at}server.crt")


def test_certificates_are_renewed_by_the_same_authority(kubectl):
    at = kubectl.path("overlays/self-signed/certificates/")

    def sums():
        return {file: openssl("dgst", at + file) for file in sorted(os.listdir(at))}

    before = sums()
    subprocess.run([kubectl.path(kustomize.MAKE_CERTIFICATES), "30"], check=True, capture_output=True)
    after = sums()
    assert list(after) == list(before) == ["ca.crt", "ca.key", "client.crt", "client.key", "server.crt", "server.key"]
    assert [file for file in after if after[file] == before[file]] == ["ca.crt", "ca.key"]
    openssl("verify", "-CAfile", f"{at}ca.crt", f"{at}server.crt")


def test_cert_managers_certificates_are_for_both_sides(kubectl, second):
    objects = kubectl.rendered("cert-manager")
    server = one(objects, "Certificate", "gpu-extender-tls")["spec"]
    client = one(objects, "Certificate", "gpu-extender-client")["spec"]
    assert server_of(second) in server["dnsNames"] and "server auth" in server["usages"] and "client auth" not in server["usages"]
    assert [client["commonName"]] == policy(objects)["tls"]["verbClients"]["names"] and "client auth" in client["usages"]
    assert {server["issuerRef"]["name"], client["issuerRef"]["name"]} == {"gpu-extender"}
    assert one(objects, "Issuer")["spec"]["ca"]["secretName"] == one(objects, "Certificate", "gpu-extender-ca")["spec"]["secretName"]
