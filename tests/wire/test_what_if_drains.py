"""POST /v1/what-if: the PodDisruptionBudgets that a drain meets; the rules, claims and devices of displaced pods."""

import openapi
import pytest
from objects import merged, node, pod
from test_claims_judged import asks, claim, device, device_class, slice_of, template
from test_what_if import PATH, ask, owned, places

JUDGE = openapi.Judge(openapi.load())
READY = [{"type": "Ready", "status": "True"}]
HELD = "allows none now, so a drain waits: pods that must be healthy: 2, healthy now: 2"


def budget(namespace, name, allowed=0, healthy=2, desired=2, generation=1, **spec):
    spec = {"selector": {"matchLabels": {"app": "x"}}, **spec}
    status = {"disruptionsAllowed": allowed, "currentHealthy": healthy, "desiredHealthy": desired, "observedGeneration": 1}
    metadata = {"namespace": namespace, "name": name, "generation": generation}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": spec, "status": status}


def selected(namespace, name, ready=True, phase="Running", on="a", **labels):
    metadata = {"namespace": namespace, "uid": f"{namespace}-{name}", "labels": {"app": "x", **labels}}
    status = {"phase": phase, "conditions": READY if ready else [{"type": "Ready", "status": "False"}]}
    return owned(name, gpus=None, on=on, metadata=metadata, status=status)


# A namespace each: its budgets, its pods, and what the answer says of the budgets: (pods, allows, reason).
BUDGETS = {
    "all": ([budget("all", "b", 2)], [selected("all", "p0"), selected("all", "p1")], {"b": (2, "all", "allows 2 disruptions now")}),
    "some": ([budget("some", "b", 1)], [selected("some", "p0"), selected("some", "p1")],
             {"b": (2, "some", "allows 1 of 2 at once: a drain waits until others are ready")}),
    "none": ([budget("none", "b")], [selected("none", "p0")], {"b": (1, "none", HELD)}),
    "unready": ([budget("unready", "b")], [selected("unready", "p0", ready=False)],
                {"b": (1, "all", "the pods are not ready, and their eviction needs no disruption")}),
    "too-few": ([budget("too-few", "b", healthy=1)], [selected("too-few", "p0", ready=False)],
                {"b": (1, "none", "allows none now, so a drain waits: pods that must be healthy: 2, healthy now: 1")}),
    "always": ([budget("always", "b", healthy=1, unhealthyPodEvictionPolicy="AlwaysAllow")], [selected("always", "p0", ready=False)],
               {"b": (1, "all", "the pods are not ready, and their eviction needs no disruption")}),
    "outdated": ([budget("outdated", "b", 1, generation=2)], [selected("outdated", "p0")],
                 {"b": (1, "none", "its status is older than its spec: the API server evicts nothing until its controller has caught up")}),
    "two": ([budget("two", "b", 1), budget("two", "c", 1)], [selected("two", "p0")],
            dict.fromkeys("bc", (1, "none", "pods with another budget, too, which the API server never evicts: 1 of 1"))),
    "pending": ([budget("pending", "b")], [selected("pending", "p0", phase="Pending", ready=False)], {}),
    "whole": ([budget("whole", "b", selector={}), budget("whole", "c", selector=None)], [selected("whole", "p0")], {"b": (1, "none", HELD)}),
    "expressions": ([budget("expressions", "b", selector={"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["test"]}]})],
                    [selected("expressions", "p0"), selected("expressions", "p1", tier="test")], {"b": (1, "none", HELD)}),
    "elsewhere": ([budget("elsewhere", "b")], [selected("elsewhere", "p0", on="b")], {}),
}  # fmt: skip


@pytest.fixture(scope="module")
def drained(module_service):
    objects = [item for budgets, pods, _ in BUDGETS.values() for item in budgets + pods]
    served = module_service(node("a", 4), node("b", 4), *objects)
    answer = served.post(PATH, {"changes": [{"drain": ["a"]}]})
    assert JUDGE.faults_of_answer("POST", PATH, answer) == []
    return answer.json()


@pytest.mark.parametrize("namespace", BUDGETS)
def test_what_each_budget_allows(drained, namespace):
    met = {each["name"]: each for each in drained["disruptionBudgets"]["met"] if each["namespace"] == namespace}
    assert {name: (each["pods"], each["allows"], each["reason"]) for name, each in met.items()} == BUDGETS[namespace][2]
    named = {each["name"]: each["budgets"] for each in drained["displaced"] if each["namespace"] == namespace}
    assert {name for names in named.values() if names for name in names.split(", ")} == set(met)


def test_budgets_are_checked_and_shown(drained, module_service):
    assert drained["disruptionBudgets"]["checked"] and not any("Budget" in line for line in drained["notChecked"])
    budgets, pods, _ = BUDGETS["some"]
    text = module_service(node("a", 4), *budgets, *pods).post(PATH + "?output=table", {"changes": [{"drain": ["a"]}]}).text
    assert "some/b" in text and "allows 1 of 2 at once" in text and max(map(len, text.splitlines())) <= 100


def test_budgets_do_not_count_pods_that_are_removed_later(module_service):
    """As in the other order."""
    healthy, unready = selected("some", "p0"), selected("some", "p1", ready=False)
    served = module_service(node("a", 4), node("b", 4), budget("some", "b", 1), healthy, unready, selected("some", "p2"))
    drain = {"drain": ["a"]}
    for removed in (["some/p0"], ["some/p1"], ["some/p0", "some/p1"], ["some/p0", "some/p1", "some/p2"]):
        remove = {"removePods": removed}
        after, first = ask(served, drain, remove), ask(served, remove, drain)
        assert after["disruptionBudgets"] == first["disruptionBudgets"] and after["displaced"] == first["displaced"]


def test_a_snapshot_keeps_budgets_and_what_they_ask_of_pods(drained, module_service, start_service, tmp_path):
    objects = [item for budgets, pods, _ in BUDGETS.values() for item in budgets + pods]
    path = tmp_path / "snapshot.json"
    path.write_text(module_service(node("a", 4), node("b", 4), *objects).get("/v1/snapshot").text, encoding="utf-8")
    again = ask(start_service("--cluster-file", str(path)), {"drain": ["a"]})
    assert again["disruptionBudgets"] == drained["disruptionBudgets"]


def test_budgets_of_a_live_cluster_follow_it(api, follow):
    """If the service has no right to list budgets, the answer says so. Otherwise the status of the budget counts."""
    api.store.put(selected("ml", "web-0"), budget("ml", "web"))
    api.faults.fail("list poddisruptionbudgets", 403, "Forbidden", times=None)
    service = follow()
    refused = "ok\ndisruption budgets are unknown: poddisruptionbudgets: never listed: refused\n"
    service.wait("it is ready without budgets", lambda: service.get("/readyz").text == refused)
    answer = ask(service, {"drain": ["a"]})
    assert answer["disruptionBudgets"] == {
        "checked": False, "notCheckedBecause": "this service has no right to list and watch them", "met": [], "omitted": 0, "notJudged": []
    }  # fmt: skip
    assert "PodDisruptionBudgets: not checked: this service has no right to list and watch them" in answer["notChecked"]
    api.faults.heal()
    service.wait("they are listed", lambda: service.get("/readyz").text == "ok\n")
    assert allows(service) == "none"
    api.store.put(budget("ml", "web", 1, healthy=3))
    service.wait("the status is seen", lambda: allows(service) == "all")


def allows(service):
    (met,) = ask(service, {"drain": ["a"]})["disruptionBudgets"]["met"]
    return met["allows"]


# Rules between pods.


def apart(**labels):
    """Required anti-affinity by host to pods with these labels; and affinity by zone to pods with the label side=in."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}}
    near = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"side": "in"}}}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    return {"podAntiAffinity": {required: [term]}, "podAffinity": {required: [near]}}


def in_zone(name, zone, gpus=4):
    return node(name, gpus, metadata={"labels": {"kubernetes.io/hostname": name, "zone": zone}})


def test_displaced_pods_keep_their_affinity_and_spread(module_service):
    """near follows a pod of zone 1 and may not be beside far; spread-0 may not join the two of zone 1, and zone 2 has no room."""
    spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "s"}}}
    objects = [
        in_zone("a", "1"), in_zone("b", "1"), in_zone("c", "1"), in_zone("d", "2"),
        pod("anchor", None, on="b", metadata={"labels": {"side": "in"}}),
        pod("far", 1, on="b", metadata={"labels": {"app": "far"}}),
        owned("near", gpus=1, on="a", spec={"affinity": apart(app="far")}),
    ]  # fmt: skip
    answer = ask(module_service(*objects), {"drain": ["a"]})
    assert places(answer["displaced"]) == {"near": "c"} and answer["displaced"][0]["judgedWithout"] is None
    spreads = [owned(f"spread-{n}", gpus=1, on=on, metadata={"labels": {"app": "s"}}, spec={"topologySpreadConstraints": [spread]}) for n, on in enumerate("db")]
    answer = ask(module_service(in_zone("b", "1"), in_zone("d", "2"), *spreads), {"drain": ["d"]})
    (displaced,) = answer["displaced"]
    assert displaced["node"] is None and "spread" in displaced["reason"]


# Claims and devices.


def claiming(name, on=None, **reference):
    return owned(name, gpus=None, on=on, spec={"resourceClaims": [{"name": "gpus", **reference}]})


def holding(name, on, *devices):
    """A pod with a claim of its own name, which has these devices of the node."""
    made = claim(name, on=(on, *devices))
    made["status"]["reservedFor"] = [{"resource": "pods", "name": name, "uid": f"pod-{name}"}]
    return [claiming(name, on, resourceClaimName=name), made]


def devices_of(name, count):
    return slice_of(name, *(device(f"gpu-{n}") for n in range(count)))


def test_a_displaced_pod_takes_its_claim_along(module_service):
    """The claim loses the devices of the drained node and gets others; where none are free, the pod waits."""
    nodes = [node(name, None, None) for name in "abc"]
    objects = [device_class(), devices_of("a", 2), devices_of("b", 1), *holding("one", "a", "gpu-0"), *holding("two", "a", "gpu-1")]
    answer = ask(module_service(*nodes, *objects), {"drain": ["a"]})
    assert sorted(map(str, places(answer["displaced"]).values())) == ["None", "b"]
    answer = ask(module_service(*nodes, *objects), {"drain": ["a"]}, {"addNodes": {"like": "b"}})
    assert sorted(places(answer["displaced"]).values()) == ["b", "b-new-1"]
    assert answer["changes"][1]["devicesOnEach"] == 1


def test_added_nodes_have_the_devices_of_their_model(module_service):
    """An added node has the devices of its model, even if the model is an added node. A cordoned node's devices are of no use."""
    nodes = [node(name, None, None) for name in "ab"]
    waiting = [claiming(f"waits-{n}", resourceClaimTemplateName="two") for n in range(3)]
    objects = [device_class(), devices_of("a", 2), template("two", asks(2)), claim("unused"), *waiting]
    service = module_service(*nodes, *objects)
    assert ask(service)["pending"]["before"]["fit"] == 1
    assert ask(service, {"cordon": ["a"]})["pending"]["after"]["fit"] == 0
    answer = ask(service, {"cordon": ["a"]}, {"addNodes": {"like": "a"}}, {"addNodes": {"like": "a-new-1", "count": 2}})
    assert answer["pending"]["after"]["fit"] == 3
    assert [change["devicesOnEach"] for change in answer["changes"][1:]] == [2, 2]
    assert ask(service, {"addNodes": {"like": "b", "count": 3}})["pending"]["after"]["fit"] == 1
    joined = ask(service, {"addNodes": {"like": "a", "count": 3}}, workloads=[claiming("new", resourceClaimTemplateName="two")])
    assert joined["pending"]["after"]["fit"] == 3 and joined["workloads"][0]["placed"] == 1


def test_long_affinity_of_a_pod_takes_nothing_from_its_anti_affinity(module_service):
    """Of the rules of a pod on a node, only anti-affinity concerns other pods. The rules that a drain would need may be too long to keep."""
    apart = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
    values = [f"v{number}-{'y' * 50}" for number in range(2000)]
    long = {"labelSelector": {"matchExpressions": [{"key": "k", "operator": "NotIn", "values": values}]}, "topologyKey": "zone"}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    stays = selected("ml", "stays")
    stays["spec"]["affinity"] = {"podAntiAffinity": {required: [apart]}, "podAffinity": {required: [long]}}
    host = {"metadata": {"labels": {"kubernetes.io/hostname": "a"}}}
    served = module_service(merged(node("a", 4), host), stays)
    (tried,) = served.post("/v1/dry-run", pod("new", 1, metadata={"namespace": "ml", "labels": {"app": "x"}})).json()["workloads"]
    assert tried["nodes"][0]["reason"] == "pod_repelled"
    (displaced,) = ask(served, {"drain": ["a"]})["displaced"]
    assert displaced["judgedWithout"]
