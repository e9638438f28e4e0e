"""kube-scheduler's protocol: what its requests may look like, and what filter and prioritize must answer (docs/dev/PROTOCOL.md).

Elsewhere: bind in tests/unit/extender/test_binds*.c and test_live_binds.py; preempt in test_preempt.py; watches in
tests/unit/kube/test_reflector_*.c and test_live_faults.py; the Lease in tests/unit/kube/test_lease*.c; tokens in
tests/unit/kube/test_credentials.c and tests/control-plane/test_token.py. test_http.py explains how it shows without waiting that a
connection outlives 120 s without a request.
"""

import json
import os
import re

import pytest
from objects import GPU, annotated, container, filter_args, list_text, node, pod
from raw import Raw, request

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded")
MODELS = ["NVIDIA-A100-SXM4-80GB", "NVIDIA-H100-80GB-HBM3", "Tesla-T4", "Tesla-V100-SXM2-16GB"]
NODES = [node(f"n-{i}", 8, MODELS[i % 4]) for i in range(12)]
PODS = [pod(f"p-{i}", i % 9, f"n-{i}") for i in range(1, 12)]
NAMES = [item["metadata"]["name"] for item in NODES] + ["gone-1", "gone-2"]
QUESTIONS = [
    pod(),
    pod(gpus=4),
    pod(gpus=9),
    pod(gpus="0"),
    pod(gpus="1.5"),
    annotated(models="A100, H100"),
    annotated(exclude_models="T4"),
    annotated(models="A100", exclude_models="A100"),
    annotated(min_gpu_memory="30Gi"),
    pod(resource="amd.com/gpu"),
]
VERBS = ["filter", "prioritize"]


@pytest.fixture(scope="module")
def service(module_service):
    return module_service(*NODES, *PODS)


def ask(service, verb, arguments):
    answer = service.post(f"/scheduler/{verb}", arguments)
    assert answer.status == 200, answer
    return answer


def odd_pod():
    """Texts with <, >, &, line separators, characters of every plane, and large numbers, where Go puts them."""
    text = "a<b>&c\u2028\u2029 \u00e9 \u4e2d \U0001f600 \U0010ffff \\ \" / \t"
    odd = pod(metadata={"annotations": {"text": text, "gpu-extender.io/models": "H100"}, "labels": {"a": text}})
    odd["metadata"].update({"generation": 2**63 - 1, "ownerReferences": [{"controller": True}], "newInFuture": {"a": [None, 1.5, -0.0]}})
    odd["spec"].update({"priority": -(2**31), "schedulingGates": None, "newInFuture": [[], {}]})
    return odd


def as_go_writes(value):
    """JSON on one line with Go's escapes: <, >, & and U+2028/2029 as \\uXXXX, other characters as UTF-8."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029]", lambda match: f"\\u{ord(match.group()):04x}", text)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("how", ["as Go writes", "all escaped, in surrogate pairs", "indented"])
def test_escapes_and_unknown_members(how, verb, service):
    arguments = {**filter_args(odd_pod(), NAMES), "NewInFuture": {"a": None}}
    texts = {"as Go writes": as_go_writes(arguments), "indented": json.dumps(arguments, indent=2)}
    text = texts.get(how) or json.dumps(arguments)
    assert ("\\ud83d\\ude00" in text) == (how != "as Go writes")
    plain = ask(service, verb, filter_args(annotated(models="H100"), NAMES))
    assert ask(service, verb, text).body == plain.body


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("stamp", ["null", "missing", "text"])
def test_timestamps(stamp, verb, service):
    """null up to 1.33, missing from 1.34 on (PROTOCOL 1.2)."""
    asking = odd_pod()
    if stamp != "missing":
        asking["metadata"]["creationTimestamp"] = None if stamp == "null" else "2026-03-02T08:14:55Z"
    arguments = filter_args(asking, NAMES)
    assert ask(service, verb, arguments).body == ask(service, verb, filter_args(odd_pod(), NAMES)).body


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("cache", [True, False], ids=["names", "whole nodes"])
def test_a_body_of_5_MiB(cache, verb, service):
    text = "x" * (5 * 2**20)
    if cache:
        arguments = filter_args(pod(metadata={"annotations": {"a": text}}), NAMES)
    else:
        images = [{"names": [f"registry.local/{i}:{text[:400]}"], "sizeBytes": i} for i in range(1000)]
        arguments = filter_args(pod(), nodes=[node(name, status={"images": images}) for name in NAMES])
    body = as_go_writes(arguments).encode()
    assert len(body) > 5 * 2**20
    answer = ask(service, verb, body).json()
    small = ask(service, verb, filter_args(pod(), NAMES)).json()
    if verb == "filter":
        names = answer["NodeNames"] if cache else [item["metadata"]["name"] for item in answer["Nodes"]["items"]]
        assert names == small["NodeNames"]
    else:
        assert answer == small


@pytest.mark.parametrize("verb", VERBS)
def test_a_request_split_over_many_segments(verb, raw, service):
    body = as_go_writes(filter_args(odd_pod(), NAMES)).encode()
    message = request("POST", f"/scheduler/{verb}", body)
    for i in range(0, len(message), 3):
        raw.send(message[i : i + 3])
    assert raw.answer()[2] == ask(service, verb, body).body


@pytest.mark.parametrize("verb", VERBS)
def test_two_requests_back_to_back_on_one_connection(verb, raw, service):
    bodies = [as_go_writes(filter_args(asking, NAMES)).encode() for asking in (pod(), pod(gpus=4))]
    raw.send(b"".join(request("POST", f"/scheduler/{verb}", body) for body in bodies))
    assert [raw.answer()[2] for _ in bodies] == [ask(service, verb, body).body for body in bodies]
    assert raw.left == b""


def test_filter_of_the_nominated_node_then_all_changes_no_state(service):
    before = service.get("/v1/inventory").json()
    asking = pod(gpus=4, status={"nominatedNodeName": "n-4"})
    alone = ask(service, "filter", filter_args(asking, ["n-4"])).json()
    full = ask(service, "filter", filter_args(asking, NAMES)).json()
    again = ask(service, "filter", filter_args(asking, ["n-4"])).json()
    assert alone == again and alone["NodeNames"] == ["n-4"] and "n-4" in full["NodeNames"]
    for other in range(30):  # as many pods as would fill the node, none of which is bound
        assert ask(service, "filter", filter_args(pod(f"other-{other}", 4), ["n-4"])).json() == alone
    assert service.get("/v1/inventory").json() == before


@pytest.mark.parametrize("asking", QUESTIONS, ids=range(len(QUESTIONS)))
def test_filter_answers(asking, service):
    first = ask(service, "filter", filter_args(asking, NAMES))
    result = first.json()
    passed = result["NodeNames"]
    failed = result["FailedAndUnresolvableNodes"]
    assert set(passed) <= set(NAMES) and len(passed) == len(set(passed))
    assert set(failed) == set(NAMES) - set(passed), "every dropped node has a reason"
    assert all(message.startswith("gpu-extender: ") for message in failed.values())
    assert len(set(failed.values())) <= 5, "few distinct messages: users see each with its count"
    assert not [message for message in failed.values() if any(name in message for name in NAMES)], "no node's name in them"
    assert {ask(service, "filter", filter_args(asking, NAMES)).body for _ in range(5)} == {first.body}


def test_messages_are_constant_while_the_cause_stays(start_service, write):
    """The free GPUs went from 2 to 1. Four are still too many, and the message stays the same (PROTOCOL 6.2)."""
    path = write("c.json", list_text(node("a"), pod("one", 6, "a")))
    service = start_service("--cluster-file", path)
    first = ask(service, "filter", filter_args(pod(gpus=4), ["a"])).body
    path.write_text(list_text(node("a"), pod("one", 6, "a"), pod("two", 1, "a")), encoding="utf-8")
    service.signal(1)
    service.log.wait_for({"msg": "reloaded"})
    assert service.get("/v1/inventory").json()["nodes"][0]["resources"][GPU]["free"] == 1
    assert ask(service, "filter", filter_args(pod(gpus=4), ["a"])).body == first


@pytest.mark.parametrize("asking", [*QUESTIONS, None], ids=range(len(QUESTIONS) + 1))
def test_prioritize_answers_an_array_of_integer_tokens(asking, service):
    names = NAMES if asking else []
    text = ask(service, "prioritize", filter_args(asking or pod(), names)).text
    assert re.fullmatch(r'\[(\{"Host":"[^"\\]*","Score":(\d|10)\}(,(?!\])|(?=\])))*\]', text), text


def test_two_connections_stay_open_while_others_come_and_go(service):
    """kube-scheduler keeps two idle connections. If the server closes one at the moment of a request, the call fails (PROTOCOL 2.2)."""
    message = request("POST", "/scheduler/filter", as_go_writes(filter_args(pod(), NAMES)).encode())
    with Raw(service.address) as first, Raw(service.address) as second:
        for connection in (first, second):
            connection.send(message)
            assert connection.answer()[0] == 200
        for _ in range(100):
            with Raw(service.address) as other:
                other.send(message)
                assert other.answer()[0] == 200
        for connection in (first, second):
            connection.send(message)
            assert connection.answer()[0] == 200


# ---- what the real kube-scheduler sent ----


@pytest.mark.parametrize("n_nodes", [1000, 5000])
def test_recorded_requests_byte_for_byte(n_nodes, start_service, write):
    """Headers and body of kube-scheduler 1.36.3 (recorded/README.md), for the cluster that it had recorded them on."""
    with open(os.path.join(RECORDED, f"filter-{n_nodes}.json"), "rb") as file:
        body = file.read()
    with open(os.path.join(RECORDED, f"filter-{n_nodes}.headers"), "rb") as file:
        headers = file.read().strip().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    nodes = [node(f"gpu-node-{i:05}", 8, MODELS[i % 4]) for i in range(n_nodes)]
    full = [pod(f"full-{i}", 8, f"gpu-node-{i:05}") for i in range(0, n_nodes, 7)]
    policy = "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\nfilter: {shortlist: 0}\n"
    options = ["--cluster-file", write("c.json", list_text(*nodes, *full)), "--config", write("policy.yaml", policy)]
    service = start_service(*options)
    asked = json.loads(body)["NodeNames"]
    assert len(asked) == n_nodes
    with Raw(service.address) as connection:
        answers = []
        for verb in ("filter", "filter", "prioritize"):
            connection.send(b"POST /scheduler/%s HTTP/1.1\r\n%s\r\n\r\n%s" % (verb.encode(), headers, body))
            status, _, answer = connection.answer()
            assert status == 200
            answers.append(answer)
    first, again, scored = answers
    assert again == first
    taken = {item["spec"]["nodeName"] for item in full}
    result = json.loads(first)
    assert result["NodeNames"] == [name for name in asked if name not in taken]
    assert set(result["FailedAndUnresolvableNodes"]) == taken
    scores = {entry["Host"]: entry["Score"] for entry in json.loads(scored)}
    assert sorted(scores) == sorted(asked) and max(scores.values()) == 10


def test_a_non_gpu_resource_and_an_unknown_node(service):
    """One node is unknown here, the other is known. The resource is not in gpuResources."""
    resources = {"limits": {"cpu": "4", "example.com/gpu-mem": "20480"}, "requests": {"cpu": "4", "example.com/gpu-mem": "20480"}}
    asking = pod("train-7f9-0", spec={"containers": [container(resources=resources)]})
    result = ask(service, "filter", filter_args(asking, ["gpu-rack1-03", "n-0"])).json()
    assert list(result["FailedAndUnresolvableNodes"]) == ["gpu-rack1-03"]
