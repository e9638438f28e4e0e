"""Helm with the chart of this tree, on a copy of it that a user's files cannot be in. Checks nothing."""

import os
import shutil
import subprocess

import plane
import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
NAME = "gpu-extender"


def built():
    """The folder with Helm, which tests/control-plane/tool builds or finds."""
    return plane.built(plane.TOOL, "helm")


class Helm:
    """The program of that folder, run where charts/ and manifests/ are."""

    def __init__(self, binaries, folder, kubeconfig=None):
        self.program, self.folder, self.kubeconfig = os.path.join(binaries, "helm"), str(folder), kubeconfig
        for name in ("charts", "manifests"):
            # charts/ links into manifests/.
            shutil.copytree(os.path.join(ROOT, name), os.path.join(self.folder, name), symlinks=True, ignore=shutil.ignore_patterns("certificates"))

    def accept_any_version(self):
        """The API server of these tests calls itself v0.0.0."""
        path = os.path.join(self.folder, "charts/gpu-extender/Chart.yaml")
        with open(path, encoding="utf-8") as file:
            lines = file.readlines()
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(line for line in lines if not line.startswith("kubeVersion:"))

    def run(self, *arguments):
        """Returns the exit status, the output, and the messages without those about links."""
        env = {"PATH": os.environ["PATH"], "HOME": self.folder, "KUBECONFIG": self.kubeconfig or os.devnull}
        done = subprocess.run([self.program, *arguments], cwd=self.folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        said = [line for line in done.stderr.splitlines() if "found symbolic link" not in line]
        return done.returncode, done.stdout, "\n".join(said)

    def write_values(self, values):
        """Into values.yaml."""
        with open(os.path.join(self.folder, "values.yaml"), "w", encoding="utf-8") as file:
            yaml.safe_dump(values, file)

    def template(self, values, namespace=NAME):
        self.write_values(values)
        return self.run("template", NAME, "charts/gpu-extender", "--namespace", namespace, "--values", "values.yaml")

    def rendered(self, values):
        status, said, error = self.template(values)
        assert (status, error) == (0, ""), error
        return [item for item in yaml.safe_load_all(said) if item]
