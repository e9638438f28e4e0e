"""Verbs move from one replica to another during scheduling: no pod is lost, and no GPU is assigned twice.

A replica that ends in order gives the Lease up; otherwise the Lease expires before another replica takes it. How long no verb was
answered is printed for docs/OPERATIONS.md.
"""

import time

import gpus
import pytest
from api import wait_until
from callers import Asking
from live import BOUND_BY, node_name
from ours import NAME, gave_up, is_taken
from real import is_ready

N_PODS = gpus.N_NODES * gpus.EACH
BUDGETS = f"/apis/policy/v1/namespaces/{NAME}/poddisruptionbudgets"


def name_of(item):
    return item["metadata"]["name"]


def ready(ours):
    """Names of ready replicas that are not being deleted."""
    return {name_of(replica) for replica in ours.replicas() if is_ready(replica) and "deletionTimestamp" not in replica["metadata"]}


def everything_is_bound_once(ours, viewer):
    """Our replicas bound all pods, and each GPU has one user according to the API server and every replica. Returns how many replicas
    bound."""
    pods = gpus.wait_until_bound(ours.api, N_PODS).values()
    by = {item["metadata"]["annotations"][BOUND_BY] for item in pods}
    used = ours.used(viewer)
    assert {name: n for name, n in used.items() if n} == {f"gpu-{number}": gpus.EACH for number in range(gpus.N_NODES)}
    return len(by)


def hand_over(ours, make, change):
    """Creates as many pods as GPUs, in two bursts; change(the leader's pod) runs during the first and before the second. Returns the
    silence of the verbs, the seconds until all pods were bound, and whether the leader gave the Lease up."""
    ours.keep_logs()
    lease = ours.lease()
    with Asking(ours.verbs(patience_s=1)) as asking:
        make(range(N_PODS // 2))
        gpus.wait_until_bound(ours.api, N_PODS // 4)
        since, leader = time.monotonic(), ours.leader()
        change(leader)
        ours.keep_logs()
        make(range(N_PODS // 2, N_PODS))
        gpus.wait_until_bound(ours.api, N_PODS)
        bound_s = time.monotonic() - since
        ours.thaw()
        ours.wait_until_rolled_out()
        ours.keep_logs()
    leases = ours.leases(lease)
    assert [writes for writes in leases if is_taken(*writes)] == []
    return asking.longest_silence(since), bound_s, name_of(leader) in gave_up(leases)


def judge(ours, viewer, hand_over_of, gives_up, tell):
    """hand_over_of: result of hand_over(). gives_up: whether the leader must have given the Lease up. tell(text): prints."""
    silence, bound_s, gave = hand_over_of
    n_replicas = everything_is_bound_once(ours, viewer)
    tell(f"no answer for {silence.seconds:.1f} s; {N_PODS} pods bound in {bound_s:.1f} s, by {n_replicas} replicas")
    assert gave or not gives_up, silence
    assert n_replicas >= 2


def test_both_replicas_are_on_the_real_node(ours):
    assert [node_name(replica) for replica in ours.replicas()] == ["real", "real"]


def test_burst_fills_all_gpus(ours, viewer, make):
    """By one replica, and one more for each time that a busy machine made the leader renew the Lease too late."""
    transitions = ours.lease()["spec"]["leaseTransitions"]
    make(range(N_PODS))
    n_replicas = everything_is_bound_once(ours, viewer)
    assert n_replicas <= 1 + ours.lease()["spec"]["leaseTransitions"] - transitions


@pytest.mark.parametrize("what, gives_up", [("kill", False), ("freeze", False), ("delete", True), ("roll", True)])
def test_leader_is_deleted_while_pods_are_bound(ours, viewer, make, what, gives_up, record_property):
    handed_over = hand_over(ours, make, getattr(ours, what))
    judge(ours, viewer, handed_over, gives_up, lambda text: record_property(f"hand-over: {what} the leader", text))


def test_drain_evicts_one_replica_at_a_time(ours, viewer, make, record_property):
    """Evicts both replicas, like kubectl drain, and retries a rejected eviction at once. The second replica leads after the first."""
    n_refused = 0

    def is_evicted(pod):
        nonlocal n_refused
        evicted = ours.evict(pod)
        n_refused += not evicted
        return evicted

    def drain(leader):
        before = ready(ours)
        assert is_evicted(leader) and len(before) == 2
        (other,) = [replica for replica in ours.replicas() if name_of(replica) in before - {name_of(leader)}]
        wait_until(lambda: is_evicted(other), lambda: f"{n_refused} evictions were refused")
        assert n_refused and len(ready(ours) - before) == 1, f"{n_refused} evictions were refused, and there were {before}, then {ready(ours)}"

    ours.api.wait_for(BUDGETS, f"metadata.name={NAME}", lambda budget: budget["status"]["disruptionsAllowed"] > 0)

    handed_over = hand_over(ours, make, drain)
    judge(ours, viewer, handed_over, True, lambda text: record_property(f"hand-over: drain, {n_refused} evictions refused meanwhile", text))
