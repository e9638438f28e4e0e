"""Names in a manifest that no node has: the dry run warns with the nearest that exists."""

import pytest
from objects import GPU, node, pod

LABELS = {"pool": "gpu-large", "node.kubernetes.io/instance-type": "p4d.24xlarge"}


@pytest.fixture(scope="module")
def service(module_service):
    others = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in ("ml", "ml-team")
    ] + [{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high-priority"}, "value": 1000}]
    return module_service(node("a", 8, metadata={"labels": LABELS}), node("h", 8, "NVIDIA-H100-80GB-HBM3"), *others)


def warnings_of(service, **changes):
    return {item["path"]: item["message"] for item in service.post("/v1/dry-run", pod(**changes)).json()["warnings"]}


def wishes(**annotations):
    return {"metadata": {"annotations": {"gpu-extender.io/" + key: value for key, value in annotations.items()}}}


MODELS = "metadata.annotations[gpu-extender.io/models]"
PRODUCT = "nvidia.com/gpu.product"


@pytest.mark.parametrize(
    ("changes", "path", "message"),
    [
        ({"spec": {"nodeSelector": {"poool": "gpu-large"}}}, "spec.nodeSelector[poool]", "no node has this label; did you mean pool?"),
        ({"spec": {"nodeSelector": {"pool": "gpu_large"}}}, "spec.nodeSelector[pool]", '"gpu_large": no node has this value; did you mean gpu-large?'),
        ({"spec": {"nodeSelector": {PRODUCT: "A100"}}}, f"spec.nodeSelector[{PRODUCT}]", '"A100": no node has this value; did you mean NVIDIA-A100-SXM4-80GB?'),
        ({"resource": "nvidia.com/gpus"}, "spec.containers.resources[nvidia.com/gpus]", f"no node has this resource; did you mean {GPU}?"),
        ({"resource": "gpu"}, "spec.containers.resources[gpu]", f"no node has this resource; did you mean {GPU}?"),
        (wishes(**{"exclude-models": "A1OO"}), "metadata.annotations[gpu-extender.io/exclude-models]", '"A1OO": no node has it; did you mean A100-SXM4-80GB?'),
        (wishes(models="A1OO, H100"), MODELS, '"A1OO": no node has it; did you mean A100-SXM4-80GB?'),
        (wishes(models="H100 A100"), MODELS, '"H100 A100" is read as one model; write "H100, A100"'),
    ],
)
def test_the_nearest_is_named(service, changes, path, message):
    assert warnings_of(service, **changes) == {path: message}


def test_runtime_classes_that_the_file_lacks_are_unknown(service):
    answer = service.post("/v1/dry-run", pod(spec={"runtimeClassName": "nvida"})).json()
    assert answer["warnings"] == [] and answer["workloads"][0]["placed"] == 1
    assert "runtimeClassName nvida: not checked, the runtime classes of the cluster are unknown" in answer["workloads"][0]["notEvaluated"]


@pytest.mark.parametrize("kind", ["Pod", "Job"])
@pytest.mark.parametrize("source", ["file", "live"])
def test_what_a_runtime_class_adds_is_not_evaluated(request, source, kind):
    """Its overhead would leave no room here and its node selector no node: both are left out of the verdicts, and the answer says so.

    A service that follows an API server never asks for the classes.
    """
    runtime_class = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "nvidia", "uid": "nvidia"},
        "handler": "nvidia",
        "overhead": {"podFixed": {"memory": "4Ti"}},
        "scheduling": {"nodeSelector": {"pool": "none"}},
    }
    made = pod("new", 1, spec={"runtimeClassName": "nvidia"})
    if kind == "Job":
        made = {"apiVersion": "batch/v1", "kind": kind, "metadata": made["metadata"], "spec": {"template": {"spec": made["spec"]}}}
    if source == "file":
        service = request.getfixturevalue("start_over")(node("a", 8), runtime_class)
    else:
        service = request.getfixturevalue("follow")()
        service.settle()
    workload = service.post("/v1/dry-run", made).json()["workloads"][0]
    unknown = "runtimeClassName nvidia: not checked, the runtime classes of the cluster are unknown"
    added = "runtimeClassName nvidia: admission may add overhead, a node selector and tolerations"
    assert workload["placed"] == 1
    assert sum(added in note for note in workload["notEvaluated"]) == 1, workload["notEvaluated"]
    assert (unknown in workload["notEvaluated"]) == (source == "live")


@pytest.mark.parametrize(
    "changes",
    [
        {"spec": {"nodeSelector": {"pool": "gpu-large", PRODUCT: "NVIDIA-A100-SXM4-80GB"}}},
        {"spec": {"nodeSelector": {"pool": "cpu-small"}}},
        {"spec": {"nodeSelector": {"karpenter.sh/nodepool": "gpu"}}},
        {"resource": "amd.com/gpu"},
        wishes(models="H200, H100"),
        wishes(**{"exclude-models": "K80, T4"}),
        {"spec": {"priorityClassName": "low"}, "metadata": {"namespace": "research"}},
    ],
)
def test_no_false_alarm(service, changes):
    assert warnings_of(service, **changes) == {}


def test_the_nearest_namespace_and_priority_class(service):
    assert warnings_of(service, spec={"priorityClassName": "high-prioirty"}, metadata={"namespace": "ml-taem"}) == {
        "metadata.namespace": '"ml-taem": there is no such namespace; did you mean ml-team?',
        "spec.priorityClassName": '"high-prioirty": there is no such priority class; did you mean high-priority?',
    }


def test_kinds_that_were_not_listed_have_no_names(module_service):
    """The file has neither namespaces nor priority classes."""
    bare = module_service(node("a"))
    assert warnings_of(bare, spec={"priorityClassName": "high-prioirty"}, metadata={"namespace": "ml-taem"}) == {}


def affinity(*expressions, **kinds):
    term = {"matchExpressions": [{"key": key, "operator": operator, **({"values": values} if values else {})} for key, operator, values in expressions]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": term}]}
    return {"spec": {"affinity": {"nodeAffinity": preferred if kinds.get("preferred") else required}}}


@pytest.mark.parametrize("separator", [" ", "/", ";", "|", " | "])
def test_other_separators_are_explained(service, separator):
    written = separator.join(("A100", "H100"))
    assert warnings_of(service, **wishes(models=written)) == {MODELS: f'"{written}" is read as one model; write "A100, H100"'}


@pytest.mark.parametrize("preferred", [False, True])
def test_affinity_is_checked(service, preferred):
    changes = affinity(("pool", "In", ["gpu-larg", "gpu_large"]), preferred=preferred)
    assert list(warnings_of(service, **changes)) == ["spec.affinity.nodeAffinity[pool]"]
    changes = affinity(("poool", "Exists", None), preferred=preferred)
    assert warnings_of(service, **changes) == {"spec.affinity.nodeAffinity[poool]": "no node has this label; did you mean pool?"}


@pytest.mark.parametrize("preferred", [False, True])
@pytest.mark.parametrize("expression", [("pool", "In", ["gpu-large", "gpu-larger"]), ("pool", "NotIn", ["gpu-larg"]), ("poool", "DoesNotExist", None)])
def test_affinity_that_can_hold_gives_no_alarm(service, expression, preferred):
    assert warnings_of(service, **affinity(expression, preferred=preferred)) == {}


def test_huge_names_are_not_compared(service):
    long = "-" * 1_900_000
    assert warnings_of(service, **affinity(("pool", "In", [long]), (long, "Exists", None))) == {}
