"""Verbs move from one replica to another during scheduling: no pod is lost, and no GPU is assigned twice."""

import time

import gpus
import pytest
from api import wait_until
from callers import SLACK_S, Asking
from live import BOUND_BY, node_name
from ours import LEASES, NAME
from real import is_ready
from replicas import LEASE_S

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
    silence of the verbs, and the seconds until all pods were bound."""
    ours.keep_logs()
    version = ours.api.get(LEASES)["metadata"]["resourceVersion"]
    with Asking(ours.verbs(patience_s=1)) as asking:
        make(range(N_PODS // 2))
        gpus.wait_until_bound(ours.api, N_PODS // 4)
        since = time.monotonic()
        change(ours.leader())
        ours.keep_logs()
        make(range(N_PODS // 2, N_PODS))
        gpus.wait_until_bound(ours.api, N_PODS)
        bound_s = time.monotonic() - since
        ours.thaw()
        ours.wait_until_rolled_out()
        ours.keep_logs()
    assert ours.takings(version) == []
    return asking.longest_silence(since), bound_s


def judge(ours, viewer, hand_over_of, limit_s, tell):
    """hand_over_of: result of hand_over(). tell(text): prints."""
    silence, bound_s = hand_over_of
    n_replicas = everything_is_bound_once(ours, viewer)
    tell(f"no answer for {silence.seconds:.1f} s; {N_PODS} pods bound in {bound_s:.1f} s, by {n_replicas} replicas")
    assert silence.seconds <= limit_s, silence
    assert n_replicas >= 2


def test_both_replicas_are_on_the_real_node(ours):
    assert [node_name(replica) for replica in ours.replicas()] == ["real", "real"]


def test_as_many_pods_as_there_are_gpus(ours, viewer, make):
    make(range(N_PODS))
    assert everything_is_bound_once(ours, viewer) == 1


@pytest.mark.parametrize(
    "what, limit_s", [("kill", LEASE_S + SLACK_S), ("freeze", LEASE_S + SLACK_S), ("delete", SLACK_S), ("roll", SLACK_S)]
)
def test_a_leader_goes_while_pods_are_bound(ours, viewer, make, what, limit_s, record_property):
    handed_over = hand_over(ours, make, getattr(ours, what))
    judge(ours, viewer, handed_over, limit_s, lambda text: record_property(f"hand-over: {what} the leader", text))


def test_a_drain_takes_one_replica_after_the_other(ours, viewer, make, record_property):
    """By the Eviction API, like kubectl drain; a rejected eviction is retried, here at once. The second one leads after the first."""
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
    # They are so close together that kube-proxy may be late for both.
    judge(ours, viewer, handed_over, 3 + SLACK_S, lambda text: record_property(f"hand-over: drain, {n_refused} evictions refused meanwhile", text))
