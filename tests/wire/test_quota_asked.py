"""Quotas judge the resource claims that a pod names: users get the same verdict as kube-scheduler (docs/QUOTA.md)."""

import json

import pytest
from objects import filter_args, merged, node, pod
from test_bind_waits_for_claims import CLASS
from test_devices import DRIVER, H100, claim, resource_slice

POLICY = """
apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
quotas:
- name: team
  namespaces: [ml]
  limits: [{total: 4, models: {H100: 3}}]
"""


def asking(name, n_devices):
    """A claim without an allocation."""
    exactly = {"deviceClassName": DRIVER, "count": n_devices}
    return merged(claim(name), {"spec": {"devices": {"requests": [{"name": "gpus", "exactly": exactly}]}}})


def naming(name, *claims, gpus=None):
    """A pending pod that names these claims."""
    entries = [{"name": each, "resourceClaimName": each} for each in claims]
    return merged(pod(name, gpus), {"spec": {"resourceClaims": entries}})


def template(name, n_devices):
    spec = asking(name, n_devices)["spec"]
    metadata = {"namespace": "ml", "name": name}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": metadata, "spec": {"spec": spec}}


def by_template(name, *templates, made=()):
    """A pending pod whose claims come from templates; made: {its entry: the claim that the controller made}."""
    entries = [{"name": f"entry-{number}", "resourceClaimTemplateName": each} for number, each in enumerate(templates)]
    statuses = [{"name": entry, "resourceClaimName": claimed} for entry, claimed in dict(made).items()]
    return merged(pod(name, None), {"spec": {"resourceClaims": entries}, "status": {"resourceClaimStatuses": statuses}})


PODS = [
    (by_template("by-template", "of-1"), True),
    (by_template("by-templates", "of-1", "of-1", "of-1"), False),
    (by_template("by-large-template", "of-3"), False),
    (by_template("made", "of-5", made={"entry-0": "for-made"}), True),
    (by_template("by-no-template", "gone"), True),
    (naming("one", "c1"), True),
    (naming("four", "c4"), False),  # more than the limit of the node's model
    (naming("with-gpu", "c1", gpus=1), True),
    (naming("with-gpus", "c3", gpus=2), False),
    (naming("allocated", "held"), True),
    (naming("allocated-and-more", "held", "c3"), False),
]

# What users hear beside quotas: of the devices that claims get.
BY_CLAIMS = {"by-no-template": "claim_missing", "with-gpu": "claim_total"}


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    path = tmp_path_factory.mktemp("policy") / "policy.yaml"
    path.write_text(POLICY, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def service(module_service, policy):
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "made", "uid": "pod-made", "controller": True}
    made = merged(asking("for-made", 1), {"metadata": {"ownerReferences": [owner]}})
    claims = [asking("c1", 1), asking("c3", 3), asking("c4", 4), made, claim("held", "devices", [0, 1])]
    templates = [template(f"of-{count}", count) for count in (1, 3, 5)]
    nodes = [node("devices", None, None), node("plugin", 8), resource_slice("devices", 8, model=H100)]
    return module_service(*nodes, CLASS, *claims, *templates, *(each for each, _ in PODS), options=["--config", policy])


@pytest.mark.parametrize("asks, fits", PODS, ids=lambda value: value["metadata"]["name"] if isinstance(value, dict) else "")
def test_all_answers_agree(service, asks, fits):
    name, gpus = asks["metadata"]["name"], "with" in asks["metadata"]["name"]
    where = "plugin" if gpus else "devices"
    filtered = service.post("/scheduler/filter", filter_args(asks, [where])).json()
    assert bool(filtered["NodeNames"]) == fits, filtered
    explained = service.get(f"/v1/pods/ml/{name}/explain").json()
    tried = service.post("/v1/dry-run", json.dumps(asks)).json()["workloads"][0]
    for nodes in (explained["nodes"], tried["nodes"]):
        (verdict,) = [each for each in nodes if each["node"] == where]
        assert verdict["reason"] == (BY_CLAIMS.get(name, "fits") if fits else "quota"), verdict
        assert fits or filtered["FailedAndUnresolvableNodes"][where] == f"gpu-extender: {verdict['message']}"
    if gpus:
        (waits,) = [each for each in service.get("/v1/pending").json()["pods"] if each["name"] == name]
        assert ("quota" in {each["reason"] for each in waits["reasons"]}) != fits, waits


def test_a_claim_that_no_watch_has_shown_counts_as_its_template(service):
    """kube-scheduler may call filter as soon as it sees the claim that was made, before we do: no quota is escaped meanwhile."""
    for count, fits in ((1, True), (5, False)):
        asks = by_template("unseen", f"of-{count}", made={"entry-0": "for-unseen"})
        answer = service.post("/scheduler/filter", filter_args(asks, ["devices"])).json()
        assert bool(answer["NodeNames"]) == fits, answer


# ---- claims and templates in the manifest itself ----


def tried(service, *objects):
    """{workload: (placed, what the total of the quota would be)} of a dry run of all. 2 of 3 H100 are in use."""
    bundle = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
    answer = service.post("/v1/dry-run", bundle).json()
    totals = {each["name"]: [row["wouldUse"] for row in each["quotas"] if not row["model"]] for each in answer["workloads"]}
    return {each["name"]: (each["placed"], *totals[each["name"]]) for each in answer["workloads"]}


def deployment(name, replicas, made):
    """A Deployment of pods like the given one."""
    spec = {"replicas": replicas, "selector": {}, "template": {"metadata": {}, "spec": made["spec"]}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "ml"}, "spec": spec}


def test_templates_of_a_manifest_count(service):
    asks = by_template("asks", "new")
    assert tried(service, template("new", 3), asks) == {"asks": (0, 2)}
    assert tried(service, template("new", 1), asks) == {"asks": (1, 3)}
    assert tried(service, by_template("asks", "of-3")) == {"asks": (0, 2)}
    assert tried(service, by_template("asks", "of-3"), template("of-3", 1)) == {"asks": (1, 3)}, "it hides that of the cluster"
    assert tried(service, merged(template("new", 3), {"metadata": {"namespace": "other"}}), asks) == {"asks": (0,)}


def test_claims_of_a_manifest_count(service):
    assert tried(service, asking("new", 3), naming("asks", "new")) == {"asks": (0, 2)}
    assert tried(service, asking("new", 1), naming("asks", "new")) == {"asks": (1, 3)}
    assert tried(service, asking("c4", 1), naming("asks", "c4")) == {"asks": (0, 2)}, "the cluster has another of this name"


def test_each_replica_gets_claims_of_its_templates_and_all_share_named_ones(service):
    assert tried(service, template("new", 1), deployment("own", 3, by_template("p", "new"))) == {"own": (1, 3)}
    assert tried(service, asking("new", 1), deployment("sharing", 3, naming("p", "new"))) == {"sharing": (3, 3)}


def test_workloads_of_a_manifest_share_what_is_left(service):
    pair = by_template("one", "new"), by_template("two", "new")
    assert tried(service, template("new", 1), *pair) == {"one": (1, 3), "two": (0, 3)}
    assert tried(service, asking("new", 1), naming("one", "new"), naming("two", "new")) == {"one": (1, 3), "two": (1,)}
    assert tried(service, asking("a", 1), asking("b", 1), naming("one", "a"), naming("two", "b")) == {"one": (1, 3), "two": (0, 3)}


def test_the_number_of_claims_in_a_manifest_is_bounded(service):
    many = [template(f"t{number}", 1) for number in range(501)]
    answer = service.post("/v1/dry-run", json.dumps({"kind": "List", "items": many})).json()
    assert [each["path"] for each in answer["warnings"] if "quotas" in each["message"]] == ["ResourceClaimTemplate ml/t500: spec"]


def test_an_unreadable_template_is_named(service):
    wrong = merged(template("new", 1), {"spec": {"spec": {"devices": {"requests": "one"}}}})
    answer = service.post("/v1/dry-run", json.dumps({"kind": "List", "items": [wrong, by_template("asks", "of-1")]})).json()
    assert [each["path"] for each in answer["warnings"] if "spec.spec." in each["message"]] == ["ResourceClaimTemplate ml/new: spec"]
    assert [each["name"] for each in answer["workloads"]] == ["asks"]


def fitting(service, name):
    return [each["node"] for each in service.get(f"/v1/pods/ml/{name}/explain").json()["nodes"] if each["fits"]]


def test_a_snapshot_gives_the_same_verdicts(service, start_service, write, policy):
    again = start_service("--cluster-file", write("snapshot.json", service.get("/v1/snapshot").text), "--config", policy)
    names = [each["metadata"]["name"] for each, _ in PODS]
    assert [fitting(again, name) for name in names] == [fitting(service, name) for name in names]


def notes(service, asks):
    """The notes about templates in `notEvaluated` of the dry run and of explain."""
    tried = service.post("/v1/dry-run", json.dumps(asks)).json()["workloads"][0]
    explained = service.get(f"/v1/pods/ml/{asks['metadata']['name']}/explain").json()["pod"]
    of_templates = [[note for note in answer["notEvaluated"] if "template" in note] for answer in (tried, explained)]
    assert of_templates[0] == of_templates[1]
    return of_templates[0]


def test_a_missing_template_is_named(service, start_service, write, policy):
    asks, found = by_template("by-no-template", "gone"), by_template("by-template", "of-1")
    assert notes(service, asks) == ["resource claim template gone: does not exist, so no quota counts it"]
    assert notes(service, found) == []
    again = start_service("--cluster-file", write("again.json", service.get("/v1/snapshot").text), "--config", policy)
    assert notes(again, asks) == notes(service, asks)


NOT_LISTED = ["resource claim template of-5: is not listed, so no quota counts it"]


def test_a_file_without_templates_lists_none(start_over, policy):
    asks = by_template("asks", "of-5")
    service = start_over(node("devices", None, None), resource_slice("devices", 8, model=H100), CLASS, asking("c1", 1), asks, options=("--config", policy))
    assert notes(service, asks) == NOT_LISTED


@pytest.mark.parametrize("code, reason, wanted", [(403, "Forbidden", NOT_LISTED), pytest.param(404, "NotFound", [NOT_LISTED[0].replace("is not listed", "does not exist")], marks=pytest.mark.long)])
def test_templates_that_cannot_be_listed_stop_nothing(api, follow, policy, code, reason, wanted):
    asks = by_template("asks", "of-5")
    api.store.put(node("devices", None, None), resource_slice("devices", 8, model=H100), CLASS, template("of-5", 5), asks)
    api.faults.fail("list resourceclaimtemplates", code, reason, times=None)
    service = follow("--config", policy)
    forbidden = "claim templates are unknown: resourceclaimtemplates: never listed: refused\n" if code == 403 else ""
    service.wait("it is ready", lambda: service.get("/readyz").text == f"ok\n{forbidden}")
    assert service.metric("gpu_extender_claims_counted") == 1
    judged = service.get("/v1/pods/ml/asks/explain").json()["nodes"]
    assert {each["reason"] for each in judged} == {"claim_not_judged" if code == 403 else "claim_missing"}
    assert notes(service, asks) == wanted
    api.faults.heal()
    service.wait("the template is known", lambda: service.get("/v1/pods/ml/asks/explain").json()["nodes"][0]["reason"] not in ("claim_not_judged", "claim_missing"))
    assert notes(service, asks) == [] and service.get("/readyz").text == "ok\n"
