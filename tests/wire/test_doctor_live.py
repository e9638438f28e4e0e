"""gpu-extender --doctor over an API server of the test's: versions, clocks, Leases and answers that a real one does not give on demand.

tests/control-plane/test_doctor.py asks a real one.
"""

import contextlib
import http.server
import json
import threading
import time

import pytest

HEAD = "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\nlisten: {verbs: '127.0.0.1:8443', probes: '127.0.0.1:8080'}\n"
ELECTION = HEAD + "leaderElection: {enabled: true}\nwake: {objectName: gpu-extender-wake}\n"
HOME = "/namespaces/gpu-extender/"
AGGREGATED = HEAD + "aggregatedAPI: {enabled: true}\n"
LEASE = f"/apis/coordination.k8s.io/v1{HOME}leases/gpu-extender"
WAKE = f"/apis/storage.k8s.io/v1{HOME}csistoragecapacities/gpu-extender-wake"
SLICE = f"/apis/discovery.k8s.io/v1{HOME}endpointslices/gpu-extender-verbs"
REVIEW = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
REVIEW_OF_SELF = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"

GROUPS = {version: f"/apis/scheduling.k8s.io/{version}/podgroups" for version in ("v1", "v1beta1", "v1alpha2")}
A_GROUP = {"kind": "PodGroupList", "metadata": {"resourceVersion": "1"}, "items": [{"metadata": {"name": "g", "namespace": "ml"}, "spec": {}}]}


def stamp(ahead_s=0):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + ahead_s))


def who(ahead_s=0):
    return {"metadata": {"creationTimestamp": stamp(ahead_s)}, "status": {"userInfo": {"username": "ann"}}}


def lease(ago_s=0, holder="replica-1"):
    return {"spec": {"holderIdentity": holder, "renewTime": stamp(-ago_s).replace("Z", ".123456Z"), "leaseDurationSeconds": 6}}


def endpoints(port=8443, addresses=("192.0.2.7",)):
    return {"endpoints": [{"addresses": list(addresses)}] if addresses else [], "ports": [{"port": port}]}


def nodes(*minors):
    items = [{"metadata": {"name": f"n{minor}"}, "status": {"nodeInfo": {"kubeletVersion": f"v1.{minor}.0"}}} for minor in minors]
    return {"kind": "NodeList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": items}


# The objects of manifests/overlays/claims.
MARKERS = [f"/apis/admissionregistration.k8s.io/v1/mutatingadmission{kind}/gpu-extender-claims" for kind in ("policies", "policybindings")]


class Canned:
    """Answers each path with an object, bytes, a status, or what a function returns then; every kind's list is empty, and watches stay silent until the end."""

    def __init__(self, answers):
        right = {"/version": {"gitVersion": "v1.36.3"}, SELF: who, REVIEW: {"status": {"allowed": True}}, **dict.fromkeys(MARKERS, 404)}
        self.answers = {**right, LEASE: lease, SLICE: endpoints(), **answers}
        self.asked, self.over = [], threading.Event()

    def reply(self, method, path):
        self.asked.append((method, path))
        name = path.partition("?")[0]
        said = self.answers.get(name, nodes() if method == "GET" else 404)
        said = said() if callable(said) else said
        return (said, b"{}") if isinstance(said, int) else (200, said if isinstance(said, bytes) else json.dumps(said).encode())


def handler_of(canned):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def answer(self):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if "watch=true" in self.path:
                canned.asked.append((self.command, self.path))
                canned.over.wait()
                self.close_connection = True
                return
            code, body = canned.reply(self.command, self.path)
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    return Handler


@pytest.fixture
def diagnose(run_binary, write):
    """diagnose({path: answer}, policy) -> ({check: [(level, seen)]}, exit status, what was asked)."""

    def run(answers, policy=HEAD):
        canned = Canned(answers)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler_of(canned))
        server.daemon_threads = True
        with contextlib.ExitStack() as ends:
            ends.callback(server.server_close)
            ends.callback(server.shutdown)
            ends.callback(canned.over.set)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            there = {"server": f"http://127.0.0.1:{server.server_port}"}
            whole = {"current-context": "t", "contexts": [{"name": "t", "context": {"cluster": "t"}}], "clusters": [{"name": "t", "cluster": there}]}
            options = ["--kubeconfig", write("kubeconfig", json.dumps(whole)), "--config", write("policy.yaml", policy)]
            done = run_binary("--doctor", *options, "--output", "json")
        assert done.stderr == "", done
        found = {}
        for one in json.loads(done.stdout)["findings"]:
            found.setdefault(one["check"], []).append((one["level"], one["seen"]))
        return found, done.returncode, canned.asked

    return run


def test_it_only_asks(diagnose):
    found, status, asked = diagnose({}, ELECTION)
    assert status == 0, found
    assert {method for method, _ in asked} == {"GET", "POST"}
    assert {path for method, path in asked if method == "POST"} == {REVIEW, SELF}
    levels = {level for check, all_ in found.items() for level, seen in all_ if not check.startswith(("scheduler", "nodes.managed"))}
    assert levels == {"ok"}, found


@pytest.mark.parametrize(
    ("answers", "check", "level", "words"),
    [
        ({"/version": {"gitVersion": "v1.28.1"}}, "versions.apiServer", "warn", ["v1.28.1", "1.29 to 1.37"]),
        ({"/version": {"gitVersion": "v0.0.0-master"}}, "versions.apiServer", "warn", ["not checked", "v0.0.0-master"]),
        ({"/version": {}}, "versions.apiServer", "warn", ["not checked", "no version"]),
        ({"/version": 403}, "versions.apiServer", "warn", ["not checked", "403"]),
        ({"/version": 401}, "apiServer", "fail", ["401"]),
        ({"/version": b"[" * 100000}, "versions.apiServer", "warn", ["not checked", "no JSON"]),
        ({"/api/v1/nodes": nodes(36, 37)}, "versions.nodes", "warn", ["1 kubelets are newer", "n37 (v1.37.0)"]),
        ({"/api/v1/nodes": nodes(32, 33)}, "versions.nodes", "warn", ["1 kubelets are more than 3", "n32"]),
        ({"/api/v1/nodes": 403}, "versions.nodes", "warn", ["not checked", "403"]),
        ({SELF: lambda: who(60)}, "clock", "warn", ["behind"]),
        ({SELF: lambda: who(-60)}, "clock", "warn", ["ahead"]),
        ({SELF: 404}, "clock", "warn", ["not checked", "404"]),
        ({SELF: {"metadata": {"creationTimestamp": "9999999-01-01"}}}, "clock", "warn", ["not checked"]),
        ({LEASE: lambda: lease(60)}, "lease", "fail", ["replica-1", "has not renewed"]),
        ({LEASE: lambda: lease(holder="")}, "lease", "fail", ["no replica holds it"]),
        ({LEASE: 404}, "lease", "fail", ["is not there"]),
        ({LEASE: 403}, "lease", "warn", ["not checked", "403"]),
        ({LEASE: {"spec": 3}}, "lease", "fail", ["no replica holds it"]),
        ({WAKE: 404}, "wake", "warn", ["is not there"]),
        ({WAKE: 403}, "wake", "warn", ["not checked", "403"]),
        ({WAKE: {"kind": "CSIStorageCapacity"}}, "wake", "ok", ["is there"]),
        ({SLICE: endpoints(addresses=())}, "endpointSlice", "fail", ["no address"]),
        ({SLICE: endpoints(port=1)}, "endpointSlice", "fail", ["port 1", "8443"]),
        ({SLICE: {"endpoints": 1, "ports": [1]}}, "endpointSlice", "fail", ["no address"]),
        ({REVIEW: {"status": {"allowed": False}}}, "rights", "fail", ["may not list, watch nodes"]),
        ({REVIEW: {"status": {"allowed": "yes"}}}, "rights", "warn", ["not checked"]),
        ({REVIEW: 403, REVIEW_OF_SELF: {"status": {"allowed": True}}}, "rights", "ok", ["ann may list, watch nodes"]),
        ({REVIEW: 403, REVIEW_OF_SELF: {"status": {"allowed": False}}}, "rights", "warn", ["ann may not list, watch nodes"]),
        ({REVIEW: 500}, "rights", "warn", ["not checked", "500"]),
        ({GROUPS["v1"]: 404, GROUPS["v1beta1"]: 404, GROUPS["v1alpha2"]: A_GROUP}, "pods.groups", "warn", ["asks again", "without a pause"]),
        ({GROUPS["v1"]: 403}, "cluster", "warn", ["the podgroups are not listed"]),
    ],
)
def test_answers(diagnose, answers, check, level, words):
    found, status, _ = diagnose(answers, ELECTION)
    assert [seen for is_level, seen in found[check] if is_level == level and all(word in seen for word in words)], found
    assert status == (1 if any(is_level == "fail" for all_ in found.values() for is_level, _ in all_) else 0)


@pytest.mark.parametrize(
    "answer, level, words",
    [
        ({"nodes": []}, "ok", "no node is in quarantine"),
        ({"nodes": [{"name": "b", "quarantine": "quarantine"}, {"name": "c", "shapeTraps": 1}]}, "warn", "kubelets reject pods: b (quarantine), c (shape trap)"),
        (403, "warn", "403"),
    ],
)
def test_sick_nodes_are_asked_of_the_service(diagnose, answer, level, words):
    view = "/apis/visibility.gpu-extender.io/v1alpha1/views/inventory"
    found, _, asked = diagnose({view: answer}, AGGREGATED)
    ((said, seen),) = found["nodes.sick"]
    assert said == level and words in seen and ("GET", f"{view}?state=marked") in asked


SCHEDULERS = "/api/v1/namespaces/kube-system/pods"


def scheduler(name, words, labels=None, volume=None, **more):
    volumes = [{"name": "configuration", "configMap": {"name": volume}}] if volume else []
    container = {"name": "kube-scheduler", "command": ["kube-scheduler"], "args": list(words)}
    return {"metadata": {"name": name, "labels": labels or {"component": "kube-scheduler"}, **more}, "spec": {"containers": [container], "volumes": volumes}}


ON, OFF = scheduler("on-cp1", ["--config=/etc/kubernetes/gpu-extender/kube-scheduler-config.yaml"]), scheduler("off-cp2", ["--leader-elect=true"])
SECOND, SECOND_OFF = (scheduler(name, ["--config=/etc/gpu-scheduler/c.yaml"], {"app.kubernetes.io/name": "gpu-scheduler"}, name) for name in ("gpu-scheduler-configuration-1", "gpu-scheduler-alone"))


@pytest.mark.parametrize(
    "main, second, level, words",
    [
        ([ON], [], "ok", "with a configuration: on-cp1"),
        ([ON, OFF], [], "fail", "emergency off: off-cp2 without the extender"),
        ([OFF], [SECOND], "ok", "gpu-scheduler-configuration-1"),
        ([ON], [SECOND_OFF], "fail", "emergency off: gpu-scheduler-alone without"),
        ([OFF | {"status": {"phase": "Failed"}}, ON], [], "ok", "on-cp1"),
        ([ON], [SECOND, scheduler("gpu-scheduler-alone", [], SECOND["metadata"]["labels"], deletionTimestamp="now")], "ok", "configuration-1"),
        ([], [], "warn", "not checked"),
        ([3, {"spec": 3}], [], "fail", "emergency off"),
    ],
)
def test_emergency_off_is_seen_by_the_pods_of_kube_scheduler(diagnose, main, second, level, words):
    def list_of(items):
        return {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": items}

    found, status, _ = diagnose({SCHEDULERS: list_of(main), "/api/v1/pods": list_of(second)})
    ((said, seen),) = found["scheduler.running"]
    assert said == level and words in seen and (status == 1) == (level == "fail"), found


def test_nobody_answers(run_binary, write):
    whole = {
        "current-context": "t",
        "contexts": [{"name": "t", "context": {"cluster": "t"}}],
        "clusters": [{"name": "t", "cluster": {"server": "https://127.0.0.1:1"}}],
    }
    done = run_binary("--doctor", "--kubeconfig", write("kubeconfig", json.dumps(whole)))
    assert done.returncode == 1
    assert "fail  apiServer: no answer: " in done.stdout


def test_an_unusable_kubeconfig(run_binary, write):
    done = run_binary("--doctor", "--kubeconfig", write("kubeconfig", "users: 3\n"))
    assert (done.returncode, done.stdout) == (2, "")
