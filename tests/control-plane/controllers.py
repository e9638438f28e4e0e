"""A control plane with the controller of LeaderWorkerSet, built from its module, with the objects that it ships. This file is its kubelet: it
mounts the certificates. Checks nothing.

Not as shipped: it has all rights and no Lease, and its Service is an alias of localhost.
"""

import base64
import json
import os

import yaml
from api import wait_until
from cluster import pod
from kustomize import Kubectl
from plane import HOST, TOOL, Plane, built, free_port, says_ready

# Of what it ships. The rest is the Deployment and its rights.
KINDS = ("Namespace", "CustomResourceDefinition", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "Service", "Secret")
LEADER_WORKER_SETS = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/gpu/leaderworkersets"
CONTROLLERS = ("job", "statefulset", "garbage-collector")


def is_at(port, item):
    """The object, with its Service and its webhooks at that port of this machine."""
    for hook in [*item.get("webhooks", []), item.get("spec", {}).get("conversion", {}).get("webhook")]:
        if hook:
            hook["clientConfig"]["service"]["port"] = port
    if item["kind"] == "Service":
        item["spec"] = {"type": "ExternalName", "externalName": "localhost"}
    return item


def leader_worker_set(name, annotations=None, **spec):
    metadata = {"name": name, "annotations": annotations or {}}
    return {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": metadata, "spec": spec}


class ControlledPlane(Plane):
    """What is started ends with the plane."""

    def start_own(self):
        """Kubernetes' controllers, after the others: the garbage collector takes half a minute to notice a new kind."""
        self.programs.callback(self.start_controllers(*(f"{name}-controller" for name in CONTROLLERS)).kill)

    def _ask(self, *command):
        status, said = Kubectl(self.binaries, self.folder, self.kubeconfig()).run(*command)
        assert status == 0, said
        return said

    def _mount(self, name, folder):
        """Writes the certificates that it makes for itself."""
        secret = f"/api/v1/namespaces/{name}-system/secrets/{name}-webhook-server-cert"
        data = wait_until(lambda: self.api.get(secret).get("data"), lambda: f"{secret} is empty")
        for key in ("tls.key", "tls.crt"):
            with open(os.path.join(folder, key), "wb") as file:
                file.write(base64.b64decode(data[key]))

    def _start(self, name, kubeconfig, **more):
        """more: of its configuration. Returns when it says that it is ready."""
        shipped, port, probes, certificates = built(TOOL, name), free_port(), free_port(), self.path(name)
        objects = list(yaml.safe_load_all(self._ask("kustomize", f"{shipped}/config/default")))
        taken = {"apiVersion": "v1", "kind": "List", "items": [is_at(port, item) for item in objects if item["kind"] in KINDS]}
        self._ask("apply", "--server-side", "--filename", self.write(f"{name}-objects.json", json.dumps(taken)))
        (settings,) = (item["data"]["controller_manager_config.yaml"] for item in objects if item["kind"] == "ConfigMap")
        changes = {
            "webhook": {"host": HOST, "port": port, "certDir": certificates},
            "health": {"healthProbeBindAddress": f"{HOST}:{probes}"},
            "metrics": {"bindAddress": "0"},
            "leaderElection": {"leaderElect": False},
        }
        os.mkdir(certificates)
        configuration = self.write(f"{name}.json", json.dumps({**yaml.safe_load(settings), **changes, **more}))
        program = self.start(os.path.join(shipped, name), f"--kubeconfig={kubeconfig}", f"--config={configuration}", log=f"{name}.log")
        self.programs.callback(program.kill)
        self._mount(name, certificates)
        program.wait_until(lambda: says_ready(probes))

    def start_lws(self):
        self._start("lws", self.kubeconfig())
        # It says so before its webhooks listen.
        trial = leader_worker_set("trial", leaderWorkerTemplate={"workerTemplate": pod("", 0)})
        wait_until(lambda: self.api.status_of("POST", f"{LEADER_WORKER_SETS}?dryRun=All", trial) == 201, lambda: "no LeaderWorkerSet is accepted")
