"""Every file in examples/ explains what it shows, and the service answers accordingly.

The answers expected of workloads/ are in expected/workloads.yaml; the sample cluster's table is in examples/README.md.
"""

import collections
import json
import os
import subprocess
import sys

import expectations
import marked
import pytest
import yaml
from service import ROOT, SAMPLE_CLUSTER, inventory_of

EXAMPLES = os.path.join(ROOT, "examples")
WORKLOADS = os.path.join(EXAMPLES, "workloads")
OPENB_CLUSTER = os.path.join(EXAMPLES, "openb-cluster.json")
OPENB_SCRIPT = os.path.join(ROOT, "scripts/openb-cluster.py")
OPENB_TRACE = os.path.join(ROOT, "tests/wire/openb")
EXPECTED = expectations.load("workloads.yaml")


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def gpu_rows(inventory, resources):
    """The inventory as rows of that table, without the last column; a node without GPUs has one row."""
    found = []
    for node in inventory["nodes"]:
        rows = [
            (node["name"], node["model"] or "", name, *(str(amounts[key]) for key in ("allocatable", "used", "free")))
            for name, amounts in sorted(node["resources"].items())
            if name in resources
        ]
        found += rows or [(node["name"], node["model"] or "", "", "", "", "")]
    return found


@pytest.fixture(scope="module")
def service(packing_service):
    return packing_service


def test_every_workload_has_an_expected_answer():
    assert sorted(os.listdir(WORKLOADS)) == sorted(EXPECTED)


def test_every_workload_explains_itself():
    silent = [name for name in os.listdir(WORKLOADS) if name.endswith(".yaml") and not read(WORKLOADS, name).startswith("# ")]
    assert not silent


@pytest.mark.parametrize("name", EXPECTED)
def test_workload(name, service):
    before = inventory_of(service)
    answer = service.post("/v1/dry-run", read(WORKLOADS, name))
    assert answer.status == 200, answer
    result = answer.json()
    found = expectations.differences(EXPECTED[name], result, [node["name"] for node in before["nodes"]])
    assert not found, "\n".join(
        [f"examples/workloads/{name}", *found, f"because: {EXPECTED[name]['because']}", f"summary: {result.get('summary')}"]
    )
    assert inventory_of(service) == before, "a dry run changed the ledger"


# What users have, by the kind's group; kubeadm.yaml and test-pod.yaml are beside the workloads.
USERS = ("kserve", "argo-workflow", "mpijob", "volcano-job", "kueue-job", "raycluster", "rayservice", "helm-output")


@pytest.mark.parametrize("path", [f"workloads/{name}.yaml" for name in USERS] + ["kubeadm.yaml", "test-pod.yaml"])
def test_manifests_of_users_get_no_warning(path, service):
    answer = service.post("/v1/dry-run", read(EXAMPLES, path)).json()
    assert (answer["warnings"], answer["notUnderstood"]) == ([], [])
    assert all(workload["understood"] for workload in answer["workloads"])


def test_kubeadm_configuration_has_the_documented_lines():
    (whole,) = [each for each in yaml.safe_load_all(read(EXAMPLES, "kubeadm.yaml")) if each["kind"] == "ClusterConfiguration"]
    assert whole["scheduler"] == yaml.safe_load(marked.block("docs/INSTALL.md", "kubeadm-volumes"))["scheduler"]


# Real kinds that no other example has.
REAL = {"InferencePool", "InferenceModel", "Notebook", "NIMService", "LLMInferenceService", "TrainJob", "ScaledObject", "ScaledJob"}


def test_no_invented_kind_shadows_a_real_one():
    """The group of an invented kind ends in example.com."""
    kinds = collections.defaultdict(set)
    for folder in (WORKLOADS, os.path.join(ROOT, "tests/cases/correct")):
        for name in os.listdir(folder):
            for each in yaml.safe_load_all(read(folder, name)):
                group = each["apiVersion"].rpartition("/")[0]
                kinds[group.endswith("example.com")].add(each["kind"])
    assert kinds[True] and not kinds[True] & (kinds[False] | REAL)


def test_the_sample_cluster_matches_its_table(service):
    table = [tuple(row[:-1]) for row in marked.table("examples/README.md", "sample-cluster")]
    resources = {row[2] for row in table} - {""}
    assert sorted(gpu_rows(inventory_of(service), resources)) == sorted(table)


def test_the_sample_cluster_has_no_problems(service):
    inventory = inventory_of(service)
    assert inventory["problems"] == []
    assert [node["name"] for node in inventory["nodes"] if not node["ready"]] == ["v100-3"]


def test_holders_of_the_sample_clusters_gpus(service):
    """Compares UIDs: ended and unbound pods hold nothing; a terminating pod does."""
    nodes = {node["name"]: node["holders"] for node in inventory_of(service)["nodes"]}
    pods = {
        item["metadata"]["name"]: item["metadata"]["uid"]
        for item in yaml.safe_load(read(SAMPLE_CLUSTER))["items"]
        if item["kind"] == "Pod"
    }
    uids = {holder["uid"] for holders in nodes.values() for holder in holders}
    assert not uids & {pods[name] for name in ("tf-eval-9xk2p", "pretrain-old", "big-train-0")}
    held = {holder["uid"]: holder["gpus"] for holder in nodes["k80-alpha-2"]}
    assert held == {
        pods["tf-train-k80-1"]: {"alpha.kubernetes.io/nvidia-gpu": 3},
        pods["tf-old-0"]: {"alpha.kubernetes.io/nvidia-gpu": 2},
    }


def test_the_sample_cluster_as_json_is_the_same(service, start_service, tmp_path):
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(yaml.safe_load(read(SAMPLE_CLUSTER))), encoding="utf-8")
    ours, other = inventory_of(service), inventory_of(start_service("--cluster-file", path))
    for key in ("nodes", "models", "problems"):
        assert other[key] == ours[key]


def test_the_openb_cluster_equals_the_output_of_its_script():
    made = subprocess.run([sys.executable, OPENB_SCRIPT, OPENB_TRACE], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    assert made.stdout == read(OPENB_CLUSTER), f"run {OPENB_SCRIPT} again: examples/openb-cluster.json is not its output"


def gpus_of(pod):
    return int(pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"])


def test_the_openb_cluster_is_read_whole(start_service):
    """Nodes, and GPUs used on each, against a count of the file that knows nothing of the service."""
    items = json.loads(read(OPENB_CLUSTER))["items"]
    used = collections.Counter()
    for item in items:
        if item["kind"] == "Pod" and "nodeName" in item["spec"]:
            used[item["spec"]["nodeName"]] += gpus_of(item)
    nodes = {item["metadata"]["name"]: used[item["metadata"]["name"]] for item in items if item["kind"] == "Node"}
    inventory = inventory_of(start_service("--cluster-file", OPENB_CLUSTER))
    assert inventory["problems"] == []
    assert {node["name"]: node["resources"]["nvidia.com/gpu"]["used"] for node in inventory["nodes"]} == nodes
