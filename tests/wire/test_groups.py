"""Pods of a PodGroup (spec.schedulingGroup): what is judged of them, their quota as a whole, and what answers say of groups."""

import fake_api
import openapi
import pytest
from objects import GPU, filter_args, merged, node, pod, preempt_args

H100 = "NVIDIA-H100-80GB-HBM3"
V1ALPHA2 = "/apis/scheduling.k8s.io/v1alpha2/podgroups"
V1BETA1 = "/apis/scheduling.k8s.io/v1beta1/podgroups"
OVER = "quota team-a leaves too few GPUs in total"
GROUP_ERROR = "gpu-extender: a quota leaves too few GPUs for the pod's group: retry"
JUDGE = openapi.Judge(openapi.load())


def quota(total):
    return {"quotas": [{"name": "team-a", "namespaces": ["ml"], "limits": [{"resource": GPU, "total": total}]}]}


def group(min_count=None, name="ring"):
    policy = {"gang": {"minCount": min_count}} if min_count else {"basic": {}}
    metadata = {"name": name, "namespace": "ml", "uid": f"group-{name}"}
    return {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": metadata, "spec": {"schedulingPolicy": policy}}


def member(name, gpus=1, on=None, **changes):
    return merged(pod(name, gpus, on, spec={"schedulingGroup": {"podGroupName": "ring"}}), changes)


def members(n, gpus):
    return [member(f"m-{number}", gpus) for number in range(n)]


@pytest.fixture
def alpha(monkeypatch):
    """The API server is of 1.36: it has PodGroups in v1alpha2 only."""
    monkeypatch.delitem(fake_api.COLLECTIONS, V1BETA1)
    monkeypatch.setitem(fake_api.COLLECTIONS, V1ALPHA2, "podgroups")


def ask(service, asking, *names):
    return service.post("/scheduler/filter", filter_args(asking, names)).json()


def passes(answer):
    return answer["NodeNames"]


def started(follow, api, *objects, more=None):
    """The fake API server has nodes a with 8 GPUs, 3 in use, and b with 4."""
    api.store.put(*objects)
    service = follow(more=more)
    service.settle()
    return service


def test_a_group_over_its_quota_is_rejected_at_its_first_member(api, follow):
    """3 of 10 are in use; 2 members of 4 each do not fit, 1 does."""
    first, second = members(2, 4)
    service = started(follow, api, group(2), first, second, more=quota(10))
    for _ in range(3):
        answer = ask(service, first, "a", "b")
        assert answer["Error"] == "" and not answer["FailedNodes"]
        assert {OVER in told for told in answer["FailedAndUnresolvableNodes"].values()} == {True}
    assert "quota team-a" in service.bind(first, "b")
    api.store.put(group(1))
    service.wait("the group is smaller", lambda: passes(ask(service, first, "a", "b")))


def test_where_a_rejection_loops_the_quota_is_an_error(alpha, api, follow):
    first, second = members(2, 4)
    service = started(follow, api, group(2), first, second, node("h", 8, H100), more=quota(10))
    for _ in range(10):
        assert ask(service, first, "a", "b")["Error"] == GROUP_ERROR
    assert service.metric("gpu_extender_filter_group_quota_total") == 10
    other = merged(first, {"metadata": {"annotations": {"gpu-extender.io/models": "T4"}}})
    answer = ask(service, other, "a", "b")
    assert answer["Error"] == "" and "model" in answer["FailedAndUnresolvableNodes"]["a"], "a model stays a rejection"


def test_a_group_is_bound_whole_though_others_want_its_quota(api, follow):
    """3 of 7 are in use. From the first binding on, the quota of the second member is held."""
    first, second, single = *members(2, 2), pod("single", 1)
    service = started(follow, api, group(2), first, second, single, more=quota(7))
    assert passes(ask(service, first, "a")) and passes(ask(service, second, "a"))
    assert service.bind(first, "a") is None
    assert "quota" in service.bind(single, "a")
    assert service.bind(second, "a") is None
    assert "quota" in service.bind(single, "a")


def test_filter_never_refuses_for_room_and_bind_does(api, follow):
    first, second = members(2, 4)
    service = started(follow, api, group(2), first, second, pod("fills", 4, on="b"))
    answer = ask(service, first, "b")
    assert passes(answer) == ["b"]
    assert service.post("/scheduler/prioritize", filter_args(first, ["a", "b"])).status == 200
    assert "free" in service.bind(first, "b")
    assert "total" in ask(service, member("m-0", 9), "a", "b")["FailedAndUnresolvableNodes"]["a"]


def test_preempt_has_no_veto_for_room(api, follow):
    first = member("m-0", 4, spec={"priority": 10})
    service = started(follow, api, group(1), first, pod("small", 1, on="b"), pod("large", 3, on="b"))
    victims = {"b": ["pod-small"]}
    single = merged(pod("other", 4), {"spec": {"priority": 10}})
    assert service.post("/scheduler/preempt", preempt_args(single, victims)).json()["NodeNameToMetaVictims"] == {}
    assert set(service.post("/scheduler/preempt", preempt_args(first, victims)).json()["NodeNameToMetaVictims"]) == {"b"}


def test_gpus_that_are_kept_for_a_nominated_pod_are_not_there(api, follow):
    first = member("m-0", 2)
    service = started(follow, api, group(1), first, pod("awaits", 3, status={"nominatedNodeName": "b"}))
    for _ in range(3):
        assert "kept" in ask(service, first, "b")["FailedAndUnresolvableNodes"]["b"], "never an Error"
    assert passes(ask(service, first, "a")) == ["a"]
    assert service.bind(first, "a") is None


@pytest.mark.parametrize("code, reason", [(403, "Forbidden"), (404, "NotFound"), (None, None)])
def test_without_the_pod_group_they_are_single_pods(api, follow, code, reason):
    if code:
        api.faults.fail("list podgroups", code, reason, times=None)
    first, second = members(2, 4)
    objects = [first, second, *([group(2)] if code else [])]
    service = started(follow, api, *objects, pod("fills", 4, on="b"), more=quota(12))
    assert service.get("/readyz").status == 200
    assert ("pod groups are unknown" in service.get("/readyz").text) == (code == 403)
    assert "behind" in ask(service, first, "b")["Error"]
    assert passes(ask(service, first, "a")) == ["a"], "one of 4 is within the quota, two are not"
    shown = service.get("/v1/explain?namespace=ml&name=m-0").json()["pod"]
    assert shown["group"] == {"name": "ring", "known": False, "minCount": 0, "members": 2, "bound": 0}


def test_users_are_told_of_the_group(api, follow):
    service = started(follow, api, group(4), *members(2, 1), member("m-2", 1, on="a"))
    shown = {item["name"]: item for item in service.get("/v1/pending").json()["pods"]}
    assert shown["m-0"]["group"] == {"name": "ring", "known": True, "minCount": 4, "members": 3, "bound": 1}
    assert shown["m-0"]["summary"].startswith("ml/m-0: waits for its group ring: 3 of 4 members exist; would fit on ")
    assert "ring: 3 members, 1 bound, at least 4 together" in service.get("/v1/explain?namespace=ml&name=m-1&output=table").text
    inventory = service.get("/v1/inventory")
    assert inventory.json()["podGroups"] == [{"namespace": "ml", **shown["m-0"]["group"]}] and inventory.json()["podGroupsOmitted"] == 0
    assert not JUDGE.faults_of_answer("GET", "/v1/inventory", inventory)
    assert not JUDGE.faults_of_answer("GET", "/v1/pending", service.get("/v1/pending"))


def test_a_group_that_is_asked_for_often_evicts_no_decisions(api, follow):
    first, second = members(2, 4)
    service = started(follow, api, group(2), first, second, pod("single", 1), more={**quota(10), "decisions": {"keep": 10}})
    ask(service, pod("single", 1), "a")
    for _ in range(20):
        ask(service, first, "a", "b")
        ask(service, second, "a", "b")
    told = service.get("/v1/decisions").json()["decisions"]
    assert not JUDGE.faults_of_answer("GET", "/v1/decisions", service.get("/v1/decisions"))
    assert [(item["pod"]["name"], item.get("group"), item.get("repeats")) for item in told] == [("m-1", "ring", 19), ("m-0", "ring", 19), ("single", None, None)]
