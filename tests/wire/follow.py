"""The service following a fake API server, compared with the objects of that server.

Waits poll what the service reports (metrics, /readyz, /v1/inventory) and end as soon as the condition holds.
"""

import json
import os
import re

from objects import GPU
from service import BINARY, LITTLE_QUARANTINE, Service

SAMPLE = re.compile(r"^([a-z_]+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)
LABEL = re.compile(r'([a-z]+)="([^"]*)"')
# The silence of a watch: no test but one about silence reaches it, however slow the machine is.
LONG_SILENCE_S = 600
# The minimum that the policy allows.
SILENCE_S = 5
# A binding that should succeed has this time. After its start the service holds bindings for it and one second more.
BIND_S = 5
# More of the policy: one of several replicas. The Lease outlasts such a binding.
ELECTION = {"leaderElection": {"enabled": True, "namespace": "gpus", "serviceName": "", "leaseDurationSeconds": 60, "renewDeadlineSeconds": 40}}
# The log message once bindings of a predecessor can no longer take effect.
SENT = "bindings are sent from now on"
# The service repeats a request once a delay has passed since the answer. A request is recorded before it is answered, so recorded times
# are never closer together than the delay, however slow the machine is. Only the service's clock lacks up to a millisecond at each end.
ROUNDED_S = 0.002
OBJECT_BYTES = 4 * 1024 * 1024
# Of resident memory, beyond what was there when all was well first: sanitizers keep some of what was freed.
BACK_BYTES = 96 * 1024 * 1024


def tells_memory(binary):
    """ThreadSanitizer keeps shadow memory of everything touched, so memory in use cannot be measured."""
    with open(binary, "rb") as file:
        return b"__tsan_init" not in file.read()


TELLS_MEMORY = tells_memory(BINARY)


def policy(more=None, **kubernetes):
    sections = {
        "kubernetes": {"watchSilenceSeconds": LONG_SILENCE_S, "bindTimeoutSeconds": BIND_S, **kubernetes},
        "scheduler": {"httpTimeoutSeconds": 120},
        "limits": {"objectBytes": OBJECT_BYTES},
    }
    return json.dumps({"apiVersion": "gpu-extender.io/v1alpha1", "kind": "SchedulerPolicy", **sections, **(more or {})})


def gpus_of(pod):
    return sum(int(box["resources"]["limits"].get(GPU, 0)) for box in pod["spec"]["containers"])


def holders(pods):
    return {pod["metadata"]["uid"]: (pod["metadata"]["namespace"], pod["metadata"]["name"], gpus_of(pod)) for pod in pods}


class Follower(Service):
    """A service over `api`. `folder` is for its files. ready False: it is not waited for. kubeconfig: its text, if not the usual one.
    more: members of the policy."""

    def __init__(self, api, folder, *options, ready=True, kubeconfig=None, more=None, under=(), **kubernetes):
        config, there = folder / "policy.yaml", folder / "kubeconfig"
        config.write_text(policy(more, **kubernetes), encoding="utf-8")
        there.write_text(kubeconfig or api.kubeconfig(), encoding="utf-8")
        self.api, self.ready, self.calm = api, ready, None
        super().__init__("--kubeconfig", there, "--config", config, *options, env=LITTLE_QUARANTINE, under=under)

    def _wait_until_ready(self):
        if self.ready:
            super()._wait_until_ready()

    def metric(self, name, without=(), **labels):
        """The sum over all samples that have these labels, and none of the pairs in without."""
        total, found = 0.0, SAMPLE.findall(self.get("/metrics").text)
        assert len({sample[:2] for sample in found}) == len(found), "a sample is there twice"
        for text, value in ((text, value) for sample, text, value in found if sample == name):
            given = dict(LABEL.findall(text)).items()
            if labels.items() <= given and not set(without) & set(given):
                total += float(value)
        return total

    def relists(self, kind="pods", **labels):
        """Excludes the relist after every start, before the first binding (cause "behind")."""
        without = () if labels else [("cause", "behind")]
        return self.metric("gpu_extender_watch_relists_total", without, kind=kind, **labels)

    def freshness(self, kind="pods"):
        """The state of a kind's watch in /v1/inventory."""
        kinds = {item["kind"]: item for item in self.get("/v1/inventory").json()["freshness"]}
        return kinds[kind]

    def truth(self):
        """The truth from the API server's objects: each node's GPUs and the pods that hold them, and the pods without a node."""
        pods = [pod for pod in self.api.store.all("pods") if pod["status"]["phase"] not in ("Succeeded", "Failed")]
        nodes = {
            node["metadata"]["name"]: (
                int(node["status"]["allocatable"][GPU]),
                holders(pod for pod in pods if pod["spec"].get("nodeName") == node["metadata"]["name"]),
            )
            for node in self.api.store.all("nodes")
        }
        return nodes, {pod["metadata"]["uid"] for pod in pods if not pod["spec"].get("nodeName")}

    def ledger(self):
        """The same as the service reports it. It lists pods without a node only once it is ready."""
        nodes = {}
        for node in self.get("/v1/inventory").json()["nodes"]:
            amounts = node["resources"][GPU]
            held = {pod["uid"]: (pod["namespace"], pod["pod"], pod["gpus"][GPU]) for pod in node["holders"]}
            assert amounts["used"] == sum(gpus for _, _, gpus in held.values())
            nodes[node["name"]] = amounts["allocatable"], held
        return nodes, {pod["uid"] for pod in self.get("/v1/pending").json().get("pods", [])}

    def is_clean(self):
        """Whether no request is in progress and no fault is active."""
        inventory = self.get("/v1/inventory").json()
        open_ = self.metric("gpu_extender_reservations_open") + self.metric("gpu_extender_bind_attempts_open")
        return inventory["usable"] and not inventory["problems"] and open_ == 0 and self.get("/readyz").status == 200

    def settle(self):
        """Until the ledger is the API server's truth, object by object, and nothing is left of what went wrong: no reservation, no
        problem, no difference found by the self-check, no thread, no memory."""
        self.wait("the ledger is the truth", lambda: self.ledger() == self.truth(), lambda: f"{self.ledger()}\n{self.truth()}")
        self.wait("nothing is open", self.is_clean, lambda: self.get("/v1/inventory").text)
        n_pods = sum(1 for pod in self.api.store.all("pods") if pod["status"]["phase"] not in ("Succeeded", "Failed"))
        assert self.metric("gpu_extender_pods") == n_pods
        assert self.metric("gpu_extender_self_check_differences_total") == 0
        self.calm = self.calm or (self.threads(), self.memory("VmRSS"))
        assert self.threads() == self.calm[0]
        assert not TELLS_MEMORY or self.memory("VmRSS") < self.calm[1] + BACK_BYTES

    def wait_until_it_binds(self):
        """After its start the service holds bindings and usually relists the pods. The newest watch stays."""
        self.log.wait_for({"msg": SENT})
        self.wait(
            "the watch after that list is open",
            lambda: sum(1 for stream in self.api.streams if stream.kind == "pods") > self.relists(cause="behind"),
        )

    def threads(self):
        return len(os.listdir(f"/proc/{self.process.pid}/task"))

    def bind(self, pod, node):
        """The error, or None."""
        self.wait_until_it_binds()
        metadata = pod["metadata"]
        names = {"PodName": metadata["name"], "PodNamespace": metadata["namespace"], "PodUID": metadata["uid"]}
        answer = self.post("/scheduler/bind", {**names, "Node": node})
        assert answer.status == 200, answer
        return answer.json().get("Error") or None
