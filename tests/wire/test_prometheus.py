"""The dashboard's queries and the alerts in a real Prometheus that scrapes two services: one in use, over TLS and with a token as
in a cluster, and one without an API server.
"""

import subprocess

import pytest
from guarded import GuardedFollower
from monitoring import alerts, queries, rule_groups
from objects import filter_args, node, pod
from prometheus import Prometheus

TOKEN = "prometheus-t0ken"
ACCOUNT = "system:serviceaccount:monitoring:prometheus-k8s"
# These services have no quotas, no leader (tests/in-cluster has) and are not beside a kube-scheduler. A list may never start again.
MAY_BE_EMPTY = {"Quotas", "Borrowed GPUs", "Lists started, in the last hour", "Leader", "The Lease", "Pauses of kube-scheduler"}
MAY_BE_EMPTY |= {"Reloads of the policy, and pods woken"}  # none is
# Nothing is observed here.
MAY_BE_EMPTY |= {"Observed pods that would have been rejected", "Observed pods that went elsewhere"}
# Their faults: one has no API server, the other's certificate is good for two days, and their policies name other files.
WRONG = {"GpuExtenderReplicaNotReady", "GpuExtenderCertificateExpires", "GpuExtenderClaimsNotCounted", "GpuExtenderPoliciesDiffer"}
VICTIMS = {"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": "pod-1"}]}}}


@pytest.fixture
def service(api, tmp_path):
    """It reviews Prometheus' token again after a second, so that reviews appear in the metrics."""
    api.people[TOKEN] = {"username": ACCOUNT, "groups": ["system:authenticated"]}
    api.rights.add((ACCOUNT, "get", "/metrics"))
    running = GuardedFollower(api, tmp_path, cacheSeconds=1)
    yield running
    running.stop()


@pytest.fixture
def jobs(service, alone, tmp_path):
    """The jobs of the scrape configurations."""
    (tmp_path / "token").write_text(TOKEN, encoding="utf-8")
    tls = {"scheme": "https", "tls_config": {"ca_file": str(tmp_path / "authority/ca.crt")}}
    known = {**tls, "authorization": {"credentials_file": str(tmp_path / "token")}}
    unknown = {**tls, "authorization": {"credentials": "another"}}
    return {"known": (service.address, known), "unknown": (service.address, unknown), "alone": (alone.address, {})}


def catch_up(service):
    service.wait("the ledger is the truth", lambda: service.ledger() == service.truth())


def bind(api, service, name):
    waiting = pod(name, 1)
    api.store.put(waiting)
    service.wait("the pod is known", lambda: f"pod-{name}" in service.ledger()[1])
    assert service.bind(waiting, "b") is None


def ask(service):
    for gpus in (1, 9):
        service.post("/scheduler/filter", filter_args(pod("any", gpus), ["a", "b"]))
        service.post("/scheduler/prioritize", filter_args(pod("any", gpus), ["a", "b"]))
    service.post("/scheduler/preempt", {"Pod": pod("any"), **VICTIMS})


def test_promtool_reports_nothing_about_such_a_service(promtool, service):
    text = service.get("/metrics").body
    assert b"gpu_extender_tls_" in text and b"gpu_extender_auth_" in text
    done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def use(api, service):
    """Something of everything that is counted: a cordoned node and a pod that a kubelet would not have, too."""
    refused = pod("refused", status={"phase": "Pending"})
    refused["spec"]["nodeName"] = "b"
    api.store.put(refused, node("cordoned", spec={"unschedulable": True}))
    catch_up(service)
    api.store.change("pods", "refused", "ml", status={"phase": "Failed"})
    catch_up(service)
    ask(service)
    bind(api, service, "train-0")


def keep_using(prometheus, api, service):
    """Rates need changes between two scrapes."""
    calls = 'sum(gpu_extender_verb_calls_total{verb="bind"})'
    seen = prometheus.value(calls)
    ask(service)
    bind(api, service, "train-1")
    prometheus.wait("it has been read", lambda: prometheus.value(calls) not in ([], seen))


def evaluated(prometheus):
    rules = [rule for group in prometheus.ask("rules")["groups"] for rule in group["rules"]]
    return rules if all(rule["health"] != "unknown" for rule in rules) else None


def test_the_dashboard_has_data_and_alerts_fire(prometheus_binary, api, service, alone, jobs, tmp_path):
    use(api, service)
    with Prometheus(prometheus_binary, tmp_path, jobs, rule_groups()) as prometheus:
        keep_using(prometheus, api, service)
        prometheus.wait("those that may are served", lambda: {labels["job"]: value for labels, value in prometheus.value("up")} == {"known": 1, "unknown": 0, "alone": 1})
        shown = {}
        for title, query in queries():
            shown.setdefault(title, []).append(prometheus.value(query))
        assert MAY_BE_EMPTY <= shown.keys()
        assert {title for title, answers in shown.items() if [] in answers} - MAY_BE_EMPTY == set()
        said = {alert["alert"]: prometheus.value(alert["expr"]) for alert in alerts()}
        assert {name for name, samples in said.items() if samples} == WRONG
        assert [labels["instance"] for labels, _ in said["GpuExtenderReplicaNotReady"]] == [alone.address]
        rules = prometheus.wait("all rules were evaluated", lambda: evaluated(prometheus))
        assert {rule["name"] for rule in rules} == {alert["alert"] for alert in alerts()}
        assert [rule for rule in rules if rule["health"] != "ok" or rule["state"] == "firing"] == []
