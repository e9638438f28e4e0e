"""The page shows what the API says, answers to keyboard and screen reader, and runs nothing that the cluster's objects contain."""

import json
import os
import re

import objects
import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import cells_of, read, rows_of, shot, tried
from service import ROOT, Service

EXAMPLES = [os.path.join(ROOT, "examples", name) for name in ("sample-cluster.yaml", "openb-cluster.json", "dra-cluster.yaml")]
MANIFEST = os.path.join(ROOT, "examples/workloads/deployment-models.yaml")
TOO_BIG = os.path.join(ROOT, "examples/workloads/pod-too-big.yaml")
LANGUAGES = ("en", "zh")
TABS = ("waiting", "try", "quotas", "fragmentation", "decisions")


@pytest.mark.parametrize("path", EXAMPLES, ids=os.path.basename)
def test_totals_equal_the_api(services, pages, path):
    service = services(path)
    models = service.get("/v1/inventory").json()["models"]
    page = pages.open(service)
    shown = sorted((row[0], row[1], *map(int, row[2:7])) for row in rows_of(page, "GPUs by model"))
    assert shown == sorted(
        (m["model"] or "model unknown", m["resource"], m["nodes"], m["capacity"], m["free"], m["used"], m["reserved"]) for m in models
    )
    shot(page, os.path.basename(path).split(".", maxsplit=1)[0])


def test_cells_equal_the_api(sample, pages):
    page = pages.open(sample, "#view=apart")
    page.set_viewport_size({"width": 1300, "height": 3000})
    cells = cells_of(page)
    resources = {model["resource"] for model in sample.get("/v1/inventory").json()["models"]}
    for node in sample.get("/v1/inventory").json()["nodes"]:
        rows = [row for name, row in node["resources"].items() if name in resources]
        if not rows or node["name"] not in cells:
            continue
        free = "closed" if node["unschedulable"] or not node["ready"] else "free"
        expected = {"used": sum(row["used"] for row in rows), free: sum(row["free"] for row in rows)}
        found = cells[node["name"]]
        found = {"free": found.pop("free", 0) + found.pop("stranded", 0), "used": found.pop("used", 0) + found.pop("terminating", 0), **found}
        assert {state: n for state, n in found.items() if n > 0} == {state: n for state, n in expected.items() if n > 0}, node["name"]
    assert len(cells) > 20


def test_devices_have_cells_and_a_claim_counts_once(services, pages):
    page = pages.open(services(EXAMPLES[2]), "#view=apart")
    cells = cells_of(page)
    # 5 of 8 are allocated: one by a claim that no pod uses, one shared by two pods, one withdrawn from pods by a taint.
    assert sum(cells["h100-1"].get(state, 0) for state in ("used", "claimed")) == 5
    assert sum(cells["h100-1"].get(state, 0) for state in ("free", "stranded")) == 2 and cells["h100-1"]["tainted"] == 1
    assert cells["h100-3"] == {"free": 8}  # published twice


def test_the_table_twin_has_every_node(sample, pages):
    page = pages.open(sample, "#view=table", wait="table")
    names = {row[0] for row in rows_of(page, "Map")}
    inventory = sample.get("/v1/inventory").json()
    resources = {model["resource"] for model in inventory["models"]}
    assert names == {node["name"] for node in inventory["nodes"] if resources & set(node["resources"])}


def test_a_pod_is_explained(sample, pages):
    page = pages.open(sample, wait="[role=tabpanel] table")
    page.get_by_role("button", name="ml-training/big-train-0").click()
    page.wait_for_selector(".details table")
    assert "0 of 25 nodes fit" in page.locator(".details").inner_text()
    assert "pod=ml-training%2Fbig-train-0" in page.url  # a link shows the same
    again = pages.open(sample, page.url[page.url.index("#") :], wait=".details table")
    assert "0 of 25 nodes fit" in again.locator(".details").inner_text()


def test_a_manifest_lights_up_its_places(sample, pages):
    answer = sample.post("/v1/dry-run", read(MANIFEST)).json()
    page = pages.open(sample)
    tried(page, read(MANIFEST))
    assert answer["summary"] in page.locator("[role=tabpanel]").inner_text()
    places = {one["node"] for workload in answer["workloads"] for one in workload["placements"] if one["node"]}
    assert places
    assert set(page.locator(".node.placed").evaluate_all("nodes => nodes.map(node => node.title)")) == places
    shot(page, "try")
    page.get_by_role("button", name="marked on the map").click()
    page.wait_for_function("document.activeElement.className === 'lines'")
    page.locator("#view").select_option("table")
    assert {row[0] for row in rows_of(page, "Map") if row[1]} == places


def test_a_manifest_that_fits_nowhere_says_why(sample, pages):
    answer = sample.post("/v1/dry-run", read(TOO_BIG)).json()
    page = pages.open(sample)
    tried(page, read(TOO_BIG))
    assert page.locator(".node.placed").count() == 0
    unfit = {node["node"]: node["message"] for node in answer["workloads"][0]["nodes"] if not node["fits"]}
    assert {row[0]: row[1] for row in rows_of(page, "Why not on")} == unfit
    mistyped = json.dumps(objects.pod(metadata={"annotations": {"gpu-extender.io/modles": "A100"}}))
    (warning,) = sample.post("/v1/dry-run", mistyped).json()["warnings"]
    tried(page, mistyped)
    page.locator(".notice.warning", has_text=warning["message"]).wait_for()


def test_a_wrong_manifest_gets_the_api_s_error(sample, pages):
    pages.expected.append("400")
    message = sample.post("/v1/dry-run", "kind: [").json()["error"]
    page = pages.open(sample, "#tab=try")
    page.locator("#manifest").fill("kind: [")
    page.get_by_role("button", name="Try it").click()
    page.wait_for_selector(".notice.error")
    assert message in page.locator(".notice.error").inner_text()
    shot(page, "error")


def test_an_unchanged_inventory_is_not_sent_again(sample, pages):
    page = pages.open(sample, before=lambda page: page.clock.install())
    with page.expect_response(lambda response: response.url.endswith("/v1/inventory")) as answered:
        page.clock.fast_forward(20000)
    assert answered.value.status == 304
    assert rows_of(page, "GPUs by model")


# Faults that a service over a file does not have.
def answering(path, status, body):
    return lambda page: page.route(f"**/v1/{path}", lambda route: route.fulfill(status=status, json=body))


def test_stale_data_are_said_to_be_stale(sample, pages):
    inventory = sample.get("/v1/inventory").json() | {"usable": False, "unusableBecause": "the pods are stale: refused", "role": "leader"}
    page = pages.open(sample, before=answering("inventory", 200, inventory))
    assert "this replica leads" in page.locator("header p").inner_text()
    assert "the pods are stale: refused" in page.locator(".notice.error").inner_text()
    shot(page, "stale")


def test_without_a_right_nothing_is_shown_but_the_reason(sample, pages):
    pages.expected.append("403")
    page = pages.open(sample, before=answering("*", 403, {"error": "may not get /v1/inventory"}), wait=".notice.error")
    assert "may not get /v1/inventory" in page.locator(".notice.error").inner_text()
    assert page.locator(".node").count() == 0
    shot(page, "no-right")


def test_a_failing_service_keeps_the_last_data_and_says_so(sample, pages):
    pages.expected.append("ERR_FAILED")
    page = pages.open(sample, before=lambda page: page.clock.install())
    page.route("**/v1/inventory", lambda route: route.abort())
    page.clock.fast_forward(20000)
    page.wait_for_selector(".notice.error")
    page.get_by_text(re.compile(r"These are the data of \d\d:\d\d:\d\d UTC")).wait_for()
    assert page.locator(".node").count() > 0


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
    page.locator(".details").get_by_role("button", name=button).click()
    page.locator("#try-it").click()
    page.wait_for_selector("[role=tabpanel] .notice.error")
    page.get_by_role("button", name="Clear").click()


def test_hostile_texts_stay_texts(hostile, pages):
    """The page shows no dialog and no hidden character, makes no request elsewhere, and violates no policy of its own (Pages checks)."""
    inventory = hostile.get("/v1/inventory").json()
    assert len(inventory["nodes"]) > 5
    pages.expected += ["400", "404"]  # no pod has such a name in a path
    page = pages.open(hostile, wait="[role=tabpanel] table")
    shot(page, "hostile")
    page.get_by_role("button", name="claims ").click()
    asking = page.locator("[role=tabpanel] table .link").filter(has_text="-asks-")
    assert asking.count() == len(HOSTILE)
    asking.filter(has_text=HOSTILE[0]).click()
    page.locator(".details table").first.wait_for()
    asked_what_if(page, "What if it were gone?")
    for tab in TABS:
        page.locator(f"#tab-{tab}").click()
        page.locator("[role=tabpanel] > *").first.wait_for()
    for group in ("zone", "pool", "label", "model"):
        page.locator("#group").select_option(group)
    for colour in ("owner", "priority", "namespace"):
        page.locator("#colour").select_option(colour)
    page.locator("#view").select_option("table")
    page.locator("table", has=page.locator("caption", has_text="Map")).wait_for()
    page.locator("#view").select_option("map")
    page.locator(".node").first.click()
    asked_what_if(page, "What if it is drained?")
    page.locator("#tab-waiting").click()
    page.locator("[role=tabpanel] table .link").first.click()
    page.wait_for_selector(".details")
    tried(page, json.dumps(objects.pod(HOSTILE[1], metadata={"annotations": {"gpu-extender.io/models": HOSTILE[5]}})))
    text = page.locator("body").inner_text()
    assert HOSTILE[0] in text
    assert not set(text) & set("\u202e\u2066\u001b\u0007")
    assert page.locator("main img, main svg, main script").count() == 0


def many_nodes(n):
    for at in range(n):
        node = f"node-{at:04}"
        yield objects.node(node, model=("NVIDIA-H100-80GB-HBM3", objects.A100, "Tesla-V100-SXM2-32GB")[at % 3])
        for number in range(at % 4):
            yield objects.pod(f"pod-{at}-{number}", gpus=2, on=node, metadata={"namespace": f"team-{at % 11}"})


def test_five_thousand_nodes_stay_few_elements(tmp_path, pages, ends):
    path = tmp_path / "cluster.json"
    path.write_text(objects.list_text(*many_nodes(5000)))
    service = Service("--cluster-file", path)
    ends.callback(service.stop)
    page = pages.open(service)
    shot(page, "5000-nodes")
    assert page.evaluate("document.querySelectorAll('*').length") < 5000
    page.locator(".lines").evaluate("lines => lines.scrollTo(0, lines.scrollHeight)")
    page.locator(".node[title='node-4997']").wait_for()
    assert page.evaluate("document.querySelectorAll('*').length") < 5000
    page.evaluate("location.hash = 'node=node-2503'")  # from a link
    page.locator(".node.chosen[title='node-2503']").wait_for()


def test_an_empty_cluster_says_so(tmp_path, pages, ends):
    path = tmp_path / "cluster.json"
    path.write_text(objects.list_text(objects.node("cpu-1", gpus=None)))
    service = Service("--cluster-file", path)
    ends.callback(service.stop)
    page = pages.open(service, wait="#map-title")
    page.get_by_text("No node has GPUs.").wait_for()
    page.get_by_text("nvidia.com/gpu").first.wait_for()
    page.get_by_text("No pod waits for GPUs.").wait_for()
    shot(page, "empty")


def test_the_keyboard_reaches_tabs_and_nodes(sample, pages):
    page = pages.open(sample)
    page.locator("#tab-waiting").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "tab-try"
    page.wait_for_selector("#manifest")
    page.locator(".lines").focus()
    nodes = page.locator(".node").evaluate_all("all => all.map(one => one.title)")
    titles = []
    for key in ("ArrowDown", "ArrowRight", "ArrowLeft", "ArrowDown", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
        titles.append(page.evaluate("document.activeElement.title"))
    assert titles == [nodes[at] for at in (0, 1, 0, 2, 3, 2)]  # two nodes are in the first line, one in the second
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.id === 'details-title'")
    assert page.locator("#details-title").inner_text() == nodes[2]
    page.keyboard.press("Escape")
    page.wait_for_function("name => document.activeElement.title === name", arg=nodes[2])
    assert page.locator(".details").count() == 0
    page.keyboard.press("Tab")  # past all nodes
    assert not page.evaluate("document.activeElement.closest('.lines')")


def test_both_languages_have_every_word(sample, pages):
    page = pages.open(sample)
    words = page.evaluate("import('./words.js').then(({WORDS}) => Object.entries(WORDS).map(([code, words]) => [code, Object.keys(words)]))")
    assert {code: sorted(names) for code, names in words} == {code: sorted(words[0][1]) for code in LANGUAGES}


def test_the_language_is_chosen_and_kept_in_the_address(sample, pages):
    page = pages.open(sample)
    page.locator("header select").select_option("zh")
    page.get_by_role("heading", name="集群的 GPU").wait_for()
    assert page.evaluate("document.documentElement.lang") == "zh"
    again = pages.open(sample, page.url[page.url.index("#") :])
    assert again.get_by_role("heading", name="集群的 GPU").count() == 1


def violations(page):
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()


@pytest.mark.parametrize(("language", "scheme"), [("en", "light"), ("zh", "dark")])
def test_accessible(services, pages, language, scheme):
    """Each form and state. What a language could break is no colour."""
    pages.expected += ["401", "403"]

    # The checker is a script that the page's policy would refuse.
    def show(path, fragment, wait, before=None):
        return pages.open(services(path), f"#lang={language}{fragment}", wait, before, color_scheme=scheme, bypass_csp=True)

    for path, fragment, wait in [
        (EXAMPLES[2], "&view=table&tab=fragmentation", ".scrolling table"),
        (EXAMPLES[0], "&group=pool&pod=ml-training/big-train-0", ".details table"),
        (EXAMPLES[0], "&group=label&label=zone&colour=priority&node=h100-1&tab=decisions", ".details table"),
    ]:
        violations(show(path, fragment, wait))
    for status, wait in ((401, "#token"), (403, ".notice.error")):
        violations(show(EXAMPLES[0], "", wait, answering("*", status, {"error": "so it is"})))
    page = show(EXAMPLES[0], "&tab=try&drain=h100-1", "#manifest")
    violations(page)
    page.locator("#manifest").fill(read(TOO_BIG))
    page.locator("form button[type=submit]").first.click()
    page.wait_for_selector("article")
    violations(page)
    page.locator("#tab-quotas").click()
    page.locator("[role=tabpanel] > *").first.wait_for()
    violations(page)
    shot(page, f"{language}-{scheme}")


@pytest.mark.parametrize("value", ["constructor", "__proto__", "none-of-these"])
def test_an_address_with_another_value_shows_the_default(sample, pages, value):
    usual = pages.open(sample)
    page = pages.open(sample, "#" + "&".join(f"{name}={value}" for name in ("group", "colour", "view", "lang", "tab")))
    for shown in ("[...document.querySelectorAll('.lines h3')].map(heading => heading.innerText)", "document.documentElement.lang", "document.title"):
        assert page.evaluate(shown) == usual.evaluate(shown)
    for name in ("group", "colour", "view"):
        assert page.locator(f"#{name}").input_value() == usual.locator(f"#{name}").input_value()
    assert page.locator("[aria-selected=true]").inner_text() == usual.locator("[aria-selected=true]").inner_text()


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
