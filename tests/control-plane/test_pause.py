"""A leader is stopped while its bindings wait for a connection. When it continues, another has decided, and they are not sent."""

import concurrent.futures
import signal

from api import LIMIT_S, wait_until
from cluster import PODS
from live import node_name
from replicas import EXPIRES, Replicas, leads_since

GPUS = 8


def bind(replica, item):
    """The answer to the extender's caller: "" if the pod is bound."""
    metadata = item["metadata"]
    names = {"PodName": metadata["name"], "PodNamespace": metadata["namespace"], "PodUID": metadata["uid"]}
    return replica.post("/scheduler/bind", {**names, "Node": "node"}).json()["Error"]


def begun(live, answers):
    """Number of bindings that the leader has answered or tries to send."""
    return sum(answer.done() for answer in answers) + live.metric("gpu_extender_bind_attempts_open")


def bound_names(live):
    return {item["metadata"]["name"] for item in live.api.get(PODS)["items"] if node_name(item)}


def test_paused_leader_sends_no_late_binding(proxied):
    live, proxy = proxied, proxied.proxy
    live.add_node("node", "NVIDIA-H100-80GB-HBM3", GPUS)
    replicas = Replicas(live, EXPIRES._replace(bind_s=17))  # the most; on a busy machine it takes long until all are held
    leader = live.service = replicas.start()
    leads_since(leader)
    other = replicas.start()
    early, late = live.create_all("early", GPUS, 1), live.create_all("late", GPUS, 1)
    live.wait_until_told()
    with concurrent.futures.ThreadPoolExecutor(GPUS) as callers:
        proxy.hold()
        proxy.delay(LIMIT_S)  # no connection gets free for a second binding
        answers = {item["metadata"]["name"]: callers.submit(bind, leader, item) for item in early}
        wait_until(lambda: begun(live, answers.values()) == GPUS and proxy.n_held > 0, leader.log.text)
        leader.signal(signal.SIGSTOP)
        assert not any(answer.result() for answer in answers.values() if answer.done())
        proxy.let_go()
        proxy.no_delay()
        leads_since(other)
        at_once = bound_names(live)  # by a connection that was open already
        assert len(at_once) < GPUS
        live.service = other
        said = [bind(other, item) for item in late]
        assert said.count("") == GPUS - len(at_once), said
        leader.signal(signal.SIGCONT)
        said = {name: answer.result() for name, answer in answers.items()}
        assert {name for name, error in said.items() if not error} <= at_once, said
    live.service = leader
    wait_until(lambda: live.metric("gpu_extender_bind_attempts_open") == 0, leader.log.text)
    assert live.used() == {"node": GPUS}
    live.service = other
    assert live.used() == {"node": GPUS}
