"""Prometheus has access through manifests/overlays/monitoring: with the token of its own ServiceAccount, to every replica."""

import os

import yaml
from identity import PATHS, wait_until_given
from monitoring import alerts, queries, rule_groups
from ours import NAME, PEOPLE_PORT
from prometheus import Prometheus, fetched

OVERLAY = "overlays/monitoring"


def endpoint(ours):
    """The endpoint in the ServiceMonitor."""
    with open(os.path.join(ours.manifests, OVERLAY, "service-monitor.yaml"), encoding="utf-8") as file:
        (found,) = yaml.safe_load(file)["spec"]["endpoints"]
    return found


def job(ours, folder, pod, token):
    """(address, rest) as the operator derives them; the Secret's ca.crt is a file here."""
    shown = endpoint(ours)
    (folder / "token").write_text(token, encoding="utf-8")
    tls = {"ca_file": ours.authority, "server_name": shown["tlsConfig"]["serverName"]}
    known = {"authorization": {"credentials_file": str(folder / "token")}}
    return f"{pod['status']['podIP']}:{PEOPLE_PORT}", {"scheme": shown["scheme"], "metrics_path": shown["path"], "tls_config": tls, **known}


def account(kubectl, name):
    """Creates a ServiceAccount in namespace monitoring; returns its token."""
    kubectl("--namespace", "monitoring", "create", "serviceaccount", name)
    return kubectl("--namespace", "monitoring", "create", "token", name).strip()


def test_prometheus_reads_every_replica_and_others_do_not(ours, tmp_path):
    kubectl = ours.cluster.kubectl
    kubectl("create", "namespace", "monitoring")
    tokens = {name: account(kubectl, name) for name in ("prometheus-k8s", "somebody")}
    kubectl("--namespace", NAME, "apply", "--server-side", "--filename", os.path.join(ours.manifests, OVERLAY, "access.yaml"))
    wait_until_given(ours.api, ours.api.get(f"{PATHS['ClusterRoleBinding']}/gpu-extender-metrics"))
    jobs = {}
    for name, token in tokens.items():
        (folder := tmp_path / name).mkdir()
        for pod in ours.replicas():
            jobs[f"{name} {pod['metadata']['name']}"] = job(ours, folder, pod, token)
    with Prometheus(fetched("prometheus"), tmp_path, jobs, rule_groups()) as prometheus:
        up = {labels["job"]: value for labels, value in prometheus.value("up")}
        assert up == {name: float(name.startswith("prometheus-k8s")) for name in jobs} and len(up) == 4
        assert [value for _, value in prometheus.value("gpu_extender_ready")] == [1, 1]
        assert prometheus.value("sum(gpu_extender_leader)") == [({}, 1.0)]
        for title, query in queries():
            assert title not in ("Leader", "The Lease") or prometheus.value(query), query
        assert {alert["alert"] for alert in alerts() if prometheus.value(alert["expr"])} == set()
