"""Groups (gangs.mode: plan) whose pods are made by LeaderWorkerSet's real controller: untouched unless named, else whole."""

import pytest
from api import wait_until
from cluster import PODS, pod, prepare
from controllers import LEADER_WORKER_SETS, ControlledPlane, leader_worker_set
from live import LiveCluster, node_name
from test_gangs import JOBS, n_bound, plan, wait_for

STATEFUL_SETS = "/apis/apps/v1/namespaces/gpu/statefulsets"
OWNERS = (LEADER_WORKER_SETS, STATEFUL_SETS, JOBS)


@pytest.fixture(scope="module")
def controlled(programs, tmp_path_factory):
    with ControlledPlane(programs, tmp_path_factory.mktemp("controlled")) as running:
        prepare(running.api)
        running.start_kwok()
        running.start_lws()
        running.start_own()
        yield running


def clear(api):
    """Controllers make pods again until what owns them is gone."""

    def is_empty():
        for path in (*OWNERS, PODS):
            api.delete_all(path)
        return not any(api.get(path)["items"] for path in (*OWNERS, PODS))

    wait_until(is_empty, lambda: [item["metadata"] for item in api.get(PODS)["items"]])


@pytest.fixture
def live(controlled, name):
    with LiveCluster(controlled, name) as running:
        running.ends.callback(clear, running.api)
        yield running


def template(gpus, annotations, **labels):
    """Of a pod that ends at once."""
    made = pod("", gpus, terminationGracePeriodSeconds=0)
    return {**made, "metadata": {"annotations": annotations, "labels": labels}}


def create_set(live, name, replicas, size, startup="LeaderCreated", annotations=None):
    """A LeaderWorkerSet of pods with 4 GPUs: each replica is a leader, NAME-0, and its workers, NAME-0-1 and so on."""
    made = {"size": size, "workerTemplate": template(4, {})}
    live.api.create(LEADER_WORKER_SETS, leader_worker_set(name, annotations, replicas=replicas, startupPolicy=startup, leaderWorkerTemplate=made))


def bound_of_replicas(live, name, n):
    return [n_bound(live, f"{name}-{i}") for i in range(n)]


def assert_no_groups(live):
    assert live.service.get("/v1/groups").json()["groups"] == []
    assert live.metric("gpu_extender_group_plans_total") == 0


# ---- LeaderWorkerSets ----


@pytest.mark.parametrize("startup", ["LeaderCreated", "LeaderReady"])
def test_a_set_that_is_not_named_is_untouched(live, startup):
    """As without us: four of its six pods find room."""
    plan(live, kwok=True, conventions=["lws/other"])
    create_set(live, "serve", 2, 3, startup)
    live.wait_until_bound(4, "serve")
    wait_until(lambda: len(live.api.get(PODS)["items"]) == 6, lambda: live.api.get(PODS))
    assert live.used() == {"h100-0": 8, "h100-1": 8}
    assert_no_groups(live)


def test_a_replica_waits_whole_and_runs_whole(live):
    plan(live, kwok=True, conventions=["lws/gpu"])
    live.create("single", 1)
    live.node_of("single")
    create_set(live, "ring", 1, 4)
    wait_for(live, "ring.0", "waiting")
    assert n_bound(live, "ring") == 0
    live.api.delete(f"{PODS}/single")
    live.wait_until_bound(4, "ring")
    live.api.merge(f"{LEADER_WORKER_SETS}/ring", {"spec": {"replicas": 2}})
    wait_for(live, "ring.1", "waiting")
    assert n_bound(live, "ring-1") == 0
    live.api.delete(f"{LEADER_WORKER_SETS}/ring")
    for name in ("after-0", "after-1"):
        live.create(name, 8)
        live.node_of(name)


def test_replicas_that_fit_one_at_a_time(live):
    """One is made again, as after a crash of one of its pods; none is ever split."""
    plan(live, kwok=True, conventions=["lws/gpu"])
    create_set(live, "ring", 2, 3)
    wait_until(lambda: sorted(bound_of_replicas(live, "ring", 2)) == [0, 3], lambda: live.api.get(PODS))
    running = bound_of_replicas(live, "ring", 2).index(3)
    leader = f"{PODS}/ring-{running}"
    before = live.api.get(leader)["metadata"]["uid"]
    live.api.delete(f"{leader}-2")
    wait_until(lambda: live.api.status_of("GET", leader) == 200 and live.api.get(leader)["metadata"]["uid"] != before, lambda: live.api.get(leader))
    wait_until(lambda: sorted(bound_of_replicas(live, "ring", 2)) == [0, 3], lambda: live.api.get(PODS))


def test_a_replica_with_a_domain_of_its_own_is_untouched(live):
    """Its workers do not exist before the leader has a node."""
    plan(live, kwok=True, conventions=["lws/gpu"])
    create_set(live, "alone", 1, 2, annotations={"leaderworkerset.sigs.k8s.io/exclusive-topology": "kubernetes.io/hostname"})
    live.wait_until_bound(2, "alone")
    assert len({node_name(item) for item in live.api.get(PODS)["items"]}) == 1
    assert_no_groups(live)
