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


def try_it(page):
    page.locator("caption", has_text="Node groups").wait_for()
    page.get_by_role("button", name="Try it").click()


GRANTED = {"permissions": ["clipboard-read", "clipboard-write"]}


def test_the_copied_commands_ask_the_same(sample, pages, tmp_path):
    manifest = read(TOO_BIG) + SPECIAL
    page = pages.open(sample, **GRANTED)
    tried(page, manifest)
    panel = page.locator("[role=tabpanel]")
    assert shown(panel, page, tmp_path) == sample.post("/v1/dry-run?output=table", manifest).text
    answer = told(panel, page, tmp_path)
    assert answer.returncode == 1 and "0 of 1 replicas can be placed" in answer.stdout, answer


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
    page = pages.open(sample, f"#pod={quote(name)}", wait=".details table", before=answer, **GRANTED)
    assert_refused(page.locator(".details"), page, "is not the name of a Kubernetes object")


@pytest.mark.parametrize("character", ["\u0003", "\t", "\u202e", "\U000e0041"], ids=ascii)
def test_hidden_characters_are_not_copied(sample, pages, character):
    pages.expected.append("400")  # YAML has no controls but tabs
    page = pages.open(sample, "#tab=try", wait="#manifest", **GRANTED)
    page.locator("#manifest").fill(f"# a{character}\n{read(TOO_BIG)}")
    page.get_by_role("button", name="Try it").click()
    page.get_by_role("button", name=BUTTONS[0]).wait_for()
    assert_refused(page.locator("[role=tabpanel]"), page, f"the hidden character U+{ord(character):04X}")


def test_a_wrong_change_gets_the_api_s_error(sample, pages):
    pages.expected.append("404")
    page = pages.open(sample, "#tab=try&drain=nothing-of-this-name", wait="#manifest")
    page.get_by_role("button", name="Try it").click()
    page.wait_for_selector(".notice.error")
    asked = {"changes": [{"drain": ["nothing-of-this-name"]}], "workloads": []}
    assert sample.post("/v1/what-if", asked).json()["error"] in page.locator(".notice.error").inner_text()


def test_a_busy_service_is_asked_again(sample, pages):
    pages.expected.append("503")
    summary = sample.post("/v1/what-if", {"changes": [{"drain": ["h100-1"]}], "workloads": []}).json()["summary"]
    busy = [1, 1]

    def answer(route):
        if busy:
            busy.pop()
            route.fulfill(status=503, headers={"Retry-After": "0"}, json={"error": "too many long answers are being computed: try again"})
        else:
            route.continue_()

    page = pages.open(sample, "#tab=try&drain=h100-1", wait="#manifest", before=lambda page: page.route("**/v1/what-if", answer))
    page.get_by_role("button", name="Try it").click()
    page.get_by_text(summary).first.wait_for()
    assert busy == []


def test_a_drain_is_tried(sample, pages, tmp_path):
    """The details of a node lead to a try that drains it."""
    (name,) = [item["name"] for item in sample.get("/v1/inventory").json()["nodes"] if item["name"] == "h100-1"]
    asked = {"changes": [{"drain": [name]}], "workloads": []}
    answer = sample.post("/v1/what-if", asked).json()
    page = pages.open(sample, f"#node={name}", **GRANTED)
    page.get_by_role("button", name="What if it is drained?").click()
    try_it(page)
    page.get_by_text(answer["summary"]).first.wait_for()
    rows = rows_of(page, "displaced pods find a place")
    assert [row[0] for row in rows] == [f"{item['namespace']}/{item['name']}" for item in answer["displaced"]]
    places = {item["node"] for item in [*answer["displaced"], *answer["pending"]["nowRun"]] if item["node"]}
    assert set(page.locator(".node.placed").evaluate_all("nodes => nodes.map(node => node.title)")) == places
    panel = page.locator("[role=tabpanel]")
    assert shown(panel, page, tmp_path) == sample.post("/v1/what-if?output=table", asked).text
    assert json.loads(told(panel, page, tmp_path, " -o json").stdout)["displaced"] == answer["displaced"]
    shot(page, "drain")


@pytest.mark.parametrize("lang, drained, cordoned", [("en", "would be drained", "would be cordoned"), ("zh", "将被排空", "将被封锁")])
def test_drained_and_cordoned_nodes_are_marked(sample, pages, lang, drained, cordoned):
    """On the map with words, in the title and in the table, until another try; a link of the tab leads to them."""
    page = pages.open(sample, f"#lang={lang}&tab=try&drain=h100-1&cordon=v100-1,h100-1,cp-1", wait="#manifest")
    page.locator("#try-it").click()
    page.wait_for_selector(".node.changed")
    marked = page.locator(".node.changed").evaluate_all("all => all.map(one => [one.querySelector('.change').innerText, one.title, one.ariaLabel])")
    for (badge, title, spoken), node, words in zip(sorted(marked, key=lambda one: one[1]), ("h100-1", "v100-1"), (drained, cordoned), strict=True):
        assert badge and title == f"{node}: {words}" and words in spoken
    assert len({badge for badge, *_ in marked}) == 2, "the badges differ in their words, not only in colour"
    shot(page, f"changed-{lang}")
    page.locator("#view").select_option("table")
    states = {row[0]: row[-2] for row in page.locator("section table tbody tr").evaluate_all("all => all.map(row => [...row.cells].map(cell => cell.innerText))") if len(row) > 5}
    assert drained in states["h100-1"] and cordoned in states["v100-1"]
    page.locator("#view").select_option("map")
    page.locator("#drain").fill("")
    page.locator("#cordon").fill("v100-2")
    page.locator("#try-it").click()
    page.locator(".node.changed[title^='v100-2']").wait_for()
    assert page.locator(".node.changed").count() == 1


def test_a_cordon_and_a_removal_are_tried(sample, pages, tmp_path):
    """The details of a node and of a pod lead to these changes."""
    for fragment, button, change in (
        ("#node=h100-1&lang=en", "What if it is cordoned?", {"cordon": ["h100-1"]}),
        ("#pod=ml-training/big-train-0", "What if it were gone?", {"removePods": ["ml-training/big-train-0"]}),
    ):
        asked = {"changes": [change], "workloads": []}
        answer = sample.post("/v1/what-if", asked).json()
        page = pages.open(sample, f"{fragment}&drain=a100-80-1", **GRANTED)
        page.get_by_role("button", name=button).click()
        page.wait_for_function("document.activeElement?.id === 'try-it'")
        page.locator("caption", has_text="Node groups").wait_for()
        page.keyboard.press("Enter")
        panel = page.locator("[role=tabpanel]")
        panel.get_by_text(answer["summary"]).first.wait_for()
        ((_, name, _),) = rows_of(page, "What the changes do")
        assert [name] == next(iter(change.values()))
        assert shown(panel, page, tmp_path) == sample.post("/v1/what-if?output=table", asked).text
        assert json.loads(told(panel, page, tmp_path, " -o json").stdout)["changes"] == answer["changes"]


@pytest.mark.parametrize("changes", ["drain=it's", "cordon=a,it's", "remove=ml/it's", "like=it's", "like=it's&quota=a"])
def test_what_is_no_name_in_a_change_is_not_copied(sample, pages, changes):
    pages.expected += ["400", "404"]
    page = pages.open(sample, f"#tab=try&{changes}", wait="#manifest", **GRANTED)
    page.get_by_role("button", name="Try it").click()
    page.wait_for_selector(".notice.error")
    assert_refused(page.locator("[role=tabpanel]"), page, "“it's” is not the name of a Kubernetes object")


def test_a_token_is_copied_as_a_variable(sample, pages, tmp_path):
    """If the page has a token, the commands need one, too."""
    refused = {"status": 401, "json": {"error": "no token"}}
    pages.expected.append("401")
    asking = lambda page: page.route("**/v1/**", lambda route: route.continue_() if "authorization" in route.request.headers else route.fulfill(**refused))
    page = pages.open(sample, "#pod=ml-training/big-train-0", wait="#token", before=asking, **GRANTED)
    page.locator("#token").fill("t0ken")
    page.get_by_role("button", name="Use it").click()
    details = page.locator(".details")
    for label, words in (("Copy as curl", '-H "Authorization: Bearer $TOKEN"'), ("Copy as kubectl gpu", '--token="$TOKEN"')):
        details.get_by_role("button", name=label).click()
        details.get_by_text("Set the shell's variable TOKEN").first.wait_for()
        command = page.evaluate("navigator.clipboard.readText()")
        assert words in command and "t0ken" not in command


def test_more_nodes_are_tried_with_a_manifest(sample, pages, tmp_path):
    asked = {"changes": [{"addNodes": {"like": "h100-1", "count": 3}}], "workloads": [read(TOO_BIG)]}
    answer = sample.post("/v1/what-if", json.dumps(asked)).json()
    page = pages.open(sample, "#tab=try&like=h100-1&count=3", wait="#manifest", **GRANTED)
    page.locator("#manifest").fill(read(TOO_BIG))
    try_it(page)
    page.get_by_text(answer["summary"]).first.wait_for()
    rows = rows_of(page, "find a place only with the changes") if answer["pending"]["nowRun"] else []
    assert [row[0] for row in rows] == [f"{item['namespace']}/{item['name']}" for item in answer["pending"]["nowRun"]]
    assert page.locator("article").count() == len(answer["workloads"]) == 1
    assert json.loads(told(page.locator("[role=tabpanel]"), page, tmp_path, " -o json").stdout)["summary"] == answer["summary"]


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
    page = pages.open(service, "#tab=try&drain=a", wait="#manifest")
    try_it(page)
    page.get_by_text(answer["summary"]).first.wait_for()
    assert rows_of(page, "PodDisruptionBudgets of") == [["ml/keep-it", "1", "0", met["reason"]]]
    assert [row[3] for row in rows_of(page, "displaced pods find a place")] == ["b"]
    ((_, _, effect),) = rows_of(page, "What the changes do")
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
    page = pages.open(service, "#tab=quotas", wait="[role=tabpanel] table", **GRANTED)
    page.locator("tr", has_text="training").first.get_by_role("button", name="other limits?").click()
    page.wait_for_function("document.activeElement?.id === 'limits'")
    assert page.locator("#quota").input_value() == "training"
    assert page.locator("#limits").input_value() == "40, H100=8, nvidia.com/gpu:30"
    page.locator("#limits").fill("0, H100=4, nvidia.com/gpu:30")
    page.locator("#drain").fill("h100-1,a100-80-1")
    page.locator("#placement").select_option("binpack")
    try_it(page)
    page.get_by_text(answer["summary"]).first.wait_for()
    before, after = ({(row["quota"], row["resource"], row["model"]): row for row in answer["quota"][when]} for when in ("before", "after"))
    changed = [name for name in after if before[name] != after[name]]
    rows = {(row[0], row[1], row[2]): row[3:] for row in rows_of(page, "Quotas")}
    assert rows == {(*name[:2], name[2] or "any"): [f"{before[name][of]} → {after[name][of]}" for of in ("used", "limit")] for name in changed}
    assert ("training", "", "H100") in rows
    panel = page.locator("[role=tabpanel]")
    assert shown(panel, page, tmp_path) == service.post("/v1/what-if?output=table", {"changes": changes, "workloads": []}).text
    assert json.loads(told(panel, page, tmp_path, " -o json").stdout)["quota"] == answer["quota"]
    shot(page, "what-if")
    pages.expected.append("400")
    page.locator("#limits").fill("H100=many")
    page.get_by_role("button", name="Try it").click()
    wrong = {"changes": [changes[0], {"quota": {"name": "training", "limits": [{"models": {"H100": "many"}}]}}, changes[2]]}
    page.locator(".notice.error", has_text=service.post("/v1/what-if", wrong).json()["error"]).wait_for()
