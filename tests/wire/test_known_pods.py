"""filter and prioritize of a pod that the ledger has: the object with its UID and resourceVersion is not decoded again."""

import pytest
from objects import A100, container, filter_args, merged, node, pod

T4 = "Tesla-T4"
NAMES = ["a100", "t4"]


def version(number, models=A100):
    """The pod p at one resourceVersion."""
    return merged(pod("p"), {"metadata": {"resourceVersion": number, "annotations": {"gpu-extender.io/models": models}}})


@pytest.fixture(scope="module")
def service(module_service):
    return module_service(node("a100"), node("t4", model=T4), version("7"))


def passed(service, asking, names=NAMES):
    answer = service.post("/scheduler/filter", filter_args(asking, names)).json()
    assert answer["Error"] == "", answer
    return answer["NodeNames"]


def test_the_same_version_is_not_decoded(service):
    """No API server has two objects of one version: only so does a request show which one was read."""
    assert passed(service, version("7")) == ["a100"]
    assert passed(service, version("7", T4)) == ["a100"]


@pytest.mark.parametrize("number", ["6", "8", ""])
def test_another_version_is_judged_by_the_request(service, number):
    """kube-scheduler may be ahead of our watch, or behind it: gated pods change their selectors, resized ones their requests."""
    assert passed(service, version(number, T4)) == ["t4"]


def test_another_pod_of_the_same_version_is_judged_by_the_request(service):
    assert passed(service, merged(version("7", T4), {"metadata": {"uid": "another"}})) == ["t4"]


def test_soft_preferences_of_a_known_pod_let_kube_scheduler_choose(start_over):
    """As those of a pod that is decoded: prioritize has no opinion."""
    preferred = [{"weight": 1, "preference": {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}}]
    soft = pod("soft", spec={"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}})
    soft["metadata"]["resourceVersion"] = "7"
    service = start_over(node("a", 8), node("b", 4), soft)
    known, decoded = (merged(soft, {"metadata": {"resourceVersion": number}}) for number in ("7", "8"))
    answers = [service.post("/scheduler/prioritize", filter_args(asking, ["a", "b"])).json() for asking in (known, decoded)]
    assert answers == [[], []]


def test_a_dense_pod_that_is_known_is_judged(api, follower):
    """Over the budget only by members that the ledger leaves out: it is judged by what the ledger keeps."""
    environment = [{"name": f"E{number}"} for number in range(30000)]
    api.store.put(pod("dense", spec={"containers": [container(env=environment)]}))
    follower.settle()
    dense = api.store.get("pods", "dense", "ml")
    assert passed(follower, dense, ["a"]) == ["a"]
    assert passed(follower, merged(dense, {"metadata": {"resourceVersion": "another"}}), ["a"]) == []
