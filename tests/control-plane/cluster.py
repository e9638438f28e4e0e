"""One test's cluster: GPU nodes and pods on the API server, our service over a file that says the same, and a kube-scheduler that
asks our service.

First the nodes and the pods that run already, then start(), then the pods that are to be scheduled. The service's ledger is
the file's: it does not see the pods that come later (kube-scheduler's own accounting does).
"""

import contextlib
import json
import os
import re

import yaml
from service import Service

MANIFESTS = os.path.join(os.path.dirname(__file__), "..", "..", "manifests")
SHIPPED = "kube-scheduler-config.yaml"

NAMESPACE = "/api/v1/namespaces/gpu"
PODS, EVENTS, NODES = f"{NAMESPACE}/pods", f"{NAMESPACE}/events", "/api/v1/nodes"
GPU = "nvidia.com/gpu"
ABOVE = "above-the-others"  # a priority class
NOT_WANTED = "gpu-extender: the node's GPU model is not one that the pod asks for"
FILTERED = re.compile(r'^gpu_extender_http_requests_total\{route="filter",.*\} (\d+)$', re.MULTILINE)


def prepare(api):
    """What all clusters of a control plane share."""
    api.create("/api/v1/namespaces", {"metadata": {"name": "gpu"}})
    api.create("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": ABOVE}, "value": 1000})


def node(name, model, gpus):
    has = {"cpu": "16", "memory": "64Gi", "pods": "110", GPU: str(gpus)}
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "nvidia.com/gpu.product": model}},
        "status": {"capacity": has, "allocatable": has, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def pod(name, gpus, cpu="100m", models=None, priority_class=None, node_name=None, **more):
    """more: of the spec."""
    needs = {"cpu": cpu, **({GPU: str(gpus)} if gpus else {})}
    spec = {"containers": [{"name": "main", "image": "example.com/none:1", "resources": {"requests": needs, "limits": needs}}]}
    if priority_class:
        spec["priorityClassName"] = priority_class
    if node_name:
        spec["nodeName"] = node_name
    spec.update(more)
    annotations = {"gpu-extender.io/models": models} if models else {}
    return {"metadata": {"name": name, "annotations": annotations}, "spec": spec}


def configuration(address, shipped=SHIPPED, scheme="http", **changes):
    """A file of manifests/ with the service's address. changes: of its extender."""
    with open(os.path.join(MANIFESTS, shipped), encoding="utf-8") as file:
        whole = yaml.safe_load(file)
    (extender,) = whole["extenders"]
    extender.update(changes, urlPrefix=f"{scheme}://{address}/scheduler")
    return whole


def scheduled(pod_object):
    """The condition PodScheduled, or {} before there is one."""
    conditions = pod_object["status"].get("conditions", [])
    return next((condition for condition in conditions if condition["type"] == "PodScheduled"), {})


def is_refused(pod_object):
    """Whether kube-scheduler says that no node will do. It asks again only when something happens."""
    return scheduled(pod_object).get("reason") == "Unschedulable"


def is_undecided(pod_object):
    """Whether it says that it could not find out, as who was to be asked gave an error. That is no refusal: it asks again by itself."""
    return scheduled(pod_object).get("reason") == "SchedulerError"


class Cluster:
    """A context manager. What it made is gone afterwards, so that the next one finds nothing."""

    def __init__(self, plane, name):
        self.plane, self.api, self.name = plane, plane.api, name
        self.ends = contextlib.ExitStack()
        self.service = None

    def __enter__(self):
        self.ends.callback(self.api.delete_all, EVENTS)
        self.ends.callback(self.api.delete_all, NODES)
        self.ends.callback(self.api.delete_all, PODS)
        return self

    def __exit__(self, *failure):
        return self.ends.__exit__(*failure)

    def add_node(self, name, model, gpus):
        self.api.create(NODES, node(name, model, gpus))

    def add_running(self, name, node_name, gpus, cpu="100m"):
        self.api.create(PODS, pod(name, gpus, cpu, node_name=node_name))
        self.api.merge(f"{PODS}/{name}/status", {"status": {"phase": "Running"}})

    def start(self, **changes):
        """changes: of the extender's configuration. Over a file nothing can be bound: kube-scheduler does."""
        self.service = Service("--cluster-file", self._write_file())
        self.ends.callback(self.service.stop)
        shipped = configuration(self.service.address, **{"bindVerb": "", **changes})
        scheduler = self.plane.start_scheduler(f"kube-scheduler-{self.name}", shipped)
        self.ends.callback(scheduler.kill)

    def _write_file(self):
        items = [
            {"apiVersion": "v1", "kind": kind, **item}
            for kind, path in (("Node", NODES), ("Pod", PODS))
            for item in self.api.get(path)["items"]
        ]
        whole = {"apiVersion": "v1", "kind": "List", "items": items}
        return self.plane.write(f"cluster-{self.name}.json", json.dumps(whole))

    def create(self, name, gpus, **more):
        self.api.create(PODS, pod(name, gpus, **more))

    def node_of(self, name):
        """The node's name, once the pod is bound."""
        bound = self.api.wait_for(PODS, f"metadata.name={name}", lambda seen: seen["spec"].get("nodeName"))
        return bound["spec"]["nodeName"]

    def refusal_of(self, name):
        """The condition of the pod, once it is refused."""
        return scheduled(self.api.wait_for(PODS, f"metadata.name={name}", is_refused))

    def error_of(self, name):
        """The condition of the pod, once it is undecided."""
        return scheduled(self.api.wait_for(PODS, f"metadata.name={name}", is_undecided))

    def event_of(self, name, reason):
        """The message of the pod's first event of that reason, once there is one. (Failures that come later may be counted with it, whatever
        they say.)"""
        event = self.api.wait_for(EVENTS, f"involvedObject.name={name}", lambda seen: seen["reason"] == reason)
        return event["message"]

    def changes_of(self, name, seconds):
        """The pod's states that the API server tells within the time, the present one first."""
        return [state for _, state in self.api.watch(PODS, f"metadata.name={name}", seconds)]

    def filter_requests(self):
        """How often kube-scheduler has asked our filter."""
        return sum(map(int, FILTERED.findall(self.service.get("/metrics").text)))
