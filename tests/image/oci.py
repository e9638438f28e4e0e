"""Builds the image as a user would, and reads an OCI archive: its manifest, its configuration and its files. Judges nothing."""

import hashlib
import io
import json
import os
import re
import subprocess
import tarfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def output_of(command, folder=ROOT):
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def build(out, tree=ROOT, **env):
    """Runs scripts/image of that tree; gives an Image, and what was printed."""
    command = [os.path.join(tree, "scripts/image"), str(out)]
    done = subprocess.run(command, env={**os.environ, **env}, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (archive,) = [name for name in os.listdir(out) if name.endswith(".oci.tar")]
    return Image(os.path.join(out, archive)), done.stdout


class Image:
    """An OCI archive with one image of one layer."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.sha256 = hashlib.sha256(file.read()).hexdigest()
        self.archive = tarfile.open(path)
        (self.entry,) = json.loads(self._read("index.json"))["manifests"]
        self.manifest = json.loads(self.blob(self.entry))
        self.config = json.loads(self.blob(self.manifest["config"]))
        (layer,) = self.manifest["layers"]
        self.layer = tarfile.open(fileobj=io.BytesIO(self.blob(layer)))

    def _read(self, name):
        return self.archive.extractfile(name).read()

    def blob(self, descriptor):
        """The content that a descriptor points to; its digest and size must match."""
        content = self._read("blobs/" + descriptor["digest"].replace(":", "/"))
        assert (f"sha256:{hashlib.sha256(content).hexdigest()}", len(content)) == (descriptor["digest"], descriptor["size"])
        return content

    def files(self):
        """{path: content} of the regular files."""
        return {item.name: self.layer.extractfile(item).read() for item in self.layer if item.isreg()}

    def sbom(self):
        with open(self.path.replace(".oci.tar", ".spdx.json"), encoding="utf-8") as file:
            return json.load(file)


def version():
    with open(os.path.join(ROOT, "meson.build"), encoding="utf-8") as file:
        return re.search(r"version: '(.*?)'", file.read())[1]
