"""The tabs that list answers: what waits and what would help, quotas with their users, fragmentation, decisions; and the states of the
map that only a running service has."""

import objects
import pytest
from browsing import cells_of, rows_of, shot
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
# The words of the filter -> the pod that waits for it, and a member of /v1/pending that says what would help.
WAITING = {
    "room": pod("too-large", 16, **OTHER),
    "quota": pod("over-quota", 5),
    "a model that is not here": merged(annotated("of-model", models="B200"), OTHER),
    "claims": pod("of-claims", None, **merged(OTHER, CLAIMS)),
    "labels, taints, other rules": pod("of-labels", **merged(OTHER, {"spec": {"nodeSelector": {"a": "b"}}})),
    "its gate": pod("gated", **merged(OTHER, {"spec": {"schedulingGates": [{"name": "later"}]}})),
    "an error": merged(annotated("broken", min_gpu_memory="much"), OTHER),
    "kube-scheduler (it fits)": pod("fits", **OTHER),
}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tabs")
    reserved = {**pod("binding", 2, **OTHER), "apiVersion": "gpu-extender.io/v1alpha1", "kind": "Reservation", "node": "t"}
    items = [node("h", 8, H100), node("t", 8, "Tesla-T4"), pod("runs", 3, "h"), pod("more", 1, "t", **OTHER), reserved, *WAITING.values()]
    (folder / "cluster.json").write_text(objects.list_text(*items))
    (folder / "policy.yaml").write_text(POLICY)
    running = Service("--cluster-file", folder / "cluster.json", "--config", folder / "policy.yaml")
    for asking in (WAITING["room"], WAITING["kube-scheduler (it fits)"]):
        assert running.post("/scheduler/filter", filter_args(asking, ["h", "t"])).status == 200
    yield running
    running.stop()


def name_of(item):
    return f"{item['metadata']['namespace']}/{item['metadata']['name']}"


def test_each_workload_waits_for_one_thing(service, pages):
    pending = {f"{item['namespace']}/{item['name']}": item for item in service.get("/v1/pending").json()["pods"]}
    page = pages.open(service, wait="[role=tabpanel] table")
    filters = page.locator(".filters")
    assert sorted(filters.get_by_role("button").all_inner_texts()) == sorted(["All 8", *(f"{words} 1" for words in WAITING)])
    for words, item in WAITING.items():
        filters.get_by_role("button", name=f"{words} 1", exact=True).click()
        ((workload, pods, asked, _, waits_for, help_),) = rows_of(page, "8 pods wait")
        assert (workload.split()[0], pods, waits_for) == (name_of(item), "1", words)
        of = pending[name_of(item)]
        closest = of.get("closest")
        if words in ("room", "quota", "a model that is not here", "claims", "labels, taints, other rules"):
            reason = next(one for one in of["reasons"] if not closest or one["reason"] == closest["reason"])
            assert reason["help"] in help_ and (not closest or closest["message"] in help_), help_
        assert words == "claims" or asked.endswith("nvidia.com/gpu")
    assert "category=fits" in page.url
    shot(page, "waiting")


def test_quotas_are_bars_with_their_users(service, pages):
    page = pages.open(service, "#tab=quotas", wait="[role=tabpanel] table")
    limits = [(quota["name"], limit) for quota in service.get("/v1/quota").json()["quotas"] for limit in quota["limits"]]
    rows = rows_of(page, "Quotas")
    assert [(row[0], row[3] if row[3] != "any" else "", int(row[5]), int(row[6]), row[8]) for row in rows] == [
        (name, limit["model"], limit["used"], limit["limit"], ", ".join(f"{user['namespace']} {user['used']}" for user in limit["users"])) for name, limit in limits
    ]
    assert ("team-a", "H100", 3, 3, "ml 3") in [(row[0], row[3], int(row[5]), int(row[6]), row[8]) for row in rows]
    widths = page.locator(".meter > span").evaluate_all("bars => bars.map(bar => parseFloat(bar.style.width))")
    assert widths == [100 * limit["used"] / limit["limit"] for _, limit in limits]
    shot(page, "quotas")


def test_fragmentation_is_that_of_the_api(service, pages):
    page = pages.open(service, "#tab=fragmentation", wait="[role=tabpanel] table")
    models = service.get("/v1/fragmentation").json()["models"]
    wanted = [(one["model"], int(one["free"]), f"{one['fragmented']:.1f}", one["largestBlock"], one["wholeNodes"]) for one in models]
    assert [(row[0], int(row[3]), row[4], int(row[5]), int(row[6])) for row in rows_of(page, "Fragmentation")] == wanted


def test_decisions_are_followed_for_one_pod(service, pages):
    page = pages.open(service, "#tab=decisions", wait="[role=tabpanel] table")
    assert [(row[1], row[2]) for row in rows_of(page, "The last")] == [("filter", "other/fits"), ("filter", "other/too-large")]
    page.locator("[role=tabpanel]").get_by_role("button", name="other/too-large").click()
    page.get_by_role("button", name="Follow it in the decisions").click()
    panel = page.locator("[role=tabpanel]")
    panel.get_by_role("button", name="other/fits").wait_for(state="detached")
    panel.get_by_role("button", name="other/too-large").wait_for()
    assert [row[2] for row in rows_of(page, "The last")] == ["other/too-large"] and "follow=other%2Ftoo-large" in page.url
    page.locator("#follow").fill("fits")
    panel.get_by_role("button", name="Show").click()
    panel.get_by_role("button", name="other/fits").wait_for()
    assert [row[2] for row in rows_of(page, "The last")] == ["other/fits"]


def test_a_binding_is_reserved_and_the_header_says_what_this_is(service, pages):
    page = pages.open(service, "#view=apart&node=t")
    assert cells_of(page)["t"]["reserved"] == 2 and "2 reserved" in page.locator(".sum").inner_text()
    assert {row[0]: row[2] for row in rows_of(page, "Held by")} == {"other/more": "in use", "other/binding": "reserved"}
    header = page.locator("header p")
    header.get_by_text("mode: enforce").wait_for()
    assert service.get("/v1/inventory").json()["source"] in header.inner_text() and "answered at" in header.inner_text()
