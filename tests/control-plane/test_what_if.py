"""POST /v1/what-if beside the real API server and kube-scheduler: what evictions are allowed, and where displaced pods go."""

import pytest
from api import wait_until
from cluster import NODES, PODS, pod
from live import wait_until_it_binds

H100 = "NVIDIA-H100-80GB-HBM3"
BUDGETS = "/apis/policy/v1/namespaces/gpu/poddisruptionbudgets"
OWNER = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "uid-web", "controller": True}]


def run(live, name, node, gpus=0, ready=True, app=None):
    """A pod of a controller that runs on the node."""
    made = pod(name, gpus, node_name=node)
    made["metadata"].update(ownerReferences=OWNER, labels={"app": app or name})
    live.api.create(PODS, made)
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    live.api.merge(f"{PODS}/{name}/status", {"status": {"phase": "Running", "conditions": conditions}})


def guard(live, name, app, allowed=0, healthy=2, desired=2, observed=1, **spec):
    live.api.create(BUDGETS, {"metadata": {"name": name}, "spec": {"selector": {"matchLabels": {"app": app}}, "minAvailable": 2, **spec}})
    live.ends.callback(live.api.delete, f"{BUDGETS}/{name}")
    status = {"disruptionsAllowed": allowed, "currentHealthy": healthy, "desiredHealthy": desired, "expectedPods": 3, "observedGeneration": observed}
    live.api.merge(f"{BUDGETS}/{name}/status", {"status": status})


def evict(live, name, **options):
    """The status of an eviction."""
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": "gpu"}, "deleteOptions": options}
    return live.api.status_of("POST", f"{PODS}/{name}/eviction", eviction)


def ask(live, *changes):
    answer = live.service.post("/v1/what-if", {"changes": list(changes)})
    assert answer.status == 200, answer
    return answer.json()


# Whether the pod is ready, and its budgets.
CASES = {
    "allowed": (True, [{"allowed": 1}]),
    "held": (True, [{}]),
    "outdated": (True, [{"allowed": 1, "observed": 0}]),
    "unready": (False, [{}]),
    "too-few": (False, [{"healthy": 1}]),
    "too-few-allowed": (False, [{"healthy": 1, "allowed": 1}]),
    "none-wanted": (False, [{"healthy": 0, "desired": 0}]),
    "always": (False, [{"healthy": 1, "unhealthyPodEvictionPolicy": "AlwaysAllow"}]),
    "two": (True, [{"allowed": 1}, {"allowed": 1}]),
}


@pytest.fixture
def guarded(live):
    live.add_node("n", H100, 4)
    for name, (ready, budgets) in CASES.items():
        run(live, name, "n", ready=ready)
        for number, budget in enumerate(budgets):
            guard(live, f"{name}-{number}", name, **budget)
    live.start_service()
    return live


def test_budgets_allow_what_the_eviction_api_allows(guarded):
    wait_until(lambda: len(ask(guarded, {"drain": ["n"]})["disruptionBudgets"]["met"]) == 10, guarded.service.log.text)
    met = ask(guarded, {"drain": ["n"]})["disruptionBudgets"]
    assert met["checked"]
    said = {each["name"].rpartition("-")[0]: each["allows"] == "all" for each in met["met"]}
    assert said == {name: evict(guarded, name, dryRun=["All"]) == 201 for name in CASES}


def test_displaced_pods_go_where_the_answer_says(live):
    """A drain as kubectl's, with an owner that makes the pods anew: two GPUs find a place, three do not."""
    for name, gpus in (("a", 8), ("b", 4), ("c", 4)):
        live.add_node(name, H100, gpus)
    live.add_running("on-b", "b", 3)
    live.add_running("on-c", "c", 2)
    run(live, "web-0", "a", 2)
    run(live, "web-1", "a", 3)
    live.start_service()
    wait_until_it_binds(live.service)
    live.wait_until_told()
    said = {each["name"]: each["node"] for each in ask(live, {"drain": ["a"]})["displaced"]}
    assert said == {"web-0": "c", "web-1": None}
    live.api.merge(f"{NODES}/a", {"spec": {"unschedulable": True}})
    for name in said:
        assert evict(live, name, gracePeriodSeconds=0) == 201
    live.start_scheduler()
    live.create("web-0", 2)
    live.create("web-1", 3)
    assert live.node_of("web-0") == "c"
    live.refusal_of("web-1")
