"""Names in manifests/overlays/monitoring exist in each overlay that runs the service. Alerts and dashboard: tests/wire/test_alerts.py."""

import json

import kustomize
import pytest
from kustomize import Kubectl, one


@pytest.fixture(scope="module")
def kubectl(programs, tmp_path_factory):
    return Kubectl(programs, tmp_path_factory.mktemp("monitoring"))


@pytest.fixture(scope="module")
def monitoring(kubectl):
    return kubectl.rendered("monitoring")


@pytest.fixture(scope="module", params=kustomize.WHOLE)
def objects(request, kubectl):
    return kubectl.rendered(request.param)


def identity_of(item):
    return item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"]


def test_monitoring_overlay_combines_with_the_others(monitoring, objects):
    assert {identity_of(item) for item in monitoring} & {identity_of(item) for item in objects} == set()


def selected(monitor, objects):
    """The (service, port) that it selects."""
    labels, ports = monitor["spec"]["selector"]["matchLabels"], {endpoint["port"] for endpoint in monitor["spec"]["endpoints"]}
    services = [item for item in objects if item["kind"] == "Service" and labels.items() <= item["metadata"]["labels"].items()]
    return [(item, port) for item in services for port in item["spec"]["ports"] if port["name"] in ports]


def test_monitoring_reads_the_people_port_of_every_replica(monitoring, objects):
    monitor = one(monitoring, "ServiceMonitor")
    ((service, port),) = selected(monitor, objects)
    assert (service["metadata"]["name"], port["targetPort"]) == ("gpu-extender", "people")
    assert service["metadata"]["namespace"] == monitor["metadata"]["namespace"]
    assert service["spec"]["selector"].items() <= one(objects, "Deployment")["spec"]["template"]["metadata"]["labels"].items()


def test_monitoring_trusts_the_certificate(monitoring, kubectl):
    (endpoint,) = one(monitoring, "ServiceMonitor")["spec"]["endpoints"]
    certificate = one(kubectl.rendered("cert-manager"), "Certificate", "gpu-extender-tls")["spec"]
    assert endpoint["scheme"] == "https" and endpoint["tlsConfig"]["serverName"] in certificate["dnsNames"]
    authority = endpoint["tlsConfig"]["ca"]["secret"]
    assert authority == {"name": certificate["secretName"], "key": "ca.crt"}
    assert "ca.crt" in one(kubectl.rendered("self-signed"), "Secret", authority["name"])["data"]


def test_prometheus_may_read_metrics_and_reach_them(monitoring, objects):
    role = one(objects, "ClusterRole", one(monitoring, "ClusterRoleBinding", "gpu-extender-metrics")["roleRef"]["name"])
    assert role["rules"] == [{"nonResourceURLs": ["/metrics"], "verbs": ["get", "head"]}]
    policy = one(monitoring, "NetworkPolicy", "gpu-extender-metrics")["spec"]
    assert policy["podSelector"] == one(objects, "NetworkPolicy")["spec"]["podSelector"]
    ((port,),) = [rule["ports"] for rule in policy["ingress"]]
    assert port["port"] in {item["name"] for item in one(objects, "Deployment")["spec"]["template"]["spec"]["containers"][0]["ports"]}


def test_grafana_finds_the_dashboard(monitoring):
    found = one(monitoring, "ConfigMap", "gpu-extender-dashboard")
    assert found["metadata"]["labels"] == {"grafana_dashboard": "1"} and found["metadata"]["namespace"] == "gpu-extender"
    (text,) = found["data"].values()
    assert json.loads(text)["uid"] == "gpu-extender"
