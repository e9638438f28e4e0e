"""A control plane with controllers of other projects: LeaderWorkerSet's and Kueue's, built from their modules, with the objects that they ship.
This file is their kubelet: it mounts their certificates. Checks nothing.

Not as shipped: they have all rights and no Lease, their Services are aliases of localhost, and Kueue's visibility API is off.
"""

import base64
import json
import os

import yaml
from api import wait_until
from cluster import GPU, pod
from kustomize import Kubectl
from plane import HOST, KUBERNETES, TOOL, Plane, built, free_port, says_ready

# Of what they ship. The rest is the Deployment, its rights, and an API of Kueue's.
KINDS = ("Namespace", "CustomResourceDefinition", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "Service", "Secret")
LEADER_WORKER_SETS = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/gpu/leaderworkersets"
KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
QUEUE = {"kueue.x-k8s.io/queue-name": "queue"}
CONTROLLERS = ("job", "statefulset", "garbage-collector")


def is_at(port, item):
    """The object, with its Service and its webhooks at that port of this machine."""
    for hook in [*item.get("webhooks", []), item.get("spec", {}).get("conversion", {}).get("webhook")]:
        if hook:
            hook["clientConfig"]["service"]["port"] = port
    if item["kind"] == "Service":
        item["spec"] = {"type": "ExternalName", "externalName": "localhost"}
    return item


def leader_worker_set(name, spec, **metadata):
    return {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": {"name": name, **metadata}, "spec": spec}


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
        trial = leader_worker_set("trial", {"leaderWorkerTemplate": {"workerTemplate": pod("", 0)}})
        wait_until(lambda: self.api.status_of("POST", f"{LEADER_WORKER_SETS}?dryRun=All", trial) == 201, lambda: "no LeaderWorkerSet is accepted")

    def start_kueue(self):
        """Behind kubectl's proxy, which answers /version itself: Kueue does not accept the version that kube-apiserver has if `go build` made
        it, v0.0.0-master+$Format:%H$."""
        os.mkdir(self.path("version"))
        self.write("version/index.html", json.dumps({"gitVersion": f"v{KUBERNETES}.0"}))
        port = free_port()
        answers = ("--api-prefix=/", f"--www={self.path('version')}", "--www-prefix=/version/")
        proxy = self.start("kubectl", "proxy", f"--kubeconfig={self.kubeconfig()}", f"--port={port}", *answers, log="kubectl-proxy.log")
        self.programs.callback(proxy.kill)
        with open(self.write_kubeconfig("kubeconfig-kueue", {}, port), encoding="utf-8") as file:
            kubeconfig = file.read().replace("https:", "http:")
        self._start("kueue", self.write("kubeconfig-kueue", kubeconfig), featureGates={"VisibilityOnDemand": False})

    def create_queue(self, gpus):
        """Of the namespace gpu."""
        quotas = [{"name": "cpu", "nominalQuota": 100}, {"name": GPU, "nominalQuota": gpus}]
        groups = [{"coveredResources": ["cpu", GPU], "flavors": [{"name": "queue", "resources": quotas}]}]
        for path, kind, spec in (
            ("resourceflavors", "ResourceFlavor", {}),
            ("clusterqueues", "ClusterQueue", {"namespaceSelector": {}, "resourceGroups": groups}),
            ("namespaces/gpu/localqueues", "LocalQueue", {"clusterQueue": "queue"}),
        ):
            self.api.create(f"{KUEUE}/{path}", {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": "queue"}, "spec": spec})
