"""POST /v1/dry-run?explain=true: why the nodes rank as they do. tests/unit/decide/test_score.c covers the value of each term."""

import os
import re

import pytest
from objects import annotated, list_text, merged, node, pod
from service import PACKING, ROOT

CLAIMS = os.path.join(ROOT, "examples/claims")
T4, H100 = "Tesla-T4", "NVIDIA-H100-80GB-HBM3"


def explained(service, asking, query="?explain=true"):
    (workload,) = service.post("/v1/dry-run" + query, asking).json()["workloads"]
    return workload


def test_every_term_of_the_cost_and_the_place(start_over):
    """Typical pods take 4 GPUs: one GPU less takes a place of theirs from four-free, but not from five-free."""
    service = start_over(node("five-free"), node("four-free"), pod("a", 3, "five-free"), pod("b", 4, "four-free"), *(pod(f"p{i}", 4) for i in range(20)))
    explain = explained(service, pod("new", 1))["explain"]
    assert (explain["policy"], explain["fittingNodes"]) == ("slot-price", 2)
    first, second = explain["ranking"]
    assert [(item["position"], item["node"], item["score"], item["freeGpus"]) for item in (first, second)] == [
        (1, "five-free", 10, 5),
        (2, "four-free", 0, 4),
    ]
    live = 20 + 1 + 1 + 1  # pods of 4, of which one is on four-free; the one of 3; and the new one of 1
    assert first["terms"]["slotsLost"] == pytest.approx((3 * (5 // 3 - 4 // 3) + 1 * 1) / live)
    assert second["terms"]["slotsLost"] == pytest.approx((4 * 21 + 3 * 0 + 1 * 1) / (live))
    assert first["terms"]["drain"] == pytest.approx(0.2 * (25 - 16) / 8)
    for item in (first, second):
        assert set(item["terms"]) == {"slotsLost", "drain", "pressure"}
        assert item["cost"] == pytest.approx(sum(item["terms"].values()), abs=1e-12)


@pytest.mark.parametrize("name", sorted(os.listdir(CLAIMS)))
def test_every_term_with_claims(start_service, name):
    """A replica with claims has the most of them."""
    service = start_service("--cluster-file", os.path.join(ROOT, "examples/dra-cluster.yaml"))
    with open(os.path.join(CLAIMS, name), encoding="utf-8") as file:
        answer = service.post("/v1/dry-run?explain=true", file.read())
    assert answer.status == 200, answer
    by_claims = [item["terms"] for each in answer.json()["workloads"] for item in (each.get("explain") or {}).get("ranking", []) if "memoryTaken" in item["terms"]]
    assert (len(by_claims) > 0) == (name in ("by-claims.yaml", "first-available.yaml")), answer.text


def preferences(service, asking):
    """The column PREFERENCE of the table, row by row."""
    text = service.post("/v1/dry-run?explain=true&output=table&wide=true", asking).text
    rows = text.split("How slot-price ranks them:\n")[1].split("\n\n")[0].splitlines()[1:]
    return [re.split(r"  +", row.strip())[3] for row in rows]


def test_the_pod_s_own_preferences(start_over):
    taint = {"taints": [{"key": "old", "value": "yes", "effect": "PreferNoSchedule"}]}
    service = start_over(node("a", 8, T4), node("b", 8, H100), node("c", 8, T4, spec=taint), node("d", 8, T4))
    prefer = {"weight": 70, "preference": {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["d"]}]}}
    affinity = {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [prefer]}}}
    asking = merged(annotated("new", 1, models="H100, T4"), {"spec": affinity})
    ranking = explained(service, asking)["explain"]["ranking"]
    told = [(item["node"], item["modelRank"], item["preferredWeight"], item["unpreferredTaints"]) for item in ranking]
    assert told == [("b", 0, 0, 0), ("d", 1, 70, 0), ("a", 1, 0, 0), ("c", 1, 0, 1)]
    assert preferences(service, asking) == ["model 1", "model 2, weight 70", "model 2", "model 2, 1 unpreferred taint"]


def test_pod_without_gpus_ranks_gpu_nodes_last(start_over):
    service = start_over(node("a"), node("b", None, None))
    asking = pod("new", None)
    told = [(item["node"], item["gpuWork"]) for item in explained(service, asking)["explain"]["ranking"]]
    assert told == [("b", 0), ("a", 1)]
    assert preferences(service, asking) == ["-", "GPU node"]  # it lists no models, so no rank of a model counts


def test_another_policy_has_terms_of_its_own(start_service, write):
    path = write("cluster.json", list_text(node("a", 8), node("b", 4)))
    explain = explained(start_service("--cluster-file", path, *PACKING), pod("new", 1))["explain"]
    assert explain["policy"] == "binpack"
    assert [(item["node"], item["terms"], item["cost"]) for item in explain["ranking"]] == [("b", {"gpusLeft": 3}, 3), ("a", {"gpusLeft": 7}, 7)]


def test_explanation_lists_only_the_best_nodes(start_over):
    service = start_over(*(node(f"n{i:03}") for i in range(120)))
    explain = explained(service, pod("new", 1))["explain"]
    assert explain["fittingNodes"] == 120
    assert [item["node"] for item in explain["ranking"]] == [f"n{i:03}" for i in range(100)]
    assert "the best 100 of 120:" in service.post("/v1/dry-run?explain=true&output=table", pod("new", 1)).text


def test_explanation_is_given_on_request_only(start_over):
    service = start_over(node("a"))
    plain = explained(service, pod("new"), "")
    assert "explain" not in plain and plain == explained(service, pod("new"), "?explain=false")
    asked = explained(service, pod("new"))
    del asked["explain"]
    assert asked == plain
    wrong = service.post("/v1/dry-run?explain=yes", pod("new"))
    assert (wrong.status, wrong.json()["error"]) == (400, "?explain=yes: is unknown, should be true or false")


def test_the_table(start_over):
    text = start_over(node("a")).post("/v1/dry-run?explain=true&output=table", pod("new", 1)).text
    assert "\nHow slot-price ranks them:\n" in text and "MADE OF" in text and "slotsLost 1.000 + drain 0.375 + pressure" in text
    assert text.splitlines()[-1].split()[-3:] == ["1", "->", "0"]  # whole nodes
