"""The dry run states what it understood of a manifest: the amounts and models that each workload asks for, as JSON and as one line of the table;
what it suggests for mistyped models, and its warnings about annotations that have no effect."""

import glob
import os
import re

import pytest
from objects import GPU, annotated, list_text, merged, node, pod
from service import ROOT

GIB = 2**30
MANIFESTS = sorted(glob.glob(f"{ROOT}/examples/workloads/*") + glob.glob(f"{ROOT}/tests/wire/founding/*.yaml"))


@pytest.fixture(scope="module")
def service(module_service):
    asking = annotated("waits", 1, models="H100-80GB, A100", exclude_models="K80", min_gpu_memory="32Gi")
    return module_service(node("a", 8), node("cpu", None), merged(asking, {"spec": demand(**{GPU: 3, "cpu": "1500m", "memory": "3Gi"})}))


def demand(**limits):
    return {"containers": [{"name": "c", "resources": {"limits": {name: str(amount) for name, amount in limits.items()}}}]}


def deployment(annotations, containers):
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "ml"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}, "annotations": annotations}, "spec": containers},
        },
    }


def workload_of(service, asking):
    (workload,) = service.post("/v1/dry-run", asking).json()["workloads"]
    return workload


@pytest.mark.parametrize("memory, cpu, amounts", [("64000Mi", "8500m", "8.5 CPU, 62.5Gi"), ("64001Mi", "500m", "500m CPU, 64001Mi")])
def test_amounts_are_in_the_unit_in_which_people_read_them(service, memory, cpu, amounts):
    asking = deployment({}, demand(**{GPU: 1, "cpu": cpu, "memory": memory}))
    assert f"1 {GPU}, {amounts}" in service.post("/v1/dry-run?output=table&width=200", asking).text


def test_amounts_are_per_replica_and_gpus_come_first(service):
    asking = deployment({"gpu-extender.io/models": "H100-80GB, A100"}, demand(**{GPU: 4, "cpu": 8, "memory": "64Gi"}))
    workload = workload_of(service, asking)
    assert workload["asksFor"] == {GPU: 4, "cpu": 8000, "memory": 64 * GIB}
    assert workload["models"] == {"accept": ["H100-80GB", "A100"]}
    assert workload["understood"] == "asks for 4 H100-80GB or else A100, 8 CPU, 64Gi"


def test_a_misspelled_key_asks_for_no_gpu(service):
    asking = pod(spec={"containers": [{"name": "c", "resources": {"limit": {GPU: "4"}}}]})
    workload = workload_of(service, asking)
    assert (workload["asksFor"], workload["models"]) == ({}, {})
    assert workload["understood"] == "asks for no GPU"
    assert workload["verdict"]["result"] == "mistake" and "no GPU" in workload["verdict"]["text"]


def test_no_gpu_stands_before_the_other_amounts(service):
    asking = pod(spec=demand(**{"cpu": "250m", "example.com/fpga": 2}))
    workload = workload_of(service, asking)
    assert workload["asksFor"] == {"cpu": 250, "example.com/fpga": 2}
    assert workload["understood"] == "asks for no GPU, 250m CPU, 2 example.com/fpga"


@pytest.mark.parametrize(
    "wishes, models, text",
    [
        ({"models": "h100"}, {"accept": ["H100"]}, "1 H100"),
        ({"exclude_models": "K80, T4"}, {"exclude": ["K80", "T4"]}, f"1 {GPU}; not K80 or T4"),
        ({"min_gpu_memory": "40Gi"}, {"minMemory": 40 * GIB}, f"1 {GPU}; at least 40Gi of GPU memory"),
        (
            {"models": "A100, H100", "exclude_models": "K80", "min_gpu_memory": "40Gi"},
            {"accept": ["A100", "H100"], "exclude": ["K80"], "minMemory": 40 * GIB},
            "1 A100 or else H100; not K80, at least 40Gi of GPU memory",
        ),
    ],
)
def test_only_the_wishes_of_the_pod_are_members(wishes, models, text, service):
    asking = annotated("new", 1, **wishes)
    workload = workload_of(service, asking)
    assert workload["models"] == models
    assert workload["understood"] == f"asks for {text}"


@pytest.mark.parametrize(
    "asked, models, text",
    [
        ({"nvidia.com/mig-1g.5gb": 2}, "A100", "2 nvidia.com/mig-1g.5gb; on A100"),
        ({GPU: 1, "amd.com/gpu": 2}, "A100, MI300X", f"2 amd.com/gpu, 1 {GPU}; on A100 or else MI300X"),
        ({GPU: 1, "ephemeral-storage": "10Gi", "hugepages-1Gi": "2Gi", "mem": "3Gi"}, "T4", "1 T4, 10Gi of storage, 2Gi of hugepages-1Gi, 3Gi of mem"),
    ],
)
def test_no_resource_is_lost_behind_a_model(asked, models, text, service):
    asking = merged(annotated("new", 1, models=models), {"spec": demand(**asked)})
    assert workload_of(service, asking)["understood"] == f"asks for {text}"


def test_pending_and_dry_run_read_a_pod_alike(service):
    (waiting,) = service.get("/v1/pending").json()["pods"]
    asking = annotated("new", 1, models="H100-80GB, A100", exclude_models="K80", min_gpu_memory="32Gi")
    workload = workload_of(service, merged(asking, {"spec": demand(**{GPU: 3, "cpu": "1500m", "memory": "3Gi"})}))
    assert workload["asksFor"] == waiting["requests"]
    assert list(workload["models"].values()) == list(waiting["gpuModels"].values())


def test_an_unreadable_template_asks_for_nothing(service):
    workload = workload_of(service, deployment({}, {"containers": "none"}))
    assert (workload["understood"], workload["asksFor"], workload["models"]) == (None, {}, {})


def test_long_lists_are_shortened_in_the_line_only(service):
    resources = {f"example.com/r{i:03}": 1 for i in range(100)}
    asking = annotated("new", models=",".join(f"M{i}" for i in range(200)))
    asking["spec"] = demand(**{GPU: 1}, **resources)
    workload = workload_of(service, asking)
    assert workload["asksFor"] == {GPU: 1, **resources} and len(workload["models"]["accept"]) == 200
    shown = ", ".join(f"1 {name}" for name in sorted(resources)[:5])
    models = " or else ".join(f"M{i}" for i in range(6))
    assert workload["understood"] == f"asks for 1 {models} or else 194 more, {shown} and 95 more"


def test_control_characters_do_not_reach_the_terminal(service):
    asking = annotated("new", 1, models="T4\u009b2J")
    _, line, *_ = service.post("/v1/dry-run?output=table", asking).text.splitlines()
    assert line.lstrip().startswith("No node has the model T4 2J")


# ---- did you mean ----


def fleet(*models):
    return [node(f"n{i}", 8, model) for i, model in enumerate(models)]


def summary_of(service, **wishes):
    return service.post("/v1/dry-run", annotated("new", 1, **wishes)).json()["summary"]


def test_a_mistyped_model_is_answered_with_the_nearest(start_over):
    service = start_over(
        *fleet("NVIDIA-H100-80GB-HBM3", "NVIDIA-GeForce-RTX-2080-Ti", "NVIDIA-L40S"), annotated("waits", 1, models="H10O, 2080Ti")
    )
    here = "the GPUs here are H100-80GB-HBM3, RTX-2080-Ti, L40S"
    first = '; "H10O": no node has it; did you mean H100-80GB-HBM3?'
    second = '; "2080-Ti": no node has it; did you mean RTX-2080-Ti?'
    assert summary_of(service, models="H10O").endswith(f"; it asks for H10O, {here}{first}")
    (waiting,) = service.get("/v1/pending").json()["pods"]
    assert waiting["summary"].endswith(f"; it asks for H10O or 2080-Ti, {here}{first}{second}")
    assert service.get("/v1/pods/ml/waits/explain").json()["pod"]["summary"] == waiting["summary"]


def test_no_suggestion_is_better_than_a_wrong_one(start_over):
    service = start_over(*fleet("NVIDIA-H100-80GB-HBM3", "NVIDIA-L40S"))
    for models in ("H200", "L40", "A100", "H100-40GB", "gold"):
        summary = summary_of(service, models=models)
        assert "did you mean" not in summary and "the GPUs here are" in summary, summary
    assert "did you mean" not in summary_of(service, models="H10O", exclude_models="H100"), "the pod excludes it"
    assert "did you mean" not in summary_of(service, models="H100", min_gpu_memory="900Gi"), "nodes have it"


def test_a_node_without_a_memory_label_hides_no_other(start_over):
    labelled = node("n1", 8, "Tesla-T4", metadata={"labels": {"nvidia.com/gpu.memory": "15360"}})
    service = start_over(node("n0", 8, "Tesla-T4"), labelled)
    assert summary_of(service, models="TeslaT4-16GB").endswith('"TESLAT4-16GB": no node has it; did you mean T4-16GB?')


def test_few_suggestions_are_shown(start_over):
    service = start_over(*fleet("NVIDIA-H100-80GB-HBM3"))
    assert summary_of(service, models=",".join(["H10O"] * 200)).count("did you mean") == 6


def test_suggestions_of_one_answer_are_bounded(start_over):
    """Each compares the mistyped name with all models; one request may name thousands."""
    service = start_over(*[node(f"n{i}", 8, f"NVIDIA-H1{i:02}") for i in range(30)])
    mistyped = [annotated(f"p{i}", 1, models="H1OO") for i in range(1000)]
    answer = service.post("/v1/dry-run", {"apiVersion": "v1", "kind": "List", "items": mistyped}).json()
    n_guessed = sum("did you mean" in workload["summary"] for workload in answer["workloads"])
    assert 0 < n_guessed < len(answer["workloads"]) == 1000


# ---- hostile names ----


def test_a_resource_name_over_317_bytes_is_rejected(service):
    """The API server takes no such name, and an answer would repeat it for each node."""
    longest = "x" * 317
    assert longest in service.post("/v1/dry-run", pod("new", spec=demand(**{longest: 1}))).text
    summary = workload_of(service, pod("new", spec=demand(**{longest + "x": 1})))["summary"]
    assert "the name" in summary and "has 318 bytes, should have at most 317" in summary and len(summary) < 400


def test_the_text_of_yaml_aliases_is_bounded(service):
    """20 MB out of 100 kB: each pod would copy the long value."""
    first = f"{{apiVersion: v1, kind: Pod, metadata: {{name: a}}, spec: &spec {{nodeSelector: {{a: {'x' * 100000}}}, containers: [{{name: c}}]}}}}"
    others = "".join(f"- {{apiVersion: v1, kind: Pod, metadata: {{name: p{i}}}, spec: *spec}}\n" for i in range(200))
    answer = service.post("/v1/dry-run", f"apiVersion: v1\nkind: List\nitems:\n- {first}\n{others}")
    assert answer.status == 413
    assert "the aliases expand to more than 3200000 bytes of text" in answer.json()["error"]


# ---- warnings ----

OBJECT, TEMPLATE = "metadata", "spec.template.metadata"
MODELS = "gpu-extender.io/models"


def warnings_of(service, asking):
    return [(item["path"], item["message"]) for item in service.post("/v1/dry-run", asking).json()["warnings"]]


def test_an_annotation_on_the_wrong_object(service):
    asking = deployment({}, demand(**{GPU: 1}))
    asking["metadata"].update(annotations={MODELS: "T4", "other.io/models": "x"}, labels={"gpu-extender.io/allow-shared": "true"})
    where = "write it under spec.template.metadata.annotations"
    assert warnings_of(service, asking) == [
        (f"{OBJECT}.annotations[{MODELS}]", f"has no effect here; {where}"),
        (f"{OBJECT}.labels[gpu-extender.io/allow-shared]", f"a label has no effect; {where}"),
    ]
    lines = service.post("/v1/dry-run?output=table&width=400", asking).text.splitlines()
    assert lines[1].strip() == f"The annotation {MODELS} has no effect here; {where}. ({OBJECT}.annotations[{MODELS}])"


def test_a_label_instead_of_an_annotation(service):
    asking = pod("new", 1, metadata={"labels": {MODELS: "T4", "app": "web"}})
    assert warnings_of(service, asking) == [
        (f"metadata.labels[{MODELS}]", "a label has no effect; write it under metadata.annotations")
    ]


@pytest.mark.parametrize(
    "key, message",
    [
        ("gpu-extender.io/model", "unknown key; did you mean gpu-extender.io/models?"),
        ("gpu-extender.io/min-memory", "unknown key; did you mean gpu-extender.io/min-gpu-memory?"),
        ("gpu-extender.io/colour", "unknown key"),
        ("gpu-extender.com/models", "unknown key; did you mean gpu-extender.io/models?"),
        ("gpuextender.io/exclude-models", "unknown key; did you mean gpu-extender.io/exclude-models?"),
        ("min-gpu-memory", "unknown key; did you mean gpu-extender.io/min-gpu-memory?"),
        ("gpu-extender.io/gangs", "unknown key; did you mean gpu-extender.io/gang?"),
        ("gpu-extender.io/quota", "has no effect here; it is a label of namespaces"),
        ("gpu-extender.io/wake", "has no effect here; it is an annotation of nodes"),
        ("models", None),
        ("gang", None),
        ("mlflow.org/models", None),
        ("gpu-extender.io/bound-by", None),
        (MODELS, None),
    ],
)
def test_a_mistyped_key(key, message, service):
    wanted = [(f"{TEMPLATE}.annotations[{key}]", message)] if message else []
    assert warnings_of(service, deployment({key: "A100"}, demand(**{GPU: 1}))) == wanted


# With our prefix, but no key of metadata: resources, taints, attributes of devices, apiVersion.
NO_KEYS = {"claims", "quarantine", "tainted", "not-judged", "rounded", "left-out", "v1alpha1"}


def test_every_key_that_the_product_reads_is_known(service):
    sources = "".join(open(path).read() for path in glob.glob(f"{ROOT}/src/**/*.[ch]", recursive=True) + glob.glob(f"{ROOT}/include/**/*.h", recursive=True))
    keys = set(re.findall(r'(?:"gpu-extender\.io/|ANNOTATION_PREFIX ")([a-z0-9-]+)"', sources)) - NO_KEYS
    assert {"models", "gang-size", "bound-by", "quarantine-lifted"} <= keys
    unknown = [key for key in keys if any("unknown" in message for _, message in warnings_of(service, deployment({f"gpu-extender.io/{key}": "1"}, demand(**{GPU: 1}))))]
    assert unknown == []


def test_annotations_of_groups_while_there_are_none(service):
    asking = deployment({"gpu-extender.io/gang": "train", "gpu-extender.io/gang-size": "2"}, demand(**{GPU: 1}))
    assert warnings_of(service, asking) == []
    notes = [note for note in workload_of(service, asking)["notEvaluated"] if "gang" in note]
    assert notes == ["annotation gpu-extender.io/gang has no effect: gangs.mode is off"]


def test_an_annotation_on_both_objects_gets_no_warning(service):
    asking = deployment({MODELS: "A100"}, demand(**{GPU: 1}))
    asking["metadata"]["annotations"] = {MODELS: "A100"}
    assert warnings_of(service, asking) == []


def test_a_hundred_warnings_are_shown(service):
    assert len(warnings_of(service, annotated("new", 1, **{f"colour-{i}": "x" for i in range(150)}))) == 100


MISTAKES_OF_GUIDES = {
    "000-02.yaml": [("kind", "unknown kind; did you mean Pod?")],
    "003-05.yaml": [("Pod ml-training/ml-training-pod: spec.containers[0].env[0]", "NVIDIA_VISIBLE_DEVICES=all bypasses the allocation")],
}


@pytest.mark.parametrize("path", MANIFESTS, ids=os.path.basename)
def test_correct_manifests_get_no_warning(path, service):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    answer = service.post("/v1/dry-run", text)
    if "resource.k8s.io/v1alpha2" in text:  # no version of today: test_founding_claims.py
        assert answer.json()["warnings"]
        return
    said = [(each["path"], each["message"].partition(":")[0]) for each in answer.json()["warnings"]]
    assert said == MISTAKES_OF_GUIDES.get(os.path.basename(path), [])


BROKEN = "kind: Pod\nmetadata:\n  name: a\n namespace: b\n"


def test_a_mistake_says_where(service):
    answer = service.post("/v1/dry-run?output=table&width=200", BROKEN)
    assert (answer.status, answer.headers["content-type"]) == (400, "text/plain; charset=utf-8")
    assert answer.text.splitlines() == [
        "MISTAKE  manifest, line 4: namespace is indented by 1, should be 2 as name in line 3 (did not find expected key)",
        "         Nothing was judged.",
    ]
    assert service.post("/v1/dry-run", BROKEN).json() == {"error": "manifest: 4:2: namespace is indented by 1, should be 2 as name in line 3 (did not find expected key)"}
    assert service.post("/v1/dry-run?output=table", '{"kind": "Pod",}').text.startswith("MISTAKE  manifest, line 1, column 16: ")


def test_a_mistake_among_other_objects_comes_first(service):
    lines = service.post("/v1/dry-run?output=table", list_text(pod("new", 1)) + "\n---\nfoo: 1\n").text.splitlines()
    assert lines[0] == "MISTAKE  line 3: kind: is missing"
    assert any(line.startswith("FITS  Pod ") for line in lines) and not any(line.startswith("skipped") for line in lines)
