"""Thousands of random invalid requests: the service answers each, survives, and does not grow.

Seeded, so that a failure is reproducible. Sanitizer reports are checked at the end, as after every test.
"""

import copy
import json
import random

import pytest
from objects import annotated, container, filter_args, node, pod, preempt_args
from raw import Raw, request
from service import LITTLE_QUARANTINE

SEED = 20261121
N_REQUESTS = 1500  # of each kind of mutation, by far enough to see growth
MAY_GROW = 8e6  # bytes: allocators keep some of what they had

NODES = [node("a"), node("b", 4, "Tesla-T4"), node("cpu", None, None)]
LEGACY = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": []}]}}}
ODD_POD = pod(
    metadata={
        "annotations": {
            "gpu-extender.io/models": "A100, T4",
            "gpu-extender.io/exclude-models": "H100",
            "gpu-extender.io/min-gpu-memory": "10Gi",
            "scheduler.alpha.kubernetes.io/affinity": json.dumps(LEGACY),
        }
    },
    spec={
        "initContainers": [container("s", 1, restartPolicy="Always")],
        "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoSchedule"}],
        "nodeSelector": {"disk": "ssd"},
        "affinity": LEGACY,
        "resources": {"limits": {"cpu": "4"}},
        "overhead": {"cpu": "10m"},
    },
)
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": ODD_POD["spec"]}
DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"replicas": 3, "template": TEMPLATE}}
JOB = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"parallelism": 2, "completions": 5, "template": TEMPLATE}}
YAML = """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: s, namespace: &n ml}
spec: &spec
  replicas: 2
  template:
    metadata: {annotations: {gpu-extender.io/models: 'A100', a: *n}}
    spec:
      containers:
      - name: main
        resources: {limits: {nvidia.com/gpu: 1, cpu: 500m, memory: 1.5Gi}}
---
kind: LeaderWorkerSet
metadata: {name: "l\\u00e9"}
spec: {leaderWorkerTemplate: {size: 4, workerTemplate: {<<: {}, spec: {containers: [{name: w}]}}}}
"""
QUESTIONS = [
    ("POST", "/scheduler/filter", filter_args(ODD_POD, ["a", "b", "cpu", "gone"])),
    ("POST", "/scheduler/filter", filter_args(annotated(models="T4"), nodes=NODES)),
    ("POST", "/scheduler/prioritize", filter_args(ODD_POD, ["a", "b", "cpu"])),
    ("POST", "/scheduler/prioritize", filter_args(pod(), nodes=NODES)),
    ("POST", "/scheduler/preempt", preempt_args(ODD_POD, {"a": ["pod-x", "y"], "b": [], "gone": ["z"]})),
    ("POST", "/scheduler/preempt", preempt_args(ODD_POD, {"a": ["pod-x", "y"], "cpu": ["z"]}, whole=True)),
    ("POST", "/scheduler/bind", {"PodName": "p", "PodNamespace": "ml", "PodUID": "u", "Node": "a"}),
    ("POST", "/v1/dry-run", ODD_POD),
    ("POST", "/v1/dry-run?output=table", DEPLOYMENT),
    ("POST", "/v1/dry-run", {"apiVersion": "v1", "kind": "List", "items": [JOB, DEPLOYMENT]}),
    ("POST", "/v1/dry-run?explain=true", YAML),
    ("GET", "/v1/inventory?output=table", ""),
    ("GET", "/v1/inventory?output=json", ""),
]
NASTY = [None, True, 0, -1, 1.5, 1e308, 2**63 - 1, -(2**63), "", " ", "\0", "1e999", "-0", "9" * 40, "1Ei", "0x10", "\ud83d\ude00" * 50, "a" * 2000]
NASTY += ["Always", "Exists", "{", "[" * 200, "%s%n", [], {}, [[]], [None], {"": None}, {"spec": {"containers": []}}, {"template": {}}]
TOKENS = [b"{", b"}", b"[", b"]", b'"', b":", b",", b"\\", b"\\u0000", b"\\ud800", b"\xff", b"\xc0\xaf", b"\0", b"null", b"1e9999", b"-", b"\n", b"&a ", b"*a"]
TOKENS += [b"!!binary ", b"<<: ", b"--- ", b"\t", b"\xef\xbb\xbf", b"# ", b"\xe2\x80\xa8", b"'", b"|", b"? ", b"%YAML 9.9\n", b"9" * 30, b"[" * 300]


def places(value, path=()):
    """Every place in a JSON value, as the keys that lead to it."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inside in items:
        yield from places(inside, (*path, key))


def with_other_values(value, rng):
    """A copy in which one to three places hold something else, are gone, or are there twice."""
    value = copy.deepcopy(value)
    for _ in range(rng.randint(1, 3)):
        path = rng.choice(list(places(value)))
        if not path:
            continue
        parent = value
        for key in path[:-1]:
            parent = parent[key]
        how = rng.random()
        if how < 0.6:
            parent[path[-1]] = copy.deepcopy(rng.choice(NASTY))
        elif how < 0.8:
            del parent[path[-1]]
        elif isinstance(parent, list):
            parent.extend(parent[:50])
        else:
            parent[rng.choice(["template", "replicas", "name", "\u00e9", "x" * 300])] = copy.deepcopy(parent[path[-1]])
    return value


def with_other_bytes(data, rng):
    """One to eight bytes changed, tokens put in, pieces cut out or doubled."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        at, how = rng.randint(0, len(data)), rng.random()
        if how < 0.3:
            data[at:at] = rng.choice(TOKENS)
        elif how < 0.6:
            data[at : at + 1] = bytes([rng.randrange(256)])
        elif how < 0.8:
            del data[at : at + rng.randint(1, 40)]
        else:
            data[at:at] = data[at : at + rng.randint(1, 200)]
    return bytes(data)


def mutated_value(question, rng):
    method, path, body = question
    if isinstance(body, str):
        return method, path, with_other_bytes(body.encode(), rng)
    return method, path, json.dumps(with_other_values(body, rng), ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")


def mutated_bytes(question, rng):
    method, path, body = question
    text = body if isinstance(body, str) else json.dumps(body)
    return method, path, with_other_bytes(text.encode(), rng)


def mutated_path(question, rng):
    method, path, body = question
    other = with_other_bytes(path.encode(), rng).replace(b"\r", b"%0d").replace(b"\n", b"%0a").replace(b" ", b"+").replace(b"\0", b"%00")
    return rng.choice([method, "GET", "PUT", "X"]), "/" + other.decode("latin-1").lstrip("/"), json.dumps(body).encode()


STATUSES = {"/scheduler/filter": {200}, "/scheduler/bind": {200}, "/scheduler/prioritize": {200, 400}, "/scheduler/preempt": {200, 400}, "/v1/dry-run": {200, 400, 413}, "/v1/inventory": {200}}


def judge(path, status, headers, body):
    """The status is a documented one, and the body matches its headers."""
    assert status in STATUSES[path.split("?")[0]], (path, status, body[:300])
    if headers["content-type"] != "application/json":
        body.decode("utf-8")
        return
    answer = json.loads(body)
    if path == "/scheduler/filter" and not answer["Error"]:
        assert answer["FailedNodes"] == {} and all(answer["FailedAndUnresolvableNodes"].values())
    if path == "/scheduler/preempt" and status == 200:
        assert all(victims["Pods"] and None not in victims["Pods"] for victims in answer["NodeNameToMetaVictims"].values())
    if path == "/scheduler/prioritize" and status == 200:
        assert all(type(entry["Score"]) is int and 0 <= entry["Score"] <= 10 for entry in answer)


class Client:
    """Sends requests on one connection, and reconnects if the service closed it."""

    def __init__(self, address):
        self.address, self.raw = address, Raw(address)

    def ask(self, method, path, body):
        message = request(method, path, body, "X-Id: 1")
        try:
            self.raw.send(message)
            answer = self.raw.answer()
        except (EOFError, ConnectionError):
            self.raw.socket.close()
            self.raw = Raw(self.address)
            return None
        if answer[1].get("connection", "").lower() == "close":
            self.raw.socket.close()
            self.raw = Raw(self.address)
        return answer


def storm(service, mutate, check):
    """N_REQUESTS to warm up, then as many again, in which the process must not grow any more."""
    rng, client = random.Random(SEED), Client(service.address)

    def blow():
        for _ in range(N_REQUESTS):
            method, path, body = mutate(rng.choice(QUESTIONS), rng)
            answer = client.ask(method, path, body)
            if check:
                assert answer is not None, (method, path, body)
                judge(path, *answer)

    blow()
    before = service.memory("VmRSS")
    blow()
    client.raw.socket.close()
    assert service.memory("VmRSS") - before < MAY_GROW
    assert service.get("/livez").status == 200
    result = service.post("/scheduler/filter", filter_args(pod(), ["a", "b", "cpu"])).json()
    assert result["NodeNames"] == ["a", "b"]


@pytest.mark.parametrize("mutate", [mutated_value, mutated_bytes], ids=["values", "bytes"])
def test_bodies(mutate, start_service, write):
    path = write("c.json", json.dumps({"kind": "List", "items": [*NODES, pod("held", 2, "a")]}))
    service = start_service("--cluster-file", path, env=LITTLE_QUARANTINE)
    before = service.get("/v1/inventory").json()
    storm(service, mutate, check=True)
    assert service.get("/v1/inventory").json() == before


def test_paths_and_methods(start_service, write):
    path = write("c.json", json.dumps({"kind": "List", "items": NODES}))
    storm(start_service("--cluster-file", path, env=LITTLE_QUARANTINE), mutated_path, check=False)


def test_heads(start_service, write):
    """The request line and the headers, each on a connection of its own: the library may close it, or wait for more."""
    service = start_service("--cluster-file", write("c.json", json.dumps({"kind": "List", "items": NODES})), env=LITTLE_QUARANTINE)
    rng = random.Random(SEED)
    message = request("POST", "/scheduler/filter", json.dumps(filter_args(pod(), ["a"])).encode())

    def blow():
        for _ in range(N_REQUESTS // 3):
            with Raw(service.address) as connection:
                connection.send(with_other_bytes(message, rng))

    blow()
    service.get("/livez")
    before = service.memory("VmRSS")
    blow()
    service.get("/livez")
    assert service.memory("VmRSS") - before < MAY_GROW
    assert service.post("/scheduler/filter", filter_args(pod(), ["a"])).json()["NodeNames"] == ["a"]


def test_cluster_files(start_service, write):
    """The file is reloaded on SIGHUP, each time with other faults: loaded or rejected, and never a crash."""
    objects = [*NODES, ODD_POD, pod("held", 2, "a"), DEPLOYMENT]
    whole = {"apiVersion": "v1", "kind": "List", "items": objects}
    path = write("c.json", json.dumps(whole))
    service = start_service("--cluster-file", path, env=LITTLE_QUARANTINE)
    rng = random.Random(SEED)
    for i in range(400):
        text = json.dumps(with_other_values(whole, rng)).encode("utf-8", "surrogatepass")
        path.write_bytes(with_other_bytes(text, rng) if i % 4 == 0 else text)
        n_lines = len(service.log.lines)
        service.signal(1)
        service.log.wait_for({"msg": "reloaded"}, {"msg": "reload failed: keeping the old cluster"}, after=n_lines)
        assert service.get("/v1/inventory").status == 200
        if i == 200:
            before = service.memory("VmRSS")
    assert service.memory("VmRSS") - before < MAY_GROW
    path.write_text(json.dumps(whole), encoding="utf-8")
    service.signal(1)
    service.log.wait_for({"msg": "reloaded"}, after=len(service.log.lines))
    assert service.post("/scheduler/filter", filter_args(pod(), ["a"])).json()["NodeNames"] == ["a"]
