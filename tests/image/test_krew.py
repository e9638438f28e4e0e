"""The plugin for krew: linked statically, and packed with a manifest that names it."""

import hashlib
import os
import re
import subprocess
import tarfile

import pytest
import yaml
from service import ROOT, SAMPLE_CLUSTER

URL = "https://example.com/kubectl-gpu_extender.tar.gz"


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """The folder, the archive and the manifest that scripts/krew makes."""
    folder = tmp_path_factory.mktemp("krew")
    done = subprocess.run([os.path.join(ROOT, "scripts/krew"), URL, folder], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    archive, manifest = done.stdout.split()
    return folder, archive, manifest


def test_the_plugin_runs_without_any_other_file(packed):
    folder, archive, _ = packed
    root = folder / "root"
    with tarfile.open(archive) as file:
        assert sorted(file.getnames()) == ["LICENSE", "kubectl-gpu", "kubectl-gpu.1"]
        file.extractall(root)
    headers = subprocess.run(["readelf", "--program-headers", root / "kubectl-gpu"], capture_output=True, text=True, check=True).stdout
    assert "INTERP" not in headers and "DYNAMIC" not in headers
    if os.geteuid() != 0:
        pytest.skip("chroot is for root")
    with open(SAMPLE_CLUSTER, encoding="utf-8") as file:
        (root / "cluster.yaml").write_text(file.read())
    command = ["chroot", root, "/kubectl-gpu", "nodes", "a10-1", "--cluster-file", "/cluster.yaml", "-o", "name"]
    assert subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout == "node/a10-1\n"


def test_the_manifest(packed):
    """The manifest has everything that krew's documents demand of a plugin."""
    _, archive, path = packed
    with open(path, encoding="utf-8") as file:
        manifest = yaml.safe_load(file)
    assert (manifest["apiVersion"], manifest["kind"]) == ("krew.googlecontainertools.github.com/v1alpha2", "Plugin")
    assert manifest["metadata"]["name"] == os.path.basename(path).removesuffix(".yaml") == "gpu-extender"
    spec = manifest["spec"]
    assert re.fullmatch(r"v\d+\.\d+\.\d+", spec["version"]) and spec["description"] and len(spec["shortDescription"]) <= 50
    (platform,) = spec["platforms"]
    with open(archive, "rb") as file:
        assert platform["sha256"] == hashlib.sha256(file.read()).hexdigest()
    assert (platform["uri"], platform["bin"], platform["selector"]["matchLabels"]["os"]) == (URL, "kubectl-gpu", "linux")
