"""kubectl gpu: its answers are those of the API, from a saved cluster, by URL, and through kubectl; exit status; nothing stored reaches a
terminal as a control character."""

import itertools
import json
import os
import re
import socket
import subprocess
import urllib.parse

import marked
import pytest
import yaml
from kubectl_gpu import EVERY_FORM, EVIL, FILE, FITS, PLUGIN, TOO_LARGE, Kubectl, answering, combined, complaint, gpu, has_control, manifest, said
from objects import ageless, list_text, node, pod
from service import ENV, LIMIT_S, ROOT, SAMPLE_CLUSTER

CLAIMS = os.path.join(ROOT, "examples/dra-cluster.yaml")
NAMED = {"namespace": "ml-training", "name": "finetune-0"}
# Verb, its path below /v1, and that path's query.
VIEWS = [
    (("nodes",), "inventory", {}),
    (("nodes", "a10-1"), "inventory", {"node": "a10-1"}),
    (("nodes", "--model", "A10"), "inventory", {"model": "A10"}),
    (("pending",), "pending", {}),
    (("pending", "-n", "ml-training"), "pending", {"namespace": "ml-training"}),
    (("quota",), "quota", {}),
    (("groups",), "groups", {}),
    (("frag", "--model=V100"), "fragmentation", {"model": "V100"}),
    (("nodes", "-l", "kubernetes.io/hostname in (cp-1, v100-1)"), "inventory", {"labelSelector": "kubernetes.io/hostname in (cp-1, v100-1)"}),
    (("pending", "--selector=!app"), "pending", {"labelSelector": "!app"}),
    (("frag", "-lkubernetes.io/hostname!=v100-1"), "fragmentation", {"labelSelector": "kubernetes.io/hostname!=v100-1"}),
    (("nodes", "node/v100-1"), "inventory", {"node": "v100-1"}),
    (("why", "finetune-0", "-n", "ml-training"), "explain", NAMED),
    (("why", "pod/finetune-0", "--namespace=ml-training"), "explain", NAMED),
    (("why", "Pod/big-train-0", "-n", "ml-training"), "explain", {**NAMED, "name": "big-train-0"}),
]


@pytest.fixture(scope="module")
def url(service):
    return "--url", f"http://{service.address}"


def query_of(parameters):
    return "?" + urllib.parse.urlencode(parameters)


@pytest.fixture
def kubectl(tmp_path):
    return Kubectl(tmp_path)


# ---- the answers are those of the API ----


@pytest.mark.parametrize("words, path, query", VIEWS, ids=lambda value: "-".join(value) if isinstance(value, tuple) else "")
def test_answers_are_those_of_the_api(service, url, words, path, query):
    api = service.get(f"/v1/{path}{query_of({**query, 'output': 'table', 'wide': 'true'})}").text
    assert said(*words, *url, "-o", "wide") == said(*words, *FILE, "--output=wide") == api
    table = said(*words, *url)
    assert table == said(*words, *FILE, "--output=table") and "?wide" not in table
    assert all(len(line) <= 100 for line in table.splitlines())
    wanted = ageless(service.get(f"/v1/{path}{query_of(query)}").json())
    for where in (url, FILE):
        assert ageless(json.loads(said(*words, *where, "-o", "json"))) == wanted
        assert ageless(yaml.safe_load(said(*words, *where, "-o", "yaml"))) == wanted


# The order of the text: verdict, what would help, where the pods go.
JUDGED = ("kind", "namespace", "name", "pods", "fits", "verdict", "remedies", "remediesTried", "placements")


def test_json_has_the_order_of_the_text(url, write):
    job = ("-f", write("job.yaml", manifest(TOO_LARGE)))
    asked = ((("fit", *job), 1), (("pending",), 0), (("why", "big-train-0"), 0), (("what-if", "--drain", "v100-1", *job), 1))
    for (words, status), where in itertools.product(asked, (url, FILE)):
        answer = json.loads(said(*words, *where, "-o", "json", status=status))
        judged = [*(each for key in ("jobs", "workloads", "owners", "pods") for each in answer.get(key, [])), *([answer["pod"]] if words[0] == "why" else [])]
        for each in judged:
            assert list(each)[: len([key for key in JUDGED if key in each])] == [key for key in JUDGED if key in each], words
            assert list(each["verdict"])[:2] == ["result", "cause"]
        assert judged and (words[0] not in ("fit", "what-if") or list(answer).index("jobs") < list(answer).index("workloads"))


def test_claims_by_labels(start_service):
    service = start_service("--cluster-file", CLAIMS)
    for where in (("--cluster-file", CLAIMS), ("--url", f"http://{service.address}/")):
        assert said("claims", *where, "-l", "app in (train, none)", "-o", "name") == "resourceclaim/train-0-gpus\n"
        assert "train-0-gpus" not in said("claims", *where, "-l", "app!=train")
    some, all_of_them = (service.get(f"/v1/inventory{query}").json() for query in ("?claimSelector=app", ""))
    assert [claim["name"] for claim in some["claims"]] == ["train-0-gpus"]
    assert (some["nodes"], some["devices"]) == (all_of_them["nodes"], all_of_them["devices"])


@pytest.mark.parametrize(
    "verb, items, said_of_it",
    [("nodes", "nodes", "no nodes"), ("pending", "pods", "no pods"), ("claims", "claims", "no claims"), ("frag", "models", "no GPUs")],
)
def test_that_nothing_is_selected_is_said(verb, items, said_of_it):
    for form in ("table", "wide"):
        done = gpu(verb, *FILE, "-l", "nope", "-o", form)
        assert (done.returncode, done.stderr) == (0, f"kubectl gpu: {said_of_it} match the selector nope\n")
    done = gpu(verb, *FILE, "-l", "nope", "-o", "json")
    assert (json.loads(done.stdout)[items], done.stderr) == ([], "")
    assert gpu(verb, *FILE, "-l", "!nope").stderr == "" or verb == "claims"


def test_warnings_name_options_not_parameters():
    assert complaint("nodes", *FILE, "--model", "H10O", status=2) == '--model: "H10O": no node has it; did you mean H100-80GB-HBM3?'
    assert complaint("quota", *FILE, "-n", "ml_x", status=2) == '--namespace: "ml_x": there is no such namespace'


def test_no_claims_is_said_of_what_was_asked_for(write):
    """Claims hold GPUs in this cluster, but not those that were asked for."""
    bare = write("without-namespaces.json", list_text(node("a", 8)))
    whole = ("claims", "--cluster-file", CLAIMS)
    for words, said_of_it in ((("-l", "x=y"), "no claims match the selector x=y"), (("-n", "none"), "no claims in the namespace none hold GPUs")):
        done = gpu(*(whole if "-l" in words else ("claims", "--cluster-file", bare)), *words)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", f"kubectl gpu: {said_of_it}\n")
    assert gpu("claims", *FILE).stderr == "kubectl gpu: no claims hold GPUs\n"


def test_claims_with_too_many_labels_match_no_selector(write, start_service):
    """Whether they have a label is not known, so !key and key!=value must not list them; the answer says how many there are."""
    with open(CLAIMS, encoding="utf-8") as file:
        objects = yaml.safe_load(file)["items"]
    claims = [one for one in objects if one["kind"] == "ResourceClaim" and one.get("status", {}).get("allocation")]
    claims[0]["metadata"]["labels"] = {f"key-{i}": "a" for i in range(65)}
    claims[1]["metadata"]["labels"] = {"app": "a"}
    service = start_service("--cluster-file", write("c.json", list_text(*objects)))
    names = lambda answer: {one["name"] for one in answer["claims"]}
    held = names(service.get("/v1/inventory").json())
    asked = {selector: service.get(f"/v1/inventory?claimSelector={selector}").json() for selector in ("app", "!app", "app!=a", "key-0", "!key-0")}
    large, labelled = (one["metadata"]["name"] for one in claims[:2])
    assert {large, labelled} < held
    assert names(asked["app"]) == {labelled} and names(asked["key-0"]) == set()
    assert names(asked["!app"]) == names(asked["app!=a"]) == held - {large, labelled} and names(asked["!key-0"]) == held - {large}
    for answer in asked.values():
        (warning,) = answer["warnings"]
        assert warning["path"] == "?claimSelector" and warning["message"].startswith("1 claim ")
    assert service.get("/v1/inventory").json()["warnings"] == []
    done = gpu("claims", "-l", "!app", "--url", f"http://{service.address}")
    assert "1 claim " in done.stdout + done.stderr


def test_fit_is_the_dry_run(service, url):
    for resources in (FITS, TOO_LARGE):
        text, status = manifest(resources), 0 if resources == FITS else 1
        table = service.post("/v1/dry-run?output=table&wide=true", text).text
        wanted = ageless(service.post("/v1/dry-run", text).json())
        for where in (url, FILE):
            assert said("fit", "-f", "-", *where, "-o", "wide", text=text, status=status) == table
            assert all(len(line) <= 100 for line in said("fit", "-f", "-", *where, text=text, status=status).splitlines())
            assert ageless(json.loads(said("fit", "-f-", *where, "-o", "json", text=text, status=status))) == wanted


def test_claims_are_those_of_the_inventory(start_service):
    service = start_service("--cluster-file", CLAIMS)
    inventory = service.get("/v1/inventory").json()
    for where in (("--cluster-file", CLAIMS), ("--url", f"http://{service.address}/")):
        answer = json.loads(said("claims", *where, "-o", "json"))
        assert answer["claims"] == inventory["claims"] and answer["claims"]
        assert "nodes" not in answer and answer["claimsCounted"] is True
        table = said("claims", *where, "-o", "wide").splitlines()
        assert [line.split()[:2] for line in table[1:]] == [[each["namespace"], each["name"]] for each in inventory["claims"]]
        (namespace,) = {each["namespace"] for each in inventory["claims"]}
        assert json.loads(said("claims", *where, "-n", namespace, "-o", "json"))["claims"] == inventory["claims"]


def test_names(service):
    nodes = [each["name"] for each in service.get("/v1/inventory").json()["nodes"]]
    assert said("nodes", *FILE, "-o", "name").split() == [f"node/{name}" for name in nodes]
    assert said("pending", *FILE, "-o", "name") == "pod/big-train-0\n"
    assert said("why", "finetune-0", "-n", "ml-training", *FILE, "-o", "name") == "pod/finetune-0\n"
    assert said("fit", "-f", "-", *FILE, "-o", "name", text=manifest(FITS)) == "pod/asked\n"
    assert "resourceclaim/small" in said("claims", "--cluster-file", CLAIMS, "-o", "name").split()
    assert complaint("frag", *FILE, "-o", "name", status=2).startswith("--output=name: is not for frag")


def test_headings_can_be_left_out():
    for verb in ("nodes", "pending", "frag"):
        whole, rest = (said(verb, *FILE, *more).splitlines() for more in ((), ("--no-headers",)))
        assert [line for line in whole if line not in rest] == [line for line in whole if re.fullmatch(r"[A-Z0-9, ]*[A-Z][A-Z0-9, ]*", line)] != []


def test_the_hint_at_the_wide_form_is_an_option(write):
    shown = said("nodes", "--cluster-file", write("c.json", list_text(*(node(f"n-{i}", 8) for i in range(45)))))
    assert " --output=wide lists each node" in shown and "?wide" not in shown


def test_the_policy_of_a_saved_cluster_counts(write):
    policy = "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\nquotas: [{name: training, namespaces: [ml-training], limits: [{total: 8}]}]\n"
    path = write("policy.yaml", policy)
    assert said("quota", *FILE, "--config", path, "-o", "name") == "quota/training\n"
    assert "quotas: is" in complaint("quota", *FILE, "--config", write("bad.yaml", policy.split("quotas")[0] + "quotas: 3\n"), status=2)


def test_unknown_nodes(url):
    """The message names the nearest node, and the command that lists them, not a path of HTTP."""
    for where in (url, FILE):
        unknown = complaint("nodes", "v100-9", *where, status=2)
        assert unknown.startswith("node v100-9: is not in the inventory") and unknown.endswith("(kubectl gpu nodes lists them); did you mean v100-1?")
        assert complaint("what-if", "--drain", "nothing-like-it", *where, status=2).endswith("(kubectl gpu nodes lists them)")


# ---- exit status ----

MISTAKES = {
    "not YAML": "a: [",
    "no workload": "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n",
    "a misspelt annotation": manifest(FITS, annotations={"gpu-extender.io/modles": "A100"}),
    "not understood": "apiVersion: example.com/v1\nkind: Odd\nmetadata: {name: o}\nspec: {worker: {resources: {limits: {nvidia.com/gpu: 1}}}}\n",
    "in part unreadable": manifest(FITS) + "\n---\nmetadata: {}\n",
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_of_a_manifest(url, write, what):
    path = write("manifest.yaml", MISTAKES[what])
    for where in (url, FILE):
        done = gpu("fit", "-f", path, *where)
        assert done.returncode == 2 and done.stdout + done.stderr, done


WRONG = [
    (),
    ("nods",),
    ("nodes", "a", "b"),
    ("pending", "a"),
    ("why",),
    ("why", "a", "-A"),
    ("nodes", "-A"),
    ("frag", "-A"),
    ("doctor", "-A"),
    ("fit", "-f", SAMPLE_CLUSTER, "-A"),
    ("nodes", "-w"),
    ("doctor", "-o", "name"),
    ("decisions", "--cluster-file", SAMPLE_CLUSTER),
    ("fit",),
    ("fit", "-f", "none.yaml"),
    ("nodes", "-f", "x"),
    ("pending", "-n", "a", "-A"),
    ("quota", "--model", "T4"),
    ("nodes", "-o", "xml"),
    ("nodes", "--node=a"),
    ("nodes", "-x"),
    ("nodes", "--url"),
    ("nodes", "--url", "http://127.0.0.1:1", "--cluster-file", "c"),
    ("nodes", "--config", "c"),
    ("nodes", "--cluster-file", "none.yaml"),
    ("nodes", "--cluster-file", SAMPLE_CLUSTER, "--model", ""),
    ("nodes", "-n", "a"),
    ("frag", "--namespace=a"),
    ("fit", "-f", SAMPLE_CLUSTER, "-n", "a"),
    ("quota", "-l", "a"),
    ("decisions", "-l", "a"),
    ("nodes", "v100-1", "-l", "a"),
    ("nodes", "-l", "a in b", *FILE),
    ("what-if",),
    ("what-if", "a"),
    ("what-if", "--drain", "a", "-n", "b"),
    ("what-if", "--drain", "a", "-o", "name"),
    ("what-if", "--changes", "none.yaml"),
    ("what-if", "--changes", "-", "-f", "-"),
    ("what-if", "--add-nodes", "a=", *FILE),
    ("what-if", "--add-nodes", "a=-1", *FILE),
    ("what-if", "--add-nodes", "a=9999999999", *FILE),
    ("nodes", "--drain", "a"),
    ("node-groups", "-A"),
    ("node-groups", "-o", "name"),
    ("pods", "-l", "a"),
    ("pods", "a"),
    ("nodes", "-R"),
    ("ui", "-o", "json"),
    ("version", "-n", "a"),
    ("help", "nods"),
    ("nods", "--help"),
    ("help", "nodes", "fit"),
]


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_wrong_options(words):
    assert complaint(*words, status=2)


@pytest.mark.parametrize(
    "words, plain",
    [
        (("-o=name",), ("-o", "name")),
        (("-o=name", "-l=accelerator=nvidia-tesla-v100"), ("-o", "name", "-l", "accelerator=nvidia-tesla-v100")),
        (("--no-headers=false",), ()),
        (("--no-headers=true",), ("--no-headers",)),
    ],
)
def test_options_as_kubectl_reads_them(words, plain):
    assert said("nodes", *words, *FILE) == said("nodes", *plain, *FILE) != ""


@pytest.mark.parametrize(
    "words, said_of_it",
    [
        (("fit", "-n", "a", "-f", SAMPLE_CLUSTER), "--namespace: is not for fit, which takes namespaces from the manifest"),
        (("nodes", "--namespace", "a"), "--namespace: is not for nodes, only for pending, quota, groups, why, pods, claims, decisions; try kubectl gpu --help"),
        (("frag", "-n", "a"), "--namespace: is not for frag, only for pending, quota, groups, why, pods, claims, decisions; try kubectl gpu --help"),
        (("fit", "-f", "-", "--cordon", "a"), "--cordon: is not for fit, only for what-if; try kubectl gpu --help"),
        (("quota", "-l", "a"), "--selector: is not for quota, only for nodes, pending, frag, claims; try kubectl gpu --help"),
        (("pending", "-l", "a in b", *FILE), "--selector=a in b: should be requirements separated by commas"),
        (("claims", "-l", "a in b", *FILE), "--selector=a in b: should be requirements separated by commas"),
        (("nodes", "-zA"), "-z: this option is unknown"),
        (("nodes", "-Az"), "-z: this option is unknown"),
        (("what-if", "--drain", "--no-headers"), "--drain: needs a value"),
        (("pending", "-n", "--no-headers"), "-n: needs a value"),
        (("nodes", "-o"), "-o: needs a value"),
        (("nodes", "--watch=3"), "--watch: takes no value but true or false"),
        (("nodes", "-o=jsno"), "--output: is jsno, should be"),
        (("what-if", "--drian", "a"), "--drian: this option is unknown; did you mean --drain?"),
        (("nodes", "--zone", "a"), "--zone: this option is unknown"),
        (("nodes", "--url"), "--url: needs a value"),
        (("nodes", "-o", "jsno"), "--output: is jsno, should be table, wide, json, yaml or name; did you mean json?"),
        (("help", "pnding"), "pnding: is no verb; did you mean pending? Try kubectl gpu --help"),
        (("dry-run", "-f", SAMPLE_CLUSTER), "dry-run: is no verb; did you mean fit? Try kubectl gpu --help"),
        (("dryrun",), "dryrun: is no verb; did you mean fit?"),
        (("dry-rnu",), "dry-rnu: is no verb; did you mean fit?"),
        (("explain", "a"), "explain: is no verb; did you mean why?"),
        (("inventory",), "inventory: is no verb; did you mean nodes?"),
        (("fragmentation",), "fragmentation: is no verb; did you mean frag?"),
        (("gangs",), "gangs: is no verb; did you mean groups?"),
        (("drain", "a"), "drain: is no verb; did you mean what-if?"),
        (("frobnicate",), "frobnicate: is no verb; try kubectl gpu --help"),
        (("decisions", "job/a", "--url", "http://127.0.0.1:1"), "job/a: is no pod, should be POD or NAMESPACE/POD"),
        (("decisions", "pod/", "--url", "http://127.0.0.1:1"), "pod/: has no name of small letters"),
        (("decisions", "b/a", "-n", "c", "--url", "http://127.0.0.1:1"), "b/a: is in the namespace b, but --namespace is c"),
        (("fit", "-f", "a.yaml", "b.yaml"), "b.yaml: is unexpected, fit takes no argument; each file needs its own -f"),
        (("nodes", "-R"), "--recursive: is not for nodes, only for fit, what-if"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_complaints_name_the_option(words, said_of_it):
    assert complaint(*words, status=2).startswith(said_of_it)


def test_no_answer(tmp_path):
    for words in (("nodes",), ("fit", "-f", SAMPLE_CLUSTER)):
        assert complaint(*words, "--url", "http://127.0.0.1:1", status=3)
        assert "kubectl: is not in PATH; without it --cluster-file" in complaint(*words, status=3, env={"PATH": str(tmp_path)})
    assert complaint("nodes", "--url", "file:///etc/passwd", status=3)


@pytest.mark.parametrize(
    "url, status",
    [
        ("http://me:s3cret@127.0.0.1:1", 3),
        ("http://me:a@s3cret@127.0.0.1:1/below/", 3),
        ("me:s3cret@127.0.0.1:1", 3),
        ("http://s3cret/x@127.0.0.1:1/", 3),  # of a password that is not encoded, as people write it
        ("http://me:a/s3cret@127.0.0.1:1", 3),
        ("http://me:s3cret%40127.0.0.1:1", 3),
        ("http://127.0.0.1:1/?token=s3cret", 2),
        ("http://127.0.0.1:1/#s3cret", 2),
    ],
)
def test_no_message_has_a_secret_of_the_address(url, status):
    for words in (("nodes",), ("doctor", "-o", "json"), ("decisions", "-w")):
        done = gpu(*words, "--url", url)
        assert done.returncode == (1 if words[0] == "doctor" and status == 3 else status)
        assert "s3cret" not in done.stdout + done.stderr and (done.stdout or done.stderr)
    if status == 3 and "/x" not in url and "a/" not in url and "%40" not in url:
        assert "127.0.0.1:1" in complaint("nodes", "--url", url, status=3), "the address helps to find the mistake"


@pytest.mark.parametrize("words", [("--ulr=http://me:s3cret@a", "nodes"), ("--tokn=s3cret", "nodes"), ("--insecure-skip-tls-verify=s3cret", "nodes")])
def test_no_message_has_the_value_of_an_unknown_option(words):
    said_of_it = complaint(*words, status=2)
    assert "s3cret" not in said_of_it and said_of_it.startswith(words[0].partition("=")[0])


@pytest.mark.parametrize("status, of_nodes, of_fit", [(400, 2, 2), (401, 3, 3), (403, 3, 3), (404, 3, 3), (413, 3, 2), (500, 3, 3), (503, 3, 3)])
def test_answers_of_errors(status, of_nodes, of_fit):
    with answering(b'{"error": "so it is"}\n', status) as there:
        assert complaint("nodes", "--url", there, status=of_nodes) == "so it is"
        assert complaint("fit", "-f", "-", "--url", there, text="{}", status=of_fit) == "so it is"


@pytest.mark.parametrize("words, said_status", [(("nodes",), 3), (("nodes", "a"), 2), (("why", "a"), 2), (("why", "job/a"), 3), (("claims",), 3)])
def test_no_such_object(words, said_status):
    """A 404 means that there is no such object only if the service says so. A 404 of a wrong URL or of a proxy is no answer."""
    for body, status in ((b'{"error": "so it is"}', said_status), (b"error: so it is\n", said_status), (b"<html>not found</html>", 3), (b'{"detail": "no"}', 3), (b'{"error": 3}', 3)):
        with answering(body, 404) as there:
            assert complaint(*words, "--url", there, status=status)


@pytest.mark.parametrize("body, is_ours", [(b"", False), (b" \r\n", False), (b"error: \n", True), (b'{"error": ""}', True), (b'{"message": " "}', False)])
def test_errors_without_a_message(body, is_ours):
    with answering(body, 502) as there:
        wanted = "the answer is HTTP status 502 without a message" if is_ours else f"{there}: the answer is not gpu-extender's: HTTP status 502"
        for words in (("nodes",), ("fit", "-f", "-")):
            assert complaint(*words, "--url", there, text="{}", status=3) == wanted


@pytest.mark.parametrize(
    "body, content, rest",
    [
        (b"<!DOCTYPE HTML>\n<html>\n<p>Not found</p></html>", "text/html", ""),
        (b"<html>not found</html>", None, ""),
        (b'{"detail": "no"}', "application/json", ""),
        (b'{"kind": "Status", "message": "no such service"}', "application/json", ": no such service"),
        (b"no route", "text/plain", ": no route"),
    ],
)
def test_errors_of_other_servers(body, content, rest):
    """The message has the address and the status, and no page."""
    with answering(body, 404, content) as there:
        wanted = f"{there}/below: the answer is not gpu-extender's: HTTP status 404{rest}"
        address = there.replace("//", "//me:s3cret@") + "/below"
        assert complaint("nodes", "--url", address, status=3) == wanted
        (found,) = json.loads(said("doctor", "--url", address, "-o", "json", status=1))["findings"]
        assert (found["check"], found["seen"]) == ("views.inventory", wanted)


PAGE = b"<!DOCTYPE html><html><body>Log in</body></html>\n"


@pytest.mark.parametrize("body, content", [(PAGE, "text/html"), (PAGE, "text/plain"), (PAGE, None), (b"Log in", "text/html; charset=utf-8"), (b"Log in", None), (b' {"a": 1}', "text/plain")])
@EVERY_FORM
def test_pages_of_others_are_no_answers(body, content, kubectl, every):
    kubectl.answer(body.decode())
    with answering(body, content=content) as there:
        for words, form in combined((("nodes",), ("pending",), ("why", "a")), ("table", "wide", "json", "yaml", "name"), every):
            assert complaint(*words, "--url", there, "-o", form, text="{}", status=3).startswith(f"{there}: the answer is not gpu-extender's")
            if b"<" in body or b"{" in body:
                assert complaint(*words, "-o", form, env=kubectl.env, text="{}", status=3).startswith("the answer is not gpu-extender's")


def result(**more):
    return json.dumps({"usable": True, "workloads": [{"replicas": 1, "placed": 1}], "notUnderstood": [], "warnings": [], "skipped": [], **more}).encode()


RESULTS = [
    (result(), 0),
    (result(workloads=[{"replicas": 2, "placed": 1}]), 1),
    (result(workloads=[{"replicas": 2, "placed": 1}], warnings=[{"path": "a", "message": "b"}]), 2),
    (result(usable=False, unusableBecause="stale", warnings=[{"path": "a", "message": "b"}]), 3),
    (b"{}", 3),
    (result(workloads=[{"replicas": 1, "placed": 1, "refusedBecause": None}]), 0),
    (result(workloads=[{"replicas": 1, "placed": 1, "refusedBecause": "there is no namespace a"}]), 1),
    (result(workloads=[{"replicas": 1, "placed": 1, "refusedBecause": True}]), 3),
    (result(workloads=[{"replicas": 1}]), 3),
    (result(workloads=[{"placed": 1}]), 3),
    (result(workloads=[{"replicas": "1", "placed": 1}]), 3),
    (result(workloads=[{"replicas": 1, "placed": 1.0}]), 3),
    (result(workloads=[{"replicas": -1, "placed": 0}]), 3),
    (result(workloads=[{"replicas": 1, "placed": -1}]), 3),
    (result(workloads=[{"replicas": 1, "placed": None}], warnings=[{"path": "a", "message": "b"}]), 3),
    (result(workloads=[{"replicas": 2, "placed": 1, "verdict": {"result": "doesNotFit"}}]), 1),
    (result(workloads=[{"replicas": 2, "placed": 2, "verdict": {"result": "waits"}}]), 1),
    (result(workloads=[{"replicas": 2, "placed": 0, "verdict": {"result": "notJudged"}}]), 2),
    (result(workloads=[{"replicas": 2, "placed": 0}], jobs=[{"verdict": {"result": "fits"}}, {"verdict": {"result": "notJudged"}}]), 2),
    (result(workloads=[{"replicas": 2, "placed": 2, "verdict": 3}], jobs=3), 0),
    (result(workloads=[3]), 3),
    (result(workloads=3), 3),
]


@pytest.mark.parametrize("body, status", RESULTS)
def test_verdicts_of_fit(body, status):
    with answering(body) as there:
        for form in ("table", "json", "yaml", "name"):
            assert gpu("fit", "-f", "-", "--url", there, "-o", form, text="{}").returncode == status


@pytest.mark.parametrize("words", [("nodes",), ("pending",), ("fit", "-f", "-"), ("what-if", "--cordon", "a"), ("ui",)])
def test_a_file_without_nodes_is_no_cluster(write, words):
    """Such as a manifest: an empty table would look like an answer."""
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}}
    for text, kinds in ((list_text(pod("a"), pod("b"), deployment), "2 Pod, 1 Deployment"), (json.dumps(deployment), "1 Deployment"), (list_text(), "no objects")):
        path = write("c.json", text)
        said_of_it = complaint(*words, "--cluster-file", path, text=manifest(FITS), status=2)
        assert said_of_it.startswith(f"{path}: has no nodes") and said_of_it.endswith(f"; it has {kinds}")


def test_a_file_without_nodes_may_have_any_kinds(write):
    """Names that users wrote are bounded, and no control character of them is shown."""
    kinds = ["K" * 1000, "\x1b[31m", *(f"K{i}" for i in range(100))]
    said_of_it = complaint("nodes", "--cluster-file", write("c.json", list_text(*({"kind": kind, "metadata": {"name": "a"}} for kind in kinds))), status=2)
    assert len(said_of_it) < 500 and not has_control(said_of_it) and said_of_it.endswith(" others")


@pytest.mark.parametrize("kept", [{"namespace": "default"}, {"priorityClassName": "none"}, {"runtimeClassName": "none"}])
def test_pods_that_the_api_server_would_reject_do_not_fit(write, kept):
    """They find a node, but the verdict says why they would be rejected; so do the answer and the exit status."""
    kinds = [("v1", "Namespace", "ml"), ("scheduling.k8s.io/v1", "PriorityClass", "high"), ("node.k8s.io/v1", "RuntimeClass", "nvidia")]
    objects = [{"apiVersion": version, "kind": kind, "metadata": {"name": name}, "value": 1, "handler": "x"} for version, kind, name in kinds]
    path = write("c.json", list_text(node("a", 1), *objects))
    asked = json.loads(manifest(FITS, namespace=kept.get("namespace", "ml")))
    asked["spec"].update({name: value for name, value in kept.items() if name != "namespace"})
    ask = ("fit", "-f", "-", "--cluster-file", path)
    (workload,) = json.loads(said(*ask, "-o", "json", text=json.dumps(asked), status=1))["workloads"]
    assert workload["refusedBecause"][1:] in said(*ask, text=json.dumps(asked), status=1)
    assert workload["placed"] == 1 and workload["refusedBecause"].startswith("there is no ")
    assert f"({workload['refusedBecause']})" in workload["summary"]
    fine = manifest(FITS, namespace="ml")
    assert json.loads(said(*ask, "-o", "json", text=fine))["workloads"][0]["refusedBecause"] is None


def test_notes_that_are_no_texts_are_left_out():
    workload = {"replicas": 1, "placed": 1, "notEvaluated": [None, 3, "so"]}
    with answering(result(workloads=[workload], jobs=[{"verdict": {"result": "fits"}, "workloads": [0]}])) as there:
        shown = said("fit", "-f", "-", "--url", there, text="{}")
    assert re.findall("not evaluated.*", shown) == ["not evaluated: so"]


def test_a_manifest_may_come_from_a_socket():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(manifest(FITS).encode())
        ours.shutdown(socket.SHUT_WR)
        done = subprocess.run([PLUGIN, "fit", "-f", "-", *FILE], env={**os.environ, **ENV}, stdin=theirs, capture_output=True, timeout=LIMIT_S, check=False)
    assert (done.returncode, done.stderr) == (0, b""), done


ODD = [b"", b"null", b"[]", b"<html>", b"[" * 100000, b'{"nodes": 3}', b'{"nodes": [3, null, {"name": 3}]}', b"\xff\xfe", b'{"a": "\xff"}', b'{"claims": {"a": 1}}']
ODD += [b'{"usable": true, "workloads": [1, null, {"nodes": 1, "placements": [3], "preemption": 1, "nearMisses": {}}], "skipped": [1], "summary": 1}']


@EVERY_FORM
@pytest.mark.parametrize("body", ODD, ids=range(len(ODD)))
def test_any_answer_is_survived(body, every):
    with answering(body) as there:
        for words, form in combined((("nodes",), ("fit", "-f", "-"), ("why", "job/x", "-n", "a"), ("claims",)), ("table", "json", "yaml", "name"), every):
            assert gpu(*words, "--url", there, "-o", form, text="{}").returncode in (0, 1, 2, 3)


# ---- terminals ----

def test_control_characters_reach_no_terminal():
    inventory = json.dumps({"usable": True, "models": [], "nodes": [{"name": EVIL, EVIL: [EVIL]}], "claims": [{"namespace": EVIL, "name": EVIL}]}, ensure_ascii=False).encode()
    for words in (("nodes",), ("claims",)):
        for form in ("json", "yaml", "name"):
            with answering(inventory) as there:
                shown = said(*words, "--url", there, "-o", form)
            assert not has_control(shown) and "a" in shown
            if form != "name":
                value = (json.loads if form == "json" else yaml.safe_load)(shown)
                assert EVIL in json.dumps(value, ensure_ascii=False).encode().decode() or value["nodes" if words == ("nodes",) else "claims"][0]["name"] == EVIL
    with answering(inventory) as there:
        for verb in ("nodes", "claims"):
            assert not has_control(said(verb, "--url", there)) and not has_control(said(verb, "--url", there, "-o", "wide"))
    with answering(json.dumps({"error": EVIL}).encode(), 403) as there:
        done = gpu("nodes", "--url", there)
        assert not has_control(done.stderr) and done.stderr.count("\n") == 1


# ---- through kubectl ----

def test_the_users_options_are_passed_on(kubectl):
    kubectl.answer('{"nodes": [], "models": []}')
    options = ["--context=c", "--as", "jane", "--as-group", "ops", "--kubeconfig", "k", "-s", "https://x", "--token", "t", "--insecure-skip-tls-verify"]
    said("nodes", *options, "-o", "json", env=kubectl.env)
    passed = ["--context=c", "--as=jane", "--as-group=ops", "--kubeconfig=k", "--server=https://x", "--token=t", "--insecure-skip-tls-verify"]
    assert kubectl.words() == [*passed, "get", "--raw", "/apis/visibility.gpu-extender.io/v1alpha1/views/inventory"]


def test_a_manifest_is_created(kubectl):
    kubectl.answer(result().decode())
    said("fit", "-f", "-", "-o", "json", text="kind: Pod\n" * 100000, env=kubectl.env)
    assert kubectl.words() == ["create", "--raw", "/apis/visibility.gpu-extender.io/v1alpha1/views/dry-run", "--filename=-"]
    assert (kubectl.folder / "input").read_text() == "kind: Pod\n" * 100000


def test_the_namespace_is_that_of_the_context(kubectl):
    views = "/apis/visibility.gpu-extender.io/v1alpha1/views/"
    kubectl.answer('{"pods": [], "owners": []}')
    for more, wanted in (((), "?namespace=here"), (("-A", "-l", "a in (b), !c"), "?labelSelector=a%20in%20%28b%29%2C%20%21c"), (("-n", "a&b"), "?namespace=a%26b"), (("-A",), "")):
        said("pending", "-o", "json", *more, env=kubectl.env)
        assert kubectl.words()[-1] == views + "pending" + wanted
    kubectl.answer('{"decisions": []}')
    for words in (("a", "-n", "b"), ("pod/a", "-n", "b"), ("b/a",), ("b/a", "-n", "b")):
        said("decisions", *words, "-o", "json", env=kubectl.env)
        assert kubectl.words()[-1] == views + "decisions?namespace=b&name=a"
    kubectl.env["FAKE_NAMESPACE"] = ""
    kubectl.answer('{"pod": {}, "nodes": []}')
    said("why", "p", "-o", "json", env=kubectl.env)
    assert kubectl.words()[-1] == views + "explain?namespace=default&name=p"


@pytest.mark.parametrize(
    "complained, status, shown",
    [
        ("Error from server (Forbidden): views is forbidden: no\n", 3, "views is forbidden: no"),
        ("Error from server (NotFound): pod a/b: is not in the inventory\n", 2, "pod a/b: is not in the inventory"),
        ("Error from server (NotFound): the server could not find the requested resource\n", 3, "aggregated API"),
        ("Error from server (NotFound): no such path, should be one of: GET /v1/explain\n", 3, "by --url, not by --server"),
        ("Error from server (BadRequest): ?x: is unknown\n", 2, "?x: is unknown"),
        ("Error from server (ServiceUnavailable): the server is currently unable\n", 3, "unable"),
        ("The connection to the server x was refused\n", 3, "refused"),
        ("", 3, "without a message"),
    ],
)
def test_complaints_of_kubectl(kubectl, complained, status, shown):
    kubectl.answer("", complained, 1)
    assert shown in complaint("why", "b", env=kubectl.env, status=status)


# ---- documents ----


def test_the_table_of_verbs_is_true(kubectl, write):
    """The paths and rights are those of the requests that the plugin makes."""
    rows = [row for row in marked.table("docs/KUBECTL-GPU.md", "verbs") if row[0] != "`ui`"]  # test_kubectl_ui.py
    stated = {verb: re.findall(r"`(?:views/)?([a-z-]+)`", path) for verb, path, _ in rows}
    asked = {}
    for row in stated:
        words = row.strip("`").replace(" [NODE]", "").replace(" [POD]", "").replace("FILE", str(write("m.yaml", "{}"))).replace("KIND/NAME", "job/x").replace("POD", "web-0").split()
        lists = {name: [] for name in ("pods", "nodes", "models", "quotas", "groups", "decisions")}
        kubectl.answer(json.dumps({**lists, "owners": [{"kind": "Job", "name": "x", "firstPod": "y"}], "values": {}}))
        (kubectl.folder / "all").unlink(missing_ok=True)
        assert gpu(*words, "-o", "json", env=kubectl.env).returncode in (0, 1, 3)
        asked[row] = re.findall(r"/views/([a-z-]+)", (kubectl.folder / "all").read_text())
    assert asked == stated and len(stated) == 15
    for _, path, right in rows:
        assert right.startswith("`create`" if path in ("`views/dry-run`", "`views/what-if`") else "`get`")
        assert right.endswith((" both", " all")) or f"`{path.strip('`')}`" in right
