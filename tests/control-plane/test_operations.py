"""docs/INSTALL.md works on a real API server: its marked commands are run as written, and its files are used by their programs."""

import os
import re
import shutil
import subprocess

import marked
import pytest
import yaml
from api import LIMIT_S, wait_until
from kustomize import MANIFESTS, one
from plane import free_port
from service import BINARY, ROOT


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
    named = set(re.findall(r"manifests/overlays/([\w-]+)", marked.read("docs/INSTALL.md") + marked.read("docs/OPERATIONS.md")))
    assert {"cert-manager", "self-signed", "second-scheduler"} <= named <= set(os.listdir(os.path.join(MANIFESTS, "overlays")))


def test_self_signed_overlay_is_applied_as_documented(installed, shell, kubectl):
    said = shell(marked.block("docs/INSTALL.md", "install-self-signed"))
    assert "deployment.apps/gpu-extender serverside-applied" in said


def test_cert_manager_overlay_is_applied_as_documented(installed, shell):
    said = shell(marked.block("docs/INSTALL.md", "install-cert-manager"))
    assert "certificate.cert-manager.io/gpu-extender-client serverside-applied" in said


def test_documented_own_kustomization_works(kubectl, shell):
    """In a folder beside the checkout. It replaces the image, the policy and the network, and nothing else."""
    text = marked.block("docs/INSTALL.md", "own-kustomization")
    os.symlink(kubectl.home, os.path.join(kubectl.home, "gpu-extender"))
    os.makedirs(os.path.join(kubectl.home, "mine"))
    with open(os.path.join(kubectl.home, "mine/kustomization.yaml"), "w", encoding="utf-8") as file:
        file.write(text)
    policy = "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\n"
    with open(os.path.join(kubectl.home, "mine/scheduler-policy.yaml"), "w", encoding="utf-8") as file:
        file.write(policy)
    ours = list(yaml.safe_load_all(shell("kubectl kustomize .", os.path.join(kubectl.home, "mine"))))
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
    shell("kubectl create namespace ml-tools\n" + marked.block("docs/INSTALL.md", "admit-people"))
    allowed = "kubectl auth can-i get /v1/inventory --as somebody --as-group ml-engineers"
    wait_until(lambda: shell(f"{allowed} || true").strip() == "yes", lambda: "the group is not let in")


def test_kube_scheduler_accepts_the_kubeadm_file(installed, shell, own_plane, tmp_path):
    """With the Secret's certificate, and the address of the Service."""
    api, _ = installed
    folder = "/etc/kubernetes/gpu-extender"
    commands = marked.block("docs/INSTALL.md", "kubeadm-files")
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
    files = marked.block("docs/INSTALL.md", "kubeadm-files")
    told = yaml.safe_load(marked.block("docs/INSTALL.md", "kubeadm-volumes"))["scheduler"]
    (volume,), (argument,) = told["extraVolumes"], told["extraArgs"]
    assert argument["name"] == "config" and os.path.dirname(argument["value"]) == volume["mountPath"] == volume["hostPath"]
    assert f"folder={volume['hostPath']}\n" in files and f'"$folder/{os.path.basename(argument["value"])}"' in files


# ---- the second scheduler without us ----


def test_second_scheduler_goes_on_without_us_as_documented(installed, shell, own_plane, kubectl):
    """The last commands of its section: kube-scheduler takes what they leave of its configuration, and the Deployment mounts it."""
    api, _ = installed
    shell("kubectl apply --server-side --force-conflicts -k manifests/overlays/second-scheduler")
    shell(marked.block("docs/INSTALL.md", "second-off"))
    deployment = api.get("/apis/apps/v1/namespaces/gpu-extender/deployments/gpu-scheduler")
    volumes = {item["name"]: item for item in deployment["spec"]["template"]["spec"]["volumes"]}
    assert volumes["configuration"]["configMap"]["name"] == "gpu-scheduler-alone" and "client" in volumes
    (text,) = api.get("/api/v1/namespaces/gpu-extender/configmaps/gpu-scheduler-alone")["data"].values()
    told = yaml.safe_load(text)
    assert "extenders" not in told and told["profiles"] == [{"schedulerName": "gpu-scheduler"}]
    path = own_plane.write("alone.yaml", f"{text}clientConnection: {{kubeconfig: {own_plane.kubeconfig()}}}\n")
    scheduler = own_plane.start("kube-scheduler", f"--config={path}", f"--secure-port={free_port()}", "--bind-address=127.0.0.1", log="alone.log")
    try:
        lease = "/apis/coordination.k8s.io/v1/namespaces/gpu-extender/leases"
        api.wait_for(lease, "metadata.name=gpu-scheduler", lambda seen: seen["spec"].get("holderIdentity"))
    finally:
        scheduler.kill()
    shell("kubectl apply --server-side --force-conflicts -k manifests/overlays/second-scheduler")


# ---- a laptop ----


def test_live_cluster_is_watched_from_a_laptop_as_documented(own_plane, tmp_path):
    """With a kubeconfig in the home folder; only the port and the place of the programs are the test's."""
    (tmp_path / ".kube").mkdir()
    shutil.copy(own_plane.kubeconfig(), tmp_path / ".kube/config")
    address = f"127.0.0.1:{free_port()}"
    commands = marked.block("docs/INSTALL.md", "laptop").replace("build/run", os.path.dirname(BINARY)).replace("127.0.0.1:8888", address)
    here = commands.replace("config &", f"config --listen {address} &")
    assert here != commands
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", here], cwd=ROOT, env=env, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "checked: " in done.stdout and "ok    clock" in done.stdout, done.stdout
    assert re.search(r"^No pod waits for GPUs|^\d+ pods? of \d+ workloads? waits? for", done.stdout, re.MULTILINE), "other tests may have left pods"
