"""The log never has tokens, private keys, certificates or the bodies of requests, even at its most verbose level and for any request.

Messages of the API server about tokens: test_people.py; plugins and proxies: test_plugin.py.
"""

import contextlib
import json

import pytest
from certificates import Authority
from objects import BIND_ARGS, container, filter_args, pod, preempt_args
from raw import Raw, request
from secured import Secured, context

OURS, READER, WRONG = "our-0wn-t0ken.abc", "reader-t0ken.def", "wr0ng-t0ken.ghi"
PASSWORD = "hunter2-of-the-environment"
REQUEST_BYTES = 8192
ASKING = pod(spec={"containers": [container(env=[{"name": "DB_PASSWORD", "value": PASSWORD}])]})
BODIES = {
    "/scheduler/filter": filter_args(ASKING, ["a", "b"]),
    "/scheduler/prioritize": filter_args(ASKING, ["a", "b"]),
    "/scheduler/preempt": preempt_args(ASKING, {"a": ["pod-old-0"]}),
    "/scheduler/bind": {**BIND_ARGS, "More": PASSWORD},
    "/v1/dry-run": ASKING,
}
# Faults of a body: cut off, of another type, too much, no JSON, too large.
SPOILT = {
    "cut": lambda text: text[:-1],
    "list": lambda text: f"[{text}, {text}]",
    "members": lambda text: text.replace("{", '{"Node": [], "Pod": 7, "kind": 7, ', 1),
    "words": lambda text: f"{text} and more",
    "text": lambda _: json.dumps(PASSWORD),
    "no JSON": lambda _: PASSWORD,
    "large": lambda text: text + " " * REQUEST_BYTES,
}
ACCOUNT = f"Authorization: Bearer {WRONG}"
# Invalid requests as bytes.
BROKEN = (
    f"GET /livez HTTP/1.1\r\nHost: [::1]\r\n{ACCOUNT}{'x' * 40000}\r\n\r\n",
    f"GET /livez HTTP/1.1\r\nHost: [::1]\r\n{ACCOUNT}\r\nBearer {WRONG}\r\n\r\n",
    f"GET /livez HTTP/1.1\r\nHost: [::1]\r\n Bearer {WRONG}\r\n\r\n",
    f"GET /livez HTTP/7.7\r\nHost: [::1]\r\n{ACCOUNT}\r\n\r\n",
    f"POST /livez HTTP/1.1\r\nHost: [::1]\r\nContent-Length: {WRONG}\r\n\r\n",
    f"POST /livez HTTP/1.1\r\nHost: [::1]\r\nTransfer-Encoding: chunked\r\n\r\n{PASSWORD}\r\n",
    f"{ACCOUNT}\r\n\r\n",
    f"\x16\x03{WRONG}\r\n\r\n",
    json.dumps(ASKING),
)


@pytest.fixture
def secured(api, tmp_path, start_service):
    """It talks, and READER may do all."""
    api.token = OURS
    api.people[READER] = {"username": "jane"}
    api.rights |= {("jane", "get", "/v1/inventory"), ("jane", "post", "/v1/dry-run")}

    def start(*options, **more):
        return start_service(*options, "--log-level", "debug", **more)

    # One of those that are broken off is waited for, for a part of these seconds.
    limits = {"requestBytes": REQUEST_BYTES, "bodiesBytes": 2 * REQUEST_BYTES, "requestSeconds": 5}
    return Secured(tmp_path, start, limits=limits, kubeconfig=api.kubeconfig({"token": OURS}), verbClients={"names": ["kube-scheduler"]})


def strangers(secured):
    """Clients whose certificate is not good for the verbs."""
    yield None
    yield secured.authority.client("nobody")
    yield secured.authority.client("old", "/CN=kube-scheduler", expired=True)
    yield Authority(secured.folder / "other").client("stranger", "/CN=kube-scheduler")


def ask(secured, client, method, path, body=b"", token=None):
    """Its status."""
    headers = {"Content-Type": "application/json", **({"Authorization": token} if token else {})}
    with secured.connection(client) as connection:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status


def send_broken(secured, address, tls):
    """To a socket, inside TLS or not; whatever is answered."""
    for text in BROKEN:
        with Raw(address) as raw, contextlib.suppress(EOFError, OSError):
            if tls:
                raw.socket = context(secured.authority, secured.client).wrap_socket(raw.socket, server_hostname="127.0.0.1")
            raw.send(text.encode("latin-1"))
            raw.socket.shutdown(1)
            while raw.socket.recv(65536):
                pass


def leave_in_the_middle(secured):
    """Sends a part of a body and closes the connection."""
    asked = request("POST", "/v1/dry-run", json.dumps(ASKING).encode(), f"Authorization: Bearer {READER}")
    seen = len(secured.service.log.lines)
    with Raw(secured.address) as raw:
        raw.socket = context(secured.authority).wrap_socket(raw.socket, server_hostname="127.0.0.1")
        raw.send(asked[:-5])
    secured.service.log.wait_for({"msg": "the client left", "path": "/v1/dry-run"}, after=seen)


def well_asked(secured):
    for path, body in BODIES.items():
        yield ask(secured, secured.client, "POST", path, json.dumps(body), f"Bearer {READER}")
    yield ask(secured, None, "GET", "/v1/inventory", token=f"Bearer {READER}")


def badly_asked(secured):
    for path, body in BODIES.items():
        text = json.dumps(body)
        for spoil in SPOILT.values():
            yield ask(secured, secured.client, "POST", path, spoil(text), f"Bearer {READER}")
        # Its length is not told before: some of it is there when it becomes too large.
        yield ask(secured, secured.client, "POST", path, iter([text.encode(), b" " * REQUEST_BYTES]), f"Bearer {READER}")
        for stranger in strangers(secured):
            yield ask(secured, stranger, "POST", path, text, f"Bearer {WRONG}")
    for header in (f"Bearer {WRONG}", f"Basic {WRONG}", WRONG, f"Bearer {WRONG} {READER}"):
        yield ask(secured, None, "GET", f"/v1/inventory?access_token={WRONG}", token=header)


def exchange_files(secured):
    """For others that are not good there."""
    certificate, key = secured.authority.server("next")
    half = secured.folder / "half.key"
    half.write_bytes(key.read_bytes()[:-60])
    for files in ((key, certificate), (certificate, half)):
        assert secured.swap(secured.authority, *files)["level"] == "warn"


def lines_of_pem(folder):
    """The text between BEGIN and END of all keys and certificates there."""
    found = {line for path in folder.rglob("*") if path.suffix in (".crt", ".key") for line in path.read_text("ascii").splitlines() if len(line) > 40}
    assert len(found) > 50
    return found


def test_no_secret_is_in_the_log(api, secured, tmp_path):
    said = [*well_asked(secured), *badly_asked(secured)]
    assert {200, 400, 401, 403, 413} == set(said)
    for address, tls in ((secured.address, True), (secured.address, False), (secured.service.addresses["probes"], False)):
        send_broken(secured, address, tls)
    leave_in_the_middle(secured)
    exchange_files(secured)
    api.token = "another"
    api.new_era()
    log = secured.service.log
    log.wait_for_text("the API server refused the token")
    secured.service.stop()
    noted = [line["status"] for line in log.fields() if line.get("msg") == "request"]
    assert all(noted.count(str(status)) >= said.count(status) for status in said), "the log is not at its most talkative"
    assert {"gates", "tls", "http", "extender", "inventory"} <= {line.get("mod") for line in log.fields()}
    text = log.text()
    for secret in (OURS, READER, WRONG, PASSWORD, "-----BEGIN", *lines_of_pem(tmp_path)):
        assert secret not in text, secret
