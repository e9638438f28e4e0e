"""Free GPUs that typical pods cannot use (docs/PLACEMENT.md): GET /v1/fragmentation, the metrics, and a dry run's before and after."""

import pytest
from objects import GPU, annotated, node, pod

T4 = "Tesla-T4"
A100 = "A100-SXM4-80GB"

# Typical pods, weighed by the GPUs that they take together: one of 5 (it has them, on a), three of 1, one of 2 that must be an A100.
# a has 3 free: of no use to 5 of 10 of what is wanted; of b's 8, the 2 that must be an A100 have no use.
FLEET = [
    node("a", 8),
    node("b", 8, T4),
    node("cordoned", 8, T4, spec={"unschedulable": True}),
    node("cpu", None, None),
    pod("five", 5, "a"),
    *(pod(f"one-{i}") for i in range(3)),
    annotated("confined", 2, models="A100"),
]
NONE = {"strandedOn": [], "strandedNodes": 0}
ON_A = {"resource": GPU, "model": A100, "unit": "gpu", "nodes": 1, "free": 3, "usable": 3, "stranded": 0, "closed": 0, "fragmented": 3 * 5 / 10, "largestBlock": 3, "wholeNodes": 0, "roomFor": {"2": 1, "4": 0, "8": 0}, **NONE}
ON_B = {"resource": GPU, "model": "T4", "unit": "gpu", "nodes": 1, "free": 16, "usable": 8, "stranded": 0, "closed": 8, "fragmented": 8 * 2 / 10, "largestBlock": 8, "wholeNodes": 1, "roomFor": {"2": 4, "4": 2, "8": 1}, **NONE}


@pytest.fixture(scope="module")
def service(module_service):
    return module_service(*FLEET)


def test_the_answer(service):
    answer = service.get("/v1/fragmentation").json()
    assert answer["models"] == [ON_A, ON_B]
    assert answer["summary"] == "None of the 11 free GPUs is stranded"


def test_stranded_gpus_and_what_is_used_up(start_over):
    """Four nodes have GPUs and too little beside them; the three with the most GPUs are named."""
    def small(name, gpus, cpu="8", memory="64Gi"):
        return node(name, gpus, status={"allocatable": {GPU: str(gpus), "cpu": cpu, "memory": memory, "pods": "9"}})
    asks = pod("asks", 1, spec={"containers": [{"name": "main", "resources": {"limits": {GPU: "1", "cpu": "4", "memory": "16Gi"}}}]})
    nodes = [small("a", 1, cpu="3"), small("b", 2, memory="4Gi"), small("c", 3, cpu="0", memory="0"), small("d", 4, cpu="2"), small("fine", 8)]
    answer = start_over(*nodes, asks).get("/v1/fragmentation").json()
    (model,) = answer["models"]
    assert model["strandedOn"] == [
        {"node": "d", "gpus": 4, "because": "cpu", "left": 2000}, {"node": "c", "gpus": 3, "because": "cpu", "left": 0}, {"node": "b", "gpus": 2, "because": "memory", "left": 4 << 30},
    ]
    assert (model["strandedNodes"], model["stranded"], model["usable"], model["roomFor"]) == (4, 10, 8, {"2": 4, "4": 2, "8": 1})
    assert answer["summary"].startswith("10 of 18 free GPUs are stranded")


def test_the_order_of_the_objects_changes_nothing(service, start_over):
    assert start_over(*FLEET[::-1]).get("/v1/fragmentation").json()["models"] == service.get("/v1/fragmentation").json()["models"]


@pytest.mark.parametrize(
    ("query", "found"),
    [("model=t4", [ON_B]), ("model=A100", [ON_A]), ("model=V100", []), (f"resource={GPU}", [ON_A, ON_B]), ("resource=amd.com/gpu", []), (f"resource={GPU}&model=T4", [ON_B])],
)
def test_the_filters(service, query, found):
    answer = service.get(f"/v1/fragmentation?{query}").json()
    n = sum(row["usable"] for row in found)
    assert answer["models"] == found and answer["summary"] == (f"None of the {n} free GPUs is stranded" if n else "No GPU is free")


def test_the_share_of_each_node(service):
    """The shares add up to the sums, and the filters hold for them."""
    answer = service.get("/v1/fragmentation?nodes=true").json()
    rows = [{"node": name, "free": of["usable"], **{key: of[key] for key in ("resource", "model", "fragmented")}} for name, of in (("a", ON_A), ("b", ON_B))]
    assert answer["nodes"] == rows and answer["models"] == [ON_A, ON_B]
    assert service.get("/v1/fragmentation?nodes=true&model=T4").json()["nodes"] == rows[1:]
    assert "nodes" not in service.get("/v1/fragmentation?nodes=false").json()


def test_a_word_that_is_no_model(service):
    assert service.get("/v1/fragmentation?model=nvidia").status == 400


def test_the_table(service):
    lines = service.get("/v1/fragmentation?output=table").text.splitlines()
    assert [line.split() for line in lines[2:4]] == [[A100, "3", "1", "-", "-", "50%"], ["T4", "8", "4", "2", "1", "80%"]]
    assert f"The same in each row: RESOURCE {GPU}." in lines


def test_the_table_has_the_rows_of_the_page(module_service):
    """Models with something free; two resources of a model are apart; pods do not ask for several slices."""
    sliced = node("s", 2, A100, status={"allocatable": {"cpu": "64", "memory": "256Gi", GPU: "2", "nvidia.com/mig-1g.5gb": "5", "pods": "99"}})
    served = module_service(sliced, node("full", 1, "T4"), pod("p", 1, "full"), pod("q", 1, "s"))
    rows = [line.split("  ")[0] for line in served.get("/v1/fragmentation?output=table&width=80").text.splitlines()[2:4]]
    assert rows == [A100, f"{A100} mig-1g.5gb"]
    lines = served.get("/v1/fragmentation?output=table&width=80").text.splitlines()
    assert [line.split() for line in lines[1:4]] == [["MODEL", "FREE", "SUITS", "RESOURCE"], [A100, "1", "100%", GPU], [A100, "mig-1g.5gb", "5", "100%", "nvidia.com/mig-1g.5gb"]]
    wide = served.get("/v1/fragmentation?output=table&wide=true").text
    assert "T4 " in wide and "nvidia.com/mig-1g.5gb" in wide and f"{A100} mig" not in wide


def test_the_metrics(service):
    text = service.get("/metrics").text
    for name, on_a, on_b in (("fragmented_gpus", 1.5, 1.6), ("largest_block_gpus", 3, 8), ("whole_nodes", 0, 1)):
        for model, value in ((A100, on_a), ("T4", on_b)):
            assert f'gpu_extender_{name}{{model="{model}",resource="{GPU}"}} {value}\n' in text


def test_the_number_of_models_in_metrics_is_bounded(start_over):
    """Without a bound, node labels could create any number of series."""
    text = start_over(*(node(f"n{i:03}", 1, f"Chip-{i:03}") for i in range(101))).get("/metrics").text
    for name, n in (("gpus", 500), ("fragmented_gpus", 100)):
        assert text.count(f"\ngpu_extender_{name}{{") == n and f'\ngpu_extender_{name}{{model="CHIP-100"' not in text
        assert f'\ngpu_extender_{name}{{model="CHIP-099"' in text


def test_no_pods_means_no_fragments(start_over):
    (model,) = start_over(node("a", 8)).get("/v1/fragmentation").json()["models"]
    assert (model["free"], model["fragmented"], model["wholeNodes"]) == (8, 0, 1)


def test_before_and_after_a_dry_run(service):
    """The pod itself is among those that want GPUs, from the start: 4 more of 10, and no use to a. It takes 4 of b; the 4 that are left
    are of no use to the one of 5 either."""
    (workload,) = service.post("/v1/dry-run?explain=true", pod("new", 4)).json()["workloads"]
    (change,) = workload["explain"]["fragmentation"]
    assert (change["resource"], change["model"]) == (GPU, "T4")
    assert change["before"] == {"free": 16, "usable": 8, "fragmented": pytest.approx(8 * 2 / 14), "largestBlock": 8, "wholeNodes": 1}
    assert change["after"] == {"free": 12, "usable": 4, "fragmented": pytest.approx(4 * (2 + 5) / 14), "largestBlock": 4, "wholeNodes": 0}
    assert service.get("/v1/fragmentation").json()["models"] == [ON_A, ON_B], "a dry run leaves no trace"
