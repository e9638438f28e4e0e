"""Faults of the replicas, as context managers that restore the original state. Each takes Ours."""

import contextlib
import os
import signal
import threading

from ours import DEPLOYMENTS, NAME, PODS
from real import run

# How long the API server is stopped in each second.
SLOW_S = 0.8


def _drop(flag, address):
    """Drops packets to and from a pod's address; flag: -I starts, -D ends it."""
    for chain, option in (("INPUT", "-s"), ("OUTPUT", "-d"), ("FORWARD", "-s"), ("FORWARD", "-d")):
        run("iptables", "-w", flag, chain, option, address, "-j", "DROP")


@contextlib.contextmanager
def nothing(_):
    yield


@contextlib.contextmanager
def killed(ours):
    """The kubelet restarts it."""
    ours.kill(ours.leader())
    yield


@contextlib.contextmanager
def frozen(ours):
    ours.freeze(ours.leader())
    try:
        yield
    finally:
        ours.thaw()


@contextlib.contextmanager
def black_holed(ours):
    """The leader is cut off: it neither sends nor receives."""
    address = ours.leader()["status"]["podIP"]
    _drop("-I", address)
    try:
        yield
    finally:
        _drop("-D", address)


@contextlib.contextmanager
def machine_dies(ours):
    """The leader dies, and no process is left to report it."""
    leader = ours.leader()
    with black_holed(ours):
        ours.kill(leader)
        yield


@contextlib.contextmanager
def api_server_is_slow(ours):
    """The API server is stopped for most of each second."""
    over, pid = threading.Event(), ours.cluster.apiserver.process.pid

    def stop_and_go():
        while not over.is_set():
            os.kill(pid, signal.SIGSTOP)
            over.wait(SLOW_S)
            os.kill(pid, signal.SIGCONT)
            over.wait(1 - SLOW_S)

    stopping = threading.Thread(target=stop_and_go, daemon=True)
    stopping.start()
    try:
        yield
    finally:
        over.set()
        stopping.join()


@contextlib.contextmanager
def both_frozen(ours):
    for replica in ours.replicas():
        ours.freeze(replica)
    try:
        yield
    finally:
        ours.thaw()


@contextlib.contextmanager
def both_stopped(ours):
    """Scales the Deployment to 0 and back, as a user might."""

    def scale(replicas):
        ours.api.merge(f"{DEPLOYMENTS}/{NAME}", {"spec": {"replicas": replicas}})
        ours.api.wait_for_all(PODS, lambda pods: len(pods) == replicas)

    before = len(ours.replicas())
    scale(0)
    try:
        yield
    finally:
        scale(before)
