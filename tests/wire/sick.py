"""A node of the fake API server whose kubelet rejects pods, until it is in quarantine."""

from objects import pod

POLICY = {"quarantine": {"mode": "avoid", "settleSeconds": 0}}
OBSERVED = {"quarantine": {"mode": "observe", "settleSeconds": 0}}
REJECTED = {"phase": "Failed", "reason": "UnexpectedAdmissionError", "message": "Allocate failed due to no healthy devices present"}
TENANTS = ("ml", "blue", "green")


def lose(service, node, namespace, name="lost", **status):
    """A pod waits, is bound to the node, and its kubelet rejects it."""
    asked = pod(name, metadata={"namespace": namespace, "uid": f"{namespace}-{name}"})
    store = service.api.store
    before = service.metric("gpu_extender_node_pods_refused_total", node=node)
    store.put(asked)
    service.wait("the pod is known", lambda: f"{namespace}-{name}" in service.ledger()[1])
    assert service.bind(asked, node) is None
    service.wait("it is on the node", lambda: f"{namespace}-{name}" in service.ledger()[0][node][1])
    store.change("pods", name, namespace, status={**REJECTED, **status})
    service.wait("the rejection counts", lambda: service.metric("gpu_extender_node_pods_refused_total", node=node) > before)
    store.remove(store.get("pods", name, namespace))


def node_of(service, name):
    return {node["name"]: node for node in service.get("/v1/inventory").json()["nodes"]}[name]


def make_sick(service, node="b"):
    """The last of the tenants is what it takes."""
    for namespace in TENANTS:
        assert "quarantine" not in node_of(service, node)
        lose(service, node, namespace)
    service.wait("the node is marked", lambda: "quarantine" in node_of(service, node))
