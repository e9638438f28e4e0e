"""POST /v1/what-if and GET /v1/node-groups over an API server that changes, and through the aggregated API's views."""

import functools

import openapi
import pytest
from certificates import Authority
from follow import SILENCE_S
from fronted import BASE, JANE, NAMED, Fronted, config_map, status
from objects import node, pod
from service import stopping
from test_live_faults import gone_by_event, hide, relisted
from test_what_if import PATH, ask, owned, places
from test_what_if_drains import budget, selected

JUDGE = openapi.Judge(openapi.load())
BUDGETS = "poddisruptionbudgets"
DRAIN = {"drain": ["a"]}


def budgets_of(service):
    answer = service.post(PATH, {"changes": [DRAIN]})
    assert JUDGE.faults_of_answer("POST", PATH, answer) == []
    return answer.json()["disruptionBudgets"]


def met(service):
    return [each["name"] for each in budgets_of(service)["met"]]


def test_a_relist_removes_budgets_that_went_while_the_watch_was_down(api, follow):
    """The ledger then also has the budgets that came, and the one that stayed as it is now."""
    api.store.put(selected("ml", "web-0"), budget("ml", "stays", 1), budget("ml", "goes"))
    service = follow()
    service.wait("budgets are listed", lambda: met(service) == ["goes", "stays"])
    watch = hide(api, BUDGETS)
    api.store.remove(budget("ml", "goes"))
    api.store.put(budget("ml", "stays"), budget("ml", "came", selector={"matchLabels": {"app": "y"}}))
    assert met(service) == ["goes", "stays"]
    gone_by_event(api, watch)
    relisted(service, BUDGETS, "gone")
    service.wait("the list counts", lambda: met(service) == ["stays"])
    assert budgets_of(service)["met"][0]["allows"] == "none"


def test_a_budget_that_cannot_be_read_is_named(api, follow):
    """The answer names it if its namespace has a displaced pod, and does not call the budgets checked. Its last known state counts."""
    bad = {"matchExpressions": [{"key": "app", "operator": "Near", "values": ["x"]}]}
    api.store.put(selected("ml", "web-0"), budget("ml", "web"), budget("ml", "bad", selector=bad), budget("other", "bad", selector=bad))
    service = follow()
    service.wait("budgets are listed", lambda: met(service) == ["web"])
    said = budgets_of(service)
    assert not said["checked"] and said["notCheckedBecause"] == "budgets that could not be kept or read: 1, for example ml/bad"
    assert [(each["namespace"], each["name"]) for each in said["notJudged"]] == [("ml", "bad")]
    assert said["notJudged"][0]["reason"].startswith("spec.selector")
    assert any("ml/bad" in line for line in ask(service, DRAIN)["notChecked"])
    api.store.put(budget("ml", "bad", selector={"matchLabels": {"app": "y"}}))
    service.wait("it can be read", lambda: budgets_of(service)["checked"])
    api.store.put(budget("ml", "web", selector=bad))
    service.wait("it cannot be read", lambda: not budgets_of(service)["checked"])
    assert met(service) == ["web"]


def test_the_answer_follows_the_cluster(api, follow):
    """Over nodes a and b of 8 and 4 GPUs. Decisions do not see the changes of a what-if."""
    api.store.remove(*api.store.all("pods"))
    api.store.put(owned("web-0", gpus=4, on="a"), owned("waits-0", "Job", "waits", gpus=8))
    service = follow()
    service.wait("all pods are seen", lambda: len(ask(service, DRAIN)["displaced"]) == 1)
    assert places(ask(service, DRAIN)["displaced"]) == {"web-0": "b"}
    groups = {group["like"]: group["wouldRun"] for group in service.get("/v1/node-groups").json()["groups"]}
    assert groups == {"a": 1, "b": 0}
    api.store.put(pod("other", 1, on="b"))
    service.wait("the room is gone", lambda: places(ask(service, DRAIN)["displaced"]) == {"web-0": None})
    assert places(ask(service, DRAIN, {"addNodes": {"like": "b"}})["displaced"]) == {"web-0": "b-new-1"}
    assert service.post(PATH, {"changes": [{"drain": ["b-new-1"]}]}).status == 404
    api.store.remove(api.store.get("nodes", "a"))
    service.wait("the node is gone", lambda: service.post(PATH, {"changes": [DRAIN]}).status == 404)
    assert [node["name"] for node in service.get("/v1/inventory").json()["nodes"]] == ["b"]


def test_an_unreachable_api_server_makes_the_answer_stale_but_not_wrong(api, follow):
    api.store.put(selected("ml", "web-0"), budget("ml", "web"))
    service = follow(watchSilenceSeconds=SILENCE_S)
    service.wait("budgets are listed", lambda: met(service) == ["web"])
    api.faults.fail(f"list {BUDGETS}", 500, times=None)
    api.faults.fail(f"watch {BUDGETS}", 500, times=None)
    hide(api, BUDGETS).end()
    service.wait("budgets are stale", lambda: not budgets_of(service)["checked"])
    said = budgets_of(service)
    assert said["notCheckedBecause"].startswith("they are not current") and [each["name"] for each in said["met"]] == ["web"]


# The views of the aggregated API.


@pytest.fixture
def front(tmp_path):
    return Authority(tmp_path / "front")


@pytest.fixture
def service(api, front, tmp_path):
    api.store.put(config_map(front), selected("ml", "web-0"))
    api.rights |= {("jane", "create", "what-if"), ("jane", "get", "node-groups")}
    with stopping(functools.partial(Fronted, api, tmp_path)) as begin:
        started = begin(cacheSeconds=0)
        started.trusts()
        yield started


def test_views_answer_as_the_paths_of_v1(api, service, front):
    """An error is a Status. Each view needs its own right. Other verbs are rejected."""
    proxy = front.client(NAMED)
    view = functools.partial(service.forward, proxy, f"{BASE}/views/what-if", method="POST")
    seen = view(body={"changes": [DRAIN]})
    assert seen.status == 200 and "web-0" in places(seen.json()["displaced"])
    assert view(body={"changes": [DRAIN]}, headers={"X-Remote-User": "eve"}).status == 403
    assert "no node gone" in status(view(body={"changes": [{"drain": ["gone"]}]}), 404, "NotFound")
    assert "drian" in status(view(body={"changes": [{"drian": ["a"]}]}), 400, "BadRequest")
    assert "5000" in status(view(body={"changes": [{"addNodes": {"like": "a", "count": 5001}}]}), 413, "RequestEntityTooLarge")
    text = service.forward(proxy, f"{BASE}/views/what-if?output=table", method="POST", body={"changes": [DRAIN]})
    assert text.status == 200 and "ml/web-0" in text.text
    groups = service.forward(proxy, f"{BASE}/views/node-groups")
    assert groups.status == 200 and groups.json()["groups"] == service.get("/v1/node-groups").json()["groups"]
    assert service.forward(proxy, f"{BASE}/views/node-groups", {"X-Remote-User": "eve"}).status == 403
    assert service.forward(proxy, f"{BASE}/views/what-if").status == 403
    assert service.forward(proxy, f"{BASE}/views/node-groups", method="POST", body={}).status == 403
    assert ("create", "what-if") in {(each["resourceAttributes"]["verb"], each["resourceAttributes"]["name"]) for each in api.resource_reviews}
