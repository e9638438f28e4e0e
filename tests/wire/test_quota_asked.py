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
    (by_template("made", "of-5", made={"entry-0": "c1"}), True),
    (by_template("by-no-template", "gone"), True),
    (naming("one", "c1"), True),
    (naming("four", "c4"), False),  # more than the limit of the node's model
    (naming("with-gpu", "c1", gpus=1), True),
    (naming("with-gpus", "c3", gpus=2), False),
    (naming("allocated", "held"), True),
    (naming("allocated-and-more", "held", "c3"), False),
]


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    path = tmp_path_factory.mktemp("policy") / "policy.yaml"
    path.write_text(POLICY, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def service(module_service, policy):
    claims = [asking("c1", 1), asking("c3", 3), asking("c4", 4), claim("held", "devices", [0, 1])]
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
        assert verdict["fits"] == fits and verdict["reason"] == ("fits" if fits else "quota"), verdict
        assert fits or filtered["FailedAndUnresolvableNodes"][where] == f"gpu-extender: {verdict['message']}"
    if gpus:
        (waits,) = [each for each in service.get("/v1/pending").json()["pods"] if each["name"] == name]
        assert ("quota" in {each["reason"] for each in waits["reasons"]}) != fits, waits


def fitting(service, name):
    return [each["node"] for each in service.get(f"/v1/pods/ml/{name}/explain").json()["nodes"] if each["fits"]]


def test_a_snapshot_gives_the_same_verdicts(service, start_service, write, policy):
    again = start_service("--cluster-file", write("snapshot.json", service.get("/v1/snapshot").text), "--config", policy)
    names = [each["metadata"]["name"] for each, _ in PODS]
    assert [fitting(again, name) for name in names] == [fitting(service, name) for name in names]


def notes(service, asks):
    """What is not evaluated, in the dry run and in explain: only of templates."""
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


@pytest.mark.parametrize("code, reason, wanted", [(403, "Forbidden", NOT_LISTED), (404, "NotFound", [NOT_LISTED[0].replace("is not listed", "does not exist")])])
def test_templates_that_cannot_be_listed_stop_nothing(api, follow, policy, code, reason, wanted):
    asks = by_template("asks", "of-5")
    api.store.put(node("devices", None, None), resource_slice("devices", 8, model=H100), CLASS, template("of-5", 5), asks)
    api.faults.fail("list resourceclaimtemplates", code, reason, times=None)
    service = follow("--config", policy)
    forbidden = "claim templates are unknown: resourceclaimtemplates: never listed: refused\n" if code == 403 else ""
    service.wait("it is ready", lambda: service.get("/readyz").text == f"ok\n{forbidden}")
    assert service.metric("gpu_extender_claims_counted") == 1
    assert "devices" in fitting(service, "asks") and notes(service, asks) == wanted
    api.faults.heal()
    service.wait("the template is known", lambda: fitting(service, "asks") == [])
    assert notes(service, asks) == [] and service.get("/readyz").text == "ok\n"
