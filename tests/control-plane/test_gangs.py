"""Groups by annotation (gangs.mode: plan) beside a real kube-scheduler: a group waits whole and runs whole, and what waits holds nothing."""

import pytest
import yaml
from api import wait_until
from cluster import PODS, pod
from live import node_name
from test_wake import allow, make_object, shipped

MODEL = "NVIDIA-H100-80GB-HBM3"
JOBS = "/apis/batch/v1/namespaces/gpu/jobs"


def text(**more):
    """more: of gangs."""
    wakes = {key: shipped("scheduler-policy.yaml")[0][key] for key in ("leaderElection", "wake")}
    gangs = {"mode": "plan", "maxKeptShare": 1, **more}
    return yaml.safe_dump({"apiVersion": "gpu-extender.io/v1alpha1", "kind": "SchedulerPolicy", "gangs": gangs, **wakes})


def plan(live, kwok=False, **more):
    """A live cluster of two nodes with 8 GPUs, whose service plans groups and may wake kube-scheduler. more: of gangs."""
    make_object(live)
    allow(live)
    live.add_nodes("h100", 2, MODEL, 8, kwok)
    live.start_service("--config", live.plane.write(f"policy-{live.name}.yaml", text(**more)))
    live.wait_until_told()
    live.start_scheduler()
    return live


@pytest.fixture
def planning(live):
    return plan(live)


def create_one(live, group, number, gpus, size):
    item = pod(f"{group}-{number}", gpus)
    item["metadata"]["annotations"] = {"gpu-extender.io/gang": group, "gpu-extender.io/gang-size": str(size)}
    live.api.create(PODS, item)


def create(live, group, n, gpus, size=None):
    for i in range(n):
        create_one(live, group, i, gpus, size or n)


def state(live, group):
    rows = [row for row in live.service.get("/v1/groups").json()["groups"] if row["name"] == group]
    return rows[0]["state"] if rows else "running"


def wait_for(live, group, expected):
    wait_until(lambda: state(live, group) == expected, lambda: live.service.get("/v1/groups").text + live.service.log.text()[-3000:])


def n_bound(live, group):
    return sum(1 for item in live.api.get(PODS)["items"] if item["metadata"]["name"].startswith(group) and node_name(item))


def delete(live, group, n):
    for i in range(n):
        live.api.delete(f"{PODS}/{group}-{i}")


def test_a_group_waits_whole_and_runs_whole(planning):
    live = planning
    create(live, "four", 3, 2, size=4)
    wait_for(live, "four", "forming")
    live.wait_until_told()
    live.create("single", 8)
    assert live.node_of("single")
    assert n_bound(live, "four") == 0
    create_one(live, "four", 3, 2, 4)
    live.wait_until_bound(4, "four")
    assert live.used() == {"h100-0": 8, "h100-1": 8}
    assert live.metric("gpu_extender_group_plans_total") >= 1


def test_of_two_large_groups_one_runs_after_the_other(planning):
    """Each needs more than half of the cluster; their pods come in turn."""
    live = planning
    for i in range(3):
        for group in ("one", "two"):
            create_one(live, group, i, 4, 3)
    wait_until(lambda: 3 in (n_bound(live, "one"), n_bound(live, "two")), live.service.log.text)
    first, second = ("one", "two") if n_bound(live, "one") == 3 else ("two", "one")
    assert n_bound(live, second) == 0
    delete(live, first, 3)
    live.wait_until_bound(3, second)


def test_a_deleted_group_frees_its_places_at_once(planning):
    live = planning
    live.create("holds", 8)
    live.node_of("holds")
    create(live, "large", 2, 8)
    wait_for(live, "large", "waiting")
    assert live.service.get("/v1/groups").json()["groups"][0]["reason"] == "room"
    delete(live, "large", 2)
    live.create("single", 8)
    assert live.node_of("single")


# ---- Jobs, by their real controller ----


@pytest.fixture
def with_jobs(planning):
    """With the controllers of Jobs and of what their deletion deletes."""
    planning.ends.callback(planning.api.delete_all, PODS)
    planning.ends.callback(planning.api.delete_all, JOBS)
    planning.ends.callback(planning.plane.start_controllers("job-controller", "garbage-collector-controller").kill)
    return planning


def create_job(live, n, gpus, labels=None):
    """The Job. All come from one template, as those of a CronJob do."""
    made = pod("", gpus, restartPolicy="Never", terminationGracePeriodSeconds=0)
    made["metadata"] = {"annotations": {"gpu-extender.io/gang": "job", "gpu-extender.io/gang-size": str(n)}}
    spec = {"completionMode": "Indexed", "completions": n, "parallelism": n, "template": made}
    return live.api.create(JOBS, {"metadata": {"generateName": "train-", "labels": labels or {}}, "spec": spec})


def test_jobs_of_one_template_run_one_after_the_other(with_jobs):
    """Each is a group of its own, and needs more than half of the cluster. Deleting one frees its GPUs at once."""
    live = with_jobs
    names = [create_job(live, 3, 4)["metadata"]["name"] for _ in range(2)]
    wait_until(lambda: 3 in [n_bound(live, name) for name in names], live.service.log.text)
    first, second = sorted(names, key=lambda name: -n_bound(live, name))
    assert n_bound(live, second) == 0
    live.api.delete(f"{JOBS}/{first}")
    live.wait_until_bound(3, second)


def test_a_job_of_64_runs_whole(with_jobs):
    live = with_jobs
    live.create("single", 1)
    live.node_of("single")
    name = create_job(live, 64, 1)["metadata"]["name"]
    live.add_nodes("more", 5, MODEL, 8, kwok=False)
    wait_for(live, name, "waiting")
    assert n_bound(live, name) == 0
    live.add_nodes("last", 2, MODEL, 8, kwok=False)
    live.wait_until_bound(64, name)
