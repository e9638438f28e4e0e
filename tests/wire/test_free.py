"""Free is one number: the inventory, its table, fragmentation and the metrics agree, whatever is wrong with other nodes."""

import re

import pytest
from objects import A100, GPU, node, pod
from service import inventory_of

FREE = 5
HEALTHY = (node("healthy"), pod("three", 3, on="healthy"))


def holding(name, allocatable, used):
    """A node of which the device plugin has taken back GPUs that pods still hold."""
    return (node(name, status={"allocatable": {GPU: str(allocatable)}}), pod(f"on-{name}", used, on=name))


OTHERS = {
    "none": (),
    "full": holding("full", 8, 8),
    "plugin gone": holding("plugin-gone", 0, 4),
    "one lost": holding("one-lost", 7, 8),
    "over-full by far": holding("tiny", 1, 10**6),
    "several": (*holding("plugin-gone", 0, 4), *holding("one-lost", 7, 8), *holding("half", 4, 8)),
}


def answers(service):
    (total,) = [row for row in inventory_of(service)["models"] if row["resource"] == GPU]
    (usable,) = re.findall(r"^(\d+) of \d+ GPUs (?:is|are) usable", service.get("/v1/inventory?output=table").text)
    (of,) = service.get("/v1/fragmentation").json()["models"]
    (metric,) = re.findall(rf'^gpu_extender_gpus{{model="{total["model"]}",resource="{GPU}",state="free"}} (.*)$', service.get("/metrics").text, re.MULTILINE)
    return [total["free"], int(usable), of["free"], int(metric)]


@pytest.mark.parametrize("others", OTHERS)
def test_free_gpus_are_those_of_each_node(others, start_over):
    assert answers(start_over(*HEALTHY, *OTHERS[others])) == [FREE] * 4


def test_a_node_that_is_not_ready_is_no_block(start_over):
    """Its GPUs are free, and no pod gets them."""
    gone = node("gone", 16, model=A100, status={"conditions": [{"type": "Ready", "status": "Unknown"}]})
    (of,) = start_over(*HEALTHY, gone).get("/v1/fragmentation").json()["models"]
    assert (of["free"], of["largestBlock"], of["wholeNodes"]) == (FREE + 16, FREE, 0)


UNKNOWN = {"conditions": [{"type": "Ready", "status": "Unknown"}]}
# Pods ask for 3 GPUs, so 2 free ones are stranded.
MIXED = (
    *HEALTHY,
    *OTHERS["several"],
    node("cordoned", 8, spec={"unschedulable": True}),
    node("closed-model", 6, model="NVIDIA-L4", spec={"unschedulable": True}),
    node("gone", 4, status=UNKNOWN),
    node("narrow", 2),
    node("shares", 12, model="Tesla-T4-SHARED"),
)
SPLIT = {"usable": FREE, "stranded": 2, "closed": 18}


def sums(rows):
    """Of whole GPUs."""
    whole = [row for row in rows if row["unit"] == "gpu"]
    return {key: sum(row[key] for row in whole) for key in ("free", *SPLIT)}


def metric(service, name, state=""):
    label = f',state="{state}"' if state else ""
    lines = re.findall(rf'^{name}{{model="([^"]*)",resource="{GPU}"{label}}} (.*)$', service.get("/metrics").text, re.MULTILINE)
    return sum(float(value) for model, value in lines if not model.startswith("T4"))


def test_all_views_have_one_split(start_over):
    service = start_over(*MIXED)
    inventory = inventory_of(service)
    fragmentation = service.get("/v1/fragmentation").json()
    expected = {"free": sum(SPLIT.values()), **SPLIT}
    nodes = [row["resources"][GPU] for row in inventory["nodes"]]
    assert sums(inventory["models"]) == expected
    assert sums(fragmentation["models"]) == expected
    assert sums([{**row, "free": max(0, row["free"])} for row in nodes if not row["sharing"]]) == expected
    assert re.match(r"2 of \d+ free GPUs are stranded", fragmentation["summary"])
    assert metric(service, "gpu_extender_usable_gpus") == SPLIT["usable"]
    assert metric(service, "gpu_extender_stranded_gpus") == SPLIT["stranded"]
    assert metric(service, "gpu_extender_gpus", "free") == SPLIT["usable"] + SPLIT["stranded"]
    assert metric(service, "gpu_extender_gpus", "closed") == SPLIT["closed"]


def test_shares_are_listed_and_no_gpus(start_over):
    (row,) = [row for row in inventory_of(start_over(*MIXED))["models"] if row["unit"] != "gpu"]
    assert (row["model"], row["resource"], row["free"]) == ("T4-SHARED", GPU, 12)


def test_what_a_device_plugin_took_away_is_lost(start_over):
    rows = inventory_of(start_over(*MIXED))
    lost = {row["name"]: row["resources"][GPU]["lost"] for row in rows["nodes"] if row["resources"][GPU]["lost"]}
    assert lost == {"plugin-gone": 8, "one-lost": 1, "half": 4}
    assert sum(row["lost"] for row in rows["models"]) == 13
