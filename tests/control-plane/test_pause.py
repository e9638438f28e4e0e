"""A leader is stopped while its bindings wait for a connection. When it continues, another has decided, and they are not sent."""

import concurrent.futures
import signal

from api import wait_until
from replicas import Replicas, leads_since

GPUS = 8


def bind(replica, item):
    """The answer to the extender's caller: "" if the pod is bound."""
    metadata = item["metadata"]
    names = {"PodName": metadata["name"], "PodNamespace": metadata["namespace"], "PodUID": metadata["uid"]}
    return replica.post("/scheduler/bind", {**names, "Node": "node"}).json()["Error"]


def test_who_was_stopped_sends_nothing_late(proxied):
    live, proxy = proxied, proxied.proxy
    live.add_node("node", "NVIDIA-H100-80GB-HBM3", GPUS)
    replicas = Replicas(live, bind_s=3)  # the most that the Lease allows: holding all takes time on a busy machine
    leader = live.service = replicas.start()
    leads_since(leader)
    other = replicas.start()
    early, late = live.create_all("early", GPUS, 1), live.create_all("late", GPUS, 1)
    live.wait_until_told()
    with concurrent.futures.ThreadPoolExecutor(GPUS) as callers:
        proxy.hold()
        answers = [callers.submit(bind, leader, item) for item in early]
        # Some use an existing connection.
        wait_until(lambda: proxy.n_held + sum(answer.done() for answer in answers) >= GPUS, leader.log.text)
        at_once = [answer for answer in answers if answer.done()]
        assert len(at_once) < GPUS and not any(answer.result() for answer in at_once)
        leader.signal(signal.SIGSTOP)
        proxy.let_go()
        leads_since(other)
        live.service = other
        said = [bind(other, item) for item in late]
        assert said.count("") == GPUS - len(at_once), said
        leader.signal(signal.SIGCONT)
        said = [answer.result() for answer in answers]
        assert said.count("") == len(at_once), said
    live.service = leader
    wait_until(lambda: live.metric("gpu_extender_bind_attempts_open") == 0, leader.log.text)
    assert live.used() == {"node": GPUS}
    live.service = other
    assert live.used() == {"node": GPUS}
