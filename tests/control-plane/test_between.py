"""Between our filter and our bind another client binds the pod, deletes it or recreates it.

Our watches are delayed until bind is answered, so we have not seen it when bind is called.
"""

import contextlib
import json

import pytest
from api import wait_until
from between import Between
from cluster import GPU, PODS, pod
from live import bound, wait_until_it_binds

MODEL = "NVIDIA-H100-80GB-HBM3"
LAG_S = 3600  # ended earlier


def bind_by_hand(api, name, node_name):
    target = {"apiVersion": "v1", "kind": "Node", "name": node_name}
    api.create(f"{PODS}/{name}/binding", {"metadata": {"name": name}, "target": target})


@pytest.fixture
def live(proxied):
    return proxied


@pytest.fixture
def answer(live):
    """answer(before_bind) -> our service's answer to the first bind of the pod `wanted`, before which before_bind(name, node) was
    called. Two nodes, each with room for one such pod."""
    with contextlib.ExitStack() as ends:

        def run(before_bind):
            first = []

            def once(body):
                if not first:
                    first.append(body)
                    live.proxy.delay(LAG_S)
                    arguments = json.loads(body)
                    before_bind(arguments["PodName"], arguments["Node"])

            def answers():
                return [said for asked, said in between.binds if asked in first]

            for name in ("one", "other"):
                live.add_node(name, MODEL, 8)
            live.start_service()
            wait_until_it_binds(live.service)
            between = ends.enter_context(Between(live.service, once))
            live.start_scheduler(between.address)
            live.create_known("wanted", 8)
            said, *_ = wait_until(answers, live.service.log.text)  # kube-scheduler may have retried
            live.proxy.no_delay()
            return said

        yield run


def other(name):
    return {"one": "other", "other": "one"}[name]


def test_bound_to_another_node(live, answer):
    said = answer(lambda name, node: bind_by_hand(live.api, name, other(node)))
    taken = live.node_of("wanted")
    assert f"to node {taken}" in said["Error"]
    told = live.wait_until_told()
    assert (told[taken]["used"], told[other(taken)]["used"]) == (8, 0)
    live.create("next", 8)
    assert live.node_of("next") == other(taken), "room is still held there"


def test_bound_to_the_same_node(live, answer):
    """The requested state: success, and a line in the log."""
    said = answer(lambda name, node: bind_by_hand(live.api, name, node))
    assert not said["Error"]
    assert live.service.log.wait_for({"level": "warn", "mod": "binds", "pod": "wanted"})
    live.create("next", 8)
    assert live.bound_by_others(live.wait_until_bound(2)) == ["gpu/wanted"]
    assert sorted(live.used().values()) == [8, 8]


def test_deleted(live, answer):
    said = answer(lambda name, _: live.api.delete(f"{PODS}/{name}"))
    assert said["Error"]
    live.create_all("next", 2, 8)
    live.wait_until_bound(2)
    assert sorted(live.used().values()) == [8, 8]


def gpus(item):
    return item["spec"]["containers"][0]["resources"]["limits"][GPU]


def test_deleted_and_recreated_under_the_same_name(live, answer):
    """The binding is for the UID that filter saw: the new pod is bound in a cycle of its own."""

    def replace(name, _):
        live.api.delete(f"{PODS}/{name}")
        live.api.create(PODS, pod(name, 4))

    said = answer(replace)
    assert said["Error"]
    pods = live.api.wait_for_all(PODS, lambda items: [gpus(item) for item in bound(items)] == ["4"])
    assert len(pods) == 1 and not live.bound_by_others(pods)
    assert sorted(live.used().values()) == [0, 4]
