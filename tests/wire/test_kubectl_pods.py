"""kubectl gpu pods: who holds GPUs."""

import json
import os

import pytest
from kubectl_gpu import FILE, complaint, gpu, said
from objects import list_text, node, pod
from service import ROOT

CLAIMS = os.path.join(ROOT, "examples/dra-cluster.yaml")


def holding(name, gpus, namespace, created, owner=None, **more):
    reference = {"apiVersion": "batch/v1", "kind": "Job", "name": owner, "uid": owner, "controller": True}
    metadata = {"namespace": namespace, "uid": f"{namespace}-{name}", "creationTimestamp": created, "ownerReferences": [reference] if owner else []}
    return pod(name, gpus, "a", metadata={**metadata, **more})


@pytest.fixture
def where(write):
    cluster = list_text(
        node("a", 8),
        holding("z", 1, "ml", "2026-01-02T00:00:00Z", "train"),
        holding("y", 2, "ml", "2026-01-03T00:00:00Z", "train"),
        holding("x", 1, "ml", "2026-01-01T00:00:00Z", "eval", deletionTimestamp="2026-01-04T00:00:00Z"),
        holding("alone", 1, "dev", "2026-01-01T00:00:00Z"),
        holding("without", 0, "dev", "2026-01-01T00:00:00Z"),
        pod("waits", 9),
    )
    return "--cluster-file", write("cluster.json", cluster)


def test_by_namespace_owner_and_age(where):
    rows = [line.split("  ") for line in said("pods", *where).splitlines()]
    rows = [[cell.strip() for cell in row if cell] for row in rows]
    assert rows[0] == ["NAMESPACE", "OWNER", "KIND", "POD", "NODE", "GPUS", "AGE"]
    assert [row[:5] for row in rows[1:]] == [
        ["dev", "-", "-", "alone", "a"], ["ml", "eval", "Job", "x", "a"], ["ml", "train", "Job", "z", "a"], ["ml", "train", "Job", "y", "a"],
    ]  # fmt: skip
    assert all(row[6].endswith("h") or row[6].endswith("d") for row in rows[1:])
    wide = said("pods", *where, "-o", "wide", "--no-headers").splitlines()
    assert [line.split()[-1] for line in wide] == ["runs", "ends", "runs", "runs"]


def test_a_namespace(where):
    assert said("pods", *where, "-n", "dev", "-o", "name") == "pod/alone\n"
    assert said("pods", *where, "-A", "-o", "name").split() == ["pod/alone", "pod/x", "pod/z", "pod/y"]
    done = gpu("pods", *where, "-n", "none")  # the file has no namespaces
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "kubectl gpu: no pods in the namespace none hold GPUs\n")


@pytest.mark.parametrize("verb", ["pods", "claims", "pending", "groups", "quota"])
@pytest.mark.parametrize("form", ["table", "json", "name"])
def test_a_namespace_that_does_not_exist(service, verb, form):
    """It has no pods, but that is no answer. The nearest one is named."""
    for place in (FILE, ("--url", f"http://{service.address}")):
        said_of_it = complaint(verb, *place, "-o", form, "-n", "ml-trainin", status=2)
        assert said_of_it == '--namespace: "ml-trainin": there is no such namespace; did you mean ml-training?'
        assert complaint(verb, *place, "-n", "none", status=2) == '--namespace: "none": there is no such namespace'
    assert gpu(verb, *FILE, "-n", "kube-system").returncode == 0


def test_a_namespace_that_a_quota_covers_or_decisions_name(service, write):
    """It may be made later, or have been deleted; others are misspelt."""
    policy = write("policy.yaml", "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\nquotas: [{name: team, namespaces: [later], limits: [{resource: nvidia.com/gpu, total: 4}]}]\n")
    text = said("quota", *FILE, "--config", policy, "-n", "later")
    assert text.startswith('warning: --namespace: "later": there is no such namespace\n') and "team" in text
    assert complaint("quota", *FILE, "--config", policy, "-n", "lter", status=2).startswith('--namespace: "lter": there is no such namespace')
    assert complaint("decisions", "--url", f"http://{service.address}", "-n", "none", status=2) == '--namespace: "none": there is no such namespace'


def test_a_model():
    """Who holds these GPUs."""
    for words, where in (((), ""), (("-n", "ml-training"), "in the namespace ml-training ")):
        assert gpu("pods", *FILE, "--model", "H100", *words).stderr == f"kubectl gpu: no pods {where}hold GPUs of the model H100\n"
    assert {tuple(model.split("-")[0] for model in each) for each in models(*FILE, "--model", "V100").values()} == {("V100",)}
    for verb in ("pods", "nodes", "frag"):
        assert complaint(verb, *FILE, "--model", "H10O", status=2) == '--model: "H10O": no node has it; did you mean H100-80GB-HBM3?'


def test_each_is_a_holder_of_the_inventory(service):
    """With the node and the models; over the file and by URL."""
    url = ("--url", f"http://{service.address}")
    holders = {each["uid"]: (each, row["name"]) for row in service.get("/v1/inventory").json()["nodes"] for each in row["holders"]}
    for place in (FILE, url):
        pods = json.loads(said("pods", *place, "-o", "json"))["pods"]
        assert len(pods) == len(holders) > 10
        for each in pods:
            holder, on = holders[each["uid"]]
            assert each["node"] == on and each["name"] == holder["pod"] and each["ageSeconds"] > 0
            assert {key: value for key, value in each.items() if key in holder} == {key: value for key, value in holder.items() if key != "pod"}


def models(*where):
    return {each["name"]: each["models"] for each in json.loads(said("pods", *where, "-o", "json"))["pods"]}


def test_the_models():
    """Slices and shares are no whole GPUs; a claim's devices count once, even those of an extended resource."""
    of_sample = models(*FILE)
    assert of_sample["bert-serve-0"] == {"V100": 4} and of_sample["notebook-cho"] == {"T4-SHARED": 1}
    assert of_sample["embed-0"] == {"A100-PCIe-40GB-MIG-1g.5gb": 1} and of_sample["aks-batch-0"] == {"nvidia.com/gpu": 1}
    of_claims = models("--cluster-file", CLAIMS)
    assert of_claims["serve-0"] == {"H100-80GB-HBM3": 1} and of_claims["train-0"] == {"H100-80GB-HBM3": 2}
    assert of_claims["small-0"] == {"A100-SXM4-80GB-MIG-1g.10gb": 1} and of_claims["old-0"] == {"H100-80GB-HBM3": 3}


def test_labels_of_pods_are_not_in_the_inventory():
    assert complaint("pods", "-l", "a", status=2).startswith("--selector: is not for pods")
