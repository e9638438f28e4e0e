"""topology.levels: racks and blocks of nodes."""

import json

import pytest
from objects import node, pod

T4 = "Tesla-T4"
HEAD = "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\n"


def racked(name, gpus=8, **labels):
    return node(name, gpus, T4, metadata={"labels": labels})


def checked(run_binary, write, nodes, levels):
    policy = write("policy.yaml", f"{HEAD}topology: {{levels: {json.dumps(levels)}}}\n")
    cluster = write("cluster.json", json.dumps({"kind": "List", "apiVersion": "v1", "items": nodes}))
    done = run_binary("--config", policy, "--cluster-file", cluster, "--check")
    assert done.returncode == 0
    levels = [line for line in done.stdout.splitlines() if line.startswith("topology")]
    return levels, [line for line in done.stderr.splitlines() if "warning" in line]


def test_check_counts_the_domains_of_each_level(run_binary, write):
    nodes = [racked("a1", block="a", rack="a-1"), racked("a2", block="a", rack="a-2"), racked("b1", block="b"), racked("c1")]
    assert checked(run_binary, write, nodes, ["block", "rack"]) == (
        [
            "topology.levels: block: 2 domains, 2 of them with all GPUs free; 3 of 4 nodes are in one, with 24 free GPUs",
            "topology.levels: rack: 2 domains, 2 of them with all GPUs free; 2 of 4 nodes are in one, with 16 free GPUs",
        ],
        [],
    )
    assert checked(run_binary, write, nodes, []) == ([], [])


def test_check_warns_of_a_level_without_nodes_and_of_one_that_is_not_nested(run_binary, write):
    nodes = [racked("a1", block="a", rack="1"), racked("b1", block="b", rack="1")]
    _, warnings = checked(run_binary, write, nodes, ["block", "rack", "tray"])
    assert "topology.levels: rack is not nested in block: 1 of its values, such as 1, are in several of these, and each counts as several domains" in warnings[0]
    assert "topology.levels: no node has the label tray: the level has no effect" in warnings[1]


RACKS = [racked(f"{rack}{i}", rack=rack) for rack, n in (("a", 2), ("b", 3), ("c", 1)) for i in range(n)]
LEVELS = f"{HEAD}topology: {{levels: [example.com/zone, rack]}}\n"


def job(n, wish, gpus=8):
    template = {
        "metadata": {"annotations": {"gpu-extender.io/domain": wish}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "m", "image": "x", "resources": {"limits": {"nvidia.com/gpu": gpus}}}]},
    }
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "ring"}, "spec": {"parallelism": n, "completions": n, "template": template}}


@pytest.fixture(scope="module")
def ask(module_service, tmp_path_factory):
    policy = tmp_path_factory.mktemp("policy") / "policy.yaml"
    policy.write_text(LEVELS)
    service = module_service(*RACKS, options=["--config", str(policy)])

    def dry_run(*args, **more):
        answer = service.post("/v1/dry-run", job(*args, **more)).json()
        (workload,) = answer["workloads"]
        return workload, answer["jobs"][0]["verdict"]

    return dry_run


def remedies_of(answered):
    return [(remedy["kind"], remedy["text"], remedy["fits"]) for remedy in answered["remedies"]]


def nodes_of(workload):
    return sorted(placement["node"] for placement in workload["placements"])


def test_a_job_goes_to_the_rack_that_fits_best(ask):
    workload, verdict = ask(2, "require rack")
    assert (nodes_of(workload), workload["domains"]) == (["a0", "a1"], [{"level": "rack", "name": "a", "pods": 2}])
    assert "2 of 2 replicas can be placed, in rack a" in workload["summary"]
    assert (verdict["result"], verdict["text"]) == ("fits", "It goes to rack a. No more would fit.")
    assert nodes_of(ask(1, "require rack")[0]) == ["c0"]
    assert ask(5, "prefer rack")[1]["text"] == "It goes to 2 domains of rack. No more would fit."


def test_a_job_for_which_no_rack_has_room_says_so(ask):
    workload, verdict = ask(4, "require rack")
    assert (workload["placed"], workload["domains"], workload["preemption"]) == (0, [], None)
    assert "no rack has room for 4 pods of 8 GPUs; b, with 24 free, fits 3" in workload["summary"]
    assert (verdict["result"], verdict["cause"], verdict["text"]) == ("doesNotFit", "freeGpus", "No rack has room for 4 pods of 8 GPUs; b, with 24 free, fits 3.")
    assert remedies_of(workload) == [
        ("accept", 'write "prefer rack" in gpu-extender.io/domain', 4),
        ("askLess", "ask for 3 pods", 3),
    ]
    assert remedies_of(ask(3, "require rack", 16)[0]) == [("askLess", "ask for 8 GPUs a pod", 3)], "the domain does not decide"
    assert ask(1, "require zone")[1]["text"] == "No node has a label for zone."


def test_a_job_that_prefers_racks_gets_the_fewest(ask):
    workload, _ = ask(5, "prefer rack")
    assert workload["domains"] == [{"level": "rack", "name": "a", "pods": 2}, {"level": "rack", "name": "b", "pods": 3}]
    assert ask(7, "prefer rack")[0]["placed"] == 6


@pytest.mark.parametrize("wish", ["require", "require rak", "rack", "Require rack", ""])
def test_a_wrong_wish_is_a_mistake(wish, ask):
    workload, verdict = ask(2, wish)
    assert (workload["placed"], verdict["result"]) == (0, "mistake")
    assert "should be \"require LEVEL\" or \"prefer LEVEL\"; levels here: zone, rack" in verdict["text"]


@pytest.fixture(scope="module")
def ask_for_group(module_service, tmp_path_factory):
    policy = tmp_path_factory.mktemp("policy") / "policy.yaml"
    policy.write_text(f"{LEVELS}gangs: {{mode: plan}}\n")
    service = module_service(*RACKS, options=["--config", str(policy)])

    def dry_run(*objects, output="json"):
        answer = service.post(f"/v1/dry-run?output={output}", {"kind": "List", "apiVersion": "v1", "items": objects})
        return answer.json() if output == "json" else answer.text

    return dry_run


def member(i, wish="require rack", gpus=8, size=3, group="ring"):
    template = job(1, wish, gpus)["spec"]["template"]
    template["metadata"]["annotations"] |= {"gpu-extender.io/gang": group, "gpu-extender.io/gang-size": str(size)}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": template["metadata"] | {"name": f"{group}-{i}"}, "spec": template["spec"]}


def notes_of(answer):
    return [note for workload in answer["workloads"] for note in workload["notEvaluated"] if "no request for cpu" not in note]


def test_separate_pods_of_a_group_share_a_rack(ask_for_group):
    answer = ask_for_group(*(member(i) for i in range(3)))
    assert sorted(node for workload in answer["workloads"] for node in nodes_of(workload)) == ["b0", "b1", "b2"], "alone, the first would take c0"
    assert answer["workloads"][0]["group"] == {"name": "ring", "size": 3}
    assert {entry["verdict"]["text"] for entry in answer["jobs"]} == {
        f"Group ring goes to rack b. {n} more would fit." for n in ("2", "1", "No")
    }
    assert notes_of(answer) == []
    answer = ask_for_group(*(member(i, size=4) for i in range(4)))
    assert {entry["verdict"]["text"] for entry in answer["jobs"]} == {"No rack has room for 4 pods of 8 GPUs; b, with 24 free, fits 3."}
    told = remedies_of(answer["jobs"][0])
    assert told == [("accept", 'write "prefer rack" in gpu-extender.io/domain', 4), ("askLess", "ask for 3 pods", 3)]
    assert [remedies_of(entry) for entry in answer["jobs"][1:]] == [told] * 3


def test_pods_that_fit_wait_for_the_rest_of_their_group(ask_for_group):
    """The cluster has six nodes. A pod beyond the group's size is no matter."""
    answer = ask_for_group(*(member(i, "prefer rack", size=7) for i in range(7)), member(0, "prefer rack", gpus=0, size=1, group="other"))
    assert [job["verdict"]["text"] for job in answer["jobs"]][:6] == ["Its group ring: 6 of 7 would fit now."] * 6
    assert [workload["verdict"]["cause"] for workload in answer["workloads"]][:6] == ["group"] * 6
    assert [job["verdict"]["result"] for job in answer["jobs"]] == ["doesNotFit"] * 7 + ["fits"]
    answer = ask_for_group(*(member(i, "prefer rack", size=6) for i in range(7)))
    assert [job["verdict"]["result"] for job in answer["jobs"]] == ["fits"] * 6 + ["doesNotFit"]


def test_pods_of_an_incomplete_group_wait(ask_for_group):
    """None is bound before all exist; what does not fit is said first."""
    answer = ask_for_group(*(member(i, size=4) for i in range(3)), member(0, size=1, group="other"))
    told = [(job["verdict"]["result"], job["verdict"]["cause"], job["verdict"]["text"]) for job in answer["jobs"]]
    assert told == [("waits", "group", "Its group ring needs 4 pods; the manifest has 3.")] * 3 + [("fits", "", "Group other goes to rack c. No more would fit.")]
    assert [workload["verdict"]["result"] for workload in answer["workloads"]] == ["waits"] * 3 + ["fits"]
    assert remedies_of(answer["jobs"][0]) == [("correct", "write 3 in gpu-extender.io/gang-size of its pods", 3)], "its rack has no room for a fourth pod"
    answer = ask_for_group(*(member(i, "prefer rack", size=8) for i in range(7)))
    assert {job["verdict"]["result"] for job in answer["jobs"]} == {"doesNotFit"}


def test_an_incomplete_group_waits_in_the_table(ask_for_group):
    asking = job(2, "require rack")
    asking["spec"]["template"]["metadata"]["annotations"] |= {"gpu-extender.io/gang": "ring", "gpu-extender.io/gang-size": "4"}
    table = ask_for_group(asking, output="table")
    assert table.startswith("WAITS  Job default/ring: 2 pods\n       Its group ring needs 4 pods; the manifest has 2.\n")
    assert "  write 2 in gpu-extender.io/gang-size of its pods: all 2 fit\n" in table


def test_the_rack_of_a_group_has_room_for_its_largest_pods(ask_for_group):
    answer = ask_for_group(member(0, gpus=1, size=2), member(1, gpus=8, size=2), member(0, group="other"))
    assert [nodes_of(workload) for workload in answer["workloads"]] == [["a0"], ["a1"], ["c0"]]
    assert [note.split(":")[0] for note in notes_of(answer)] == ["gpu-extender.io/domain"]


def test_a_job_in_a_group_has_no_note_about_pods_in_no_group(ask_for_group):
    asking = job(2, "require rack")
    asking["spec"]["template"]["metadata"]["annotations"] |= {"gpu-extender.io/gang": "ring", "gpu-extender.io/gang-size": "4"}
    answer = ask_for_group(asking)
    assert nodes_of(answer["workloads"][0]) == ["a0", "a1"]
    assert notes_of(answer) == []
    assert any("in no group" in note for note in notes_of(ask_for_group(job(2, "require rack"))))


def test_the_best_rack_has_the_free_gpus_of_the_inventory(module_service, tmp_path):
    """Of a's 11 GPUs 8 are free for whole pods of 4; with b closed, of the others none is."""
    policy = tmp_path / "policy.yaml"
    policy.write_text(f"{HEAD}topology: {{levels: [rack]}}\n")
    nodes = [racked("a0", 7, rack="a"), racked("a1", 7, rack="a"), pod("holder", 3, on="a1"), racked("b0", 4, rack="b")]
    nodes.append(node("b1", 8, T4, metadata={"labels": {"rack": "b"}}, spec={"unschedulable": True}))
    service = module_service(*nodes, options=["--config", str(policy)])
    domains = {domain["name"]: domain["freeGpus"] for domain in service.get("/v1/inventory").json()["domains"]}
    assert domains == {"a": 11, "b": 4}
    (workload,) = service.post("/v1/dry-run", job(3, "require rack", 4)).json()["workloads"]
    assert workload["verdict"]["text"] == "No rack has room for 3 pods of 4 GPUs; a, with 11 free, fits 2."
    assert remedies_of(workload) == [
        ("accept", 'write "prefer rack" in gpu-extender.io/domain', 3),
        ("askLess", "ask for 2 pods", 2),
        ("administrator", "uncordon b1", 3),
    ]


BUSY = [
    racked("a1", block="a", rack="1"),
    racked("a2", block="a", rack="2"),
    racked("b1", block="b", rack="1"),
    node("b2", 8, T4, metadata={"labels": {"block": "b", "rack": "1"}}, spec={"unschedulable": True}),
    racked("c1"),
    pod("holder", 2, on="a1"),
]
DOMAINS = ("level", "within", "name", "nodes", "freeGpus", "wholeNodes", "whole")
BEFORE = [
    ("block", "", "a", 2, 14, 1, False),
    ("block", "", "b", 2, 8, 1, True),
    ("rack", "a", "2", 1, 8, 1, True),
    ("rack", "b", "1", 2, 8, 1, True),
    ("rack", "a", "1", 1, 6, 0, False),
]


def rows_of(domains):
    return [tuple(domain[key] for key in DOMAINS) for domain in domains]


@pytest.fixture(scope="module")
def busy(module_service, tmp_path_factory):
    policy = tmp_path_factory.mktemp("policy") / "policy.yaml"
    policy.write_text(f"{HEAD}topology: {{levels: [block, example.com/rack, rack]}}\n")
    return module_service(*BUSY, options=["--config", str(policy)])


def test_the_inventory_lists_the_domains(busy):
    """By level, those with most free GPUs first; closed nodes have none. Of the nodes that are asked for."""
    assert rows_of(busy.get("/v1/inventory").json()["domains"]) == BEFORE
    ready = busy.get("/v1/inventory?labelSelector=block=b").json()["domains"]
    assert rows_of(ready) == [row for row in BEFORE if row[1] == "b" or row[2] == "b"]
    table = busy.get("/v1/inventory?output=table").text
    assert "rack   a/1         1          6            0\n" in table


def test_a_what_if_compares_the_domains(busy):
    body = {"changes": [{"drain": ["a1"]}, {"addNodes": {"like": "b1", "count": 1}}]}
    domains = busy.post("/v1/what-if", body).json()["domains"]
    assert rows_of(domains["before"]) == BEFORE
    assert rows_of(domains["after"]) == [
        ("block", "", "b", 3, 16, 2, True),
        ("block", "", "a", 2, 8, 1, True),
        ("rack", "b", "1", 3, 16, 2, True),
        ("rack", "a", "2", 1, 8, 1, True),
        ("rack", "a", "1", 1, 0, 0, False),
    ]
    table = busy.post("/v1/what-if?output=table", body).text
    assert "\nrack   b/1     2 -> 3  8 -> 16    1 -> 2\n" in table


def test_without_levels_no_domains_are_listed(module_service):
    service = module_service(*BUSY)
    assert "domains" not in service.get("/v1/inventory").json()
    assert "domains" not in service.post("/v1/what-if", {"changes": [{"cordon": "a1"}]}).json()


def test_a_table_has_the_ten_domains_of_a_level_with_most_free_gpus(module_service, tmp_path):
    policy = tmp_path / "policy.yaml"
    policy.write_text(f"{HEAD}topology: {{levels: [rack]}}\n")
    service = module_service(*(racked(f"n{i}", 1 + i, rack=f"r{i}") for i in range(12)), options=["--config", str(policy)])
    table = service.get("/v1/inventory?output=table").text
    assert "2 more domains with no more free GPUs." in table and " r2 " in table and " r1 " not in table
    assert " r0 " in service.get("/v1/inventory?output=table&wide=true").text
