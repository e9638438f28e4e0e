"""The commands of docs/KUBE-SCHEDULER.md, as they stand there, on the cluster that it speaks of.

Only the service's address is another. What kubectl does is tried where there is a kubectl; a line that ends with " ..." goes on,
and "..." is any number of lines.
"""

import os
import re
import shutil
import subprocess

import pytest
import yaml
from api import LIMIT_S
from live import LiveCluster
from service import BINARY, ENV, ROOT

LISTENS = "127.0.0.1:8888"

with open(os.path.join(ROOT, "docs/KUBE-SCHEDULER.md"), encoding="utf-8") as document:
    DOCUMENT = document.read()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)


def commands():
    """[(command, the output that follows it)] of all console blocks."""
    parts = [part for block in blocks("console") for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [part.split("\n", 1) for part in parts]


def pattern_of(line):
    if line == "...\n":
        return "(?:.*\n)*"
    return re.escape(line.removesuffix(" ...\n")) + ".*\n" if line.endswith(" ...\n") else re.escape(line)


def matches(output, said):
    whole = said if said.endswith("\n") or not said else said + "\n"
    return re.fullmatch("".join(map(pattern_of, output.splitlines(keepends=True))), whole)


def write_kubeconfig(live, folder):
    """The document's, for this API server. Its token is in the file `token`."""
    (text,) = [block for block in blocks("yaml") if "kind: Config" in block]
    config = yaml.safe_load(text)
    with open(live.kubeconfig, encoding="utf-8") as file:
        here = yaml.safe_load(file)["clusters"][0]["cluster"]
    for field in config["clusters"][0]["cluster"]:
        config["clusters"][0]["cluster"][field] = here[field]
    path = folder / "gpu-extender.kubeconfig"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    shutil.copy(live.identity.token_file, folder / "token")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the commands run: with manifests/ and the program, as beside a checkout."""
    made = tmp_path_factory.mktemp("documented")
    (made / "bin").mkdir()
    (made / "bin/gpu-extender").symlink_to(BINARY)
    (made / "manifests").symlink_to(os.path.join(ROOT, "manifests"))
    return made


@pytest.fixture(scope="module")
def story(plane, folder):
    """Two nodes, and three pods: one that runs, one that is too big for any node, one that wants a model that is not there."""
    with LiveCluster(plane, "documented") as live:
        live.kubeconfig = write_kubeconfig(live, folder)
        live.add_node("h100-1", "NVIDIA-H100-80GB-HBM3", 8)
        live.add_node("a100-1", "NVIDIA-A100-SXM4-80GB", 8)
        live.start()
        live.create("llama", 4, models="H100")
        live.create("huge", 16)
        live.create("picky", 1, models="T4")
        assert live.node_of("llama") == "h100-1"
        for name in ("huge", "picky"):
            live.refusal_of(name)
        live.wait_until_told()
        yield live


def environment(plane, folder):
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    return {**os.environ, **ENV, "PATH": path, "HOME": str(folder), "KUBECONFIG": plane.kubeconfig()}


@pytest.mark.parametrize("command, output", commands(), ids=[command[:60] for command, _ in commands()])
def test_it_does_what_is_written(story, plane, folder, command, output):
    if command.startswith("kubectl") and not shutil.which("kubectl"):
        pytest.skip("there is no kubectl")
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


def test_there_are_commands():
    assert len(commands()) >= 8


def test_a_kube_scheduler_with_a_file_needs_its_kubeconfig_in_it(plane):
    """Why clientConnection is spoken of: its own option is ignored then."""
    config = os.path.join(ROOT, "manifests/kube-scheduler-config.yaml")
    scheduler = plane.start("kube-scheduler", f"--config={config}", f"--kubeconfig={plane.kubeconfig()}", log="without-connection.log")
    assert scheduler.process.wait(LIMIT_S) != 0
    assert "inClusterConfig" in scheduler.says()
