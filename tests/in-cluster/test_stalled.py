"""Waits of GPU pods and CPU-only pods while the leader is away in various ways.

kube-scheduler schedules one pod after another, so a hanging call of filter delays all pods behind it. The figures are printed for
docs/OPERATIONS.md. Required: every pod is placed, none by two replicas, and CPU-only pods without us.
"""

import contextlib
import threading
import time

import faults
import gpus
import pytest
from cluster import PODS, pod
from live import BOUND_BY, node_name
from ours import LEASES, NAME

N_OF_EACH = 20
# Outage with no replica to take over.
OUTAGE_S = 15
KINDS = {"GPU": 1, "CPU-only": 0}


def made(kind, number):
    return pod(f"{kind.lower()}-{number}", KINDS[kind], tolerations=[{**gpus.FAKE, "operator": "Equal"}])


class Arrivals:
    """Pods of both kinds in alternation, created at once; a delay lasts from sending the POST to first seeing the node."""

    def __init__(self, api):
        self.api = api
        self.created, self.placed = {}, {}
        self.watching = threading.Thread(target=self._watch, daemon=True)

    def _watch(self):
        for items in self.api.states(PODS):
            now = time.monotonic()
            for item in items.values():
                if node_name(item):
                    self.placed.setdefault(item["metadata"]["name"], now)
            if len(self.placed) == len(KINDS) * N_OF_EACH:
                return

    def _create(self, path, thing):
        self.created[thing["metadata"]["name"]] = time.monotonic()
        return self.api.create(path, thing)

    def begin(self):
        self.watching.start()
        things = [made(kind, number) for number in range(N_OF_EACH) for kind in KINDS]
        self.api.create_all(PODS, things, self._create)

    def wait(self):
        self.watching.join()
        waiting = self.created.keys() - self.placed.keys()
        assert not waiting, gpus.shown(self.api.states(PODS).__next__())

    def longest_s(self, kind):
        return max(self.placed[name] - self.created[name] for name in self.created if name.startswith(kind.lower()))


def wait_for_a_renewal(api):
    """The longest outage starts right after a renewal."""
    with contextlib.closing(api.watch(LEASES, f"metadata.name={NAME}", 60)) as events:
        next(events)
        next(events)


FAULTS = {
    "nothing happens": (faults.nothing, None),
    "the leader is killed": (faults.killed, None),
    "the leader is frozen": (faults.frozen, None),
    "the leader is black-holed": (faults.black_holed, None),
    "the leader's machine dies": (faults.machine_dies, None),
    "the API server is slow": (faults.api_server_is_slow, None),
    "both replicas are frozen": (faults.both_frozen, OUTAGE_S),
    "both replicas are stopped": (faults.both_stopped, OUTAGE_S),
}


@pytest.mark.parametrize("what", FAULTS)
def test_every_pod_is_placed_once(ours, viewer, make, what, record_property):
    begin, outage_s = FAULTS[what]
    arrivals = Arrivals(ours.api)
    ours.keep_logs()
    wait_for_a_renewal(ours.api)
    with begin(ours):
        arrivals.begin()
        if outage_s:
            arrivals.watching.join(outage_s)
        else:
            arrivals.wait()
    arrivals.wait()
    ours.keep_logs()
    longest = ", ".join(f"{kind} pods {arrivals.longest_s(kind):.1f} s" for kind in KINDS)
    record_property(f"stalled: {what}", f"the longest delay: {longest}")
    ours.wait_until_rolled_out()
    pods = ours.api.get(PODS)["items"]
    by_us = {item["metadata"]["name"] for item in pods if BOUND_BY in item["metadata"].get("annotations", {})}
    assert by_us == {f"gpu-{number}" for number in range(N_OF_EACH)}
    assert sum(ours.used(viewer).values()) == N_OF_EACH
