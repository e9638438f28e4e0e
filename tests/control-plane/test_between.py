"""Somebody else gets hold of a pod between our filter and our bind: binds it, deletes it, makes it anew."""

import contextlib
import json

import pytest
from between import Between
from cluster import PODS, pod

MODEL = "NVIDIA-H100-80GB-HBM3"
LAG_S = 5  # ended earlier


def bind_by_hand(api, name, node_name):
    target = {"apiVersion": "v1", "kind": "Node", "name": node_name}
    api.create(f"{PODS}/{name}/binding", {"metadata": {"name": name}, "target": target})


@pytest.fixture
def live(proxied):
    return proxied


@pytest.fixture
def start(live):
    """start(before_bind) -> Between: before_bind(name, node) is called once, for the first bind of the pod `wanted`."""
    with contextlib.ExitStack() as ends:

        def run(before_bind):
            left = [before_bind]

            def once(body):
                arguments = json.loads(body)
                if arguments["PodName"] == "wanted" and left:
                    left.pop()(arguments["PodName"], arguments["Node"])

            for name in ("one", "other"):
                live.add_node(name, MODEL, 8)
            live.start_service()
            between = ends.enter_context(Between(live.service, once))
            live.start_scheduler(between.address)
            return between

        yield run


def other(name):
    return {"one": "other", "other": "one"}[name]


def test_bound_to_another_node(live, start):
    between = start(lambda name, node: bind_by_hand(live.api, name, other(node)))
    live.create("wanted", 8)
    taken = live.node_of("wanted")
    told = live.wait_until_told()
    assert (told[taken]["used"], told[other(taken)]["used"]) == (8, 0)
    live.create("next", 8)
    assert live.node_of("next") == other(taken), "room is still held there"
    assert taken in between.binds[0]["Error"]


def test_bound_to_the_same_node(live, start):
    """That is what was asked for: success, and a word in the log. We have not seen it when we are asked: our watches lag."""

    def bind(name, node):
        live.proxy.delay(LAG_S)
        bind_by_hand(live.api, name, node)

    between = start(bind)
    live.create("wanted", 8)
    live.node_of("wanted")
    assert live.service.log.wait_for({"level": "warn", "mod": "binds", "pod": "wanted"})
    live.proxy.no_delay()
    live.create("next", 8)
    assert live.node_of("next") != live.node_of("wanted")
    assert sorted(live.used().values()) == [8, 8]
    assert not between.binds[0].get("Error")
    assert live.bound_by_others(live.wait_until_bound(2)) == ["gpu/wanted"]


def test_deleted(live, start):
    between = start(lambda name, _: live.api.delete(f"{PODS}/{name}"))
    live.create("wanted", 8)
    live.api.wait_for_all(PODS, lambda items: not items)
    live.create_all("next", 2, 8)
    live.wait_until_bound(2)
    assert sorted(live.used().values()) == [8, 8]
    assert between.binds[0]["Error"]


def test_deleted_and_made_anew_under_the_same_name(live, start):
    """The binding is for the UID that filter saw: the new pod is not bound by it, but by a cycle of its own."""

    def replace(name, _):
        live.api.delete(f"{PODS}/{name}")
        live.api.create(PODS, pod(name, 4))

    between = start(replace)
    live.create("wanted", 8)
    pods = live.api.wait_for_all(
        PODS, lambda items: [item for item in items.values() if item["spec"].get("nodeName") and item["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "4"]
    )
    assert len(pods) == 1 and not live.bound_by_others(pods)
    assert sorted(live.used().values()) == [0, 4]
    assert between.binds[0]["Error"] and not between.binds[-1].get("Error")
