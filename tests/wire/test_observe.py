"""mode: observe: every verb answers at once and keeps no pod, on a replica that does not lead, and before the first list."""

import openapi
import pytest
from follow import ELECTION
from objects import annotated, filter_args, node, pod, preempt_args
from service import run_to_end

JUDGE = openapi.Judge(openapi.load())
HEAD = "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\n"
NOT_ON_ITS_TURN = {
    "not leading": ELECTION,
    "not up to date beside kube-scheduler": {"scheduler": {"httpTimeoutSeconds": 120, "beside": True, "leaseDurationSeconds": 600, "renewDeadlineSeconds": 1}},
}


def assert_keeps_no_pod(service, asking, node_names):
    """filter, prioritize and preempt, also for nodes that do not exist."""
    args = filter_args(asking, node_names)
    answer = service.post("/scheduler/filter", args).json()
    assert answer == {"Nodes": None, "NodeNames": node_names, "FailedNodes": {}, "FailedAndUnresolvableNodes": {}, "Error": ""}
    assert service.post("/scheduler/prioritize", args).json() == []
    victims = preempt_args(asking, {name: ["u1", "u2"] for name in node_names})
    # kube-scheduler 1.38 offers such nodes, and drops them in the end; earlier ones take it for a fault.
    without = preempt_args(asking, {"without-victims": []})["NodeNameToMetaVictims"]
    asked = {**victims, "NodeNameToMetaVictims": {**victims["NodeNameToMetaVictims"], **without}}
    kept = service.post("/scheduler/preempt", asked).json()["NodeNameToMetaVictims"]
    assert kept == victims["NodeNameToMetaVictims"]


@pytest.mark.parametrize("turn", NOT_ON_ITS_TURN)
def test_a_replica_without_a_list_and_without_a_lease_keeps_no_pod(api, follow, turn):
    api.faults.fail("list pods", 500, times=None)
    service = follow(more={"mode": "observe", **NOT_ON_ITS_TURN[turn]}, ready=False)
    service.wait("it listens", lambda: service.get("/livez").status == 200)
    assert_keeps_no_pod(service, pod("train-0", 2), ["b", "nowhere"])


def test_a_replica_that_does_not_lead_binds(api, follow):
    waiting = pod("train-0", 2)
    api.store.put(waiting)
    service = follow(more={"mode": "observe", **NOT_ON_ITS_TURN["not leading"]}, ready=False)
    service.wait("it listens", lambda: service.get("/livez").status == 200)
    metadata = waiting["metadata"]
    args = {"PodName": metadata["name"], "PodNamespace": metadata["namespace"], "PodUID": metadata["uid"], "Node": "b"}
    assert service.post("/scheduler/bind", args).json() == {"Error": ""}
    assert api.store.bound == [("pod-train-0", "b")]
    assert "409" in service.post("/scheduler/bind", {**args, "Node": "a"}).json()["Error"]


def test_over_a_cluster_file(start_over, write):
    policy = write("policy.yaml", HEAD + "mode: observe\nfilter: {shortlist: 1}\n")
    service = start_over(node("a", 8), node("t4", 4, "Tesla-T4"), options=["--config", policy])
    assert_keeps_no_pod(service, annotated(models="T4"), ["a", "t4", "nowhere"])
    assert_keeps_no_pod(service, annotated(models="no model"), ["a", "t4"])
    assert service.post("/scheduler/filter", b"{").json()["Error"]


def decisions(service, query=""):
    answer = service.get("/v1/decisions" + query)
    assert JUDGE.faults_of_answer("GET", "/v1/decisions", answer) == []
    return [(item["verb"], item["nodesHandedOn"], item["observed"], item["wouldDiffer"]) for item in answer.json()["decisions"]]


def test_decisions_that_would_differ_are_listed(start_over, write):
    policy = write("policy.yaml", HEAD + "mode: observe\n")
    service = start_over(node("a", 8), node("t4", 4, "Tesla-T4"), options=["--config", policy])
    service.post("/scheduler/filter", filter_args(pod(), ["a", "t4"]))
    assert decisions(service) == [("filter", 2, True, False)] and decisions(service, "?wouldDiffer=true") == []
    assert_keeps_no_pod(service, annotated(models="T4"), ["a", "t4"])
    differs = [("preempt", 2, True, True), ("prioritize", 2, True, True), ("filter", 2, True, True)]
    assert decisions(service, "?wouldDiffer=true") == differs
    assert decisions(service, "?wouldDiffer=false") == [*differs, ("filter", 2, True, False)]


def test_a_replica_that_does_not_lead_lists_its_decisions(api, follow):
    service = follow(more={"mode": "observe", **NOT_ON_ITS_TURN["not leading"]}, ready=False)
    service.wait("it listens", lambda: service.get("/livez").status == 200)
    assert_keeps_no_pod(service, pod("train-0", 2), ["b"])
    assert len(decisions(service)) == 3


def test_the_policy_warns_of_it(write):
    done = run_to_end("--config", write("policy.yaml", HEAD + "mode: observe\n"), "--check")
    assert done.returncode == 0 and "policy.yaml:3:7: mode: is observe: kube-scheduler places every pod by itself" in done.stderr
    done = run_to_end("--config", write("policy.yaml", HEAD + "mode: watch\n"), "--check")
    assert done.returncode == 2 and 'mode: is the string "watch", should be enforce or observe' in done.stderr
