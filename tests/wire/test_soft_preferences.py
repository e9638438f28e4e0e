"""placement.softPreferences: whether kube-scheduler decides among fitting nodes if the pod's spec has preferences."""

import json

import pytest
from objects import annotated, filter_args, merged, node, pod

T4, H100 = "Tesla-T4", "NVIDIA-H100-80GB-HBM3"
HEAD = "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\n"
SSD = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
OF_PODS = {"weight": 1, "podAffinityTerm": {"topologyKey": "zone", "labelSelector": {}}}
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
SOFT = {
    "node affinity": {"affinity": {"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": SSD}]}}},
    "pod affinity": {"affinity": {"podAffinity": {PREFERRED: [OF_PODS]}}},
    "pod anti-affinity": {"affinity": {"podAntiAffinity": {PREFERRED: [OF_PODS]}}},
    "spread": {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}]},
    "claim": {"resourceClaims": [{"name": "gpu", "resourceClaimName": "h100-or-a100"}]},
}
NODES = [
    node("a-t4", 8, T4),
    node("b-h100", 8, H100),
    node("c-h100", 8, H100, metadata={"labels": {"disk": "ssd"}}),
    node("d-t4", 8, T4),
    node("e-full", 8, T4),
    pod("full", 8, "e-full"),
]
NAMES = ["e-full", "d-t4", "c-h100", "b-h100", "a-t4"]
FITTING = NAMES[1:]


@pytest.fixture
def start_with(start_over, write):
    def start(policy=""):
        return start_over(*NODES, options=["--config", write("policy.yaml", HEAD + policy + "\n")])

    return start


def asked(service, asking):
    """The nodes that filter returns, and their scores."""
    names = service.post("/scheduler/filter", filter_args(asking, NAMES)).json()["NodeNames"]
    scores = service.post("/scheduler/prioritize", filter_args(asking, names)).json()
    return names, {entry["Host"]: entry["Score"] for entry in scores}


@pytest.mark.parametrize("soft", SOFT)
def test_kube_scheduler_decides_for_pods_with_soft_preferences(soft, start_with):
    """Among all fitting nodes: a list cut by our ranking could omit preferred nodes."""
    assert asked(start_with("filter: {shortlist: 1}"), pod(spec=SOFT[soft])) == (FITTING, {})


def test_the_policy_may_override_it(start_with):
    service = start_with("placement: {softPreferences: override, policy: binpack}\nfilter: {shortlist: 2}")
    names, scores = asked(service, pod(spec=SOFT["node affinity"]))
    assert names == ["c-h100", "a-t4"] and scores["c-h100"] == 10, "our own order, with the preferred node affinity first"
    assert len(asked(service, pod(spec=SOFT["spread"]))[1]) == 2


def test_the_order_of_models_still_decides(start_with):
    """Equal scores within a model: there the pod's soft preferences decide."""
    asking = merged(annotated(models="H100, T4"), {"spec": SOFT["spread"]})
    scores = {"b-h100": 10, "c-h100": 10, "a-t4": 9, "d-t4": 9}
    assert asked(start_with("filter: {shortlist: 1}"), asking) == (FITTING, scores)


def test_nodes_of_one_model_get_no_scores(start_with):
    asking = merged(annotated(models="A100, T4"), {"spec": SOFT["spread"]})
    assert asked(start_with(), asking) == (["d-t4", "a-t4"], {})


def test_legacy_preferences_are_still_ranked(start_with):
    """kube-scheduler ignores it."""
    text = json.dumps(SOFT["node affinity"]["affinity"])
    asking = pod(metadata={"annotations": {"scheduler.alpha.kubernetes.io/affinity": text}})
    names, scores = asked(start_with("filter: {shortlist: 1}"), asking)
    assert (names, scores) == (["c-h100"], {"c-h100": 10})


def test_required_terms_are_no_preferences(start_with):
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [SSD]}}
    spread = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]
    asking = pod(spec={"affinity": {"nodeAffinity": required}, "topologySpreadConstraints": spread})
    names, scores = asked(start_with("filter: {shortlist: 1}"), asking)
    assert len(names) == 1 and list(scores.values()) == [10]


def test_the_dry_run_notes_it(start_with):
    def notes(policy, spec):
        (workload,) = start_with(policy).post("/v1/dry-run", json.dumps(pod(spec=spec))).json()["workloads"]
        return [note for note in workload["notEvaluated"] if note.startswith("soft preferences: ")]

    assert notes("", SOFT["spread"]) == [
        "soft preferences: kube-scheduler ranks the nodes that fit by them; the ranking here is only an estimate"
    ]
    assert notes("", {}) == []
    assert notes("placement: {softPreferences: override}", SOFT["spread"]) == []
