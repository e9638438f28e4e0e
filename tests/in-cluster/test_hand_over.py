"""Who answers the verbs ends while pods are scheduled: none is lost, and no GPU is given twice."""

import time

import pytest
from callers import Asking
from cluster import NODES, PODS, node, pod
from live import BOUND_BY, RUN_BY_KWOK, bound, node_name

FAKE = {"key": "kwok.x-k8s.io/node", "value": "fake", "effect": "NoSchedule"}
N_NODES, GPUS = 20, 8
N_PODS = N_NODES * GPUS
RESTART_S = 10  # of the container, and until it is ready


@pytest.fixture(scope="module")
def gpu_nodes(ours):
    nodes = [node(f"gpu-{number}", "NVIDIA-H100-80GB-HBM3", GPUS) for number in range(N_NODES)]
    for each in nodes:
        each["metadata"]["annotations"] = RUN_BY_KWOK
        each["spec"] = {"taints": [FAKE]}
    ours.api.create_all(NODES, nodes)
    ours.api.wait_for_all(NODES, lambda items: not [each for each in items.values() if each["spec"].get("taints", [FAKE]) != [FAKE]])


@pytest.fixture
def burst(ours, gpu_nodes):
    """As many pods as there are GPUs, made at once; gone afterwards."""

    def start():
        tolerations = [{**FAKE, "operator": "Equal"}]
        ours.api.create_all(PODS, [pod(f"burst-{number}", 1, tolerations=tolerations) for number in range(N_PODS)])

    yield start
    ours.api.delete_all(PODS)
    ours.api.wait_for_all(PODS, lambda items: not items)


def wait_until_bound(ours, count):
    return ours.api.wait_for_all(PODS, lambda items: len(bound(items)) >= count, lambda items: f"{len(bound(items))} are bound")


def everything_is_bound_once(ours):
    """All pods by ours; of every GPU one holder, by the API server's word."""
    pods = wait_until_bound(ours, N_PODS).values()
    assert not [item["metadata"]["name"] for item in pods if BOUND_BY not in item["metadata"]["annotations"]]
    used = ours.used()
    assert {name: n for name, n in used.items() if n} == {f"gpu-{number}": GPUS for number in range(N_NODES)}


def hand_over(ours, change, limit_s, what):
    """Does change() when a third of the pods is bound, and prints for how long nobody answered the verbs."""
    before = ours.leader()
    with Asking(ours.verbs(patience_s=1)) as asking:
        wait_until_bound(ours, N_PODS // 3)
        since = time.monotonic()
        change(before)
        wait_until_bound(ours, N_PODS)
        ours.wait_until_rolled_out()
    silence_s = asking.longest_silence_s(since)
    print(f"\n{what}: the verbs were not answered for {silence_s:.1f} s; all pods were bound {time.monotonic() - since:.1f} s later")
    assert silence_s <= limit_s


def test_both_replicas_are_on_the_real_node(ours):
    assert [node_name(replica) for replica in ours.replicas()] == ["real", "real"]


def test_a_burst_is_bound(ours, burst):
    burst()
    everything_is_bound_once(ours)


def test_the_leader_is_killed_in_a_burst(ours, burst):
    burst()
    hand_over(ours, ours.kill, RESTART_S, "killed (-9)")
    everything_is_bound_once(ours)
