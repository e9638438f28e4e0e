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
    (line,) = [row for row in service.get("/v1/inventory?output=table").text.splitlines() if re.match(rf"{total['model']}  +{GPU} ", row)]
    (of,) = service.get("/v1/fragmentation").json()["models"]
    (metric,) = re.findall(rf'^gpu_extender_gpus{{model="{total["model"]}",resource="{GPU}",state="free"}} (.*)$', service.get("/metrics").text, re.MULTILINE)
    return [total["free"], int(line.split()[-1]), of["free"], int(metric)]


@pytest.mark.parametrize("others", OTHERS)
def test_free_gpus_are_those_of_each_node(others, start_over):
    assert answers(start_over(*HEALTHY, *OTHERS[others])) == [FREE] * 4


def test_a_node_that_is_not_ready_is_no_block(start_over):
    """Its GPUs are free, and no pod gets them."""
    gone = node("gone", 16, model=A100, status={"conditions": [{"type": "Ready", "status": "Unknown"}]})
    (of,) = start_over(*HEALTHY, gone).get("/v1/fragmentation").json()["models"]
    assert (of["free"], of["largestBlock"], of["wholeNodes"]) == (FREE + 16, FREE, 0)
