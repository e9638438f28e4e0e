"""GET /v1/decisions: the last answers to kube-scheduler."""

import datetime

import openapi
import pytest
from follow import ELECTION
from objects import BIND_ARGS, annotated, filter_args, node, pod
from service import PACKING

JUDGE = openapi.Judge(openapi.load())
PATH = "/v1/decisions"
NODES = [node("a", 8), node("b", 8), node("c", 8), node("t4", 4, "Tesla-T4"), node("cpu", None, None)]
PODS = [pod("half", 4, "a"), pod("full", 8, "b")]
NAMES = [item["metadata"]["name"] for item in NODES]


@pytest.fixture
def service(start_over):
    return start_over(*NODES, *PODS, options=PACKING)


def ask(service, verb, asking, names=NAMES):
    answer = service.post(f"/scheduler/{verb}", filter_args(asking, names))
    assert answer.status == 200, answer


def decisions(service, query=""):
    answer = service.get(PATH + query)
    assert answer.status == 200, answer
    assert JUDGE.faults_of_answer("GET", PATH, answer) == []
    return answer.json()["decisions"]


def names_of(service, query=""):
    return [item["pod"]["name"] for item in decisions(service, query)]


def test_filter(service):
    before = datetime.datetime.now(datetime.timezone.utc)
    ask(service, "filter", pod("train-0", 4), [*NAMES, "nowhere"])
    (found,) = decisions(service)
    took = found.pop("tookMicroseconds")
    at = datetime.datetime.fromisoformat(found.pop("time").replace("Z", "+00:00"))
    version = found.pop("ledgerVersion")
    assert 0 < took < 10**7 and abs((at - before).total_seconds()) < 60 and version > 0
    assert found == {
        "number": 1,
        "verb": "filter",
        "pod": {"namespace": "ml", "name": "train-0", "uid": "pod-train-0"},
        "nodesAsked": 6,
        "nodesHandedOn": 3,
        "verdicts": {"fits": 3, "gpu_absent": 1, "gpu_free": 1, "node_unknown": 1},
        "best": [],
        "node": "",
        "error": "",
    }


def test_a_short_list_is_counted(start_over, write):
    policy = write("policy.yaml", "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\nfilter: {shortlist: 2}\n")
    service = start_over(*NODES, *PODS, options=("--config", policy))
    ask(service, "filter", pod("train-0", 1))
    (found,) = decisions(service)
    assert (found["nodesHandedOn"], found["verdicts"]["fits"]) == (2, 3)


def test_prioritize(service):
    ask(service, "prioritize", pod("train-0", 4))
    (found,) = decisions(service)
    assert (found["verb"], found["nodesAsked"], found["nodesHandedOn"]) == ("prioritize", 5, 5)
    assert found["verdicts"] == {"fits": 3, "gpu_absent": 1, "gpu_free": 1}
    answered = service.post("/scheduler/prioritize", filter_args(pod("train-0", 4), NAMES)).json()
    scores = {item["Host"]: item["Score"] for item in answered}
    assert [(item["node"], item["score"]) for item in found["best"]] == [(item["Host"], scores[item["Host"]]) for item in answered[:3]]
    assert [item["node"] for item in found["best"]] == ["a", "t4", "c"]
    costs = [item["costMillionths"] for item in found["best"]]
    assert costs == sorted(costs) and costs[0] < costs[2]


def test_an_invalid_pod_is_recorded_with_its_error(service):
    ask(service, "filter", annotated("bad", models="???"))
    ask(service, "prioritize", annotated("bad", models="???"))
    scored, filtered = decisions(service)
    assert filtered["verdicts"] == {"pod_invalid": 5} and "models" in filtered["error"]
    assert scored["error"] == filtered["error"] and scored["nodesHandedOn"] == 0


def test_bind_with_a_cluster_file_is_recorded(service):
    assert service.post("/scheduler/bind", BIND_ARGS).json()["Error"]
    (found,) = decisions(service)
    assert (found["verb"], found["node"], found["nodesHandedOn"]) == ("bind", "a", 0)
    assert "cannot bind" in found["error"]


def test_bind(api, follower):
    api.store.put(pod("train-0", 2))
    follower.wait("the pod is known", lambda: "pod-train-0" in follower.ledger()[1])
    assert follower.bind(pod("train-0", 2), "b") is None
    refused = follower.bind(pod("train-0", 2), "a")
    second, first = decisions(follower, "?verb=bind")
    assert (first["node"], first["error"], first["nodesHandedOn"]) == ("b", "", 1)
    assert first["pod"] == {"namespace": "ml", "name": "train-0", "uid": "pod-train-0"}
    assert (second["node"], second["error"], second["nodesHandedOn"]) == ("a", refused, 0)


def test_a_binding_is_recorded_when_answered(api, follower):
    """It is not recorded when requested, as its outcome is unknown then."""
    api.store.put(pod("train-0", 2))
    follower.wait("the pod is known", lambda: "pod-train-0" in follower.ledger()[1])
    api.faults.fail("bind", 500, times=1)
    follower.bind(pod("train-0", 2), "b")
    assert len(decisions(follower)) == 1


def test_queries_select_decisions(service):
    for name in ("one", "two", "one"):
        ask(service, "filter", pod(name, 1))
    ask(service, "prioritize", pod("one", 1))
    assert names_of(service) == ["one", "one", "two", "one"]
    assert [item["number"] for item in decisions(service)] == [4, 3, 2, 1]
    assert names_of(service, "?limit=2") == ["one", "one"]
    assert names_of(service, "?name=two") == ["two"]
    assert names_of(service, "?namespace=ml&name=one&verb=filter") == ["one", "one"]
    assert names_of(service, "?namespace=other") == []
    assert names_of(service, "?verb=bind") == []
    assert names_of(service, "?node=a") == ["one"], "among the best of prioritize"
    assert names_of(service, "?node=nowhere") == []


@pytest.mark.parametrize(
    "query, wrong",
    [
        ("?verb=bond", "?verb=bond: is unknown, should be filter, prioritize, preempt or bind; did you mean bind?"),
        ("?limit=0", "?limit=0: is unknown, should be a whole number from 1 to 10000"),
        ("?limit=10001", "?limit=10001: is unknown, should be a whole number from 1 to 10000"),
        ("?limit=-1", "?limit=-1: is unknown, should be a whole number from 1 to 10000"),
        ("?limit=", "?limit=: is unknown, should be a whole number from 1 to 10000"),
        ("?limit=99999999999999999999", "?limit=99999999999999999999: is unknown, should be a whole number from 1 to 10000"),
        ("?pod=a", "?pod: is unknown, should be one of namespace, name, node, verb, limit, wouldDiffer, output, wide, width; did you mean node?"),
        ("?output=yaml", "?output=yaml: is unknown, should be json or table"),
    ],
)
def test_unknown_query_values_are_rejected(service, query, wrong):
    answer = service.get(PATH + query)
    assert (answer.status, answer.json()) == (400, {"error": wrong})


def test_the_policy_bounds_the_number_of_decisions(start_over, write):
    def keeping(n):
        policy = write("policy.yaml", f"apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\ndecisions: {{keep: {n}}}\n")
        service = start_over(*NODES, options=("--config", policy))
        for name in ("one", "two", "three"):
            ask(service, "filter", pod(name, 1))
        return service

    assert names_of(keeping(2)) == ["three", "two"]
    service = keeping(0)
    assert names_of(service) == []
    assert service.get(PATH).json()["keep"] == 0
    assert service.get(PATH + "?output=table").text.startswith("no decisions are kept: decisions.keep of the policy is 0\n")


def test_the_table(service):
    ask(service, "filter", pod("train-0", 4))
    ask(service, "prioritize", pod("train-0", 4))
    service.post("/scheduler/bind", BIND_ARGS)
    head, bound, scored, filtered = service.get(PATH + "?output=table&wide=true").text.splitlines()
    assert head.split() == ["TIME", "VERB", "POD", "ASKED", "ON", "TOOK", "LEDGER", "OUTCOME"]
    assert "  a: gpu-extender: cannot bind" in bound
    assert scored.split()[1:5] == ["prioritize", "ml/train-0", "5", "5"] and "  a 10 (0), t4 " in scored
    assert filtered.split()[1:5] == ["filter", "ml/train-0", "5", "3"] and filtered.endswith("3 fits, 1 gpu_absent, 1 gpu_free")


def test_a_replica_that_does_not_lead_has_no_decisions(follow):
    """An empty list would say that nothing was decided."""
    waits = follow(more=ELECTION, ready=False)
    answer = waits.get("/v1/decisions")
    assert (answer.status, answer.headers["retry-after"], answer.headers["connection"]) == (503, "1", "close")
    assert answer.json()["error"].startswith("this replica does not lead")
    assert waits.get("/v1/decisions?output=table").text.startswith("error: this replica does not lead")
