"""An API server that is silent or unresponsive until the data are stale. Then filter, prioritize and bind reject with that reason;
users are still answered and see the age of the data. These tests mostly wait, so all run in parallel.
"""

import concurrent.futures
import re

import objects
import pytest
from fake_api import FakeApi, bookmark
from follow import ROUNDED_S, SILENCE_S, Follower
from objects import filter_args, node, pod

FIRST_DELAY_S = 0.8
READY_LINE = re.compile(r"^pods: stale since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ: \w+$", re.MULTILINE)


def change(api):
    api.store.put(pod("new-0", 2, on="b"))


def filter_error(service):
    return service.post("/scheduler/filter", filter_args(pod(), ["a", "b"])).json()["Error"]


def refuses(service, why):
    """Every verb is rejected; users are answered."""
    asking = filter_args(pod(), ["a", "b"])
    found = service.post("/scheduler/filter", asking).json()
    assert why in found["Error"] and not found.get("NodeNames"), found
    assert service.post("/scheduler/prioritize", asking).json() == [], "no opinion"
    assert why in service.bind(pod(), "b")
    assert READY_LINE.search(service.get("/readyz").text)
    for path in ("/v1/inventory", "/v1/pending"):
        answer = service.get(path).json()
        assert not answer["usable"] and why in answer["unusableBecause"]
    assert service.freshness("pods")["ageSeconds"] >= 1
    assert service.metric("gpu_extender_data_stale", kind="pods") == 1


def stale(service):
    service.wait("it is stale", lambda: service.freshness("pods")["stale"])


def a_watch_goes_silent_without_closing(api, service):
    """The probe shows a newer version, and a new watch delivers it. Nothing is listed."""
    watch = api.watch("pods")
    watch.go_silent()
    change(api)
    api.watch("pods", after=watch)
    service.settle()
    assert service.metric("gpu_extender_watch_probes_total", kind="pods") >= 1
    assert service.relists() == 1


def a_quiet_cluster_is_no_fault(api, service):
    """Two probes show that nothing was missed."""
    service.wait("asked", lambda: service.metric("gpu_extender_watch_probes_total", kind="nodes") >= 2)
    service.wait("it is not stale", lambda: service.metric("gpu_extender_data_stale") == 0)
    service.wait("silence is no lag, either, whatever the limit", lambda: service.metric("gpu_extender_ready") == 1)
    assert service.relists("nodes") == 1
    lists = service.metric("gpu_extender_watch_relists_total")
    assert service.metric("gpu_extender_self_checks_total") > lists + 2, "the ledger is checked in quiet times, too"
    service.settle()


def a_probe_is_refused(api, service):
    api.faults.fail("list pods", 500, times=None)
    api.watch("pods").go_silent()
    change(api)
    stale(service)
    refuses(service, "the pods are stale: GET /api/v1/pods: 500: told to fail with 500")
    api.faults.heal()
    service.settle()


def a_probe_is_not_answered(api, service):
    """The service follows nodes meanwhile."""
    hold = api.faults.hold("list pods")
    api.watch("pods").go_silent()
    change(api)
    stale(service)
    refuses(service, "the pods are stale")
    api.store.put(node("c"))
    service.wait("node c is known", lambda: "c" in service.ledger()[0])
    hold.release()
    service.settle()


def nothing_but_500(api, service):
    """Each delay is twice the previous one."""
    n_before, watch = api.faults.count("* pods"), api.watch("pods")
    api.faults.fail("* pods", 500, times=None)
    watch.go_silent()
    watch.say(bookmark("pods", api.store.version))
    watch.end()
    change(api)
    stale(service)
    service.wait("the list fails, too", lambda: "GET /api/v1/pods: 500" in filter_error(service))
    refuses(service, "the pods are stale: GET /api/v1/pods: 500")
    api.faults.wait_asked("* pods", n_before + 3)
    times = api.faults.times_of("* pods")[n_before:]
    api.faults.heal()
    service.settle()
    pauses = [after - before for before, after in zip(times, times[1:])]
    for i, pause in enumerate(pauses):
        assert pause >= FIRST_DELAY_S * 2**i - ROUNDED_S, pauses


SCENARIOS = [
    a_watch_goes_silent_without_closing,
    a_quiet_cluster_is_no_fault,
    a_probe_is_refused,
    a_probe_is_not_answered,
    nothing_but_500,
]


def run(scenario, folder):
    with FakeApi() as api:
        objects.fill(api.store)
        service = Follower(api, folder, watchSilenceSeconds=SILENCE_S, watchLagSeconds=2, bindTimeoutSeconds=2)
        try:
            service.settle()
            service.wait_until_it_binds()
            scenario(api, service)
        finally:
            service.stop()


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    with concurrent.futures.ThreadPoolExecutor(len(SCENARIOS)) as pool:
        yield {scenario: pool.submit(run, scenario, tmp_path_factory.mktemp("silence")) for scenario in SCENARIOS}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_silence_scenario(scenario, runs):
    runs[scenario].result()
