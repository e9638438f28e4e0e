"""The cluster itself: tests of our Deployment rely on what is shown here."""

import urllib.error
import urllib.request

from api import LIMIT_S, wait_until
from real import BUSYBOX

NAMESPACE = "/api/v1/namespaces/bare"
PORT = 8080
LABELS = {"app": "hello"}
COMMAND = ["/bin/busybox", "httpd", "-f", "-p", str(PORT), "-h", "/var/run/secrets/kubernetes.io/serviceaccount"]


def deployment(replicas):
    container = {
        "name": "httpd",
        "image": BUSYBOX,
        "imagePullPolicy": "Never",
        "command": COMMAND,
        "readinessProbe": {"httpGet": {"path": "/namespace", "port": PORT}, "periodSeconds": 1},
        "securityContext": {"readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}, "allowPrivilegeEscalation": False},
    }
    security = {"runAsNonRoot": True, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}}
    pod = {"metadata": {"labels": LABELS}, "spec": {"containers": [container], "securityContext": security}}
    spec = {"replicas": replicas, "selector": {"matchLabels": LABELS}, "template": pod}
    return {"metadata": {"name": "hello"}, "spec": spec}


def content(url):
    """None until kube-proxy knows the pods."""
    try:
        with urllib.request.urlopen(url, timeout=LIMIT_S) as answer:
            return answer.read()
    except urllib.error.URLError:
        return None


def test_a_deployment_becomes_available_and_is_reached_by_its_service(cluster):
    """Pods are scheduled, run by kubelet, given a ServiceAccount's files, reported ready, and reached through the Service's address."""
    api = cluster.api
    api.create("/api/v1/namespaces", {"metadata": {"name": "bare"}})
    service = {"metadata": {"name": "hello"}, "spec": {"selector": LABELS, "ports": [{"port": 80, "targetPort": PORT}]}}
    address = api.create(f"{NAMESPACE}/services", service)["spec"]["clusterIP"]
    path = "/apis/apps/v1/namespaces/bare/deployments"
    api.create(path, deployment(2))
    api.wait_for(path, "metadata.name=hello", lambda seen: seen["status"].get("availableReplicas") == 2)
    assert wait_until(lambda: content(f"http://{address}/namespace"), lambda: f"{address} answers") == b"bare"
