"""The marked commands of docs/KUBE-SCHEDULER.md and docs/INSTALL.md (a systemd unit), as written, on their example cluster.

Only the service's address differs. kubectl's commands are run if there is a kubectl. A line that ends with " ..." continues, and
"..." matches any number of lines.
"""

import os
import re
import shutil
import subprocess

import marked
import pytest
import yaml
from api import LIMIT_S
from live import LiveCluster
from plane import HOST, free_port, says_ready
from service import BINARY, ENV, ROOT

LISTENS = "127.0.0.1:8888"
COMMANDS = marked.commands("docs/INSTALL.md", "commands") + marked.commands("docs/KUBE-SCHEDULER.md", "commands")


def matches(output, said):
    whole = said if said.endswith("\n") or not said else said + "\n"
    return re.fullmatch(marked.pattern_of(output), whole)


def write_kubeconfig(live, folder):
    """The document's, for this API server. Its token is in the file `token`."""
    config = yaml.safe_load(marked.block("docs/INSTALL.md", "kubeconfig"))
    with open(live.kubeconfig, encoding="utf-8") as file:
        here = yaml.safe_load(file)["clusters"][0]["cluster"]
    for field in config["clusters"][0]["cluster"]:
        config["clusters"][0]["cluster"][field] = here[field]
    path = folder / "gpu-extender.kubeconfig"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    shutil.copy(live.identity.token_file, folder / "token")
    return path


# ---- the configurations with kubeadm's kube-scheduler; first, while no pod is pending ----

CONFIGURATIONS = ["kube-scheduler-config.yaml", "kube-scheduler-config-all-pods.yaml", "kube-scheduler-config-gpu-profile.yaml"]
CONFIGURATIONS += ["kube-scheduler-config-observe.yaml"]
KUBEADMS = "/etc/kubernetes/scheduler.conf"


def start_as_kubeadm_does(plane, folder, name, text):
    """Starts kube-scheduler with kubeadm's options beside the file. Returns (kube-scheduler, whether it is ready)."""
    port, kubeconfig = free_port(), plane.kubeconfig()
    (folder / name).write_text(text.replace(KUBEADMS, kubeconfig), encoding="utf-8")
    options = {
        "config": folder / name,
        "kubeconfig": kubeconfig,
        "authentication-kubeconfig": kubeconfig,
        "authorization-kubeconfig": kubeconfig,
        "leader-elect": "true",
        "bind-address": HOST,
        "secure-port": port,
        "cert-dir": folder / f"{name}-keys",
    }
    scheduler = plane.start("kube-scheduler", *[f"--{key}={value}" for key, value in options.items()], log=f"{name}.log")
    return scheduler, lambda: says_ready(port, folder / f"{name}-keys/kube-scheduler.crt")


def shipped(name):
    with open(os.path.join(ROOT, "manifests", name), encoding="utf-8") as file:
        return file.read()


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_kube_scheduler_starts_with_kubeconfig_in_the_file(plane, tmp_path, name):
    text = shipped(name).replace("# clientConnection:\n#   kubeconfig:", "clientConnection:\n  kubeconfig:")
    assert yaml.safe_load(text)["clientConnection"] == {"kubeconfig": KUBEADMS}
    scheduler, ready = start_as_kubeadm_does(plane, tmp_path, name, text)
    try:
        scheduler.wait_until(ready)
    finally:
        scheduler.kill()


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_kube_scheduler_exits_without_kubeconfig_in_the_file(plane, tmp_path, name):
    """Its own --kubeconfig is ignored if a file is given (PROTOCOL 7.1)."""
    scheduler, _ = start_as_kubeadm_does(plane, tmp_path, name, shipped(name))
    try:
        assert scheduler.process.wait(LIMIT_S) != 0
    finally:
        scheduler.kill()
    assert "inClusterConfig" in scheduler.says()


# ---- the commands ----


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder where the commands run: with manifests/ and the program, like a checkout."""
    made = tmp_path_factory.mktemp("documented")
    (made / "bin").mkdir()
    (made / "bin/gpu-extender").symlink_to(BINARY)
    (made / "manifests").symlink_to(os.path.join(ROOT, "manifests"))
    return made


@pytest.fixture(scope="module")
def story(plane, folder):
    """Two nodes and three pods: one runs, one is too big for any node, one requests an absent model."""
    with LiveCluster(plane, "documented") as live:
        live.kubeconfig = write_kubeconfig(live, folder)
        live.add_node("h100-1", "NVIDIA-H100-80GB-HBM3", 8)
        live.add_node("a100-1", "NVIDIA-A100-SXM4-80GB", 8)
        live.start()
        live.create("llama", 4, models="H100")
        assert live.node_of("llama") == "h100-1"
        # Created after that was reported: afterwards no event makes kube-scheduler retry them.
        live.create("huge", 16)
        live.create("picky", 1, models="T4")
        for name in ("huge", "picky"):
            live.refusal_of(name)
        live.wait_until_told()
        yield live


def environment(plane, folder):
    path = f"{folder / 'bin'}:{plane.binaries}:{os.environ['PATH']}"
    return {**os.environ, **ENV, "PATH": path, "HOME": str(folder), "KUBECONFIG": plane.kubeconfig()}


@pytest.mark.parametrize("command, output", COMMANDS, ids=[command[:60] for command, _ in COMMANDS])
def test_command_does_what_the_document_says(story, plane, folder, command, output):
    done = subprocess.run(
        ["bash", "-c", command.replace(LISTENS, story.service.address)],
        cwd=folder,
        env=environment(plane, folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert matches(output, done.stdout), f"$ {command}\nsays now:\n{done.stdout}"
