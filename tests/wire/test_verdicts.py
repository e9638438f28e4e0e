"""The verdict on each workload of tests/cases/verdicts over examples/sample-cluster.yaml: the decisive cause, and the amount."""

import pytest
from service import Service, SAMPLE_CLUSTER, read

GPU = "nvidia.com/gpu"
# The headline has at most 20 words, of which "DOES NOT FIT Pod x: 0 of 1 pod" has eight.
WORDS = 14


def case(name):
    return read("tests/cases/verdicts", f"{name}.yaml")


@pytest.fixture(scope="module")
def quota_service():
    running = Service("--cluster-file", SAMPLE_CLUSTER, "--config", "tests/cases/verdicts/quota-policy.yaml")
    yield running
    running.stop()


def verdict(service, name, at=0):
    return service.post("/v1/dry-run", case(name)).json()["workloads"][at]["verdict"]


def missing(pods, gpus):
    return {"pods": pods, "gpus": gpus}


@pytest.mark.parametrize(
    "name, result, cause, node, lacks, lost",
    [
        ("fits", "fits", "", "", {}, missing(0, 0)),
        ("full", "doesNotFit", "freeGpus", "a100-40-1", {GPU: 3}, missing(1, 4)),
        ("typo", "doesNotFit", "name", "", {}, missing(1, 1)),
        ("b200", "doesNotFit", "name", "", {}, missing(1, 1)),
        ("selvalue", "doesNotFit", "name", "", {}, missing(1, 1)),
        ("selkey", "doesNotFit", "name", "", {}, missing(1, 1)),
        ("reskey", "doesNotFit", "name", "", {}, missing(1, 0)),
        ("taint", "doesNotFit", "taint", "t4-gke-1", {}, missing(1, 1)),
        ("big", "doesNotFit", "total", "h100-1", {GPU: 8}, missing(1, 16)),
        ("ddp", "partlyFits", "freeGpus", "v100-2", {GPU: 2}, missing(2, 8)),
    ],
)
def test_the_cause(service, name, result, cause, node, lacks, lost):
    found = verdict(service, name)
    text = found.pop("text")
    assert found == {"result": result, "cause": cause, "node": node, "lacks": lacks, "missing": lost}
    assert len(text.split()) <= WORDS, text


@pytest.mark.parametrize(
    "name, names",
    [
        ("typo", ["H10O", "H100-80GB-HBM3"]),
        ("b200", ["B200", "A10"]),
        ("selvalue", ["nvidia.com/gpu.product=NVIDIA-H100-80GB", "NVIDIA-H100-80GB-HBM3"]),
        ("selkey", ["nvidia.com/gpu.prodct", "nvidia.com/gpu.product"]),
        ("reskey", ["nvidia.com/gpus", "nvidia.com/gpu"]),
        ("taint", ["t4-gke-1", "nvidia.com/gpu=present:NoSchedule"]),
    ],
)
def test_the_sentence_names_the_mistake_and_what_exists(service, name, names):
    text = verdict(service, name)["text"]
    assert [part for part in names if part not in text] == []


def test_all_limits_that_a_pod_breaks_are_named(quota_service):
    found = verdict(quota_service, "fits")
    assert (found["cause"], found["node"]) == ("quota", "h100-1")
    assert "research-and-ml" in found["text"] and "4 H100" in found["text"] and "7 GPUs in all" in found["text"]


def test_a_pending_pod_has_the_same_verdict(service):
    owners = service.get("/v1/pending").json()["owners"]
    found = {owner["name"]: owner["verdict"] for owner in owners}["big-train-0"]
    assert (found["cause"], found["node"], found["missing"]) == ("total", "h100-1", missing(1, 16))
    assert service.get("/v1/explain?namespace=ml-training&name=big-train-0").json()["pod"]["verdict"] == found
