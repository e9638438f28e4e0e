"""docs/OPERATIONS.md works: its marked commands are run as written, and its files are used by their programs."""

import os
import re
import subprocess

import marked
import pytest
import yaml
from api import LIMIT_S, wait_until
from kustomize import MANIFESTS, one
from plane import free_port


@pytest.fixture
def shell(kubectl, own_plane):
    """shell(commands) -> their output, run in the folder with manifests/."""

    def run(commands, folder=kubectl.home):
        env = {"PATH": f"{own_plane.binaries}:{os.environ['PATH']}", "HOME": str(folder), "KUBECONFIG": own_plane.kubeconfig()}
        command = ["bash", "-euo", "pipefail", "-c", commands]
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_documented_overlays_exist():
    named = set(re.findall(r"manifests/overlays/([\w-]+)", marked.read("docs/OPERATIONS.md")))
    assert {"cert-manager", "self-signed", "second-scheduler"} <= named <= set(os.listdir(os.path.join(MANIFESTS, "overlays")))


def test_self_signed_overlay_is_applied_as_documented(installed, shell, kubectl):
    said = shell(marked.block("docs/OPERATIONS.md", "install-self-signed"))
    assert "deployment.apps/gpu-extender serverside-applied" in said


def test_documented_own_kustomization_works(kubectl, shell):
    """Replaces the image, the policy and the network, and nothing else."""
    text = marked.block("docs/OPERATIONS.md", "own-kustomization")
    with open(os.path.join(kubectl.home, "kustomization.yaml"), "w", encoding="utf-8") as file:
        file.write(text)
    policy = "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\n"
    with open(os.path.join(kubectl.home, "scheduler-policy.yaml"), "w", encoding="utf-8") as file:
        file.write(policy)
    ours = list(yaml.safe_load_all(shell("kubectl kustomize .")))
    shipped = kubectl.rendered("cert-manager")
    (container,) = one(ours, "Deployment")["spec"]["template"]["spec"]["containers"]
    assert container["image"].startswith("registry.example.com/gpu-extender:")
    made = one(ours, "ConfigMap", "gpu-extender-policy")
    assert made["data"] == {"scheduler-policy.yaml": policy}
    assert made["metadata"]["name"] == one(shipped, "ConfigMap", "gpu-extender-policy")["metadata"]["name"]
    ingress = [(sorted(rule), [item["port"] for item in rule["ports"]]) for rule in one(ours, "NetworkPolicy")["spec"]["ingress"]]
    assert ingress == [(["from", "ports"], ["verbs"]), (["from", "ports"], ["people"]), (["ports"], ["probes"])]
    changed = {"ConfigMap", "Deployment", "NetworkPolicy"}
    assert [item for item in ours if item["kind"] not in changed] == [item for item in shipped if item["kind"] not in changed]


def test_users_are_admitted_as_documented(installed, shell):
    shell("kubectl create namespace ml-tools\n" + marked.block("docs/OPERATIONS.md", "admit-people"))
    allowed = "kubectl auth can-i get /v1/inventory --as somebody --as-group ml-engineers"
    wait_until(lambda: shell(f"{allowed} || true").strip() == "yes", lambda: "the group is not let in")


def test_kube_scheduler_accepts_the_kubeadm_file(installed, shell, own_plane, tmp_path):
    """With the Secret's certificate, and the address of the Service."""
    api, _ = installed
    folder = "/etc/kubernetes/gpu-extender"
    commands = marked.block("docs/OPERATIONS.md", "kubeadm-files")
    assert f"folder={folder}\n" in commands and "KUBECONFIG=/etc/kubernetes/admin.conf" in commands
    shell(commands.replace(folder, str(tmp_path)).replace("/etc/kubernetes/admin.conf", own_plane.kubeconfig()))
    text = (tmp_path / "kube-scheduler-config.yaml").read_text()
    (extender,) = yaml.safe_load(text)["extenders"]
    address = api.get("/api/v1/namespaces/gpu-extender/services/gpu-extender-verbs")["spec"]["clusterIP"]
    assert extender["urlPrefix"] == f"https://{address}:8443/scheduler"
    tls = extender["tlsConfig"]
    assert tls.pop("serverName") == "gpu-extender-verbs.gpu-extender.svc"
    assert tls == {key: f"{tmp_path}/{name}" for key, name in (("caFile", "ca.crt"), ("certFile", "tls.crt"), ("keyFile", "tls.key"))}
    subprocess.run(["openssl", "verify", "-CAfile", tls["caFile"], tls["certFile"]], check=True, capture_output=True)
    assert {os.stat(tmp_path / name).st_size > 0 for name in os.listdir(tmp_path)} == {True}
    start(own_plane, text)


def start(plane, text):
    """Starts kube-scheduler with that file and the test's kubeconfig; returns when it has the Lease."""
    assert "kubeconfig: /etc/kubernetes/scheduler.conf\n" in text
    path = plane.write("kubeadm.yaml", text.replace("/etc/kubernetes/scheduler.conf", plane.kubeconfig()))
    scheduler = plane.start("kube-scheduler", f"--config={path}", f"--secure-port={free_port()}", "--bind-address=127.0.0.1", log="kubeadm.log")
    try:
        lease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
        plane.api.wait_for(lease, "metadata.name=kube-scheduler", lambda seen: seen["spec"].get("holderIdentity"))
    finally:
        scheduler.kill()


def test_kubeadm_volumes_match_the_files():
    files = marked.block("docs/OPERATIONS.md", "kubeadm-files")
    told = yaml.safe_load(marked.block("docs/OPERATIONS.md", "kubeadm-volumes"))["scheduler"]
    (volume,), (argument,) = told["extraVolumes"], told["extraArgs"]
    assert argument["name"] == "config" and os.path.dirname(argument["value"]) == volume["mountPath"] == volume["hostPath"]
    assert f"folder={volume['hostPath']}\n" in files and f'"$folder/{os.path.basename(argument["value"])}"' in files
