"""Tolerations that the admission plugin DefaultTolerationSeconds adds to every pod: the dry run sees pods before admission.

tests/control-plane/test_nodes.py compares the dry run with a real API server and kube-scheduler.
"""

import pytest
from objects import merged, node, pod

LOST = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
OFF = "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\nadmission: {defaultTolerationSeconds: false}\n"


def tainted(name, *taints):
    return node(name, spec={"taints": [{"key": key, "effect": effect} for key, effect in taints]})


NODES = [
    tainted("ends-not-ready", (LOST[0], "NoExecute")),
    tainted("ends-unreachable", (LOST[1], "NoExecute")),
    tainted("not-ready", (LOST[0], "NoSchedule"), (LOST[0], "NoExecute")),
    tainted("other", ("example.com/repair", "NoExecute")),
]
DEPLOYMENT = {"kind": "Deployment", "metadata": {"name": "web"}, "spec": {"template": {"spec": pod()["spec"]}}}


def verdicts(service, asking):
    (workload,) = service.post("/v1/dry-run", asking).json()["workloads"]
    return {item["node"]: item["message"] for item in workload["nodes"]}


@pytest.mark.parametrize("asking", [pod(), DEPLOYMENT], ids=["Pod", "Deployment"])
def test_a_manifest_gets_them(asking, start_over):
    found = verdicts(start_over(*NODES), asking)
    assert found["ends-not-ready"] == found["ends-unreachable"] == "the pod fits"
    assert f"{LOST[0]}:NoSchedule" in found["not-ready"]
    assert "example.com/repair:NoExecute" in found["other"]


def test_the_policy_turns_them_off(start_over, write):
    found = verdicts(start_over(*NODES, options=["--config", write("policy.yaml", OFF)]), pod())
    for name, key in zip(("ends-not-ready", "ends-unreachable"), LOST):
        assert f"{key}:NoExecute" in found[name]


def test_a_pod_of_the_cluster_has_what_admission_gave_it(start_over):
    """Nothing is added to it: `explain` judges it as kube-scheduler does."""
    plain = pod("plain")
    tolerant = merged(pod("tolerant"), {"spec": {"tolerations": [{"key": LOST[1], "operator": "Exists", "effect": "NoExecute"}]}})
    service = start_over(*NODES, plain, tolerant)
    fits = {
        name: [item["node"] for item in service.get(f"/v1/pods/ml/{name}/explain").json()["nodes"] if item["fits"]]
        for name in ("plain", "tolerant")
    }
    assert fits == {"plain": [], "tolerant": ["ends-unreachable"]}
