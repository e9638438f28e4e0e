"""Many pods at once: as many as GPUs, more than GPUs, and the state after all are deleted."""

import pytest
from cluster import NODES, PODS, is_refused, scheduled
from live import bound

FREE = {"H100": 60, "A100": 60, "T4": 80}  # 200


def build(live):
    """Mixed nodes with 200 free GPUs: partly used, whole and small ones; one cordoned, one without GPUs."""
    live.add_nodes("h100", 10, "NVIDIA-H100-80GB-HBM3", 8)
    for number in range(10):
        live.create(f"there-{number}", 2, node_name=f"h100-{number}")
    live.add_nodes("a100", 15, "NVIDIA-A100-SXM4-80GB", 4)
    live.add_nodes("t4", 20, "Tesla-T4", 4)
    live.add_nodes("cordoned", 1, "Tesla-T4", 8)
    live.api.merge(f"{NODES}/cordoned-0", {"spec": {"unschedulable": True}})
    live.add_nodes("cpu", 1, "", 0)


def burst(live):
    """As many pods of each model as it has free GPUs."""
    for model, count in FREE.items():
        live.create_all(f"burst-{model.lower()}", count, 1, models=model)


def everything_is_used(live):
    used = live.used()
    full = {name: 8 if name.startswith("h100") else 4 for name in used if name.startswith(("h100", "a100", "t4"))}
    assert used == {**full, "cordoned-0": 0, "cpu-0": 0}


@pytest.fixture
def busy(live):
    build(live)
    return live


def test_burst_fills_all_gpus_exactly(busy):
    busy.start()
    burst(busy)
    pods = busy.wait_until_bound(200, "burst")
    assert not busy.bound_by_others({key: item for key, item in pods.items() if "burst" in key})
    everything_is_used(busy)

    busy.api.delete_all(PODS)
    busy.api.wait_for_all(PODS, lambda items: not items)
    assert set(busy.used().values()) == {0}


def test_burst_larger_than_the_gpus_waits_with_reasons(busy):
    """The others wait, each with kube-scheduler's reason and our explanation, and are bound as others end."""
    busy.start()
    busy.create_all("burst", 300, 1)

    def hundred_wait_and_say_why(items):
        left = waiting(items).values()
        return len(left) == 100 and all(is_refused(item) and "Insufficient nvidia.com/gpu" in scheduled(item)["message"] for item in left)

    pods = busy.api.wait_for_all(PODS, hundred_wait_and_say_why, busy.shown)
    everything_is_used(busy)
    is_explained(busy, pods)

    for item in [item for item in bound(pods) if item["metadata"]["name"].startswith("burst")][:100]:
        busy.api.delete(f"{PODS}/{item['metadata']['name']}")
    pods = busy.wait_until_bound(200, "burst")
    assert not waiting(pods)
    everything_is_used(busy)
    assert pending(busy) == {}


def waiting(items):
    return {key: item for key, item in items.items() if not item["spec"].get("nodeName")}


def pending(live):
    """GET /v1/pending: {namespace/name: pod}."""
    answer = live.service.get("/v1/pending")
    assert answer.status == 200, answer
    return {f"{item['namespace']}/{item['name']}": item for item in answer.json()["pods"]}


def is_explained(live, pods):
    """Every waiting pod is reported with kube-scheduler's message and the number of nodes that lack GPUs, and our ledger agrees."""
    told = pending(live)
    assert told.keys() == waiting(pods).keys()
    for item in told.values():
        assert "Insufficient nvidia.com/gpu" in item["schedulerSays"]["message"], item
        assert item["reasons"], item
