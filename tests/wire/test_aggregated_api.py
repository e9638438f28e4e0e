"""The aggregated API: the front proxy's certificate and headers, SubjectAccessReviews with resource attributes, discovery, and the
views. Nothing but a certificate by the authorities of the ConfigMap makes the headers count, and it counts for these paths only."""

import functools

import pytest
from certificates import Authority
from fronted import BASE, GROUP, INVENTORY, JANE, NAMED, Fronted, config_map, status
from guarded import DRY_RUN, GuardedFollower
from service import stopping

@pytest.fixture
def front(tmp_path):
    return Authority(tmp_path / "front")


@pytest.fixture
def proxy(front):
    return front.client(NAMED)


@pytest.fixture
def start(api, front, tmp_path):
    api.store.put(config_map(front))
    api.rights |= {("jane", "get", "inventory"), ("jane", "create", "dry-run")}
    with stopping(functools.partial(Fronted, api, tmp_path)) as begin:
        yield begin


@pytest.fixture
def service(start):
    started = start(cacheSeconds=0)
    started.trusts()
    return started


def test_a_view_is_the_path_of_v1(service, proxy):
    seen = service.forward(proxy)
    assert seen.status == 200
    assert seen.json()["nodes"] == service.get("/v1/inventory").json()["nodes"]
    assert service.forward(proxy, f"{BASE}/views/dry-run", method="POST", body=DRY_RUN).status == 200
    table = service.forward(proxy, f"{INVENTORY}?output=table")
    assert table.status == 200 and table.headers["content-type"].startswith("text/plain")
    as_table = {**JANE, "Accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}
    status(service.forward(proxy, headers=as_table), 406, "NotAcceptable")
    assert "?output=tabel" in status(service.forward(proxy, f"{INVENTORY}?output=tabel"), 400, "BadRequest")


def test_explain_is_a_view(api, service, proxy):
    api.rights.add(("jane", "get", "explain"))
    pod = api.store.all("pods")[0]["metadata"]
    seen = service.forward(proxy, f"{BASE}/views/explain?namespace={pod['namespace']}&name={pod['name']}")
    direct = service.get(f"/v1/pods/{pod['namespace']}/{pod['name']}/explain")
    assert seen.status == direct.status == 200 and seen.json()["pod"]["uid"] == direct.json()["pod"]["uid"] == pod["uid"]
    status(service.forward(proxy, f"{BASE}/views/explain?namespace=ml&name=nobody"), 404, "NotFound")
    status(service.forward(proxy, f"{BASE}/views/explain?name={pod['name']}"), 400, "BadRequest")


def test_reviews_have_the_whole_user(api, service, proxy):
    headers = [("X-Remote-User", "jane"), ("X-Remote-Uid", "u-1"), ("X-Remote-Group", "ops"), ("x-remote-group", "dev")]
    headers += [("X-Remote-Extra-Example.com%2fTeam", "a"), ("X-Remote-Extra-Example.com%2fTeam", "b")]
    assert service.forward(proxy, headers=headers).status == 200
    attributes = {"verb": "get", "group": "visibility.gpu-extender.io", "version": "v1alpha1", "resource": "views", "name": "inventory"}
    user = {"user": "jane", "uid": "u-1", "groups": ["ops", "dev"], "extra": {"example.com/team": ["a", "b"]}}
    assert api.resource_reviews == [{**user, "resourceAttributes": attributes}]


def test_others_are_forbidden_and_masters_need_no_review(api, service, proxy):
    refused = status(service.forward(proxy, headers={"X-Remote-User": "eve"}), 403, "Forbidden")
    assert refused.startswith('forbidden: User "eve" cannot get resource "views"')
    assert status(service.forward(proxy, f"{BASE}/views/policy"), 403, "Forbidden")
    asked = len(api.resource_reviews)
    assert service.forward(proxy, headers={"X-Remote-User": "root", "X-Remote-Group": "system:masters"}).status == 200
    assert len(api.resource_reviews) == asked


def test_forged_headers_do_not_count(tmp_path, service, front):
    masters = {**JANE, "X-Remote-Group": "system:masters"}
    strangers = Authority(tmp_path / "strangers").client(NAMED)
    for client in (None, service.own.client(NAMED), service.own.client("operator"), strangers):
        for path in (INVENTORY, GROUP, "/apis", "/openapi/v2"):
            status(service.forward(client, path, masters), 401, "Unauthorized")
    wrong = status(service.forward(front.client("another"), headers=masters), 401, "Unauthorized")
    assert "requestheader-allowed-names" in wrong


def test_the_front_proxy_may_call_nothing_else(service, proxy):
    headers = {**JANE, "X-Remote-Group": "system:masters"}
    for path in ("/v1/inventory", "/metrics"):
        assert service.forward(proxy, path, headers).status == 401
    assert service.forward(proxy, "/scheduler/filter", headers, "POST", {}).status == 403


def test_odd_headers_are_rejected(api, service, proxy):
    twice = [*JANE.items(), ("x-remote-user", "root")]
    for headers in ({}, {"X-Remote-User": ""}, twice, {"X-Remote-Group": "system:masters"}, {"X-Forwarded-User": "jane"}):
        status(service.forward(proxy, headers=headers), 401, "Unauthorized")
    assert api.resource_reviews == []
    odd = [*JANE.items(), ("X-Remote-Extra-%00", "a"), ("X-Remote-Extra-%zz", "b"), ("X-Remote-Extra-" + "k" * 8000, "c" * 8000)]
    assert service.forward(proxy, headers=odd).status == 200
    assert set(api.resource_reviews[0]["extra"]) == {"%00", "%zz", "k" * 8000}


def test_the_config_map_is_followed(tmp_path, api, service, front, proxy):
    """A new CA replaces the old one, other names and headers count at once, and without the ConfigMap nobody is trusted."""
    seen, rotated = len(service.log.lines), Authority(tmp_path / "rotated")
    headers = {"requestheader-username-headers": '["X-Forwarded-User"]', "requestheader-allowed-names": "[]"}
    api.store.put(config_map(rotated, **headers))
    service.trusts(after=seen)
    status(service.forward(proxy), 401, "Unauthorized")
    any_name = rotated.client("any")
    status(service.forward(any_name), 401, "Unauthorized")
    assert service.forward(any_name, headers={"X-Forwarded-User": "jane"}).status == 200
    for broken in ({"requestheader-client-ca-file": "none"}, {"requestheader-allowed-names": "none"}, {"requestheader-username-headers": "[]"}):
        seen = len(service.log.lines)
        api.store.put(config_map(front, **broken))
        service.log.wait_for({"mod": "front", "level": "warn"}, after=seen)
        status(service.forward(proxy), 401, "Unauthorized")
    seen = len(service.log.lines)
    api.store.put(config_map(front))
    service.trusts(after=seen)
    assert service.forward(proxy).status == 200
    seen = len(service.log.lines)
    api.store.remove(config_map(front))
    service.log.wait_for({"mod": "front", "level": "warn"}, after=seen)
    status(service.forward(proxy), 401, "Unauthorized")


def test_a_failed_review_is_no_right(api, service, proxy):
    api.faults.fail("review access", 500)
    failed = service.forward(proxy)
    status(failed, 503, "ServiceUnavailable")
    assert failed.headers["retry-after"] == "1"
    assert service.forward(proxy).status == 200, "the failure is not cached"


def test_discovery_is_for_every_user_of_the_front_proxy(api, service, proxy):
    def read(path, **headers):
        answer = service.forward(proxy, path, {"X-Remote-User": "system:aggregator", **headers})
        assert answer.status == 200, answer
        return answer.json()

    assert [group["name"] for group in read("/apis")["groups"]] == ["visibility.gpu-extender.io"]
    assert read(GROUP)["preferredVersion"]["version"] == "v1alpha1"
    legacy = read(BASE)["resources"]
    assert ("views", ["create", "get"]) in [(each["name"], each["verbs"]) for each in legacy]
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
    listed = read("/apis", Accept=accept)["items"][0]["versions"][0]["resources"]
    under = [
        (f"{each['resource']}/{sub['subresource']}", sub["verbs"], each["scope"], sub["responseKind"]["kind"])
        for each in listed
        for sub in each.get("subresources", [])
    ]
    assert sorted((each["name"], each["verbs"], "Namespaced" if each["namespaced"] else "Cluster", each["kind"]) for each in legacy) == sorted(
        [*((each["resource"], each["verbs"], each["scope"], each["responseKind"]["kind"]) for each in listed), *under]
    )
    assert not any({"watch", "delete", "update"} & set(each["verbs"]) for each in legacy)
    assert read("/openapi/v2")["swagger"] == "2.0"
    address = next(iter(read("/openapi/v3")["paths"].values()))["serverRelativeURL"]
    assert read(address)["openapi"] == "3.0.0"
    assert api.resource_reviews == []


def test_watching_and_unknown_paths(service, proxy):
    status(service.forward(proxy, f"{INVENTORY}?watch=true"), 405, "MethodNotAllowed")
    status(service.forward(proxy, INVENTORY, method="DELETE"), 405, "MethodNotAllowed")
    for path in (f"{BASE}/pods", f"{BASE}/views", f"{BASE}/views/", f"{BASE}/views/a/b", "/apis/other", "/openapi/v4"):
        status(service.forward(proxy, path), 404, "NotFound")
    masters = {**JANE, "X-Remote-Group": "system:masters"}
    status(service.forward(proxy, f"{BASE}/views/nothing", masters), 404, "NotFound")


def test_it_is_off_by_default(api, tmp_path):
    with stopping(functools.partial(GuardedFollower, api, tmp_path)) as begin:
        assert begin().visit(path="/apis").status == 404
