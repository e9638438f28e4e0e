"""HTTP: connections, segments, limits, wrong paths and methods, and forms of requests.

That an idle connection is kept for as long as is configured (and no longer) is shown in tests/unit/http/test_server.c with a
configuration of one second; that main configures more than kube-scheduler's own 90 s is a static assertion in src/main.c. So nothing
here waits for minutes.
"""

import contextlib
import json
import select
import socket
import time

import pytest
from objects import filter_args, list_text, node, pod
from raw import LIMIT_S, Raw, request

ROUTES = {
    "/scheduler/filter": "POST",
    "/scheduler/prioritize": "POST",
    "/scheduler/preempt": "POST",
    "/scheduler/bind": "POST",
    "/v1/dry-run": "POST",
    "/v1/inventory": "GET",
    "/livez": "GET",
    "/readyz": "GET",
    "/metrics": "GET",
}
ASK = json.dumps(filter_args(pod(), ["a", "gone"])).encode()
FILTER = request("POST", "/scheduler/filter", ASK)


@pytest.fixture(scope="module")
def service(module_service):
    return module_service(node("a"), pod("held", 2, "a"))


def judged(answer):
    status, headers, body = answer
    assert status == 200 and headers["content-type"] == "application/json"
    result = json.loads(body)
    assert result["NodeNames"] == ["a"] and list(result["FailedAndUnresolvableNodes"]) == ["gone"]
    return headers


SIZED = b"Content-Length: 5\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"


@pytest.mark.parametrize("length", [SIZED + CHUNKED, CHUNKED + SIZED, SIZED + b"Content-Length: 2\r\n", SIZED + SIZED, CHUNKED + CHUNKED])
@pytest.mark.parametrize("line", [b"POST /v1/dry-run", b"POST /scheduler/filter", b"GET /livez"])
def test_ambiguous_bodies_are_rejected(line, length, service):
    """A proxy may see another end of the body: what follows must not be taken for a request."""
    with Raw(service.address) as raw:
        raw.send(line + b" HTTP/1.1\r\nHost: localhost\r\n" + length + b"\r\n0\r\n\r\nGET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        status, headers, body = raw.answer()
        assert status == 400 and headers["connection"] == "close" and b"ambiguous" in body
        raw.socket.shutdown(socket.SHUT_WR)
        assert raw.is_closed()


@pytest.mark.parametrize("n", [65, 500, 5000])
@pytest.mark.parametrize("rest", [b"GET /livez?%s HTTP/1.1\r\nHost: localhost\r\n\r\n", b"POST /v1/dry-run?%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"])
def test_many_parameters_are_rejected_at_once(rest, n, service):
    with Raw(service.address) as raw:
        raw.send(rest % b"&".join([b"a"] * n))
        status, headers, body = raw.answer()
        assert status == 400 and b"64 parameters" in body
        raw.send(request("GET", "/livez"))
        assert raw.answer()[0] == 200


def test_a_query_may_have_64_parameters(service):
    with Raw(service.address) as raw:
        raw.send(request("GET", "/livez?" + "&".join(["a=1"] * 64)))
        assert raw.answer()[0] == 200


# ---- routes ----


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_every_route_has_one_method(method, path, service):
    allowed = ROUTES[path]
    answer = service.ask(method, path, b"" if method in ("POST", "PUT", "PATCH") else None)
    if method == allowed or (method == "HEAD" and allowed == "GET"):
        assert answer.status in (200, 400)
    else:
        assert answer.status == 405
        assert answer.headers["allow"] == {"GET": "GET, HEAD", "POST": "POST"}[allowed]


PATHS = ["POST /v1/dry-run", "POST /v1/what-if", "GET /v1/node-groups", "GET /v1/inventory", "GET /v1/pending", "GET /v1/decisions", "GET /v1/groups", "GET /v1/observed", "GET /v1/fragmentation"]
PATHS += ["GET /v1/quota", "GET /v1/policy", "GET /v1/snapshot", "GET /v1/pods/...", "GET /v1/explain"]
PATHS += ["POST /scheduler/filter", "POST /scheduler/prioritize", "POST /scheduler/preempt", "POST /scheduler/bind"]
PATHS += ["GET /metrics", "GET /", "GET /ui", "GET /ui/...", "GET /livez", "GET /readyz"]


@pytest.mark.parametrize(
    "path",
    ["/scheduler", "/scheduler/", "/scheduler/filter/", "/scheduler/Filter", "//scheduler/filter", "/scheduler/filter%00"]
    + ["/scheduler/evict", "/v1", "/v1/dry-run/x", "/livez/", "/healthz", "/../etc/passwd", "/%2e%2e/livez", "/scheduler%2Ffilter%20"],
)
def test_unknown_paths_are_404(path, service):
    answer = service.post(path, ASK)
    assert (answer.status, answer.headers["content-type"]) == (404, "application/json")
    assert answer.json() == {"error": "no such path, should be one of: " + ", ".join(PATHS)}


def test_head_has_the_length_of_get_and_no_body(service):
    got, head = service.get("/v1/inventory"), service.ask("HEAD", "/v1/inventory")
    assert head.status == 200 and head.body == b"" and head.headers["content-length"] == got.headers["content-length"]


def test_probes(service):
    for path in ("/livez", "/readyz"):
        answer = service.get(path)
        assert (answer.status, answer.text) == (200, "ok\n")


@pytest.mark.parametrize("path", ["/v1/inventory", "/v1/dry-run"])
def test_outputs(path, service):
    def ask(query):
        return service.ask(ROUTES[path], path + query, json.dumps(pod()) if ROUTES[path] == "POST" else None)

    assert ask("").headers["content-type"] == ask("?output=json").headers["content-type"] == "application/json"
    table = ask("?output=table")
    assert (table.status, table.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    wrong = ask("?output=xml%22")
    assert wrong.status == 400 and "table" in wrong.json()["error"]


# ---- connections ----


def test_every_answer_has_its_length_and_keeps_the_connection(raw):
    """Chunked answers, or closing, would cost a connection a call (PROTOCOL 2.2). Errors too."""
    asked = [FILTER, request("POST", "/scheduler/filter", b"{"), request("GET", "/gone"), request("PUT", "/livez")]
    asked += [request("POST", "/scheduler/prioritize", b"{"), request("GET", "/metrics"), request("POST", "/v1/dry-run", b"x: ["), FILTER]
    for message in asked:
        raw.send(message)
        _, headers, _ = raw.answer()
        assert "transfer-encoding" not in headers and headers.get("connection", "keep-alive").lower() == "keep-alive"


def metrics_of(raw):
    raw.send(request("GET", "/metrics"))
    return raw.answer()[2]


def test_many_calls_use_one_connection(service, raw):
    for _ in range(200):
        raw.send(FILTER)
        judged(raw.answer())
    # The service may still have to notice the end of those of other tests.
    assert any(b"\ngpu_extender_http_connections 1\n" in metrics_of(raw) for _ in range(1000))


def test_pipelined_requests_are_answered_in_their_order(raw):
    other = request("POST", "/scheduler/prioritize", ASK)
    raw.send(FILTER + other + request("GET", "/livez") + FILTER)
    judged(raw.answer())
    assert json.loads(raw.answer()[2])[0]["Host"] == "a"
    assert raw.answer()[2] == b"ok\n"
    judged(raw.answer())


def test_a_request_may_come_in_many_segments(raw):
    for i in range(len(FILTER)):
        raw.send(FILTER[i : i + 1])
    judged(raw.answer())


def test_connection_close_is_honoured(raw):
    raw.send(request("POST", "/scheduler/filter", ASK, "Connection: close"))
    assert judged(raw.answer())["connection"].lower() == "close"
    assert raw.is_closed()


def test_expect_100_is_answered_with_continue(raw):
    head, _, body = request("POST", "/scheduler/filter", ASK, "Expect: 100-continue").partition(b"\r\n\r\n")
    raw.send(head + b"\r\n\r\n")
    assert raw.answer(has_body=False)[0] == 100
    raw.send(body)
    judged(raw.answer())


def test_a_chunked_request(raw):
    head = b"POST /scheduler/filter HTTP/1.1\r\nHost: [::1]\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(ASK[i : i + 100]), ASK[i : i + 100]) for i in range(0, len(ASK), 100))
    raw.send(head + chunks + b"0\r\n\r\n")
    judged(raw.answer())


def test_early_disconnects_do_not_affect_others(service):
    for length in (1, 20, 150, len(FILTER) - 1, len(FILTER)):
        with Raw(service.address) as connection:
            connection.send(FILTER[:length])
        with Raw(service.address) as connection:  # and with a reset
            connection.send(FILTER[:length])
            connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    with Raw(service.address) as connection:
        connection.send(FILTER)
        judged(connection.answer())


def test_many_connections_at_once(service):
    """A burst of bindings opens many connections; each is served although others are silent."""
    connections = [Raw(service.address) for _ in range(200)]
    try:
        for connection in connections[1::2]:
            connection.send(FILTER)
        for connection in connections[1::2]:
            judged(connection.answer())
        for connection in connections[::2]:
            connection.send(FILTER)
        for connection in connections[::2]:
            judged(connection.answer())
    finally:
        for connection in connections:
            connection.socket.close()


def test_the_file_limit_is_raised_for_all_connections(start_service, write):
    service = start_service("--cluster-file", write("c.json", list_text(node("a"))), under=["prlimit", "--nofile=300:4096"])
    with open(f"/proc/{service.process.pid}/limits", encoding="ascii") as limits:
        (allowed,) = [int(line.split()[3]) for line in limits if line.startswith("Max open files")]
    assert allowed >= 1024, "the policy's limits.connections"


def test_few_file_descriptors_reduce_the_connections(start_service, write):
    """The others wait their turn, and no thread spins on accept."""
    path = write("c.json", list_text(node("a")))
    service = start_service("--cluster-file", path, "--log-level", "debug", under=["prlimit", "--nofile=400:400"])
    (warning,) = [line for line in service.log.fields() if "ulimit" in line["msg"]]
    assert (warning["level"], warning["files"]) == ("warn", "400") and 100 < int(warning["connections"]) < 400
    waiting = {}
    for _ in range(450):
        connection = Raw(service.address)
        connection.send(FILTER)
        waiting[connection.socket] = connection
    while waiting:  # each one that is answered and closed makes room for the next one
        ready, _, _ = select.select(list(waiting), [], [], LIMIT_S)
        assert ready, f"{len(waiting)} were not answered"
        for sock in ready:
            with waiting.pop(sock) as connection:
                judged(connection.answer())
    assert "Too many open files" not in service.log.text()


# ---- requests that are none ----


@pytest.mark.parametrize(
    "message",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /livez\r\n\r\n",
        b"GET /livez HTTP/9.9\r\n\r\n",
        b"POST /scheduler/filter HTTP/1.1\r\nHost: [::1]\r\nContent-Length: -1\r\n\r\n",
        b"POST /scheduler/filter HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 5, 6\r\n\r\nabcdef",
        b"POST /scheduler/filter HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        b"POST /scheduler/filter HTTP/1.1\r\nHost: [::1]\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"POST /scheduler/filter HTTP/1.1\r\nHost: [::1]\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: [::1]\r\n\r\n",
        b"GET /livez HTTP/1.1\r\n" + b"X: y\r\n" * 20000 + b"\r\n",
        b"GET /livez HTTP/1.1\r\nHost: [::1]\r\n: no name\r\n\r\n",
        bytes(range(256)) * 20 + b"\r\n\r\n",
    ],
    ids=lambda message: repr(message[:60]),
)
def test_invalid_request_is_rejected_and_the_next_client_served(message, service):
    with Raw(service.address) as connection, contextlib.suppress(EOFError, OSError):  # closing without an answer is fine too
        connection.send(message)
        if b"\r\n\r\n" in message:
            assert connection.answer()[0] >= 400 or b"/livez" in message
    with Raw(service.address) as connection:
        connection.send(FILTER)
        judged(connection.answer())


# ---- bodies ----


@pytest.mark.parametrize("how", ["told", "chunked", "asked first"])
def test_a_body_over_the_limit_is_413_and_the_next_client_is_served(how, start_over, write):
    policy = write("p.yaml", "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\nlimits: {requestBytes: 64Ki}\n")
    service = start_over(node("a"), options=["--config", policy])
    large = ASK.ljust(65537)
    head = b"POST /scheduler/filter HTTP/1.1\r\nHost: [::1]\r\n"
    messages = {
        "told": request("POST", "/scheduler/filter", large),
        "chunked": head + b"Transfer-Encoding: chunked\r\n\r\n10001\r\n" + large + b"\r\n0\r\n\r\n",
        "asked first": head + b"Expect: 100-continue\r\nContent-Length: 65537\r\n\r\n",
    }
    with Raw(service.address) as connection:
        connection.send(messages[how])
        status, headers, body = connection.answer()
        assert (status, headers["connection"].lower()) == (413, "close")
        assert "65536" in json.loads(body)["error"]
    with Raw(service.address) as connection:
        connection.send(request("POST", "/scheduler/filter", ASK.ljust(65536)))
        judged(connection.answer())


def test_invalid_manifest_is_reported_with_its_position(service):
    for body, place in {b'{"kind": "Pod",\n x}': "2:2: ", b"kind: Pod\n\tx": "2:1: ", b"\xff": "1:1: "}.items():
        answer = service.post("/v1/dry-run", body)
        assert (answer.status, answer.headers["content-type"]) == (400, "application/json")
        assert answer.json()["error"].startswith("manifest: " + place)


def test_repeated_client_errors_do_not_fill_the_log(start_over):
    service = start_over(node("a"))
    began = time.monotonic()
    for _ in range(100):
        with Raw(service.address) as connection:
            connection.send(b"POST /scheduler/filter HTTP/1.1\r\nHost: [::1]\r\nTransfer-Encoding: odd\r\n\r\n")
            status = connection.answer()[0]
            assert status in (400, 501)  # RFC 9112: 6.3 has 400, 6.1 has 501
    seconds = time.monotonic() - began
    service.stop()
    n = sum(line.get("msg") == "request" for line in service.log.fields())
    # libmicrohttpd 1.0 itself answers 400, and nothing is logged.
    assert (1 if status == 501 else 0) <= n <= seconds + 1
