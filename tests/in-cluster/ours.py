"""gpu-extender in the cluster, as people install it: the image of scripts/image, and an overlay of manifests/ with certificates that its
script made; then kube-scheduler is told of it.
"""

import os
import shutil

import ledger
import yaml
from api import wait_until
from callers import Caller
from cluster import MANIFESTS, configuration
from real import run
from service import ROOT

NAME = "gpu-extender"
PODS = f"/api/v1/namespaces/{NAME}/pods"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAME}/deployments"
SLICES = f"/apis/discovery.k8s.io/v1/namespaces/{NAME}/endpointslices"
SERVICES = f"/api/v1/namespaces/{NAME}/services"
OVERLAY = "overlays/self-signed"
VERBS, VERBS_PORT = f"{NAME}-verbs", 8443
PEOPLE, PEOPLE_PORT = NAME, 8444
PROBES_PORT = 8080


def server_name(service):
    return f"{service}.{NAME}.svc"


class Ours:
    """install() makes two replicas that are ready; configure_scheduler() lets them be asked."""

    def __init__(self, cluster):
        self.cluster, self.api = cluster, cluster.api
        self.manifests = cluster.path("manifests")
        self.certificates = os.path.join(self.manifests, OVERLAY, "certificates")
        self.authority = os.path.join(self.certificates, "ca.crt")

    def certificate(self, name):
        """Of those that the overlay's script made: (certificate, key)."""
        return tuple(os.path.join(self.certificates, f"{name}.{kind}") for kind in ("crt", "key"))

    def install(self):
        shutil.copytree(MANIFESTS, self.manifests, ignore=shutil.ignore_patterns("certificates"))
        run(os.path.join(self.manifests, OVERLAY, "make-certificates"))
        with open(os.path.join(self.manifests, "base/kustomization.yaml"), encoding="utf-8") as file:
            (image,) = yaml.safe_load(file)["images"]
        self.cluster.load_image(os.path.join(ROOT, f"build/image/{NAME}-{image['newTag']}.oci.tar"))
        self.cluster.kubectl("apply", "--server-side", "-k", os.path.join(self.manifests, OVERLAY))
        self.wait_until_rolled_out()

    def wait_until_rolled_out(self):
        """All replicas are of the Deployment's present template, and available; of others none is left."""

        def rolled_out(deployment):
            wanted, status = deployment["spec"]["replicas"], deployment["status"]
            counts = [status.get(name, 0) for name in ("replicas", "updatedReplicas", "availableReplicas")]
            return status.get("observedGeneration") == deployment["metadata"]["generation"] and counts == [wanted] * 3

        deployment = self.api.wait_for(DEPLOYMENTS, f"metadata.name={NAME}", rolled_out)
        self.api.wait_for_all(PODS, lambda pods: len(pods) == deployment["spec"]["replicas"])

    def configure_scheduler(self):
        certificate, key = self.certificate("client")
        tls = {"serverName": server_name(VERBS), "caFile": self.authority, "certFile": certificate, "keyFile": key}
        address = f"{self.address_of(VERBS)}:{VERBS_PORT}"
        self.cluster.configure_scheduler(configuration(address, scheme="https", tlsConfig=tls))
        wait_until(self.verbs().is_answered, lambda: f"the verbs are answered at {address}")

    def lead_verbs_to(self, pod):
        """Replicas do not do so themselves yet."""
        endpoint = {"addresses": [pod["status"]["podIP"]], "conditions": {"ready": True}}
        ports = [{"name": "verbs", "port": VERBS_PORT, "protocol": "TCP"}]
        labels = {"kubernetes.io/service-name": VERBS}
        slice_ = {"metadata": {"name": VERBS, "labels": labels}, "addressType": "IPv4", "ports": ports, "endpoints": [endpoint]}
        self.api.create(SLICES, slice_)

    # ---- who is where ----

    def address_of(self, service):
        return self.api.get(f"{SERVICES}/{service}")["spec"]["clusterIP"]

    def replicas(self):
        return self.api.get(PODS)["items"]

    def leader(self):
        """The pod to which the verbs' Service leads."""
        addresses = [address for endpoint in self.api.get(f"{SLICES}/{VERBS}")["endpoints"] for address in endpoint["addresses"]]
        (leader,) = [pod for pod in self.replicas() if [pod["status"].get("podIP")] == addresses]
        return leader

    def verbs(self, certificate="client", address=None, **more):
        """A caller of the verbs. certificate: one of those that the overlay's script made, or (certificate, key). address: if not the
        Service's."""
        shown = self.certificate(certificate) if isinstance(certificate, str) else certificate
        return Caller((address or self.address_of(VERBS), VERBS_PORT), server_name(VERBS), self.authority, shown, **more)

    # ---- comparing ----

    def used(self):
        """{node: GPUs used} by the API server; no node with more than it has."""
        truth = ledger.truth(self.api)
        assert not ledger.overfull(truth), ledger.overfull(truth)
        return {name: shown["used"] for name, shown in truth.items()}

    # ---- harm ----

    def kill(self, pod):
        """Its process ends without a word. The kubelet starts it again, in the same pod."""
        (status,) = pod["status"]["containerStatuses"]
        self.cluster.ctr("tasks", "kill", "--signal", "SIGKILL", status["containerID"].removeprefix("containerd://"))
