"""topology.levels: racks and blocks of nodes."""

import json

from objects import node

T4 = "Tesla-T4"
HEAD = "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\n"


def racked(name, gpus=8, **labels):
    return node(name, gpus, T4, metadata={"labels": labels})


def checked(run_binary, write, nodes, levels):
    policy = write("policy.yaml", f"{HEAD}topology: {{levels: {json.dumps(levels)}}}\n")
    cluster = write("cluster.json", json.dumps({"kind": "List", "apiVersion": "v1", "items": nodes}))
    done = run_binary("--config", policy, "--cluster-file", cluster, "--check")
    assert done.returncode == 0
    levels = [line for line in done.stdout.splitlines() if line.startswith("topology")]
    return levels, [line for line in done.stderr.splitlines() if "warning" in line]


def test_check_counts_the_domains_of_each_level(run_binary, write):
    nodes = [racked("a1", block="a", rack="a-1"), racked("a2", block="a", rack="a-2"), racked("b1", block="b"), racked("c1")]
    assert checked(run_binary, write, nodes, ["block", "rack"]) == (
        [
            "topology.levels: block: 2 domains, 2 of them with all GPUs free; 3 of 4 nodes are in one",
            "topology.levels: rack: 2 domains, 2 of them with all GPUs free; 2 of 4 nodes are in one",
        ],
        [],
    )
    assert checked(run_binary, write, nodes, []) == ([], [])


def test_check_warns_of_a_level_without_nodes_and_of_one_that_is_not_nested(run_binary, write):
    nodes = [racked("a1", block="a", rack="1"), racked("b1", block="b", rack="1")]
    _, warnings = checked(run_binary, write, nodes, ["block", "rack", "tray"])
    assert "topology.levels: rack is not nested in block: 1 of its values, such as 1, are in several of these, and each counts as several domains" in warnings[0]
    assert "topology.levels: no node has the label tray: the level has no effect" in warnings[1]
