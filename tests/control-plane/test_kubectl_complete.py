"""Completion of `kubectl gpu` by the real kubectl, which needs no API server for it."""

import os
import shutil
import subprocess

import pytest
from service import BINARY, ENV, LIMIT_S, SAMPLE_CLUSTER

PLUGIN = os.path.join(os.path.dirname(BINARY), "kubectl-gpu")


@pytest.mark.parametrize("name", ["gpu", "gpu_extender"])
def test_kubectl_completes(programs, tmp_path, name):
    """As a shell asks: kubectl finds kubectl_complete-NAME in PATH. Under another name, too."""
    shutil.copy(PLUGIN, tmp_path / f"kubectl-{name}")
    (tmp_path / f"kubectl_complete-{name}").symlink_to(f"kubectl-{name}")
    env = {**os.environ, **ENV, "PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path), "KUBECONFIG": os.devnull}

    def complete(*words):
        command = [os.path.join(programs, "kubectl"), "__complete", name.replace("_", "-"), *words]
        done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        assert done.returncode == 0, done
        return [line.partition("\t")[0] for line in done.stdout.splitlines()]

    assert complete("de") == ["decisions", ":4"]
    assert complete("nodes", "--cluster-file", SAMPLE_CLUSTER, "a100-8") == ["a100-80-1", ":4"]
    assert complete("nodes", "-o", "ya") == ["yaml", ":4"]
    assert complete("fit", "-f", "") == [":0"]
