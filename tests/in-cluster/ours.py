"""gpu-extender in the cluster, installed by the commands of docs/INSTALL.md: the image of scripts/image, and an overlay of manifests/
with certificates from its script; then kube-scheduler is configured to call it."""

import datetime
import glob
import os
import shutil
import subprocess

import ledger
import marked
from api import LIMIT_S, wait_until
from callers import Caller
from cluster import MANIFESTS, configuration
from service import ROOT

NAME = "gpu-extender"
PODS = f"/api/v1/namespaces/{NAME}/pods"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAME}/deployments"
SLICES = f"/apis/discovery.k8s.io/v1/namespaces/{NAME}/endpointslices"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NAME}/leases"
SERVICES = f"/api/v1/namespaces/{NAME}/services"
OVERLAY = "overlays/self-signed"
APPLY = marked.line("docs/INSTALL.md", "install-self-signed", "kubectl ")
VERBS, VERBS_PORT = f"{NAME}-verbs", 8443
PEOPLE, PEOPLE_PORT = NAME, 8444
PROBES_PORT = 8080


def server_name(service):
    return f"{service}.{NAME}.svc"


def container(pod):
    (status,) = pod["status"]["containerStatuses"]
    return status["containerID"].removeprefix("containerd://")


def is_taken(before, after):
    """Whether a Lease was taken, by its states before and after, from a holder whose time was not over. All replicas share one clock
    here."""
    if before["holderIdentity"] in ("", after["holderIdentity"]):
        return False
    renewed, now = (datetime.datetime.fromisoformat(spec["renewTime"]) for spec in (before, after))
    return after["holderIdentity"] != "" and now < renewed + datetime.timedelta(seconds=before["leaseDurationSeconds"])


def gave_up(leases):
    """Names of the pods that gave the Lease up before it expired. leases: result of Ours.leases()."""
    return {before["holderIdentity"].rpartition("_")[0] for before, after in leases if before["holderIdentity"] and not after["holderIdentity"]}


class Ours:
    """install() starts two ready replicas; configure_scheduler() makes kube-scheduler call them."""

    def __init__(self, cluster):
        self.cluster, self.api = cluster, cluster.api
        self.manifests = cluster.path("manifests")
        self.certificates = os.path.join(self.manifests, OVERLAY, "certificates")
        self.authority = os.path.join(self.certificates, "ca.crt")
        self.frozen = []

    def certificate(self, name):
        """(certificate, key) made by the overlay's script."""
        return tuple(os.path.join(self.certificates, f"{name}.{kind}") for kind in ("crt", "key"))

    def install(self):
        shutil.copytree(MANIFESTS, self.manifests, ignore=shutil.ignore_patterns("certificates"))
        self.make_certificates()
        load = marked.line("docs/INSTALL.md", "load-image", "ctr ")
        archive = load.split()[-1]
        os.makedirs(os.path.dirname(self.cluster.path(archive)))
        os.symlink(os.path.join(ROOT, archive), self.cluster.path(archive))
        self.shell(load)
        self.apply()
        self.wait_until_rolled_out()
        wait_until(self.people().is_reached, lambda: f"the Service {PEOPLE} is reached")

    def make_certificates(self):
        """For the replicas and kube-scheduler; each time new ones of the same authority."""
        self.shell(marked.line("docs/INSTALL.md", "install-self-signed", "manifests/"))

    def apply(self):
        self.shell(APPLY)

    def shell(self, commands):
        """Runs commands as a cluster administrator, in the folder with manifests/. Returns their output."""
        env = {"PATH": f"{self.cluster.binaries}:{os.environ['PATH']}", "HOME": self.cluster.folder, "KUBECONFIG": self.cluster.kubeconfig()}
        shell = ["bash", "-euo", "pipefail", "-c", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n" + commands]
        done = subprocess.run(shell, cwd=self.cluster.folder, env=env, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        assert done.returncode == 0, f"{commands}\n{done.stdout}{done.stderr}"
        return done.stdout

    def wait_until_rolled_out(self):
        """Waits until all replicas have the Deployment's present template and are available, and no others are left."""

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

    # ---- replicas and callers ----

    def address_of(self, service):
        return self.api.get(f"{SERVICES}/{service}")["spec"]["clusterIP"]

    def replicas(self):
        return self.api.get(PODS)["items"]

    def leader(self):
        """The pod that the verbs' Service leads to."""
        addresses = [address for endpoint in self.api.get(f"{SLICES}/{VERBS}")["endpoints"] for address in endpoint["addresses"]]
        (leader,) = [pod for pod in self.replicas() if [pod["status"].get("podIP")] == addresses]
        return leader

    def lease(self):
        return self.api.get(f"{LEASES}/{NAME}")

    def leases(self, since):
        """[(spec, spec)] of the Lease: before and after each write after `since`, an earlier lease()."""
        history, version, last = [since["spec"]], since["metadata"]["resourceVersion"], self.lease()["metadata"]["resourceVersion"]
        for _, lease in self.api.watch(LEASES, f"metadata.name={NAME}", LIMIT_S, version) if last != version else []:
            history.append(lease["spec"])
            if lease["metadata"]["resourceVersion"] == last:
                break
        return list(zip(history, history[1:]))

    def verbs(self, certificate="client", address=None, **more):
        """A caller of the verbs. certificate: a name from the overlay's script, or (certificate, key). address: default is the
        Service's."""
        shown = self.certificate(certificate) if isinstance(certificate, str) else certificate
        return Caller((address or self.address_of(VERBS), VERBS_PORT), server_name(VERBS), self.authority, shown, **more)

    def people(self, token=None, address=None, certificate=None):
        """A caller of the people port; parameters as in verbs()."""
        shown = self.certificate(certificate) if certificate else None
        return Caller((address or self.address_of(PEOPLE), PEOPLE_PORT), server_name(PEOPLE), self.authority, shown, token)

    # ---- logs ----

    def keep_logs(self):
        """Copies logs as they grow, because the kubelet deletes a pod's logs with it."""
        os.makedirs(self.cluster.path("replicas"), exist_ok=True)
        for log in glob.glob(self.cluster.path("pods", f"{NAME}_{NAME}-*", "*", "*.log")):
            pod, _, number = log.split(os.sep)[-3:]
            kept = self.cluster.path("replicas", f"{pod.split('_')[1]}-{number}")
            if not os.path.exists(kept):
                os.link(log, kept)

    # ---- comparing ----

    def used(self, token):
        """{node: GPUs used} from the API server, once all replicas report the same; no node uses more than it has."""
        last = []

        def equal():
            last[:] = [ledger.truth(self.api), *(ledger.told(self.people(token, pod["status"]["podIP"])) for pod in self.replicas())]
            return all(each == last[0] for each in last)

        wait_until(equal, lambda: "\n".join(line for each in last[1:] for line in ledger.differences(each, last[0])))
        assert not ledger.overfull(last[0]), ledger.overfull(last[0])
        return {name: shown["used"] for name, shown in last[0].items()}

    # ---- ends of replicas ----

    def kill(self, pod):
        """Kills its process. The kubelet restarts it in the same pod."""
        self.cluster.ctr("tasks", "kill", "--signal", "SIGKILL", container(pod))

    def freeze(self, pod):
        """Its process is stopped, wherever it is, and knows nothing of it; until thaw(), which wakes all that are."""
        self.cluster.ctr("tasks", "pause", container(pod))
        self.frozen.append(container(pod))

    def thaw(self):
        while self.frozen:
            self.cluster.ctr("tasks", "resume", self.frozen.pop())

    def delete(self, pod):
        """The pod ends gracefully, and is replaced."""
        self.api.ask("DELETE", f"{PODS}/{pod['metadata']['name']}")

    def evict(self, pod):
        """Evicts the pod; returns whether the PodDisruptionBudget allowed it."""
        name = pod["metadata"]["name"]
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": NAME}}
        status = self.api.status_of("POST", f"{PODS}/{name}/eviction", eviction)
        assert status in (201, 429), status
        return status == 201

    def roll(self, pod):
        """Changes the Deployment's template; returns when the rollout deletes this pod."""
        self.shell(marked.block("docs/OPERATIONS.md", "restart"))
        self.api.wait_for(PODS, f"metadata.name={pod['metadata']['name']}", lambda seen: "deletionTimestamp" in seen["metadata"])
