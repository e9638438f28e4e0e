"""GPU nodes beside the real one, run by KWOK, and pods for them alone."""

from cluster import NODES, PODS, node, pod, scheduled
from live import RUN_BY_KWOK, bound, node_name

FAKE = {"key": "kwok.x-k8s.io/node", "value": "fake", "effect": "NoSchedule"}
N_NODES, EACH = 20, 8


def make_nodes(api):
    nodes = [node(f"gpu-{number}", "NVIDIA-H100-80GB-HBM3", EACH) for number in range(N_NODES)]
    for each in nodes:
        each["metadata"]["annotations"] = RUN_BY_KWOK
        each["spec"] = {"taints": [FAKE]}
    api.create_all(NODES, nodes)
    # Until the controllers have seen them ready, they have more taints.
    api.wait_for_all(NODES, lambda items: [each["spec"].get("taints") for each in items.values()].count([FAKE]) == N_NODES)


def make_pods(api, numbers, **more):
    """Creates pods with one GPU each, concurrently. more: of the spec."""
    api.create_all(PODS, [pod(f"burst-{number}", 1, tolerations=[{**FAKE, "operator": "Equal"}], **more) for number in numbers])


def wait_until_bound(api, count):
    return api.wait_for_all(PODS, lambda items: len(bound(items)) >= count, shown)


def shown(items):
    """For messages: number of bound pods, and the conditions of the others."""
    waiting = [f"\n{item['metadata']['name']}: {scheduled(item)}" for item in items.values() if not node_name(item)]
    return f"{len(bound(items))} of {len(items)} are bound{''.join(waiting)}"


def delete_pods(api):
    api.delete_all(PODS)
    api.wait_for_all(PODS, lambda items: not items)
