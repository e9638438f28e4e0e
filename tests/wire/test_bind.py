"""POST /scheduler/bind over a cluster file: there is no API server to bind through, and the answer reports that.

Never a success: kube-scheduler would believe it, and the pod would wait for ever (PROTOCOL 3.5). Never another status
than 200: it reads no other body, and the reason would reach nobody (PROTOCOL 2.1).
"""

import pytest
from objects import BIND_ARGS, node, pod


@pytest.fixture(scope="module")
def service(module_service):
    return module_service(node("a"), pod())


def ask(service, arguments):
    answer = service.post("/scheduler/bind", arguments)
    assert answer.status == 200, answer
    result = answer.json()
    assert sorted(result) == ["Error"] and result["Error"].startswith("gpu-extender: ")
    return result["Error"]


def test_bind_reports_why_it_cannot_bind(service):
    error = ask(service, BIND_ARGS)
    assert "file" in error and "no API server" in error


def test_bind_changes_nothing(service):
    before = service.get("/v1/inventory").json()
    for _ in range(3):
        ask(service, BIND_ARGS)
    assert service.get("/v1/inventory").json() == before


def test_repeated_call_has_the_same_answer(service):
    assert len({ask(service, BIND_ARGS) for _ in range(3)}) == 1


@pytest.mark.parametrize("member", BIND_ARGS)
@pytest.mark.parametrize("value", [None, "", 7, ["a"]])
def test_missing_or_non_string_members_are_named(member, value, service):
    assert member in ask(service, {**BIND_ARGS, member: value})
    without = {key: text for key, text in BIND_ARGS.items() if key != member}
    assert member in ask(service, without)


def test_unknown_members_are_ignored(service):
    assert ask(service, {**BIND_ARGS, "PodAnnotations": {"a": "b"}}) == ask(service, BIND_ARGS)
