"""Faults between the service and the API server during lists and watches. After each fault the ledger equals the API server's
objects, the service is ready, threads and memory are as before (Follower.settle), and it stops cleanly.
"""

import functools
import re

import pytest
from fake_api import bookmark, event_bytes
from fake_store import GONE, status
from follow import BACK_BYTES, BIND_S, OBJECT_BYTES, ROUNDED_S
from objects import node, pod
from openapi import watched_kinds

KINDS = ["nodes", "pods", "namespaces", "priorityclasses", "deviceclasses"]  # no decision is made without them
OF_CLAIMS = ("resourceslices", "resourceclaims", "devicetaintrules")


def refused_in(text):
    return re.findall(r"^(.+): never listed: refused$", text, re.MULTILINE)


@pytest.fixture
def follow(follow):
    """Nothing but the test ends a watch: none is silent for too long, and no hold of bindings ends with a list of the pods."""
    return functools.partial(follow, watchSilenceSeconds=600, bindTimeoutSeconds=100)


@pytest.fixture
def follower(follow):
    service = follow()
    service.settle()
    return service


def some_changes(api):
    """Deletes a pod, creates one, finishes one and shrinks a node."""
    api.store.remove(api.store.get("pods", "old-0", "ml"))
    api.store.put(pod("new-0", 2, on="b"))
    api.store.change("pods", "old-1", "ml", status={"phase": "Succeeded"})
    api.store.put(node("a", 7))


def hide(api, kind):
    """The kind's watch, from now on controlled by the test. It sent something before, so its end is no fault."""
    watch = api.watch(kind)
    watch.go_silent()
    watch.say(bookmark(kind, api.store.version))
    return watch


def relisted(service, kind, cause):
    service.wait(f"{kind} are listed again: {cause}", lambda: service.relists(kind, cause=cause) == 1)


def test_changes_are_followed(api, follower):
    some_changes(api)
    follower.settle()
    assert follower.ledger() == ({"a": (7, {"pod-old-2": ("ml", "old-2", 1)}), "b": (4, {"pod-new-0": ("ml", "new-0", 2)})}, set())
    assert follower.metric("gpu_extender_watch_events_total", kind="pods", type="deleted") == 2


@pytest.mark.parametrize("how", ["end", "cut_in_line"])
def test_a_watch_ends(api, follower, how):
    """Normally or in the middle of a line: the next watch resumes at the last version."""
    watches = [api.watch(kind) for kind in KINDS]
    for watch in watches:
        getattr(watch, how)()
    some_changes(api)
    follower.settle()
    for watch in watches:
        api.watch(watch.kind, after=watch)
        assert follower.relists(watch.kind) == 1, "only the first"


def test_events_come_byte_by_byte(api, follower):
    watch = hide(api, "pods")
    api.store.put(pod("new-0", 2, on="b"))
    for byte in event_bytes("ADDED", api.store.get("pods", "new-0", "ml")):
        watch.say(bytes([byte]))
    follower.settle()


def gone_by_event(api, watch):
    watch.tell("ERROR", GONE)


def gone_by_status(api, watch):
    api.faults.fail(f"watch {watch.kind}", 410, "Expired")
    watch.end()


def gone_by_version(api, watch):
    """As the real server reports it for an old token."""
    api.store.forget(watch.kind)
    watch.end()


@pytest.mark.parametrize("of_pods, of_nodes", [(gone_by_event, gone_by_status), (gone_by_status, gone_by_version), (gone_by_version, gone_by_event)])
def test_410_in_the_middle_of_a_watch(api, follower, of_pods, of_nodes):
    pods, nodes = hide(api, "pods"), hide(api, "nodes")
    some_changes(api)
    of_pods(api, pods)
    of_nodes(api, nodes)
    relisted(follower, "pods", "gone")
    relisted(follower, "nodes", "gone")
    follower.settle()


def test_a_relist_removes_absent_objects(api, follower):
    """Including a pod whose name another pod has now."""
    watch = hide(api, "pods")
    api.store.remove(*api.store.all("pods"))
    api.store.put(pod("old-1", 4, on="b", metadata={"uid": "pod-another"}))
    gone_by_event(api, watch)
    relisted(follower, "pods", "gone")
    follower.settle()
    assert follower.ledger()[0] == {"a": (8, {}), "b": (4, {"pod-another": ("ml", "old-1", 4)})}


def test_another_error_in_the_middle_of_a_watch(api, follower):
    watch = hide(api, "pods")
    some_changes(api)
    watch.tell("ERROR", status(500, "InternalError", "something"))
    relisted(follower, "pods", "failed")
    follower.settle()


GARBAGE_IN_WATCHES = [
    (b"this is no JSON\n", b'{"type":"ADDED"}\n', b"[]\n", b"\x00\xff\n", b"null\n"),
    (b'{"type":"ADDED","object":{"meta', b'{"type":"WHAT","object":{}}\n', b'{"type":"ADDED","object":{"metadata":{}}}\n', b'"ADDED"\n', b"7\n"),
]


@pytest.mark.parametrize("texts", GARBAGE_IN_WATCHES, ids=range(2))
def test_garbage_in_a_watch(api, follower, texts):
    for kind, text in zip(KINDS, texts):
        watch = hide(api, kind)
        watch.say(text)
        watch.end()
    some_changes(api)
    for kind in KINDS:
        relisted(follower, kind, "garbage")
    follower.settle()


GARBAGE_IN_LISTS = [
    (b"", b"[]", b"<html>please log in</html>", b'{"kind":"PriorityClassList","items":7}', b"7"),
    (b'{"items":[' * 50_000, b'{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[7]}', b"null", b'{"items":[]}', b"true"),
]


@pytest.mark.parametrize("bodies", GARBAGE_IN_LISTS, ids=range(2))
def test_a_list_is_garbage(api, follow, bodies):
    for kind, body in zip(KINDS, bodies):
        api.faults.garble(f"list {kind}", body)
    service = follow()
    service.settle()
    for kind in KINDS:
        assert service.relists(kind, cause="garbage") == 1


def test_a_list_breaks_off(api, follow):
    api.faults.truncate("list pods")
    api.faults.cut("list nodes")
    service = follow()
    service.settle()
    assert (service.relists("pods", cause="garbage"), service.relists("nodes", cause="failed")) == (1, 1)


def test_a_page_token_expires(api, follow):
    """The list is begun again."""
    api.store.put(*(pod(f"many-{i:04}", on="a") for i in range(5500)))  # more than a page
    api.faults.fail("page pods", 410, "Expired")
    service = follow()
    service.settle()
    assert service.relists(cause="page_gone") == 1


def test_too_many_requests(api, follow):
    """A list and a watch: each is retried after the API server's Retry-After, and nothing else is."""
    for name in ("list pods", "watch nodes"):
        api.faults.fail(name, 429, "TooManyRequests", retry_after=4)
    service = follow()
    some_changes(api)
    service.settle()
    for name in ("list pods", "watch nodes"):
        first, second, *_ = api.faults.times_of(name)  # a probe, or the list before the first binding, may have followed
        assert second - first >= 4 - ROUNDED_S, "without Retry-After at most 1.6 s"
    assert (service.relists("pods"), service.relists("nodes")) == (1, 1)


def test_obstacles_to_the_first_lists_are_reported(api, follow):
    """A missing right is reported, a redirect is not followed, and a wrong Content-Type of a valid body is ignored."""
    api.faults.fail("list pods", 403, "Forbidden", times=None)
    api.faults.redirect("list nodes")
    api.faults.mislabel("list namespaces", "text/html")
    service = follow(ready=False)
    service.wait("it tells", lambda: "403: told to fail" in service.freshness("pods")["why"])
    service.wait("a redirect is told", lambda: "nodes: never listed: failed\n" in service.get("/readyz").text)
    assert "pods: never listed: refused\n" in service.get("/readyz").text
    assert "told to fail" not in service.get("/readyz").text
    api.faults.heal()
    service.settle()
    assert api.faults.count("/elsewhere") == 0
    assert (service.relists("nodes"), service.relists("namespaces")) == (2, 1)


def test_a_slow_answer_delays_no_other_request(api, follow):
    """The answer arrives byte by byte; meanwhile the service follows nodes and answers requests."""
    drip = api.faults.drip("list pods")
    service = follow(ready=False)
    drip.wait_for(1)
    api.store.put(node("c"))
    service.wait("node c is known", lambda: "c" in service.ledger()[0])
    service.wait("only pods are missing", lambda: service.get("/readyz").text == "pods: never listed\n")
    drip.release()
    service.settle()
    assert service.relists("pods") == 1


def test_the_token_is_rotated(api, follow, tmp_path):
    """Every request rejected for the old token is sent once more with the token now in the file."""
    token, waiting = tmp_path / "token", pod("train-0")
    token.write_text("first")
    api.token = "first"
    service = follow(bindTimeoutSeconds=BIND_S, kubeconfig=api.kubeconfig({"tokenFile": str(token)}))
    service.settle()
    token.write_text("second\n")
    api.token = "second"
    hide(api, "pods").end()
    api.store.put(waiting)
    assert service.bind(waiting, "b") is None
    service.settle()
    assert api.faults.count("refused *") >= 1
    assert [service.relists(kind) for kind in KINDS] == [1] * len(KINDS)


def test_a_rejected_token_is_logged_with_its_file(api, follow, tmp_path):
    token = tmp_path / "token"
    token.write_text("old")
    api.token = "new"
    service = follow(ready=False, kubeconfig=api.kubeconfig({"tokenFile": str(token)}))
    words = f"401: the API server refused the token of {token}"
    service.wait("people are told", lambda: words in service.freshness("pods")["why"])
    service.wait("the log has it", lambda: service.log.text().count(words) >= len(watched_kinds()))
    refused = [*KINDS, *(f"claims are not counted: {kind}" for kind in OF_CLAIMS)]
    refused += ["claim templates are unknown: resourceclaimtemplates", "disruption budgets are unknown: poddisruptionbudgets",
                "pod groups are unknown: podgroups"]
    service.wait("each kind is refused", lambda: refused_in(service.get("/readyz").text)[: len(refused)] == refused)
    assert [line.rpartition(" ")[2] for line in refused_in(service.get("/readyz").text)] == watched_kinds()
    token.write_text("new")
    service.settle()


@pytest.mark.parametrize("api", ["tls"], indirect=True)
@pytest.mark.parametrize("fault, told", [({"deaf": True}, "watch /api/v1/pods: "), ({"certificate": "stranger"}, "certificate")], ids=["deaf", "stranger"])
def test_the_tls_handshake_fails(api, follower, fault, told):
    """The API server closes the connection in the handshake, or presents another server's certificate."""
    api.new_era(**fault)
    follower.wait("it tells", lambda: told in follower.freshness("pods")["why"])
    some_changes(api)
    assert follower.ledger() != follower.truth()
    api.new_era()
    follower.settle()
    assert follower.relists("pods") == 1


@pytest.mark.long
def test_an_object_of_100_mb(api, follower):
    """In a watch, in a list, and on deletion: the object is reported as a problem, others are followed, and memory does not grow with it."""
    most, item = follower.memory("VmHWM"), pod("large-0", metadata={"annotations": {"large": "x" * 100 * 1024 * 1024}})
    api.store.put(item)
    some_changes(api)
    follower.wait("nodes and their pods are known", lambda: follower.ledger()[0] == follower.truth()[0])
    told = [{"kind": "Pod", "name": "ml/large-0", "what": f"is larger than {OBJECT_BYTES} bytes (limits.objectBytes)"}]
    assert follower.get("/v1/inventory").json()["problems"] == told
    gone_by_event(api, hide(api, "pods"))
    relisted(follower, "pods", "gone")
    follower.wait("it is ready", lambda: follower.get("/readyz").status == 200)
    assert follower.get("/v1/inventory").json()["problems"] == told
    api.store.remove(item)
    follower.settle()
    assert follower.relists("pods") == 2
    assert follower.memory("VmHWM") < most + BACK_BYTES


def test_memory_returns_to_its_level(api, follower):
    """After many ended watches, with one relist among them."""
    api.store.put(*(pod(f"many-{i:04}", on="a") for i in range(1000)))
    follower.settle()
    for i in range(200):
        watch = api.watch("pods")
        watch.say(bookmark("pods", api.store.version))
        watch.tell("ERROR", GONE) if i == 100 else watch.end()
        api.watch("pods", after=watch)
    follower.settle()
    assert follower.relists(cause="gone") == 1
