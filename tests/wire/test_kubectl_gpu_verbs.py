"""kubectl gpu: decisions and those that follow, doctor, colours on a terminal only, and the name under which it was called."""

import contextlib
import fcntl
import json
import os
import pty
import re
import resource
import shutil
import signal
import struct
import subprocess
import termios

import pytest
import yaml
from kubectl_gpu import EVERY_FORM, FILE, PLUGIN, Kubectl, answering, combined, complaint, gpu, said
from objects import filter_args, list_text, node, pod
from service import BINARY, ENV, LIMIT_S, SAMPLE_CLUSTER, SANITIZERS

NODES = [node("a", 8), node("b", 8)]


@pytest.fixture
def service(start_over):
    return start_over(*NODES)


def url_of(service):
    return "--url", f"http://{service.address}"


def decide(service, name, namespace="ml"):
    asking = pod(name, 1)
    asking["metadata"]["namespace"] = namespace
    assert service.post("/scheduler/filter", filter_args(asking, ["a", "b"])).status == 200


# ---- decisions ----


def test_decisions_are_those_of_the_api(service):
    for name, namespace in (("first", "ml"), ("second", "ml"), ("other", "web")):
        decide(service, name, namespace)
    for words, query in (((), ""), (("-n", "ml"), "?namespace=ml"), (("second",), "?name=second"), (("-A",), "")):
        api = service.get(f"/v1/decisions{query}").json()
        assert json.loads(said("decisions", *words, *url_of(service), "-o", "json")) == api
        assert yaml.safe_load(said("decisions", *words, *url_of(service), "-o", "yaml")) == api
        names = said("decisions", *words, *url_of(service), "-o", "name").split()
        assert names == [f"pod/{each['pod']['name']}" for each in api["decisions"]] and names
        wide = service.get(f"/v1/decisions?output=table&wide=true{query.replace('?', '&')}").text
        assert said("decisions", *words, *url_of(service), "-o", "wide") == wide
        assert all(len(line) <= 100 for line in said("decisions", *words, *url_of(service)).splitlines())


def test_no_decisions_are_said_to_be_none(service):
    for words, message in (((), "kube-scheduler has not asked yet"), (("nobody",), "no decision that is kept is about the pod nobody"), (("-n", "ml"), "no decision that is kept is about pods of this namespace")):
        done = gpu("decisions", *words, *url_of(service))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", f"kubectl gpu: {message}\n"), done


def test_times_of_decisions_do_not_break():
    """Where a table has no room for them, others go."""
    each = {"time": "2026-11-28T20:25:38.901Z", "verb": "prioritize", "pod": {"namespace": "ml-training", "name": "finetune-0"}, "nodesAsked": 12, "nodesHandedOn": 12}
    each |= {"tookMicroseconds": 1234, "ledgerVersion": 123456, "best": [{"node": f"a100-80-{i}", "score": 9, "costMillionths": 1} for i in range(3)]}
    with answering(json.dumps({"keep": 9, "decisions": [each]}).encode(), content="application/json") as there:
        shown, wider = (said("decisions", "--url", there, env={"COLUMNS": width}) for width in ("80", "100"))
        assert "\n2026-11-28T20:25:38Z " in shown and "TOOK" in wider and all(len(line) <= 80 for line in shown.splitlines()), shown
        assert each["time"] in said("decisions", "--url", there, "-o", "wide")


@contextlib.contextmanager
def watching(service, *words):
    with subprocess.Popen(
        [PLUGIN, "decisions", "-w", *url_of(service), *words], env={**os.environ, **ENV}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.terminate()
        assert not SANITIZERS.search(process.stderr.read())


def test_new_decisions_follow(service):
    decide(service, "first")
    decide(service, "second")
    with watching(service, "-o", "name") as names, watching(service, "-o", "yaml") as documents, watching(service) as table:
        assert [names.stdout.readline() for _ in range(2)] == ["pod/first\n", "pod/second\n"]
        assert table.stdout.readline().split()[:2] == ["TIME", "VERB"]
        decide(service, "third")
        assert names.stdout.readline() == "pod/third\n", "each is shown once, the oldest first"
        shown = ""
        while "third" not in shown:
            shown += table.stdout.readline()
        assert "TIME" not in shown and shown.index("first") < shown.index("second")
        shown = ""
        while "third" not in shown:
            shown += documents.stdout.readline()
        assert [each["pod"]["name"] for each in yaml.safe_load_all(shown.partition("third")[0] + "third") if each] == ["first", "second", "third"]


def test_watching_ends_without_a_first_answer(service):
    assert complaint("decisions", "-w", "--url", "http://127.0.0.1:1", status=3)
    with answering(b'{"decisions": 3}') as there:
        assert "it has no decisions" in complaint("decisions", "-w", "--url", there, status=3)


# ---- doctor ----


def findings(*words, status=0, **more):
    return {each["check"]: each for each in json.loads(said("doctor", *words, "-o", "json", status=status, **more))["findings"]}


def levels(found):
    return {check: each["level"] for check, each in found.items()}


def test_doctor_of_a_sound_service(service):
    found = findings(*url_of(service))
    assert set(levels(found).values()) == {"ok"}, found
    views = {f"views.{view}" for view in ("inventory", "pending", "quota", "fragmentation", "decisions", "policy")}
    assert set(found) == {*views, "data", "nodes", "nodes.sick", "policy"}
    lines = said("doctor", *url_of(service), env={"COLUMNS": "80"}).splitlines()
    assert lines[-1] == "10 ok, 0 warn (0 of them not checked), 0 fail" and all(len(line) <= 80 or " " not in line.strip() for line in lines)
    assert yaml.safe_load(said("doctor", *url_of(service), "-o", "yaml"))["ok"] == 10


def test_doctor_of_a_saved_cluster(write):
    found = levels(findings(*FILE))
    assert found["data"] == "ok" and found["nodes"] == "warn" and found["nodes.model"] == "warn"
    assert "views.decisions" not in found and "apiService" not in found
    path = write("empty.json", list_text())
    assert levels(findings("--cluster-file", path, status=1)) == {"views.inventory": "fail"}


def test_doctor_names_its_own_command(write, tmp_path):
    """The hint has the name and the options with which doctor was called, also under krew's name."""
    path = write("broken.json", list_text(node("a", 8), {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}, "spec": 7}))
    renamed = tmp_path / "kubectl-gpu_extender"
    renamed.symlink_to(PLUGIN)
    for program, name in ((PLUGIN, "kubectl gpu"), (renamed, "kubectl gpu-extender")):
        done = subprocess.run([program, "doctor", "--cluster-file", path], env={**os.environ, **ENV}, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        assert f"{name} nodes -o wide with the same options lists them" in " ".join(done.stdout.split()), done
    listed = said("nodes", "-o", "wide", "--cluster-file", path)
    assert "default/p" in listed


def test_doctor_finds_what_is_missing(alone):
    assert levels(findings("--url", f"http://{alone.address}", status=1))["data"] == "fail", "nothing is listed yet"
    assert levels(findings("--url", "http://127.0.0.1:1", status=1)) == {"views.inventory": "fail"}


@pytest.mark.parametrize(
    "answer, level",
    [
        (('{"status": {"conditions": [{"type": "Available", "status": "True"}]}}', "", 0), "ok"),
        (('{"status": {"conditions": [{"type": "Available", "status": "False", "message": "no endpoints"}]}}', "", 0), "fail"),
        (("{}", "", 0), "warn"),
        (("", "Error from server (NotFound): apiservices not found\n", 1), "fail"),
        (("", "Error from server (Forbidden): apiservices is forbidden\n", 1), "warn"),
    ],
)
def test_doctor_looks_at_the_api_service(tmp_path, answer, level):
    kubectl = Kubectl(tmp_path)
    kubectl.answer(*answer)
    found = findings(env=kubectl.env, status=1)
    assert found["apiService"]["level"] == level and found["views.inventory"]["level"] == "fail"
    assert all(each["seen"] == each["seen"].strip() for each in found.values())
    assert ("not checked" in found["apiService"]["seen"]) == ("Forbidden" in answer[1])


def test_errors_have_the_width_of_the_terminal():
    """COLUMNS wins; without a terminal they are one line, for grep."""
    words = ("why", "nobody", *FILE)
    assert gpu(*words, env={"COLUMNS": ""}).stderr.count("\n") == 1
    for columns in (80, 100):
        lines = gpu(*words, env={"COLUMNS": str(columns)}).stderr.splitlines()
        assert max(map(len, lines)) <= columns and len(lines) > 1 and all(line.startswith("  ") for line in lines[1:]), lines


def test_doctor_sees_emergency_off(tmp_path):
    """tests/wire/test_doctor_live.py has the pods that count."""
    kubectl = Kubectl(tmp_path)
    kubectl.answer(json.dumps({"items": [{"metadata": {"name": "kube-scheduler-cp1"}, "spec": {"containers": [{"command": ["kube-scheduler"]}]}}]}))
    found = findings(env=kubectl.env, status=1)["scheduler.running"]
    assert found["level"] == "fail" and "kube-scheduler-cp1" in found["seen"] and "Emergency off" in found["advice"]
    kubectl.answer("", "Error from server (Forbidden): pods is forbidden\n", 1)
    found = findings(env=kubectl.env, status=1)["scheduler.running"]
    assert found["level"] == "warn" and found["seen"].startswith("not checked: pods is forbidden")


QUOTAS = """
quotas:
- {name: full, namespaces: [ml-training], limits: [{resource: nvidia.com/gpu, total: 11, models: {A100-80GB: 1}}]}
- {name: lent, namespaces: [ml-training], limits: [{resource: nvidia.com/gpu, total: {limit: 20, borrow: {limit: 3, maxPriority: 100}}}]}
"""


def test_doctor_sees_limits_that_are_exceeded(write):
    policy = write("policy.yaml", "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\n" + QUOTAS)
    found = [each for each in json.loads(said("doctor", *FILE, "--config", policy, "-o", "json"))["findings"] if each["check"] == "quotas.use"]
    assert [each["level"] for each in found] == ["warn", "warn"], found
    assert found[0]["seen"] == "quota full: its pods use 2 nvidia.com/gpu of model A100-80GB; the limit is 1"
    assert found[1]["seen"] == "quota lent: its pods borrow 11 nvidia.com/gpu; the limit is 3" and "raise the limit" in found[1]["advice"]
    path = write("fine.yaml", "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\n" + QUOTAS.replace("GB: 1}", "GB: 2}").replace("limit: 3", "limit: 30"))
    assert findings(*FILE, "--config", path)["quotas.use"]["level"] == "ok"


@pytest.mark.parametrize("mode, level", [("observe", "warn"), ("enforce", "ok")])
def test_doctor_says_that_nothing_is_enforced(mode, level):
    """Any answer with each member that the views have."""
    whole = {member: [] for member in ("nodes", "models", "pods", "owners", "quotas", "decisions")}
    with answering(json.dumps({**whole, "usable": True, "values": {"mode": mode}}).encode(), content="application/json") as there:
        assert findings("--url", there, status=1)["policy"]["level"] == level


# ---- terminals and names ----


def on_terminal(*words, env=None, columns=0):
    """The text that it writes to a terminal of that width; 0: unknown."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        wanted = {**os.environ, **ENV, "TERM": "xterm", **(env or {})}
        wanted.pop("NO_COLOR", None) if not env else None
        process = subprocess.Popen([PLUGIN, *words], env=wanted, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE)
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # EIO: the other side is closed
            while piece := terminal.read(65536):
                shown += piece
        assert process.wait(LIMIT_S) == 0 and not process.stderr.read()
    return shown.decode()


def test_colours_are_for_terminals():
    assert "\x1b" not in said("nodes", *FILE)
    shown = on_terminal("nodes", *FILE)
    assert "\x1b[1mNODE" in shown and shown.replace("\x1b[1m", "").replace("\x1b[0m", "").replace("\r\n", "\n") == said("nodes", *FILE)
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b" not in on_terminal("nodes", *FILE, env=env)
    assert "\x1b" not in on_terminal("nodes", *FILE, "-o", "json") + on_terminal("nodes", *FILE, "--no-headers")


@pytest.mark.parametrize("word, colour", [("FITS", 32), ("PARTLY FITS", 33), ("DOES NOT FIT", 31), ("NOT JUDGED", 90), ("MISTAKE", 31), ("WAITS", 33)])
def test_verdicts_have_colours(word, colour):
    with answering(json.dumps({"usable": True, "groups": [], "summary": f"{word}  Pod a/b"}).encode()) as there:
        shown = on_terminal("node-groups", "--url", there)
        assert shown.startswith(f"\x1b[{colour}m{word}\x1b[0m  Pod a/b\r\n")
        assert said("node-groups", "--url", there).startswith(f"{word}  Pod a/b\n")
        assert "\x1b" not in on_terminal("node-groups", "--url", there, env={"NO_COLOR": "1"})
    with answering(json.dumps({"usable": True, "groups": [], "summary": f"{word} of others"}).encode()) as there:
        assert f"{word} of others" in on_terminal("node-groups", "--url", there)


def test_the_width_is_that_of_the_terminal():
    """COLUMNS wins. Narrower than 80 is 80; without a terminal it is 100."""
    longest = lambda text: max(len(line) for line in text.splitlines() if "alpha.kubernetes.io/nvidia-gpu" not in line)
    ask = ("nodes", *FILE)
    by_width = {width: said(*ask, env={"COLUMNS": str(width)}) for width in (79, 80, 120)}
    assert by_width[79] == by_width[80] and 60 < longest(by_width[80]) <= 80 < longest(by_width[120]) <= 120
    assert 80 < longest(said(*ask)) <= 100
    for columns, more, width in ((120, {}, 120), (40, {}, 80), (200, {"COLUMNS": "80"}, 80)):
        assert on_terminal(*ask, env={"NO_COLOR": "1", **more}, columns=columns).replace("\r\n", "\n") == by_width[width]


def test_messages_follow_the_name(tmp_path):
    """A plugin manager installs it under a more specific name."""
    for file, program in (("kubectl-gpu_extender", "kubectl gpu-extender"), ("kubectl-gpu-x", "kubectl gpu x"), ("gpu", "gpu")):
        path = tmp_path / file
        shutil.copy(PLUGIN, path)
        done = subprocess.run([path], env={**os.environ, **ENV}, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        assert done.returncode == 2 and done.stderr == f"{program}: a verb is missing; try {program} --help\n"
        done = subprocess.run([path, "--help"], env={**os.environ, **ENV}, capture_output=True, text=True, timeout=LIMIT_S, check=True)
        assert done.stdout.startswith(f"Usage: {program} VERB") and f"  {program} nodes\n" in done.stdout


# ---- completion ----


@pytest.fixture
def completer(tmp_path):
    """candidates(words before the last, ..., the last) -> those that kubectl_complete-gpu gives, and its directive."""
    path = tmp_path / "kubectl_complete-gpu"
    path.symlink_to(PLUGIN)

    def complete(*words, env=None):
        done = subprocess.run([path, *map(str, words)], env={**os.environ, **ENV, **(env or {})}, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        assert done.returncode == 0 and not done.stderr, done
        *found, directive = done.stdout.splitlines()
        return [each.partition("\t")[0] for each in found], directive

    return complete


def test_completion_of_words(completer):
    verbs = completer("")[0]
    assert verbs[:2] == ["nodes", "fit"] and len(verbs) == 16
    assert completer("de") == (["decisions"], ":4")
    assert sorted(completer(*FILE, "nodes", "a100-")[0]) == ["a100-40-1", "a100-80-1", "a100-mig-1"]
    assert completer("nodes", *FILE, "a10-1", "a") == ([], ":4"), "it takes one node"
    assert completer("why", *FILE, "") == (["pod/big-train-0", "big-train-0"], ":4")
    assert completer("why", *FILE, "-n", "none", "") == ([], ":4")
    assert completer("help", "wh") == (["why", "what-if"], ":4")
    assert completer("pending", *FILE, "") == completer("nothing", "") == ([], ":4")


def test_completion_of_options(completer):
    assert completer("nodes", "--no") == (["--no-headers"], ":4")
    assert completer("nodes", "--s")[0] == ["--selector", "--server"] and completer("quota", "--s")[0] == ["--server"], "the verb's"
    for words in (("-o", ""), ("--output", ""), ("--output=",)):
        assert completer("nodes", *words) == (["table", "wide", "json", "yaml", "name"], ":4")
    assert completer("nodes", *FILE, "--model", "V")[0] == ["V100"]
    assert "ml-training" in completer("pending", *FILE, "-n", "")[0]
    for words in (("-f", ""), ("--cluster-file", "x"), ("--kubeconfig=",), ("--changes", "")):
        assert completer("fit", *words) == ([], ":0")
    for option in ("--drain", "--cordon", "--lift", "--add-nodes"):
        assert sorted(completer("what-if", *FILE, option, "v100-")[0]) == ["v100-1", "v100-2", "v100-3"]
    assert completer("what-if", *FILE, "--remove-pods", "ml-training/finetune-0") == (["ml-training/finetune-0"], ":4")


def test_completion_asks_with_the_users_options(completer, tmp_path):
    kubectl = Kubectl(tmp_path)
    kubectl.answer('{"items": [{"metadata": {"name": "ml"}}, {"metadata": {"name": "web"}}]}')
    assert completer("pending", "--context", "c", "-n", "m", env=kubectl.env) == (["ml"], ":4")
    assert kubectl.words() == ["--context=c", "--request-timeout=5s", "get", "--raw", "/api/v1/namespaces"]
    kubectl.answer("", "Error from server (Forbidden): no\n", 1)
    for words in (("pending", "-n", ""), ("nodes", ""), ("why", ""), ("nodes", "--model", "")):
        assert completer(*words, env=kubectl.env) == ([], ":4"), "a failure gives none, and no message"


def test_names_with_control_characters_are_no_candidates_of_a_shell(completer):
    with answering(json.dumps({"nodes": [{"name": "a\nb\x1b"}], "models": []}).encode()) as there:
        assert completer("nodes", "--url", there, "") == (["a b "], ":4")


# ---- installing ----


def test_what_is_installed(tmp_path):
    """By meson: the programs, the link for completion, and a page for each program with all its options."""
    build = os.path.dirname(BINARY)
    done = subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found = {path.name: path for path in tmp_path.rglob("*") if not path.is_dir()}
    assert {"gpu-extender", "kubectl-gpu", "kubectl_complete-gpu", "kubectl-gpu.1", "gpu-extender.8"} <= set(found)
    assert found["kubectl_complete-gpu"].is_symlink() and os.readlink(found["kubectl_complete-gpu"]) == "kubectl-gpu"
    page = found["gpu-extender.8"].read_text().replace("\\-", "-")
    shown = subprocess.run([BINARY, "--help"], capture_output=True, text=True, check=True).stdout
    options = set(re.findall(r"^  (--[a-z-]+)", shown, re.MULTILINE))
    assert len(options) > 10 and [option for option in options if option not in page] == []


# ---- curl ----


def test_url_and_token_reach_curl_only_through_its_configuration(tmp_path):
    """Arguments of a process can be read by other users."""
    curl = tmp_path / "curl"
    curl.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/words\ncat /dev/fd/3 > {tmp_path}/settings\nprintf \'{{"nodes": [], "models": []}}\'\nprintf "\\n200 application/json" >&2\n')
    curl.chmod(0o755)
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    assert said("nodes", "--url", 'https://a/"x', "--token", 's"e\\cret\nurl = "file:///etc"', "-o", "name", env=env) == ""
    assert (tmp_path / "words").read_text() == "--disable --config /dev/fd/3\n"
    settings = (tmp_path / "settings").read_text().splitlines()
    assert 'url = "https://a/\\"x/v1/inventory"' in settings
    assert 'header = "Authorization: Bearer s\\"e\\\\cret\\nurl = \\"file:///etc\\""' in settings
    assert "curl" in complaint("nodes", "--url", "http://127.0.0.1:1", status=3, env={"PATH": str(tmp_path / "none")})
    for url, asked, connects_to in (("https://127.0.0.1:8444", "https://x.svc:8444/v1/inventory", "::127.0.0.1:"), ("https://u:p@[::1]:8/a", "https://u:p@x.svc:8/a/v1/inventory", "::[::1]:"), ("https://h", "https://x.svc/v1/inventory", "::h:")):
        assert said("nodes", "--url", url, "--tls-server-name", "x.svc", "-o", "name", env=env) == ""
        assert {f'url = "{asked}"', f'connect-to = "{connects_to}"'} <= set((tmp_path / "settings").read_text().splitlines())
    assert "curl" in complaint("nodes", "--url", "https://[::1", "--tls-server-name", "x", status=3)


# ---- the programs that it runs ----

BYTES_MAX = 1025 * 1024 * 1024  # of a file that the plugin reads 1 GiB of


@pytest.fixture
def runs(tmp_path):
    """run(shell commands) -> the environment in which kubectl and curl are these commands. Reading `fifo` gives their first line."""
    os.mkfifo(tmp_path / "fifo")

    def run(commands):
        for name in ("kubectl", "curl"):
            (tmp_path / name).write_text(f'#!/bin/sh\n{commands}\n')
            (tmp_path / name).chmod(0o755)
        return {"PATH": f"{tmp_path}:{os.environ['PATH']}", "FOLDER": str(tmp_path)}

    run.fifo = tmp_path / "fifo"
    return run


WAYS = pytest.mark.parametrize("words", [("nodes",), ("nodes", "--url", "http://127.0.0.1:1")], ids=["kubectl", "curl"])


@WAYS
@pytest.mark.parametrize("stream", ["1", "2"])
def test_an_answer_without_end_is_cut(runs, words, stream):
    """The test sets a lower limit, which holds, too. The next test shows the limit itself."""
    command = [PLUGIN, *words]
    env = {**os.environ, **ENV, **runs(f"exec yes >&{stream}")}
    limits = (1 << 20, resource.getrlimit(resource.RLIMIT_FSIZE)[1])
    done = subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=LIMIT_S, check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    )
    assert (done.returncode, done.stdout) == (3, "") and done.stderr.endswith(": its answer is too large\n"), done


@WAYS
def test_the_limit_of_an_answer(runs, words):
    env = runs('grep "Max file size" /proc/self/limits > "$FOLDER/limits"; exit 1')
    assert gpu(*words, env=env).returncode == 3
    assert int((runs.fifo.parent / "limits").read_text().split()[3]) == BYTES_MAX


HANG = 'trap "" INT TERM; exec 9>"$FOLDER/fifo"; echo here >&9; exec sleep 1000'


def hanging(runs, words, **more):
    """The plugin, and the open fifo: it is at its end when no process of the child is left."""
    process = subprocess.Popen([PLUGIN, *words], env={**os.environ, **ENV, **runs(HANG)}, **more)
    fifo = open(runs.fifo, encoding="utf-8")
    assert fifo.readline() == "here\n"
    return process, fifo


@WAYS
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_child_that_hangs_ends_with_the_plugin(runs, words, number):
    process, fifo = hanging(runs, words)
    with fifo:
        process.send_signal(number)
        assert fifo.read() == "" and process.wait(LIMIT_S) == -number


@WAYS
def test_a_terminal_interrupts_both(runs, words):
    """^C of a terminal, though the child ignores the signal."""
    ours, theirs = pty.openpty()

    def take_terminal():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored if the tests run in the background of a script

    process, fifo = hanging(runs, words, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, preexec_fn=take_terminal)
    with fifo, os.fdopen(ours, "wb", buffering=0) as terminal:
        os.close(theirs)
        terminal.write(b"\x03")
        assert fifo.read() == "" and process.wait(LIMIT_S) == -signal.SIGINT


@WAYS
def test_a_child_that_a_signal_ends_is_no_answer(runs, words):
    assert complaint(*words, env=runs("kill -9 $$"), status=3).endswith("failed without a message")


# ---- answers of others ----

MEMBERS = {
    ("nodes",): ("nodes", "models"),
    ("pending",): ("pods", "owners"),
    ("quota",): ("quotas",),
    ("groups",): ("groups",),
    ("frag",): ("models",),
    ("why", "a"): ("pod", "nodes"),
    ("claims",): ("nodes", "models"),
    ("pods",): ("nodes", "models"),
    ("decisions",): ("decisions",),
    ("node-groups",): ("groups",),
}


@pytest.mark.parametrize("words", MEMBERS, ids=" ".join)
def test_an_answer_is_what_was_asked_for(words):
    """The JSON of another service is no answer, whatever the output format."""
    whole = {name: {} if name == "pod" else [] for name in MEMBERS[words]}
    for name in (*whole, None):
        body = {each: value for each, value in whole.items() if each != name}
        with answering(json.dumps(body).encode(), content="application/json") as there:
            for form in ("table", "json", "yaml"):
                done = gpu(*words, "--url", there, "-o", form)
                assert done.returncode == (3 if name else 0), done
                assert not name or f"it has no {name}" in done.stderr


STRANGE = [None, -1, 1e300, "x", [None], {"a": [{}]}]


MEMBER_NAMES = """version terminating nodes models pods owners quotas pod decisions workloads claims holders resources devices limits placements nearMisses lacks fitsOn
notEvaluated fits score reason message requests closest schedulerSays ageSeconds freshness problems podsWithoutNode best verdicts terms explain
preemption reservedFor unenforced gpuModels groups like wouldRun displaced displacedCounts pending nowRun noLonger before after fragmentation quota notChecked
""".split()
LISTS = ("nodes", "models", "pods", "owners", "quotas", "decisions", "workloads", "claims", "groups", "displaced", "nowRun", "noLonger", "before", "after")


def filled(value, depth=2):
    """An answer with every member of that value; more nodes than a table lists one by one."""
    if depth == 0:
        return value
    inner = filled(value, depth - 1)
    return {name: inner if name in ("pod", "pending", "fragmentation", "quota") else [inner] * (45 if name == "nodes" else 1) if name in LISTS else value for name in MEMBER_NAMES}


@EVERY_FORM
@pytest.mark.parametrize("value", STRANGE, ids=str)
@pytest.mark.long
def test_members_of_any_type_are_survived(value, every):
    verbs = (*MEMBERS, ("fit", "-f", "-"), ("doctor",), ("what-if", "--drain", "a"))
    with answering(json.dumps(filled(value)).encode()) as there:
        for words, form in combined(verbs, ("table", "wide", "name"), every):
            if form != "name" or words[0] not in ("frag", "doctor", "what-if", "node-groups"):
                assert gpu(*words, "--url", there, "-o", form, text="{}").returncode in (0, 1, 3)


def test_a_saved_cluster_is_no_service():
    assert "has none" in complaint("decisions", "--cluster-file", SAMPLE_CLUSTER, status=2)


def test_pending_says_what_was_not_tried():
    """The second of a request was over before this workload's turn."""
    rows = []
    for name, tried in (("late", "none"), ("early", "all")):
        verdict = {"result": "doesNotFit", "cause": "freeGpus", "text": "No node has 8 GPUs free."}
        rows.append({"kind": "Job", "namespace": "ml", "name": name, "pods": 1, "requests": {"nvidia.com/gpu": 8}, "verdict": verdict, "remedies": [], "remediesTried": tried})
    with answering(json.dumps({"pods": [], "owners": rows, "podCount": 2, "gpuCount": 16}).encode()) as there:
        lines = said("pending", "--url", there).splitlines()
    told = [line.strip() for line in lines if "No node has" in line]
    assert told == ["No node has 8 GPUs free. What would help was not tried.", "No node has 8 GPUs free. No single change that was tried is enough."]
