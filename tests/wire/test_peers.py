"""Affinity between pods and topology spread in explain, pending and the dry run, over cluster files."""

import pytest
from objects import list_text, node, pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
WEB = {"matchLabels": {"app": "web"}}
SPREAD = {"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": WEB}
APART = {"affinity": {"podAntiAffinity": {REQUIRED: [{"topologyKey": "zone", "labelSelector": WEB}]}}}


def zoned(name, zone):
    return node(name, metadata={"labels": {"zone": zone}})


def labelled(name, app="web", on=None, **spec):
    return pod(name, 1, on, metadata={"labels": {"app": app}}, spec=spec)


def nominated(name, to, priority, app="web", **spec):
    return pod(name, 1, metadata={"labels": {"app": app}}, spec={"priority": priority, **spec}, status={"nominatedNodeName": to})


@pytest.fixture(scope="module")
def service(module_service):
    return module_service(
        zoned("a1", "a"),
        zoned("a2", "a"),
        zoned("b1", "b"),
        zoned("c1", "c"),
        labelled("lonely", on="a1", **APART),
        labelled("web-0", on="b1"),
        labelled("repelled"),
        labelled("apart", app="other", **APART),
        labelled("spreads", topologySpreadConstraints=[SPREAD]),
    )


REASONS = {
    "repelled": {"a1": "pod_repelled", "a2": "pod_repelled"},
    "apart": {"a1": "pod_anti_affinity", "a2": "pod_anti_affinity", "b1": "pod_anti_affinity"},
    # It fits c1 alone: one more pod in b would make a skew of two, and a1's pod repels it from a.
    "spreads": {"a1": "topology_spread", "a2": "topology_spread", "b1": "topology_spread"},
}


def refused(nodes):
    return {item["node"]: item["reason"] for item in nodes if not item["fits"]}


@pytest.mark.parametrize("name", REASONS)
def test_explain_and_pending_give_the_reason_of_other_pods(service, name):
    explained = service.get(f"/v1/pods/ml/{name}/explain").json()
    assert refused(explained["nodes"]) == REASONS[name]
    pods = {item["name"]: item for item in service.get("/v1/pending").json()["pods"]}
    counted = {reason["reason"]: reason["nodes"] for reason in pods[name]["reasons"]}
    assert counted == {reason: list(REASONS[name].values()).count(reason) for reason in REASONS[name].values()}
    assert pods[name]["notEvaluated"] == explained["pod"]["notEvaluated"] == []


def test_a_nominated_pod_counts_for_pods_of_its_priority(module_service):
    service = module_service(zoned("a1", "a"), zoned("b1", "b"), nominated("first", "a1", 10, **APART), labelled("low", priority=10), labelled("high", priority=11))
    assert refused(service.get("/v1/pods/ml/low/explain").json()["nodes"]) == {"a1": "pod_repelled"}
    assert refused(service.get("/v1/pods/ml/high/explain").json()["nodes"]) == {}
    assert refused(service.get("/v1/pods/ml/first/explain").json()["nodes"]) == {}
    (workload,) = service.post("/v1/dry-run", labelled("new")).json()["workloads"]
    assert [item["node"] for item in workload["placements"]] == ["b1"]


def test_an_empty_selector_of_spread_is_said_to_depend_on_the_release(module_service):
    """Up to kube-scheduler 1.37 it counts no pod, so that two of three replicas share a zone (PROTOCOL 4.4)."""
    empty = {**SPREAD, "labelSelector": {}}
    service = module_service(zoned("a1", "a"), zoned("b1", "b"), labelled("web-0", on="a1"), labelled("spreads", topologySpreadConstraints=[empty]))
    explained = service.get("/v1/pods/ml/spreads/explain").json()
    assert refused(explained["nodes"]) == {}
    (said,) = explained["pod"]["notEvaluated"]
    assert said.startswith("topology spread: an empty labelSelector counts no pod here") and "1.38" in said
    (workload,) = service.post("/v1/dry-run", labelled("new", topologySpreadConstraints=[empty])).json()["workloads"]
    assert said in workload["notEvaluated"]


# ---- labels that controllers add ----


def workload_of(kind, api_version, keys, **spec):
    template = {"metadata": {"labels": {"app": "web"}}, "spec": labelled("x")["spec"]}
    template["spec"]["topologySpreadConstraints"] = [{**SPREAD, "matchLabelKeys": keys}]
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "web", "namespace": "ml"}, "spec": {"replicas": 2, "template": template, **spec}}


@pytest.fixture(scope="module")
def rolling(module_service):
    """Zone a has all pods of the running revision."""
    old = {"labels": {"app": "web", "pod-template-hash": "7d4b9c", "job-name": "old"}}
    running = [pod(f"web-{number}", 1, "a1", metadata=old) for number in range(3)]
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml"}}
    return module_service(namespace, zoned("a1", "a"), zoned("b1", "b"), *running)


def placed(service, manifest):
    (workload,) = service.post("/v1/dry-run", manifest).json()["workloads"]
    notes = [note for note in workload["notEvaluated"] if "no request for" not in note]
    return sorted(item["node"] for item in workload["placements"]), notes


BOTH_ZONES, EMPTIER_ZONE = ["a1", "b1"], ["b1", "b1"]


@pytest.mark.parametrize(
    ("kind", "api_version", "keys", "nodes", "named"),
    (
        ("Deployment", "apps/v1", [], EMPTIER_ZONE, []),
        ("Deployment", "apps/v1", ["pod-template-hash"], BOTH_ZONES, ["a new revision"]),
        ("StatefulSet", "apps/v1", ["controller-revision-hash"], BOTH_ZONES, ["a new revision"]),
        ("StatefulSet", "apps/v1", ["apps.kubernetes.io/pod-index"], EMPTIER_ZONE, ["its own value"]),
        ("ReplicaSet", "apps/v1", ["pod-template-hash"], EMPTIER_ZONE, []),
        ("Group", "example.com/v1", ["example.com/revision"], EMPTIER_ZONE, ["no such label"]),
        ("Group", "example.com/v1", ["app"], EMPTIER_ZONE, []),
    ),
)
def test_labels_that_a_controller_adds_are_matched_or_named(rolling, kind, api_version, keys, nodes, named):
    seen, notes = placed(rolling, workload_of(kind, api_version, keys))
    assert seen == nodes
    assert len(notes) == len(named) and all(part in note for part, note in zip(named, notes, strict=True))


def test_the_name_of_a_job_is_known(rolling):
    job = workload_of("Job", "batch/v1", ["job-name"])
    job["spec"] = {"parallelism": 2, "completions": 2, "template": job["spec"]["template"]}
    assert placed(rolling, job) == (BOTH_ZONES, [])
    job["metadata"]["name"] = "old"
    assert placed(rolling, job) == (EMPTIER_ZONE, [])


# ---- bounds ----


def test_more_replicas_than_are_counted_are_named(module_service):
    amounts = {"pods": "90000", "cpu": "64"}
    large = [node(zone, None, metadata={"labels": {"zone": zone}}, status={"allocatable": amounts}) for zone in "ab"]
    service = module_service(*large)
    spreading = pod("x", None, metadata={"labels": {"app": "web"}}, spec={"topologySpreadConstraints": [SPREAD]})
    (workload,) = service.post("/v1/dry-run", spreading).json()["workloads"]
    assert workload["moreReplicas"] == 100000
    assert "at least 100000 more would fit" in workload["summary"]
    assert [note for note in workload["notEvaluated"] if note.startswith("moreReplicas")]


def test_pods_whose_labels_are_not_kept_are_named(module_service):
    labels = {f"label-{number}": "x" * 60 for number in range(2000)}
    service = module_service(zoned("a1", "a"), pod("large", 1, "a1", metadata={"labels": labels}), labelled("asks", **APART))
    for item in (service.get("/v1/pods/ml/asks/explain").json()["pod"], service.get("/v1/pending").json()["pods"][0]):
        (note,) = item["notEvaluated"]
        assert "not judged against 1 pods" in note


QUOTA = """
apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
limits: {dryRunReplicas: 2}
quotas: [{name: team, namespaces: [ml], limits: [{total: 10}]}]
"""


@pytest.mark.parametrize(("replicas", "placed", "more"), [(1, 1, 9), (4, 4, 6), (40, 10, 0)])
def test_replicas_that_spread_keep_to_a_quota(start_service, write, replicas, placed, more):
    """This holds beyond limits.dryRunReplicas, too, and each node gets its share of the quota."""
    cluster = write("cluster.json", list_text(*(zoned(f"n-{i}", f"z-{i}") for i in range(12))))
    service = start_service("--cluster-file", cluster, "--config", write("policy.yaml", QUOTA))
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {**pod(gpus=1)["spec"], "topologySpreadConstraints": [SPREAD]}}
    spec = {"replicas": replicas, "selector": WEB, "template": template}
    web = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "ml"}, "spec": spec}
    (answer,) = service.post("/v1/dry-run", web).json()["workloads"]
    assert (answer["placed"], answer["moreReplicas"]) == (placed, more)


def test_a_pod_with_more_terms_than_are_judged_is_named(service):
    """No verdict costs more than so many terms."""
    (term,) = APART["affinity"]["podAntiAffinity"][REQUIRED]
    for n, is_named in ((32, False), (33, True)):
        many = labelled("many", affinity={"podAntiAffinity": {REQUIRED: [term] * n}})
        for made in (many, {**many, "metadata": {**many["metadata"], "uid": None}}):
            (answer,) = service.post("/v1/dry-run", made).json()["workloads"]
            said = [line for line in answer["notEvaluated"] if line.startswith("affinity between pods")]
            assert len(said) == is_named, answer["notEvaluated"]
