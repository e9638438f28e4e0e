"""POST /scheduler/bind over an API server whose answers get lost: never success before it confirmed, never failure after it did
where that can be known in time, no second post where one is enough, and no reservation that stays.
"""

import re
import threading

import pytest
from follow import ROUNDED_S
from objects import filter_args, node, pod

# The minimum that the policy allows, for tests whose callers get "outcome unknown".
SHORT_S = 2
# For a test that fills it.
FILLED_S = 8


def arrive(api, service, *pods):
    """Creates the pods; returns when the service knows them and binds."""
    service.wait_until_it_binds()
    api.store.put(*pods)
    known = {item["metadata"]["uid"] for item in pods}
    service.wait("the pods are known", lambda: known <= service.ledger()[1])


@pytest.fixture
def waiting():
    return pod("train-0", 2)


@pytest.fixture
def bind(api, follower, waiting):
    """bind() -> the error or None of binding a pending pod to node b."""
    arrive(api, follower, waiting)
    return lambda: follower.bind(waiting, "b")


def settled(service, how):
    return service.metric("gpu_extender_bind_settled_total", how=how)


def test_a_pod_is_bound(api, follower, waiting, bind):
    assert bind() is None
    bound = api.store.get("pods", "train-0", "ml")
    assert bound["spec"]["nodeName"] == "b" and "gpu-extender.io/bound-by" in bound["metadata"]["annotations"]
    follower.settle()
    assert bind() is None, "again, and it is so already"
    assert api.faults.count("bind") == 1


def lines_of_bind(service):
    """The log lines of all answered bind calls: [{key: value}]."""
    lines = [line for line in service.log.text().splitlines() if re.search(r'mod=binds msg="?(not )?bound"? ', line)]
    return [dict(re.findall(r'([a-z_]+)=("[^"]*"|\S*)', line)) for line in lines]


def test_the_log_has_a_line_of_each_binding(api, follower, waiting, bind):
    """Successes and failures with the reason. The answer may arrive before the line is written."""
    assert bind() is None
    assert "bound to node b already" in follower.bind(waiting, "a")
    follower.wait("both are told", lambda: len(lines_of_bind(follower)) == 2)
    refused, done = sorted(lines_of_bind(follower), key=lambda line: line["node"])
    pod_ = {"level": "info", "namespace": "ml", "pod": "train-0", "uid": "pod-train-0"}
    assert {**pod_, "msg": "bound", "node": "b", "outcome": "bound"}.items() <= done.items() and "why" not in done
    assert {**pod_, "msg": '"not bound"', "node": "a", "outcome": "conflict"}.items() <= refused.items()
    assert "bound to node b already" in refused["why"]


def test_the_answer_is_lost_after_the_binding_took_effect(api, follower, bind):
    """A GET finds the pod bound."""
    api.faults.lose_answer("bind")
    assert bind() is None
    assert (api.store.bound, api.faults.count("bind")) == ([("pod-train-0", "b")], 1)
    follower.settle()
    assert settled(follower, "bound") == 1


def test_the_answer_is_lost_and_the_watch_confirms(api, follower, bind):
    api.faults.lose_answer("bind")
    api.faults.fail("get pods", 500, times=None)
    assert bind() is None
    assert api.faults.count("bind") == 1
    follower.settle()


def test_binding_of_unknown_outcome_is_settled_later(api, follow, waiting):
    """The caller learns in time that the outcome is unknown. The reservation stays, and becomes usage once the API server answers."""
    service = follow(bindTimeoutSeconds=SHORT_S, watchSilenceSeconds=600)  # silence opens no other watch
    service.settle()
    arrive(api, service, waiting)
    watch = api.watch("pods")
    watch.go_silent()
    api.faults.lose_answer("bind")
    api.faults.fail("get pods", 500, times=None)
    error = service.bind(waiting, "b")
    assert "the outcome is unknown" in error
    assert service.metric("gpu_extender_reservations_open") == 1, "it may be bound"
    assert api.store.bound == [("pod-train-0", "b")]
    api.faults.heal()
    watch.end()
    service.settle()
    assert api.faults.count("bind") == 1


def test_an_endless_answer_is_unknown(api, follow, waiting):
    """The wait leaves time for a GET."""
    service = follow(bindTimeoutSeconds=FILLED_S)
    service.settle()
    arrive(api, service, waiting)
    drip = api.faults.drip("bind")
    assert service.bind(waiting, "b") is None
    assert api.faults.count("bind") == 1
    drip.release()
    service.settle()


def test_unreported_failed_binding_releases_its_room(api, follow, waiting):
    """Once the binding can no longer take effect, the reservation is released without a watch event."""
    service = follow()
    service.settle()
    arrive(api, service, waiting)
    api.faults.lose("bind", times=None)
    assert service.bind(waiting, "b")
    service.settle()
    assert not api.store.bound
    api.faults.heal()
    assert service.bind(waiting, "a") is None
    service.settle()


def post_again(api, follower, bind):
    assert bind() is None
    assert (api.store.bound, api.faults.count("bind")) == ([("pod-train-0", "b")], 2)
    follower.settle()


def test_the_request_is_lost(api, follower, bind):
    """A GET finds the pod unbound, and the binding is posted again."""
    api.faults.lose("bind")
    post_again(api, follower, bind)


@pytest.mark.parametrize("code", [500, 503, 504])
def test_an_empty_answer_is_unknown(api, follower, bind, code):
    api.faults.fail("bind", code)
    post_again(api, follower, bind)


def test_a_redirect_is_not_followed(api, follower, bind):
    api.faults.redirect("bind")
    post_again(api, follower, bind)
    assert api.faults.count("/elsewhere") == 0


@pytest.mark.parametrize("body", [b"<html>please log in</html>", b"", b'{"kind":"Pod"}'])
def test_200_from_another_server_is_no_confirmation(api, follower, bind, body):
    """Such an answer does not confirm a binding."""
    api.faults.garble("bind", body)
    post_again(api, follower, bind)


def test_the_api_server_has_too_many_requests(api, follow, waiting):
    """The API server sends Retry-After."""
    service = follow(bindTimeoutSeconds=8)
    service.settle()
    arrive(api, service, waiting)
    api.faults.fail("bind", 429, "TooManyRequests", retry_after=3)
    post_again(api, service, lambda: service.bind(waiting, "b"))
    first, second = api.faults.times_of("bind")
    assert second - first >= 3 - ROUNDED_S


def test_a_refusal_reaches_the_user(api, follower, waiting, bind):
    api.faults.fail("bind", 403, "Forbidden")
    assert "told to fail with 403" in bind()
    follower.settle()
    assert follower.bind(waiting, "a") is None
    follower.settle()


OTHERS = {"metadata": {"annotations": {"gpu-extender.io/bound-by": "0.0.9/another"}}, "target": {"name": "b"}}


@pytest.mark.parametrize("known", [True, False])
def test_another_scheduler_binds_first(api, follower, waiting, known):
    """The watch does not show it yet. It is a success on the requested node, and the log names the other scheduler."""
    follower.wait_until_it_binds()
    if known:
        arrive(api, follower, waiting)
    api.watch("pods").go_silent()
    api.store.put(waiting)
    api.store.bind("ml", "train-0", OTHERS)
    assert follower.bind(waiting, "b") is None
    warning = follower.log.wait_for({"level": "warn", "mod": "binds", "pod": "train-0"})
    assert (warning["bound_by"], warning["node"]) == ("0.0.9/another", "b")
    assert api.faults.count("bind") == (1 if known else 0), "what is known to be bound is not posted"


def test_many_binds_wait_and_filter_answers(api, follow):
    """64 bindings wait in the API server, each on its own connection. The same few threads answer filter meanwhile."""
    service = follow(bindTimeoutSeconds=30)
    service.settle()
    names = [f"n-{i:02}" for i in range(10)]
    waiting = [pod(f"train-{i}") for i in range(64)]
    api.store.put(*(node(name) for name in names))
    arrive(api, service, *waiting)
    service.settle()
    hold, errors = api.faults.hold("bind"), []
    callers = [threading.Thread(target=lambda i=i, item=item: errors.append(service.bind(item, names[i // 8]))) for i, item in enumerate(waiting)]
    for caller in callers:
        caller.start()
    hold.wait_for(64)
    for _ in range(20):
        found = service.post("/scheduler/filter", filter_args(pod("other"), names)).json()
        assert found["NodeNames"] == names[8:], "the others are reserved"
    assert (errors, service.threads()) == ([], service.calm[0])
    hold.release()
    for caller in callers:
        caller.join()
    assert errors == [None] * 64
    service.settle()
    assert sorted(uid for uid, _ in api.store.bound) == sorted(item["metadata"]["uid"] for item in waiting)
