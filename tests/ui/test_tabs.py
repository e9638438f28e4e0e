"""The views that list answers: what waits and what would help, quotas with their users, fragmentation, decisions; and the states of the
map that only a running service has."""

import itertools

import objects
import pytest
from browsing import SCREENS, assert_no_sideways, cells_of, rows_of, shot, violations
from objects import annotated, filter_args, merged, node, pod
from service import Service

H100 = "NVIDIA-H100-80GB-HBM3"
OTHER = {"metadata": {"namespace": "other"}}
POLICY = """
apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
quotas:
- {name: team-a, namespaces: [ml], limits: [{resource: nvidia.com/gpu, total: 6, models: {H100: 3}}]}
- {name: rest, namespaces: [other], limits: [{resource: nvidia.com/gpu, total: 100}]}
"""
CLAIMS = {"spec": {"resourceClaims": [{"name": "gpus", "resourceClaimName": "nowhere"}]}}
# The chip -> the pods that wait for it.
WAITING = {
    "a larger node": [pod("too-large", 16, **OTHER)],
    "quota": [pod("over-quota", 5)],
    "a wrong name": [merged(annotated("of-model", models="B200"), OTHER), pod("of-claims", None, **merged(OTHER, CLAIMS))],
    "a gate": [pod("gated", **merged(OTHER, {"spec": {"schedulingGates": [{"name": "later"}]}}))],
    "kube-scheduler (it fits)": [pod("fits", **OTHER)],
}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tabs")
    reserved = {**pod("binding", 2, **OTHER), "apiVersion": "gpu-extender.io/v1alpha1", "kind": "Reservation", "node": "t"}
    items = [node("h", 8, H100), node("t", 8, "Tesla-T4"), pod("runs", 3, "h"), pod("more", 1, "t", **OTHER), reserved, *itertools.chain(*WAITING.values())]
    (folder / "cluster.json").write_text(objects.list_text(*items))
    (folder / "policy.yaml").write_text(POLICY)
    running = Service("--cluster-file", folder / "cluster.json", "--config", folder / "policy.yaml")
    for (asking,) in (WAITING["a larger node"], WAITING["kube-scheduler (it fits)"]):
        assert running.post("/scheduler/filter", filter_args(asking, ["h", "t"])).status == 200
    yield running
    running.stop()


def name_of(item):
    return f"{item['metadata']['namespace']}/{item['metadata']['name']}"


def test_each_workload_waits_for_one_thing(service, pages):
    """In the API's order, with its verdict; a chip leaves those that wait for one thing."""
    pending = service.get("/v1/pending").json()
    page = pages.open(service, "#view=waiting", wait="table.waits")
    rows = rows_of(page, "Waiting")
    assert [(row[0].split()[0], int(row[1]), row[4]) for row in rows] == [
        (f"{owner['namespace']}/{owner['name']}", owner["pods"], owner["verdict"]["text"]) for owner in pending["owners"]
    ]
    assert page.locator(".tools h2").inner_text() == f"6 pods of 6 workloads wait for {pending['gpuCount']} GPUs"
    filters = page.locator(".filters")
    assert sorted(filters.get_by_role("button").all_inner_texts()) == sorted(["All 6", *(f"{words} {len(items)}" for words, items in WAITING.items())])
    for words, items in WAITING.items():
        filters.get_by_role("button", name=words).click()
        assert {row[0].split()[0] for row in rows_of(page, "Waiting")} == {name_of(item) for item in items}
    assert "cause=scheduler" in page.url
    filters.get_by_role("button", name="All 6").click()
    page.locator("#find").fill("over-quota")
    assert [row[0].split()[0] for row in rows_of(page, "Waiting")] == ["ml/over-quota"]
    shot(page, "waiting")


def test_remedies_are_those_of_the_api(service, pages):
    """The first one in the row, the others when it is opened; one with a change of the cluster is tried at once."""
    owners = service.get("/v1/pending").json()["owners"]
    page = pages.open(service, "#view=waiting", wait="table.waits")
    for owner in owners:
        row = page.locator("table.waits tbody tr", has_text=f"{owner['namespace']}/{owner['name']}").first
        if len(owner["remedies"]) > 1:
            row.get_by_role("button", name="and ").click()
        texts = row.locator(".remedy").all_inner_texts()
        assert len(texts) == len(owner["remedies"]) and all(one["text"].lower() in text.lower() for one, text in zip(owner["remedies"], texts, strict=True))
        assert row.get_by_role("button", name="Try", exact=True).count() == sum(one["change"] is not None for one in owner["remedies"])
    assert any(owner["remedies"] for owner in owners)


def test_quotas_are_bars_with_their_users(service, pages):
    """The full ones first."""
    page = pages.open(service, "#view=quotas", wait="table")
    limits = [(quota["name"], limit) for quota in service.get("/v1/quota").json()["quotas"] for limit in quota["limits"]]
    limits.sort(key=lambda one: one[1]["used"] < one[1]["limit"])
    rows = rows_of(page, "Quotas")
    listed = lambda those, number: ", ".join(f"{one['namespace']} {one[number]}" for one in those)
    assert [(row[0], row[1], int(row[3]), int(row[4]), row[6], row[7]) for row in rows] == [
        (name, limit["model"] or "any", limit["used"], limit["limit"], listed(limit["users"], "used"), listed(limit["waiting"], "gpus")) for name, limit in limits
    ]
    assert rows[0][:8] == ["team-a", "H100", "", "3", "3", "0", "ml 3", "ml 5"]
    assert page.locator("#tab-quotas .count").inner_text() == "1 full"
    page.get_by_text("1 of 3 limits is used up").wait_for()
    overview = pages.open(service, wait=".notes")
    overview.locator(".notes", has_text="Quota team-a: 3 of 3 H100 in use, 1 pod waits").wait_for()
    shot(overview, "quota-attention")
    widths = page.locator(".meter > i").evaluate_all("bars => bars.map(bar => parseFloat(bar.style.width))")
    assert widths == [100 * limit["used"] / limit["limit"] for _, limit in limits]
    shot(page, "quotas")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("screen", SCREENS)
def test_what_helps_a_namespace_that_waits_for_a_quota(service, pages, screen, scheme):
    """Once for each, however many limits it waits for; a change of the cluster is tried at once."""
    page = pages.open(service, "#view=quotas", wait="table", viewport=SCREENS[screen], color_scheme=scheme, bypass_csp=True)
    waiting = [one for quota in service.get("/v1/quota").json()["quotas"] for limit in quota["limits"] for one in limit["waiting"]]
    assert {one["namespace"] for one in waiting} == {"ml"} and len(waiting) == 2 and waiting[0]["remedies"]
    (part,) = page.locator("section.card", has_text="What would help").locator("section.part-of").all()
    assert part.locator("h3").inner_text() == "ml waits for 5 H100"
    texts = part.locator(".remedy").all_inner_texts()
    assert len(texts) == len(waiting[0]["remedies"]) and all(one["text"].lower() in text.lower() for one, text in zip(waiting[0]["remedies"], texts, strict=True))
    assert_no_sideways(page)
    users = page.locator("td.wide", has_text="ml 3").first.evaluate("cell => getComputedStyle(cell, '::before').content")
    assert users == {"desk": "none", "phone": '"Most used by: "'}[screen], "a phone has no headings"
    violations(page)
    shot(page, f"quotas-help-{screen}-{scheme}")
    part.get_by_role("button", name="Try", exact=True).first.click()
    page.wait_for_selector(".answer")


def test_a_pod_behind_others_waits_for_its_turn(pages, tmp_path, ends):
    (tmp_path / "cluster.json").write_text(objects.list_text(node("h", 8, H100), pod("first", 5), pod("second", 5)))
    service = Service("--cluster-file", tmp_path / "cluster.json")
    ends.callback(service.stop)
    verdict = service.get("/v1/pods/ml/second/explain").json()["pod"]["verdict"]
    assert verdict["result"] == "waits" and "first" in verdict["text"], verdict
    page = pages.open(service, "#pod=ml/second", wait=".drawer .verdict")
    assert [page.locator(f".drawer .verdict > {part}").inner_text() for part in ("h2", "p")] == ["Waits for its turn", verdict["text"]]
    shot(page, "waits-for-its-turn")


LENDS = """
apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
quotas:
- {name: team-a, namespaces: [ml], limits: [{models: {H100: {limit: 4, borrow: {limit: 6, maxPriority: 0}}}}]}
- {name: team-b, namespaces: [other], limits: [{models: {H100: {limit: 4, borrow: {limit: 0, maxPriority: -5}}}}]}
- {name: rest, namespaces: [rest], limits: [{total: 2}]}
"""


def test_what_quotas_lend_and_who_borrows_it(pages, tmp_path, ends):
    """8 GPUs in use: of team-a 1 guaranteed and 6 borrowed, of team-b 1. So what is idle of each guarantee is lent."""
    high = {"spec": {"priority": 100}}
    (tmp_path / "cluster.json").write_text(objects.list_text(node("h", 8, H100), pod("low", 6, "h"), pod("high", 1, "h", **high), pod("theirs", 1, "h", **merged(OTHER, high))))
    (tmp_path / "policy.yaml").write_text(LENDS)
    service = Service("--cluster-file", tmp_path / "cluster.json", "--config", tmp_path / "policy.yaml")
    ends.callback(service.stop)
    page = pages.open(service, "#view=quotas", wait="table")
    table = page.locator("table", has=page.locator("caption", has_text="Quotas"))
    assert table.locator("thead th").all_inner_texts()[3:8] == ["Used", "Limit", "Left", "Borrowed", "Lent"]
    # Quota, GPUs, used, guaranteed, left, borrowed, lent to whom.
    assert [[row[0], row[1], *row[3:8]] for row in rows_of(page, "Quotas")] == [
        ["team-a", "H100", "1", "4", "3", "6 of 6", "3 to team-a"],
        ["team-b", "H100", "1", "4", "3", "0 of 0", "3 to team-a"],
        ["rest", "any", "0", "2", "2", "", "2 to team-a"],
    ]
    risks = table.locator("td span[title]").evaluate_all("spans => spans.map(span => span.title)")
    assert risks == [f"Pods with a priority of {most} or less borrow: pods with a higher priority may evict them" for most in ("0", "-5")]
    shot(page, "quotas-lend")


def test_fragmentation_is_that_of_the_api(service, pages):
    page = pages.open(service, "#view=fragmentation", wait="table")
    models = [one for one in service.get("/v1/fragmentation").json()["models"] if one["usable"] + one["stranded"] > 0]
    room = lambda one: [str(one["roomFor"][size] or "–") for size in ("2", "4", "8")]
    wanted = [(one["model"], one["usable"] + one["stranded"], *room(one)) for one in models]
    assert sorted((row[0], int(row[1]), *row[3:6]) for row in rows_of(page, "Fragmentation")) == sorted(wanted)
    shot(page, "fragmentation")


def test_domains_are_those_of_the_api(pages, tmp_path, ends):
    """In the view of fragmentation, and what a change does to them."""
    (tmp_path / "policy.yaml").write_text("apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\ntopology: {levels: [block, rack]}\n")
    racks = [node(f"{block}{rack}", 8, H100, metadata={"labels": {"block": block, "rack": rack}}) for block in "ab" for rack in "12"]
    (tmp_path / "cluster.json").write_text(objects.list_text(*racks, pod("runs", 3, "a1")))
    running = Service("--cluster-file", tmp_path / "cluster.json", "--config", tmp_path / "policy.yaml")
    ends.callback(running.stop)
    page = pages.open(running, "#view=fragmentation", wait="text=4 of 6 racks and blocks have all GPUs free")
    name = lambda one: "/".join(filter(None, (one["within"], one["name"])))
    domains = running.get("/v1/inventory").json()["domains"]
    assert rows_of(page, "Racks and blocks") == [[one["level"], name(one), *(str(one[key]) for key in ("nodes", "freeGpus", "wholeNodes"))] for one in domains]
    page = pages.open(running, "#view=try&cordon=b2", wait="text=Racks and blocks")
    assert rows_of(page, "Racks and blocks") == [["block b", "2 → 2", "16 → 8", "2 → 1"], ["rack b/2", "1 → 1", "8 → 0", "1 → 0"]]


def test_decisions_are_followed_for_one_pod(service, pages):
    page = pages.open(service, "#view=decisions", wait="table")
    assert [(row[1], row[2]) for row in rows_of(page, "Decisions")] == [("other/fits", "filter"), ("other/too-large", "filter")]
    page.get_by_role("button", name="other/too-large").click()
    page.get_by_role("button", name="Follow it in Decisions").click()
    view = page.locator(".view")
    view.get_by_role("button", name="other/fits").wait_for(state="detached")
    view.get_by_role("button", name="other/too-large").wait_for()
    assert [row[1] for row in rows_of(page, "Decisions")] == ["other/too-large"] and "follow=other%2Ftoo-large" in page.url
    page.locator("#follow").fill("fits")
    view.get_by_role("button", name="Show").click()
    view.get_by_role("button", name="other/fits").wait_for()
    assert [row[1] for row in rows_of(page, "Decisions")] == ["other/fits"]
    shot(page, "decisions")


def test_a_binding_is_reserved_and_the_bar_says_what_this_is(service, pages):
    page = pages.open(service, "#node=t")
    assert cells_of(page)["t"]["reserved"] == 2 and "2 reserved" in page.locator(".first .keys").inner_text()
    pods = {row.split("\n")[0]: row for row in page.locator(".holders li").all_inner_texts()}
    assert set(pods) == {"other/more", "other/binding"} and "reserved" in pods["other/binding"]
    mark = page.locator(".fresh.file")
    assert mark.inner_text().startswith("Saved file, read ") and service.get("/v1/inventory").json()["source"] in mark.get_attribute("title")
    assert page.locator("h1 small").inner_text() == "cluster"
