"""docs/openapi.yaml agrees with the service: paths, statuses, members, examples.

Other tests check the values of answers. This file checks their shape, and that everything documented occurs.
"""

import copy
import decimal
import http.client
import json
import os
import re
import signal
import socket

import jsonschema
import objects
import openapi
import pytest
import yaml
from fake_api import FakeApi
from follow import ELECTION
from guarded import GuardedFollower
from service import LIMIT_S, ROOT, SAMPLE_CLUSTER, Answer, Service, read

WORKLOADS = os.path.join(ROOT, "examples/workloads")
OPENB_CLUSTER = os.path.join(ROOT, "examples/openb-cluster.json")
BODY_LIMIT = 1024
JUDGE = openapi.Judge(openapi.load())
ROUTE = re.compile(r"\b([A-Z]+) (/[\w/-]+)")
# | `name` | message (what the answer adds, or says instead) | help |
REASON = re.compile(r"^\| `(\w+)` \| ([^|(]*?) (?:\(([^)]*)\) )?\| ([^|]*?) ?\|$", re.MULTILINE)
INSTEAD = "the answer says what instead"
REASONS = {name: row for name, *row in REASON.findall(JUDGE.document["components"]["schemas"]["Reason"]["description"])}

# Documented answers that no request to a service over a cluster file can cause, with the reason.
NOT_OVER_A_FILE = {
    ("GET", "/readyz", 503, "text/plain"): "it does not listen before the file is read",
    ("GET", "/v1/snapshot", 500, "application/json"): "a cluster so large takes minutes to read",
}


def asked(method, path):
    """The path with its required parameters filled in, as their examples say."""
    query = []
    for parameter in JUDGE.operations().get((method, path), {}).get("parameters", []):
        if parameter.get("in") == "path":
            path = path.replace("{%s}" % parameter["name"], parameter["example"])
        elif parameter.get("required"):
            query.append(f"{parameter['name']}={parameter['example']}")
    return f"{path}?{'&'.join(query)}" if query else path


def asked_for(output, method, path):
    path = asked(method, path)
    return f"{path}{'&' if '?' in path else '?'}output={output}"


def judge(method, path, answer):
    reasons = faults_of_reasons(answer.json()) if "json" in answer.headers["content-type"] else []
    found = JUDGE.faults_of_answer(method, path, answer) + reasons
    assert not found, "\n".join([f"{method} {path}: {answer}", *found])
    return answer


def parts_of(value):
    """A JSON value and all below it."""
    yield value
    for below in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts_of(below)


def faults_of_reasons(answer):
    """The faults of a reason's message and help: the message must begin as documented, and the help must equal the documented one."""
    faults = []
    for part in parts_of(answer):
        if isinstance(part, dict) and {"reason", "message", "help"} <= set(part):
            message, more, advice = REASONS[part["reason"]]
            begins = more == INSTEAD or part["message"].removeprefix("gpu-extender: ").startswith(message)
            faults += [] if begins and part["help"] == advice else [f"not the documented message and help: {part}"]
    return faults


def json_of(service, method, path, body=None):
    answer = service.ask(method, path, body)
    assert answer.status == 200, answer
    return judge(method, path.split("?")[0], answer).json()


# The document itself.


def references(node):
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for item in node.values():
            yield from references(item)
    elif isinstance(node, list):
        for item in node:
            yield from references(item)


def test_the_document_is_consistent():
    document = JUDGE.document
    assert re.fullmatch(r"3\.1\.\d+", document["openapi"])
    assert f"version: '{document['info']['version']}'," in read("meson.build")
    parts = dict(document["components"])
    schemes = parts.pop("securitySchemes")
    needs = [document["security"], *(operation.get("security", []) for operation in JUDGE.operations().values())]
    assert {name for need in needs for either in need for name in either} == set(schemes)
    components = {f"#/components/{kind}/{name}" for kind, items in parts.items() for name in items}
    assert set(references(document)) == components, "a reference to nothing, or a component that nothing refers to"
    names = [operation["operationId"] for operation in JUDGE.operations().values()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", JUDGE.document["components"]["schemas"])
def test_schema(name):
    """Every schema is valid, and describes every member that it requires."""
    schema = JUDGE.document["components"]["schemas"][name]
    jsonschema.Draft202012Validator.check_schema(schema)
    assert set(schema.get("required", [])) <= set(schema.get("properties", {}))
    assert schema.get("type"), "what has no type is not closed against unknown members"


@pytest.mark.parametrize("method, path", JUDGE.operations())
def test_examples_are_of_their_schemas(method, path):
    operation = JUDGE.operations()[method, path]
    parts = [operation.get("requestBody", {"content": {}})]
    parts += [openapi.resolve(JUDGE.document, response) for response in operation["responses"].values()]
    for part in parts:
        for media in part.get("content", {}).values():
            for name, example in media.get("examples", {}).items():
                # Kubernetes objects have more members than are read.
                lenient = jsonschema.Draft202012Validator({**media["schema"], "components": JUDGE.document["components"]})
                assert not list(lenient.iter_errors(example["value"])), name


def test_document_lists_exactly_the_routes(start_service, tmp_path):
    """Each address answers an unknown path with the paths that it has."""
    policy = tmp_path / "policy.yaml"
    listen = {"verbs": "127.0.0.1:0", "people": "127.0.0.2:0", "probes": "127.0.0.3:0"}
    policy.write_text(json.dumps({"apiVersion": "gpu-extender.io/v1alpha1", "kind": "SchedulerPolicy", "listen": listen}), encoding="utf-8")
    service = start_service("--config", policy, "--cluster-file", SAMPLE_CLUSTER, listen=None)
    served = set()
    for name, service.address in service.addresses.items():
        served |= {(*route, name) for route in ROUTE.findall(service.get("/no-such-path").json()["error"])}
    documented = {(method, path.partition("{")[0], operation["tags"][0]) for (method, path), operation in JUDGE.operations().items()}
    assert documented == served - {("GET", "/", "people"), ("GET", "/ui", "people"), ("GET", "/ui/", "people")}  # a page, not a part of the API


def test_reasons_are_those_that_filter_counts(guarded):
    schema = JUDGE.document["components"]["schemas"]["Reason"]
    counted = re.findall(r'^gpu_extender_filter_verdicts_total\{verdict="(\w+)"\}', guarded.get("/metrics").text, re.MULTILINE)
    assert schema["enum"] == counted == list(REASONS)


# Its examples: each question with the answer of the same name.


@pytest.mark.parametrize(
    "method, path, name",
    [
        (method, path, name)
        for (method, path), operation in JUDGE.operations().items()
        for media in operation.get("requestBody", {"content": {}})["content"].values()
        for name in media.get("examples", {})
    ],
)
def test_example(service, method, path, name):
    operation = JUDGE.operations()[method, path]
    question = operation["requestBody"]["content"]["application/json"]["examples"][name]["value"]
    wanted = operation["responses"]["200"]["content"]["application/json"]["examples"][name]["value"]
    assert json_of(service, method, path, question) == wanted


# Real answers, many of them.


@pytest.mark.parametrize("name", sorted(os.listdir(WORKLOADS)))
def test_dry_run_answers_match_their_schema(service, name):
    json_of(service, "POST", "/v1/dry-run", read(WORKLOADS, name))
    json_of(service, "POST", "/v1/dry-run?explain=true", read(WORKLOADS, name))


PODS = {
    name: pod
    for name in sorted(os.listdir(WORKLOADS))
    for pod in yaml.safe_load_all(read(WORKLOADS, name))
    if pod["kind"] == "Pod"
}


@pytest.mark.parametrize("name", PODS)
def test_filter_and_prioritize(service, name):
    nodes = [node["name"] for node in json_of(service, "GET", "/v1/inventory")["nodes"]] + ["not-there"]
    by_name = {"Pod": PODS[name], "Nodes": None, "NodeNames": nodes}
    whole = {"Pod": PODS[name], "NodeNames": None}
    whole["Nodes"] = {"metadata": {}, "items": [{"metadata": {"name": node}} for node in nodes]}
    for question in (by_name, whole):
        verdicts = json_of(service, "POST", "/scheduler/filter", question)
        fits = verdicts["NodeNames"] if question is by_name else [node["metadata"]["name"] for node in verdicts["Nodes"]["items"]]
        assert sorted([*fits, *verdicts["FailedAndUnresolvableNodes"]]) == sorted(nodes)
        json_of(service, "POST", "/scheduler/prioritize", question)


def test_the_openb_cluster(start_service):
    service = start_service("--cluster-file", OPENB_CLUSTER)
    assert len(json_of(service, "GET", "/v1/inventory")["nodes"]) > 300
    json_of(service, "POST", "/v1/dry-run", read(WORKLOADS, "deployment-models.yaml"))
    judge("GET", "/metrics", service.get("/metrics"))


def node_object(name, **allocatable):
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "10", **allocatable}
    return {"kind": "Node", "metadata": {"name": name}, "status": {"allocatable": amounts, "capacity": amounts}}


def pod_object(name, node, gpus):
    resources = {"limits": {"nvidia.com/gpu": gpus}}
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": name},
        "spec": {"nodeName": node, "containers": [{"name": "main", "resources": resources}]},
        "status": {"phase": "Running"},
    }


def test_an_inventory_with_every_problem_matches(start_service, tmp_path):
    """Left-out nodes, an over-full node, an empty one, and pods of an absent node."""
    gpus = {"nvidia.com/gpu": "1"}
    items = [node_object("full", **gpus), pod_object("a", "full", 1), pod_object("b", "full", 2)]
    items += [node_object("twice"), node_object("twice"), node_object("half", **{"nvidia.com/gpu": "1.5"})]
    items += [{"kind": "Node", "metadata": {"name": "bare"}}, pod_object("c", "gone", 1)]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"kind": "List", "items": items}), encoding="utf-8")
    service = start_service("--cluster-file", path)
    inventory = json_of(service, "GET", "/v1/inventory")
    nodes = {node["name"]: node for node in inventory["nodes"]}
    assert set(nodes) == {"bare", "full"} and inventory["problemCount"] == len(inventory["problems"]) > 0
    assert nodes["full"]["resources"]["nvidia.com/gpu"]["free"] == -2
    json_of(service, "POST", "/v1/dry-run", read(WORKLOADS, "pod-two-containers.yaml"))


def documented_metrics():
    """The metrics of every service, and those of one that follows an API server."""
    parts = JUDGE.operations()["GET", "/metrics"]["description"].split("**Where it follows an API server,**")
    return [set(re.findall(r"`((?:gpu_extender|process)_\w+)`", part)) for part in parts]


def test_metrics_are_the_documented_ones(service):
    names = re.findall(r"^# TYPE (\w+)", service.get("/metrics").text, re.MULTILINE)
    assert set(names) == documented_metrics()[0]


def test_document_lists_exactly_the_metrics(guarded, follow):
    """Collects the metrics of services that require tokens, elect a leader, or run beside a kube-scheduler."""
    elects = follow(more=ELECTION, ready=False)
    beside = follow(more={"scheduler": {"beside": True}}, bindTimeoutSeconds=2, ready=False)
    pages = "".join(each.get("/metrics").text for each in (guarded, elects, beside))
    assert set(re.findall(r"^# TYPE (\w+)", pages, re.MULTILINE)) == set.union(*documented_metrics())


# That a fault would be found.


def spoil_unknown_member(result):
    result["workloads"][0]["nodes"][0]["colour"] = "red"


def spoil_missing_member(result):
    del result["workloads"][0]["moreReplicas"]


def spoil_reason(result):
    result["workloads"][0]["nodes"][0]["reason"] = "weather"


def spoil_type(result):
    result["workloads"][0]["placed"] = "1"


def spoil_integer(result):
    result["workloads"][0]["placed"] = decimal.Decimal("1.0")


@pytest.mark.parametrize("spoil", [spoil_unknown_member, spoil_missing_member, spoil_reason, spoil_type, spoil_integer])
def test_an_invalid_answer_is_detected(service, spoil):
    result = json_of(service, "POST", "/v1/dry-run", read(WORKLOADS, "pod-node-selector.yaml"))
    spoilt = copy.deepcopy(result)
    spoil(spoilt)
    schema = {"$ref": "#/components/schemas/DryRunResult"}
    assert JUDGE.faults(schema, result) == []
    assert JUDGE.faults(schema, spoilt) != []


# Every documented status, and what every path answers.


BODIES = {
    "/v1/dry-run": read(WORKLOADS, "pod-a10.yaml"),
    "/v1/what-if": json.dumps({"changes": [{"drain": ["h100-1"]}], "workloads": [read(WORKLOADS, "pod-a10.yaml")]}),
}


def good_body(path):
    """A question that is answered with 200."""
    for media in JUDGE.operations().get(("POST", path), {}).get("requestBody", {"content": {}})["content"].values():
        for example in media.get("examples", {}).values():
            return json.dumps(example["value"])
    return BODIES.get(path)


def ask_well(service, method, path, media):
    parameters = JUDGE.operations()[method, path].get("parameters", [])
    is_table = parameters and media == "text/plain"
    return service.ask(method, asked_for("table", method, path) if is_table else asked(method, path), good_body(path))


def ask_badly(service, method, path, _):
    return service.ask(method, path, "{") if method == "POST" else service.ask(method, asked_for("picture", method, path))


def ask_with_another_method(service, _, path, __):
    return service.ask("DELETE", asked("GET", path))


def ask_for_what_is_not_there(service, method, path, _):
    gone = {"/v1/inventory": "?node=gone", "/v1/explain": "?namespace=gone&name=gone"}
    body = json.dumps({"changes": [{"drain": ["gone"]}]}) if method == "POST" else None
    return service.ask(method, path + gone.get(path, ""), body)


def ask_too_much(service, method, path, _):
    return service.ask(method, path, b"x" * (BODY_LIMIT + 1))


def ask_as_nobody(service, method, path, _):
    return service.visit(None, asked(method, path), method)


def ask_without_a_right(service, method, path, _):
    return service.visit(POWERLESS, asked(method, path), method)


ASK = {200: ask_well, 400: ask_badly, 404: ask_for_what_is_not_there, 405: ask_with_another_method, 413: ask_too_much}
ASK.update({401: ask_as_nobody, 403: ask_without_a_right})
POWERLESS = "t0ken"  # of a user without rights


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A service that authenticates users."""
    with FakeApi() as api:
        objects.fill(api.store)
        api.people[POWERLESS] = {"username": "jane"}
        running = GuardedFollower(api, tmp_path_factory.mktemp("guarded"))
        yield running
        running.stop()


@pytest.fixture(scope="module")
def limited(tmp_path_factory):
    """A service that rejects bodies larger than BODY_LIMIT."""
    policy = tmp_path_factory.mktemp("limited") / "policy.yaml"
    policy.write_text(
        f"apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\nlimits:\n  requestBytes: {BODY_LIMIT}\n",
        encoding="utf-8",
    )
    running = Service("--cluster-file", SAMPLE_CLUSTER, "--config", policy)
    yield running
    running.stop()


def begin_a_request(service):
    """A request whose header the service has read, and whose body it waits for: "100 Continue" says so."""
    busy = socket.create_connection(("127.0.0.1", int(service.address.rpartition(":")[2])), timeout=LIMIT_S)
    head = "POST /v1/dry-run HTTP/1.1\r\nHost: [::1]\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
    busy.sendall(head.encode())
    assert busy.recv(100).startswith(b"HTTP/1.1 100 ")
    return busy


def exchange(connection, method, path):
    connection.request(method, asked(method, path), good_body(path))
    return Answer(connection.getresponse())


def wait_until_it_stops(connection):
    """Waits until the signal has arrived. From then on every answer closes its connection."""
    while exchange(connection, "GET", "/livez").headers.get("connection") != "close":
        pass


@pytest.fixture(scope="module")
def last_answers():
    """{(METHOD, path): its answer} of a service that is stopping, on connections that were there before."""
    service = Service("--cluster-file", SAMPLE_CLUSTER)
    connections = {key: service.connection() for key in [*JUDGE.operations(), "any"]}
    for connection in connections.values():
        assert exchange(connection, "GET", "/livez").status == 200
    busy = begin_a_request(service)
    service.signal(signal.SIGTERM)
    wait_until_it_stops(connections.pop("any"))
    answers = {key: exchange(connection, *key) for key, connection in connections.items()}
    busy.sendall(b"{}")
    assert b"Connection: close" in busy.recv(1000), "what was begun is answered, and is the last"
    busy.close()
    service.stop()
    return answers


@pytest.mark.parametrize("method, path, status, media", JUDGE.documented())
def test_documented_statuses_occur(service, limited, guarded, last_answers, method, path, status, media):
    if (method, path, status, media) in NOT_OVER_A_FILE:
        return
    if status == 503:
        answer = last_answers[method, path]
    else:
        whom = {413: limited, 401: guarded, 403: guarded}.get(status, service)
        answer = ASK[status](whom, method, path, media)
    assert answer.status == status and answer.headers["content-type"].split(";")[0] == media, answer
    judge(method, path, answer)


def test_head_is_answered_where_get_is(service):
    for method, path in JUDGE.operations():
        wanted = 200 if method == "GET" else 405
        assert service.ask("HEAD", asked(method, path)).status == wanted, path


def error_schema():
    return {"$ref": "#/components/schemas/Error"}


@pytest.mark.parametrize("path", ["/v1/dry-runs", "/v2"])
def test_unknown_paths_are_documented(service, path):
    answer = service.post(path, "{}")
    assert answer.status == 404, answer
    assert JUDGE.faults(error_schema(), answer.json()) == []
    assert "| 404 `Error` |" in JUDGE.document["info"]["description"]


def test_other_transfer_encodings_are_documented(service):
    """RFC 9112 demands 501 (6.1) or 400 (6.3). libmicrohttpd 1.0 itself answers 400, with its own text."""
    answer = service.ask("POST", "/v1/dry-run", "{}", {"Transfer-Encoding": "gzip"})
    documented = "| 501 `Error` | a `Transfer-Encoding` other than chunked; the connection is closed. libmicrohttpd 1.0: 400 without `Error` |"
    assert documented in JUDGE.document["info"]["description"]
    assert answer.status == 400 or (answer.status == 501 and JUDGE.faults(error_schema(), answer.json()) == []), answer


@pytest.mark.parametrize(
    "head",
    [
        "POST / HTTP/1.1\r\nHost: [::1]\r\nContent-Length: -1",
        "GET / HTTP/7.0\r\nHost: [::1]",
        f"GET /{'x' * 40000} HTTP/1.1\r\nHost: [::1]",
        f"GET / HTTP/1.1\r\nHost: [::1]\r\nX: {'x' * 40000}",
    ],
)
def test_broken_requests(service, head):
    """The HTTP library answers these; only the status is promised."""
    row = re.search(r"^ *\| ([\d, ]+) \| the request line or a header", JUDGE.document["info"]["description"], re.MULTILINE)
    with socket.create_connection(("127.0.0.1", int(service.address.rpartition(":")[2])), timeout=LIMIT_S) as connection:
        connection.sendall(f"{head}\r\n\r\n".encode())
        response = http.client.HTTPResponse(connection)
        response.begin()
        assert str(response.status) in row[1].split(", ")
