"""A real kubelet refuses a pod, and we count it: docs/RUNBOOKS.md, GpuExtenderNodeRefusesPods."""

import re

from api import wait_until
from real import BUSYBOX, NODE
from service import Service

PODS = "/api/v1/namespaces/refused/pods"
COUNT = re.compile(rf'^gpu_extender_node_pods_refused_total{{node="{NODE}",cause="other"}} (\d+)$', re.MULTILINE)


def pod(name, cpu, *command):
    """A pod bound to the node as if by a scheduler."""
    container = {"name": "main", "image": BUSYBOX, "imagePullPolicy": "Never", "command": ["/bin/busybox", *command], "resources": {"requests": {"cpu": cpu}}}
    return {"metadata": {"name": name}, "spec": {"nodeName": NODE, "restartPolicy": "Never", "containers": [container]}}


def count(service):
    return sum(map(int, COUNT.findall(service.get("/metrics").text)))


def is_over(item):
    return item["status"]["phase"] in ("Succeeded", "Failed")


def test_only_pods_rejected_by_the_kubelet_are_counted(cluster):
    """Pods that ended before they were seen running do not count, nor pods deleted while pending."""
    api = cluster.api
    api.create("/api/v1/namespaces", {"metadata": {"name": "refused"}})
    account = "/api/v1/namespaces/refused/serviceaccounts"
    api.wait_for(account, "metadata.name=default", lambda item: item)
    service = Service("--kubeconfig", cluster.kubeconfig())
    try:
        api.create_all(PODS, [pod("short", "1m", "true"), pod("wrong", "1m", "false"), pod("nothing", "1m", "no-such-applet")])
        for name in ("short", "wrong", "nothing"):
            api.wait_for(PODS, f"metadata.name={name}", is_over)
        api.create_all(PODS, [pod(f"large-{i}", "100000", "true") for i in range(5)])
        for i in range(5):
            seen = api.wait_for(PODS, f"metadata.name=large-{i}", is_over)
            assert seen["status"]["reason"] == "OutOfcpu", seen["status"]
        wait_until(lambda: count(service) >= 5, lambda: f"5 are counted, not {count(service)}")
        assert count(service) == 5
    finally:
        service.stop()
