"""Random clusters: nodes, and the pods that are there before the first case. The same dice give the same cluster.

Running pods have distinct start times, so that no two choices of victims are alike for kube-scheduler.
"""

from agreement.pods import MODELS, PRIORITIES, pod_of

GPU = "nvidia.com/gpu"
ZONE, HOST, POOL, CORES = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "pool", "cores"
NAMESPACES = {"agree-a": {"team": "a", "tier": "prod"}, "agree-b": {"team": "b"}}
RUNTIME_CLASS = "agree-sandboxed"
HELD = "gpu-extender.io/held"  # a finalizer: a deleted pod with it stays

TAINTS = [
    {"key": "dedicated", "value": "train", "effect": "NoSchedule"},
    {"key": "dedicated", "value": "serve", "effect": "NoExecute"},
    {"key": "old", "effect": "PreferNoSchedule"},
    {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"},
    {"key": GPU, "value": "present", "effect": "NoSchedule"},
]


def prepare(api):
    """What all clusters of a control plane share."""
    for name, labels in NAMESPACES.items():
        api.create("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
    for name, (value, preempts) in PRIORITIES.items():
        policy = "PreemptLowerPriority" if preempts else "Never"
        item = {"metadata": {"name": name}, "value": value, "preemptionPolicy": policy}
        api.create("/apis/scheduling.k8s.io/v1/priorityclasses", item)
    overhead = {"podFixed": {"cpu": "250m", "memory": "128Mi"}}
    api.create("/apis/node.k8s.io/v1/runtimeclasses", {"metadata": {"name": RUNTIME_CLASS}, "handler": "none", "overhead": overhead})


def labels_of(dice, name, gpus):
    labels = {HOST: name, CORES: str(dice.choice((8, 16, 32)))}
    if dice.random() < 0.85:
        labels[ZONE] = dice.choice(("z1", "z2", "z3"))
    if dice.random() < 0.6:
        labels[POOL] = dice.choice(("a", "b"))
    if gpus and dice.random() < 0.95:
        labels["nvidia.com/gpu.product"] = dice.choice(MODELS)
    return labels


def node_of(dice, name):
    gpus = dice.choice((0, 1, 2, 4, 4, 8, 8))
    has = {
        "cpu": dice.choice(("4", "8", "16", "31500m")),
        "memory": dice.choice(("16Gi", "64Gi", "128Gi")),
        "ephemeral-storage": dice.choice(("20Gi", "100Gi")),
        "pods": dice.choice(("5", "12", "110")),
    }
    if gpus:
        has[GPU] = str(gpus)
    if dice.random() < 0.15:
        has["amd.com/gpu"] = "4"
    if dice.random() < 0.25:
        has["example.com/fpga"] = str(dice.choice((1, 2)))
    if dice.random() < 0.2:
        has["hugepages-2Mi"] = "512Mi"
    spec = {"taints": [taint for taint in TAINTS if dice.random() < 0.08]}
    if dice.random() < 0.06:
        spec["unschedulable"] = True
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": labels_of(dice, name, gpus)},
        "spec": spec,
        "status": {"capacity": has, "allocatable": has, "conditions": [{"type": "Ready", "status": dice.choice(("True", "True", "False"))}]},
    }


def started(number):
    """A start time of its own for each running pod."""
    return f"2026-03-02T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z"


def running_on(dice, node, number):
    """A pod of the node, whatever is free there; now and then finished or terminating."""
    item = pod_of(dice, f"runs-{number}", alone=False)
    item["metadata"]["namespace"] = dice.choice(list(NAMESPACES))
    spec = item["spec"]
    spec["nodeName"] = node["metadata"]["name"]
    if dice.random() < 0.1:
        spec["runtimeClassName"] = RUNTIME_CLASS
    fate = dice.random()
    item["status"] = {"phase": "Succeeded" if fate < 0.05 else "Running", "startTime": started(dice.randrange(36000) * 2)}
    if 0.05 <= fate < 0.1:
        # It does not end, so it must be nobody's victim.
        item["metadata"]["finalizers"] = [HELD]
        item["metadata"]["deletionTimestamp"] = started(0)
        spec["priorityClassName"] = "agree-high"
    return item


def objects_of(dice):
    """The nodes and pods of a random cluster."""
    nodes = [node_of(dice, f"node-{number}") for number in range(dice.randint(2, 12))]
    fullness = dice.choice((0, 2, 5))
    pods = [(node, i) for node in nodes for i in range(dice.randint(0, fullness))]
    items = [running_on(dice, node, number) for number, (node, _) in enumerate(pods)]
    for number in range(dice.choice((0, 0, 1))):
        gated = pod_of(dice, f"gated-{number}", alone=False)
        gated["metadata"]["namespace"] = "agree-a"
        gated["spec"]["schedulingGates"] = [{"name": "example.com/later"}]
        items.append(gated)
    return nodes, items
