"""The benchmarks' replay of a trace equals a real control plane, so it represents kube-scheduler with our service."""

import json
import os
import subprocess

import cluster as clusters
from arrivals import Arrivals, nodes_of
from service import ROOT

REPLAY_RUN = os.path.join(ROOT, "build/test/tests/bench/replay_run")
ALL_PODS = "kube-scheduler-config-all-pods.yaml"
# cpu_milli, memory_mib, gpu, model; number of nodes
NODES = [("96000", "393216", 8, "G2", 10), ("64000", "262144", 2, "P100", 12), ("96000", "524288", 4, "V100M32", 10), ("32000", "131072", 1, "T4", 28)]
# cpu_milli, memory_mib, num_gpu, gpu_milli, gpu_spec: equally likely
PODS = [
    ("8000", "32768", "1", "1000", ""),
    ("4000", "16384", "1", "500", ""),
    ("16000", "65536", "2", "1000", ""),
    ("64000", "262144", "8", "1000", ""),
    ("6000", "24576", "1", "1000", "V100M32"),
    ("12000", "49152", "2", "1000", "P100|V100M32"),
    ("4000", "8192", "1", "1000", "T4"),
    ("12000", "16384", "0", "0", ""),
]


def write_trace(folder):
    rows = [(*node[:4], number) for *node, count in NODES for number in range(count)]
    lines = [f"{model.lower()}-{number},{cpu},{memory},{gpus},{model}\n" for cpu, memory, gpus, model, number in rows]
    (folder / "openb_node_list_gpu_node.csv").write_text("sn,cpu_milli,memory_mib,gpu,model\n" + "".join(lines))
    lines = [f"pod-{i},{','.join(pod)}\n" for i, pod in enumerate(PODS)]
    (folder / "openb_pod_list_small.csv").write_text("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n" + "".join(lines))


def replayed(folder):
    command = [REPLAY_RUN, str(folder), "small", "slot-price", "141", "1", "arrivals"]
    return [json.loads(line) for line in subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()]


def test_pods_of_a_trace_go_where_the_replay_has_them_go(live, tmp_path):
    """Each pod arrives when our ledger has seen all earlier ones, because existing pods affect the price."""
    write_trace(tmp_path)
    expected = replayed(tmp_path)
    assert {"", *(node["metadata"]["name"] for node in nodes_of(tmp_path))} > {arrival["node"] for arrival in expected} > {""}
    live.api.create_all(clusters.NODES, nodes_of(tmp_path))
    live.start(shipped=ALL_PODS)
    live.wait_until_told()
    nodes, _ = Arrivals(live.api, ahead=1, before_each=live.wait_until_told).send(expected)
    assert nodes == [arrival["node"] for arrival in expected]
