"""The commands of docs/INSTALL.md that need no cluster, run as written."""

import os
import re
import subprocess

import marked
import pytest
from service import BINARY, ENV, LIMIT_S, ROOT

COMMANDS = marked.commands("docs/INSTALL.md", "saved")


@pytest.mark.parametrize("command, output", COMMANDS, ids=[command[:60] for command, _ in COMMANDS])
def test_command(command, output):
    here = command.replace("build/run", os.path.dirname(BINARY))
    done = subprocess.run(["bash", "-c", here], cwd=ROOT, env={**os.environ, **ENV}, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert re.fullmatch(marked.pattern_of(output), done.stdout), f"$ {command}\nsays now:\n{done.stdout}{done.stderr}"


MANIFEST = """spec:
  containers:
  - command:
    - kube-scheduler
    - --authentication-kubeconfig=/etc/kubernetes/scheduler.conf
    - --kubeconfig=/etc/kubernetes/scheduler.conf
    image: registry.k8s.io/kube-scheduler:v1.36.3
    volumeMounts:
    - mountPath: /etc/kubernetes/scheduler.conf
      name: kubeconfig
  volumes:
  - hostPath:
      path: /etc/kubernetes/scheduler.conf
    name: kubeconfig
"""
EDIT, OFF = marked.block("docs/INSTALL.md", "edit-scheduler"), marked.block("docs/INSTALL.md", "off")


class Machine:
    """A machine whose /etc/kubernetes is a folder; kubeadm has written kube-scheduler's manifest."""

    def __init__(self, folder):
        self.folder = folder
        self.manifest, self.backup = folder / "manifests/kube-scheduler.yaml", folder / "gpu-extender/kube-scheduler.yaml.backup"
        for path in (self.manifest, self.backup):
            path.parent.mkdir()
        self.manifest.write_text(MANIFEST)

    def run(self, commands):
        """Returns the output and the manifest."""
        here = commands.replace("/etc/kubernetes", str(self.folder))
        done = subprocess.run(["bash", "-c", here], capture_output=True, text=True, timeout=LIMIT_S, check=True)
        return done.stdout + done.stderr, self.manifest.read_text()


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_a_second_edit_changes_nothing(machine):
    said, edited = machine.run(EDIT)
    assert said == "" and edited.count("--config=") == 1 and edited.count("name: gpu-extender\n") == 2
    said, again = machine.run(EDIT)
    assert "not changed" in said and "--config=" in said and again == edited
    assert machine.backup.read_text() == MANIFEST and len(os.listdir(machine.backup.parent)) == 1


def test_a_command_of_another_form_is_not_edited(machine):
    other = MANIFEST.replace("    - kube-scheduler\n", "    - /usr/local/bin/kube-scheduler\n")
    machine.manifest.write_text(other)
    said, edited = machine.run(EDIT)
    assert "not changed" in said and "by hand" in said and edited == other
    assert os.listdir(machine.backup.parent) == []


def test_an_edit_switches_on_again_after_an_emergency_off(machine):
    _, edited = machine.run(EDIT)
    _, off = machine.run(OFF)
    assert "--config=" not in off
    assert machine.run(EDIT) == ("", edited)
    assert machine.backup.read_text() == MANIFEST and len(os.listdir(machine.backup.parent)) == 1


def test_an_edit_of_what_kubeadm_rewrote_keeps_both_backups(machine):
    _, edited = machine.run(EDIT)
    newer = MANIFEST.replace("v1.36.3", "v1.37.2")
    machine.manifest.write_text(newer)
    assert machine.run(EDIT) == ("", edited.replace("v1.36.3", "v1.37.2"))
    backups = [path.read_text() for path in sorted(machine.backup.parent.iterdir())]
    assert backups == [newer, MANIFEST]


def test_the_folder_stays_while_a_manifest_names_it(machine):
    remove = marked.block("docs/INSTALL.md", "remove-folder")
    machine.run(EDIT)
    (machine.manifest.parent / "gpu-extender.yaml").write_text("")
    said, _ = machine.run(remove)
    assert said == f"{machine.manifest}\n" and machine.backup.exists()
    _, old = machine.run(marked.block("docs/INSTALL.md", "roll-back"))
    assert old == MANIFEST and os.listdir(machine.manifest.parent) == [machine.manifest.name]
    assert machine.run(remove) == ("", MANIFEST) and not machine.backup.parent.exists()


def test_a_configuration_of_its_own_is_left(machine):
    own = MANIFEST.replace("- --kubeconfig=", "- --config=/etc/own.yaml\n    - --kubeconfig=")
    machine.manifest.write_text(own)
    said, left = machine.run(EDIT)
    assert "--config=/etc/own.yaml" in said and left == own and not machine.backup.exists()
