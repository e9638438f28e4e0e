"""The kustomizations of manifests/, rendered and applied by kubectl, and the CustomResourceDefinitions that they need. Checks nothing."""

import os
import subprocess

import plane
import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
MANIFESTS = os.path.join(HERE, "..", "..", "manifests")
# overlays with everything that the service needs
WHOLE = ("cert-manager", "self-signed")
OVERLAYS = (*WHOLE, "second-scheduler", "monitoring", "admission", "aggregated-api", *(("claims",) if plane.is_since("1.36") else ()))
QUOTA = "/api/v1/namespaces/gpu-extender/resourcequotas/critical-pods"
MAKE_CERTIFICATES = "overlays/self-signed/make-certificates"


def definitions():
    """The folder with the operators' CustomResourceDefinitions."""
    return plane.built(os.path.join(HERE, "crds/fetch"))


class Kubectl:
    """kubectl with a kubeconfig, on a copy of manifests/ with certificates for the overlay that reads them from files."""

    def __init__(self, binaries, folder, kubeconfig=None):
        self.program, self.kubeconfig = os.path.join(binaries, "kubectl"), kubeconfig
        self.home = str(folder)
        self.manifests = os.path.join(self.home, "manifests")
        # Without files that a user may have created there.
        subprocess.run(["cp", "-r", MANIFESTS, self.home], check=True)
        subprocess.run(["rm", "-rf", self.path("overlays/self-signed/certificates")], check=True)
        subprocess.run([self.path(MAKE_CERTIFICATES)], check=True, capture_output=True)

    def path(self, name):
        return os.path.join(self.manifests, name)

    def run(self, *arguments):
        """Returns the exit status and all output."""
        env = {"PATH": os.environ["PATH"], "HOME": self.home, "KUBECONFIG": self.kubeconfig or os.devnull}
        command = [self.program, *arguments]
        done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def apply(self, overlay):
        return self.run("apply", "--server-side", "--kustomize", self.path(f"overlays/{overlay}"))

    def rendered(self, name):
        """The objects of an overlay."""
        status, said = self.run("kustomize", self.path(f"overlays/{name}"))
        assert status == 0, said
        return list(yaml.safe_load_all(said))


def one(objects, kind, name="gpu-extender"):
    """The object of that kind and name; a generated name with a hash is found by its prefix."""
    same = [item for item in objects if item["kind"] == kind]
    (found,) = [item for item in same if item["metadata"]["name"] == name] or [
        item for item in same if item["metadata"]["name"].rpartition("-")[0] == name
    ]
    return found
