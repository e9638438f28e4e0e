"""Pods arriving one after another, from a replayed trace (tests/bench/replay_run ... arrivals). Each is placed before too many others arrive;
a pod that does not fit is deleted.

Nodes and pods as in tests/bench/trace.h; independent of the deciding program.
"""

import csv
import os
import threading
import time

from api import LIMIT_S
from cluster import GPU, PODS, is_refused
from live import RUN_BY_KWOK, node_name

MODEL_LABEL = "accelerator"
UNTIL_THE_END_S = 3600


def nodes_of(folder):
    """The node objects of a trace."""
    with open(os.path.join(folder, "openb_node_list_gpu_node.csv"), encoding="utf-8", newline="") as file:
        return [node(row) for row in csv.DictReader(file)]


def node(row):
    has = {"cpu": f"{row['cpu_milli']}m", "memory": f"{row['memory_mib']}Mi", "pods": "1000", GPU: row["gpu"]}
    labels = {"kubernetes.io/hostname": row["sn"], MODEL_LABEL: row["model"]}
    return {
        "metadata": {"name": row["sn"], "labels": labels, "annotations": RUN_BY_KWOK},
        "status": {"capacity": has, "allocatable": has, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def gpus_of(item):
    return int(item["status"]["allocatable"][GPU])


def pod(name, arrival):
    needs = {"cpu": f"{arrival['milliCores']}m", "memory": str(arrival["memoryBytes"])}
    if arrival["gpus"]:
        needs[GPU] = str(arrival["gpus"])
    spec = {"containers": [{"name": "main", "image": "example.com/none:1", "resources": {"requests": needs, "limits": needs}}]}
    if arrival["models"]:
        wanted = {"key": MODEL_LABEL, "operator": "In", "values": arrival["models"].split("|")}
        terms = {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}
        spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    return {"metadata": {"name": name}, "spec": spec}


class Arrivals(threading.Thread):
    """send() creates the pods, while a watch learns their nodes. ahead: most pods that have arrived but are undecided. before_each:
    called before each arrival."""

    def __init__(self, api, ahead, before_each=lambda: None):
        super().__init__(daemon=True)
        self.api, self.room, self.before_each = api, threading.Semaphore(ahead), before_each
        self.nodes = {}  # node of each decided pod; "" for none
        self.refused = set()
        self.n_left = 0
        self.since = api.get(PODS)["metadata"]["resourceVersion"]

    def send(self, arrivals):
        """Returns the node of each pod ("" for none), and the duration in seconds. They arrive in this order, and kube-scheduler takes
        the earliest first."""
        begin = time.monotonic()
        self.n_left = len(arrivals)
        self.start()
        with self.api._connection() as connection:
            for i, arrival in enumerate(arrivals):
                assert self.room.acquire(timeout=LIMIT_S), f"pod {i} of {len(arrivals)}: none was decided for {LIMIT_S} s"
                self.before_each()
                self.api._send(connection, "POST", PODS, pod(f"pod-{i}", arrival), "application/json").read()
        self.join(LIMIT_S)
        assert self.n_left == 0, f"{self.n_left} of {len(arrivals)} pods were not decided in {LIMIT_S} s"
        return [self.nodes[f"pod-{i}"] for i in range(len(arrivals))], time.monotonic() - begin

    def run(self):
        for kind, item in self.api.watch(PODS, "", UNTIL_THE_END_S, self.since):
            self.learn(kind, item)
            if self.n_left == 0:
                return

    def learn(self, kind, item):
        """A pod that does not fit is decided once it is deleted: until then it counts as waiting."""
        name = item["metadata"]["name"]
        if name in self.nodes:
            return
        if node_name(item) or kind == "DELETED":
            self.nodes[name] = node_name(item) or ""
            self.n_left -= 1
            self.room.release()
        elif name not in self.refused and is_refused(item):
            self.refused.add(name)
            self.api.delete(f"{PODS}/{name}")
