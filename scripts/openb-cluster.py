#!/usr/bin/env python3
"""Makes examples/openb-cluster.json, a cluster of a few hundred nodes, from the openb trace of a real GPU cluster.

    scripts/openb-cluster.py FOLDER >examples/openb-cluster.json

FOLDER has openb_node_list_gpu_node.csv and openb_pod_list_gpuspec33.csv (Alibaba, 2023; Apache-2.0). The output is a List as
`kubectl get nodes,pods -A -o json` has it, one object a line, and the same for the same input.

* Nodes: of each model the first, the fifth, the ninth ...; a quarter of the trace.
* Pods, in the order of the trace: a pod with num_gpu of at least 1 takes that many whole GPUs (a share counts as one), pods
  without GPUs are left out. gpu_spec, the models that a pod accepts, becomes the annotation gpu-extender.io/models.
* Placement: each pod goes to the next node with room (GPUs, CPU, memory, model), beginning behind the node that was taken
  last, until 70 % of all GPUs are used. Pods that found no room on the way stay pending.
"""

import argparse
import csv
import datetime
import json
import os
import sys
import uuid

# The trace's names of models, as people write them. G2 and G3 are not told in the trace.
MODELS = {"A10": "A10", "P100": "P100", "T4": "T4", "V100M16": "V100-16GB", "V100M32": "V100-32GB", "G2": "G2", "G3": "G3"}
NODES_ONE_IN = 4
USED_PERCENT = 70
GPU = "nvidia.com/gpu"
BEGIN = datetime.datetime(2023, 1, 1, tzinfo=datetime.timezone.utc)


def rows(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def uid(name):
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{name}.openb.gpu-extender.io"))


def time_at(seconds):
    return (BEGIN + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


class Node:
    """A node of the trace, and what is still free on it."""

    def __init__(self, row):
        self.name, self.model = row["sn"], MODELS[row["model"]]
        self.gpus, self.cpu_milli, self.memory_mib = int(row["gpu"]), int(row["cpu_milli"]), int(row["memory_mib"])
        self.free = [self.gpus, self.cpu_milli, self.memory_mib]

    def take(self, pod):
        """Whether the pod fits; if so, it takes what it needs."""
        if pod.models and self.model not in pod.models:
            return False
        if any(free < need for free, need in zip(self.free, pod.needs)):
            return False
        self.free = [free - need for free, need in zip(self.free, pod.needs)]
        return True

    def manifest(self):
        has = {
            "cpu": f"{self.cpu_milli}m",
            "memory": f"{self.memory_mib}Mi",
            GPU: str(self.gpus),
            "pods": "110",
        }
        labels = {
            "kubernetes.io/hostname": self.name,
            "nvidia.com/gpu.count": str(self.gpus),
            "nvidia.com/gpu.product": self.model,
        }
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"creationTimestamp": time_at(0), "labels": labels, "name": self.name, "uid": uid(self.name)},
            "spec": {},
            "status": {
                "allocatable": has,
                "capacity": has,
                "conditions": [{"reason": "KubeletReady", "status": "True", "type": "Ready"}],
            },
        }


class Pod:
    """A pod of the trace. node is None while it has found no room."""

    def __init__(self, row):
        self.name, self.created_s = row["name"], int(row["creation_time"])
        self.needs = [int(row["num_gpu"]), int(row["cpu_milli"]), int(row["memory_mib"])]
        self.models = list(dict.fromkeys(MODELS[name] for name in row["gpu_spec"].split("|") if name))
        self.node = None

    def manifest(self):
        gpus, cpu_milli, memory_mib = self.needs
        needs = {"cpu": f"{cpu_milli}m", "memory": f"{memory_mib}Mi", GPU: str(gpus)}
        metadata = {
            "creationTimestamp": time_at(self.created_s),
            "name": self.name,
            "namespace": "openb",
            "uid": uid(self.name),
        }
        if self.models:
            metadata["annotations"] = {"gpu-extender.io/models": ", ".join(self.models)}
        container = {"image": "registry.example.com/openb:1", "name": "main", "resources": {"limits": needs, "requests": needs}}
        spec = {"containers": [container], "schedulerName": "default-scheduler"}
        if self.node:
            spec["nodeName"] = self.node.name
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata,
            "spec": spec,
            "status": {"phase": "Running" if self.node else "Pending"},
        }


def read_nodes(folder):
    """One of every NODES_ONE_IN nodes of each model, in the order of the file."""
    seen, found = {}, []
    for row in rows(folder, "openb_node_list_gpu_node.csv"):
        if seen.setdefault(row["model"], 0) % NODES_ONE_IN == 0:
            found.append(Node(row))
        seen[row["model"]] += 1
    return found


def read_pods(folder):
    return [Pod(row) for row in rows(folder, "openb_pod_list_gpuspec33.csv") if int(row["num_gpu"]) > 0]


def place(nodes, pods):
    """The pods that were looked at until enough GPUs were used; those that found room have their node."""
    wanted = sum(node.gpus for node in nodes) * USED_PERCENT // 100
    used, last = 0, 0
    for count, pod in enumerate(pods, 1):
        for step in range(1, len(nodes) + 1):
            at = (last + step) % len(nodes)
            if nodes[at].take(pod):
                pod.node, last, used = nodes[at], at, used + pod.needs[0]
                break
        if used >= wanted:
            return pods[:count]
    return pods


def write(objects, out):
    out.write('{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":""},"items":[\n')
    out.write(",\n".join(json.dumps(item, separators=(",", ":")) for item in objects))
    out.write("\n]}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("FOLDER")
    folder = parser.parse_args().FOLDER
    if not os.path.isdir(folder):
        parser.error(f"{folder} is no folder")
    nodes, pods = read_nodes(folder), read_pods(folder)
    pods = place(nodes, pods)
    write([item.manifest() for item in [*nodes, *pods]], sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
