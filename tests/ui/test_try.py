"""What is tried, also after changes, and the commands that ask the same, run by a shell."""

import json
import os
import subprocess

import objects
import pytest
from browsing import read, rows_of, shot, tried
from objects import node, pod
from service import BINARY, ROOT, SAMPLE_CLUSTER, Service

TOO_BIG = os.path.join(ROOT, "examples/workloads/pod-too-big.yaml")
PLUGIN = os.path.join(os.path.dirname(BINARY), "kubectl-gpu")
# For a shell; and names that no object of a cluster can have, but a file.
SPECIAL = "# it's \"quoted\" $HOME `id` \\ %s\n"
EVIL = ["it's", "$(touch x)", "`id`", "a;b|c&d", "*", "-rf", "--help", 'q"q', "back\\slash", "new\nline"]


def copied(scope, page, label):
    scope.get_by_role("button", name=label).click()
    scope.get_by_text("Copied.").first.wait_for()
    return page.evaluate("navigator.clipboard.readText()")


def run(command, folder, check=True):
    """In a shell that finds a kubectl: `kubectl gpu` becomes the plugin's program."""
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=folder, check=check)


def as_plugin(command):
    return command.replace("kubectl gpu", PLUGIN, 1)


GRANTED = {"permissions": ["clipboard-read", "clipboard-write"]}


def test_the_copied_commands_ask_the_same(sample, pages, tmp_path):
    manifest = read(TOO_BIG) + SPECIAL
    page = pages.open(sample, **GRANTED)
    tried(page, manifest)
    panel = page.locator("[role=tabpanel]")
    shown = run(copied(panel, page, "Copy as curl").replace("curl ", "curl -sS --fail-with-body ", 1), tmp_path)
    assert shown.stdout == sample.post("/v1/dry-run?output=table", manifest).text
    told = run(as_plugin(copied(panel, page, "Copy as kubectl gpu")) + f" --cluster-file {SAMPLE_CLUSTER}", tmp_path, check=False)
    assert told.returncode == 1 and "0 of 1 replicas can be placed" in told.stdout, told


@pytest.fixture(scope="module")
def evil(tmp_path_factory):
    path = tmp_path_factory.mktemp("evil") / "cluster.json"
    pods = (pod(name, 99, metadata={"namespace": name, "uid": f"uid-{at}"}) for at, name in enumerate(EVIL))
    path.write_text(objects.list_text(node("a"), *pods))
    service = Service("--cluster-file", path)
    service.path = path
    yield service
    service.stop()


@pytest.mark.parametrize("name", [name for name in EVIL if "\n" not in name])
def test_names_do_nothing_in_a_shell(evil, pages, tmp_path, name):
    """Both commands of a pod ask about just that pod, and the shell runs nothing else."""
    page = pages.open(evil, wait="[role=tabpanel] table", **GRANTED)
    page.get_by_role("button", name=f"{name}/{name}", exact=True).click()
    details = page.locator(".details")
    details.locator("table").wait_for()
    shown = run(copied(details, page, "Copy as curl").replace("curl ", "curl -sS --fail-with-body ", 1), tmp_path)
    assert shown.stdout.startswith(f"{name}/{name}")
    command = copied(details, page, "Copy as kubectl gpu")
    # The words that the shell makes of it.
    words = run(command.replace("kubectl", "printf '%s\\n' kubectl", 1), tmp_path).stdout.splitlines()
    assert words[:3] == ["kubectl", "gpu", "why"] and words.count(name) == 2
    assert os.listdir(tmp_path) == []


def test_a_wrong_change_gets_the_api_s_error(sample, pages):
    pages.expected.append("404")
    page = pages.open(sample, "#tab=try&drain=nothing-of-this-name", wait="#manifest")
    page.get_by_role("button", name="Try it").click()
    page.wait_for_selector(".notice.error")
    asked = {"changes": [{"drain": ["nothing-of-this-name"]}], "workloads": []}
    assert sample.post("/v1/what-if", asked).json()["error"] in page.locator(".notice.error").inner_text()


def test_a_busy_service_is_asked_again(sample, pages):
    pages.expected.append("503")
    busy = [1, 1]

    def answer(route):
        if busy:
            busy.pop()
            route.fulfill(status=503, headers={"Retry-After": "0"}, json={"error": "another what-if is being computed"})
        else:
            route.continue_()

    page = pages.open(sample, "#tab=try&drain=h100-1", wait="#manifest", before=lambda page: page.route("**/v1/what-if", answer))
    page.get_by_role("button", name="Try it").click()
    page.get_by_text(sample.post("/v1/what-if", {"changes": [{"drain": ["h100-1"]}], "workloads": []}).json()["summary"]).first.wait_for()
    assert busy == []


def test_a_drain_is_tried(sample, pages, tmp_path):
    """From a node's details to where its pods would go."""
    (name,) = [item["name"] for item in sample.get("/v1/inventory").json()["nodes"] if item["name"] == "h100-1"]
    asked = {"changes": [{"drain": [name]}], "workloads": []}
    answer = sample.post("/v1/what-if", asked).json()
    page = pages.open(sample, f"#node={name}", **GRANTED)
    page.get_by_role("button", name="What if it is drained?").click()
    page.get_by_role("button", name="Try it").click()
    page.get_by_text(answer["summary"]).first.wait_for()
    rows = rows_of(page, "displaced pods find a place")
    assert [row[0] for row in rows] == [f"{item['namespace']}/{item['name']}" for item in answer["displaced"]]
    places = {item["node"] for item in [*answer["displaced"], *answer["pending"]["nowRun"]] if item["node"]}
    assert set(page.locator(".node.placed").evaluate_all("nodes => nodes.map(node => node.title)")) == places
    shown = run(copied(page.locator("[role=tabpanel]"), page, "Copy as curl").replace("curl ", "curl -sS --fail-with-body ", 1), tmp_path)
    assert shown.stdout == sample.post("/v1/what-if?output=table", asked).text
    told = run(as_plugin(copied(page.locator("[role=tabpanel]"), page, "Copy as kubectl gpu")) + f" -o json --cluster-file {SAMPLE_CLUSTER}", tmp_path, check=False)
    assert json.loads(told.stdout)["displaced"] == answer["displaced"], told
    shot(page, "drain")


def test_more_nodes_are_tried_with_a_manifest(sample, pages, tmp_path):
    asked = {"changes": [{"addNodes": {"like": "h100-1", "count": 3}}], "workloads": [read(TOO_BIG)]}
    answer = sample.post("/v1/what-if", json.dumps(asked)).json()
    page = pages.open(sample, "#tab=try&like=h100-1&count=3", wait="#manifest", **GRANTED)
    page.locator("#manifest").fill(read(TOO_BIG))
    page.get_by_role("button", name="Try it").click()
    page.get_by_text(answer["summary"]).first.wait_for()
    rows = rows_of(page, "find a place only with the changes") if answer["pending"]["nowRun"] else []
    assert [row[0] for row in rows] == [f"{item['namespace']}/{item['name']}" for item in answer["pending"]["nowRun"]]
    assert page.locator("article").count() == len(answer["workloads"]) == 1
    told = run(as_plugin(copied(page.locator("[role=tabpanel]"), page, "Copy as kubectl gpu")) + f" -o json --cluster-file {SAMPLE_CLUSTER}", tmp_path, check=False)
    assert json.loads(told.stdout)["summary"] == answer["summary"], told


QUOTAS = """apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
quotas: [{name: training, namespaces: [ml-training], limits: [{total: 40}]}, {name: rest, namespaces: [ml-inference], limits: [{total: 40}]}]
"""


def test_a_quota_and_the_placement_are_tried(pages, tmp_path):
    """With a drain, whose effect on the other quota is shown, too."""
    policy = tmp_path / "policy.yaml"
    policy.write_text(QUOTAS)
    service = Service("--cluster-file", SAMPLE_CLUSTER, "--config", policy)
    try:
        changes = [{"drain": ["h100-1", "a100-80-1"]}, {"quota": {"name": "training", "limits": [{"total": 0}]}}, {"placement": {"policy": "binpack"}}]
        answer = service.post("/v1/what-if", {"changes": changes, "workloads": []}).json()
        page = pages.open(service, "#tab=try&drain=h100-1,a100-80-1", wait="#manifest", **GRANTED)
        page.locator("#quota").fill("training")
        page.locator("#limit").fill("0")
        page.locator("#placement").select_option("binpack")
        page.get_by_role("button", name="Try it").click()
        page.get_by_text(answer["summary"]).first.wait_for()
        before, after = ({row["quota"]: row for row in answer["quota"][when]} for when in ("before", "after"))
        changed = [name for name in after if before[name] != after[name]]
        shown = {row[0]: row[3:] for row in rows_of(page, "Quotas")}
        assert shown == {name: [f"{before[name][of]} → {after[name][of]}" for of in ("used", "limit")] for name in changed} and "training" in shown
        panel = page.locator("[role=tabpanel]")
        asked = run(copied(panel, page, "Copy as curl").replace("curl ", "curl -sS --fail-with-body ", 1), tmp_path)
        assert asked.stdout == service.post("/v1/what-if?output=table", {"changes": changes, "workloads": []}).text
        told = run(as_plugin(copied(panel, page, "Copy as kubectl gpu")) + f" -o json --cluster-file {SAMPLE_CLUSTER} --config {policy}", tmp_path, check=False)
        assert json.loads(told.stdout)["quota"] == answer["quota"], told
        shot(page, "what-if")
    finally:
        service.stop()
