"""The first road of docs/INSTALL.md works: its marked commands are run as written, on a machine whose /etc/kubernetes is a folder of the test. Their
results are started like the kubelet would: our instance, and kube-scheduler from its edited manifest."""

import base64
import os
import re
import ssl
import subprocess

import marked
import pytest
import yaml
from api import LIMIT_S, wait_until
from cluster import PODS, node, pod, prepare
from kustomize import MANIFESTS
from plane import HOST, Plane, free_port, says_ready
from service import BINARY, ROOT, Service

LISTENS = "127.0.0.1:8888"
# The relevant parts as written by kubeadm 1.36.
KUBEADMS = """apiVersion: v1
kind: Pod
metadata:
  labels:
    component: kube-scheduler
    tier: control-plane
  name: kube-scheduler
  namespace: kube-system
spec:
  containers:
  - command:
    - kube-scheduler
    - --authentication-kubeconfig=/etc/kubernetes/scheduler.conf
    - --authorization-kubeconfig=/etc/kubernetes/scheduler.conf
    - --bind-address=127.0.0.1
    - --kubeconfig=/etc/kubernetes/scheduler.conf
    - --leader-elect=true
    image: registry.k8s.io/kube-scheduler:v1.36.3
    imagePullPolicy: IfNotPresent
    name: kube-scheduler
    resources:
      requests:
        cpu: 100m
    volumeMounts:
    - mountPath: /etc/kubernetes/scheduler.conf
      name: kubeconfig
      readOnly: true
  hostNetwork: true
  priority: 2000001000
  priorityClassName: system-node-critical
  securityContext:
    seccompProfile:
      type: RuntimeDefault
  volumes:
  - hostPath:
      path: /etc/kubernetes/scheduler.conf
      type: FileOrCreate
    name: kubeconfig
status: {}
"""


class Kubeadms(Plane):
    """An API server that accepts client certificates of /etc/kubernetes/pki/ca.crt, and that authority."""

    def __init__(self, binaries, folder):
        super().__init__(binaries, folder)
        os.makedirs(self.path("kubernetes/pki"))
        os.makedirs(self.path("kubernetes/manifests"))
        authority, key = self.path("kubernetes/pki/ca.crt"), self.path("kubernetes/pki/ca.key")
        made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=kubernetes", "-days", "1", "-keyout", key, "-out", authority]
        subprocess.run(made, check=True, capture_output=True)

    def apiserver_options(self):
        return (*super().apiserver_options(), f"--client-ca-file={self.path('kubernetes/pki/ca.crt')}")


@pytest.fixture(scope="module")
def machine(programs, tmp_path_factory):
    """The plane of a machine whose /etc/kubernetes is FOLDER/kubernetes."""
    with Kubeadms(programs, tmp_path_factory.mktemp("kubeadm")) as plane:
        prepare(plane.api)
        plane.start_kwok()
        # With kubeadm, kube-apiserver's own certificate has the same authority; here it is self-signed.
        with open(plane.certificate, encoding="ascii") as its, open(plane.path("kubernetes/pki/ca.crt"), "a", encoding="ascii") as authorities:
            authorities.write(its.read())
        for name in ("admin.conf", "scheduler.conf"):
            os.rename(plane.kubeconfig(), plane.path("kubernetes", name))
        plane.write("kubernetes/manifests/kube-scheduler.yaml", KUBEADMS)
        yield plane


def as_here(machine, commands):
    """Without root, files cannot change owner."""
    owned = commands if os.geteuid() == 0 else commands.replace("-o 65534 ", "")
    return owned.replace("/etc/kubernetes", machine.path("kubernetes"))


@pytest.fixture(scope="module")
def run(machine):
    """run(commands) -> their output, in a checkout."""

    def ran(commands):
        path = f"{machine.binaries}:{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", as_here(machine, commands)],
            cwd=ROOT,
            env={**os.environ, "PATH": path, "HOME": machine.folder},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return ran


def manifest(machine, name):
    with open(machine.path("kubernetes/manifests", name), encoding="utf-8") as file:
        return yaml.safe_load(file)


def command_of(machine, name):
    (container,) = manifest(machine, name)["spec"]["containers"]
    return container.get("command", []) + container.get("args", [])


def start_scheduler(machine, number):
    """From the edited manifest, with its own ports and certificates. The caller ends it."""
    port = free_port()
    command = [part.replace("/etc/kubernetes", machine.path("kubernetes")) for part in command_of(machine, "kube-scheduler.yaml")]
    keys = machine.path(f"scheduler-{number}")
    scheduler = machine.start(*command, f"--secure-port={port}", f"--cert-dir={keys}", log=f"kube-scheduler-{number}.log")
    scheduler.wait_until(lambda: says_ready(port, os.path.join(keys, "kube-scheduler.crt")))
    return scheduler


@pytest.fixture(scope="module")
def installed(machine, run):
    """Steps 1 to 5 in order; our instance runs from the folder of manifests. Returns its address."""
    run(marked.block("docs/INSTALL.md", "rights"))
    run(marked.block("docs/INSTALL.md", "identity"))
    run(marked.block("docs/INSTALL.md", "scheduler-configuration"))
    run(marked.block("docs/INSTALL.md", "static-pod"))
    address = f"{HOST}:{free_port()}"
    for name in ("scheduler-policy.yaml", "kube-scheduler-config.yaml"):
        path = machine.path("kubernetes/gpu-extender", name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        assert LISTENS in text
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(LISTENS, address).replace("/etc/kubernetes", machine.path("kubernetes")))
    options = [part.replace("/etc/kubernetes", machine.path("kubernetes")) for part in command_of(machine, "gpu-extender.yaml")]
    service = Service(*options, listen=None)
    try:
        run(marked.block("docs/INSTALL.md", "beside-ready").replace(LISTENS, address))
        run(marked.block("docs/INSTALL.md", "edit-scheduler"))
        yield address
    finally:
        service.stop()


def test_the_static_pod_needs_nothing_of_the_api_server():
    """No ServiceAccount, Secret or ConfigMap; on the host's loopback; a probe ends a freeze."""
    with open(os.path.join(MANIFESTS, "overlays/control-plane/gpu-extender.yaml"), encoding="utf-8") as file:
        spec = yaml.safe_load(file)["spec"]
    assert spec["hostNetwork"] is True and spec["automountServiceAccountToken"] is False and "serviceAccountName" not in spec
    assert [set(volume) for volume in spec["volumes"]] == [{"name", "hostPath"}]
    (container,) = spec["containers"]
    assert "env" not in container and "envFrom" not in container
    probe = container["livenessProbe"]
    assert probe["httpGet"] == {"host": "127.0.0.1", "path": "/livez", "port": 8888}
    assert probe["periodSeconds"] * probe["failureThreshold"] + probe["timeoutSeconds"] <= 20


def test_requests_have_their_priority_level(machine, installed, tmp_path):
    """Requests with the certificate of step 1, as the API server classifies them."""
    with open(machine.path("kubernetes/gpu-extender/gpu-extender.kubeconfig"), encoding="utf-8") as file:
        user = yaml.safe_load(file)["users"][0]["user"]
    (tmp_path / "both.pem").write_bytes(base64.b64decode(user["client-certificate-data"]) + base64.b64decode(user["client-key-data"]))
    us = machine.api.with_token("")
    us.tls = ssl.create_default_context(cafile=machine.certificate)
    us.tls.load_cert_chain(tmp_path / "both.pem")
    schema = machine.api.get("/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/gpu-extender-control-plane")
    assert schema["spec"]["priorityLevelConfiguration"]["name"] == "workload-high"

    def its_schema():
        return us.headers_of("GET", "/api/v1/nodes?limit=1")["x-kubernetes-pf-flowschema-uid"]

    wait_until(lambda: its_schema() == schema["metadata"]["uid"], its_schema)


def test_the_policy_is_consistent(machine, installed):
    path = machine.path("kubernetes/gpu-extender/scheduler-policy.yaml")
    done = subprocess.run([BINARY, "--config", path, "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_changed_file_changes_the_manifest(machine, run, installed):
    """The manifest must change, or the kubelet would not restart the pod."""
    before = manifest(machine, "gpu-extender.yaml")["metadata"]["annotations"]["gpu-extender.io/configuration"]
    run(marked.block("docs/INSTALL.md", "static-pod"))
    after = manifest(machine, "gpu-extender.yaml")["metadata"]["annotations"]["gpu-extender.io/configuration"]
    assert re.fullmatch("[0-9a-f]{64}", before) and re.fullmatch("[0-9a-f]{64}", after) and before != after


def test_folders_of_kubeadm_hold_no_other_file(machine, installed):
    assert sorted(os.listdir(machine.path("kubernetes/manifests"))) == ["gpu-extender.yaml", "kube-scheduler.yaml"]
    assert sorted(os.listdir(machine.path("kubernetes/pki"))) == ["ca.crt", "ca.key"]


def test_kube_schedulers_manifest_has_the_configuration_and_sees_it(machine, installed):
    folder = machine.path("kubernetes/gpu-extender")
    edited, kubeadms = manifest(machine, "kube-scheduler.yaml"), yaml.safe_load(KUBEADMS)
    (container,) = edited["spec"]["containers"]
    assert container["command"].pop(1) == f"--config={folder}/kube-scheduler-config.yaml"
    assert container["volumeMounts"].pop(0) == {"mountPath": folder, "name": "gpu-extender", "readOnly": True}
    assert edited["spec"]["volumes"].pop(0) == {"hostPath": {"path": folder, "type": "Directory"}, "name": "gpu-extender"}
    assert edited == kubeadms


def test_gpu_pods_are_bound_by_the_instance_until_it_is_switched_off(machine, run, installed):
    api = machine.api
    api.create("/api/v1/nodes", {**node("h100-1", "NVIDIA-H100-80GB-HBM3", 8)})
    scheduler = start_scheduler(machine, 1)
    try:
        api.create(PODS, pod("first", 1))
        bound = api.wait_for(PODS, "metadata.name=first", lambda item: item["spec"].get("nodeName"))
        assert "gpu-extender.io/bound-by" in bound["metadata"]["annotations"]
        look = marked.block("docs/INSTALL.md", "look").replace(LISTENS, installed)
        # Our instance learns of the binding by its answer, perhaps later than we by a watch.
        wait_until(lambda: 'gpu_extender_binds_total{outcome="bound"} 1\n' in run(look), lambda: run(look))
        assert run(look).startswith("ok\n")
    finally:
        scheduler.kill()
    api.delete("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler")

    run(marked.block("docs/INSTALL.md", "off"))
    assert manifest(machine, "kube-scheduler.yaml")["spec"]["containers"][0]["command"] == yaml.safe_load(KUBEADMS)["spec"]["containers"][0]["command"]
    scheduler = start_scheduler(machine, 2)
    try:
        api.create(PODS, pod("second", 1))
        bound = api.wait_for(PODS, "metadata.name=second", lambda item: item["spec"].get("nodeName"))
        assert "gpu-extender.io/bound-by" not in bound["metadata"].get("annotations", {})
    finally:
        scheduler.kill()


def test_rollback_restores_the_initial_state(machine, run, installed):
    """The last test of this file, because it removes our instance's manifest."""
    run(marked.block("docs/INSTALL.md", "roll-back"))
    with open(machine.path("kubernetes/manifests/kube-scheduler.yaml"), encoding="utf-8") as file:
        assert file.read() == KUBEADMS
    assert os.listdir(machine.path("kubernetes/manifests")) == ["kube-scheduler.yaml"]
    run("export KUBECONFIG=/etc/kubernetes/admin.conf\n" + marked.block("docs/INSTALL.md", "undo-rights"))
