"""Pods through the real kube-scheduler and our filter, prioritize and bind, with our service following the real API server."""

from api import wait_until
from cluster import NOT_WANTED, PODS
from live import BOUND_BY, node_name, wait_until_it_binds

MODELS = {"a100": "NVIDIA-A100-SXM4-80GB", "h100": "NVIDIA-H100-80GB-HBM3", "t4": "Tesla-T4"}


def add_one_of_each_model(live, gpus=8):
    for name, model in MODELS.items():
        live.add_node(name, model, gpus)


def test_pods_land_on_the_requested_model(live):
    add_one_of_each_model(live)
    live.start()
    orders = {"t4": "T4, A100, H100", "a100": "A100, H100, T4", "h100": "H100"}
    wanted = {f"wants-{first}-{number}": first for number in range(3) for first in orders}
    for name, first in wanted.items():
        live.create(name, 2, models=orders[first])
    pods = live.wait_until_bound(len(wanted))
    assert {item["metadata"]["name"]: node_name(item) for item in pods.values()} == wanted
    assert not live.bound_by_others(pods)
    assert live.used() == {"a100": 6, "h100": 6, "t4": 6}
    bound_by = pods["gpu/wants-t4-0"]["metadata"]["annotations"][BOUND_BY]
    version, _, instance = bound_by.partition("/")
    assert version and instance, bound_by
    assert "Successfully assigned gpu/wants-t4-0 to t4" in live.event_of("wants-t4-0", "Scheduled")


def test_binpack_counts_pods_bound_just_now(live):
    """The second and third pod arrive when the first is reserved or bound: they join it, though another node is idle."""
    live.add_node("one", MODELS["h100"], 4)
    live.add_node("other", MODELS["h100"], 4)
    live.start()
    for name in ("first", "second", "third", "fourth"):
        live.create(name, 1, models="H100")
        live.node_of(name)
    assert sorted(live.used().values()) == [0, 4]


def test_pods_from_before_the_start_count(live):
    """Started in a cluster in use: with running, finished and terminating pods."""
    live.add_node("here", MODELS["a100"], 8)
    live.add_running("runs", "here", 5)
    live.add_running("ended", "here", 3)
    live.api.merge(f"{PODS}/ended/status", {"status": {"phase": "Succeeded"}})
    live.start_service()
    assert live.used() == {"here": 5}
    live.api.merge(f"{PODS}/runs/status", {"status": {"phase": "Failed"}})
    live.wait_until_told()
    live.start_scheduler()
    live.create("all", 8, models="A100")
    assert live.node_of("all") == "here"


# Nodes, pods, failed pods, namespaces, priority classes, device classes, slices, claims, claim templates, disruption budgets, pod groups.
N_WATCHES = 11


def bind_one(live, number):
    """Creates that pod and waits until our service counts its binding as done."""
    live.create(f"pod-{number}", 1)
    wait_until(lambda: live.metric("gpu_extender_binds_total") == number, live.service.log.text)


def test_connections_are_kept(proxied):
    """Each watch has one, and a binding reuses the previous one's. The server has no taint rules, and pod groups of another version
    only: the requests that found that out used connections of their own or others'."""
    proxied.add_node("node", MODELS["h100"], 8)
    proxied.start()
    wait_until_it_binds(proxied.service)
    bind_one(proxied, 1)
    before = set(proxied.proxy.connections)
    for number in range(2, 9):
        bind_one(proxied, number)
    proxied.wait_until_bound(8)
    assert N_WATCHES + 1 <= len(before) <= N_WATCHES + 3 and proxied.proxy.connections <= before


def test_pending_pod_shows_the_reason(live):
    """Condition and event, as in `kubectl describe`: a pod that only we reject, and one that no node fits."""
    add_one_of_each_model(live)
    live.start()
    live.create("wrong-model", 1, models="B200")
    live.create("too-many", 9)
    assert f"0/3 nodes are available: 3 {NOT_WANTED}." in live.refusal_of("wrong-model")["message"]
    assert f"3 {NOT_WANTED}." in live.event_of("wrong-model", "FailedScheduling")
    assert "3 Insufficient nvidia.com/gpu" in live.refusal_of("too-many")["message"]
