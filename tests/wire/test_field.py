"""Inputs as they occur, from public threads: what one unit of a GPU resource is, its memory, the names of models and accelerators.

tests/cases/field has a folder for each input, with cluster.yaml, manifest.yaml and expected.yaml:
    because    one sentence
    workloads  {name: {fits: [nodes], reasons: {reason: [nodes]}}}; a dry run judges each workload on the empty cluster
    sharing    {node: how the inventory says that its GPUs are shared}
    says       {inventory, doctor, dryRun or pending: [texts that the table contains]}
    unsaid     the same, of texts that it does not contain
    silent     true: no warning and no problem
and units.yaml, with a row for each node:
    case       a name of its own; the node's name is made of it
    labels     of the node
    has        its capacity and allocatable
    asks       the resource that the pod asks for (default: the first of has); models, exclude, memory, allow: its annotations
    is         the verdict: "fits" or a reason; without it no pod asks
    hint       what the dry run says
    sharing, says (in the inventory), silent: as above
A new vendor is rows of the policy: VENDOR.
"""

import os
import re

import pytest
import yaml
from objects import annotated, list_text, merged, node, pod
from service import ROOT, run_to_end

FOLDER = f"{ROOT}/tests/cases/field"
FOLDERS = sorted(name for name in os.listdir(FOLDER) if os.path.isdir(f"{FOLDER}/{name}"))
QUESTIONS = {"inventory": "/v1/inventory?output=table", "pending": "/v1/pending?output=table"}


def read(*parts):
    with open(os.path.join(FOLDER, *parts), encoding="utf-8") as file:
        return file.read()


ROWS = yaml.load(read("units.yaml"), yaml.CSafeLoader)


def is_told(service, name, question, text):
    """Whether the table that answers it has the text; tables break lines anywhere."""
    return "".join(text.split()) in "".join(told(service, name, question).split())


def told(service, name, question):
    if question == "doctor":
        return run_to_end("--doctor", "--cluster-file", f"{FOLDER}/{name}/cluster.yaml").stdout
    if question == "dryRun":
        return service.post("/v1/dry-run?output=table&wide=true", read(name, "manifest.yaml")).text
    return service.get(QUESTIONS[question]).text


def verdicts(workload):
    """The parts of the expected answer."""
    reasons = {}
    for item in workload["nodes"]:
        reasons.setdefault(item["reason"], []).append(item["node"])
    fits = sorted(reasons.pop("fits", []))
    return {"fits": fits, **({"reasons": {key: sorted(names) for key, names in reasons.items()}} if reasons else {})}


def is_silent(service, manifest):
    answers = [service.get("/v1/inventory").json(), service.get("/v1/pending").json(), service.post("/v1/dry-run", manifest).json()]
    return [note for answer in answers for note in answer["warnings"] + answer.get("problems", [])] == []


@pytest.mark.parametrize("name", FOLDERS)
def test_an_input_of_the_field(name, start_service):
    expected = yaml.safe_load(read(name, "expected.yaml"))
    service = start_service("--cluster-file", f"{FOLDER}/{name}/cluster.yaml")
    answers = {}
    for document in re.split(r"^---$", read(name, "manifest.yaml"), flags=re.MULTILINE):
        (workload,) = service.post("/v1/dry-run", document).json()["workloads"]
        answers[workload["name"]] = verdicts(workload)
    assert answers == expected["workloads"], expected["because"]
    sharing = {item["name"]: item["sharing"] for item in service.get("/v1/inventory").json()["nodes"]}
    assert {key: sharing[key] for key in expected.get("sharing", {})} == expected.get("sharing", {}), expected["because"]
    for question, texts in expected.get("says", {}).items():
        assert [text for text in texts if not is_told(service, name, question, text)] == [], question
    for question, texts in expected.get("unsaid", {}).items():
        assert [text for text in texts if is_told(service, name, question, text)] == [], question
    assert not expected.get("silent") or is_silent(service, read(name, "manifest.yaml"))


def name_of(row):
    return re.sub(r"[^a-z0-9]+", "-", row["case"].lower())


def node_of(row):
    amounts = {key: str(amount) for key, amount in row["has"].items()}
    return node(name_of(row), None, None, metadata={"labels": row.get("labels", {})}, status={"capacity": amounts, "allocatable": amounts})


def pod_of(row):
    wants = {"models": row.get("models"), "exclude_models": row.get("exclude"), "min_gpu_memory": row.get("memory"), "allow_shared": "true" if row.get("allow") else None}
    wants = {key: value for key, value in wants.items() if value}
    resource = row.get("asks", next(iter(row["has"])))
    asking = annotated("asks", 1, **wants) if wants else pod("asks")
    return merged(asking, {"spec": {"containers": pod(resource=resource)["spec"]["containers"]}})


def judge(service, row):
    inventory = service.get(f"/v1/inventory?node={name_of(row)}").json()
    said = [item["what"] for item in inventory["problems"]] + [item["message"] for item in inventory["warnings"]]
    if "is" in row:
        answer = service.post("/v1/dry-run", pod_of(row)).json()
        (workload,) = answer["workloads"]
        assert {item["node"]: item["reason"] for item in workload["nodes"]}[name_of(row)] == row["is"]
        assert row.get("hint", "") in "\n".join([workload["summary"], *(note["message"] for note in answer["warnings"])])
    if "sharing" in row:
        assert inventory["nodes"][0]["sharing"] == row["sharing"]
    assert row.get("says", "") in "\n".join(said)
    assert not row.get("silent") or is_silent(service, pod_of(row) if "is" in row else pod(gpus=None))


def is_about_the_node(row):
    """Whether nothing is asked about the whole cluster: such nodes share one."""
    return not row.keys() & {"hint", "says", "silent"}


@pytest.fixture(scope="module")
def together(module_service):
    return module_service(*(node_of(row) for row in ROWS if is_about_the_node(row)))


@pytest.mark.parametrize("row", [row for row in ROWS if is_about_the_node(row)], ids=name_of)
def test_a_node_of_the_field(row, together):
    judge(together, row)


@pytest.mark.parametrize("row", [row for row in ROWS if not is_about_the_node(row)], ids=name_of)
def test_a_node_of_the_field_alone(row, start_service, write):
    judge(start_service("--cluster-file", write("cluster.json", list_text(node_of(row)))), row)


def test_the_names_are_unique():
    assert len({name_of(row) for row in ROWS}) == len(ROWS)


VENDOR = """apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
gpuResources: [acme.com/gpu, acme.com/part-*]
models:
  labels: [acme.com/model]
  units:
    - {resource: acme.com/gpu, label: acme.com/cards, says: count}
    - {resource: acme.com/gpu, label: machine.example.org/cards, says: count}
    - {resource: acme.com/gpu, label: acme.com/users, says: replicas}
    - {resource: acme.com/gpu, label: acme.com/mode, says: strategy, whole: alone, replicas: acme.com/users}
    - {resource: acme.com/gpu, label: acme.com/cut, says: partition, whole: full*}
    - {resource: acme.com/gpu, label: acme.com/ram, says: memory, unit: Gi}
    - {resource: acme.com/part-*, label: acme.com/part-*.ram, says: memory, unit: Mi}
"""
ACME = [
    {"case": "whole", "labels": {"acme.com/cards": "4", "acme.com/mode": "alone", "acme.com/cut": "full-1"}, "is": "fits", "silent": True},
    {"case": "users", "labels": {"acme.com/users": "3"}, "is": "gpu_shared", "sharing": "SHARED"},
    {"case": "mode", "labels": {"acme.com/mode": "together"}, "is": "gpu_shared"},
    {"case": "mode with one user", "labels": {"acme.com/mode": "together", "acme.com/users": "1"}, "is": "fits", "silent": True},
    {"case": "cut", "labels": {"acme.com/cut": "half"}, "is": "gpu_shared", "sharing": "PARTITION-half"},
    {"case": "cut with a size", "labels": {"acme.com/cut": "2.20gb"}, "is": "gpu_mig", "sharing": "MIG-2.20gb"},
    {"case": "more", "labels": {"acme.com/cards": "2"}, "is": "fits", "says": "count unverified: label 2, offered 4"},
    {"case": "agreed", "labels": {"acme.com/cards": "2", "machine.example.org/cards": "2"}, "is": "gpu_shared"},
    {"case": "memory", "labels": {"acme.com/model": "Thunder", "acme.com/ram": "32"}, "memory": "40Gi", "is": "gpu_memory", "silent": True},
    {"case": "a part", "has": {"acme.com/part-a": 4}, "labels": {"acme.com/part-a.ram": "8192"}, "memory": "8Gi", "is": "fits", "silent": True},
]


@pytest.mark.parametrize("row", ACME, ids=name_of)
def test_an_invented_vendor_by_policy_alone(row, start_service, write):
    row = {"has": {"acme.com/gpu": 4}, **row}
    options = ["--config", write("policy.yaml", VENDOR)]
    judge(start_service("--cluster-file", write("cluster.json", list_text(node_of(row))), *options), row)


CHINA = """apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
gpuResources: [enflame.com/gcu, hygon.com/dcu, metax-tech.com/gpu, huawei.com/Ascend*]
"""
ENFLAME = {"enflame.com/gcu.count": "8", "enflame.com/gcu.memory": "16384", "enflame.com/gcu.model": "T10"}
HYGON = {"hygon.com/dcu": "true", "hygon.com/dcu.name": "K100_AI", "hygon.com/dcu.vram": "64G"}
METAX = {"metax-tech.com/gpu.product": "MXC500", "metax-tech.com/gpu.memory": "64GB"}
OF_CHINA = [
    {"case": "Enflame", "labels": ENFLAME, "has": {"enflame.com/gcu": 8}, "models": "T10", "memory": "16Gi", "is": "fits", "silent": True},
    {"case": "Enflame has less", "labels": ENFLAME, "has": {"enflame.com/gcu": 8}, "memory": "32Gi", "is": "gpu_memory"},
    {"case": "Enflame offers more", "labels": ENFLAME, "has": {"enflame.com/gcu": 16}, "is": "fits", "says": "count unverified: label 8, offered 16"},
    {"case": "Hygon", "labels": HYGON, "has": {"hygon.com/dcu": 8}, "models": "K100 AI", "memory": "60Gi", "is": "fits", "silent": True},
    {"case": "Hygon has less", "labels": HYGON, "has": {"hygon.com/dcu": 8}, "memory": "80Gi", "is": "gpu_memory"},
    {"case": "MetaX", "labels": METAX, "has": {"metax-tech.com/gpu": 8}, "models": "MXC500", "memory": "64Gi", "is": "fits", "silent": True},
    {"case": "MetaX is another", "labels": METAX, "has": {"metax-tech.com/gpu": 8}, "models": "MXC550", "is": "model_not_wanted"},
    {"case": "Ascend", "labels": {"accelerator": "huawei-Ascend910"}, "has": {"huawei.com/Ascend910": 8}, "models": "ASCEND910", "is": "fits", "silent": True},
]


@pytest.mark.parametrize("row", OF_CHINA, ids=name_of)
def test_vendors_of_china_by_their_resource(row, start_service, write):
    options = ["--config", write("policy.yaml", CHINA)]
    judge(start_service("--cluster-file", write("cluster.json", list_text(node_of(row))), *options), row)
