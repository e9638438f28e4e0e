"""The verbs go from one replica to the next while pods are scheduled: none is lost, and no GPU is given twice."""

import time

import gpus
import pytest
from callers import Asking
from live import BOUND_BY, node_name

N_PODS = gpus.N_NODES * gpus.EACH
# Ours is to be 3 s; kube-proxy may add one, and this is one machine with a whole cluster on it.
LEASE_S, SLACK_S = 15, 3 + 2


def everything_is_bound_once(ours, viewer):
    """All pods by ours; of every GPU one holder, by the API server's and by every replica's word. Returns how many replicas bound."""
    pods = gpus.wait_until_bound(ours.api, N_PODS).values()
    by = {item["metadata"]["annotations"][BOUND_BY] for item in pods}
    used = ours.used(viewer)
    assert {name: n for name, n in used.items() if n} == {f"gpu-{number}": gpus.EACH for number in range(gpus.N_NODES)}
    return len(by)


def hand_over(ours, make, change):
    """As many pods as there are GPUs, in two bursts: change(the leader's pod) comes in the first and before the second. For how many seconds nobody
    answered the verbs, and how long it took until all were bound."""
    with Asking(ours.verbs(patience_s=1)) as asking:
        make(range(N_PODS // 2))
        gpus.wait_until_bound(ours.api, N_PODS // 4)
        since = time.monotonic()
        change(ours.leader())
        make(range(N_PODS // 2, N_PODS))
        gpus.wait_until_bound(ours.api, N_PODS)
        bound_s = time.monotonic() - since
        ours.thaw()
        ours.wait_until_rolled_out()
    return asking.longest_silence_s(since), bound_s


def test_both_replicas_are_on_the_real_node(ours):
    assert [node_name(replica) for replica in ours.replicas()] == ["real", "real"]


def test_as_many_pods_as_there_are_gpus(ours, viewer, make):
    make(range(N_PODS))
    assert everything_is_bound_once(ours, viewer) == 1


@pytest.mark.parametrize(
    "what, limit_s", [("kill", LEASE_S + SLACK_S), ("freeze", LEASE_S + SLACK_S), ("delete", SLACK_S), ("roll", SLACK_S)]
)
def test_a_leader_goes_while_pods_are_bound(ours, viewer, make, what, limit_s, record_property):
    silence_s, bound_s = hand_over(ours, make, getattr(ours, what))
    n_replicas = everything_is_bound_once(ours, viewer)
    text = f"no answer for {silence_s:.1f} s; {N_PODS} pods bound in {bound_s:.1f} s, by {n_replicas} replicas"
    record_property(f"hand-over: {what} the leader", text)
    assert silence_s <= limit_s and n_replicas >= 2
