"""Small Kubernetes objects and lists for the tests, valid unless a test requests a fault.

By default a node has 8 A100 and a pod requests one GPU. This module does not use the service.
"""

import copy
import json

GPU = "nvidia.com/gpu"
A100 = "NVIDIA-A100-SXM4-80GB"


def merged(base, changes):
    """A copy of base with the changes merged in; None removes a member."""
    result = copy.deepcopy(base)
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merged(result[key], value)
        else:
            result[key] = value
    return result


def node(name, gpus=8, model=A100, resource=GPU, **changes):
    """model None: no model label; gpus None: no such resource. changes: metadata={...}, spec={...}, status={...}."""
    amounts = {"cpu": "64", "memory": "512Gi", "pods": "110"}
    if gpus is not None:
        amounts[resource] = str(gpus)
    return merged(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "uid": f"node-{name}", "labels": {"nvidia.com/gpu.product": model} if model else {}},
            "spec": {},
            "status": {
                "capacity": dict(amounts),
                "allocatable": dict(amounts),
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        },
        changes,
    )


def container(name="main", gpus=1, resource=GPU, **changes):
    limits = {} if gpus is None else {resource: str(gpus)}
    return merged({"name": name, "image": "registry.local/train:3", "resources": {"limits": limits}}, changes)


def pod(name="train-0", gpus=1, on=None, resource=GPU, **changes):
    """on: its node. gpus None: it requests none."""
    made = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "ml", "uid": f"pod-{name}"},
        "spec": {"containers": [container(gpus=gpus, resource=resource)]},
        "status": {"phase": "Running" if on else "Pending"},
    }
    if on:
        made["spec"]["nodeName"] = on
    return merged(made, changes)


def annotated(name="train-0", gpus=1, **annotations):
    """A pod with gpu-extender annotations: annotated(models="A100") sets gpu-extender.io/models."""
    named = {"gpu-extender.io/" + key.replace("_", "-"): value for key, value in annotations.items()}
    return pod(name, gpus, metadata={"annotations": named})


def object_list(*objects, kind="List"):
    return {"apiVersion": "v1", "kind": kind, "metadata": {"resourceVersion": ""}, "items": list(objects)}


def list_text(*objects):
    return json.dumps(object_list(*objects))


def kindless(item):
    """The items as in a NodeList or PodList of the API server."""
    return {key: value for key, value in item.items() if key not in ("kind", "apiVersion")}


def filter_args(asking, names=None, nodes=None):
    """ExtenderArgs as kube-scheduler sends them: all members there, the pod without kind and apiVersion."""
    return {
        "Pod": kindless(asking),
        "Nodes": None if nodes is None else {"metadata": {}, "items": [kindless(item) for item in nodes]},
        "NodeNames": None if names is None else list(names),
    }


def preempt_args(asking, victims, whole=False):
    """ExtenderPreemptionArgs; victims: node -> UIDs. A node's count of violations is the length of its name, so that tests recognise it."""
    made = {}
    for name, uids in victims.items():
        pods = [{"metadata": {"uid": uid, "name": uid, "namespace": "ml"}} if whole else {"UID": uid} for uid in uids]
        made[name] = {"Pods": pods, "NumPDBViolations": len(name)}
    return {
        "Pod": kindless(asking),
        "NodeNameToVictims": made if whole else None,
        "NodeNameToMetaVictims": None if whole else made,
    }


BIND_ARGS = {"PodName": "train-0", "PodNamespace": "ml", "PodUID": "pod-train-0", "Node": "a"}


def fill(store):
    """The initial objects of a fake API server (fake_store.py)."""
    namespace = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "ml", "uid": "ns-ml"}}
    store.put(namespace, node("a"), node("b", 4), *(pod(f"old-{i}", on="a") for i in range(3)))


# Members of answers that pass with time.
TIMES = ("asOf", "ageSeconds", "lagSeconds", "waitsSeconds")


def ageless(value, without=TIMES):
    """An answer without what passes with time."""
    if isinstance(value, dict):
        return {key: ageless(each, without) for key, each in value.items() if key not in without}
    return [ageless(each, without) for each in value] if isinstance(value, list) else value
