"""Preemption on a real control plane: nobody is evicted for nothing, and what was made free goes to whom it was made for."""

from cluster import ABOVE, PODS

H100 = "NVIDIA-H100-80GB-HBM3"
T4 = "Tesla-T4"
KEPT, VETOED = {"verdict": "kept"}, {"verdict": "vetoed"}
CANDIDATES = "gpu_extender_preempt_candidates_total"


def fill(live, prefix, count, model):
    """Nodes with 4 GPUs, each full of pods with one; node -> names of its pods."""
    live.add_nodes(prefix, count, model, 4)
    running = {}
    for number in range(count):
        node = f"{prefix}-{number}"
        running[node] = {f"on-{node}-{i}" for i in range(4)}
        for name in running[node]:
            live.add_running(name, node, 1)
    return running


def there(live):
    return {item["metadata"]["name"] for item in live.api.get(PODS)["items"] if "deletionTimestamp" not in item["metadata"]}


def test_only_nodes_of_the_wanted_model_are_evicted_from(live):
    """A pod of a higher priority that wants 4 H100; all nodes are full. One of the same priority that comes meanwhile gets none of it."""
    h100, t4 = fill(live, "h100", 2, H100), fill(live, "t4", 3, T4)
    before = set().union(*h100.values(), *t4.values())
    live.start()
    live.create("first", 4, models="H100", priority_class=ABOVE)
    live.create("low", 1)  # kube-scheduler's next: the room is not for it
    node = live.node_of("first")
    assert node in h100
    assert before - there(live) == h100[node], "these four and nobody else"
    assert live.metric(CANDIDATES, **KEPT) >= 2 and live.metric(CANDIDATES, **VETOED) >= 3
    assert "nodeName" not in live.api.get(f"{PODS}/low")["spec"]


def test_where_no_node_would_do_nobody_is_evicted(live):
    t4 = fill(live, "t4", 3, T4)
    before = set().union(*t4.values())
    live.start()
    live.create("first", 4, models="H100", priority_class=ABOVE)
    condition = live.refusal_of("first")
    assert "no candidate node for preemption" in condition["message"], condition
    assert there(live) == before | {"first"}
    assert live.metric(CANDIDATES, **KEPT) == 0 and live.metric(CANDIDATES, **VETOED) >= 3
