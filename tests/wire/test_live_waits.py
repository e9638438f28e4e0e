"""Filter over a watch that is late: a pod with a nominated node waits for its room a moment, as by an error it would lose that node. One that
is refused is asked about once more, by an error that says what the refusal said."""

import concurrent.futures
import contextlib
import signal
import time

import pytest
from objects import annotated, filter_args, merged, pod

BEHIND = "gpu-extender: the ledger is behind kube-scheduler: retry"
# Of which a millisecond is missing, by the clock.
WAIT_S = 1 - 0.001


@pytest.fixture
def first(api, follower):
    """A pod requests all of b, where a victim still runs in our ledger. From now on the watch of pods is silent."""
    victim = pod("victim", 1, on="b", spec={"priority": 0})
    api.store.put(victim, pod("other", 1))
    follower.settle()
    api.watch("pods").go_silent()
    return pod("first", 4, spec={"priority": 10}, status={"nominatedNodeName": "b"})


@contextlib.contextmanager
def asking(follower, first):
    """The future answer of a call, once it waits; or its answer, if the budget of waits is spent."""
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        answer = thread.submit(follower.post, "/scheduler/filter", filter_args(first, ["b"]))
        follower.wait("it waits", lambda: answer.done() or follower.metric("gpu_extender_http_body_bytes", **{"for": "verbs"}) > 0)
        yield answer


@pytest.fixture
def asked(follower, first):
    with asking(follower, first) as answer:
        yield answer


def waits(service, result):
    return service.metric("gpu_extender_filter_waits_total", result=result)


def test_the_watch_is_a_little_late(api, follower, first):
    """The answer uses the late event, and kube-scheduler gets no error.

    A machine may stall for as long as a call waits. Then the victim comes back, and a later call waits for its end: calls wait for one
    second in 20 (waits.h).
    """
    victim = api.store.get("pods", "victim", "ml")

    def helped():
        watch = api.watch("pods")  # after a silence of five seconds there is a new one
        watch.go_silent()
        with asking(follower, first) as asked:
            watch.tell("DELETED", victim)
            answer.update(asked.result().json())
        if waits(follower, "helped"):
            return True
        assert answer["Error"] == BEHIND
        watch.tell("ADDED", victim)
        follower.wait("the victim is back", lambda: victim["metadata"]["uid"] in follower.ledger()[0]["b"][1])
        return False

    answer = {}
    follower.wait("a call was helped", helped)
    assert (answer["Error"], answer["NodeNames"]) == ("", ["b"])
    assert follower.metric("gpu_extender_filter_verdicts_total", verdict="fits") == 1, "counted as it was answered"
    decision = follower.get("/v1/decisions?verb=filter").json()["decisions"][0]
    assert decision["verdicts"] == {"fits": 1}


def test_the_watch_is_too_late(follower, first):
    """kube-scheduler places no pod meanwhile, so the wait is short."""
    began = time.monotonic()
    answer = follower.post("/scheduler/filter", filter_args(first, ["b"])).json()
    assert answer["Error"] == BEHIND
    assert time.monotonic() - began >= WAIT_S
    assert (waits(follower, "in_vain"), waits(follower, "helped")) == (1, 0)
    assert follower.metric("gpu_extender_filter_ledger_behind_total") == 1
    (decision,) = follower.get("/v1/decisions?verb=filter").json()["decisions"]
    assert decision["error"] == BEHIND and decision["tookMicroseconds"] >= WAIT_S * 1000000


def test_a_stop_answers_waiting_requests(follower, first, asked):
    follower.signal(signal.SIGTERM)
    assert asked.result().json()["Error"] == BEHIND
    follower.stop()


def test_only_requests_that_would_lose_a_node_wait(follower, first):
    """A pod without a nomination gets the error at once."""
    del first["status"]["nominatedNodeName"]
    assert follower.post("/scheduler/filter", filter_args(first, ["b"])).json()["Error"] == BEHIND
    assert waits(follower, "in_vain") == waits(follower, "helped") == 0


REASONS = "gpu-extender: 0/3 nodes fit: 1 the node is not in the inventory, 2 the node's GPU model is not one that the pod asks for"
ONCE_MORE = f"{REASONS} (retry once: the ledger may be behind kube-scheduler)"


def test_the_error_of_a_repeat_names_the_reason(follower):
    """The Error comes with an unchanged ledger, and not twice in a row."""

    def ask(version):
        asking = merged(annotated(models="H100"), {"metadata": {"resourceVersion": version}})
        return follower.post("/scheduler/filter", filter_args(asking, ["a", "b", "gone"])).json()

    errors = [ask(version).get("Error") for version in ("7", "7", "7", "8", "8")]
    assert errors == ["", ONCE_MORE, "", "", ""]
    assert follower.metric("gpu_extender_filter_repeats_total") == 1
    assert follower.metric("gpu_extender_verb_calls_total", verb="filter", result="retry") == 1
    decisions = follower.get("/v1/decisions?verb=filter").json()["decisions"]
    assert [decision.get("error", "") for decision in reversed(decisions)] == errors
