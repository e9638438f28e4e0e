"""The dry run's reading of manifests: its warnings about fields and kinds that Kubernetes does not have, and requests that it does not understand.

The manifests are in tests/cases: correct has no mistake; mistakes, shapes, not-understood and not-evaluated have the expected answer and
the reason. mistakes.yaml has a row for each mistake that people make.
"""

import glob
import json
import os
import re
import subprocess

import pytest
import yaml
from objects import GPU, node, pod
from service import ROOT

CORRECT = sorted(glob.glob(f"{ROOT}/tests/cases/correct/*.yaml"))
MISTAKES = sorted(glob.glob(f"{ROOT}/tests/cases/mistakes/*.yaml"))
SHAPES = sorted(glob.glob(f"{ROOT}/tests/cases/shapes/*.yaml"))
NOT_UNDERSTOOD = sorted(glob.glob(f"{ROOT}/tests/cases/not-understood/*.yaml"))
NOT_EVALUATED = sorted(glob.glob(f"{ROOT}/tests/cases/not-evaluated/*.yaml"))
NOT_HERE = 77
with open(f"{ROOT}/tests/cases/mistakes.yaml", encoding="utf-8") as _file:
    ROWS = yaml.load(_file, yaml.CSafeLoader)
LABELS = {"pool": "gpu-large", "node.kubernetes.io/instance-type": "p4d.24xlarge", "topology.kubernetes.io/zone": "z1"}
KINDS = (
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml"}},
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high-priority"}, "value": 1000},
    {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "nvidia"}, "handler": "nvidia"},
)


@pytest.fixture(scope="module")
def service(module_service):
    return module_service(node("a", 8), node("cpu", None))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def warnings_of(service, manifest):
    return {item["path"]: item["message"] for item in service.post("/v1/dry-run", manifest).json()["warnings"]}


@pytest.mark.parametrize("path", CORRECT, ids=os.path.basename)
def test_a_correct_manifest_gets_no_warning(path, service):
    answer = service.post("/v1/dry-run", read(path)).json()
    assert (answer["warnings"], answer["notUnderstood"]) == ([], [])
    assert all(workload["understood"] for workload in answer["workloads"])


@pytest.mark.parametrize("path", MISTAKES, ids=os.path.basename)
def test_a_mistake_gets_its_warning(path, service):
    case = yaml.safe_load(read(path))
    assert set(case) == {"because", "manifest", "warnings"}
    assert warnings_of(service, case["manifest"]) == case["warnings"], case["because"]


@pytest.fixture(scope="module")
def labelled(module_service):
    return module_service(node("a", 8, metadata={"labels": LABELS}), node("h", 8, "NVIDIA-H100-80GB-HBM3"), node("cpu", None), *KINDS)


def manifest_of(row):
    """The whole body, or a Pod with the row's members."""
    if "manifest" in row:
        return row["manifest"]
    main = {"name": "c", "image": "c", **row.get("container", {"resources": {"limits": {GPU: 1}}})}
    metadata = {"name": "p", "namespace": "ml", **row.get("metadata", {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [main], **row.get("spec", {})}}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["mistake"])
def test_a_common_mistake_is_named(row, labelled):
    """By the table, or by JSON where the verdict already says it."""
    told = " ".join(labelled.post("/v1/dry-run?output=table&wide=true", manifest_of(row)).text.split())  # lines wrap
    if row["says"] in told:
        return
    answer = labelled.post("/v1/dry-run", manifest_of(row)).json()
    (verdict,) = [job["verdict"]["text"] for job in answer["jobs"]]
    warnings = [f"warning: {each['path']}: {each['message']}" for each in answer["warnings"]]
    others = [text for each in answer["workloads"] for text in ["not evaluated: " + note for note in each["notEvaluated"]] + [claim["message"] for claim in each["claims"]]]
    assert " ".join(verdict.split()) in told and any(row["says"] in text for text in warnings + others)
    last = row["says"].removesuffix(", the API server would reject the pods").removesuffix(": is not in the cluster").split()[-1].rstrip("?.")
    assert last in verdict, "what would be right, or the name that is not there"


LOST_WISHES = [row for row in ROWS if "unknown key" in row["says"] or "has no effect" in row["says"]]


@pytest.mark.parametrize("row", LOST_WISHES, ids=lambda row: row["mistake"])
def test_a_wish_that_nobody_reads_is_a_mistake(row, labelled):
    """The pod would go anywhere."""
    (job,) = labelled.post("/v1/dry-run", manifest_of(row)).json()["jobs"]
    assert job["verdict"]["result"] == "mistake", job["verdict"]


@pytest.mark.parametrize(
    "pattern, text",
    [
        ("name.yaml", "The API server rejects the name Bad_Name."),
        ("selector.yaml", "spec.selector.matchLabels[app] in line 5 is no label of its pods: the API server rejects it."),
        ("a number among the arguments", 'args: item 1 should be a string: write "4".'),
        ("ports as a mapping", 'ports should be an array: begin each item with "- ".'),
        ("memory without its unit", 'The memory "64" is less than 1Mi; did you mean 64Mi?'),
        ("an amount left out", "The amount of nvidia.com/gpu has no value, which counts as 0."),
        ("Deployement", "The kind in line 2 is unknown; did you mean Deployment?"),
        ("a Job of the group apps/v1", "The apiVersion in line 1 is of another group; did you mean batch/v1?"),
        ("the resource directly in the container", "Unknown field nvidia.com/gpu; write it under spec.containers[0].resources.limits. As written, the pods ask for no GPU."),
        ("an amount with a unit", 'container "c": nvidia.com/gpu: "1 GPU" is not a quantity: there is no suffix " GPU"'),
    ],
)
def test_what_the_api_server_rejects_is_a_mistake(pattern, text, labelled):
    """In at most 20 words; and nothing is offered but its correction."""
    bodies = {os.path.basename(path): yaml.safe_load(read(path))["manifest"] for path in MISTAKES} | {row["mistake"]: manifest_of(row) for row in ROWS}
    job = labelled.post("/v1/dry-run", bodies[pattern]).json()["jobs"][0]
    assert (job["verdict"]["result"], job["verdict"]["text"], job["remedies"]) == ("mistake", text, [])


REJECTED = [
    ("Job", {}, {}, "restartPolicy is missing, should be Never or OnFailure."),
    ("Job", {"restartPolicy": "Always"}, {}, "restartPolicy should be Never or OnFailure."),
    ("Deployment", {"restartPolicy": "Never"}, {}, "restartPolicy should be Always."),
    ("DaemonSet", {}, {"selector": {}}, "spec.selector is empty: the API server rejects it."),
    ("Pod", {"restartPolicy": "always"}, {}, "restartPolicy should be Always or Never or OnFailure."),
    ("Pod", {"containers": []}, {}, "spec.containers is empty: the API server rejects it."),
    ("Pod", {"containers": [{"name": "c", "image": "x"}] * 2}, {}, "spec.containers[1].name is that of another container: the API server rejects it."),
    ("Pod", {"containers": [{"image": "x"}]}, {}, "spec.containers[0].name is missing: the API server rejects it."),
    ("Pod", {"tolerations": [{"key": "a", "operator": "exists"}]}, {}, "operator should be Equal or Exists."),
    ("Pod", {"tolerations": [{"key": "a", "operator": "Exists", "value": "b"}]}, {}, "value should be empty with operator Exists."),
    ("Pod", {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "Never"}]}, {}, "whenUnsatisfiable should be DoNotSchedule or ScheduleAnyway."),
]


@pytest.mark.parametrize("kind, pod_spec, spec, text", REJECTED)
def test_what_an_object_needs(kind, pod_spec, spec, text, service):
    body = {"containers": [{"name": "c", "image": "x", "resources": {"limits": {GPU: 1}}}], **pod_spec}
    manifest = {"apiVersion": {"Pod": "v1", "Job": "batch/v1"}.get(kind, "apps/v1"), "kind": kind, "metadata": {"name": "a"}, "spec": body}
    if kind != "Pod":
        template = {"metadata": {"labels": {"app": "a"}}, "spec": body}
        manifest["spec"] = {"selector": {"matchLabels": {"app": "a"}}, "template": template, **spec}
    (job,) = service.post("/v1/dry-run", manifest).json()["jobs"]
    assert (job["verdict"]["result"], job["verdict"]["text"], job["remedies"]) == ("mistake", text, [])


def test_a_version_that_is_not_served_any_more(service):
    manifest = {"apiVersion": "extensions/v1beta1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": {"template": {"spec": pod()["spec"]}}}
    (job,) = service.post("/v1/dry-run", manifest).json()["jobs"]
    assert (job["verdict"]["result"], job["verdict"]["text"]) == ("mistake", "The apiVersion is not served any more; write apps/v1.")


def test_names_that_no_node_has_have_their_line(labelled):
    text = """kind: Pod
apiVersion: v1
metadata: {name: a, namespace: ml}
spec:
  nodeSelector:
    pool: gpu-larg
  containers:
  - name: side
    image: x
  - name: main
    image: x
    resources:
      limits:
        nvidia.com/gpus: 1
"""
    other = text.replace("name: a,", "name: b,")
    for body, lines in ((text, [6, 14]), (f"{text}---\n{other}", [6, 14, 21, 29]), (json.dumps({"workloads": [text, other]}), [6, 14, 6, 14])):
        answer = labelled.post("/v1/dry-run", body).json()
        assert [warning.get("line") for warning in answer["warnings"]] == lines, body


def test_there_are_many_mistakes():
    assert len({row["mistake"] for row in ROWS}) == len(ROWS)
    assert len(ROWS) + len(MISTAKES) + len(NOT_UNDERSTOOD) + len(NOT_EVALUATED) >= 80


@pytest.mark.parametrize("path", SHAPES, ids=os.path.basename)
def test_the_pods_of_a_kind(path, service):
    case = yaml.safe_load(read(path))
    answer = service.post("/v1/dry-run", case["manifest"]).json()
    found = [{key: workload[key] for key in ("name", "replicas", "asksFor", "models")} for workload in answer["workloads"]]
    assert found == case["workloads"], case["because"]
    assert (answer["warnings"], answer["notUnderstood"]) == ([], [])


@pytest.mark.parametrize("path", NOT_UNDERSTOOD, ids=os.path.basename)
def test_a_request_in_no_template(path, service):
    case = yaml.safe_load(read(path))
    answer = service.post("/v1/dry-run", case["manifest"]).json()
    found = [{key: value for key, value in entry.items() if key != "message"} for entry in answer["notUnderstood"]]
    assert (found, answer["summary"]) == (case["notUnderstood"], case["summary"]), case["because"]
    lines = service.post("/v1/dry-run?output=table", case["manifest"]).text.splitlines()
    assert sum(line.startswith("not understood: ") for line in lines) == len(found)


@pytest.mark.parametrize("path", NOT_EVALUATED, ids=os.path.basename)
def test_what_is_not_evaluated(path, service):
    case = yaml.safe_load(read(path))
    (workload,) = service.post("/v1/dry-run", case["manifest"]).json()["workloads"]
    assert workload["notEvaluated"] == case["notEvaluated"], case["because"]
    assert workload["summary"] == case.get("summary", workload["summary"]), case["because"]


def test_a_workflow_gives_few_bytes_to_its_templates(service):
    """Each template would copy them."""
    template = {"name": "t", "container": {"resources": {"limits": {GPU: 1}}}}
    spec = {"podMetadata": {"annotations": {"a": "x" * 5000}}, "templates": [template] * 20}
    answer = service.post("/v1/dry-run", {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"name": "w"}, "spec": spec}).json()
    assert answer["workloads"] == []
    assert len(answer["notUnderstood"]) == 16 and answer["notUnderstood"][0]["path"] == "spec.templates[t].container.resources.limits"


def test_a_hundred_requests_are_shown(service):
    thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"limits": {GPU: 1}}}
    answer = service.post("/v1/dry-run", {"apiVersion": "v1", "kind": "List", "items": [thing] * 150}).json()
    assert len(answer["notUnderstood"]) == 100 and answer["summary"].startswith("100 requests for GPUs not understood (Thing t: spec.limits); ")


def test_the_table_names_the_warnings(service):
    text = service.post("/v1/dry-run?output=table", pod(spec={"containers": [{"name": "c", "resources": {"limit": {}}}]})).text
    assert "Unknown field limit; did you mean limits?" in text and "(spec.containers[0].resources.limit)\n" in text and "warning: spec" not in text


def test_a_warning_without_a_line_stands_once(service):
    """JSON in one body has no lines: the verdict says where, and the warning is not repeated below. Others stay, apart from several jobs."""
    wrong = {"name": "c", "resources": {"limits": {GPU: 1}, "limit": {}}}
    text = service.post("/v1/dry-run?output=table", pod("a", spec={"containers": [wrong, {**wrong, "name": "d"}]})).text
    assert text.count("containers[0].resources.limit)") == 1 and text.count("warning: ") == 1 and "warning: spec.containers[1].resources.limit" in text, text
    one, other = (pod(name, spec={"containers": [wrong], "nodeSelectors": {}}) for name in "ab")
    several = service.post("/v1/dry-run?output=table", {"apiVersion": "v1", "kind": "List", "items": [one, other]}).text
    assert "\n\nwarning: Pod ml/a: " in several, several


def test_a_hundred_unknown_fields_are_shown(service):
    assert len(warnings_of(service, pod(spec={"containers": [], **{f"field{i}": 1 for i in range(150)}}))) == 100


def test_comparisons_are_bounded(service):
    """An unknown name is compared with all fields of its type, and a manifest may have a million."""
    own = {f"own{i}": 1 for i in range(1000)}
    spec = {"nodeselector": {}, **own, "tolerationz": [], "containers": [{"name": "c"}]}
    asking = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"template": {"spec": spec}}}
    assert warnings_of(service, asking) == {"spec.template.spec.nodeselector": "unknown field; did you mean nodeSelector?"}


def test_the_document_names_the_release():
    version = re.search(r"k8s.io/api v[\d.]+\d", read(f"{ROOT}/tests/schema/go.mod"))[0]
    assert version in read(f"{ROOT}/docs/openapi.yaml") and version in read(f"{ROOT}/src/objects/templates/schema_table.c")


@pytest.mark.long  # it asks Go, whose modules may have to be fetched
def test_the_fields_are_those_of_kubernetes():
    """Regenerates src/objects/templates/schema_table.c."""
    done = subprocess.run([f"{ROOT}/tests/schema/generate"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode == NOT_HERE:
        pytest.skip(done.stdout.strip().rpartition("\n")[2])
    assert done.returncode == 0, done.stderr
    assert done.stdout == read(f"{ROOT}/src/objects/templates/schema_table.c"), "run tests/schema/generate > src/objects/templates/schema_table.c"


SECOND = """apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
scheduler: {names: [gpu-scheduler]}
"""
UNASKED = "spec.tasks[0].template.spec.schedulerName is not set: default-scheduler does not ask gpu-extender; write gpu-scheduler"
MISSPELT = "spec.tasks[0].template.spec.schedulerName gpu-schduler does not ask gpu-extender; did you mean gpu-scheduler?"
OTHERS = "spec.schedulerName volcano: that scheduler's own rules are not judged"


@pytest.mark.parametrize("around, inside, line", [({}, {}, UNASKED), ({}, {"schedulerName": "gpu-scheduler"}, None), ({"schedulerName": "volcano"}, {}, OTHERS), ({}, {"schedulerName": "gpu-schduler"}, MISSPELT),
                                                  ({"schedulerName": "volcano"}, {"schedulerName": "gpu-scheduler"}, None)])  # fmt: skip
def test_pods_that_do_not_come_to_a_second_scheduler_are_told(around, inside, line, module_service, tmp_path_factory):
    """A pod that names no scheduler has that of the object around it."""
    policy = tmp_path_factory.mktemp("second") / "policy.yaml"
    policy.write_text(SECOND)
    service = module_service(node("a", 8), options=("--config", policy))
    spec = {"containers": [{"name": "c", "resources": {"limits": {GPU: 1}}}], **inside}
    job = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "v"}, "spec": {**around, "tasks": [{"replicas": 1, "template": {"spec": spec}}]}}
    answer = service.post("/v1/dry-run", job).json()
    said = [line for line in answer["workloads"][0]["notEvaluated"] if "schedulerName" in line]
    warned = [f"{item['path']} {item['message']}" for item in answer["warnings"] if "schedulerName" in item["path"]]
    assert [*said, *warned] == ([line] if line else [])


@pytest.mark.parametrize(
    "lines, place",
    [
        (["metadata:", "  name: a", "spec:", "  containers:", "  - name: c", "   image: x"], "image is indented by 3, should be 4 as name in line 6"),
        (["metadata:", "  name: a", " labels: {}"], "labels is indented by 1, should be 2 as name in line 3"),
        (["spec:", "  containers:", "  - name: c", " volumes: []"], "volumes is indented by 1, should be 2 as containers in line 3"),
    ],
)
def test_wrong_indentation_is_measured(service, lines, place):
    answer = service.post("/v1/dry-run", "\n".join(["kind: Pod", *lines, ""]))
    assert answer.status == 400 and place in answer.json()["error"], answer.text
