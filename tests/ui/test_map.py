"""The map: every state of a GPU, groupings, colours, and the same in its table twin."""

import re

import objects
import pytest
from browsing import cells_of, expect, rows_of, shot, tile
from fake_api import FakeApi
from follow import Follower
from objects import GPU, annotated, node, pod
from service import Service
from sick import POLICY, make_sick, node_of

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
    page = pages.open(service)
    page.locator(".cell.free").first.wait_for()
    cells = cells_of(page)
    assert cells["a"] == {"used": 3, "terminating": 1, "promised": 2, "broken": 2}
    assert cells["closed"] == {"closed": 8}
    assert cells["b"] == {"used": 4, "free": 4}
    shot(page, "states")


@pytest.fixture
def started(tmp_path, ends):
    """started(ITEM...) -> a Service over these objects, which ends after the pages."""

    def start(*items):
        path = tmp_path / "cluster.json"
        path.write_text(objects.list_text(*items))
        running = Service("--cluster-file", path)
        ends.callback(running.stop)
        return running

    return start


def test_a_stranded_gpu_has_its_cell(started, pages):
    service = started(node("narrow", 2), node("wide", 8), pod("asks", 4))
    cells = cells_of(pages.open(service))
    assert cells == {"narrow": {"stranded": 2}, "wide": {"free": 8}}


def test_a_node_shows_each_of_its_models(started, pages):
    labels = {"nvidia.com/gpu.product": "NVIDIA-L4", "gpu.intel.com/product": "Flex_170"}
    amounts = {"nvidia.com/gpu": "2", "gpu.intel.com/i915": "1"}
    service = started(node("both", None, None, metadata={"labels": labels}, status={"capacity": amounts, "allocatable": amounts}))
    page = pages.open(service)
    rows = page.locator(".row .name").all_inner_texts()
    page.locator(".tile").first.click()
    drawer = page.locator(".drawer").inner_text()
    assert any("Flex-170" in row for row in rows) and any("L4" in row for row in rows)
    assert "Flex-170 + L4" in drawer


def test_the_drawer_has_what_others_report_of_a_node(started, pages):
    xid = {"type": "GpuXidError", "status": "True", "reason": "Xid79", "message": "fallen off <the> bus"}
    page = pages.open(started(node("a", 2, metadata={"labels": {"team": "b"}}, status={"conditions": [{"type": "Ready", "status": "True"}, xid]})))
    page.locator(".tile").first.click()
    expect(page.locator(".drawer summary")).to_have_text("2 labels")
    expect(page.locator(".drawer details li", has_text="team=b")).to_be_hidden()
    page.locator(".drawer summary").click()
    expect(page.locator(".drawer details li", has_text="team=b")).to_be_visible()
    drawer = page.locator(".drawer").inner_text()
    assert "Reported problems" in drawer and "GpuXidError=True Xid79: fallen off <the> bus" in drawer
    assert page.locator(".drawer").get_by_role("button", name="Lift its quarantine").count() == 0


def test_a_node_in_quarantine(tmp_path, ends, pages):
    """Its tile, its drawer with all that is reported, and what lifting it would bring."""
    api = ends.enter_context(FakeApi())
    objects.fill(api.store)
    service = Follower(api, tmp_path, more=POLICY)
    ends.callback(service.stop)
    service.settle()
    make_sick(service)
    xid = {"type": "GpuXidError", "status": "True", "reason": "Xid79", "message": "fallen off the bus"}
    api.store.change("nodes", "b", status={"conditions": [{"type": "Ready", "status": "True"}, xid]})
    gpu = {"name": "gpu-3", "attributes": {"productName": {"string": "NVIDIA L4"}}, "taints": [{"key": "gpu.nvidia.com/xid", "value": "79", "effect": "NoSchedule"}]}
    spec = {"driver": "gpu.nvidia.com", "pool": {"name": "b", "generation": 1, "resourceSliceCount": 1}, "nodeName": "b", "devices": [gpu]}
    api.store.put({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "b"}, "spec": spec}, pod("full", 5, "a"), pod("waits", 4))
    service.wait("all is known", lambda: {"conditions", "deviceTaints"} <= node_of(service, "b").keys() and "pod-waits" in service.ledger()[1])
    page = pages.open(service)
    on_tile, on_cells = tile(page, "b").inner_text(), cells_of(page)["b"]
    tile(page, "b").click()
    drawer = page.locator(".drawer")
    for text in ("Rejected pods", "In quarantine: its kubelet rejected", "GpuXidError=True Xid79: fallen off the bus", "gpu.nvidia.com gpu-3: gpu.nvidia.com/xid=79:NoSchedule"):
        expect(drawer).to_contain_text(text)
    shot(page, "quarantine")
    drawer.get_by_role("button", name="Lift its quarantine").click()
    expect(drawer.locator(".answer")).to_contain_text("Waiting pods: 1 would run")
    assert "in quarantine" in on_tile and on_cells == {"closed": 4}


def test_the_first_card_sums_whole_gpus(service, pages):
    page = pages.open(service)
    models = service.get("/v1/inventory").json()["models"]
    of = {name: sum(model[name] for model in models) for name in ("capacity", "usable", "closed", "used", "lost")}
    assert page.locator(".big").inner_text() == str(of["usable"]) and f"of {of['capacity']} GPUs" in page.locator(".sum").inner_text()
    keys = page.locator(".first .keys").inner_text()
    for part in (f"{of['closed']} closed", f"{of['used']} in use", f"{of['lost']} out of order"):
        assert part in keys
    assert "closed is cordoned: 8 H100-80GB-HBM3 out of reach" in page.locator(".attention").inner_text()


def numbers_of(page, model):
    """Usable, wanted, and room for pods of 2, 4 and 8, of a model's row."""
    row = page.locator(".row", has=page.locator(".name", has_text=model)).first
    return [row.locator(selector).nth(at).inner_text().strip() for selector, at in ((".has b", 0), (".want", 0), (".fits", 0), (".fits", 1), (".fits", 2))]


def test_a_row_says_what_is_wanted_and_for_which_pods_there_is_room(started, pages):
    service = started(node("x", 8, H100), node("y", 4, H100), pod("p", 1, "x"), annotated("asks", models="H100"), node("closed", 8, H100, spec={"unschedulable": True}))
    page = pages.open(service)
    numbers = numbers_of(page, "H100-80GB-HBM3")
    page.get_by_role("button", name="8", exact=True).click()
    dim = page.locator(".tile.dim").evaluate_all("all => all.map(one => one.dataset.node)")
    assert numbers == ["11", "1", "5", "2", "–"]
    assert sorted(dim) == ["closed", "x", "y"] and "room=8" in page.url


def test_equal_nodes_share_a_tile(started, pages):
    nodes = [node(f"n-{at}", 8, H100) for at in range(9)]
    service = started(*nodes, pod("p", 2, "n-0"), pod("q", 2, "n-1"), node("t", 8, H100, spec={"taints": [{"key": "team", "value": "a", "effect": "NoSchedule"}]}))
    page = pages.open(service)
    texts = [text.replace("\n", " ") for text in page.locator(".tile").all_inner_texts()]
    page.locator(".tile", has_text="7 nodes").click()
    page.wait_for_selector(".opened .tile")
    listed = page.locator(".opened .tile").evaluate_all("all => all.map(one => one.dataset.node)")
    page.locator(".opened .tile").first.click()
    page.wait_for_selector(".drawer")
    title = page.locator("#drawer-title").inner_text()
    assert texts == ["7 nodes", "t tainted team", "2 nodes"]
    assert listed == [f"n-{at}" for at in range(2, 9)] and title == "n-2"


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
    page.locator(".row .name", has_text=min(GROUPS[fragment])).wait_for()
    names = set(page.locator(".row .name").evaluate_all("all => all.map(one => one.firstChild.data.trim())"))
    assert names == GROUPS[fragment]


def test_one_more_node_of_a_group_is_what_the_api_says(service, pages):
    """The map shows the node groups, from where they can be tried, and so does the table of the tab."""
    groups = service.get("/v1/node-groups").json()["groups"]
    page = pages.open(service, "#group=pool")
    best = groups[0]
    assert best["wouldRun"] > 0
    row = page.locator(".row", has=page.locator(".name", has_text=best["name"]))
    row.get_by_role("button", name=f"one more node would let {best['wouldRun']} waiting").click()
    assert f"like={best['like']}" in page.url and page.locator("#like").input_value() == best["like"]
    page.locator(".verdict", has_text=f"{best['wouldRun']} waiting").first.wait_for()  # asked at once
    page.locator("#tab-waiting").click()
    page.locator("h2", has_text="One more node").wait_for()
    shown = [(row[0].split()[0], int(row[1])) for row in rows_of(page, "One more node")]
    assert shown == [(one["like"], one["wouldRun"]) for one in groups if one["wouldRun"]]


def test_a_grouping_is_chosen_and_kept_in_the_address(service, pages):
    page = pages.open(service)
    page.locator("#group").select_option("label")
    page.locator("#label").fill("rack")
    page.get_by_role("button", name="Show", exact=True).click()
    page.locator(".row .name", has_text="r-1").wait_for()
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
    assert f"colour={colour}" in page.url
    letters = tile(page, "b").locator(".cell.used").evaluate_all("all => all.map(one => one.innerText)")
    assert len(set(letters)) == 1 and letters[0] in "AB"


def test_a_cell_says_who_holds_it_and_leads_there(service, pages):
    page = pages.open(service)
    run = tile(page, "a").locator(".run").first
    assert re.fullmatch(r"in use: ml/train-0, \d+\sy, Job train", run.get_attribute("title"))
    assert run.locator(".cell").count() == 2  # one pod's cells are joined
    run.click()
    page.locator(".drawer").get_by_role("heading", name="Runs on a").wait_for()
    assert "Job train · priority 5" in page.locator(".drawer").inner_text()


def test_the_table_twin_has_the_same_states_and_groups(service, pages):
    page = pages.open(service, "#show=table&group=zone", wait="table")
    rows = {row[0]: row for row in rows_of(page, "All nodes")}
    assert rows["a"][1] == "z-1" and rows["closed"][1] == "without the label"
    assert rows["a"][5] == "3 in use, 1 in use, its pod is being deleted, 2 promised to a nominated pod, 2 out of order"
    assert rows["a"][7] == "ml/train-0 (2 in use), other/train-1 (1 in use), ml/old (1 in use, its pod is being deleted), ml/next (2 promised to a nominated pod)"


def test_a_node_lists_its_pods(service, pages):
    page = pages.open(service, "#node=a", wait=".holders")
    rows = {row.split("\n")[0]: row for row in page.locator(".holders").first.locator("li").all_inner_texts()}
    assert "2 GPUs" in rows["ml/train-0"] and "Job train, priority 5" in rows["ml/train-0"]
    assert "promised to a nominated pod" in rows["ml/next"] and "being deleted" in rows["ml/old"]
