"""GET /v1/pending and GET /v1/pods/NAMESPACE/NAME/explain: why pods wait, over cluster files."""

import json

import openapi
import pytest
from objects import GPU, annotated, node, pod
from raw import Raw, request

JUDGE = openapi.Judge(openapi.load())
EXPLAIN = "/v1/pods/{namespace}/{name}/explain"
MOST_LISTED = 10000
MOST_VERDICTS = 1000000
MOST_CLAIMS = 2000  # NAMED_CLAIMS_MAX in src/api/verdicts/claim_lookup.c


def says(message, reason="Unschedulable"):
    return {"conditions": [{"type": "PodScheduled", "status": "False", "reason": reason, "message": message}]}


def judged(path, answer):
    assert answer.status == 200, answer
    assert JUDGE.faults_of_answer("GET", path, answer) == []
    return answer.json()


def pending_of(service):
    return judged("/v1/pending", service.get("/v1/pending"))


def pods_of(service):
    return {item["name"]: item for item in pending_of(service)["pods"]}


def explanation_of(service, name):
    return judged(EXPLAIN, service.get(f"/v1/pods/ml/{name}/explain"))


def counts(item):
    return {reason["reason"]: reason["nodes"] for reason in item["reasons"]}


TAINT = {"taints": [{"key": "dedicated", "value": "x", "effect": "NoSchedule"}]}


@pytest.fixture(scope="module")
def service(module_service):
    return module_service(
        node("a", 8),
        node("b", 4, "Tesla-T4"),
        node("c", 8, spec={"unschedulable": True}),
        node("d", 8, spec=TAINT),
        node("cpu", None, None),
        pod("runs", 6, "a"),
        pod("ended", 2, "b", status={"phase": "Succeeded"}),
        pod("failed", 1, status={"phase": "Failed"}),
        pod("plain", None),
        pod("three", 3, status=says("0/5 nodes are available: 5 Insufficient nvidia.com/gpu.")),
        pod("five", 5, spec={"priority": 10, "priorityClassName": "high"}),
        pod("huge", 16),
        annotated("t4", 1, models="T4"),
        annotated("h100", 1, models="H100"),
        annotated("broken", 1, models="!"),
        pod("gated", 1, spec={"schedulingGates": [{"name": "g"}]}, status=says("gated", "SchedulingGated")),
        pod("chosen", 8, status={"nominatedNodeName": "a"}),
        pod("amd", 1, resource="amd.com/gpu"),
    )


# ---- /v1/pending ----


def test_gpu_pods_without_a_node_are_pending(service):
    waiting = {"three", "five", "huge", "t4", "h100", "broken", "gated", "chosen", "amd"}
    answer = pending_of(service)
    assert {item["name"] for item in answer["pods"]} == waiting
    assert (answer["podCount"], answer["omitted"], answer["notJudged"], answer["nodeCount"]) == (len(waiting), 0, 0, 5)
    assert all(item["state"] == "pending" and item["node"] is None and item["judged"] for item in answer["pods"])


def test_nodes_are_counted_by_reason(service):
    pods = pods_of(service)
    base = {"unschedulable": 1, "taint": 1, "gpu_absent": 1}
    assert counts(pods["three"]) == {**base, "gpu_free": 1}, "a has 2 free, b 4"
    assert (pods["three"]["fits"], pods["three"]["fitsOn"]) == (1, ["b"])
    assert counts(pods["five"]) == {**base, "gpu_total": 1, "gpu_free": 1}
    assert counts(pods["huge"]) == {**base, "gpu_total": 2}
    assert counts(pods["h100"]) == {**base, "model_not_wanted": 2}
    assert counts(pods["amd"]) == {"unschedulable": 1, "taint": 1, "gpu_absent": 3}
    assert pods["t4"]["fitsOn"] == ["b"] and counts(pods["t4"]) == {**base, "model_not_wanted": 1}


def test_model_requirements_are_reported(start_over):
    wanting = annotated("wanting", 1, models="h100, A100-SXM", **{"exclude-models": "K80", "min-gpu-memory": "32Gi"})
    service = start_over(
        node("a", 8), node("b", 8, "Tesla-T4"), node("c", 8, "Tesla-T4"), node("d", 8, "NVIDIA-L4-MIG-1g.5gb"), node("e", 8, None),
        wanting, annotated("small", 1, **{"min-gpu-memory": "900Gi"}), pod("any", 1),
    )
    pods = pods_of(service)
    assert pods["wanting"]["gpuModels"] == {"models": ["H100", "A100-SXM"], "excludeModels": ["K80"], "minMemoryBytes": 32 * 2**30}
    assert pods["any"]["gpuModels"] is None
    here = "the GPUs here are A100-SXM4-80GB, T4, L4-MIG-1g.5gb"
    assert pods["small"]["summary"].endswith(f"); it asks for at least 900Gi of GPU memory, {here}"), pods["small"]
    refused = annotated("refused", 1, models="V100, K80")
    summary = service.post("/v1/dry-run", refused).json()["summary"]
    assert summary.endswith(f"); it asks for V100 or K80, {here}"), summary
    table = service.get("/v1/pods/ml/wanting/explain?output=table").text.splitlines()
    assert "  asks for        1 H100 or else A100-SXM; not K80, at least 32Gi of GPU memory" in table


def test_missing_amounts_are_reported(service):
    pods = pods_of(service)
    assert (pods["five"]["closest"]["node"], pods["five"]["closest"]["lacks"]) == ("a", {GPU: 3})
    assert (pods["huge"]["closest"]["reason"], pods["huge"]["closest"]["lacks"]) == ("gpu_total", {GPU: 12})
    assert pods["h100"]["closest"] is None


def test_the_message_of_kube_scheduler_is_reported(service):
    pods = pods_of(service)
    assert pods["three"]["schedulerSays"] == {
        "reason": "Unschedulable",
        "message": "0/5 nodes are available: 5 Insufficient nvidia.com/gpu.",
    }
    assert pods["gated"]["schedulerSays"]["reason"] == "SchedulingGated" and pods["gated"]["gated"]
    assert pods["five"]["schedulerSays"] is None


def test_other_obstacles_are_reported(service):
    pods = pods_of(service)
    assert "names no GPU model" in pods["broken"]["refusal"] and counts(pods["broken"]) == {"pod_invalid": 5}
    assert pods["chosen"]["nominatedNode"] == "a" and "room is being made for it on a" in pods["chosen"]["summary"]
    assert (pods["five"]["priority"], pods["five"]["priorityClass"]) == (10, "high")


def test_the_most_important_comes_first(service):
    assert pending_of(service)["pods"][0]["name"] == "five"


def test_unjudged_requirements_are_named(start_over):
    """The same lines as in a dry run, except those that admission has settled."""
    unjudged = pod(
        "unjudged",
        1,
        spec={
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}],
            "schedulingGates": [{"name": "example.com/g"}],
            "schedulerName": "volcano",
        },
    )
    unjudged["metadata"]["annotations"] = {"gpu-extender.io/model": "T4"}
    service = start_over(node("a", 8), unjudged, pod("judged", 1))
    lines = [
        "spec.volumes: data (persistentVolumeClaim)",
        "annotation gpu-extender.io/model is unknown; did you mean gpu-extender.io/models?",
        "scheduling gate example.com/g: the pod waits until it is removed",
        "spec.schedulerName volcano: that scheduler's own rules are not judged",
    ]
    dry_run = service.post("/v1/dry-run", unjudged).json()["workloads"][0]["notEvaluated"]
    assert [line for line in dry_run if "LimitRange" not in line and not line.startswith("namespace")] == lines
    found = pods_of(service)
    assert found["unjudged"]["notEvaluated"] == lines and found["judged"]["notEvaluated"] == []
    assert found["unjudged"]["summary"].endswith("would fit on 1 of 1 nodes now as far as evaluated, best on a")
    assert found["judged"]["summary"] == "ml/judged: would fit on 1 of 1 nodes now, best on a"
    table = service.get("/v1/pods/ml/unjudged/explain?output=table").text.splitlines()
    assert [line.strip() for line in table if line.startswith("  not evaluated")] == [f"not evaluated   {line}" for line in lines]


def test_a_pod_fits_only_as_far_as_evaluated(start_over):
    """kube-scheduler's message may be about what is not judged: a volume, a host port. Its words are told, and nothing is green."""
    no_claim = says('0/1 nodes are available: persistentvolumeclaim "x" not found. preemption: 0/1 nodes are available: 1 No victims.')
    unjudged = pod("unjudged", 1, spec={"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "x"}}]}, status=no_claim)
    untried = pod("untried", 1, spec={"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "y"}}]})
    service = start_over(node("a", 8), unjudged, untried, pod("judged", 1, status=says("0/1 nodes are available: 1 Insufficient nvidia.com/gpu.")))
    answer = pending_of(service)
    pods = {item["name"]: item for item in answer["pods"]}
    verdict = pods["unjudged"]["verdict"]
    sentence = 'It fits as far as evaluated. kube-scheduler says: persistentvolumeclaim "x" not found.'
    assert (verdict["result"], verdict["cause"], verdict["text"], verdict["node"]) == ("waits", "scheduler", sentence, "a")
    assert [pods[name]["verdict"]["result"] for name in ("judged", "untried")] == ["fits", "fits"]
    assert explanation_of(service, "unjudged")["pod"]["verdict"] == verdict
    (owner,) = (owner for owner in answer["owners"] if owner["name"] == "unjudged")
    assert (owner["verdict"]["result"], owner["verdict"]["text"], owner["fits"]) == ("waits", sentence, 1)
    assert sentence in service.get("/v1/pending?output=table&width=400").text
    lines = service.get("/v1/pods/ml/unjudged/explain?output=table&width=400").text.splitlines()
    assert lines[:2] == ["WAITS  Pod ml/unjudged", f"       {sentence}"]


def test_a_pod_that_is_being_deleted_does_not_wait(start_over):
    """It comes first, would take the room, and never will."""
    first = pod("first", 8, spec={"priority": 5}, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    service = start_over(node("a", 8), first, pod("last", 8))
    answer = pending_of(service)
    assert (answer["podCount"], answer["gpuCount"], [(item["name"], item["placedOn"]) for item in answer["pods"]]) == (1, 8, [("last", "a")])
    explained = explanation_of(service, "first")["pod"]
    assert (explained["verdict"]["result"], explained["verdict"]["text"]) == ("notJudged", "It is being deleted.")
    assert (explained["summary"], explained["remedies"], explained["terminating"]) == ("ml/first: is being deleted", [], True)
    assert explanation_of(service, "last")["pod"]["verdict"]["text"] == "It fits on a, and waits for kube-scheduler."


def test_nominated_pods(start_over):
    """kube-scheduler tries the nominated node first, then every node: nobody comes before the pod."""
    nominated = {"nominatedNodeName": "full"}
    chosen = pod("chosen", 8, spec={"priority": 5}, status=nominated)
    full, runs = node("full", 8), pod("runs", 3, "full")
    service = start_over(full, node("free", 8), runs, chosen, pod("other", 1))
    pods = pods_of(service)
    assert (pods["chosen"]["placedOn"], pods["chosen"]["verdict"]["text"]) == ("free", "It fits on free, and waits for kube-scheduler.")
    verdict = pods_of(start_over(full, runs, chosen, pod("other", 1)))["chosen"]["verdict"]
    assert (verdict["result"], verdict["cause"], verdict["node"]) == ("waits", "freeGpus", "full")
    assert verdict["text"] == "kube-scheduler makes room for it on full. No node has 8 GPUs free; full lacks 3."


@pytest.mark.parametrize("names, sentence", [(["g"], "gate g is"), (["a/b", "c"], "gates a/b, c are")])
def test_gates_are_named(start_over, names, sentence):
    service = start_over(node("a", 8), pod("gated", 1, spec={"schedulingGates": [{"name": name} for name in names]}))
    verdict = pods_of(service)["gated"]["verdict"]
    assert (verdict["result"], verdict["cause"], verdict["text"]) == ("waits", "gate", f"It waits until its scheduling {sentence} removed.")
    assert explanation_of(service, "gated")["pod"]["verdict"] == verdict


@pytest.mark.parametrize("name", ["three", "five", "huge", "t4", "h100", "broken", "chosen", "amd"])
def test_verdicts_equal_those_of_a_dry_run(service, name):
    """The same pod as a manifest: the same verdicts, scores and lacks."""
    asked = {
        "broken": annotated("broken", 1, models="!"),
        "t4": annotated("t4", 1, models="T4"),
        "h100": annotated("h100", 1, models="H100"),
        "amd": pod("amd", 1, resource="amd.com/gpu"),
    }.get(name) or pod(name, {"three": 3, "five": 5, "huge": 16, "chosen": 8}[name])
    dry_run = service.post("/v1/dry-run", asked).json()["workloads"][0]["nodes"]

    def without_hint(nodes):
        return [{**item, "message": item["message"].partition("; only that is missing")[0]} for item in nodes]

    assert explanation_of(service, name)["nodes"] == without_hint(dry_run)


# ---- explain ----


def test_a_bound_pod_is_explained(service):
    answer = explanation_of(service, "runs")
    assert (answer["pod"]["state"], answer["pod"]["node"], answer["pod"]["requests"]) == ("bound", "a", {GPU: 6})
    assert (answer["nodes"], answer["pod"]["judged"], answer["pod"]["reservation"]) == ([], False, None)


def test_ended_pods_are_explained(service):
    for name in ("ended", "failed"):
        assert explanation_of(service, name)["pod"]["state"] == "finished"


def test_a_pod_without_gpus(service):
    answer = explanation_of(service, "plain")
    assert (answer["pod"]["state"], answer["pod"]["fits"], len(answer["nodes"])) == ("pending", 3, 5)


def test_explanation_matches_the_pending_list(service):
    for name, item in pods_of(service).items():
        pod = {"placedOn": None, **explanation_of(service, name)["pod"], "ageSeconds": None}
        assert pod == {"placedOn": None, **item}


@pytest.mark.parametrize("path", ["ml/nobody", "other/runs", "ML/runs", "ml/RUNS", "ml/%00", "ml/%ff%fe", "m%0al/a", "%20/%20", "a" * 9000 + "/b"])
def test_an_absent_pod_is_not_found(service, path):
    answer = service.get(f"/v1/pods/{path}/explain")
    assert answer.status == 404 and "is not in the inventory, should be NAMESPACE/NAME" in answer.json()["error"]
    assert len(answer.body) < 3000, "a long name is not told in full"


@pytest.mark.parametrize(
    "path",
    ["", "ml", "ml/runs", "ml/runs/", "ml/runs/explain/", "ml/runs/Explain", "/runs/explain", "ml//explain", "ml/a/b/explain"]
    + ["ml/runs%2fexplain/explain", "../v1/pods/ml/runs/explain", "a/" * 4000],
)
def test_a_malformed_path_is_rejected(service, path):
    answer = service.get(f"/v1/pods/{path}")
    assert answer.status == 404 and "should be /v1/pods/NAMESPACE/NAME/explain" in answer.json()["error"], answer


def test_names_are_decoded(service):
    """Before validation: an encoded slash is a slash, and no name has one."""
    for path in ("m%6c/run%73", "ml%2fruns"):
        assert service.get(f"/v1/pods/{path}/explain").json()["pod"]["name"] == "runs"


def test_other_methods(service):
    for path in ("/v1/pending", "/v1/pods/ml/runs/explain"):
        answer = service.post(path, {})
        assert answer.status == 405 and answer.headers["allow"] == "GET, HEAD"


def test_raw_bytes_in_the_path(service):
    with Raw(service.address) as connection:
        connection.send(request("GET", "/v1/pods/\xff\xfe/\x80/explain", b""))
        status, _, body = connection.answer()
        assert status in (400, 404) and (status == 400 or json.loads(body))


# ---- tables ----


def test_the_table_of_pending_pods(service):
    text = service.get("/v1/pending?output=table&wide=true").text
    assert text.splitlines()[0] == "9 pods of 9 workloads wait for 37 GPUs" and text.count("  Pod ml/") == 9
    (three,) = [block for block in text.split("FITS  Pod ml/") if block.startswith("three")]
    assert three.splitlines()[2:6] == [
        "",
        "  asks for        3 nvidia.com/gpu",
        "  fits on         b",
        "  kube-scheduler says: 0/5 nodes are available: 5 Insufficient nvidia.com/gpu.",
    ]


def test_remedies_of_a_workload(service):
    """Its pods without a place get the same; a pod that fits gets none."""
    answer = pending_of(service)
    owners, pods = ({item["name"]: item for item in answer[key]} for key in ("owners", "pods"))
    (remedy, *_) = owners["huge"]["remedies"]
    assert (remedy["kind"], remedy["nodes"]) == ("askLess", ["b"]) and owners["huge"]["remediesTried"] == "all"
    assert pods["huge"]["remedies"] == owners["huge"]["remedies"] and pods["three"]["remedies"] == owners["three"]["remedies"] == []
    assert remedy["text"] in service.get("/v1/pending?output=table&width=400").text


def test_who_holds_the_gpus_that_a_pod_lacks(start_over):
    """On the nearest node, most first; not a pod of another resource."""
    holders = [pod(name, n, "a") for name, n in (("one", 1), ("three", 3), ("two", 2), ("none", None))]
    service = start_over(node("a", 8), node("b", 8), pod("all", 8, "b"), *holders, pod("late", 4))
    answer = explanation_of(service, "late")
    assert answer["heldBy"] == [{"namespace": "ml", "name": name, "gpus": n} for name, n in (("three", 3), ("two", 2), ("one", 1))]
    assert "\n  GPUs held by    ml/three 3, ml/two 2, ml/one 1, on a\n" in service.get("/v1/pods/ml/late/explain?output=table").text
    assert explanation_of(service, "all")["heldBy"] == []


def test_pods_are_placed_in_turn(start_over):
    """Each of the three fits by itself; kube-scheduler takes the most important first, then the oldest."""
    waiting = [pod(f"p-{i}", 4, spec={"priority": 5 * (i == 2)}, metadata={"creationTimestamp": f"2026-01-01T00:00:0{9 - i}Z"}) for i in range(3)]
    service = start_over(node("a", 8), *waiting)
    pods = pods_of(service)
    assert [(name, pods[name]["placedOn"], pods[name]["fits"], pods[name]["verdict"]["result"]) for name in ("p-2", "p-1", "p-0")] == [
        ("p-2", "a", 1, "fits"), ("p-1", "a", 1, "fits"), ("p-0", None, 1, "waits"),
    ]
    verdict = pods["p-0"]["verdict"]
    assert (verdict["cause"], verdict["node"], verdict["missing"]) == ("freeGpus", "a", {"pods": 1, "gpus": 4}) and "ml/p-2" in verdict["text"]


def test_what_helps_a_pod_that_waits_its_turn(start_over):
    """Tried with the pods that come first in their places: the two GPUs of v are left, and h100's eight are not."""
    waiting = [pod("first", 8, spec={"priority": 5}), pod("last", 6)]
    service = start_over(node("h100", 8), node("v", 4), pod("runs", 2, "v"), *waiting)
    answer = pending_of(service)
    (owner,) = (owner for owner in answer["owners"] if owner["name"] == "last")
    texts = ["ask for 2 GPUs", "wait for ml/first, which comes first on h100", "administrator: 1 more node like h100"]
    assert [("administrator: " if remedy["kind"] == "administrator" else "") + remedy["text"] for remedy in owner["remedies"]] == texts
    assert (owner["verdict"]["result"], owner["remediesTried"]) == ("waits", "all")
    for remedy in owner["remedies"][1:]:
        what_if = service.post("/v1/what-if", {"changes": [remedy["change"]]}).json()
        assert [row["name"] for row in what_if["pending"]["nowRun"]] == ["last"], remedy
    pods = {item["name"]: item for item in answer["pods"]}
    assert pods["last"]["remedies"] == explanation_of(service, "last")["pod"]["remedies"] == owner["remedies"] and pods["first"]["remedies"] == []
    assert "which kube-scheduler takes first. Helps: ask for 2 GPUs (v)." in service.get("/v1/pending?output=table&width=400").text
    lines = service.get("/v1/pods/ml/last/explain?output=table").text.splitlines()
    assert lines[:2] == ["WAITS  Pod ml/last", "       The room on h100 goes to ml/first, which kube-scheduler takes first."]
    assert "  alone on        h100" in lines


def test_what_helps_a_pod_that_fits_nowhere_is_tried_in_turn(start_over):
    """`first` takes half of the node before it, whether a change lets the other pod fit alone or not."""
    service = start_over(node("a", 8), pod("runs", 2, "a"), pod("first", 4, spec={"priority": 5}), pod("huge", 16), pod("large", 8))
    answer = pending_of(service)
    helps = {owner["name"]: [remedy["text"] for remedy in owner["remedies"]] for owner in answer["owners"]}
    assert helps == {"first": [], "huge": ["ask for 2 GPUs"], "large": ["ask for 2 GPUs", "1 more node like a"]}
    for name in ("huge", "large"):
        assert [remedy["text"] for remedy in explanation_of(service, name)["pod"]["remedies"]] == helps[name]


def test_remedies_of_a_turn_are_enough_for_the_whole_workload(start_over):
    """Four of its six pods lack a place. The two that have one would ask for less, too."""
    job = {"ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "uid-train", "controller": True}]}
    pods = [pod(f"p-{i}", 4, metadata=job) for i in range(6)]
    service = start_over(node("a", 8), node("b", 8), pod("first", 8, spec={"priority": 5}), *pods)
    (owner,) = (owner for owner in pending_of(service)["owners"] if owner["name"] == "train")
    assert (owner["fits"], owner["verdict"]["missing"]["pods"]) == (2, 4)
    assert [(remedy["text"], remedy["fits"]) for remedy in owner["remedies"]] == [("ask for 1 GPU a pod", 6), ("2 more nodes like a", 6)]


def test_alike_pods_of_several_workloads_in_turn(start_over):
    """What would help one workload is not tried with the pods of another: bare pods are helped one by one."""
    made_by = lambda name: {"ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": name, "controller": True}]}
    at = lambda i: {"creationTimestamp": f"2026-01-01T00:00:0{i}Z"}
    bare = [pod(f"p-{i}", 4, metadata=at(i)) for i in range(4)]
    answer = pending_of(start_over(node("a", 8), node("b", 1), *bare))
    helps = {owner["name"]: [(remedy["text"], remedy["fits"]) for remedy in owner["remedies"]] for owner in answer["owners"]}
    alone = [("ask for 1 GPU", 1), ("wait for ml/p-1, which comes first on a", 1), ("1 more node like a", 1)]
    assert helps == {"p-0": [], "p-1": [], "p-2": alone, "p-3": alone[:1]}, "p-2 would take the room that is made"
    jobs = [pod(f"p-{i}", 4, metadata={**made_by("one" if i < 3 else "two"), **at(i)}) for i in range(5)]
    answer = pending_of(start_over(node("a", 8), node("b", 2), *jobs))
    helps = {owner["name"]: [(remedy["text"], remedy["fits"]) for remedy in owner["remedies"]] for owner in answer["owners"]}
    assert helps["one"] == [] and helps["two"] == [("ask for 1 GPU a pod", 2)]


def test_pods_of_other_namespaces_have_their_turn(start_over):
    """A filter of the answer does not change what goes where."""
    first = pod("first", 8, spec={"priority": 5}, metadata={"namespace": "other"})
    answer = start_over(node("a", 8), first, pod("last", 8)).get("/v1/pending?namespace=ml").json()
    assert [(item["name"], item["placedOn"]) for item in answer["pods"]] == [("last", None)]


QUOTA = """apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
quotas: [{name: small, namespaces: [ml], limits: [{total: 4}]}]
"""


@pytest.mark.parametrize("filters", ["", "?namespace=ml"])
def test_a_quota_that_pods_before_it_use_up(start_over, write, filters):
    """The pod fits by itself, and room is left: the cause is the quota, with the amounts."""
    waiting = [pod(f"p-{i}", 3, spec={"priority": 5 - i}) for i in range(2)]
    service = start_over(node("a", 8), *waiting, options=["--config", write("quota.yaml", QUOTA)])
    pods = {item["name"]: item for item in service.get("/v1/pending" + filters).json()["pods"]}
    verdict = pods["p-1"]["verdict"]
    assert (pods["p-1"]["fits"], pods["p-1"]["placedOn"], verdict["result"], verdict["cause"]) == (1, None, "waits", "quota")
    assert verdict["text"] == "After ml/p-0, quota small leaves 1 GPU in all; it asks for 3."
    assert explanation_of(service, "p-1")["pod"]["verdict"] == verdict


def test_a_raised_quota_is_for_the_pods_that_come_first_too(start_over, write):
    """They take what is raised: so much that their turn leaves enough, or nothing is said. A pod of another model waits for another quota, too."""
    waiting = [pod(f"p-{i}", 2, spec={"priority": 9 - i}) for i in range(3)]
    service = start_over(node("a", 8), pod("runs", 3, "a"), pod("large", 9, spec={"priority": 99}), *waiting, options=["--config", write("quota.yaml", QUOTA)])
    pods = pods_of(service)
    for name, limit in ("p-0", 5), ("p-1", 7), ("p-2", None):
        remedies = explanation_of(service, name)["pod"]["remedies"]
        raised = [remedy for remedy in remedies if remedy["kind"] == "administrator"]
        assert [remedy["text"] for remedy in raised] == ([f"raise small to {limit} GPUs in all"] if limit else []), name
        assert pods[name]["remedies"] == remedies
        for remedy in raised:
            what_if = service.post("/v1/what-if", {"changes": [remedy["change"]]}).json()
            assert name in [row["name"] for row in what_if["pending"]["nowRun"]]


def test_a_taint_that_was_there_before_is_not_what_others_took(start_over):
    """Of the nodes only those count that the pods before it filled: the other is as it was."""
    large = {"containers": [{"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "3", "cpu": "3"}}}]}
    tainted = node("t", 8, spec={"taints": [{"key": "team", "value": "x", "effect": "NoSchedule"}]})
    waiting = [pod(f"p-{i}", 3, spec={**large, "priority": 5 - i}) for i in range(2)]
    pods = pods_of(start_over(node("a", 4, status={"allocatable": {"nvidia.com/gpu": "4", "cpu": "4", "pods": "9"}}), tainted, *waiting))
    verdict = pods["p-1"]["verdict"]
    assert (verdict["cause"], verdict["node"]) == ("freeGpus", "a") and "goes to ml/p-0" in verdict["text"]


def test_a_quota_and_room_that_lack_together(start_over, write):
    """No node would fit but for one thing: the sentence names both."""
    waiting = [pod("p", 8), pod("runs", 3, spec={"nodeName": "a"})]
    service = start_over(node("a", 8), *waiting, options=["--config", write("quota.yaml", QUOTA)])
    verdict = pods_of(service)["p"]["verdict"]
    assert verdict["text"] == "Quota small leaves 1 GPU in all; it asks for 8. a lacks 3 GPUs, too."
    assert (verdict["cause"], verdict["lacks"]) == ("quota", {"nvidia.com/gpu": 3})


def test_a_workload_has_one_verdict(start_over):
    """Of its first pod without a place; gated pods have no turn."""
    job = {"ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "uid-train", "controller": True}]}
    pods = [pod(f"p-{i}", 3, metadata={**job, "creationTimestamp": "2026-01-01T00:00:00Z"}) for i in range(3)]
    service = start_over(node("a", 8), *pods, pod("gated", 1, spec={"schedulingGates": [{"name": "g"}]}))
    answer = pending_of(service)
    owners = {owner["name"]: owner for owner in answer["owners"]}
    train = owners["train"]
    assert answer["gpuCount"] == 10 and (train["pods"], train["fits"], train["gpus"]) == (3, 2, 9) and train["waitsSeconds"] > 0
    assert (train["verdict"]["result"], train["verdict"]["missing"]) == ("partlyFits", {"pods": 1, "gpus": 3})
    assert (owners["gated"]["fits"], owners["gated"]["verdict"]["cause"]) == (0, "gate")
    assert "placedOn" not in {item["name"]: item for item in answer["pods"]}["gated"]
    (row, note) = service.get("/v1/pending?output=table").text.splitlines()[4:6]
    assert row.split() == ["ml/train", "Job", "3", "3", GPU, row.split()[-1]] and note.startswith("  2 of 3 pods fit. ")


def test_the_table_of_one_pod(service):
    lines = service.get("/v1/pods/ml/five/explain?output=table").text.splitlines()
    assert lines[0] == "DOES NOT FIT  Pod ml/five"
    assert any(line.split()[:2] == ["NODES", "WHY"] for line in lines)


def test_totals_and_current_lacks_are_distinguished(service):
    """The pod requests 16: b has 4 in total, all free; a has 8, of which 2 are free."""
    lines = service.get("/v1/pods/ml/huge/explain?output=table&wide=true&width=400").text.splitlines()
    assert f"  closest         b lacks 12 GPUs now: the node has too few GPUs in total: 4 {GPU}" in lines


@pytest.mark.parametrize("cpu, shown", [("64", "64 CPU"), ("1500m", "1.5 CPU"), ("100m", "100m CPU")])
def test_whole_cpus_are_shown_without_fraction(start_over, cpu, shown):
    asking = pod("asking", 1)
    asking["spec"]["containers"][0]["resources"]["requests"] = {GPU: "1", "cpu": cpu}
    service = start_over(node("a", 8), asking)
    assert f"asks for        1 {GPU}, {shown}\n" in service.get("/v1/pending?output=table&wide=true").text


# ---- limits ----


@pytest.mark.long
def test_pods_beyond_the_listed_ones_are_counted(start_over):
    """The last ones by priority are left out, and counted."""
    more = 7
    important = [pod(f"i-{i}", 1, spec={"priority": 5}) for i in range(more)]
    service = start_over(node("a", 1), pod("x", 1, "a"), *(pod(f"p-{i}", 1) for i in range(MOST_LISTED)), *important)
    answer = service.get("/v1/pending").json()
    assert (answer["podCount"], answer["omitted"], len(answer["pods"])) == (MOST_LISTED + more, more, MOST_LISTED)
    assert {item["name"] for item in answer["pods"][:more]} == {item["metadata"]["name"] for item in important}
    assert answer["notJudged"] == 0, "they are all alike"
    assert f"The last {more} are not shown." in service.get("/v1/pending?output=table").text.splitlines()


def test_shapes_beyond_the_judged_ones_are_reported(start_over):
    """Further shapes are listed with kube-scheduler's message; requested alone, each is judged."""
    n_nodes = 2000
    n_kinds = 1 + MOST_VERDICTS // (1 + n_nodes)
    waiting = [
        pod(f"p-{i}", 1, spec={"nodeSelector": {"kind": str(i)}, "priority": -i}, status=says("no")) for i in range(n_kinds + 3)
    ]
    service = start_over(*(node(f"n-{i}", 1) for i in range(n_nodes)), *waiting)
    answer = service.get("/v1/pending").json()
    assert [item["judged"] for item in answer["pods"]] == [True] * n_kinds + [False] * 3
    assert answer["notJudged"] == 3 and answer["pods"][-1]["schedulerSays"]["message"] == "no"
    name = answer["pods"][-1]["name"]
    assert counts(explanation_of(service, name)["pod"]) == {"node_selector": n_nodes}

def claiming(name, namespace):
    spec = {"resourceClaims": [{"name": "gpu", "resourceClaimName": name}]}
    return pod(name, None, metadata={"namespace": namespace}, spec=spec)


def test_namespaces_share_the_claims_of_an_answer(start_over):
    """One with more claims than an answer looks up takes none from another one. What is not looked up counts as not judged."""
    many = [claiming(f"p-{number}", "ml") for number in range(MOST_CLAIMS + 1)]
    found = pending_of(start_over(node("a", 8), *many, claiming("other", "web")))
    unjudged = [item for item in found["pods"] if not item["judged"]]
    assert found["notJudged"] == len(unjudged) == 2
    for item in unjudged:
        assert item["namespace"] == "ml" and item["summary"].endswith("too many different pods are pending: explain judges it")
