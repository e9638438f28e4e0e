"""enforceNamespaces: pods of the selected namespaces are treated as with mode: enforce, all others as with mode: observe."""

import json

import pytest
from objects import annotated, filter_args, kindless, merged, node, pod, preempt_args
from test_observe import NOT_ON_ITS_TURN, assert_keeps_no_pod

LABELS = {"roll-out": "done"}
ENFORCING = {"mode": "observe", "enforceNamespaces": {"matchLabels": LABELS}}
FLEET = [node("a", 8), node("t4", 4, "Tesla-T4"), pod("old", 8, "a")]
NAMES = ["a", "t4", "nowhere"]
# Refused everywhere; refused on some nodes; refused for its annotations; not even readable.
ASKING = {
    "of no model": annotated(models="V100"),
    "of one model": annotated(models="T4"),
    "unreadable annotation": annotated(min_gpu_memory="lots"),
    "unreadable": pod(spec={"containers": 7}),
}


def namespace(name, **labels):
    return {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": name, "uid": f"ns-{name}", "labels": labels}}


def of(name, asking):
    return merged(asking, {"metadata": {"namespace": name, "uid": f"{name}-{asking['metadata']['uid']}"}})


@pytest.fixture
def start(start_over, write):
    """start(mode=..., ...) -> a service over a file with an enforced and an observed namespace."""

    def start_with(**policy):
        items = [*FLEET, namespace("enforced", **LABELS), namespace("observed", **{"roll-out": "later"})]
        head = {"apiVersion": "gpu-extender.io/v1alpha1", "kind": "SchedulerPolicy"}
        return start_over(*items, options=["--config", write("policy.yaml", json.dumps({**head, **policy}))])

    return start_with


def answers(service, asking):
    """The answers of all verbs that work over a file."""
    found = [service.post("/scheduler/filter", filter_args(asking, NAMES)), service.post("/scheduler/prioritize", filter_args(asking, NAMES))]
    found.append(service.post("/scheduler/preempt", preempt_args(asking, {name: ["pod-old"] for name in NAMES})))
    return [(answer.status, answer.text) for answer in found]


@pytest.mark.parametrize("asking", ASKING)
def test_a_pod_is_treated_by_its_namespace(asking, start):
    mixed = start(**ENFORCING)
    found = {name: answers(mixed, of(name, ASKING[asking])) for name in ("enforced", "observed", "never-seen")}
    assert found["enforced"] == answers(start(mode="enforce"), of("enforced", ASKING[asking]))
    observing = start(mode="observe")
    for name in ("observed", "never-seen"):
        assert found[name] == answers(observing, of(name, ASKING[asking]))
    assert found["enforced"] != found["observed"]


def test_an_empty_selector_enforces_every_namespace_that_was_seen(start):
    service = start(mode="observe", enforceNamespaces={})
    asking = annotated(models="V100")
    assert service.post("/scheduler/filter", filter_args(of("observed", asking), NAMES)).json()["NodeNames"] == []
    assert_keeps_no_pod(service, of("never-seen", asking), NAMES)


@pytest.fixture
def listed(api, follow):
    """listed(turn) -> a service that has listed the namespaces, and not the pods; on its turn or not."""

    def start(turn=None):
        api.store.put(namespace("enforced", **LABELS), namespace("observed"))
        api.faults.fail("list pods", 500, times=None)
        service = follow(more={**ENFORCING, **NOT_ON_ITS_TURN.get(turn, {})}, ready=False)
        service.wait("it listens", lambda: service.get("/livez").status == 200)
        service.wait("it lists the namespaces", lambda: service.freshness("namespaces")["synced"])
        return service

    return start


def test_unusable_data_keep_only_pods_of_enforced_namespaces(listed):
    service = listed()
    assert_keeps_no_pod(service, of("observed", pod()), ["b"])
    enforced = of("enforced", pod())
    assert "not ready" in service.post("/scheduler/filter", filter_args(enforced, ["b"])).json()["Error"]
    assert service.post("/scheduler/preempt", preempt_args(enforced, {"b": ["u1"]})).status == 503


@pytest.mark.parametrize("turn", NOT_ON_ITS_TURN)
def test_a_replica_that_is_not_on_its_turn_decides_nothing(turn, listed):
    service = listed(turn)
    assert_keeps_no_pod(service, of("observed", pod()), ["b"])
    enforced = of("enforced", pod())
    args = filter_args(enforced, ["b"])
    requests = {"filter": args, "prioritize": args, "preempt": preempt_args(enforced, {"b": ["u1"]}), "bind": binding(enforced, "b")}
    assert {verb: service.post(f"/scheduler/{verb}", body).status for verb, body in requests.items()} == dict.fromkeys(requests, 503)


def test_beside_kube_scheduler_no_verb_is_answered_before_the_namespaces_are_listed(api, follow):
    """Until then it is unknown which namespaces are enforced. Only enforceNamespaces needs this."""
    api.store.put(namespace("enforced", **LABELS), namespace("observed"))
    api.faults.fail("list namespaces", 500, times=None)
    beside = {"scheduler": {"beside": True}, "kubernetes": {"bindTimeoutSeconds": 2}}
    service = follow(more={**ENFORCING, **beside}, ready=False)
    service.wait("it listens", lambda: service.get("/livez").status == 200)
    args = {name: filter_args(of(name, pod()), ["b"]) for name in ("enforced", "observed")}
    assert [service.post("/scheduler/filter", args[name]).status for name in args] == [503, 503]
    api.faults.heal()
    service.wait("it lists the namespaces", lambda: service.freshness("namespaces")["synced"])
    assert_keeps_no_pod(service, of("observed", pod()), ["b"])


def binding(asking, target):
    metadata = kindless(asking)["metadata"]
    return {"PodName": metadata["name"], "PodNamespace": metadata["namespace"], "PodUID": metadata["uid"], "Node": target}


def test_bind_judges_pods_of_enforced_namespaces(api, follow):
    pods = {name: of(name, pod("train-0", 5)) for name in ("enforced", "observed")}
    api.store.put(namespace("enforced", **LABELS), namespace("observed"), *pods.values())
    service = follow(more=ENFORCING)
    service.settle()
    service.wait_until_it_binds()
    assert "too few GPUs in total" in service.post("/scheduler/bind", binding(pods["enforced"], "b")).json()["Error"]
    assert api.store.bound == []
    assert service.post("/scheduler/bind", binding(pods["observed"], "b")).json() == {"Error": ""}
    assert api.store.bound == [(pods["observed"]["metadata"]["uid"], "b")]


def test_a_label_takes_effect_when_the_watch_shows_it(api, follow):
    api.store.put(namespace("team"))
    service = follow(more=ENFORCING)
    service.settle()
    asking = of("team", annotated(models="V100"))
    assert_keeps_no_pod(service, asking, ["a", "b"])
    api.store.put(namespace("team", **LABELS))
    args = filter_args(asking, ["a", "b"])
    service.wait("it enforces", lambda: service.post("/scheduler/filter", args).json()["NodeNames"] == [])
    api.store.remove(namespace("team"))
    service.wait("it observes", lambda: service.post("/scheduler/filter", args).json()["NodeNames"] == ["a", "b"])
