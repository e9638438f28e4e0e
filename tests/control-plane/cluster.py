"""The cluster of one test: GPU nodes and pods on the API server, our service with the same cluster in a file, and a kube-scheduler that calls
our service.

Create nodes and running pods, then start(), then pods to be scheduled. The service's ledger comes from the file: it does not see
later pods (kube-scheduler's own accounting does).
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
    """Objects shared by all clusters of a control plane."""
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
    """The condition PodScheduled; {} if absent."""
    conditions = pod_object["status"].get("conditions", [])
    return next((condition for condition in conditions if condition["type"] == "PodScheduled"), {})


def is_refused(pod_object):
    """Whether kube-scheduler found no node. It retries only after an event."""
    return scheduled(pod_object).get("reason") == "Unschedulable"


def is_undecided(pod_object):
    """Whether kube-scheduler failed to decide because an extender returned an error. It retries by itself."""
    return scheduled(pod_object).get("reason") == "SchedulerError"


class Cluster:
    """A context manager. Removes what it created, so that the next one starts empty."""

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
        """changes: of the extender's configuration. A service with a file cannot bind: kube-scheduler does."""
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
        """The pod's node, once bound."""
        bound = self.api.wait_for(PODS, f"metadata.name={name}", lambda seen: seen["spec"].get("nodeName"))
        return bound["spec"]["nodeName"]

    def refusal_of(self, name):
        """The pod's condition, once rejected."""
        return scheduled(self.api.wait_for(PODS, f"metadata.name={name}", is_refused))

    def error_of(self, name):
        """The pod's condition, once undecided."""
        return scheduled(self.api.wait_for(PODS, f"metadata.name={name}", is_undecided))

    def event_of(self, name, reason):
        """Message of the pod's first event with that reason, once it exists. (Later failures may be counted in the same event, whatever
        their message.)"""
        event = self.api.wait_for(EVENTS, f"involvedObject.name={name}", lambda seen: seen["reason"] == reason)
        return event["message"]

    def changes_of(self, name, seconds):
        """The pod's states that the API server sends within that time, the present one first."""
        return [state for _, state in self.api.watch(PODS, f"metadata.name={name}", seconds)]

    def filter_requests(self):
        """Number of filter calls from kube-scheduler."""
        return sum(map(int, FILTERED.findall(self.service.get("/metrics").text)))
