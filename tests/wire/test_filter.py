"""POST /scheduler/filter: which of these nodes may the pod run on? Answers by PROTOCOL 1.4, 5.1 and 5.2."""

import json

import pytest
from objects import GPU, annotated, container, filter_args, kindless, merged, node, pod

PREFIX = "gpu-extender: "
MESSAGES = {  # the closed table, as users see it; a message that changes wakes its pod (PROTOCOL 6.2)
    "absent": PREFIX + "the node has no GPUs of the requested resource",
    "mig": PREFIX + "the node's GPUs are MIG slices, not whole ones",
    "shared": PREFIX + "the node shares its GPUs among pods",
    "free": PREFIX + "the node has too few free GPUs now",
    "legacy": PREFIX + "the node does not match the pod's annotation scheduler.alpha.kubernetes.io/affinity",
    "model": PREFIX + "the node's GPU model is not one that the pod asks for",
    "total": PREFIX + "the node has too few GPUs in total",
    "unknown model": PREFIX + "the node's GPU model is unknown",
    "unknown node": PREFIX + "the node is not in the inventory",
}
NODES = [
    node("a100-free"),
    node("a100-busy"),
    node("t4", 4, "Tesla-T4"),
    node("v100-over", 4, "Tesla-V100-SXM2-16GB"),
    node("nameless", 4, None),
    node("cpu", None, None),
]
PODS = [pod("busy-0", 6, "a100-busy"), pod("over-0", 3, "v100-over"), pod("over-1", 3, "v100-over")]
NAMES = ["cpu", "t4", "a100-busy", "gone", "v100-over", "a100-free", "nameless"]


@pytest.fixture(scope="module")
def service(module_service):
    return module_service(*NODES, *PODS)


def ask(service, asking, names=NAMES):
    answer = service.post("/scheduler/filter", filter_args(asking, names))
    assert answer.status == 200, answer
    return answer.json()


def verdicts(service, asking):
    """Node -> "" where it passed, else the message; every name is in exactly one place."""
    result = ask(service, asking)
    assert result["Error"] == "" and result["FailedNodes"] == {}
    passed, failed = result["NodeNames"], result["FailedAndUnresolvableNodes"]
    assert sorted([*passed, *failed]) == sorted(NAMES)
    return {**dict.fromkeys(passed, ""), **failed}


def messages(**by_word):
    """messages(cpu="absent") -> {"cpu": its text}; names that python would not take are written with "_" for "-"."""
    return {name.replace("_", "-"): MESSAGES[word] if word else "" for name, word in by_word.items()}


ONE_GPU = {"a100_free": "", "a100_busy": "", "t4": "", "v100_over": "free", "nameless": "", "cpu": "absent", "gone": "unknown node"}


def test_the_answer_has_exactly_the_members_of_ExtenderFilterResult(service):
    result = ask(service, pod())
    assert sorted(result) == ["Error", "FailedAndUnresolvableNodes", "FailedNodes", "NodeNames", "Nodes"]
    assert result["Nodes"] is None and result["Error"] == ""


def test_all_fitting_nodes_come_back_in_the_order_received(service):
    assert ask(service, pod())["NodeNames"] == ["t4", "a100-busy", "a100-free", "nameless"]
    turned = ask(service, pod(), NAMES[::-1])
    assert turned["NodeNames"] == ["nameless", "a100-free", "a100-busy", "t4"]


def test_rejected_nodes_are_unresolvable_with_a_documented_message(service):
    assert verdicts(service, pod()) == messages(**ONE_GPU)


def test_the_first_of_several_reasons_is_reported(service):
    """tests/cases/reasons has each reason alone. A too small node is not reported as full, nor one of another model as too small."""
    small = {name: "total" for name in ("t4", "v100_over", "nameless")}
    assert verdicts(service, pod(gpus=5)) == messages(**{**ONE_GPU, **small, "a100_busy": "free"})
    other = {"a100_busy": "free", "t4": "model", "v100_over": "model", "nameless": "unknown model"}
    assert verdicts(service, annotated(gpus=5, models="A100")) == messages(**{**ONE_GPU, **other})


def test_the_legacy_annotation_is_judged(service):
    term = {"matchExpressions": [{"key": "nvidia.com/gpu.product", "operator": "In", "values": ["Tesla T4"]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    asking = pod(metadata={"annotations": {"scheduler.alpha.kubernetes.io/affinity": json.dumps(affinity)}})
    found = verdicts(service, asking)
    assert [name for name, message in found.items() if not message] == ["t4"]
    assert found["a100-free"] == MESSAGES["legacy"]


def test_filter_judges_no_criteria_of_kube_scheduler(start_over):
    """Cordon, taints, readiness, selector, affinity, CPU, memory, pod slots: kube-scheduler has newer data. The dry run judges them."""
    taints = [{"key": "maintenance", "effect": "NoExecute"}]
    full = {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "0"}, "conditions": [{"type": "Ready", "status": "False"}]}
    service = start_over(node("a", spec={"unschedulable": True, "taints": taints}, status=full))
    large = container(resources={"requests": {"cpu": "500", "memory": "4Ti"}})
    terms = [{"matchExpressions": [{"key": "zone", "operator": "Exists"}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    asking = pod(spec={"containers": [large], "nodeSelector": {"disk": "ssd"}, "affinity": {"nodeAffinity": required}})
    assert ask(service, asking, ["a"])["NodeNames"] == ["a"]
    dry_run = service.post("/v1/dry-run", asking).json()
    assert dry_run["workloads"][0]["nodes"][0]["fits"] is False


@pytest.mark.parametrize("gpus", ["0", None])
def test_a_pod_without_gpus_fits_everywhere(gpus, service):
    assert verdicts(service, pod(gpus=gpus)) == messages(**{**dict.fromkeys(ONE_GPU, ""), "gone": "unknown node"})


def test_several_resources_must_all_fit(start_over):
    slices = {"nvidia.com/mig-1g.5gb": "2"}
    service = start_over(node("both", 1, status={"capacity": slices, "allocatable": slices}), node("whole", 8))
    asking = pod(spec={"containers": [container("a"), container("b", 2, "nvidia.com/mig-1g.5gb")]})
    result = ask(service, asking, ["both", "whole"])
    assert result["NodeNames"] == ["both"]
    assert result["FailedAndUnresolvableNodes"] == {"whole": MESSAGES["absent"]}


def labelled(name, model="Tesla-T4", gpus=4, shared=None, **labels):
    named = {"nvidia.com/gpu." + key.replace("_", "-"): value for key, value in labels.items()}
    amounts = {"nvidia.com/gpu.shared": shared} if shared else {}
    return node(name, gpus, model, metadata={"labels": named}, status={"capacity": amounts, "allocatable": amounts})


PARTS = [
    labelled("whole", replicas="1", sharing_strategy="none"),
    labelled("product", "Tesla-T4-SHARED"),
    labelled("replicas", replicas="4"),
    labelled("strategy", sharing_strategy="mps"),
    labelled("renamed", shared="4", replicas="4", sharing_strategy="time-slicing"),
    labelled("mig", "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"),
]
SHARED = dict.fromkeys(["product", "replicas", "strategy"], MESSAGES["shared"])


@pytest.mark.parametrize(
    ("asking", "refused"),
    [
        (pod(), {**SHARED, "mig": MESSAGES["mig"]}),
        (annotated(allow_shared="true"), {}),
        (annotated(allow_shared="false"), {**SHARED, "mig": MESSAGES["mig"]}),
        (annotated(models="A100-MIG-1g.5gb, T4"), SHARED),
        (annotated(models="A100", allow_shared="true"), dict.fromkeys([*SHARED, "whole", "renamed"], MESSAGES["model"])),
    ],
)
def test_nodes_with_partial_gpus_are_rejected(asking, refused, start_over):
    service = start_over(*PARTS)
    result = ask(service, asking, [item["metadata"]["name"] for item in PARTS])
    assert result["FailedAndUnresolvableNodes"] == refused


@pytest.mark.parametrize(
    ("asking", "words"),
    [
        (pod(gpus="1.5"), ["main", GPU, "1.5"]),
        (pod(gpus="-1"), ["main", GPU, "-1"]),
        (pod(gpus="two"), ["main", GPU, "two"]),
        (pod(spec={"containers": [container(resources={"requests": {GPU: "2"}, "limits": {GPU: "1"}})]}), ["main", GPU, "2", "1"]),
        (pod(spec={"containers": [container(resources={"requests": {GPU: "1"}, "limits": None})]}), ["main", GPU]),
        (pod(spec={"initContainers": [container("setup", "0.5")]}), ["setup", GPU, "0.5"]),
        (annotated(models="A100", exclude_models="A100"), ["A100"]),
        (annotated(min_gpu_memory="lots"), ["min-gpu-memory", "lots"]),
        (annotated(allow_shared="yes"), ["gpu-extender.io/allow-shared", '"yes"', '"true" or "false"']),
        (annotated(models=", ".join(f"X{i}" for i in range(500))), ["gpu-extender.io/models", "at most 1024"]),
        (pod(metadata={"annotations": {"scheduler.alpha.kubernetes.io/affinity": '{"nodeAffinity": ['}}), ["affinity", "1:"]),
    ],
)
def test_an_invalid_pod_is_rejected_on_every_node_with_its_fault(asking, words, service):
    known = [name for name in NAMES if name != "gone"]
    result = ask(service, asking, known)
    assert result["Error"] == "" and result["NodeNames"] == []
    failed = result["FailedAndUnresolvableNodes"]
    assert sorted(failed) == sorted(known)
    (message,) = set(failed.values())
    assert message.startswith(PREFIX)
    assert [word for word in words if word not in message] == [], message


def test_nodes_that_came_whole_go_back_whole(service):
    """nodeCacheCapable: false. What we do not read of a node (large integers, null, any text) is given back as it came."""
    extra = {"generation": 2**63 - 1, "creationTimestamp": None, "annotations": {"text": "<&>\u2028 \U0001f600 \u00e9"}}
    asked = [node("cpu", None, None), node("a100-free", metadata=extra), node("t4", 4, "Tesla-T4")]
    result = service.post("/scheduler/filter", filter_args(pod(), nodes=asked)).json()
    assert result["NodeNames"] is None
    assert result["Nodes"]["items"] == [kindless(item) for item in asked[1:]]
    assert result["FailedAndUnresolvableNodes"] == {"cpu": MESSAGES["absent"]}


def test_nodes_that_came_whole_are_judged_by_the_ledger(service):
    """Filter reads only the name of a node in the request."""
    asked = filter_args(pod(gpus=8), nodes=[node("t4", 64), node("a100-busy", 64)])
    result = service.post("/scheduler/filter", asked).json()
    assert result["Nodes"]["items"] == []
    assert result["FailedAndUnresolvableNodes"] == {"t4": MESSAGES["total"], "a100-busy": MESSAGES["free"]}


def test_node_names_take_precedence_over_nodes(service):
    both = {**filter_args(pod(), ["t4", "cpu"]), "Nodes": filter_args(pod(), nodes=[node("a100-free")])["Nodes"]}
    result = service.post("/scheduler/filter", both).json()
    assert (result["Nodes"], result["NodeNames"]) == (None, ["t4"])
    assert list(result["FailedAndUnresolvableNodes"]) == ["cpu"]


def test_empty_node_list_gives_an_empty_result(service):
    for arguments in (filter_args(pod(), []), filter_args(pod(), nodes=[])):
        result = service.post("/scheduler/filter", arguments).json()
        assert result["Error"] == "" and not result["FailedAndUnresolvableNodes"]
        assert result["NodeNames"] == [] or result["Nodes"]["items"] == []


@pytest.mark.parametrize("name", ["", "n" * 300, "\u00e9\U0001f600", "a100-free ", "A100-free", "../a100-free", "a100-free\n"])
def test_a_similar_name_is_unknown(name, service):
    result = ask(service, pod(), [name, "a100-free"])
    assert result["NodeNames"] == ["a100-free"]
    assert result["FailedAndUnresolvableNodes"] == {name: MESSAGES["unknown node"]}


def nominated(name, gpus, to, priority=10, **changes):
    return merged(pod(name, gpus, spec={"priority": priority}, status={"nominatedNodeName": to}), changes)


def test_room_is_kept_from_pods_of_no_higher_priority(start_over):
    first = nominated("first", 6, "n", metadata={"creationTimestamp": "2026-01-01T00:00:00Z"})
    service = start_over(node("n"), node("other", 2), first)
    kept = {"n": PREFIX + "the node's free GPUs are kept for a nominated pod"}
    for priority in (-1, 0, 10):
        result = ask(service, pod(gpus=3, spec={"priority": priority}), ["n"])
        assert result["NodeNames"] == [] and result["FailedAndUnresolvableNodes"] == kept and result["FailedNodes"] == {}
        assert ask(service, pod(gpus=2, spec={"priority": priority}), ["n", "other"])["NodeNames"] == ["n", "other"]
    assert ask(service, pod(gpus=8, spec={"priority": 11}), ["n"])["NodeNames"] == ["n"]
    assert ask(service, first, ["n"])["NodeNames"] == ["n"]
    rival = nominated("rival", 6, "n", metadata={"creationTimestamp": "2026-01-01T00:00:01Z"})
    assert ask(service, rival, ["n"])["FailedAndUnresolvableNodes"] == kept
    rival["metadata"]["creationTimestamp"] = "2025-12-31T23:59:59Z"
    assert ask(service, rival, ["n"])["NodeNames"] == ["n"]


def test_the_nominated_node_is_resolvable_while_victims_terminate(start_over):
    """If it were not, kube-scheduler would let the pod evict others elsewhere (PROTOCOL 5.2)."""
    ending = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}
    busy = [merged(pod(f"victim-{name}", 6, name), ending) for name in ("n", "other")]
    service = start_over(node("n"), node("other"), node("t4", 8, "Tesla-T4"), *busy, pod("holder", 6, "t4"))
    full = MESSAGES["free"]
    result = ask(service, nominated("first", 6, "n"), ["other", "n", "n"])
    assert result["FailedNodes"] == {"n": full} and result["FailedAndUnresolvableNodes"] == {"other": full}
    for asking in (nominated("first", 6, "t4"), pod(gpus=6), nominated("first", 6, "n", priority=0)):
        result = ask(service, asking, ["other", "n", "t4"])
        assert result["FailedNodes"] == {} and result["FailedAndUnresolvableNodes"] == {"n": full, "other": full, "t4": full}
    asking = merged(annotated("first", 6, models="T4"), nominated("first", 6, "n"))
    result = ask(service, asking, ["n"])
    assert result["FailedNodes"] == {}, "victims' GPUs of a model that is not wanted are no help"
    assert result["FailedAndUnresolvableNodes"] == {"n": MESSAGES["model"]}


def test_requests_count_the_start_up_sequence(start_over):
    """Sidecars run beside the init container of the moment and beside all containers: 3 + 1, not 2 + 1 and not 3."""
    service = start_over(node("three", 3), node("four", 4))
    sidecar = container("log", 1, restartPolicy="Always")
    asking = pod(spec={"initContainers": [sidecar, container("warm-up", 3)], "containers": [container(gpus=2)]})
    assert ask(service, asking, ["three", "four"])["NodeNames"] == ["four"]
