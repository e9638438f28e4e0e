"""kubectl gpu what-if and node-groups: the options become the body of POST /v1/what-if, and the answers are those of the API."""

import json
import os
import re
import subprocess

import marked
import pytest
import yaml
from kubectl_gpu import EVIL, FILE, PLUGIN, TOO_LARGE, Kubectl, answering, complaint, gpu, has_control, manifest, said
from objects import ageless, list_text, node, pod
from service import ENV, LIMIT_S, ROOT

# Words, the changes that they stand for, and the exit status.
ASKED = [
    (("--drain", "k80-alpha-1"), [{"drain": ["k80-alpha-1"]}], 1),
    (("--drain=v100-1",), [{"drain": ["v100-1"]}], 0),
    (("--cordon=h100-1,v100-1",), [{"cordon": ["h100-1", "v100-1"]}], 0),
    (("--lift", "v100-1"), [{"lift": ["v100-1"]}], 0),
    (("--add-nodes", "a100-80-1=2", "--add-nodes=h100-1"), [{"addNodes": {"like": "a100-80-1", "count": 2}}, {"addNodes": {"like": "h100-1", "count": 1}}], 0),
    (("--remove-pods", "ml-training/finetune-0", "--cordon", "a10-1"), [{"removePods": ["ml-training/finetune-0"]}, {"cordon": ["a10-1"]}], 0),
]


def as_of_now(text):
    """The answer without its time."""
    return re.sub(r'"asOf": "[^"]*"', '"asOf": ""', text)


@pytest.fixture
def kubectl(tmp_path):
    return Kubectl(tmp_path)


@pytest.mark.parametrize("words, changes, status", ASKED, ids=lambda value: value[0] if isinstance(value, tuple) else "")
def test_answers_are_those_of_the_api(service, words, changes, status):
    body = json.dumps({"changes": changes, "workloads": []})
    url = ("--url", f"http://{service.address}")
    wide = service.post("/v1/what-if?output=table&wide=true", body).text
    wanted = service.post("/v1/what-if", body).text
    for where in (url, FILE):
        assert said("what-if", *words, *where, "-o", "wide", status=status) == wide
        table = said("what-if", *words, *where, status=status)
        assert all(len(line) <= 100 for line in table.splitlines()) and json.loads(wanted)["summary"] in " ".join(table.split())
        shown = said("what-if", *words, *where, "-o", "json", status=status)
        assert ageless(json.loads(shown)) | {"source": ""} == ageless(json.loads(wanted)) | {"source": ""}
        assert ageless(yaml.safe_load(said("what-if", *words, *where, "-o", "yaml", status=status))) | {"source": ""} == ageless(json.loads(wanted)) | {"source": ""}
    assert as_of_now(said("what-if", *words, *url, "-o", "json", status=status)) == as_of_now(wanted) + "\n" * (not wanted.endswith("\n"))


TRAIN = """apiVersion: batch/v1
kind: Job
metadata: {name: llama, namespace: ml-training}
spec:
  parallelism: 4
  completions: 4
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: x, resources: {limits: {nvidia.com/gpu: 8, cpu: 64, memory: 512Gi}}}]}}
"""


def test_the_headline_answers_the_manifest(write):
    """Then what changes, and what that does to others; in JSON, too."""
    job = ("what-if", "--add-nodes", "h100-1=3", "--drain", "l4-1", "-f", write("job.yaml", TRAIN), *FILE)
    assert said(*job, env={"COLUMNS": "120"}).splitlines()[:5] == [
        "FITS  Job ml-training/llama: 4 of 4 pods, without the changes 1",
        "      No more would fit. Asks for 8 nvidia.com/gpu, 64 CPU, 512Gi.",
        "      Changes: 3 more nodes like h100-1, drain l4-1.",
        "Displaced pods: 1 of 1 fit. Waiting pods: 0 of 1 fit, as before. H100-80GB-HBM3: 8 usable, 32 with the changes, 0 after",
        "the manifest. L4: 2 usable, 0 with the changes. V100: 6 usable, 4 with the changes.",
    ]  # fmt: skip
    answer = json.loads(said(*job, "-o", "json"))
    assert answer["summary"].startswith("Job ml-training/llama: 4 of 4 replicas") and list(answer).index("jobs") < list(answer).index("changes")
    assert answer["changesSummary"] == "the displaced pod finds a place; the pending pod finds no place, with and without the changes"
    free = {key: [model["free"] for model in answer["fragmentation"][key] if model["model"].startswith("H100")] for key in ("before", "after", "afterWorkloads")}
    assert free == {"before": [8], "after": [32], "afterWorkloads": [0]}
    two = said("what-if", "--cordon", "h100-1", "-f", write("two.yaml", TRAIN + "---\n" + TRAIN.replace("llama", "other")), *FILE, status=1).splitlines()
    assert two[0] == "0 of 2 workloads fit" and two[1] == "Changes: cordon h100-1." and two[2].startswith("Waiting pods: 0 of 1 fit, as before.")
    assert two[4].startswith("DOES NOT FIT ") and not any(line.strip().startswith("Changes") for line in two[4:])


def test_without_a_manifest_the_headline_is_that_of_the_changes():
    answer = json.loads(said("what-if", "--add-nodes", "h100-1", *FILE, "-o", "json"))
    assert answer["summary"] == answer["changesSummary"] and "afterWorkloads" not in answer["fragmentation"]


def test_node_groups_are_those_of_the_api(service):
    url = ("--url", f"http://{service.address}")
    wanted = ageless(service.get("/v1/node-groups").json())
    wide = service.get("/v1/node-groups?output=table&wide=true").text
    for where in (url, FILE):
        assert said("node-groups", *where, "-o", "wide") == wide
        assert ageless(json.loads(said("node-groups", *where, "-o", "json"))) == wanted
        table = said("node-groups", *where, "-o", "wide", env={"COLUMNS": "80"})
        assert all(len(line) <= 80 for line in table.splitlines())
        for word in ("H100-80GB-HBM3", "8 alpha.kubernetes.io/nvidia-gpu", "cloud.google.com/gke-nodepool"):
            assert word in table, "no word of a group is cut"


def test_the_table_says_what_changes(write):
    """The table has the pods that find no place, the pending pods that would run, and only the GPUs whose numbers change."""
    drained = said("what-if", "--drain", "v100-1", *FILE)
    assert re.search(r"^ml-inference/bert-serve-0 +StatefulSet/bert-serve +100000 +v100-1 +h100-1$", drained, re.MULTILINE)
    assert "Displaced:" in drained and "V100" in drained and "MI300X" not in drained
    assert "MI300X" in said("what-if", "--drain", "v100-1", *FILE, "-o", "wide")
    assert "Free GPUs" not in said("what-if", "--cordon", "cp-1", *FILE)
    grown = said("what-if", "--add-nodes", "a", "--cluster-file", write("c.json", list_text(node("a", 4), pod("runs", 4, on="a"), pod("waits", 4))))
    assert "Pending pods that find a place now:" in grown and re.search(r"^ml/waits .* a-new-1$", grown, re.MULTILINE)


def test_changes_of_quotas(write):
    policy = "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\nquotas: [{name: training, namespaces: [ml-training], limits: [{total: 99}]}]\n"
    where = (*FILE, "--config", write("policy.yaml", policy))
    assert re.search(r"^training .* -> ", said("what-if", "--remove-pods", "ml-training/finetune-0", *where), re.MULTILINE)
    assert "Quotas" not in said("what-if", "--cordon", "cp-1", *where)
    lower = write("changes.yaml", "- quota: {name: training, limits: [{total: 5}]}\n")
    assert re.search(r"^training .* 99 -> 5$", said("what-if", "--changes", lower, *where), re.MULTILINE)


def result(**more):
    whole = {"usable": True, "workloads": [], "displaced": [], "displacedCounts": {"pods": 0, "fit": 0}, "pending": {"noLonger": [], "nowRun": []}}
    return {**whole, "notUnderstood": [], "warnings": [], "skipped": [], **more}


def test_options_and_files_keep_their_order(kubectl, write):
    """The plugin sends all changes as one body to the API server, with the user's options."""
    changes = write("changes.yaml", "- cordon: [c]\n- quota: {name: q, limits: [{total: 3}]}\n")
    body = write("body.json", json.dumps({"changes": [{"drain": ["e"]}], "workloads": [{"kind": "Pod"}], "further": 1}))
    kubectl.answer(json.dumps(result(workloads=[{"replicas": 1, "placed": 1}])))
    words = ["--drain", "a,b", "--changes", changes, "--add-nodes", "d=3", "--changes", body, "--remove-pods=n/p", "-f", "-", "--context", "c"]
    said("what-if", *words, "-o", "json", env=kubectl.env, text="kind: Pod\n")
    assert kubectl.words() == ["--context=c", "create", "--raw", "/apis/visibility.gpu-extender.io/v1alpha1/views/what-if", "--filename=-"]
    assert json.loads((kubectl.folder / "input").read_text()) == {
        "changes": [
            {"drain": ["a", "b"]}, {"cordon": ["c"]}, {"quota": {"name": "q", "limits": [{"total": 3}]}},
            {"addNodes": {"like": "d", "count": 3}}, {"drain": ["e"]}, {"removePods": ["n/p"]},
        ],
        "workloads": [{"kind": "Pod"}, "kind: Pod\n"],
        "further": 1,
    }  # fmt: skip


NOT_PLACED = {"replicas": 1, "placed": 0}
RESULTS = [
    (result(), 0),
    (result(displacedCounts={"pods": 2, "fit": 1}), 1),
    (result(pending={"noLonger": [{}], "nowRun": []}), 1),
    (result(workloads=[NOT_PLACED]), 1),
    (result(workloads=[NOT_PLACED], warnings=[{"path": "a", "message": "b"}]), 2),
    (result(displacedCounts={"pods": 2, "fit": 1}, notUnderstood=[{}]), 2),
    (result(usable=False, displacedCounts={"pods": 2, "fit": 1}), 3),
    (result(displacedCounts={"pods": "2", "fit": 1}), 3),
    (result(displacedCounts=None), 3),
    (result(pending={}), 3),
    (result(pending=None), 3),
    (result(displaced=None), 3),
    ({}, 3),
]


@pytest.mark.parametrize("body, status", RESULTS)
def test_exit_status(body, status):
    with answering(json.dumps(body).encode()) as there:
        for form in ("table", "json", "yaml"):
            assert gpu("what-if", "--drain", "a", "--url", there, "-o", form).returncode == status


def test_workloads_have_a_verdict_of_their_own(write):
    fits, not_fits, none = (write(f"{i}.yaml", text) for i, text in enumerate((manifest({"nvidia.com/gpu": "1"}), manifest(TOO_LARGE), "kind: Service\nmetadata: {name: a}\n")))
    for file, status in ((fits, 0), (not_fits, 1), (none, 2)):
        assert gpu("what-if", "-f", file, *FILE).returncode == status


@pytest.mark.parametrize(
    "words, message",
    [
        (("--drain", "v100-l"), "changes[0].drain[0]: there is no node v100-l"),
        (("--remove-pods", "none"), 'changes[0].removePods[0]: is "none", should be "NAMESPACE/NAME" of a pod'),
        (("--drain", ","), "changes[0].drain: is empty"),
        (("--add-nodes", "a10-1=6000"), "changes[0].addNodes.count: the request adds more than"),
        (("--add-nodes", "a=b"), "--add-nodes: is a=b, should be NODE or NODE=COUNT"),
        (("--add-nodes", "a10-1,h100-1"), "--add-nodes: is a10-1,h100-1, should be NODE or NODE=COUNT"),
        (("--changes", "-"), "-: is a string, should be a list of changes, or an object with changes"),
    ],
)
def test_mistakes(service, words, message):
    """A misspelt node gives status 2, not 1: it must not look like a full cluster."""
    for where in (FILE, ("--url", f"http://{service.address}")):
        assert complaint("what-if", *words, *where, status=2, text="text").startswith(message)


@pytest.mark.parametrize("text, message", [(b"a: [", "x: 2:1:"), (b"", "x: is empty"), (b"changes: 3", "x: changes: is the number 3"), (b"- drain: [\xff]", "x: 1:")])
def test_files_of_changes_that_are_none(tmp_path, text, message):
    (tmp_path / "x").write_bytes(text)
    said_of_it = complaint("what-if", "--changes", tmp_path / "x", *FILE, status=2)
    assert said_of_it.removeprefix(f"{tmp_path}/").startswith(message), said_of_it


@pytest.mark.parametrize("words", [("--drain", "a10-1,\udcff"), ("--cordon", "\udcff"), ("--add-nodes", "\udcff=2"), ("--remove-pods", "a/b,\udcff")])
def test_names_that_are_no_text_are_not_dropped(words):
    assert complaint("what-if", *words, *FILE, status=2).endswith(": is no UTF-8")


def test_a_manifest_that_is_no_text(tmp_path):
    (tmp_path / "x").write_bytes(b"\xff")
    assert complaint("what-if", "-f", tmp_path / "x", *FILE, status=2).endswith("x: is no UTF-8")


@pytest.mark.parametrize("status, body, said_status", [(404, "no such path", 3), (404, "changes[0].drain[0]: no", 2), (413, "large", 2), (403, "no", 3), (503, "busy", 3)])
def test_answers_of_errors(status, body, said_status):
    with answering(json.dumps({"error": body}).encode(), status) as there:
        assert complaint("what-if", "--drain", "a", "--url", there, status=said_status) == body


def test_control_characters_reach_no_terminal():
    pods = [{"namespace": EVIL, "name": EVIL, "reason": EVIL, "from": EVIL, "owner": {"kind": EVIL, "name": EVIL}}]
    body = result(displaced=pods, summary=EVIL, notChecked=[EVIL], quota={"before": [], "after": [{"quota": EVIL}]}, groups=[{"name": EVIL, "like": EVIL, "pods": pods}])
    with answering(json.dumps(body, ensure_ascii=False).encode()) as there:
        for words in (("what-if", "--drain", "a"), ("node-groups",)):
            for form in ("table", "wide", "json", "yaml"):
                shown = said(*words, "--url", there, "-o", form)
                assert "a" in shown and not has_control(shown)


DOCUMENTED = [
    *marked.commands("docs/KUBECTL-GPU.md", "what-if"),
    *marked.commands("docs/QUOTA.md", "what-if"),
    *marked.commands("docs/KUBE-SCHEDULER.md", "groups"),
]


@pytest.mark.parametrize("command, output", DOCUMENTED, ids=[command[:60] for command, _ in DOCUMENTED])
def test_the_documents_command(tmp_path, command, output):
    (tmp_path / "kubectl-gpu").symlink_to(PLUGIN)
    here = command.replace("kubectl gpu", f"{tmp_path}/kubectl-gpu")
    done = subprocess.run(["bash", "-c", here], cwd=ROOT, env={**os.environ, **ENV}, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.stdout.split() == output.split(), done
