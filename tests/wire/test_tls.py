"""TLS of the service: the callers admitted by certificate, and files that change while connections are open.

tests/unit/http/test_gate.c covers how a gate treats the bytes of a request.
"""

import concurrent.futures
import contextlib
import http.client
import itertools
import json
import os
import re
import socket
import ssl
import subprocess
import time

import pytest
from certificates import Authority, mount
from follow import SENT
from objects import node, pod
from raw import LIMIT_S, Raw, request
from secured import FILTER, HEAD, Secured, ask_on, context, judged, refused
from service import Service

NOBODY = "there is no client certificate"


@pytest.fixture
def secure(tmp_path, start_service):
    """secure(tls' key=value, ...) -> a Secured."""
    return lambda **tls: Secured(tmp_path, start_service, **tls)


@pytest.fixture
def secured(secure):
    return secure()


# ---- who may call the verbs ----


def test_a_certificate_of_the_authority_may_call_the_verbs(secured):
    judged(secured.verb(secured.client))


def test_a_caller_without_certificate_is_rejected(secured):
    refused(secured.verb(None), NOBODY)
    line = secured.service.log.wait_for({"mod": "gates"})
    assert (line["level"], line["why"], line["path"]) == ("warn", NOBODY, "/scheduler/filter")


def test_another_authority_is_rejected(secured, tmp_path):
    stranger = Authority(tmp_path / "other").client("kube-scheduler")
    refused(secured.verb(stranger), "the client certificate is signed by none of the authorities in tls.clientCAFile")


def test_another_authority_of_the_same_name_is_rejected(secured, tmp_path):
    imitator = Authority(tmp_path / "other", secured.authority.name).client("kube-scheduler")
    assert secured.verb(imitator).status == 403


def test_an_expired_client_certificate_is_rejected(secured):
    refused(secured.verb(secured.authority.client("old", expired=True)), "the client certificate, or one above it, has expired")


def test_a_server_certificate_is_rejected(secured):
    fault = "the client certificate is not for clients: its extended key usage has no clientAuth"
    refused(secured.verb(secured.authority.server("another-server")), fault)


def test_a_certificate_signed_by_a_client_is_rejected(secured, tmp_path):
    """A certificate does not make its owner an authority."""
    minion = Authority(tmp_path / "minion")
    certificate, key = secured.authority.client("boss")
    minion.certificate, minion.key = certificate, key
    leaf, leaf_key = minion.client("kube-scheduler")
    leaf.write_bytes(leaf.read_bytes() + certificate.read_bytes())
    assert secured.verb((leaf, leaf_key)).status == 403


NAMED = {"verbClients": {"names": ["kube-scheduler"], "organizations": ["system:schedulers", "a, b"]}}
UNNAMED = "the client certificate's subject is not in tls.verbClients"


@pytest.mark.parametrize("subject", ["/CN=kube-scheduler", "/O=x/O=system:schedulers/CN=x", "/O=a, b", "/CN=kube-scheduler/O=x"])
def test_a_named_certificate_may_call_the_verbs(secure, subject):
    secured = secure(**NAMED)
    judged(secured.verb(secured.authority.client("named", subject)))


@pytest.mark.parametrize(
    "subject",
    ["/CN=kube-scheduler2", "/CN=KUBE-SCHEDULER", "/O=kube-scheduler/CN=x", "/CN=system:schedulers", "/OU=system:schedulers"]
    + ["/CN=kube-scheduler/CN=x", "/CN=x/CN=kube-scheduler", "/O=a\\\\, b", "/O=a"],
)
def test_an_unnamed_certificate_is_rejected(secure, subject):
    secured = secure(**NAMED)
    refused(secured.verb(secured.authority.client("other", subject)), UNNAMED)


def test_a_rejected_callers_body_is_not_awaited(secured):
    """Headers of an endless body are enough for the answer; a body that is sent all the same is thrown away, up to a limit."""
    with Raw(secured.address) as raw:
        raw.socket = context(secured.authority).wrap_socket(raw.socket, server_hostname="127.0.0.1")
        raw.send(request("POST", "/scheduler/filter")[:-4].replace(b"Content-Length: 0", b"Content-Length: 60000000") + b"\r\n\r\n")
        status, headers, body = raw.answer()
        assert (status, headers["connection"], json.loads(body)) == (403, "close", {"error": NOBODY})
        raw.send(b"x" * 1000000)
        assert raw.socket.recv(1) == b""  # the end of TLS, in order


# ---- people, probes ----


def test_users_are_admitted_by_a_named_certificate(secure):
    secured = secure(peopleClients={"organizations": ["ops"]})
    assert secured.ask(secured.authority.client("op", "/O=ops/CN=ann"), "GET", "/v1/inventory").status == 200
    for client in (secured.client, None):
        answer = secured.ask(client, "GET", "/metrics")
        assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer"), client


def test_a_verbs_certificate_does_not_admit_users(secured):
    assert secured.ask(secured.client, "GET", "/v1/inventory").status == 401


def test_probes_are_open_to_all_on_the_same_socket_too(secure):
    secured = secure(probes="127.0.0.1:0")
    assert secured.service.addresses["probes"] == secured.address
    assert secured.ask(None, "GET", "/livez").status == 200
    assert secured.ask(None, "GET", "/readyz").status == 200
    refused(secured.verb(None), NOBODY)


def test_probes_on_their_own_socket_use_plain_http(secured):
    secured.service.address = secured.service.addresses["probes"]
    assert secured.service.get("/readyz").status == 200
    assert secured.service.post("/scheduler/filter", FILTER).status == 404


# ---- the protocol ----


def handshake(secured, version):
    only = context(secured.authority, secured.client)
    only.minimum_version = only.maximum_version = version
    only.set_ciphers("ALL:@SECLEVEL=0")
    host, _, port = secured.address.rpartition(":")
    with socket.create_connection((host, int(port)), LIMIT_S) as plain:
        with only.wrap_socket(plain, server_hostname=host) as connection:
            return connection.version()


def test_new_tls_versions_are_accepted(secured):
    assert handshake(secured, ssl.TLSVersion.TLSv1_3) == "TLSv1.3"
    assert handshake(secured, ssl.TLSVersion.TLSv1_2) == "TLSv1.2"


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion")
def test_old_tls_is_refused(secured):
    with pytest.raises((ssl.SSLError, ConnectionError)):
        handshake(secured, ssl.TLSVersion.TLSv1_1)
    judged(secured.verb(secured.client))


def rsa(bits):
    """An RSA key of five primes, which are much faster to find than two."""
    return "rsa", "-pkeyopt", f"rsa_keygen_bits:{bits}", "-pkeyopt", "rsa_keygen_primes:5"


@pytest.mark.long
def test_a_too_long_key_is_rejected_before_use(secured):
    """The client chooses the key that checks its signature; with 65536 bits the library needs ten seconds."""
    clients = [(secured.authority.client(f"of-{bits}", kind=rsa(bits)), bits == 8192) for bits in (8192, 8208)]
    for version, (client, is_let_in) in itertools.product((ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3), clients):
        tls = context(secured.authority, client)
        tls.minimum_version = tls.maximum_version = version
        with contextlib.closing(http.client.HTTPSConnection(*secured.address.rsplit(":", 1), timeout=LIMIT_S, context=tls)) as connection:
            if is_let_in:
                judged(ask_on(connection, "POST", "/scheduler/filter", FILTER))
            else:
                with pytest.raises((ssl.SSLError, ConnectionError, http.client.HTTPException)):
                    ask_on(connection, "POST", "/scheduler/filter", FILTER)


def test_only_elliptic_curves_are_accepted(secured):
    command = ["openssl", "s_client", "-connect", secured.address, "-CAfile", str(secured.authority.certificate), "-brief", "-groups"]
    for group, is_taken in (("P-256", True), ("ffdhe2048", False)):
        done = subprocess.run([*command, group], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        assert ("CONNECTION ESTABLISHED" in done.stderr) == is_taken, done.stderr


def cpu_ticks(service):
    with open(f"/proc/{service.process.pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def await_rest(service):
    """A service that spins never rests, however little of a busy machine it gets in a second."""
    end, before = time.monotonic() + LIMIT_S, None
    while (now := cpu_ticks(service)) != before:
        assert time.monotonic() < end, "it never rests"
        before = now
        time.sleep(1)


def test_an_unfinished_handshake_uses_no_cpu(secured):
    """With epoll, the library would spin until such a connection is closed, using one core for each of its threads."""
    host, _, port = secured.address.rpartition(":")
    with contextlib.ExitStack() as strangers:
        for _ in range(4):
            connection = strangers.enter_context(socket.create_connection((host, int(port)), LIMIT_S))
            connection.sendall(b"\x16\x03\x01\x02\x00\x01\x00")
        judged(secured.verb(secured.client))
        await_rest(secured.service)


def test_plain_http_is_not_answered(secured):
    with Raw(secured.address) as raw:
        raw.send(request("GET", "/livez"))
        with pytest.raises((EOFError, ConnectionError)):
            raw.answer()
    judged(secured.verb(secured.client))


def test_requests_may_come_in_pieces_or_pipelined(secured):
    """The last one is followed at once by the end of the input."""
    asked = request("POST", "/scheduler/filter", json.dumps(FILTER).encode())
    with Raw(secured.address) as raw:
        raw.socket = context(secured.authority, secured.client).wrap_socket(raw.socket, server_hostname="127.0.0.1")
        for i in range(0, len(asked), 7):
            raw.send(asked[i : i + 7])
        raw.send(asked + asked + asked)
        raw.socket.settimeout(LIMIT_S)
        for _ in range(4):
            assert raw.answer()[0] == 200


def sealed_with_the_end(secured, connection, asked):
    """The bytes of a request behind a handshake on the connection, and of the end of TLS right behind it; and what reads the answer."""
    received, sent = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context(secured.authority, secured.client).wrap_bio(received, sent, server_hostname="127.0.0.1")
    while not tls.version() or not tls.cipher():
        try:
            tls.do_handshake()
        except ssl.SSLWantReadError:
            connection.sendall(sent.read())
            received.write(connection.recv(65536))
    tls.write(asked)
    with pytest.raises(ssl.SSLWantReadError):
        tls.unwrap()
    return sent.read(), received, tls


@pytest.mark.parametrize("missing", [0, 5])
def test_the_end_of_the_input_may_come_with_the_last_bytes(secure, missing):
    """After a whole request and after one that is cut short, the service closes the connection at once, long before requestSeconds."""
    secured = secure(limits={"requestSeconds": 600})
    asked = request("POST", "/scheduler/filter", json.dumps(FILTER).encode())
    with Raw(secured.address) as raw:
        data, received, tls = sealed_with_the_end(secured, raw.socket, asked[: len(asked) - missing])
        raw.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)  # one segment with the end
        raw.socket.sendall(data)
        raw.socket.shutdown(socket.SHUT_WR)
        while piece := raw.socket.recv(65536):
            received.write(piece)
    if missing:
        with pytest.raises(ssl.SSLZeroReturnError):
            tls.read(1)
    else:
        assert tls.read(65536).startswith(b"HTTP/1.1 200 OK\r\n")


def test_a_large_request_and_a_large_answer(secured):
    names = ["a", *(f"gone-{i:06}" for i in range(50000))]
    answer = secured.ask(secured.client, "POST", "/scheduler/filter", {**FILTER, "NodeNames": names})
    assert answer.status == 200 and len(answer.json()["FailedAndUnresolvableNodes"]) == 50000


N_CALLERS, N_EACH = 16, 8


@pytest.fixture
def large(api):
    """The API server has those pods, and a node with room for all of them."""
    pods = [[pod(f"of-{caller}-{number}") for number in range(N_EACH)] for caller in range(N_CALLERS)]
    api.store.put(node("large", N_CALLERS * N_EACH), *(each for row in pods for each in row))
    return pods


def bind_each(connection, pods):
    for each in pods:
        names = {"PodName": each["metadata"]["name"], "PodNamespace": "ml", "PodUID": each["metadata"]["uid"], "Node": "large"}
        yield ask_on(connection, "POST", "/scheduler/bind", names)


def test_bindings_that_wait_are_answered_on_their_connections(api, large, tmp_path, start_service):
    """Each is parked until the API server has answered."""
    secured = Secured(tmp_path, start_service, kubeconfig=api.kubeconfig())
    secured.service.log.wait_for({"msg": SENT})
    api.faults.delay("bind", 0.02)

    def call(pods):
        with secured.connection(secured.client) as connection:
            return [answer.json() for answer in bind_each(connection, pods)]

    with concurrent.futures.ThreadPoolExecutor(N_CALLERS) as threads:
        said = list(threads.map(call, large))
    assert said == [[{"Error": ""}] * N_EACH] * N_CALLERS
    assert len(api.store.bound) == N_CALLERS * N_EACH


# ---- files that change ----


def shown_by(secured, authority):
    """Whether the server has a certificate of this authority."""
    try:
        with secured.connection(secured.client, authority=authority) as connection:
            connection.connect()
    except ssl.SSLCertVerificationError:
        return False
    return True


def metrics_of(secured):
    answer = secured.ask(secured.authority.client("op"), "GET", "/metrics")
    assert answer.status == 200
    return dict(re.findall(r"^(gpu_extender_(?:tls|insecure)\S*) (\S+)$", answer.text, re.MULTILINE))


def test_new_files_are_loaded_without_dropping_connections(secure):
    secured = secure(peopleClients={"names": ["op"]})
    new = Authority(secured.folder / "new")
    with secured.connection(secured.client) as old_connection:
        judged(ask_on(old_connection, "POST", "/scheduler/filter", FILTER))
        socket_before = old_connection.sock
        both = Authority(secured.folder / "both")
        both.certificate.write_bytes(secured.authority.certificate.read_bytes() + new.certificate.read_bytes())
        line = secured.swap(both, *new.server())
        assert line["level"] == "info", line
        judged(ask_on(old_connection, "POST", "/scheduler/filter", FILTER))
        assert old_connection.sock is socket_before
        assert shown_by(secured, new) and not shown_by(secured, secured.authority)

        secured.swap(new, *new.server("newer"))
        refused(ask_on(old_connection, "POST", "/scheduler/filter", FILTER), "the client certificate is signed by none of the authorities in tls.clientCAFile")
    secured.authority = new
    judged(secured.verb(new.client("kube-scheduler")))
    assert metrics_of(secured)['gpu_extender_tls_reloads_total{result="taken"}'] == "2"


def put_mismatched(secured, other):
    certificate, _ = secured.authority.server("next")
    return certificate, secured.authority.server("another")[1], "is not the private key of the certificate"


def put_half(secured, other):
    certificate, key = secured.authority.server("next")
    certificate.write_bytes(certificate.read_bytes()[:200])
    return certificate, key, "holds no certificate in PEM that can be read"


def put_client(secured, other):
    return *secured.client, "has no serverAuth"


@pytest.mark.parametrize("put", [put_mismatched, put_half, put_client])
def test_invalid_files_leave_the_old_in_force(secure, put):
    secured = secure(peopleClients={"names": ["op"]})
    certificate, key, fault = put(secured, None)
    line = secured.swap(secured.authority, certificate, key)
    assert line["level"] == "warn" and fault in line["err"] and "tls." in line["err"]
    judged(secured.verb(secured.client))
    assert metrics_of(secured)['gpu_extender_tls_reloads_total{result="refused"}'] == "1"
    assert secured.swap(secured.authority, *secured.authority.server("mended"))["level"] == "info"
    judged(secured.verb(secured.client))


def test_missing_files_leave_the_old_in_force(secured):
    seen = len(secured.service.log.lines)
    (secured.files / "..data").unlink()
    line = secured.service.log.wait_for({"mod": "tls", "level": "warn"}, after=seen)
    assert "No such file" in line["err"]
    judged(secured.verb(secured.client))


def test_metrics_show_the_expiry_of_the_certificate(secure):
    secured = secure(peopleClients={"names": ["op"]})
    told = metrics_of(secured)
    ends = float(told["gpu_extender_tls_certificate_expiration_timestamp_seconds"])
    assert 86400 < ends - time.time() < 2 * 86400 + 60
    assert told['gpu_extender_insecure_listeners{listener="verbs"}'] == told['gpu_extender_insecure_listeners{listener="people"}'] == "0"


# ---- the start, and --check ----


@pytest.fixture
def judge(run_binary, write, tmp_path):
    """judge(policy's section={...}, ...) -> what --check says; its exit status is 2 where that is anything."""

    def run(*options, **sections):
        done = run_binary("--check", "--config", write("policy.yaml", json.dumps({**HEAD, **sections})), *options)
        assert done.returncode == (2 if done.stderr else 0), done
        return done.stderr

    return run


@pytest.fixture
def good(tmp_path):
    """The keys of files that are good, and the authority."""
    authority = Authority(tmp_path / "ca")
    certificate, key = authority.server()
    return {"certificateFile": str(certificate), "privateKeyFile": str(key), "clientCAFile": str(authority.certificate)}, authority


OPEN = {"verbs": "0.0.0.0:0", "people": "127.0.0.1:0"}


def test_valid_files_are_accepted(judge, good):
    assert judge(tls=good[0], listen={"verbs": "0.0.0.0:0", "people": "[::]:0"}) == ""


@pytest.mark.parametrize("key", ["certificateFile", "privateKeyFile", "clientCAFile"])
def test_tls_files_are_required_together(judge, good, key):
    said = judge(tls={**good[0], key: ""})
    assert f"/policy.yaml: tls.{key}: is missing" in said


@pytest.mark.parametrize("key", ["certificateFile", "privateKeyFile", "clientCAFile"])
def test_tls_files_must_exist_and_be_valid(judge, good, key, write):
    assert "No such file" in judge(tls={**good[0], key: "/nowhere/x.pem"})
    assert "/policy.yaml: tls: /nowhere/x.pem: " in judge(tls={**good[0], key: "/nowhere/x.pem"})
    assert "in PEM that can be read" in judge(tls={**good[0], key: str(write("empty.pem", ""))})
    wrong = good[0]["privateKeyFile" if key != "privateKeyFile" else "certificateFile"]
    assert "in PEM that can be read" in judge(tls={**good[0], key: wrong})


def test_check_rejects_an_expired_certificate(judge, good):
    files, authority = good
    certificate, key = authority.server("old", expired=True)
    files = {**files, "certificateFile": str(certificate), "privateKeyFile": str(key)}
    assert re.search(r"has expired: it was valid until 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$", judge(tls=files).rstrip())


def test_an_expired_certificate_is_logged_and_can_be_renewed(secured):
    """Probes and metrics go on meanwhile, and a new certificate is loaded."""
    seen = len(secured.service.log.lines)
    certificate, key = secured.authority.server("old", expired=True)
    mount(secured.files, secured.authority, certificate, key)
    assert "has expired" in secured.service.log.wait_for({"mod": "tls", "level": "warn"}, after=seen)["err"]
    again = Service("--config", secured.policy, "--cluster-file", secured.folder / "cluster", listen=None)
    try:
        assert "has expired" in again.log.wait_for({"mod": "tls", "level": "warn"})["err"]
    finally:
        again.stop()
    assert secured.swap(secured.authority, *secured.authority.server("new"))["level"] == "info"
    judged(secured.verb(secured.client))


@pytest.mark.parametrize("listener", ["verbs", "people"])
@pytest.mark.parametrize("address", ["0.0.0.0:8888", "[::]:8888", "192.0.2.1:8888", "128.0.0.1:8888"])
def test_public_addresses_need_tls_or_an_opt_out(judge, listener, address):
    said = judge(listen={listener: address})
    option = {"verbs": "insecureVerbs", "people": "insecurePeople"}[listener]
    assert f'/policy.yaml: listen.{listener}: is "{address}"' in said
    assert "tls.certificateFile" in said and f"listen.{option}: true" in said
    assert judge(listen={listener: address, option: True}) == ""
    other = {"verbs": "insecurePeople", "people": "insecureVerbs"}[listener]
    assert judge(listen={listener: address, other: True}) == said
    assert judge("--print-policy", listen={listener: address}) == said


def test_the_listen_option_needs_tls_too(judge, run_binary):
    assert judge("--listen", "0.0.0.0:8888").startswith('gpu-extender: listen.verbs: is "0.0.0.0:8888"')


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "[::ffff:127.0.0.1]:1"])
def test_loopback_needs_no_tls(judge, address):
    assert judge(listen={"verbs": address, "people": address, "probes": "0.0.0.0:1"}) == ""


def test_insecure_settings_are_logged(start_service, write):
    policy = {**HEAD, "listen": {"verbs": "0.0.0.0:0", "insecureVerbs": True, "people": "127.0.0.1:0", "probes": "127.0.0.1:0"}}
    service = start_service("--config", write("policy.yaml", json.dumps(policy)), "--cluster-file", write("c.json", '{"kind":"List"}'), listen=None)
    assert [line["addr"] for line in service.log.fields() if "insecureVerbs" in line.get("msg", "")] == ["0.0.0.0:0"]
    service.address = service.addresses["people"]
    told = service.get("/metrics").text
    assert 'gpu_extender_insecure_listeners{listener="verbs"} 1\n' in told
    assert 'gpu_extender_insecure_listeners{listener="people"} 0\n' in told
