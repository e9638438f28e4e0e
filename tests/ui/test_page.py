"""The page shows what the API says, answers to keyboard and screen reader, and runs nothing that the cluster's objects contain."""

import json
import os
import re

import objects
import pytest
from browsing import DESK, PHONE, SCREENS, assert_no_sideways, cells_of, expect, nodes_of, read, rows_of, shot, tried, violations
from service import ROOT, Service

EXAMPLES = [os.path.join(ROOT, "examples", name) for name in ("sample-cluster.yaml", "openb-cluster.json", "dra-cluster.yaml")]
MANIFEST = os.path.join(ROOT, "examples/workloads/deployment-models.yaml")
TOO_BIG = os.path.join(ROOT, "examples/workloads/pod-too-big.yaml")
LANGUAGES = ("en", "zh")
VIEWS = ("overview", "waiting", "try", "quotas", "groups", "fragmentation", "decisions")


@pytest.mark.parametrize("path", EXAMPLES, ids=os.path.basename)
def test_rows_equal_the_api(services, pages, path):
    """Each row of the map is a model and a resource, in the API's order, which is that of worth; the first card sums whole GPUs."""
    service = services(path)
    models = [model for model in service.get("/v1/inventory").json()["models"] if model["capacity"] > 0]
    page = pages.open(service)
    rows = page.locator(".row:not(.heads)").evaluate_all(
        "rows => rows.map(row => [row.querySelector('.name').firstChild.data.trim(), row.querySelector('.has b').innerText, row.querySelector('.has .soft').innerText])"
    )
    named = lambda model: (model["model"].removesuffix("-SHARED") or "Model unknown", f"{model['usable']:,}", f"of {model['capacity']:,}")
    assert [tuple(row) for row in rows] == [named(model) for model in models]
    whole = [model for model in models if model["unit"] == "gpu"]
    total, usable = (sum(model[name] for model in whole) for name in ("capacity", "usable"))
    assert page.locator(".big").inner_text() == f"{usable:,}"
    assert f"of {total:,} GPU" in page.locator(".sum").first.inner_text()
    shot(page, os.path.basename(path).split(".", maxsplit=1)[0])


def test_cells_equal_the_api(sample, pages):
    page = pages.open(sample)
    cells = cells_of(page)
    resources = {model["resource"] for model in sample.get("/v1/inventory").json()["models"]}
    for node in sample.get("/v1/inventory").json()["nodes"]:
        rows = [row for name, row in node["resources"].items() if name in resources]
        if not rows:
            continue
        sum_of = lambda name, rows=rows: sum(row[name] for row in rows)
        expected = {"used": sum_of("used"), "free": sum_of("usable"), "stranded": sum_of("stranded"), "closed": sum_of("closed")}
        found = cells[node["name"]]
        found["used"] = found.get("used", 0) + found.pop("terminating", 0)
        assert {state: n for state, n in found.items() if n > 0} == {state: n for state, n in expected.items() if n > 0}, node["name"]
    assert len(cells) > 20
    cut = "all => all.filter(one => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight).map(one => one.textContent)"
    assert page.locator(".list li > :last-child, .who:not(.cut)").evaluate_all(cut) == [], "whatever the font"


def test_devices_have_cells_and_a_claim_counts_once(services, pages):
    cells = cells_of(pages.open(services(EXAMPLES[2])))
    # 5 of 8 are allocated: one by a claim that no pod uses, one shared by two pods, one withdrawn from pods by a taint.
    assert sum(cells["h100-1"].get(state, 0) for state in ("used", "claimed")) == 5
    assert sum(cells["h100-1"].get(state, 0) for state in ("free", "stranded")) == 2 and cells["h100-1"]["tainted"] == 1
    assert cells["h100-3"] == {"free": 8}  # published twice


def test_the_table_twin_has_every_node(sample, pages):
    page = pages.open(sample, "#show=table", wait="table")
    names = {row[0] for row in rows_of(page, "All nodes")}
    inventory = sample.get("/v1/inventory").json()
    resources = {model["resource"] for model in inventory["models"]}
    assert names == {node["name"] for node in inventory["nodes"] if resources & set(node["resources"])}


def test_a_pod_is_explained(sample, pages):
    page = pages.open(sample, wait=".list button")
    page.get_by_role("button", name="ml-training/big-train-0").click()
    page.wait_for_selector(".drawer .verdict")
    explained = sample.get("/v1/explain?namespace=ml-training&name=big-train-0").json()["pod"]
    assert explained.get("verdict", {"text": explained["summary"]})["text"] in page.locator(".drawer .verdict").inner_text()
    assert explained["schedulerSays"]["message"] in page.locator(".drawer").inner_text()
    assert sum(int(row[0]) for row in rows_of(page, "Why not elsewhere")) == 25
    assert "pod=ml-training%2Fbig-train-0" in page.url  # a link shows the same
    again = pages.open(sample, page.url[page.url.index("#") :], wait=".drawer .verdict")
    assert again.locator("#drawer-title").inner_text() == "ml-training/big-train-0"
    page.go_back()  # closes the drawer
    page.wait_for_selector(".drawer", state="detached")


def test_a_manifest_lights_up_its_places(sample, pages):
    answer = sample.post("/v1/dry-run", read(MANIFEST)).json()
    page = pages.open(sample)
    tried(page, read(MANIFEST))
    places = {one["node"] for workload in answer["workloads"] for one in workload["placements"] if one["node"]}
    assert places
    assert {row[1].lstrip("✓ ") for row in rows_of(page, "Where the pods go")} == places
    shot(page, "try")
    page.get_by_role("button", name="Show on the map").click()
    page.wait_for_selector(".tile.placed")
    assert nodes_of(page, "placed") == places
    page.locator("#show").select_option("table")
    assert {row[0] for row in rows_of(page, "All nodes") if row[1]} == places


def test_a_manifest_that_fits_nowhere_says_why(sample, pages):
    answer = sample.post("/v1/dry-run", read(TOO_BIG)).json()
    page = pages.open(sample)
    tried(page, read(TOO_BIG))
    assert page.locator(".verdict.not").count() == 1
    nodes = answer["workloads"][0]["nodes"]
    rows = rows_of(page, "Why not elsewhere")
    assert sum(int(row[0]) for row in rows) == sum(not node["fits"] for node in nodes)
    assert rows[0][2].startswith("h100-1, a100-80-1, v100-1")  # of those that lack the least, the most wanted models first
    for reason in {node["reason"] for node in nodes if not node["fits"] and node["reason"] not in ("unschedulable", "taint")}:
        message = next(node["message"] for node in nodes if node["reason"] == reason)
        assert any(row[1] and message.lower().startswith(row[1].lower()) for row in rows), message
    mistyped = json.dumps(objects.pod(metadata={"annotations": {"gpu-extender.io/modles": "A100"}}), indent=1)
    (warning,) = sample.post("/v1/dry-run", mistyped).json()["warnings"]
    tried(page, mistyped)
    page.locator(".notice.warning", has_text=warning["message"]).wait_for()
    assert page.locator(".lines .at").inner_text() == str(warning["line"])  # marked in the editor


def test_a_wrong_manifest_gets_the_api_s_error(sample, pages):
    pages.expected.append("400")
    message = sample.post("/v1/dry-run", "kind: [").json()["error"]
    page = pages.open(sample, "#view=try", wait="#manifest")
    page.locator("#manifest").fill("kind: [")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".verdict.not")
    assert message in page.locator(".verdict.not").inner_text()
    shot(page, "error")


def test_an_unchanged_inventory_is_not_sent_again(sample, pages):
    page = pages.open(sample, before=lambda page: page.clock.install())
    with page.expect_response(lambda response: response.url.endswith("/v1/inventory")) as answered:
        page.clock.fast_forward(20000)
    assert answered.value.status == 304
    assert page.locator(".row").count() > 10


# Faults that a service over a file does not have.
def answering(path, status, body):
    return lambda page: page.route(f"**/v1/{path}", lambda route: route.fulfill(status=status, json=body))


def test_stale_data_are_said_to_be_stale(sample, pages):
    stale = {"kind": "pods", "synced": True, "stale": True, "ageSeconds": 240, "lagSeconds": 0, "why": "connection refused"}
    inventory = sample.get("/v1/inventory").json() | {"live": True, "usable": False, "unusableBecause": "the pods are stale", "role": "follower", "freshness": [stale]}
    page = pages.open(sample, before=answering("inventory", 200, inventory))
    assert re.fullmatch(r"Stale, .* old · not the leader", page.locator(".fresh.stale").inner_text())
    assert "the pods are stale. pods: connection refused" in page.locator(".notice.warning").inner_text()
    assert page.locator(".tile").count() > 0
    shot(page, "stale")


def test_without_a_right_nothing_is_shown_but_the_reason(sample, pages):
    pages.expected.append("403")
    page = pages.open(sample, before=answering("*", 403, {"error": "may not get /v1/inventory"}), wait=".notice.note")
    notice = page.locator(".notice.note").first.inner_text()
    assert "You may not see nodes" in notice and "may not get /v1/inventory" in notice and "gpu-extender-viewer" in notice
    assert page.locator(".tile").count() == 0
    shot(page, "no-right")


def test_a_view_without_a_right_keeps_the_others(sample, pages):
    pages.expected.append("403")
    page = pages.open(sample, "#view=quotas", before=answering("quota", 403, {"error": 'User "jane" cannot get path "/v1/quota"'}), wait=".notice.note")
    assert "You may not see quotas" in page.locator(".notice.note").inner_text()
    assert page.locator("#tab-quotas").inner_text().strip() == "Quotas"
    page.locator("#tab-overview").click()
    page.wait_for_selector(".tile")


def test_a_failing_service_keeps_the_last_data_and_says_so(sample, pages):
    """It asks again ever later, and at once when it is told to."""
    pages.expected.append("ERR_FAILED")
    page = pages.open(sample, before=lambda page: page.clock.install())
    page.route("**/v1/inventory", lambda route: route.abort())
    page.clock.fast_forward(20000)
    page.wait_for_selector(".notice.error")
    page.get_by_text(re.compile(r"What you see is from .*\d\d:\d\d:\d\d UTC")).wait_for()
    page.locator(".fresh.lost", has_text="No answer for").wait_for()
    assert page.locator(".tile").count() > 0
    shot(page, "no-answer")
    page.unroute("**/v1/inventory")
    page.get_by_role("button", name="Try now").click()
    page.wait_for_selector(".notice.error", state="detached")


def test_grey_shapes_are_there_before_the_first_answer(sample, pages):
    held = []
    page = pages.open(sample, wait="[aria-busy]", before=lambda page: page.route("**/v1/inventory", lambda route: held.append(route)))
    assert page.locator(".skeleton").count() == 3 and page.locator("#tab-overview").count() == 1
    held[0].continue_()
    page.wait_for_selector(".tile")


HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "\"'><script>alert(2)</script>",
    "javascript:alert(3)",
    "${alert(4)}",
    "</textarea><svg onload=alert(5)>",
    "\u202egpj.exe\u2066",
    "\u001b[31mred\u0007",
    "__proto__",
    "constructor",
    "\\u202e",
]


def of_claims(at, text):
    """Objects of dynamic resource allocation with the text in each name; the claim is used by a pod, and another pod waits for one."""

    def made(kind, name, spec, **more):
        metadata = {"name": name, "namespace": f"{text}{at}", "uid": f"{kind}-{at}"}
        return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": metadata, "spec": spec, **more}

    requests = [{"name": text, "exactly": {"deviceClassName": text, "count": 1, "selectors": [{"cel": {"expression": text}}]}}]
    device = {"name": f"{text}-{at}", "attributes": {"type": {"string": "gpu"}, "productName": {"string": text}}}
    for driver in ("gpu.nvidia.com", text):
        pool = {"name": text, "generation": 1, "resourceSliceCount": 1}
        yield made("ResourceSlice", f"{driver}-{text}-{at}", {"driver": driver, "nodeName": f"{text}-node-{at}", "pool": pool, "devices": [device]})
    yield made("DeviceClass", text, {"selectors": [{"cel": {"expression": text}}]})
    yield made("DeviceTaintRule", text, {"deviceSelector": {"driver": text, "pool": text, "device": text}, "taint": {"key": text, "value": text, "effect": "NoSchedule"}})
    result = {"request": text, "driver": "gpu.nvidia.com", "pool": text, "device": f"{text}-{at}"}
    allocated = {"allocation": {"devices": {"results": [result]}}, "reservedFor": [{"resource": "pods", "name": text, "uid": f"user-{at}"}]}
    yield made("ResourceClaim", f"{text}-used", {"devices": {"requests": requests}}, status=allocated)
    yield made("ResourceClaim", text, {"devices": {"requests": requests}})
    for name, claim in ((f"{text}-asks-{at}", text), (f"{text}-misses-{at}", f"{text}-none")):
        claims = {"resourceClaims": [{"name": text, "resourceClaimName": claim}]}
        yield objects.pod(name, None, metadata={"namespace": f"{text}{at}"}, spec=claims)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A service over a cluster with these texts wherever a name, label, value or message is."""
    items = [item for at, text in enumerate(HOSTILE) for item in of_claims(at, text)]
    for at, text in enumerate(HOSTILE):
        items.append(
            objects.node(
                f"{text}-node-{at}",
                model=text,
                metadata={"labels": {text: text}},
                status={"capacity": {f"nvidia.com/mig-{text}": "2"}, "allocatable": {f"nvidia.com/mig-{text}": "2"}},
            )
        )
        owned = {"ownerReferences": [{"kind": text, "name": text, "uid": f"owner-{at}", "controller": True}]}
        held = objects.pod(f"{text}-pod-{at}", on=f"{text}-node-{at}", metadata={"namespace": f"{text}{at}", **owned})
        promised = objects.pod(f"{text}-next-{at}", metadata={"namespace": f"{text}{at}", **owned}, status={"nominatedNodeName": f"{text}-node-{at}"})
        waits = objects.pod(f"{text}-waits-{at}", gpus=99, metadata={"namespace": f"{text}{at}", "annotations": {"gpu-extender.io/models": text}})
        waits["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "reason": text, "message": text}]
        items += [held, promised, waits]
    path = tmp_path_factory.mktemp("hostile") / "cluster.json"
    path.write_text(objects.list_text(*items))
    service = Service("--cluster-file", path)
    yield service
    service.stop()


def asked_what_if(page, button):
    """Such a name is an error: no real name has spaces or hidden characters."""
    page.locator(".drawer").get_by_role("button", name=button).click()
    page.wait_for_selector(".drawer .notice.error")


def test_hostile_texts_stay_texts(hostile, pages):
    """The page shows no dialog and no hidden character, makes no request elsewhere, and violates no policy of its own (Pages checks)."""
    inventory = hostile.get("/v1/inventory").json()
    assert len(inventory["nodes"]) > 5
    pages.expected += ["400", "404"]  # no pod has such a name in a path
    page = pages.open(hostile, wait=".list button")
    shot(page, "hostile")
    page.locator("#tab-waiting").click()
    asking = page.locator(".waits td.of .link").filter(has_text="-asks-")
    asking.first.wait_for()
    assert asking.count() == len(HOSTILE)
    asking.filter(has_text=HOSTILE[0]).click()
    page.locator(".drawer .part-of").first.wait_for()
    asked_what_if(page, "What if it were gone?")
    text = page.locator("body").inner_text()
    for view in VIEWS:
        page.locator(f"#tab-{view}").click()
        page.locator(".view > *").first.wait_for()
        text += page.locator("body").inner_text()
    page.locator("#tab-overview").click()
    for group in ("zone", "pool", "label", "model"):
        page.locator("#group").select_option(group)
    for colour in ("owner", "priority", "namespace"):
        page.locator("#colour").select_option(colour)
    page.locator("#show").select_option("table")
    page.locator("table", has=page.locator("caption", has_text="All nodes")).wait_for()
    page.locator("#show").select_option("map")
    page.locator("#find").fill(HOSTILE[0])
    page.locator(".tile").first.click()
    asked_what_if(page, "Drain it")
    tried(page, json.dumps(objects.pod(HOSTILE[1], metadata={"annotations": {"gpu-extender.io/models": HOSTILE[5]}})))
    text += page.locator("body").inner_text()
    assert HOSTILE[0] in text
    assert not set(text) & set("\u202e\u2066\u001b\u0007")
    assert page.locator("main img, main svg, main script").count() == 0


def many_nodes(n):
    for at in range(n):
        node = f"node-{at:04}"
        yield objects.node(node, model=("NVIDIA-H100-80GB-HBM3", objects.A100, "Tesla-V100-SXM2-32GB")[at % 3])
        for number in range(at % 4):
            yield objects.pod(f"pod-{at}-{number}", gpus=2, on=node, metadata={"namespace": f"team-{at % 11}"})


@pytest.mark.long
def test_five_thousand_nodes_stay_few_elements(tmp_path, pages, ends):
    path = tmp_path / "cluster.json"
    path.write_text(objects.list_text(*many_nodes(5000)))
    service = Service("--cluster-file", path)
    ends.callback(service.stop)
    page = pages.open(service)
    shot(page, "5000-nodes")
    assert page.evaluate("document.querySelectorAll('*').length") < 1500
    page.locator(".tile", has_text="416 nodes").first.click()  # its nodes are listed
    box = page.locator(".opened")
    box.wait_for()
    assert page.evaluate("document.querySelectorAll('*').length") < 3000
    first = box.locator(".tile").first.get_attribute("data-node")
    box.evaluate("box => box.scrollTo(0, box.scrollHeight)")
    expect(box.locator(".tile").first).not_to_have_attribute("data-node", first)
    page.evaluate("location.hash = 'node=node-2503'")  # from a link
    page.wait_for_selector(".opened .tile.chosen[data-node='node-2503']")
    assert page.evaluate("document.querySelectorAll('*').length") < 3000


def test_an_empty_cluster_says_so(tmp_path, pages, ends):
    path = tmp_path / "cluster.json"
    path.write_text(objects.list_text(objects.node("cpu-1", gpus=None)))
    service = Service("--cluster-file", path)
    ends.callback(service.stop)
    page = pages.open(service, wait=".empty")
    page.get_by_text("No node has GPUs").wait_for()
    page.get_by_text("nvidia.com/gpu").first.wait_for()
    page.get_by_text("No pod waits for GPUs").first.wait_for()
    for view, words in {"waiting": "No pod waits for GPUs", "quotas": "The policy has no quotas", "groups": "Groups of pods are off", "fragmentation": "No GPU is free", "decisions": "A saved cluster has no decisions"}.items():
        page.locator(f"#tab-{view}").click()
        page.locator(".empty", has_text=words).wait_for()
    page.locator("#tab-try").click()
    page.locator(".empty", has_text="Paste a manifest").wait_for()
    shot(page, "empty")


def focused(page):
    return page.evaluate("document.activeElement.dataset.node")


def test_the_keyboard_reaches_tabs_and_nodes(sample, pages):
    page = pages.open(sample)
    page.locator("#tab-waiting").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "tab-try"
    page.locator(".map").focus()
    seen = []
    for key in ("ArrowDown", "ArrowRight", "ArrowLeft", "ArrowDown", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
        seen.append(focused(page))
    nodes = page.locator(".tile").evaluate_all("all => all.map(one => one.dataset.node)")
    assert seen == [nodes[at] for at in (0, 1, 0, 1, 2, 1)]  # one node a row there
    page.keyboard.press("Enter")
    expect(page.locator("#drawer-title")).to_be_focused()
    assert page.locator("#drawer-title").inner_text() == nodes[1]
    page.keyboard.press("Escape")
    expect(page.locator(f".tile[data-node='{nodes[1]}']")).to_be_focused()
    assert page.locator(".drawer").count() == 0
    page.keyboard.press("Tab")  # past all nodes
    assert not page.evaluate("document.activeElement.closest('.map')")


def test_keys_of_the_whole_page(sample, pages):
    page = pages.open(sample)
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "find"
    page.keyboard.type("h100")
    expect(page.locator(".tile")).to_have_count(1)
    assert "find=h100" in page.url
    page.keyboard.press("Escape")  # clears it
    page.locator(".tile").nth(10).wait_for()
    page.locator(".map").focus()
    for key, view in {"w": "waiting", "t": "try", "q": "quotas", "p": "groups", "f": "fragmentation", "d": "decisions", "o": "overview"}.items():
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_selector(f"#tab-{view}[aria-current]")
        page.locator("h1").click()  # no field has the focus
    page.keyboard.press("?")
    page.get_by_role("dialog").get_by_text("closes the drawer").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="hidden")


def test_nothing_matches_says_so(sample, pages):
    page = pages.open(sample, "#find=b200-of-nobody", wait=".empty")
    page.get_by_text("Nothing matches “b200-of-nobody”").wait_for()
    page.get_by_role("button", name="Clear").click()
    page.wait_for_selector(".tile")


def test_every_word_is_in_both_languages_and_in_use(sample, pages):
    page = pages.open(sample)
    words = page.evaluate("import('./words.js').then(({WORDS}) => Object.entries(WORDS).map(([name, forms]) => [name, forms.length, typeof forms[0] === typeof forms[1]]))")
    assert [name for name, n, is_same in words if n != len(LANGUAGES) or not is_same] == []
    folder = os.path.join(ROOT, "src/ui/page")
    code = "".join(read(os.path.join(folder, name)) for name in os.listdir(folder) if name.endswith(".js") and name != "words.js")
    beginnings = tuple(re.findall(r"t\(`(\w+_)\$", code)) + tuple(f"{name}_" for name in ("sort", "colour", "show"))
    assert [name for name, *_ in words if f'"{name}"' not in code and f"{name}:" not in code and not name.startswith(beginnings)] == []


def test_the_language_is_chosen_and_kept_in_the_address(sample, pages):
    page = pages.open(sample)
    page.locator("#language").select_option("zh")
    page.locator("#tab-overview", has_text="概览").wait_for()
    assert page.evaluate("document.documentElement.lang") == "zh"
    again = pages.open(sample, page.url[page.url.index("#") :])
    assert "概览" in again.locator("#tab-overview").inner_text()


@pytest.mark.parametrize(("language", "scheme", "screen"), [
    ("en", "light", "desk"), ("zh", "dark", "phone"), pytest.param("en", "light", "phone", marks=pytest.mark.long), pytest.param("zh", "dark", "desk", marks=pytest.mark.long),
])  # fmt: skip
def test_accessible(services, pages, language, scheme, screen):
    """Each view and state, on a desk and on a phone, where nothing scrolls sideways. What a language could break is no colour."""
    pages.expected += ["401", "403"]

    # The checker is a script that the page's policy would refuse.
    def show(path, fragment, wait, before=None):
        page = pages.open(services(path), f"#lang={language}{fragment}", wait, before, color_scheme=scheme, viewport=SCREENS[screen], bypass_csp=True)
        assert_no_sideways(page)
        return page

    for name, path, fragment, wait in [
        ("overview", EXAMPLES[0], "", ".tile"),
        ("openb", EXAMPLES[1], "&colour=namespace", ".tile"),
        ("table", EXAMPLES[2], "&show=table&colour=owner", "table"),
        ("waiting", EXAMPLES[0], "&view=waiting", "table.waits"),
        ("fragmentation", EXAMPLES[0], "&view=fragmentation", "table"),
        ("pod", EXAMPLES[0], "&group=pool&pod=ml-training/big-train-0", ".drawer table"),
        ("node", EXAMPLES[0], "&group=label&label=zone&colour=priority&node=h100-1", ".drawer .meter"),
        ("decisions", EXAMPLES[0], "&view=decisions", ".empty"),
    ]:
        page = show(path, fragment, wait)
        violations(page)
        shot(page, f"{screen}-{scheme}-{name}")
    for status, wait in ((401, "#token"), (403, ".notice.note")):
        violations(show(EXAMPLES[0], "", wait, answering("*", status, {"error": "so it is"})))
    page = show(EXAMPLES[0], "&view=try&drain=h100-1", ".answer table")  # a link with changes is asked at once
    violations(page)
    page.locator("#manifest").fill(read(TOO_BIG))
    page.locator("#try-it").click()
    page.wait_for_selector("article")
    violations(page)
    assert_no_sideways(page)
    shot(page, f"{screen}-{scheme}-try")


GROUPS = {
    "mode": "plan", "warnings": [],
    "groups": [
        {"namespace": "ml", "name": "train", "state": "waiting", "size": 4, "bound": 0, "waiting": 4, "planned": 0, "reason": "room",
         "message": "waits: 3 of 4 would fit now; the fourth lacks 8 H100", "since": "2026-11-30T06:00:00.000Z", "partialSince": None, "notBefore": None, "planEnds": None},
        {"namespace": "ml", "name": "tune", "state": "partial", "size": 2, "bound": 1, "waiting": 1, "planned": 1, "reason": "",
         "message": "partial since 12:03 UTC: planned on h; 1 of 2 bound", "since": None, "partialSince": "2026-11-30T12:03:00.000Z", "notBefore": None, "planEnds": None},
    ],
}  # fmt: skip


@pytest.mark.parametrize(("language", "scheme", "screen"), [("en", "light", "desk"), ("zh", "dark", "phone")])
def test_groups_are_those_of_the_api(sample, pages, language, scheme, screen):
    page = pages.open(sample, f"#view=groups&lang={language}", "table", answering("groups", 200, GROUPS), color_scheme=scheme, viewport=SCREENS[screen], bypass_csp=True)
    rows = rows_of(page, page.locator("caption").inner_text())
    assert [(row[0], row[-1]) for row in rows] == [(f"{one['namespace']}/{one['name']}", one["message"]) for one in GROUPS["groups"]]
    assert_no_sideways(page)
    violations(page)
    shot(page, f"{screen}-{scheme}-groups")


@pytest.mark.parametrize("value", ["constructor", "__proto__", "none-of-these"])
def test_an_address_with_another_value_shows_the_default(sample, pages, value):
    usual = pages.open(sample)
    names = ("group", "sort", "colour", "show")
    page = pages.open(sample, "#" + "&".join(f"{name}={value}" for name in (*names, "view", "room", "lang")))
    for shown in ("[...document.querySelectorAll('.row .name')].map(name => name.innerText)", "document.documentElement.lang", "document.title"):
        assert page.evaluate(shown) == usual.evaluate(shown)
    for name in names:
        assert page.locator(f"#{name}").input_value() == usual.locator(f"#{name}").input_value()
    assert page.locator(".tabs [aria-current]").inner_text() == usual.locator(".tabs [aria-current]").inner_text()


def test_the_page_hides_what_the_program_hides(sample, pages):
    """Raw and escaped. The browser's table may be of a newer Unicode."""
    ranges = re.findall(r"\{0x(\w+), 0x(\w+)\}", read(os.path.join(ROOT, "src/base/buf.c")))
    codes = [code for first, last in ranges for code in range(int(first, 16), int(last, 16) + 1)]
    assert len(codes) > 4000
    page = pages.open(sample)
    missed = page.evaluate(
        """codes => import('./fetching.js').then(({ parse }) => codes.filter((code) => {
            const text = String.fromCodePoint(code);
            const escaped = [...text.split("")].map((unit) => "\\\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0")).join("");
            const shown = `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
            return (code >= 0x20 && parse(JSON.stringify(text)) !== shown) || parse(`"${escaped}"`) !== shown;
        }))""",
        codes,
    )
    assert missed == []
    kept = "a\u00acé\u2010\U0001f600\n"
    assert page.evaluate("text => import('./fetching.js').then(({ parse }) => parse(text))", json.dumps(kept)) == kept
    assert page.evaluate("text => import('./fetching.js').then(({ parse }) => parse(text))", json.dumps(kept, ensure_ascii=False)) == kept


def test_the_name_of_a_pod_has_room_in_the_drawer(sample, pages):
    """What made it stands below, so that the name is one line."""
    page = pages.open(sample, "#node=v100-1", wait=".drawer .holders .link")
    link = page.locator(".drawer .holders .link").first
    assert link.inner_text() == "ml-inference/bert-serve-0" and link.bounding_box()["height"] < 24
    shot(page, "drawer-of-a-node")
