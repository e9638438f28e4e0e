"""Slow, silent or numerous clients are dropped in bounded time, and the verbs are served meanwhile.

The rules, by a clock of the test's own, are in tests/unit/http/test_connection_table.c. Here the least that can be configured is waited for:
one second, and a quarter. A connection that is dropped is the event; one that must stay is asked after some others were dropped.
"""

import contextlib
import json
import os
import select
import socket
import ssl
import time

import pytest
from objects import filter_args, list_text, node, pod
from raw import LIMIT_S, Raw, request
from secured import Secured, context

HEAD = {"apiVersion": "gpu-extender.io/v1alpha1", "kind": "SchedulerPolicy"}
ASK = json.dumps(filter_args(pod(), ["a"])).encode()
FILTER = request("POST", "/scheduler/filter", ASK)


@pytest.fixture
def start_with(start_service, write):
    """start_with(limits' key=value, ...) -> a Service with a socket for the verbs and one for people."""

    def start(**limits):
        listen = {"verbs": "127.0.0.1:0", "people": "127.0.0.2:0", "probes": "127.0.0.1:0"}
        policy = write("policy.yaml", json.dumps({**HEAD, "listen": listen, "limits": limits}))
        return start_service("--cluster-file", write("c.json", list_text(node("a"))), "--config", policy, listen=None)

    return start


@pytest.fixture
def service(start_with):
    return start_with(requestSeconds=1)


@contextlib.contextmanager
def opened(address, n):
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(Raw(address)) for _ in range(n)]


def judged(connection):
    connection.send(FILTER)
    status, headers, body = connection.answer()
    assert status == 200 and json.loads(body)["NodeNames"] == ["a"]
    return headers


def on_new(connect, ask):
    """ask(a new connection). A client that stalls for a second counts as slow: only then it may be dropped, and asks again."""
    while True:
        began = time.monotonic()
        try:
            with connect() as new:
                return ask(new)
        except (EOFError, OSError) as dropped:
            assert time.monotonic() - began >= 1, f"a prompt client was dropped: {dropped!r}"


def pass_time(service):
    """Waits longer than a slow request may take; a silent connection is dropped meanwhile."""
    with Raw(service.addresses["people"]) as silent:
        assert silent.is_closed()


def metrics(connection):
    connection.send(request("GET", "/metrics"))
    return connection.answer()[2].decode()


def metric(service, name):
    text = on_new(lambda: Raw(service.addresses["people"]), metrics)
    return int(next(line for line in text.splitlines() if line.startswith(name + " ")).rsplit(" ", 1)[1])


def closed(service, cause):
    return metric(service, f'gpu_extender_http_connections_closed_total{{cause="{cause}"}}')


@pytest.mark.parametrize("sent", [FILTER[:10], FILTER[:-1]], ids=["header", "body"])
@pytest.mark.parametrize("before", [0, 1], ids=["new", "kept"])
def test_a_slow_request_is_dropped(sent, before, service):
    with Raw(service.address) as connection:
        for _ in range(before):
            judged(connection)
        connection.send(sent)
        assert connection.is_closed()
    service.wait("it is counted", lambda: closed(service, "slow_request"))


@pytest.mark.parametrize("sent", [FILTER[:10], FILTER[:-1]], ids=["header", "body"])
def test_an_aborted_request_is_closed_early(sent, start_with):
    """Before a slow one that came first. The last bytes and the end come together, which the HTTP library takes for one event."""
    service = start_with(requestSeconds=32)
    with opened(service.address, 2) as (slow, connection):
        began = time.monotonic()
        slow.send(sent)
        connection.socket.send(sent, socket.MSG_MORE)
        connection.socket.shutdown(socket.SHUT_WR)
        assert connection.is_closed()
        was_closed = select.select([slow.socket], [], [], 0)[0]
        assert not was_closed or time.monotonic() - began >= 32, "it was closed, too, before its time"


def test_a_trickling_request_is_dropped(service):
    with Raw(service.address) as connection:
        connection.send(FILTER[:-100])
        with contextlib.suppress(OSError):  # a byte that comes when it is closed already
            for byte in FILTER[-100:-1]:
                if select.select([connection.socket], [], [], 0.1)[0]:
                    break
                connection.send(bytes([byte]))
        assert connection.is_closed()


def test_a_half_open_connection_is_dropped(service):
    pass_time(service)
    service.wait("it is counted", lambda: closed(service, "silent"))


def test_a_served_connection_stays_open(service):
    with Raw(service.address) as used, Raw(service.address) as new:
        judged(used)
        pass_time(service)
        pass_time(service)
        assert "connection" not in judged(used)
        judged(new)  # kube-scheduler opens some in advance


def test_a_client_that_reads_no_answer_is_dropped(service):
    """The server notices only once the client's buffers are full too, so the client requests more and more."""
    with Raw(service.addresses["people"]) as reader:
        reader.socket.setblocking(False)
        asked, poll = request("GET", "/metrics") * 100, select.poll()
        poll.register(reader.socket, select.POLLOUT)
        sent = 0
        with contextlib.suppress(ConnectionError):
            while (events := poll.poll(LIMIT_S * 1000)) and events[0][1] == select.POLLOUT:
                sent = (sent + reader.socket.send(asked[sent:])) % len(asked)
        assert events, "it was not closed"
    while not closed(service, "slow_reader"):
        pass


def test_slow_clients_delay_no_verb(start_with):
    """More clients than connections, on both sockets, with an unlimited time for a request."""
    service = start_with(requestSeconds=600, connections=120)
    with Raw(service.address) as known, contextlib.ExitStack() as stack:
        judged(known)
        for address in (service.addresses["people"], service.address):
            for i in range(201):
                slow = stack.enter_context(Raw(address))
                slow.send(b"GET /gone HTTP/1.1\r\n"[: 10 * (i % 3)])
                if i % 50 == 0:
                    judged(known)
                    on_new(lambda: Raw(service.address), judged)
        while closed(service, "crowded") < 200:
            judged(known)


def test_all_bodies_together_have_a_maximum(start_with):
    service = start_with(requestBytes="64Ki", bodiesBytes="128Ki", requestSeconds=600)
    part = request("POST", "/v1/dry-run", b"x" * 65536)[:-1]
    with opened(service.addresses["people"], 2) as (first, second), Raw(service.address) as verbs:
        first.send(part)
        while metric(service, 'gpu_extender_http_body_bytes{for="others"}') < 65535:
            pass
        second.send(request("POST", "/v1/dry-run", b"xx"))
        status, headers, body = second.answer()
        assert (status, headers["retry-after"], "connection" in headers) == (503, "1", False)
        assert json.loads(body) == {"error": "requests in progress fill limits.bodiesBytes: try again"}
        verbs.send(request("POST", "/scheduler/filter", ASK.ljust(65536)))
        assert verbs.answer()[0] == 200
        first.send(b"x")
        assert first.answer()[0] == 400
        second.send(request("POST", "/v1/dry-run", json.dumps(pod()).encode()))
        assert second.answer()[0] == 200


def test_an_unwanted_body_is_not_buffered(start_with):
    """Probes are open to all: their bodies use no memory reserved for users."""
    service = start_with(requestBytes="64Ki", bodiesBytes="128Ki", requestSeconds=600)
    with opened(service.addresses["probes"], 2) as strangers, Raw(service.addresses["people"]) as people:
        for stranger in strangers:
            stranger.send(request("GET", "/livez", b"x" * 65536)[:-1])
        people.send(request("POST", "/v1/dry-run", json.dumps(pod()).encode().ljust(65536)))
        assert people.answer()[0] == 200
        assert metric(service, 'gpu_extender_http_body_bytes{for="others"}') == 0
        for stranger in strangers:
            stranger.send(b"x")
            assert stranger.answer()[0] == 200


# ---- with TLS ----


def greeted(secured, version=None, client=True, address=None):
    """A connection after its handshake, by default with a certificate and for the verbs. version: maximum TLS version."""
    shown = context(secured.authority, secured.client if client else None)
    if version:
        shown.maximum_version = version
    connection = Raw(address or secured.address)
    connection.socket = shown.wrap_socket(connection.socket, server_hostname="127.0.0.1")
    return connection


def is_socket(path):
    try:
        return os.readlink(path).startswith("socket:")
    except FileNotFoundError:  # closed meanwhile
        return False


def n_sockets(service):
    folder = f"/proc/{service.process.pid}/fd"
    return sum(is_socket(os.path.join(folder, name)) for name in os.listdir(folder))


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=lambda version: version.name)
def test_a_handshake_has_less_time_than_an_idle_connection(version, tmp_path, start_service):
    """kube-scheduler keeps connections after their handshake before it uses them. On a busy machine a handshake takes long."""
    secured = Secured(tmp_path, start_service, limits={"requestSeconds": 15})
    with greeted(secured, version) as unused:
        before = n_sockets(secured.service)
        with opened(secured.address, 2) as (silent, half):
            half.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
            assert silent.is_closed() and half.is_closed()
        with greeted(secured, version) as slow, contextlib.suppress(ssl.SSLError):  # an end without close_notify
            slow.send(FILTER[:-1])
            assert slow.is_closed()
        while n_sockets(secured.service) > before:  # the library has seen the ends, too
            pass
        judged(unused)
        assert unused.socket.version() == version.name.replace("v1_", "v1.")


def test_clients_without_certificate_do_not_lock_others_out(tmp_path, start_service):
    """Three times as many clients as connections: some without a handshake, some rejected after it."""
    secured = Secured(tmp_path, start_service, limits={"requestSeconds": 600, "connections": 60})
    with greeted(secured) as known, contextlib.ExitStack() as stack:
        judged(known)
        for i in range(90):
            stranger = stack.enter_context(greeted(secured, client=False) if i % 3 == 0 else Raw(secured.address))
            if i % 3 == 0:
                stranger.send(request("GET", "/scheduler/filter"))
                assert stranger.answer()[0] == 405
            if i % 30 == 29:
                judged(known)
                on_new(lambda: greeted(secured), judged)


def test_the_files_of_the_page_lock_no_user_out(tmp_path, start_service):
    """They are open to all. Users are known by a certificate or a token; the metrics are for them, too."""
    secured = Secured(tmp_path, start_service, limits={"requestSeconds": 600, "connections": 60}, people="127.0.0.3:0", peopleClients={"names": ["kube-scheduler"]})
    address = secured.service.addresses["people"]
    with contextlib.ExitStack() as stack:
        for _ in range(90):
            stranger = stack.enter_context(greeted(secured, client=False, address=address))
            stranger.send(request("GET", "/ui/"))
            assert stranger.answer()[0] == 200
        with greeted(secured, address=address) as user:
            user.send(request("GET", "/metrics"))
            assert user.answer()[0] == 200


def test_probe_clients_do_not_lock_the_kubelet_out(tmp_path, start_service):
    """Probes are open to all and identify no client. If all connections stayed in use, the kubelet would restart the service."""
    secured = Secured(tmp_path, start_service, limits={"requestSeconds": 600, "connections": 60})
    with contextlib.ExitStack() as stack:
        for _ in range(90):
            stranger = stack.enter_context(Raw(secured.service.addresses["probes"]))
            stranger.send(request("GET", "/livez"))
            assert stranger.answer()[0] == 200
