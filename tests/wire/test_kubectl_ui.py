"""kubectl gpu ui: the page on a loopback port, with a secret, forwarding only what the page asks for. tests/ui has it in a browser."""

import concurrent.futures
import contextlib
import json
import os
import re
import select
import shutil
import signal

import marked
import pytest
from kubectl_gpu import FILE, PLUGIN, Kubectl, Ui, answering, complaint
from objects import TIMES, ageless
from raw import Raw
from service import LIMIT_S, SAMPLE_CLUSTER

VIEWS = "/apis/visibility.gpu-extender.io/v1alpha1/views/"
GETS = ["decisions", "explain?namespace=ml-training&name=big-train-0", "fragmentation", "groups", "inventory", "node-groups", "pending", "policy", "quota"]
POSTS = ["dry-run", "what-if"]
PATHS = [("GET", f"/v1/{path}") for path in GETS] + [("POST", f"/v1/{path}") for path in POSTS]


@pytest.fixture(scope="module")
def kubectl(tmp_path_factory):
    return Kubectl(tmp_path_factory.mktemp("kubectl"))


@pytest.fixture(scope="module")
def ui(kubectl):
    """Through the stand-in for kubectl."""
    running = Ui("--context", "c", "--as=jane", env=kubectl.env)
    yield running
    running.stop()


@pytest.fixture
def untouched(kubectl):
    """kubectl must not run."""
    (kubectl.folder / "all").unlink(missing_ok=True)
    yield
    assert not (kubectl.folder / "all").exists()


def by_hand(ui, method, path, *headers):
    """(status, body): no header but these."""
    with Raw(ui.address) as raw:
        raw.send("\r\n".join([f"{method} {path} HTTP/1.1", "Content-Length: 0", *headers]).encode() + b"\r\n\r\n")
        status, _, body = raw.answer()
        return status, body


# ---- who may ask ----


def test_files_are_open_confined_and_without_data(ui, untouched):
    status, body = by_hand(ui, "GET", "/ui/", f"Host: {ui.address}")
    assert status == 200 and ui.secret.encode() not in body
    headers = ui.get("/ui/main.js").headers
    assert "require-trusted-types-for 'script'" in headers["content-security-policy"] and headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(("method", "path"), PATHS)
def test_data_need_the_secret(ui, untouched, method, path):
    for given in ([], ["Authorization: Bearer "], [f"Authorization: Bearer {ui.secret[:-1]}"], [f"Authorization: Bearer {ui.secret[:-1]}{'b' if ui.secret[-1] == 'a' else 'a'}"],
                  [f"Authorization: Basic {ui.secret}"], [f"Authorization: {ui.secret}"], [f"Cookie: secret={ui.secret}"]):  # fmt: skip
        status, body = by_hand(ui, method, path, f"Host: {ui.address}", *given)
        assert status == 401 and ui.secret.encode() not in body
    assert by_hand(ui, method, f"{path}{'&' if '?' in path else '?'}secret={ui.secret}", f"Host: {ui.address}")[0] in (400, 401)


@pytest.mark.parametrize("path", ["/ui/", "/v1/inventory"])
@pytest.mark.parametrize("host", ["localhost:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:{port}.", "page.example:{port}", "127.0.0.2:{port}", "[::1]:{port}", ""])
def test_another_host_is_refused(ui, untouched, path, host):
    host = host.format(port=ui.address.split(":")[1])
    status, body = by_hand(ui, "GET", path, f"Host: {host}", f"Authorization: Bearer {ui.secret}")
    assert status == 403 and b"Host" in body


@pytest.mark.parametrize("origin", ["https://page.example", "null", "http://localhost:{port}", "https://{address}", "http://127.0.0.1"])
def test_another_origin_is_refused(ui, untouched, origin):
    origin = origin.format(port=ui.address.split(":")[1], address=ui.address)
    for method, path in (PATHS[0], PATHS[-1], ("GET", "/ui/")):
        status, body = by_hand(ui, method, path, f"Host: {ui.address}", f"Origin: {origin}", f"Authorization: Bearer {ui.secret}")
        assert status == 403 and b"Origin" in body


NOT_OURS = ["/v1", "/v1/", "/v1/snapshot", "/v1/observed", "/v1/pods/a/b/explain", "/v1/inventory/", "/v1/inventory/x", "/v1/../api/v1/secrets",
            "/v1/..%2f..%2fapi/v1/secrets", "/v1/inventory%3Fa=b", "/v1/inventory%2F..%2Fsnapshot", "/v1//inventory", "/api/v1/secrets", "/apis", "/apis/visibility.gpu-extender.io/v1alpha1/views/inventory",
            "/metrics", "/ui/..%2fv1/inventory", "http://127.0.0.1:1/v1/inventory", "//127.0.0.1:1/v1/inventory"]  # fmt: skip


@pytest.mark.parametrize("path", NOT_OURS)
def test_nothing_else_is_forwarded(ui, untouched, path):
    status, _ = by_hand(ui, "GET", path, f"Host: {ui.address}", f"Authorization: Bearer {ui.secret}")
    assert status == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_are_refused(ui, untouched, method):
    assert ui.ask(method, "/v1/inventory", "").status in (405, 501)
    assert ui.get("/v1/inventory?namespace=a&x=y").status == 400


def test_a_long_body_is_refused(ui, untouched):
    assert ui.post("/v1/dry-run", "x" * (8 * 1024 * 1024 + 1)).status == 413


@pytest.mark.parametrize("path", ["/ui/", "/v1/policy"])
def test_connections_without_the_secret_keep_nobody_away(ui, kubectl, path):
    """As many connections are open as may be; each is served and kept."""
    kubectl.answer("{}")
    with contextlib.ExitStack() as stack:
        for _ in range(64):
            stranger = stack.enter_context(Raw(ui.address))
            stranger.send(f"GET {path} HTTP/1.1\r\nHost: {ui.address}\r\n\r\n".encode())
            assert stranger.answer()[0] == (200 if path == "/ui/" else 401)
        assert ui.get("/v1/policy").status == 200


# ---- the command that the page copies ----


def test_the_command_asks_where_this_asks(tmp_path):
    """The command needs the secret, works in every folder, and has no token."""
    options = ["--context=it's", "--kubeconfig=/a/config", "--client-key=key.pem", "-s", "https://a", "--token=t0ken", "--insecure-skip-tls-verify"]
    ui = Ui(*options)
    try:
        answer = ui.get("/ui/command").json()
        wanted = ["--context=it's", "--kubeconfig=/a/config", f"--client-key={os.getcwd()}/key.pem", "--server=https://a", "--insecure-skip-tls-verify"]
        assert answer == {"program": "kubectl gpu", "options": wanted, "needsToken": True}
        assert by_hand(ui, "GET", "/ui/command", f"Host: {ui.address}")[0] == 401
    finally:
        ui.stop()
    (tmp_path / "policy.yaml").write_text("apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\n")
    shutil.copy(PLUGIN, tmp_path / "kubectl-gpu_extender")
    ui = Ui("--cluster-file", os.path.relpath(SAMPLE_CLUSTER), "--config", os.path.relpath(tmp_path / "policy.yaml"), plugin=tmp_path / "kubectl-gpu_extender")
    try:
        answer = ui.get("/ui/command").json()
        names = [os.path.realpath(option.partition("=")[2]) for option in answer["options"]]
        assert (answer["program"], answer["needsToken"]) == ("kubectl gpu-extender", False)
        assert names == [os.path.realpath(SAMPLE_CLUSTER), os.path.realpath(tmp_path / "policy.yaml")]
        assert all(option.partition("=")[2].startswith("/") for option in answer["options"])
    finally:
        ui.stop()


@pytest.mark.parametrize(("given", "copied"), [
    ("--url=http://me:s3cret@127.0.0.1:1/p@th", "--url=http://127.0.0.1:1/p@th"),
    ("--url=me:s3@cret@127.0.0.1:1", "--url=127.0.0.1:1"),
    ("--server=https://me:s3cret@a", "--server=https://a"),
    ("--as=me@example.com", "--as=me@example.com"),
])  # fmt: skip
def test_the_command_has_no_password_of_an_address(given, copied):
    ui = Ui(given)
    try:
        assert ui.get("/ui/command").json()["options"] == [copied]
    finally:
        ui.stop()


# ---- what kubectl is asked ----


def test_views_are_asked_with_the_users_options(ui, kubectl):
    kubectl.answer('{"so": "it is"}')
    for method, path in PATHS:
        answer = ui.ask(method, path, "kind: Pod\n" if method == "POST" else None)
        assert (answer.status, answer.json()) == (200, {"so": "it is"})
        view = path.removeprefix("/v1/")
        command = ["create", "--raw", VIEWS + view, "--filename=-"] if method == "POST" else ["get", "--raw", VIEWS + view]
        assert kubectl.words() == ["--context=c", "--as=jane", *command]
        assert (kubectl.folder / "input").read_text() == ("kind: Pod\n" if method == "POST" else "")
    assert ui.secret not in (kubectl.folder / "all").read_text()


def test_parameters_cannot_leave_their_place(ui, kubectl):
    kubectl.answer("{}")
    evil = "a%26b%3D..%2F..%2Fapi%23%3F%20--token%3Dx"
    assert ui.get(f"/v1/explain?namespace={evil}&name=-rf").status == 200
    assert kubectl.words()[-1] == f"{VIEWS}explain?namespace={evil}&name=-rf"


@pytest.mark.parametrize(
    "complained, status, shown",
    [
        ("Error from server (Forbidden): views is forbidden: no\n", 403, "views is forbidden: no"),
        ("Error from server (NotFound): pod a/b: is not in the inventory\n", 404, "is not in the inventory"),
        ("Error from server (Unauthorized): Unauthorized\n", 502, "Unauthorized"),
        ("Error from server (NotFound): the server could not find the requested resource\n", 502, "aggregated API"),
        ("The connection to the server x was refused\n", 502, "refused"),
        ("", 502, "without a message"),
    ],
)
def test_complaints_of_kubectl_are_shown(ui, kubectl, complained, status, shown):
    kubectl.answer("", complained, 1)
    answer = ui.get("/v1/inventory")
    assert answer.status == status and shown in answer.json()["error"]


def test_an_unchanged_answer_is_not_sent_again(ui, kubectl):
    """The tag stays if only the time has passed. A time within a text counts as text."""

    def ask(tag="", **more):
        kubectl.answer(json.dumps({"asOf": "t", "pods": [{"ageSeconds": 1, "name": "a"}], **more}))
        answer = ui.get("/v1/pending", {"If-None-Match": tag} if tag else {})
        return answer.status, answer.headers.get("etag")

    status, tag = ask()
    assert status == 200 and tag
    assert ask(tag) == (304, tag)
    assert ask(tag, asOf="u", pods=[{"ageSeconds": 20, "name": "a"}]) == (304, tag)
    for time in TIMES:
        kept = ask(owner={time: 1, "name": "a"})[1]
        assert ask(kept, owner={time: 20, "name": "a"}) == (304, kept), time
        assert ask(kept, owner={time: 20, "name": "b"})[0] == 200
    for other in ({"pods": [{"ageSeconds": 1, "name": "b"}]}, {"pods": []}, {"more": '"asOf": 1'}):
        assert ask(tag, **other)[0] == 200
    once, twice = ask(more='x "asOf": 1, y')[1], ask(more='x "asOf": 2, y')[1]
    assert once != twice


def test_an_answer_without_end_is_ended(ui, kubectl):
    (kubectl.folder / "kubectl").rename(kubectl.folder / "kept")
    (kubectl.folder / "kubectl").write_text("#!/bin/sh\nexec cat /dev/zero\n")
    (kubectl.folder / "kubectl").chmod(0o755)
    try:
        assert ui.get("/v1/inventory").status == 502
    finally:
        (kubectl.folder / "kept").rename(kubectl.folder / "kubectl")


@contextlib.contextmanager
def asked_at_once(ui):
    """The answers to all questions, as futures."""
    with concurrent.futures.ThreadPoolExecutor(len(PATHS)) as pool:
        yield [pool.submit(ui.ask, method, path, "" if method == "POST" else None) for method, path in PATHS]


@pytest.fixture
def waiting(tmp_path):
    """A stand-in for kubectl that says that it has begun, and answers when it is let go."""
    for name in ("begun", "let-go"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "kubectl").write_text(f"#!/bin/sh\necho > {tmp_path}/begun\nread -r _ < {tmp_path}/let-go\necho '{{}}'\n")
    (tmp_path / "kubectl").chmod(0o755)
    ui = Ui(env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    with open(tmp_path / "begun", "r+b", 0) as begun, open(tmp_path / "let-go", "r+b", 0) as let_go:
        yield ui, begun, let_go
    ui.stop()


def test_a_slow_kubectl_delays_no_file(waiting):
    """Eight questions are forwarded at a time, and later ones wait."""
    ui, begun, let_go = waiting
    with asked_at_once(ui) as answers:
        try:
            for _ in range(8):
                assert select.select([begun], [], [], LIMIT_S)[0] and begun.read(1)
            assert ui.get("/ui/main.js").status == 200
            assert by_hand(ui, "GET", "/v1/policy", f"Host: {ui.address}")[0] == 401
        finally:
            let_go.write(b"\n" * len(PATHS))
        assert [answer.result().status for answer in answers] == [200] * len(PATHS)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_all(tmp_path, number):
    """The end also ends each kubectl that hangs with its children, and questions that wait."""
    os.mkfifo(tmp_path / "held")
    (tmp_path / "kubectl").write_text(f"#!/bin/sh\nsleep 1000 > {tmp_path}/held &\nwait\n")
    (tmp_path / "kubectl").chmod(0o755)
    ui = Ui(env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    with asked_at_once(ui), open(tmp_path / "held", encoding="ascii") as held:  # until one hangs
        ui.process.send_signal(number)
        assert ui.process.wait(LIMIT_S) == 0
        assert held.read() == ""  # until all writers are gone
    ui.log.reader.join(LIMIT_S)
    ui.process.stdout.close()
    assert not ui.log.text()


# ---- other sources ----


@pytest.mark.parametrize("where", ["file", "url"])
def test_answers_are_those_of_the_api(service, where):
    words = FILE if where == "file" else ("--url", f"http://{service.address}")
    manifest = json.dumps({"changes": [{"drain": ["h100-1"]}], "workloads": []})
    ui = Ui(*words)
    try:
        for method, path in PATHS:
            if where == "file" and path in ("/v1/policy", "/v1/decisions"):
                assert ui.get(path).status == 200  # not those of a service
                continue
            body = manifest if method == "POST" else None
            asked, wanted = (one.ask(method, path, body) for one in (ui, service))
            assert (asked.status, ageless(asked.json())) == (wanted.status, ageless(wanted.json())), path
    finally:
        ui.stop()


@pytest.mark.parametrize("status, body, content, shown", [
    (302, b"", "text/html", (502, "302")), (401, b'{"error": "no"}', "application/json", (502, "401")), (403, b'{"error": "no"}', "application/json", (403, "no")),
    (404, b"<html>", "text/html", (404, "404")), (503, b'{"error": "later"}', "application/json", (503, "later")),
])  # fmt: skip
def test_errors_of_a_url(status, body, content, shown):
    with answering(body, status, content) as there:
        ui = Ui("--url", there)
        try:
            answer = ui.get("/v1/inventory")
            assert answer.status == shown[0] and shown[1] in answer.json()["error"] and "location" not in answer.headers
        finally:
            ui.stop()


def test_messages_follow_the_name(tmp_path):
    shutil.copy(PLUGIN, tmp_path / "kubectl-gpu_extender")
    ui = Ui(*FILE, plugin=tmp_path / "kubectl-gpu_extender")
    try:
        for host in (ui.address, "127.0.0.1:1"):
            assert b" kubectl gpu-extender ui " in by_hand(ui, "GET", "/v1/policy", f"Host: {host}")[1]
    finally:
        ui.stop()


def test_wrong_use(tmp_path):
    for words in (("x",), ("-n", "a"), ("--cluster-file", str(tmp_path / "none")), ("--cluster-file", SAMPLE_CLUSTER, "--config", str(tmp_path / "none"))):
        assert complaint("ui", *words, status=2)


def test_the_table_of_verbs_names_the_views():
    ((_, paths, _),) = [row for row in marked.table("docs/KUBECTL-GPU.md", "verbs") if row[0] == "`ui`"]
    stated = re.findall(r"`views/([a-z-]+)`", paths)
    assert sorted(stated) == sorted(path.partition("?")[0] for path in GETS + POSTS) and stated[-2:] == POSTS
