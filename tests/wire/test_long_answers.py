"""Long answers, such as dry runs, are computed one after another, and a limited number waits. Meanwhile everything else is answered.

By the order of the answers. tests/unit/http/test_worker.c has the rules one by one.
"""

import contextlib
import json
import select
import socket

import pytest
from guarded import GuardedService
from objects import list_text, node, pod
from raw import LIMIT_S, Raw, request

N_PLACES = 16  # WORKER_PLACES in src/http/worker.h
LISTEN = {"verbs": "127.0.0.1:0", "people": "127.0.0.2:0", "probes": "127.0.0.2:0"}
POLICY = {"apiVersion": "gpu-extender.io/v1alpha1", "kind": "SchedulerPolicy", "listen": LISTEN}
# One takes much longer than the service takes to read all of them.
LONG = request("POST", "/v1/dry-run", list_text(*[pod(f"p-{i}", 1 + i % 8) for i in range(120)]).encode())


@pytest.fixture
def cluster(write):
    return write("c.json", list_text(*[node(f"n-{i}") for i in range(200)]))


@pytest.fixture
def people(start_service, write, cluster):
    service = start_service("--cluster-file", cluster, "--config", write("policy.json", json.dumps(POLICY)), listen=None)
    return service.addresses["people"]


def asked(address, message):
    with Raw(address) as connection:
        connection.send(message)
        return connection.answer()


def answered(connections, limit_s):
    ready = select.select([connection.socket for connection in connections], [], [], limit_s)[0]
    return [connection for connection in connections if connection.socket in ready]


def test_dry_runs_delay_nothing_else(people):
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(Raw(people)) for _ in range(N_PLACES + 2)]
        for connection in connections:
            connection.send(LONG)
        first = answered(connections, LIMIT_S)[0]
        status, headers, body = first.answer()
        assert (status, headers["retry-after"]) == (503, "1"), "there is no room for the last"
        assert json.loads(body) == {"error": "too many long answers are being computed: try again"}
        for path in ("/v1/inventory", "/v1/policy", "/livez", "/readyz"):
            assert asked(people, request("GET", path))[0] == 200
        connections.remove(first)
        assert len(answered(connections, 0)) < len(connections), "the others have not waited for all dry runs"
    # The clients have left, so what they asked for is not computed.
    assert asked(people, request("POST", "/v1/dry-run", json.dumps(pod()).encode()))[0] == 200


def test_one_user_does_not_take_all_places(tmp_path, cluster):
    """Here the user of a certificate: the first answer is a 503, though there are places left."""
    with contextlib.ExitStack() as stack:
        service = GuardedService(tmp_path, "--cluster-file", cluster)
        stack.callback(service.stop)
        connections = [stack.enter_context(Raw(service.address, service.operator)) for _ in range(N_PLACES // 2 + 2)]
        for connection in connections:
            connection.send(LONG)
        status, headers, body = answered(connections, LIMIT_S)[0].answer()
        assert (status, headers["retry-after"]) == (503, "1")
        assert json.loads(body) == {"error": "too many of your requests wait for long answers: try again"}


@pytest.mark.parametrize("message", [request("GET", "/v1/pending"), request("POST", "/v1/dry-run", json.dumps(pod()).encode())], ids=["GET", "POST"])
def test_a_client_may_end_its_input(people, message):
    """As with every other answer: nc and socat do so when their input ends. Here the last bytes and the end come together."""
    with Raw(people) as connection:
        connection.socket.send(message, socket.MSG_MORE)
        connection.socket.shutdown(socket.SHUT_WR)
        assert connection.answer()[0] == 200
