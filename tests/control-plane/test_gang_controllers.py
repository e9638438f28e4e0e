"""Groups (gangs.mode: plan) whose pods are made by the real controllers of LeaderWorkerSet and Kueue: untouched unless named, else whole."""

import pytest
from api import wait_until
from cluster import PODS, is_refused, pod, prepare
from controllers import KUEUE, LEADER_WORKER_SETS, QUEUE, ControlledPlane, leader_worker_set
from live import LiveCluster, node_name
from test_gangs import JOBS, create_job, n_bound, plan, wait_for

STATEFUL_SETS = "/apis/apps/v1/namespaces/gpu/statefulsets"
WORKLOADS = f"{KUEUE}/namespaces/gpu/workloads"
OWNERS = (LEADER_WORKER_SETS, STATEFUL_SETS, JOBS, WORKLOADS)


@pytest.fixture(scope="module")
def controlled(programs, tmp_path_factory):
    with ControlledPlane(programs, tmp_path_factory.mktemp("controlled")) as running:
        prepare(running.api)
        running.start_kwok()
        running.start_lws()
        running.start_kueue()
        running.create_queue(8)
        running.start_own()
        yield running


def clear(api):
    """Controllers make pods again until what owns them is gone, and Kueue keeps pods of a group until their workload is."""

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


def template(**metadata):
    """Of a pod with 4 GPUs that ends at once."""
    return {**pod("", 4, terminationGracePeriodSeconds=0), "metadata": metadata}


def create_set(live, name, replicas, size, startup="LeaderCreated", made=None, **metadata):
    """A LeaderWorkerSet of pods with 4 GPUs: each replica is a leader, NAME-0, and its workers, NAME-0-1 and so on. made: their metadata."""
    made = template(**(made or {}))
    spec = {"replicas": replicas, "startupPolicy": startup, "leaderWorkerTemplate": {"size": size, "workerTemplate": made}}
    live.api.create(LEADER_WORKER_SETS, leader_worker_set(name, spec, **metadata))


def leave(live, *free):
    """Leaves so many GPUs of each node free. The pods are called NODE-used."""
    for number, gpus in enumerate(free):
        live.create(f"h100-{number}-used", 8 - gpus, node_name=f"h100-{number}")


def wait_until_held(live, group, n, prefix=None):
    """kube-scheduler asked for each of its n pods, and none is bound. prefix: of their names, if not the group's."""
    wait_for(live, group, "waiting")

    def are_refused():
        pods = [item for item in live.api.get(PODS)["items"] if item["metadata"]["name"].startswith(prefix or group)]
        return len(pods) == n and all(map(is_refused, pods))

    wait_until(are_refused, lambda: live.shown({item["metadata"]["name"]: item for item in live.api.get(PODS)["items"]}))
    assert n_bound(live, prefix or group) == 0


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
    wait_until_held(live, "ring.0", 4, "ring")
    live.api.delete(f"{PODS}/single")
    live.wait_until_bound(4, "ring")
    live.api.merge(f"{LEADER_WORKER_SETS}/ring", {"spec": {"replicas": 2}})
    wait_until_held(live, "ring.1", 4, "ring-1")
    live.api.delete(f"{LEADER_WORKER_SETS}/ring")
    for name in ("after-0", "after-1"):
        live.create(name, 8)
        live.node_of(name)


def test_one_replica_by_our_annotations(live):
    plan(live, kwok=True)
    leave(live, 3, 5)
    create_set(live, "ring", 1, 2, made={"annotations": {"gpu-extender.io/gang": "own", "gpu-extender.io/gang-size": "2"}})
    wait_until_held(live, "own", 2, "ring")
    live.api.delete(f"{PODS}/h100-1-used")
    live.wait_until_bound(2, "ring")


def test_replicas_that_fit_one_at_a_time(live):
    """One is made again, as after a crash of one of its pods; none is ever split."""
    plan(live, kwok=True, conventions=["lws/gpu"])
    create_set(live, "ring", 2, 3)
    wait_until(lambda: sorted(bound_of_replicas(live, "ring", 2)) == [0, 3], lambda: live.api.get(PODS))
    running = bound_of_replicas(live, "ring", 2).index(3)
    leader = f"ring-{running}"

    def uids():
        return {item["metadata"]["uid"] for item in live.api.get(PODS)["items"] if item["metadata"]["name"] == leader}

    before = uids()
    live.api.delete(f"{PODS}/{leader}-2")
    wait_until(lambda: len(uids() - before) == 1, lambda: live.api.get(PODS))
    wait_until(lambda: sorted(bound_of_replicas(live, "ring", 2)) == [0, 3], lambda: live.api.get(PODS))


def test_a_replica_with_a_domain_of_its_own_is_untouched(live):
    """Its workers do not exist before the leader has a node."""
    plan(live, kwok=True, conventions=["lws/gpu"])
    create_set(live, "alone", 1, 2, annotations={"leaderworkerset.sigs.k8s.io/exclusive-topology": "kubernetes.io/hostname"})
    live.wait_until_bound(2, "alone")
    assert len({node_name(item) for item in live.api.get(PODS)["items"]}) == 1
    assert_no_groups(live)


# ---- what Kueue admits, with a quota of 8 GPUs ----


def create_stateful_set(live, name):
    """Two pods, the second once the first is ready."""
    app = {"app": name}
    spec = {"replicas": 2, "serviceName": name, "selector": {"matchLabels": app}, "template": template(labels=app)}
    live.api.create(STATEFUL_SETS, {"metadata": {"name": name, "labels": QUEUE}, "spec": spec})


def n_pending(live):
    """Number of workloads that wait for the quota."""
    conditions = [condition for item in live.api.get(WORKLOADS)["items"] for condition in item.get("status", {}).get("conditions", [])]
    return sum((each["type"], each["status"]) == ("QuotaReserved", "False") for each in conditions)


@pytest.mark.parametrize("conventions", [[], ["kueue"]], ids=["default", "named"])
def test_stateful_sets_of_kueue_are_untouched(live, conventions):
    plan(live, kwok=True, conventions=conventions)
    create_stateful_set(live, "first")
    live.wait_until_bound(2, "first")
    create_stateful_set(live, "second")
    wait_until(lambda: n_pending(live) == 1, lambda: live.api.get(WORKLOADS))
    assert n_bound(live, "second") == 0
    live.api.delete(f"{STATEFUL_SETS}/first")
    live.wait_until_bound(2, "second")
    assert_no_groups(live)


def test_jobs_of_kueue_wait_whole(live):
    """The second is admitted, and gets its pods, when the first is gone."""
    plan(live, kwok=True)
    leave(live, 3, 5)
    job = create_job(live, 2, 4, QUEUE)
    assert job["spec"]["suspend"]
    first = job["metadata"]["name"]
    wait_until_held(live, first, 2)
    second = create_job(live, 2, 4, QUEUE)["metadata"]["name"]
    wait_until(lambda: n_pending(live) == 1, lambda: live.api.get(WORKLOADS))
    live.api.delete(f"{PODS}/h100-1-used")
    live.wait_until_bound(2, first)
    assert n_bound(live, second) == 0
    live.api.delete(f"{JOBS}/{first}")
    live.wait_until_bound(2, second)


@pytest.mark.parametrize("conventions", [[], ["kueue"]], ids=["default", "named"])
def test_plain_pods_of_kueue_wait_whole_if_named(live, conventions):
    plan(live, kwok=True, conventions=conventions)
    leave(live, 3, 5)
    for i in range(2):
        annotations = {"kueue.x-k8s.io/pod-group-total-count": "2"}
        labels = {**QUEUE, "kueue.x-k8s.io/pod-group-name": "ring"}
        live.api.create(PODS, {**template(), "metadata": {"name": f"ring-{i}", "labels": labels, "annotations": annotations}})
    if conventions:
        wait_until_held(live, "ring", 2)
        live.api.delete(f"{PODS}/h100-1-used")
        live.wait_until_bound(2, "ring")
    else:
        live.wait_until_bound(1, "ring")
        assert_no_groups(live)


def test_a_replica_that_kueue_admits_waits_whole(live):
    plan(live, kwok=True, conventions=["kueue", "lws/gpu"])
    leave(live, 3, 5)
    create_set(live, "ring", 1, 2, labels=QUEUE)
    wait_until_held(live, "ring.0", 2, "ring")
    live.api.delete(f"{PODS}/h100-1-used")
    live.wait_until_bound(2, "ring")
