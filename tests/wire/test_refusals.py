"""Errors of the verbs, row by row:

| condition                 | filter                              | bind        | prioritize  |
| bad JSON or arguments     | 200 `Error`                         | 200 `Error` | 400         |
| body over the limit       | 413                                 | 413         | 413         |
| draining                  | 503, Connection: close              | 503         | 503         |
| the pod itself is invalid | 200, every node with the reason     | -           | 200 `[]`    |

"Not synced" and "stale" do not occur over a file: it is read before the first socket is opened. (bind does not get the pod.)
"""

import json
import signal

import pytest
from objects import BIND_ARGS, filter_args, node, pod
from raw import Raw, request

VERBS = ("filter", "bind", "prioritize")
NO_JSON = [b"", b" ", b"{", b'{"Pod": }', b"\xff\xfe", b"null", b"[]", b'"text"', b"{}{}", b"<html>", b'{"Pod":{"a":"\xc3"}}', b"[" * 100000]
POD = json.dumps(pod())
BAD_ARGUMENTS = [
    "{}",
    '{"Pod": null, "NodeNames": ["a"]}',
    '{"Pod": [], "NodeNames": ["a"]}',
    '{"Pod": "train-0", "NodeNames": ["a"]}',
    f'{{"Pod": {POD}}}',
    f'{{"Pod": {POD}, "NodeNames": null, "Nodes": null}}',
    f'{{"Pod": {POD}, "NodeNames": "a"}}',
    f'{{"Pod": {POD}, "NodeNames": {{"a": "b"}}}}',
    f'{{"Pod": {POD}, "NodeNames": ["a", null]}}',
    f'{{"Pod": {POD}, "NodeNames": ["a", 1]}}',
    f'{{"Pod": {POD}, "Nodes": []}}',
    f'{{"Pod": {POD}, "Nodes": {{"items": {{}}}}}}',
    f'{{"Pod": {POD}, "Nodes": {{"items": [null]}}}}',
    f'{{"Pod": {POD}, "Nodes": {{"items": [{{"metadata": {{}}}}]}}}}',
    f'{{"Pod": {POD}, "Nodes": {{"items": [{{"metadata": {{"name": 7}}}}]}}}}',
]
INVALID_PODS = [
    pod(gpus="1.5"),
    pod(spec={"containers": [7]}),
    pod(spec={"containers": "main"}),
    pod(spec={"tolerations": {"key": "a"}}),
    pod(metadata={"annotations": {"gpu-extender.io/models": ", ,"}}),
    pod(spec=None, metadata=None) | {"spec": 7},
]


@pytest.fixture(scope="module")
def service(module_service):
    return module_service(node("a"), node("b"), pod("held", 2, "a"))


def error_of_scheduler(answer):
    assert answer.status == 200 and answer.headers["content-type"] == "application/json", answer
    return answer.json()["Error"]


def error_of_people(answer, status):
    assert answer.status == status and answer.headers["content-type"] == "application/json", answer
    assert list(answer.json()) == ["error"]
    return answer.json()["error"]


def shown(body):
    return repr(body if len(body) < 40 else body[:20])


@pytest.mark.parametrize("body", NO_JSON, ids=shown)
def test_bad_json(body, service):
    answers = {verb: service.post(f"/scheduler/{verb}", body) for verb in VERBS}
    errors = [error_of_scheduler(answers["filter"]), error_of_scheduler(answers["bind"])]
    errors.append(error_of_people(answers["prioritize"], 400))
    assert all(error.startswith("gpu-extender: request: ") for error in errors), errors


@pytest.mark.parametrize("body", NO_JSON[1:6])
def test_bad_json_is_reported_with_its_position(body, service):
    assert ": 1:" in error_of_scheduler(service.post("/scheduler/filter", body))


@pytest.mark.parametrize("body", BAD_ARGUMENTS, ids=lambda body: body.replace(POD, "POD"))
def test_bad_arguments(body, service):
    error = error_of_scheduler(service.post("/scheduler/filter", body))
    assert "Pod" in error or "Node" in error
    assert error_of_people(service.post("/scheduler/prioritize", body), 400) == error


def test_bad_arguments_of_bind(service):
    assert "PodUID" in error_of_scheduler(service.post("/scheduler/bind", {**BIND_ARGS, "PodUID": 7}))


def test_body_over_the_limit(start_over, write):
    policy = write("policy.yaml", "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\nlimits: {requestBytes: 4096}\n")
    service = start_over(node("a"), options=["--config", policy])
    fits = json.dumps(filter_args(pod(), ["a"])).ljust(4096).encode()
    for verb in VERBS:
        assert "4096" in error_of_people(service.post(f"/scheduler/{verb}", fits + b" "), 413)
    assert service.post("/scheduler/filter", fits).json()["NodeNames"] == ["a"]
    assert service.post("/scheduler/prioritize", fits).json() == [{"Host": "a", "Score": 10}]


def test_draining(start_over):
    """While a request is in progress, new ones on open connections get 503; the first is still answered."""
    service = start_over(node("a"))
    body = json.dumps(filter_args(pod(), ["a"])).encode()
    message = request("POST", "/scheduler/filter", body)
    with Raw(service.address) as late, Connections(service, VERBS) as idle:
        late.send(message[:-1])
        # An answer on each connection shows that it was accepted before the drain began.
        for connection in idle.values():
            connection.send(request("GET", "/livez"))
            assert connection.answer()[0] == 200
        service.signal(signal.SIGTERM)
        service.log.wait_for({"msg": "draining"})  # from then on nothing new is served
        for verb, connection in idle.items():
            connection.send(request("POST", f"/scheduler/{verb}", body))
            status, headers, answered = connection.answer()
            assert (status, headers["connection"]) == (503, "close")
            assert "stopping" in json.loads(answered)["error"]
            assert connection.is_closed()
        late.send(message[-1:])
        status, headers, answered = late.answer()
        assert (status, headers["connection"], json.loads(answered)["NodeNames"]) == (200, "close", ["a"])


class Connections(dict):
    """A connection for each name, all closed at the end."""

    def __init__(self, service, names):
        super().__init__({name: Raw(service.address) for name in names})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for connection in self.values():
            connection.socket.close()


@pytest.mark.parametrize("invalid", INVALID_PODS)
def test_the_pod_itself_is_invalid(invalid, service):
    for arguments in (filter_args(invalid, ["a", "b"]), filter_args(invalid, nodes=[node("a"), node("b")])):
        result = service.post("/scheduler/filter", arguments).json()
        assert result["Error"] == "" and not result["NodeNames"] and not (result["Nodes"] or {}).get("items")
        failed = result["FailedAndUnresolvableNodes"]
        assert sorted(failed) == ["a", "b"] and len(set(failed.values())) == 1
        assert failed["a"].startswith("gpu-extender: ")
        answer = service.post("/scheduler/prioritize", arguments)
        assert (answer.status, answer.text) == (200, "[]")
