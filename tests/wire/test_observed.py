"""GET /v1/observed: the pods that were only observed and would have been rejected, or went elsewhere."""

import json

import openapi
import pytest
from objects import annotated, filter_args, merged, node, pod
from test_enforce_namespaces import ENFORCING, LABELS, namespace, of
from test_observe import HEAD, NOT_ON_ITS_TURN

JUDGE = openapi.Judge(openapi.load())
PATH = "/v1/observed"
T4 = "Tesla-T4"


def observed(service, query=""):
    answer = service.get(PATH + query)
    assert JUDGE.faults_of_answer("GET", PATH, answer) == []
    return answer.json()


def pods(service, query=""):
    """The numbers that are not 0."""
    return {key: number for key, number in observed(service, query)["pods"].items() if number}


def by_reason(service, what, query=""):
    return {item["reason"]: item[what] for item in observed(service, query)["reasons"] if item[what]}


@pytest.fixture
def over_file(start_over, write):
    policy = write("policy.yaml", HEAD + "mode: observe\nquotas: [{name: none, namespaces: [poor], limits: [{total: 0}]}]\n")
    return start_over(node("a", 8), node("t4", 4, T4), namespace("poor"), options=["--config", policy])


def ask(service, asking, names=("a", "t4")):
    args = filter_args(asking, names)
    assert service.post("/scheduler/filter", args).json()["NodeNames"] == list(names)
    service.post("/scheduler/prioritize", args)


def test_refusals_are_counted_once_per_pod_and_reason(over_file):
    for _ in range(2):
        ask(over_file, annotated("v100", models="V100"))
        ask(over_file, of("poor", pod("poor")))
        ask(over_file, of("poor", annotated("poor-t4", models="T4")))
        ask(over_file, pod("fine"))
    assert pods(over_file) == {"judged": 4, "wouldBeRefused": 3, "waiting": 4}
    assert by_reason(over_file, "wouldBeRefused") == {"model_not_wanted": 1, "quota": 2}
    assert 'gpu_extender_would_refuse_total{reason="quota"} 2\n' in over_file.get("/metrics").text
    # Asked with other nodes, a pod may have another reason.
    ask(over_file, of("poor", annotated("poor-t4", models="T4")), ["a"])
    assert by_reason(over_file, "wouldBeRefused") == {"model_not_wanted": 2, "quota": 2}
    assert pods(over_file) == {"judged": 4, "wouldBeRefused": 3, "waiting": 4}


def test_namespaces_and_examples(over_file):
    ask(over_file, of("poor", pod("poor")))
    ask(over_file, pod("fine"))
    answer = observed(over_file)
    assert [(item["namespace"], item["pods"]["wouldBeRefused"]) for item in answer["namespaces"]] == [("poor", 1), ("ml", 0)]
    (example,) = answer["examples"]
    assert (example["pod"]["namespace"], example["pod"]["name"], example["difference"], example["reason"]) == ("poor", "poor", "refused", "quota")
    assert pods(over_file, "?namespace=ml") == {"judged": 1, "waiting": 1} and observed(over_file, "?namespace=ml")["examples"] == []
    assert observed(over_file, "?namespace=nobody")["namespaces"] == []
    table = over_file.get(PATH + "?output=table").text
    assert "of 2 pods 1 would have been rejected" in table and "poor/poor" in table


def test_over_enforce_nothing_is_counted(start_over, write):
    service = start_over(node("a", 8), options=["--config", write("policy.yaml", HEAD)])
    service.post("/scheduler/filter", filter_args(annotated(models="T4"), ["a"]))
    assert pods(service) == {} and observed(service)["mode"] == "enforce"
    assert "\ngpu_extender_observing 0\n" in service.get("/metrics").text


@pytest.fixture
def follower(api, follow):
    api.store.put(node("t4", 4, T4))
    service = follow(more={"mode": "observe"})
    service.settle()
    return service


def goes_to(service, asking, target):
    """kube-scheduler asks, and binds the pod itself."""
    ask(service, asking, ["a", "b", "t4"])
    service.api.store.put(merged(asking, {"spec": {"nodeName": target}, "status": {"phase": "Running"}}))


def test_pods_are_settled_when_the_watch_shows_their_nodes(follower):
    goes_to(follower, annotated("wants-t4", models="T4"), "t4")
    goes_to(follower, annotated("was-refused", models="V100"), "a")
    goes_to(follower, annotated("got-another", models="T4"), "a")
    ask(follower, pod("gone"), ["a"])
    follower.api.store.put(pod("gone"))
    follower.wait("the pod is known", lambda: "pod-gone" in follower.ledger()[1])
    follower.api.store.remove(pod("gone"))
    follower.wait("all are settled", lambda: observed(follower)["pods"]["waiting"] == 0, lambda: observed(follower))
    assert pods(follower) == {"judged": 4, "wouldBeRefused": 1, "wentElsewhere": 1, "wentAsJudged": 1, "unknown": 1}
    assert by_reason(follower, "wentElsewhere") == {"model_not_wanted": 1}
    assert follower.metric("gpu_extender_would_place_elsewhere_total", reason="model_not_wanted") == 1
    examples = {item["pod"]["name"]: (item["difference"], item["node"], item["best"]) for item in observed(follower)["examples"]}
    assert examples == {"was-refused": ("refused", "a", ""), "got-another": ("elsewhere", "a", "t4")}


def test_a_worse_node_is_elsewhere_and_an_equal_one_is_not(api, follow):
    """The fuller node b is better; c and d are alike."""
    api.store.put(node("c", 4), node("d", 4), pod("half", 4, on="c"), pod("other-half", 4, on="d"))
    service = follow(more={"mode": "observe", "placement": {"policy": "binpack"}})
    service.settle()
    api.store.remove(pod("half"), pod("other-half"))
    service.settle()
    for name, target in (("to-c", "c"), ("to-d", "d")):
        ask(service, pod(name), ["c", "d"])
        placed = pod(name, on=target)
        api.store.put(placed)
        service.wait("it is settled", lambda: observed(service)["pods"]["waiting"] == 0)
        api.store.remove(placed)
        service.settle()
    assert pods(service) == {"judged": 2, "wentAsJudged": 2}
    ask(service, pod("to-a"), ["a", "c"])
    api.store.put(pod("to-a", on="a" if best(service, pod("again"), ["a", "c"]) == "c" else "c"))
    service.wait("it is settled", lambda: observed(service)["pods"]["wentElsewhere"] == 1, lambda: observed(service))
    assert by_reason(service, "wentElsewhere") == {"not_best": 1}


def best(service, asking, names):
    ask(service, asking, names)
    decisions = service.get(f"/v1/decisions?verb=prioritize&name={asking['metadata']['name']}").json()["decisions"]
    return decisions[0]["best"][0]["node"]


def test_what_enforce_would_retry_is_no_rejection(follower):
    """kube-scheduler counts GPUs itself: it knows of free ones before the watch shows them."""
    follower.api.store.put(pod("full", 4, on="b"))
    follower.settle()
    ask(follower, pod("soon"), ["b"])
    assert by_reason(follower, "wouldBeRefused") == {"retry": 1}


def test_unusable_data_are_a_reason(api, follow):
    api.faults.fail("list pods", 500, times=None)
    service = follow(more={"mode": "observe"}, ready=False)
    service.wait("it listens", lambda: service.get("/livez").status == 200)
    ask(service, pod(), ["b"])
    assert by_reason(service, "wouldBeRefused") == {"unusable": 1}
    assert service.metric("gpu_extender_observing") == 1


def test_pods_of_enforced_namespaces_are_not_counted(api, follow):
    api.store.put(namespace("enforced", **LABELS), namespace("observed"))
    service = follow(more=ENFORCING)
    service.settle()
    for name in ("enforced", "observed"):
        service.post("/scheduler/filter", filter_args(of(name, annotated(models="V100")), ["a"]))
    assert [item["namespace"] for item in observed(service)["namespaces"]] == ["observed"]
    assert observed(service)["enforcesNamespaces"]


def test_only_the_leader_answers(follow):
    """Zeros would say that nothing differs."""
    waits = follow(more={"mode": "observe", **NOT_ON_ITS_TURN["not leading"]}, ready=False)
    waits.wait("it listens", lambda: waits.get("/livez").status == 200)
    answer = waits.get(PATH)
    assert (answer.status, answer.headers["retry-after"]) == (503, "1")
    assert json.loads(answer.text)["error"].startswith("this replica does not lead")
