"""Replays a trace's arrivals on a real control plane: etcd, kube-apiserver, kube-scheduler, KWOK, and the release build as extender.

For tests/bench/replay, which explains the figures.
"""

import os
import subprocess
import sys
import tempfile

from report import table

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "tests/control-plane"), os.path.join(ROOT, "tests/wire")]
os.environ.setdefault("GPU_EXTENDER", os.path.join(ROOT, "build/bench/gpu-extender"))

import cluster as clusters  # noqa: E402
from arrivals import Arrivals, gpus_of, nodes_of  # noqa: E402
from live import LiveCluster  # noqa: E402
from plane import Plane  # noqa: E402

ALL_PODS = "kube-scheduler-config-all-pods.yaml"
POLICIES = {"slot-price": "the shipped policy", "kube": "kube-scheduler without us"}


def start(live, policy, shipped):
    """Starts kube-scheduler, and our service unless kube-scheduler decides alone."""
    if policy == "slot-price":
        live.start(shipped=shipped)
        live.wait_until_told()
        return
    alone = clusters.configuration("127.0.0.1:1", shipped)
    del alone["extenders"]
    scheduler = live.plane.start_scheduler("kube-scheduler-alone", alone)
    live.ends.callback(scheduler.kill)


def measure(given, policy, arrivals):
    """Returns (node of each pod, seconds), measured on a new control plane."""
    build = subprocess.run([os.path.join(ROOT, "tests/control-plane/build")], stdout=subprocess.PIPE, text=True, check=True)
    with tempfile.TemporaryDirectory(prefix="replay-") as folder, Plane(build.stdout.strip().split("\n")[-1], folder) as plane:
        clusters.prepare(plane.api)
        plane.start_kwok()
        with LiveCluster(plane, "replay") as live:
            live.api.create_all(clusters.NODES, nodes_of(given.folder))
            start(live, policy, given.configuration)
            return Arrivals(live.api, given.ahead).send(arrivals)


def percent(gpus, arrivals, nodes):
    """Allocated share of the GPUs."""
    return 100 * sum(arrival["gpus"] for arrival, node in zip(arrivals, nodes) if node) / gpus


def print_cluster(given, arrivals_of):
    """arrivals_of(policy, seed): the pods, and their nodes in the replay."""
    gpus = sum(map(gpus_of, nodes_of(given.folder)))
    rows = []
    for policy in given.policies:
        for seed in range(1, given.seeds + 1):
            arrivals = arrivals_of(policy, seed)
            nodes, seconds = measure(given, policy, arrivals)
            expected = [arrival["node"] for arrival in arrivals]
            same = sum(node == wanted for node, wanted in zip(nodes, expected))
            shares = [f"{percent(gpus, arrivals, each):.2f}" for each in (expected, nodes)]
            rows.append([policy, seed, len(arrivals), *shares, nodes.count(""), f"{100 * same / len(nodes):.1f}", f"{len(nodes) / seconds:.1f}"])
    table(["policy", "seed", "pods", "replay, %", "control plane, %", "refused", "on the replay's node, %", "pods/s"], rows)
