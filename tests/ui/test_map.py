"""The map: every state of a GPU, groupings, colours, and the same in its table twin."""

import re

import objects
import pytest
from browsing import cells_of, rows_of, shot
from objects import GPU, node, pod
from service import Service

H100 = "NVIDIA-H100-80GB-HBM3"
ZONE, KARPENTER, GKE = "topology.kubernetes.io/zone", "karpenter.sh/nodepool", "cloud.google.com/gke-nodepool"
ENDING = {"deletionTimestamp": "2026-11-21T10:00:00Z"}
TRAIN = {"ownerReferences": [{"kind": "Job", "name": "train", "uid": "uid-train", "controller": True}]}
BROKEN = {"allocatable": {GPU: "6"}}


def fleet():
    """One node of each kind; what is typical here asks for 8 GPUs."""
    yield node("a", 8, metadata={"labels": {ZONE: "z-1", KARPENTER: "pool-k", "rack": "r-1"}}, status=BROKEN)
    yield pod("train-0", 2, "a", metadata={"creationTimestamp": "2020-01-01T00:00:00Z", **TRAIN}, spec={"priority": 5})
    yield pod("train-1", 1, "a", metadata={"namespace": "other", **TRAIN}, spec={"priority": 5})
    yield pod("old", 1, "a", metadata=ENDING)
    yield pod("next", 2, spec={"priority": 9}, status={"nominatedNodeName": "a"})
    yield node("b", 8, H100, metadata={"labels": {ZONE: "z-2", GKE: "pool-g"}})
    yield pod("big", 4, "b", metadata={"namespace": "other"})
    yield node("closed", 8, H100, spec={"unschedulable": True})
    yield from (pod(f"waits-{i}", 8) for i in range(6))


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    path = tmp_path_factory.mktemp("fleet") / "cluster.json"
    path.write_text(objects.list_text(*fleet()))
    running = Service("--cluster-file", path)
    yield running
    running.stop()


def test_each_state_of_a_gpu_has_its_cell(service, pages):
    page = pages.open(service, "#view=apart")
    page.locator(".cell.free").first.wait_for()
    cells = cells_of(page)
    assert cells["a"] == {"used": 3, "terminating": 1, "promised": 2, "broken": 2}
    assert cells["closed"] == {"closed": 8}
    assert cells["b"] == {"used": 4, "free": 4}
    shot(page, "states")


def started(tmp_path, *items):
    path = tmp_path / "cluster.json"
    path.write_text(objects.list_text(*items))
    return Service("--cluster-file", path)


def test_a_stranded_gpu_has_its_cell(tmp_path, pages):
    service = started(tmp_path, node("narrow", 2), node("wide", 8), pod("asks", 4))
    cells = cells_of(pages.open(service, "#view=apart"))
    service.stop()
    assert cells == {"narrow": {"stranded": 2}, "wide": {"free": 8}}


def test_a_node_shows_each_of_its_models(tmp_path, pages):
    labels = {"nvidia.com/gpu.product": "NVIDIA-L4", "gpu.intel.com/product": "Flex_170"}
    amounts = {"nvidia.com/gpu": "2", "gpu.intel.com/i915": "1"}
    service = started(tmp_path, node("both", None, None, metadata={"labels": labels}, status={"capacity": amounts, "allocatable": amounts}))
    page = pages.open(service)
    heading = page.locator(".line h3").inner_text()
    page.locator(".node").first.click()
    details = page.locator(".details").inner_text()
    service.stop()
    assert "Flex-170 + L4" in heading and "Flex-170 + L4" in details


def test_the_sums_of_the_top_line(service, pages):
    page = pages.open(service)
    inventory = service.get("/v1/inventory").json()
    useless = sum(row["fragmented"] for row in service.get("/v1/fragmentation").json()["models"])
    page.get_by_text(f"({useless:.1f} of no use").wait_for()
    text = page.locator(".sum").inner_text()
    sums = {name: sum(model[name] for model in inventory["models"]) for name in ("capacity", "allocatable", "free", "used", "reserved")}
    assert f"{sums['capacity']} GPUs: {sums['free']} free" in text and "8 on closed nodes" in text
    assert f"{sums['used']} in use, {sums['reserved']} reserved, {sums['capacity'] - sums['allocatable']} out of order" in text


GROUPS = {
    "group=model": {"H100-80GB-HBM3", "A100-SXM4-80GB"},
    "group=zone": {"z-1", "z-2", "without the label"},
    "group=pool": {"pool-k (karpenter.sh/nodepool)", "pool-g (cloud.google.com/gke-nodepool)", "H100-80GB-HBM3, 64 cpu, 512Gi memory, 8 nvidia.com/gpu"},
    "group=label&label=rack": {"r-1", "without the label"},
    "group=state": {"In use", "Cordoned or not ready"},
}


@pytest.mark.parametrize("fragment", GROUPS)
def test_nodes_are_grouped(service, pages, fragment):
    page = pages.open(service, f"#{fragment}")
    page.locator(".line h3", has_text=min(GROUPS[fragment])).wait_for()
    names = {text.split("  ")[0] for text in page.locator(".line h3").evaluate_all("all => all.map(one => one.firstChild.data.trim())")}
    assert names == GROUPS[fragment]


def test_one_more_node_of_a_group_is_what_the_api_says(service, pages):
    """The map shows the node groups, from where they can be tried, and so does the table of the tab."""
    groups = service.get("/v1/node-groups").json()["groups"]
    page = pages.open(service, "#group=pool")
    best = groups[0]
    assert best["wouldRun"] > 0
    heading = page.locator("h3", has_text=best["name"])
    heading.get_by_role("button", name=f"one more node would let {best['wouldRun']} pending").click()
    assert f"like={best['like']}" in page.url and page.locator("#like").input_value() == best["like"]
    shown = [(row[0], row[1], int(row[2]), int(row[3]), row[4]) for row in rows_of(page, "Node groups")]
    assert shown == [(one["name"], one["by"], one["nodes"], one["wouldRun"], one["like"]) for one in groups]


def test_a_grouping_is_chosen_and_kept_in_the_address(service, pages):
    page = pages.open(service)
    page.locator("#group").select_option("label")
    page.locator("#label").fill("rack")
    page.get_by_role("button", name="Show", exact=True).click()
    page.get_by_role("heading", name="r-1").wait_for()
    assert "group=label" in page.url and "label=rack" in page.url


COLOURS = {
    "namespace": ["other 5", "ml 3"],
    "owner": ["other/big 4", "ml/Job/train 2", "ml/old 1", "other/Job/train 1"],
    "priority": ["0 5", "5 3"],
}


@pytest.mark.parametrize("colour", COLOURS)
def test_pods_are_coloured_with_a_letter(service, pages, colour):
    page = pages.open(service)
    page.locator("#colour").select_option(colour)
    legend = page.locator(".legend button").evaluate_all("all => all.map(one => one.textContent.trim().replace(/\\s+/g, ' '))")
    assert legend == [f"{'ABCDEFGH'[at]} {text}" for at, text in enumerate(COLOURS[colour])]
    assert colour == "namespace" or f"colour={colour}" in page.url
    letters = page.locator(".node[title='b'] .cell.used").evaluate_all("all => all.map(one => one.innerText)")
    assert len(set(letters)) == 1 and letters[0] in "AB"


def test_a_cell_says_who_holds_it_and_leads_there(service, pages):
    page = pages.open(service, "#view=apart")
    cell = page.locator(".node[title='a'] .cell.used").first
    assert re.fullmatch(r"in use: ml/train-0, \d+\sd(\s\d+\sh)?, Job train", cell.get_attribute("title"))
    cell.click()
    page.locator(".details").get_by_text("is on the node a").wait_for()
    assert "Owner: Job train. Priority: 5." in page.locator(".details").inner_text()


def test_the_table_twin_has_the_same_states_and_groups(service, pages):
    page = pages.open(service, "#view=table&group=zone", wait="table")
    rows = {row[0]: row for row in rows_of(page, "Map")}
    assert rows["a"][1] == "z-1" and rows["closed"][1] == "without the label"
    assert rows["a"][7] == "3 in use, 1 in use, pod terminating, 2 promised to a nominated pod, 2 out of order"
    assert rows["a"][9] == "ml/train-0 (2 in use), other/train-1 (1 in use), ml/old (1 in use, pod terminating), ml/next (2 promised to a nominated pod)"


def test_a_node_lists_its_pods(service, pages):
    page = pages.open(service, "#node=a")
    rows = {row[0].split()[0]: row for row in rows_of(page, "Held by")}
    assert rows["ml/train-0"][:4] == ["ml/train-0 Job train", "2 nvidia.com/gpu", "in use", "5"]
    assert rows["ml/next"][2] == "promised to a nominated pod" and rows["ml/old"][2] == "in use, pod terminating"
