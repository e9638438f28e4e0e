"""Tables: they fit in 100 characters, fold nodes that look alike, and list pending pods by owner; ?wide=true has the rest."""

import json
import os
import re

import pytest
from kubectl_gpu import FILE, gpu, said
from objects import GPU, annotated, list_text, node, pod
from service import ROOT, SAMPLE_CLUSTER, Service, read

WIDTH = 100
LABELS = ["NVIDIA-A100-SXM4-80GB", "NVIDIA-H100-80GB-HBM3", "Tesla-T4"]
TABLES = ["/v1/inventory", "/v1/pending", "/v1/fragmentation", "/v1/quota", "/v1/decisions", "/v1/pods/ml/asks-0/explain"]
TASK = {"spec": {"containers": [{"name": "main", "image": "x", "resources": {"limits": {GPU: "1", "cpu": "1", "memory": "1Gi"}}}]}}
VOLCANO = json.dumps(
    {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "gang"},
        "spec": {"minAvailable": 2, "schedulerName": "volcano", "tasks": [{"name": name, "replicas": 1, "template": TASK} for name in ("ps", "worker")]},
    }
)
LONG = "gpu-node-with-a-long-name-{:03}.region.compute.internal"


def owned(name, owner, kind="Job", fields=None):
    owner = {"apiVersion": "batch/v1", "kind": kind, "name": owner, "uid": f"uid-{owner}", "controller": True, **(fields or {})}
    return pod(name, 9, metadata={"ownerReferences": [owner]})


@pytest.fixture(scope="module")
def large(module_service):
    nodes = [node(LONG.format(i), 8, LABELS[i % 3]) for i in range(300)]
    running = [pod(f"runs-{i}", 1 + i % 8, LONG.format(i)) for i in range(24)]
    return module_service(*nodes, *running, *[owned(f"asks-{i}", "train") for i in range(20)], pod("alone", 9), annotated("t4", 1, models="T4, L4"))


@pytest.fixture(scope="module")
def sample():
    running = Service("--cluster-file", SAMPLE_CLUSTER)
    yield running
    running.stop()


def text_of(service, path, **query):
    return service.get(path + "?" + "&".join(f"{key}={value}" for key, value in {"output": "table", **query}.items())).text


def rows_of(text):
    """The rows of the first table, before an empty line or what is told; without those that go on with a cell."""
    lines = text.split("\n\n")[0].split("\nThe same in")[0].splitlines()
    lines = lines[next(i for i, line in enumerate(lines) if line.split()[0].isupper()) :]
    return [line.split() for line in lines if line.lstrip()[0].isdigit() or not line.startswith(" ")]


@pytest.mark.parametrize("path", TABLES)
def test_tables_fit_in_100_characters(large, path):
    table = text_of(large, path)
    sentences = ("ml/asks-0: ", "  ") if "/explain" in path else "file:"
    assert [line for line in table.splitlines() if len(line) > WIDTH and not line.startswith(sentences)] == []
    assert not any(line.endswith(" ") for line in table.splitlines())


def test_tables_of_the_dry_run_fit_in_100_characters(large):
    text = large.post("/v1/dry-run?output=table&explain=true", pod("new", 2)).text
    begins = ("NODES", "FITS ON", "PODS", "How ")
    tables = [block for block in text.split("\n\n") if block.splitlines()[-1].strip() and block.lstrip().startswith(begins)]
    assert tables and all(len(line) <= WIDTH for block in tables for line in block.splitlines())


def test_nodes_that_look_alike_share_a_row(large):
    rows = rows_of(text_of(large, "/v1/inventory", width=200))
    assert rows[0] == ["NODES", "MODEL", "GPUS", "USED", "USABLE", "WHICH"], "one STATE and RESOURCE are told below"
    counts = [int(row[0]) for row in rows[1:]]
    assert sum(counts) == 300 and counts == sorted(counts, reverse=True) and len(counts) < 40
    assert counts[:3] == [92, 92, 92]


def test_wide_unfolds(large):
    text = text_of(large, "/v1/inventory", wide="true")
    rows = {row[0]: row for row in rows_of(text)}
    assert len(rows) == 301 and rows[LONG.format(1)][-2:] == ["ml/runs-1", "(2)"]
    narrow = rows_of(text_of(large, "/v1/inventory", node=LONG.format(1)))
    assert narrow[0][:3] == ["NODE", "MODEL", "GPUS"] and narrow[1][:3] == [LONG.format(1), "H100-80GB-HBM3", "8"]


def test_only_a_wide_dry_run_lists_the_fitting_nodes(large):
    assert "FITS ON" not in large.post("/v1/dry-run?output=table", pod("new", 2)).text
    wide = large.post("/v1/dry-run?output=table&wide=true", pod("new", 2)).text
    assert len(rows_of(wide[wide.index("FITS ON"):])) > 200


def test_replicas_with_one_result_share_a_row(start_over):
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod("web", 4)["spec"]}
    spec = {"replicas": 5, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    web = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "ml"}, "spec": spec}
    text = start_over(node("a", 12), node("cpu", None)).post("/v1/dry-run?output=table", web).text
    rows = rows_of(text[text.index("PODS"):])
    assert [row[:3] for row in rows[1:]] == [["Pod", "3-4", "-"], ["Pod", "0-2", "a"]]


def test_pending_pods_are_listed_by_owner(large):
    text = text_of(large, "/v1/pending")
    assert text.startswith("22 pods of 3 workloads wait for 190 GPUs\nWORKLOAD")
    lines = [line for line in text.splitlines() if line.startswith("ml/")]
    assert {tuple(line.split()[:3]) for line in lines} == {("ml/alone", "Pod", "1"), ("ml/train", "Job", "20"), ("ml/t4", "Pod", "1")}
    assert text_of(large, "/v1/pending", wide="true").count("  Pod ml/") == 22


def test_owners_in_json(large):
    answer = large.get("/v1/pending").json()
    owners = {(owner["namespace"], owner["kind"], owner["name"]): owner for owner in answer["owners"]}
    assert {key: owner["pods"] for key, owner in owners.items()} == {("ml", "Job", "train"): 20, ("ml", "Pod", "alone"): 1, ("ml", "Pod", "t4"): 1}
    train = owners["ml", "Job", "train"]
    (first,) = [each for each in answer["pods"] if each["name"] == train["firstPod"]]
    assert first["controller"] == {"kind": "Job", "name": "train"}
    assert all(train[key] == first[key] for key in ("requests", "gpuModels", "priority", "summary"))
    assert len(answer["pods"]) == 22


@pytest.mark.parametrize(
    ("owner", "controller"),
    [
        ({}, {"kind": "Job", "name": "train"}),
        ({"controller": False}, None),
        ({"kind": None}, None),
        ({"name": 5}, None),
        ({"name": ""}, None),
        ({"name": "x" * 70000}, None),
        ({"kind": "a/b"}, None),
    ],
)
def test_an_owner_that_cannot_be_read_is_none(start_over, owner, controller):
    service = start_over(node("a"), owned("waits", "train", fields=owner))
    (found,) = service.get("/v1/pending").json()["pods"]
    assert found["controller"] == controller


def test_a_snapshot_keeps_the_owners(start_service, start_over, write):
    service = start_over(node("a"), owned("waits", "train"), owned("web-0", "web", "StatefulSet"))
    again = start_service("--cluster-file", write("again.json", service.get("/v1/snapshot").text))
    assert again.get("/v1/pending").json()["owners"] == service.get("/v1/pending").json()["owners"]


def test_a_live_cluster_knows_the_owners(api, follower):
    api.store.put(owned("waits", "train"))
    follower.wait("the owner", lambda: [owner["name"] for owner in follower.get("/v1/pending").json()["owners"]] == ["train"])


def test_cells_control_no_terminal(start_over):
    evil = "a\x1b[2J\u009b\u202eb\u2066\u200f\u00ad\u3164\ufe0f\U000e0041"
    service = start_over(node(evil), pod("runs", 2, evil))
    for wide in ("true", "false"):
        assert not set(evil) - set("ab[2J") & set(text_of(service, "/v1/inventory", wide=wide))


@pytest.mark.parametrize("width, has_resource", [(80, False), (140, True), (400, True)])
def test_the_width_is_a_parameter(service, width, has_resource):
    texts = [text_of(service, path, width=width) for path in ("/v1/pending", "/v1/fragmentation", "/v1/quota")]
    assert max(len(line) for text in texts for line in text.splitlines()) <= width
    assert ("RESOURCE" in texts[1]) == has_resource, "it may go"


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("words", [("nodes",), ("pods",), ("pending",), ("quota",), ("frag",), ("node-groups",), ("why", "big-train-0"), ("what-if", "--drain=k80-alpha-1,t4-gke-1")], ids=lambda words: words[0])
def test_the_sample_cluster_fits(words, width):
    table = said(*words, *FILE, env={"COLUMNS": str(width)}, status=int(words[0] in ("what-if",)))
    assert [line for line in table.splitlines() if len(line) > width] == []
    if words[0] == "nodes":
        rows = rows_of(table)
        assert rows[0][-1] == "RESOURCE" and ("USED" in rows[0]) == (width == 100)
        assert {row[-1] for row in rows if row[0] == "a100-mig-1"} == {"nvidia.com/gpu", "nvidia.com/mig-1g.5gb"}, "it tells rows apart"


@pytest.mark.parametrize("form", ["table", "wide"])
def test_long_names_fit(write, form):
    """Of 60 characters, whole: what is too long for the row stands below it. Only NAMESPACE/NAME is longer than a line. tests/unit/api/test_text.c tries any table."""
    name, namespace, owner = "node-" + "x" * 55, "team-" + "y" * 55, {"apiVersion": "batch/v1", "kind": "Job", "name": "owner-" + "o" * 54, "uid": "o", "controller": True}
    held = [pod(f"pod-{'z' * 55}{i}", i, i < 3 and name, metadata={"namespace": namespace, "ownerReferences": [owner]}) for i in (1, 2, 9)]
    where = ("--cluster-file", write("long.json", list_text(node(name, 8, LABELS[0]), node("b", 4, LABELS[1], resource="alpha.kubernetes.io/nvidia-gpu"), *held)))
    where += ("--config", write("policy.yaml", json.dumps({"apiVersion": "gpu-extender.io/v1alpha1", "kind": "SchedulerPolicy", "quotas": [{"name": "q" * 60, "namespaces": [namespace], "limits": [{"resource": GPU, "total": 5}]}]})))
    fits = ("fit", "-f", write("fit.json", list_text(pod("p" * 60, 9, metadata={"namespace": namespace}))))
    for words in (("nodes",), ("pods",), ("pending",), ("quota",), ("frag",), ("node-groups",), ("why", held[2]["metadata"]["name"]), ("what-if", "--drain", name), fits, ("why", "w" * 60)):
        done = gpu(*words, *where, "-o", form, env={"COLUMNS": "80"})
        assert [line for line in (done.stdout + done.stderr).splitlines() if len(line) > 80 >= max(map(len, line.split())) + 8] == [], words
    text = said("nodes", *where, env={"COLUMNS": "80"})
    assert f"\n{name} " in text and "RESOURCE alpha.kubernetes.io/nvidia-gpu" in text, text


def test_a_wide_table_wraps_on_a_terminal():
    """Between the pods of a node; where the width is unknown, a row is one line, for grep."""
    shown, piped = (said("nodes", "a100-80-1", *FILE, "-o", "wide", env=env) for env in ({"COLUMNS": "120"}, {}))
    assert max(map(len, shown.splitlines())) <= 120 and ", ml-inference/llama-70b-0 (1)" in piped
    assert [line.strip() for line in shown.splitlines() if "llama" in line] == ["ml-inference/llama-70b-0 (1)"]


@pytest.mark.parametrize(
    ("name", "roles"),
    [
        ("pytorchjob", {"Master", "Worker"}),
        ("leaderworkerset", {"leader", "worker", "Pod"}),
        ("argo-workflow", {"fetch", "train", "report"}),
        ("volcano-job", {"ps", "worker"}),
        ("jobset", {"driver", "worker"}),
        ("raycluster", {"head", "worker[0]"}),
    ],
)
def test_each_template_has_a_name(name, roles):
    """In the placements and in the sentence about gangs: the template's own, or that of its field."""
    text = gpu("fit", "-f", os.path.join(ROOT, f"examples/workloads/{name}.yaml"), *FILE).stdout
    tables = [block.splitlines()[1:] for block in text.split("\n\n") if block.startswith("PODS ")]
    rows = [line.split() for table in tables for line in table if "GPUS" not in line]
    assert {row[0] for row in rows if len(row) > 1 and row[1].split("-")[0].isdigit()} - {"Without"} == roles
    gang = "".join(text.partition("Without gang scheduling ")[2].split("starts")[0].split(" start")[0].split())
    assert "Template" not in gang and "Pod0" not in gang


def asks(spec=None, limits=None, **metadata):
    resources = {"limits": {GPU: "1", "cpu": "1", "memory": "1Gi"}, **(limits or {})}
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "asked", "namespace": "research", **metadata}, "spec": {"containers": [{"name": "main", "image": "x", "resources": resources}], **(spec or {})}}, indent=1)


@pytest.mark.parametrize(
    ("manifest", "word", "times", "status"),
    [
        (asks(limits={"limit": {GPU: "1"}}), "nknown field", 1, 2),
        (asks({"priorityClassName": "nosuch"}), "nosuch", 2, 1),
        (asks(namespace="researhc"), "researhc", 2, 2),
        (asks(annotations={"gpu-extender.io/models": "H10O"}), "H10O", 1, 2),
        (asks(annotations={"gpu-extender.io/model": "H100"}), "did you mean", 1, 2),
        (asks({"nodeSelector": {"nvidia.com/gpu.prodct": "a"}}), "id you mean", 1, 2),
        (asks({"nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB"}}), "id you mean", 1, 2),
        (asks(limits={"limits": {"nvidia.com/gpus": "1"}}), "id you mean", 1, 2),
        (asks({"nodeName": "h100-11"}), "id you mean", 1, 2),
        (asks({"tolerations": [{"key": "nvidia.com/gpus", "operator": "Exists"}], "nodeSelector": {"kubernetes.io/hostname": "t4-gke-1"}}), "id you mean", 1, 2),
        (asks({"resourceClaims": [{"name": "g", "resourceClaimName": "nope"}]}), "research/nope", 1, 1),
        (asks({"nodeSelector": {"nvidia.com/gpu.prodct": "a", "nvidia.com/gpu.cont": "2"}}), "id you mean", 2, 2),
        (VOLCANO, "minAvailable", 1, 0),
    ],
    ids=["field", "class", "namespace", "model", "annotation", "label", "value", "resource", "node", "toleration", "claim", "two-labels", "two-templates"],
)
def test_a_mistake_is_said_once(write, manifest, word, times, status):
    """By the verdict, else by a warning; with its line. A remedy may have the name again, and so has the first line."""
    text = " ".join(said("fit", "-f", write("asked.json", manifest), *FILE, env={"COLUMNS": "400"}, status=status).split())
    assert text.count(word) == times, text
    assert status != 2 or text.count("line ") == times - (word == "researhc"), text


def test_a_mistake_of_another_object_is_said(write):
    """Both verdicts are about something else, or the same mistake is in each."""
    both = asks({"nodeSelector": {"nvidia.com/gpu.prodct": "a"}}) + "\n---\n" + asks({"nodeSelector": {"nvidia.com/gpu.prodct": "a"}}, name="other")
    text = " ".join(said("fit", "-f", write("both.yaml", both), *FILE, env={"COLUMNS": "400"}, status=2).split())
    assert text.count("id you mean nvidia.com/gpu.product?") == 2 and text.count("(line ") == 2


def test_a_daemonset_says_what_its_node_lacks():
    text = said("fit", "-f", f"{ROOT}/examples/workloads/daemonset.yaml", *FILE, status=1)
    assert text.splitlines()[1].strip() == "aks-gpu-1 lacks 180m CPU."


def test_what_is_corrected_is_not_accepted_too(write):
    text = said("fit", "-f", write("asked.json", asks(annotations={"gpu-extender.io/models": "H10O"})), *FILE, status=2)
    assert "write H100-80GB-HBM3 in gpu-extender.io/models: fits" in text and "accept A100-SXM4-80GB," in text


def test_a_number_stays_with_its_unit():
    table = said("node-groups", *FILE, "-o", "wide", env={"COLUMNS": "100"})
    assert "7 nvidia.com/mig-1g.5gb" in table


def test_a_row_has_no_column_of_zeros(start_over):
    """Nor has a table of one row; but numbers that a line below would tell stay."""
    rows = rows_of(text_of(start_over(node("a", 8), pod("x", 8, "a")), "/v1/inventory", node="a"))
    assert rows[0] == ["NODE", "MODEL", "GPUS", "USED", "USABLE", "STATE", "RESOURCE"]
    rows = rows_of(text_of(start_over(node("a", 8)), "/v1/inventory", node="a"))
    assert rows == [["NODE", "MODEL", "GPUS", "USABLE", "STATE", "RESOURCE"], ["a", rows[1][1], "8", "8", "Ready", "nvidia.com/gpu"]]


def test_a_column_goes_before_a_name_breaks(start_over):
    nodes = [node(f"{i}-{'x' * 45}", 8, LABELS[i]) for i in range(3)]
    service = start_over(*nodes, pod("runs", 2, f"0-{'x' * 45}"), node("closed", 1, spec={"unschedulable": True}))
    narrow, wide = (rows_of(text_of(service, "/v1/inventory", width=width)) for width in (80, 100))
    assert "USED" not in narrow[0] and narrow[0] == wide[0][:3] + ["USABLE"] and wide[0][3:] == ["USED", "USABLE", "STATE"]
    assert {row[0] for row in narrow[1:]} == {each["metadata"]["name"] for each in nodes} | {"closed"}


def test_numbers_are_aligned_at_the_right(start_over):
    lines = text_of(start_over(node("a", 12), node("b", 8, LABELS[1])), "/v1/inventory").splitlines()
    ends = [line.index(text) + len(text) for line, text in zip(lines[1:4], ("GPUS", " 8", " 12"))]
    assert len(set(ends)) == 1


def test_a_long_cell_is_wrapped_fast(start_over):
    """A name of a megabyte, in words and in one piece."""
    service = start_over(node("a" * 200_000), node("a " * 100_000), pod("x", 1, status={"conditions": [{"type": "PodScheduled", "status": "False", "reason": "R", "message": "m " * 9}]}))
    for wide in ("true", "false"):
        assert "PROBLEM" in text_of(service, "/v1/inventory", wide=wide)


def why_not(service, name):
    """The table of the nodes."""
    answer = service.post("/v1/dry-run?output=table&width=100", read("tests/cases/verdicts", f"{name}.yaml")).text
    return [re.split("  +", row.strip()) for row in answer.split("\n\n")[-1].splitlines() if row[:1] in " N"]


def test_why_not_elsewhere_knows_the_pods_of_the_job(sample):
    """Of the role that does not fit; and what one pod fits on, the next may not."""
    heading, first, *_ = why_not(sample, "llama-ft")
    assert (heading, first) == (["NODES", "WHY NOT ELSEWHERE (WORKER)", "WHICH"], ["1", "8 GPUs lacking", "h100-1, after Master 0"])
    heading, *rows = why_not(sample, "ddp")
    assert heading == ["NODES", "WHY NOT ELSEWHERE", "WHICH"] and rows[:2] == [["1", "takes no more", "v100-1, after Pod 0"], ["1", "2 GPUs lacking", "v100-2"]]
    assert sum(int(row[0]) for row in rows) == 25, "each node has a reason"
