"""placement.replicaSpread on a small trace: a service's replicas are not on one node, at hardly any cost in GPUs.

docs/PLACEMENT.md has the same for the public trace (tests/bench/replay services).
"""

import json
import os
import re
import statistics
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REPLAY_RUN = os.path.join(ROOT, "build/test/tests/bench/replay_run")
SEEDS = range(1, 9)
# cpu_milli, memory_mib, gpu, model; number of nodes
NODES = [("96000", "393216", 8, "G2", 30), ("64000", "262144", 2, "P100", 10), ("96000", "262144", 2, "T4", 10), ("96000", "524288", 4, "V100M32", 5)]
# cpu_milli, memory_mib, num_gpu, gpu_milli, gpu_spec; weight
PODS = [
    ("8000", "32768", "1", "1000", "", 30),
    ("4000", "16384", "1", "500", "", 30),
    ("6000", "24576", "1", "1000", "T4", 5),
    ("12000", "49152", "2", "1000", "", 5),
    ("32000", "131072", "4", "1000", "", 2),
    ("64000", "262144", "8", "1000", "", 6),
    ("12000", "16384", "0", "0", "", 8),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("trace")
    nodes = [f"{model}-{i},{cpu},{memory},{gpus},{model}" for cpu, memory, gpus, model, n in NODES for i in range(n)]
    pods = [f"pod,{','.join(pod)}" for *pod, n in PODS for _ in range(n)]
    (path / "openb_node_list_gpu_node.csv").write_text("\n".join(["sn,cpu_milli,memory_mib,gpu,model", *nodes, ""]))
    (path / "openb_pod_list_small.csv").write_text("\n".join(["name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec", *pods, ""]))
    return path


def shipped():
    with open(os.path.join(ROOT, "config/scheduler-policy.yaml"), encoding="utf-8") as file:
        (weight,) = re.findall(r"^  replicaSpread: (\S+)$", file.read(), re.MULTILINE)
    return float(weight)


@pytest.fixture(scope="module")
def measured(folder):
    """Returns measured(weight): over all seeds, the percentage of services on one node, and GPUs allocated at 100 % of arrived load."""

    def measure(weight):
        results = [static(folder, seed, f"{weight * 1000:.0f}") for seed in SEEDS]
        on_one = 100 * sum(result["onOneNode"] for result in results) / sum(result["services"] for result in results)
        return on_one, statistics.mean(result["allocated"][0] for result in results)

    return measure


def static(folder, seed, *more):
    return replay(folder, seed, "static", *more)


def replay(folder, seed, *more):
    command = [REPLAY_RUN, folder, "small", "slot-price", "141", str(seed), *more]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def test_services_are_spread_and_large_pods_still_fit(measured):
    on_one_without, allocated_without = measured(0)
    on_one, allocated = measured(shipped())
    assert on_one_without > 35  # otherwise the test shows nothing
    assert on_one < 10  # 33 at half the weight
    assert allocated > allocated_without - 0.2  # 0.3 less at ten times the weight


def test_services_are_created_only_on_request(folder):
    assert static(folder, 1)["services"] == 0


def test_groups_by_each_rule(folder):
    alone, session, quota, plan = (replay(folder, 1, "groups", rule) for rule in ("alone", "session", "quota", "plan"))
    assert alone["groups"] == session["groups"] == quota["groups"] == plan["groups"] > 20  # the same arrivals
    assert session["kept"] == 0  # all pods of a group at one time
    assert 0 < plan["kept"] < 0.1  # until kube-scheduler has bound them
    assert quota["kept"] > plan["kept"]
    assert alone["kept"] > 5  # groups that have half of their nodes
    assert alone["groupsWait"] > 1.3 * plan["groupsWait"]
