"""Events that wait unread: the data are stale at the policy's limit, /readyz and a metric say so, and all is well once the read loop has
caught up. That nothing comes is no lag (test_live_silence.py: a quiet cluster).
"""

import re
import threading
import time

import pytest
from fake_api import event_bytes
from objects import filter_args, pod

LAG_S = 2
BURST_BYTES = 4 << 20
BEHIND = re.compile(r"^pods: behind by \d+ s$", re.MULTILINE)
LAG = "gpu_extender_watch_lag_seconds"


@pytest.fixture
def lagging(follow):
    """Its bindings are held no more, and silence opens no other watch than that which a test has in its hands."""
    service = follow(watchLagSeconds=LAG_S, watchSilenceSeconds=600)
    service.wait_until_it_binds()
    service.wait("the list after that is followed", lambda: service.metric("gpu_extender_watches_total", kind="pods") >= 2)
    return service


def filter_error(service):
    return service.post("/scheduler/filter", filter_args(pod(), ["a", "b"])).json()["Error"]


def wait_until_behind(service):
    """In a flood the service catches up for a moment if the fake API server gets no processor time, so every sign is awaited."""
    why = "are behind: events of the API server have waited unread for more than 2 s"
    service.wait("it is behind", lambda: BEHIND.search(service.get("/readyz").text))
    service.wait("the metric says so", lambda: service.metric(LAG, kind="pods") > LAG_S)
    service.wait("it is not ready", lambda: service.metric("gpu_extender_ready") == 0)
    service.wait("filter says so", lambda: why in filter_error(service))
    service.wait("bind says so", lambda: "are behind" in (service.bind(pod(), "b") or ""))


def test_caught_up(lagging):
    """Before anything was said on a watch, too."""
    lagging.wait("caught up", lambda: lagging.metric("gpu_extender_ready") == 1)
    lagging.wait("all kinds together are", lambda: lagging.metric(LAG) < 5 * LAG_S)


@pytest.mark.parametrize("api", ["http", "tls"], indirect=True)
def test_half_an_event_is_unread(api, lagging):
    """However often the socket is empty, and though what came last came just now."""
    watch = api.watch("pods")
    watch.go_silent()
    api.store.put(pod("new-0", 2, on="b"))
    event = event_bytes("ADDED", api.store.get("pods", "new-0", "ml"))
    watch.say(event[:40])
    wait_until_behind(lagging)
    watch.say(event[40:])
    lagging.settle()


class Flood:
    """Events on a watch, as fast as they are taken, until stop()."""

    def __init__(self, api, watch):
        shown = api.store.get("pods", "old-0", "ml")
        event = event_bytes("MODIFIED", shown)
        self.burst, self.watch, self.api = event * (BURST_BYTES // len(event)), watch, api
        self.over = False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.over:
            self.watch.say(self.burst)
            while self.watch.commands and not self.over:
                time.sleep(0.005)  # nobody is told when they are taken

    def stop(self):
        self.over = True
        self.thread.join()


@pytest.mark.parametrize("api", ["http", "tls"], indirect=True)
def test_a_flood_is_a_backlog(api, lagging):
    """Whatever else it may be busy with, events of the flood included."""
    watch = api.watch("pods")
    watch.go_silent()
    flood = Flood(api, watch)
    try:
        wait_until_behind(lagging)
    finally:
        flood.stop()
    lagging.settle()
    assert lagging.metric("gpu_extender_data_stale") == 0, "the API server was followed all the time"
