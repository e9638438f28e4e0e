"""Authentication and authorization of users over TLS: by a token that the API server accepts, or a certificate that the policy
names. Others are rejected with a reason. A failed review rejects, and no thread waits for a review."""

import concurrent.futures
import contextlib
import functools
import itertools
import re
import signal
import threading
import time

import objects
import openapi
import pytest
from fake_api import HOST
from guarded import DRY_RUN, PATHS, GuardedFollower, GuardedService
from objects import pod
from service import LIMIT_S, Answer, stopping

READER, NEWCOMER, STRANGER = "reader-t0ken.abc", "another-t0ken.def", "nobodys-t0ken.xyz"
NOT_NOW = "the API server could not verify the token and its permissions: try again"
BUSY = "too many tokens are being checked: try again"
JANE = {"username": "jane", "uid": "u-1", "groups": ["ops", "system:authenticated"], "extra": {"example.com/team": ["a"]}}
CACHE_S = 1
OF_NETWORK = 12  # reviews of strangers from one address under way


@pytest.fixture
def start(api, tmp_path):
    """start(option, ..., cacheSeconds=...) -> a GuardedFollower; READER has all rights."""
    api.people[READER] = JANE
    api.rights |= {("jane", method.lower(), path.partition("?")[0]) for method, path in PATHS}
    with stopping(functools.partial(GuardedFollower, api, tmp_path)) as begin:
        yield begin


@pytest.fixture
def guarded(start):
    return start(cacheSeconds=CACHE_S)


def error(answer, status):
    assert answer.status == status, answer
    return answer.json()["error"]


REVIEW_S = 9  # ten, by src/auth: a review that was held less has its answer


@contextlib.contextmanager
def held(api, name):
    hold = api.faults.hold(name)
    try:
        yield hold
    finally:
        api.faults.heal()
        hold.release()


def visits(service, count, token=READER, source=HOST):
    """Sends this many requests in parallel; returns their futures. They ask only when all handshakes are done, as a review has ten seconds."""
    threads, connected = concurrent.futures.ThreadPoolExecutor(count), threading.Barrier(count)

    def visit(number):
        with contextlib.closing(service.connect(service.tls, source)) as connection:
            connection.connect()
            connected.wait(LIMIT_S)
            bearer = f"Bearer {token if isinstance(token, str) else token(number)}"
            connection.request("GET", "/v1/inventory", headers={"Authorization": bearer})
            return Answer(connection.getresponse())

    return [threads.submit(visit, number) for number in range(count)]


def test_paths_are_those_of_the_document():
    """With a path of each documented route for users, the tests below miss none."""
    documented = {route for route, operation in openapi.Judge(openapi.load()).operations().items() if "people" in operation["tags"]}
    patterns = [(method, re.compile(re.sub(r"{\w+}", "[^/]+", path))) for method, path in documented]
    missed = [pattern for method, pattern in patterns if not any(method == at and pattern.fullmatch(path.partition("?")[0]) for at, path in PATHS)]
    assert documented and missed == []


BODIES = {"/v1/dry-run": DRY_RUN, "/v1/what-if": {"changes": []}}


def test_every_path_needs_its_right(api, guarded):
    for method, path in PATHS:
        body = BODIES.get(path)
        nobody = guarded.visit(None, path, method, body)
        assert (nobody.status, nobody.headers.get("www-authenticate")) == (401, "Bearer"), path
        assert guarded.visit(STRANGER, path, method, body).status == 401, path
        assert guarded.visit(READER, path, method, body).status == 200, path
        api.rights.discard(("jane", method.lower(), path.partition("?")[0]))
    time.sleep(CACHE_S)
    for method, path in PATHS:
        refused = guarded.visit(READER, path, method, BODIES.get(path))
        assert refused.status == 403 and "www-authenticate" not in refused.headers
        if method != "HEAD":
            bare = path.partition("?")[0]
            assert error(refused, 403) == f'forbidden: User "jane" cannot {method.lower()} path "{bare}"'


def test_a_missing_token_gets_a_helpful_401(guarded):
    assert "Authorization: Bearer TOKEN" in error(guarded.visit(), 401)
    for header in ("Basic dTpw", "Bearer", "Bearer a b"):
        assert "Bearer TOKEN" in error(guarded.visit(header=header), 401)


def test_reviews_exclude_the_query(api, start):
    service = start(cacheSeconds=300)
    assert service.visit(READER, "/v1/inventory?output=table").status == 200
    assert service.visit(READER, "/v1/inventory?output=json").status == 200
    assert api.faults.count("review access") == 1


def test_open_paths_and_named_certificates_need_no_review(guarded):
    """Probes are open, a certificate that the policy names needs no token, and unknown paths are 404 for everyone."""
    assert guarded.metric("gpu_extender_pods") == 3
    assert guarded.visit(None, "/v1/nowhere").status == 404
    guarded.address = guarded.addresses["probes"]
    assert guarded.get("/readyz").status == guarded.get("/livez").status == 200


def test_answers_are_cached(api, start):
    service = start(cacheSeconds=300)
    assert {service.visit(READER).status for _ in range(5)} == {200}
    assert (api.faults.count("review token"), api.faults.count("review access")) == (1, 1)
    assert service.metric("gpu_extender_auth_lookups_total", result="hit") == 4
    del api.people[READER]
    assert service.visit(READER).status == 200
    assert service.visit(READER, "/v1/quota").status == 401, "what was kept is of one path"
    assert service.metric("gpu_extender_auth_reviews_total", review="TokenReview", result="no") == 1


def test_cached_answers_expire(api, guarded):
    assert guarded.visit(READER).status == 200
    api.people.clear()
    time.sleep(CACHE_S)
    assert guarded.visit(READER).status == 401


FAULTS = {
    "500": lambda faults, name: faults.fail(name, 500),
    "429": lambda faults, name: faults.fail(name, 429, "TooManyRequests", retry_after=1),
    "403": lambda faults, name: faults.fail(name, 403, "Forbidden"),
    "404": lambda faults, name: faults.fail(name, 404, "NotFound"),
    "redirect": lambda faults, name: faults.redirect(name),
    "cut": lambda faults, name: faults.cut(name),
    "lost": lambda faults, name: faults.lose_answer(name, times=None),
    "half": lambda faults, name: faults.truncate(name),
    "garbage": lambda faults, name: faults.garble(name, b'[{"kind":'),
    "nothing": lambda faults, name: faults.garble(name, b""),
    "huge": lambda faults, name: faults.garble(name, b'{"kind":"' + b"x" * (5 << 20) + b'"}'),
    "echo": lambda faults, name: faults.garble(name, ('{"message": "' + READER + '"}').encode()),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("review", ["review token", "review access"])
def test_a_failed_review_rejects_and_is_not_cached(api, guarded, review, fault):
    FAULTS[fault](api.faults, review)
    refused = guarded.visit(READER)
    assert (error(refused, 503), refused.headers["retry-after"]) == (NOT_NOW, "1")
    api.faults.heal()
    assert guarded.visit(READER).status == 200
    assert guarded.log.wait_for({"mod": "auth", "level": "warn"})["review"] == {
        "review token": "TokenReview",
        "review access": "SubjectAccessReview",
    }[review]


def test_a_connection_closed_meanwhile_is_no_failure(api, guarded):
    """As an API server closes idle connections."""
    assert guarded.visit(READER).status == 200
    api.new_era()
    assert guarded.visit(READER, "/v1/quota").status == 200


def test_a_rejected_own_credential_is_reported(api, guarded):
    """The caller is not at fault."""
    api.token = "another"
    assert error(guarded.visit(READER), 503) == NOT_NOW


def test_an_unresponsive_api_server_rejects_users(api, guarded):
    began = time.monotonic()
    with held(api, "review *"):
        assert error(guarded.visit(READER), 503) == NOT_NOW
    assert time.monotonic() - began > 9


@pytest.mark.parametrize("review", ["review token", "review access"])
def test_a_review_delays_no_other_request(api, guarded, review):
    """Neither callers with a certificate nor probes wait. Equal requests share one review, which ends after ten seconds at most."""
    began = time.monotonic()
    with held(api, review) as hold:
        waiting = visits(guarded, 20)
        hold.wait_for(1)
        guarded.wait("all are in", lambda: guarded.metric("gpu_extender_auth_lookups_total", result="miss") == 20)
        assert guarded.metric("gpu_extender_auth_reviews_open") == 1
        assert not any(visit.done() for visit in waiting)
    held_s = time.monotonic() - began
    assert {visit.result(LIMIT_S).status for visit in waiting} == {200} or held_s > REVIEW_S
    assert (api.faults.count("review token"), api.faults.count("review access")) == (1, 1) or held_s > REVIEW_S
    assert guarded.metric("gpu_extender_auth_reviews_open") == 0


def test_a_binding_does_not_wait_for_reviews(api, guarded):
    """Bindings have their own loop."""
    item = pod("train-0", 2)
    api.store.put(item)
    guarded.wait("the pod is known", lambda: item["metadata"]["uid"] in guarded.ledger()[1])
    guarded.wait_until_it_binds()
    began = time.monotonic()
    with held(api, "review *") as hold:
        waiting = visits(guarded, OF_NETWORK, lambda number: f"{STRANGER}-{number}")
        hold.wait_for(OF_NETWORK)
        assert guarded.bind(item, "b") is None
    held_s = time.monotonic() - began
    assert all(visit.result(LIMIT_S).status in (200, 401) for visit in waiting) or held_s > REVIEW_S


def test_bindings_and_reviews_share_no_connection(api, guarded):
    """Even if they are sequential and an idle connection would do."""
    for number in range(3):
        assert guarded.visit(f"{STRANGER}-{number}").status == 401
        api.store.put(pod(f"new-{number}", 1))
        assert guarded.bind(pod(f"new-{number}", 1), "b") is None
    assert not api.ways["bind"] & api.ways["review token"]


def flood(api, guarded, number):
    """Of strangers whose reviews are held: what three more of their network get, with the answers of the first, and of others."""
    with held(api, "review *") as hold:
        waiting = visits(guarded, OF_NETWORK, lambda i: f"{STRANGER}-{number}-{i}")
        hold.wait_for(OF_NETWORK)
        refused = [guarded.visit(f"{STRANGER}-more-{number}-{i}") for i in range(3)]
        others = visits(guarded, 1) + visits(guarded, 1, NEWCOMER, "127.0.0.2")
        hold.wait_for(OF_NETWORK + 2)
    return refused, {visit.result(LIMIT_S).status for visit in waiting}, {visit.result(LIMIT_S).status for visit in others}


def test_a_flood_of_tokens_is_rejected(api, guarded):
    """It keeps out neither a known token nor a new one from another address. Where all that takes longer than a review may be
    held, it proves nothing, and is tried again."""
    api.people[NEWCOMER] = JANE
    for number in itertools.count():
        assert guarded.visit(READER).status == 200
        time.sleep(CACHE_S)
        began, n_busy = time.monotonic(), guarded.metric("gpu_extender_auth_lookups_total", result="busy")
        refused, first, others = flood(api, guarded, number)
        if time.monotonic() - began < REVIEW_S:
            break
    assert {(error(answer, 503), answer.headers["retry-after"]) for answer in refused} == {(BUSY, "1")}
    assert (first, others) == ({401}, {200})
    assert guarded.metric("gpu_extender_auth_lookups_total", result="busy") == n_busy + 3


def test_client_disconnects_during_the_review(api, guarded):
    with held(api, "review access") as hold:
        with contextlib.closing(guarded.connect(guarded.tls)) as connection:
            connection.request("POST", "/v1/dry-run", b"{}", {"Authorization": f"Bearer {READER}"})
            hold.wait_for(1)
    guarded.wait("it is over", lambda: guarded.metric("gpu_extender_auth_reviews_open") == 0)
    assert guarded.visit(READER).status == 200


def test_a_stop_while_tokens_are_checked(api, guarded):
    """Reviews have ten seconds, and the stop waits that long."""
    with held(api, "review token") as hold:
        waiting = visits(guarded, 3)
        hold.wait_for(1)
        guarded.wait("all are in", lambda: guarded.metric("gpu_extender_auth_lookups_total", result="miss") == 3)
        guarded.signal(signal.SIGTERM)
        guarded.log.wait_for({"mod": "main", "msg": "stopping"})
    assert {visit.result(LIMIT_S).status for visit in waiting} <= {200, 503}
    guarded.stop()


def test_tokens_are_never_disclosed(api, start):
    """At the most verbose log level, in every failure, and in texts of the API server."""
    service = start("--log-level", "debug", cacheSeconds=CACHE_S)
    said = [service.visit(token, path).text for token in (READER, STRANGER) for path in ("/v1/inventory", "/v1/none", "/metrics")]
    for review in ("review token", "review access"):
        for fault in FAULTS.values():
            fault(api.faults, review)
            said.append(service.visit(READER, "/v1/quota").text)
            api.faults.heal()
            api.rights.add(("jane", "get", "/v1/quota"))
    said.append(service.visit(header=f"Bearer {READER} {STRANGER}").text)
    service.stop()
    for text in (service.log.text(), *said):
        assert READER not in text and STRANGER not in text


def test_without_an_api_server_no_token_can_be_checked(tmp_path, write):
    cluster = write("cluster.json", objects.list_text(objects.node("a", 8)))
    service = GuardedService(tmp_path, "--cluster-file", cluster)
    try:
        assert "there is no API server to ask" in error(service.visit(READER), 401)
        assert service.get("/v1/inventory").status == 200
    finally:
        service.stop()
