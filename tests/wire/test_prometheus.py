"""The dashboard's queries and the alerts, asked of a real Prometheus that reads a service which has been used."""

import pytest
from monitoring import alerts, queries, rule_groups
from objects import filter_args, node, pod
from prometheus import Prometheus

# The services of this test have no quotas and no TLS, and a list need not be begun again while they are looked at.
MAY_BE_EMPTY = {"Quotas", "Lists begun, in the last hour", "Certificate ends in", "Changes of certificate files", "Tokens"}
VICTIMS = {"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": "pod-1"}]}}}


def use(api, service):
    """Something of everything that is counted: a cordoned node and a pod that a kubelet would not have, too."""
    refused = pod("refused", status={"phase": "Pending"})
    refused["spec"]["nodeName"] = "b"
    api.store.put(refused, node("cordoned", spec={"unschedulable": True}))
    service.settle()
    api.store.change("pods", "refused", "ml", status={"phase": "Failed"})
    service.settle()
    waiting = pod("train-0", 2)
    api.store.put(waiting)
    service.wait("the pod is known", lambda: "pod-train-0" in service.ledger()[1])
    for gpus in (1, 9):
        service.post("/scheduler/filter", filter_args(pod("any", gpus), ["a", "b"]))
        service.post("/scheduler/prioritize", filter_args(pod("any", gpus), ["a", "b"]))
    service.post("/scheduler/preempt", {"Pod": pod("any"), **VICTIMS})
    assert service.bind(waiting, "b") is None


@pytest.fixture
def used(api, follower):
    use(api, follower)
    return follower


def keep_using(prometheus, api, service):
    """Rates are of what happens between two readings."""
    seen = prometheus.value('sum(gpu_extender_verb_calls_total{verb="filter"})')
    service.post("/scheduler/filter", filter_args(pod("any"), ["a", "b"]))
    service.post("/scheduler/filter", filter_args(pod("any", 9), ["a", "b"]))
    service.post("/scheduler/prioritize", filter_args(pod("any"), ["a", "b"]))
    service.post("/scheduler/preempt", {"Pod": pod("any"), **VICTIMS})
    late = pod("train-1", 1)
    api.store.put(late)
    service.wait("the pod is known", lambda: "pod-train-1" in service.ledger()[1])
    assert service.bind(late, "b") is None
    prometheus.wait("it has been read", lambda: prometheus.value('sum(gpu_extender_verb_calls_total{verb="filter"})') not in ([], seen))


def test_the_dashboard_shows_something_and_alerts_know_which_replica(prometheus_binary, api, used, alone, tmp_path):
    """Two replicas: one that is well, and one that has no API server."""
    with Prometheus(prometheus_binary, tmp_path, [used.address, alone.address], rule_groups()) as prometheus:
        keep_using(prometheus, api, used)
        shown = {}
        for title, query in queries():
            shown.setdefault(title, []).append(prometheus.value(query))
        assert {title for title, answers in shown.items() if [] in answers} - MAY_BE_EMPTY == set()
        said = {alert["alert"]: prometheus.value(alert["expr"]) for alert in alerts()}
        assert {name for name, samples in said.items() if samples} == {"GpuExtenderReplicaNotReady"}
        assert [labels["instance"] for labels, _ in said["GpuExtenderReplicaNotReady"]] == [alone.address]
        rules = prometheus.wait("all rules were evaluated", lambda: evaluated(prometheus))
        assert {rule["name"] for rule in rules} == {alert["alert"] for alert in alerts()}
        assert [rule for rule in rules if rule["health"] != "ok" or rule["state"] == "firing"] == []


def evaluated(prometheus):
    rules = [rule for group in prometheus.ask("rules")["groups"] for rule in group["rules"]]
    return rules if all(rule["health"] != "unknown" for rule in rules) else None
