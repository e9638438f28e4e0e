"""Manifests as they occur, from public threads and charts: what the dry run makes of their values and of the number of their pods.

tests/cases/field/manifests.yaml has a row for each:
    case      a name of its own
    manifest  the text
    warns     {path: message}; all warnings (default: none)
    replicas  {name of the workload: how many}; all of them, if given
    says      a text that the table contains
"""

import subprocess

import pytest
import yaml
from objects import node
from service import ROOT

NOT_HERE = 77
with open(f"{ROOT}/tests/cases/field/manifests.yaml", encoding="utf-8") as _file:
    ROWS = yaml.load(_file, yaml.CSafeLoader)


@pytest.fixture(scope="module")
def service(module_service):
    return module_service(*(node(f"h100-{i}", 8, "NVIDIA-H100-80GB-HBM3") for i in range(1, 5)))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["case"])
def test_a_manifest_of_the_field(row, service):
    answer = service.post("/v1/dry-run", row["manifest"]).json()
    assert {item["path"]: item["message"] for item in answer.get("warnings", [])} == row.get("warns", {})
    if "replicas" in row:
        assert {workload["name"].partition("/")[2] or workload["name"]: workload["replicas"] for workload in answer["workloads"]} == row["replicas"]
    assert row.get("says", "") in service.post("/v1/dry-run?output=table&wide=true", row["manifest"]).text


LINES = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: a
data:
  ok: "1"
  gpus: 8
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata:
    name: a
    annotations:
      gpu-extender.io/modell: H100
  spec:
    containers:
    - name: c
      image: i
      resources:
        limit: {}
      env: [{name: A, value: "1"},
            {name: B, value: 2}]
- apiVersion: train.example.org/v1
  kind: Trainer
  metadata: {name: a}
  spec:
    roles:
    - name: x
      workerReplicas: 2
      template: {spec: {containers: [{name: c, image: i}]}}
"""


def test_a_warning_has_the_line_of_its_text(service):
    answer = service.post("/v1/dry-run", LINES).json()
    assert {item["path"].partition(": ")[2]: item["line"] for item in answer["warnings"]} == {
        "data": 7,
        "metadata.annotations[gpu-extender.io/modell]": 17,
        "spec.containers[0].resources.limit": 23,
        "spec.containers[0].env[1].value": 25,
        "spec.roles[x].workerReplicas": 32,
    }
    assert "(line 32)" in service.post("/v1/dry-run?output=table&wide=true", LINES).text
    long = service.post("/v1/dry-run", LINES + "#" * 256 * 1024).json()["warnings"]
    assert len(long) == 5 and not any("line" in item for item in long)


def test_the_cases_have_names_of_their_own():
    assert len({row["case"] for row in ROWS}) == len(ROWS)


@pytest.mark.long
def test_kubectl_still_reads_yaml_as_recorded():
    """tests/unit/formats/test_yaml_recorded.c compares ours with the file."""
    done = subprocess.run([f"{ROOT}/tests/yaml/record"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode == NOT_HERE:
        pytest.skip(done.stdout.strip().rpartition("\n")[2])
    assert done.returncode == 0, done.stderr
    with open(f"{ROOT}/tests/yaml/recorded.jsonl", encoding="utf-8") as file:
        assert file.read() == done.stdout, "run tests/yaml/record > tests/yaml/recorded.jsonl"
