"""Unread events: at the policy's limit the data are stale, and /readyz and a metric report it until the read loop has caught up.
A silent watch is no lag (test_live_silence.py: a quiet cluster).
"""

import re
import threading
import time

import pytest
from fake_api import event_bytes
from objects import filter_args, pod

LAG_S = 2
BURST_BYTES = 1 << 20
BEHIND = re.compile(r"^pods: behind by \d+ s$", re.MULTILINE)
LAG = "gpu_extender_watch_lag_seconds"


@pytest.fixture
def lagging(follow):
    """It no longer holds bindings, and silence opens no watch besides the one that the test controls."""
    service = follow(watchLagSeconds=LAG_S, watchSilenceSeconds=600)
    service.wait_until_it_binds()
    # It listed the pods again only if its first list was older than the end of the hold.
    service.wait(
        "the newest list is followed",
        lambda: service.metric("gpu_extender_watches_total", kind="pods") > service.relists(cause="behind"),
    )
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
    """The service has caught up even before the first event of a watch."""
    lagging.wait("caught up", lambda: lagging.metric("gpu_extender_ready") == 1)
    lagging.wait("all kinds together are", lambda: lagging.metric(LAG) < 5 * LAG_S)


@pytest.mark.parametrize("api", ["http", "tls"], indirect=True)
def test_half_an_event_is_unread(api, lagging):
    """Even if the socket is often empty and the last event arrived just now."""
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
        self.n_events = BURST_BYTES // len(event)
        self.burst, self.watch, self.api = event * self.n_events, watch, api
        self.n_sent, self.over = 0, False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.over:
            self.watch.say(self.burst)
            self.n_sent += self.n_events
            while self.watch.commands and not self.over:
                time.sleep(0.005)  # nothing reports when they are read

    def stop(self):
        self.over = True
        self.thread.join()


def n_read(service):
    return service.metric("gpu_extender_watch_events_total", kind="pods", type="modified")


def wait_until_read(service, n_events):
    """Waits for more events again and again: a slow machine may need minutes for all of them."""
    while (n_before := n_read(service)) < n_events:
        service.wait("it reads on", lambda: n_read(service) > n_before)


@pytest.mark.parametrize("api", ["http", "tls"], indirect=True)
@pytest.mark.long
def test_a_flood_is_a_backlog(api, lagging):
    """Even while it processes other work, including events of the flood."""
    watch = api.watch("pods")
    watch.go_silent()
    n_before = n_read(lagging)
    flood = Flood(api, watch)
    try:
        wait_until_behind(lagging)
    finally:
        flood.stop()
    wait_until_read(lagging, n_before + flood.n_sent)
    lagging.settle()
    assert lagging.metric("gpu_extender_data_stale") == 0, "the API server was followed all the time"
