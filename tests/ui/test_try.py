"""What is tried, also after changes, and the commands that ask the same, run by a shell."""

import json
import os
import subprocess
from urllib.parse import quote

import objects
import pytest
from browsing import read, rows_of, shot, tried
from objects import node, pod
from service import BINARY, ROOT, SAMPLE_CLUSTER, Service

TOO_BIG = os.path.join(ROOT, "examples/workloads/pod-too-big.yaml")
PLUGIN = os.path.join(os.path.dirname(BINARY), "kubectl-gpu")
SPECIAL = "# it's \"quoted\" $HOME `id` \\ %s\n"  # for a shell
NO_NAMES = ["it's/train", "ml-training/-rf", "ml-training/a\x03\ntouch x\n", "ml-training/Train", "ml-training/" + "a" * 254]
BUTTONS = ("Copy as curl", "Copy as kubectl gpu")


def copied(scope, page, label):
    scope.get_by_role("button", name=label).click()
    scope.get_by_text("Copied.").first.wait_for()
    return page.evaluate("navigator.clipboard.readText()")


def run(command, folder, check=True, **env):
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=folder, check=check, env={**os.environ, **env})


def told(scope, page, folder, more=""):
    """The answer of the command that is copied as kubectl gpu, from the plugin's program."""
    command = copied(scope, page, "Copy as kubectl gpu")
    return run(command.replace("kubectl gpu", PLUGIN, 1) + more, folder, check=False)


def shown(scope, page, folder):
    """The answer of the command that is copied as curl."""
    return run(copied(scope, page, "Copy as curl").replace("curl ", "curl -sS --fail-with-body ", 1), folder).stdout


CHANGES_MADE = "Changes"


GRANTED = {"permissions": ["clipboard-read", "clipboard-write"]}


def test_the_copied_commands_ask_the_same(sample, pages, tmp_path):
    manifest = read(TOO_BIG) + SPECIAL
    page = pages.open(sample, **GRANTED)
    tried(page, manifest)
    facts = page.locator(".facts")
    assert shown(facts, page, tmp_path) == sample.post("/v1/dry-run?output=table", manifest).text
    answer = told(facts, page, tmp_path)
    assert answer.returncode == 1 and answer.stdout, answer


def assert_refused(scope, page, because):
    """The clipboard stays as it was."""
    page.evaluate("navigator.clipboard.writeText('before')")
    for label in BUTTONS:
        scope.get_by_role("button", name=label).click()
    scope.get_by_text(because).nth(1).wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "before"


@pytest.mark.parametrize("name", NO_NAMES, ids=range(len(NO_NAMES)))
def test_what_is_no_name_is_not_copied(sample, pages, name):
    """The answer is faked, because the service answers only about pods that exist."""
    explained = sample.get("/v1/explain?namespace=ml-training&name=big-train-0").json()
    answer = lambda page: page.route("**/v1/explain?*", lambda route: route.fulfill(json=explained))
    page = pages.open(sample, f"#pod={quote(name)}", wait=".drawer table", before=answer, **GRANTED)
    assert_refused(page.locator(".drawer"), page, "is not the name of a Kubernetes object")


@pytest.mark.parametrize("character", ["\u0003", "\t", "\u202e", "\U000e0041"], ids=ascii)
def test_hidden_characters_are_not_copied(sample, pages, character):
    pages.expected.append("400")  # YAML has no controls but tabs
    page = pages.open(sample, "#view=try", wait="#manifest", **GRANTED)
    page.locator("#manifest").fill(f"# a{character}\n{read(TOO_BIG)}")
    page.locator("#try-it").click()
    page.get_by_role("button", name=BUTTONS[0]).wait_for()
    assert_refused(page.locator(".facts"), page, f"the hidden character U+{ord(character):04X}")


def test_a_wrong_change_gets_the_api_s_error(sample, pages):
    pages.expected.append("404")
    page = pages.open(sample, "#view=try&drain=nothing-of-this-name", wait=".verdict.not")
    asked = {"changes": [{"drain": ["nothing-of-this-name"]}], "workloads": []}
    assert sample.post("/v1/what-if", asked).json()["error"] in page.locator(".verdict.not").inner_text()


def test_a_busy_service_is_asked_again(sample, pages):
    pages.expected.append("503")
    busy = [1, 1]

    def answer(route):
        if busy:
            busy.pop()
            route.fulfill(status=503, headers={"Retry-After": "0"}, json={"error": "too many long answers are being computed: try again"})
        else:
            route.continue_()

    pages.open(sample, "#view=try&drain=h100-1", wait=".answer .verdict", before=lambda page: page.route("**/v1/what-if", answer))
    assert busy == []


@pytest.mark.parametrize("node, model, n_lost, look, says", [("k80-1", "K80", 1, ".not", "1 pod would be lost"), ("v100-1", "V100", 0, ".fits", "The displaced pod finds a place")])
def test_a_drain_is_asked_at_once(sample, pages, tmp_path, node, model, n_lost, look, says):
    """In the drawer of the node, and from there in the view Try, which shows the same on the map."""
    asked = {"changes": [{"drain": [node]}], "workloads": []}
    answer = sample.post("/v1/what-if", asked).json()
    assert answer["changes"][0]["withoutController"] == n_lost
    page = pages.open(sample, f"#node={node}", **GRANTED)
    drawer = page.locator(".drawer")
    drawer.get_by_role("button", name="Drain it").click()
    drawer.locator(f".verdict{look}", has_text=says).wait_for()
    models = {when: {row["model"]: row["usable"] for row in answer["fragmentation"][when]} for when in ("before", "after")}
    assert f"Usable {model}: {models['before'][model]} → {models['after'][model]}." in drawer.inner_text()
    assert json.loads(told(drawer, page, tmp_path, " -o json").stdout)["displaced"] == answer["displaced"]
    drawer.get_by_role("button", name="Open in Try").click()
    page.locator(".try .verdict", has_text=says).wait_for()
    assert page.locator("#drain").input_value() == node
    assert [row[0] for row in rows_of(page, "displaced pod")] == [f"{item['namespace']}/{item['name']}" for item in answer["displaced"]]
    facts = page.locator(".facts")
    assert shown(facts, page, tmp_path) == sample.post("/v1/what-if?output=table", asked).text
    assert json.loads(told(facts, page, tmp_path, " -o json").stdout)["displaced"] == answer["displaced"]
    shot(page, "drain")


@pytest.mark.parametrize("lang, drained, cordoned", [("en", "would be drained", "would be cordoned"), ("zh", "将被排空", "将被封锁")])
def test_drained_and_cordoned_nodes_are_marked(sample, pages, lang, drained, cordoned):
    """On the map with words, and in the table, until another try."""
    page = pages.open(sample, f"#lang={lang}&view=try&drain=h100-1&cordon=v100-1,h100-1,cp-1", wait=".facts")
    page.locator(".facts .link").last.click()
    page.wait_for_selector(".tile.changed")
    marked = {one[0]: one[1:] for one in page.locator(".tile.changed").evaluate_all("all => all.map(one => [one.dataset.node, one.querySelector('.tag').innerText, one.ariaLabel])")}
    assert set(marked) == {"h100-1", "v100-1"}
    for node, words in (("h100-1", drained), ("v100-1", cordoned)):
        assert marked[node][0] == words and words in marked[node][1]
    shot(page, f"changed-{lang}")
    page.locator("#show").select_option("table")
    states = {row[0]: row for row in page.locator("table tbody tr").evaluate_all("all => all.map(row => [...row.cells].map(cell => cell.innerText))")}
    assert any(drained in cell for cell in states["h100-1"]) and any(cordoned in cell for cell in states["v100-1"])
    page.locator("#tab-try").click()
    page.locator("#drain").fill("")
    page.locator("#cordon").fill("v100-2")
    page.locator("#try-it").click()
    page.locator(".answer td", has_text="v100-2").first.wait_for()
    page.locator(".facts .link").last.click()
    page.wait_for_selector(".tile.changed[data-node='v100-2']")
    assert page.locator(".tile.changed").count() == 1


def test_a_cordon_a_removal_and_one_more_node_are_asked_at_once(sample, pages, tmp_path):
    for fragment, button, change in (
        ("#node=h100-1&lang=en", "Cordon it", {"cordon": ["h100-1"]}),
        ("#node=h100-1", "Add 1 like it", {"addNodes": {"like": "h100-1", "count": 1}}),
        ("#pod=ml-training/big-train-0", "What if it were gone?", {"removePods": ["ml-training/big-train-0"]}),
    ):
        asked = {"changes": [change], "workloads": []}
        answer = sample.post("/v1/what-if", asked).json()
        page = pages.open(sample, f"{fragment}&drain=a100-80-1", wait=".asks", **GRANTED)
        drawer = page.locator(".drawer")
        drawer.get_by_role("button", name=button).click()
        drawer.get_by_role("button", name="Open in Try").click()
        page.locator(".facts").wait_for()
        ((_, name, _),) = rows_of(page, CHANGES_MADE)
        assert name in json.dumps(change)
        facts = page.locator(".facts")
        assert shown(facts, page, tmp_path) == sample.post("/v1/what-if?output=table", asked).text
        assert json.loads(told(facts, page, tmp_path, " -o json").stdout)["changes"] == answer["changes"]


@pytest.mark.parametrize("changes", ["drain=it's", "cordon=a,it's", "lift=it's", "remove=ml/it's", "like=it's", "like=it's&quota=a"])
def test_what_is_no_name_in_a_change_is_not_copied(sample, pages, changes):
    pages.expected += ["400", "404"]
    page = pages.open(sample, f"#view=try&{changes}", wait=".verdict.not", **GRANTED)
    assert_refused(page.locator(".facts"), page, "“it's” is not the name of a Kubernetes object")


def test_a_token_is_copied_as_a_variable(sample, pages, tmp_path):
    """If the page has a token, the commands need one, too."""
    refused = {"status": 401, "json": {"error": "no token"}}
    pages.expected.append("401")
    asking = lambda page: page.route("**/v1/**", lambda route: route.continue_() if "authorization" in route.request.headers else route.fulfill(**refused))
    page = pages.open(sample, "#pod=ml-training/big-train-0", wait="#token", before=asking, **GRANTED)
    page.locator("#token").fill("t0ken")
    page.get_by_role("button", name="Use it").click()
    drawer = page.locator(".drawer")
    for label, words in (("Copy as curl", '-H "Authorization: Bearer $TOKEN"'), ("Copy as kubectl gpu", '--token="$TOKEN"')):
        drawer.get_by_role("button", name=label).click()
        drawer.get_by_text("Set the shell's variable TOKEN").first.wait_for()
        command = page.evaluate("navigator.clipboard.readText()")
        assert words in command and "t0ken" not in command


def test_more_nodes_are_tried_with_a_manifest(sample, pages, tmp_path):
    asked = {"changes": [{"addNodes": {"like": "h100-1", "count": 3}}], "workloads": [read(TOO_BIG)]}
    answer = sample.post("/v1/what-if", json.dumps(asked)).json()
    page = pages.open(sample, "#view=try", wait="#manifest", **GRANTED)
    tried(page, read(TOO_BIG))
    page.get_by_role("button", name="+ Nodes").click()
    page.locator("#like").fill("h100-1")
    page.locator("#count").fill("3")
    page.locator("#try-it").click()
    page.locator("table caption", has_text=CHANGES_MADE).wait_for(state="attached")
    rows = rows_of(page, "only with the changes") if answer["pending"]["nowRun"] else []
    assert [row[0] for row in rows] == [f"{item['namespace']}/{item['name']}" for item in answer["pending"]["nowRun"]]
    assert page.locator("article").count() == len(answer["workloads"]) == 1
    assert json.loads(told(page.locator(".facts"), page, tmp_path, " -o json").stdout)["summary"] == answer["summary"]


def test_a_drain_names_the_budgets_that_it_meets(pages, tmp_path, ends):
    owned = {"labels": {"app": "a"}, "ownerReferences": [{"kind": "ReplicaSet", "name": "a", "uid": "uid-a", "controller": True}]}
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "keep-it", "namespace": "ml", "uid": "uid-b", "generation": 1},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}},
        "status": {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1, "observedGeneration": 1},
    }
    (tmp_path / "cluster.json").write_text(objects.list_text(node("a"), node("b"), pod("kept", on="a", metadata=owned), budget))
    service = Service("--cluster-file", tmp_path / "cluster.json")
    ends.callback(service.stop)
    answer = service.post("/v1/what-if", {"changes": [{"drain": ["a"]}], "workloads": []}).json()
    (met,) = answer["disruptionBudgets"]["met"]
    page = pages.open(service, "#view=try&drain=a", wait=".facts")
    assert rows_of(page, "PodDisruptionBudgets of") == [["ml/keep-it", "1", "0", met["reason"]]]
    assert [row[3] for row in rows_of(page, "displaced pod finds a place")] == ["b"]
    ((_, _, effect),) = rows_of(page, CHANGES_MADE)
    assert effect.startswith("1 evicted, 0 stay")


QUOTAS = """apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
quotas: [{name: training, namespaces: [ml-training], limits: [{total: 40, models: {H100: 8}}, {resource: nvidia.com/gpu, total: 30}]}, {name: rest, namespaces: [ml-inference], limits: [{total: 40}]}]
"""


def test_a_quota_and_the_placement_are_tried(pages, tmp_path, ends):
    """The test also drains a node, whose effect on the other quota is shown."""
    policy = tmp_path / "policy.yaml"
    policy.write_text(QUOTAS)
    service = Service("--cluster-file", SAMPLE_CLUSTER, "--config", policy)
    ends.callback(service.stop)
    limits = [{"total": 0, "models": {"H100": 4}}, {"resource": "nvidia.com/gpu", "total": 30}]
    changes = [{"drain": ["h100-1", "a100-80-1"]}, {"quota": {"name": "training", "limits": limits}}, {"placement": {"policy": "binpack"}}]
    answer = service.post("/v1/what-if", {"changes": changes, "workloads": []}).json()
    page = pages.open(service, "#view=quotas", wait="table", **GRANTED)
    page.locator("tr", has_text="training").first.get_by_role("button", name="Other limits?").click()
    page.locator(".facts").wait_for()
    assert page.locator("#quota").input_value() == "training"
    assert page.locator("#limits").input_value() == "40, H100=8, nvidia.com/gpu:30"
    page.locator("#limits").fill("0, H100=4, nvidia.com/gpu:30")
    page.get_by_role("button", name="Drain", exact=True).click()
    page.locator("#drain").fill("h100-1,a100-80-1")
    page.get_by_role("button", name="Placement").click()
    page.locator("#placement").select_option("binpack")
    page.locator("#try-it").click()
    page.locator("td", has_text="placement changed").wait_for()
    before, after = ({(row["quota"], row["resource"], row["model"]): row for row in answer["quota"][when]} for when in ("before", "after"))
    changed = [name for name in after if before[name] != after[name]]
    rows = {(row[0], row[1]): row[2:] for row in rows_of(page, "Quotas")}
    assert rows == {(name[0], f"{name[1]} {name[2] or 'any'}".strip()): [f"{before[name][of]} → {after[name][of]}" for of in ("used", "limit")] for name in changed}
    assert ("training", "H100") in rows
    facts = page.locator(".facts")
    assert shown(facts, page, tmp_path) == service.post("/v1/what-if?output=table", {"changes": changes, "workloads": []}).text
    assert json.loads(told(facts, page, tmp_path, " -o json").stdout)["quota"] == answer["quota"]
    shot(page, "what-if")
    pages.expected.append("400")
    page.locator("#limits").fill("H100=many")
    page.locator("#try-it").click()
    wrong = {"changes": [changes[0], {"quota": {"name": "training", "limits": [{"models": {"H100": "many"}}]}}, changes[2]]}
    page.locator(".verdict.not", has_text=service.post("/v1/what-if", wrong).json()["error"]).wait_for()


WRONG = """apiVersion: v1
kind: Pod
metadata: {name: NAME, namespace: ml-training, annotations: {gpu-extender.io/models: H10O}}
spec: {containers: [{name: main, image: x, resources: {limits: {nvidia.com/gpu: 1}}}]}
---
"""
ODD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: odd}\ndta: {}\n"


def test_the_verdict_comes_before_the_mistakes(sample, pages):
    """Those of a job stand below its verdict, those of other objects below all jobs."""
    for names in (["a"], ["a", "b"]):
        page = pages.open(sample, "#view=try", wait="#manifest")
        tried(page, "".join(WRONG.replace("NAME", name) for name in names) + ODD)
        jobs = page.locator(".answer article").all()
        assert len(jobs) == len(names)
        for job in jobs:
            assert job.locator(":scope > *").evaluate_all("parts => parts.slice(0, 2).map(part => part.classList[0])") == ["verdict", "notice"]
            assert job.locator(".notice.warning").count() == 1
        (odd,) = page.locator(".answer > .notice").all()
        assert "did you mean data?" in odd.inner_text()
        assert page.locator(".answer > *").evaluate_all("parts => parts.findIndex(part => part.matches('.notice')) > parts.findLastIndex(part => part.matches('article'))")
        shot(page, f"mistakes-of-{len(names)}")
