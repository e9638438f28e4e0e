"""GET /v1/inventory: nodes, usage and the pods that hold GPUs."""

import os
import re

import pytest
from objects import GPU, container, list_text, node, pod
from service import inventory_of

AMOUNTS = ["allocatable", "capacity", "free", "reserved", "used"]
HOLDER = ["controller", "created", "devices", "gpus", "namespace", "pod", "priority", "terminating", "uid"]


def gpus_of(service, name="a", resource=GPU):
    (found,) = [item for item in inventory_of(service)["nodes"] if item["name"] == name]
    return found["resources"][resource]


def holders_of(service, name="a"):
    (found,) = [item for item in inventory_of(service)["nodes"] if item["name"] == name]
    return {holder["pod"]: holder["gpus"] for holder in found["holders"]}


# ---- shape ----


@pytest.fixture(scope="module")
def service(module_service):
    unready = {"conditions": [{"type": "Ready", "status": "Unknown"}]}
    return module_service(
        node("b", 4, "Tesla-T4", spec={"unschedulable": True}),
        node("a", 8),
        node("c", 8, status={**unready, "allocatable": {GPU: "7"}}),
        node("cpu", None, None),
        pod("one", 2, "a"),
        pod("two", 8, "c"),
        pod("idle", None, "a"),
        pod("bad", spec={"containers": 7}),
    )


def test_the_documented_members_exist(service):
    inventory = inventory_of(service)
    assert {"asOf", "nodes", "models", "problems"} <= set(inventory)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", inventory["asOf"])
    for item in inventory["nodes"]:
        assert {"name", "model", "modelLabel", "ready", "resources", "holders"} <= set(item)
        for resource, amounts in item["resources"].items():
            assert sorted(amounts) == sorted(AMOUNTS + (["closed", "lost", "model", "sharing", "stranded", "unit", "usable"] if resource == GPU else []))
        assert all(sorted(holder) == HOLDER for holder in item["holders"])
    assert inventory["problems"] == [
        {"kind": "Pod", "name": "ml/bad", "what": "spec.containers: is the number 7, should be an array"}
    ]


def test_nodes_are_listed_by_worth_with_their_facts(service):
    found = [(item["name"], item["model"], item["modelLabel"], item["ready"]) for item in inventory_of(service)["nodes"]]
    label = "nvidia.com/gpu.product="
    a100 = "A100-SXM4-80GB", f"{label}NVIDIA-A100-SXM4-80GB"
    assert found == [("a", *a100, True), ("c", *a100, False), ("b", "T4", f"{label}Tesla-T4", True), ("cpu", "", "", True)]
    assert [item["name"] for item in service.get("/v1/inventory?sort=name").json()["nodes"]] == ["a", "b", "c", "cpu"]


def test_amounts(service):
    rest = {"model": "A100-SXM4-80GB", "sharing": "", "unit": "gpu", "stranded": 0, "closed": 0}
    assert gpus_of(service, "a") == {"capacity": 8, "allocatable": 8, "used": 2, "reserved": 0, "free": 6, "usable": 6, "lost": 0, **rest}
    assert gpus_of(service, "c") == {"capacity": 8, "allocatable": 7, "used": 8, "reserved": 0, "free": -1, "usable": 0, "lost": 1, **rest}
    resources = inventory_of(service)["nodes"][0]["resources"]
    assert (resources["cpu"]["allocatable"], resources["memory"]["allocatable"]) == (64000, 512 * 2**30), "thousandths; bytes"
    assert resources["pods"]["used"] == 2, "a pod without GPUs has a slot too"


def test_holders_of_gpus_are_listed(service):
    traits = {"priority": 0, "terminating": False, "created": None, "controller": None}
    assert inventory_of(service)["nodes"][0]["holders"] == [
        {"namespace": "ml", "pod": "one", "uid": "pod-one", "gpus": {GPU: 2}, "devices": {}, **traits}
    ]


def owned(name):
    return {"ownerReferences": [{"kind": "Job", "name": name, "uid": f"uid-{name}", "controller": True}]}


def test_holders_say_what_a_map_shows_of_them(start_over):
    when = {"creationTimestamp": "2026-11-20T10:00:00Z", "deletionTimestamp": "2026-11-21T10:00:00Z"}
    service = start_over(node("a"), pod("p", 2, "a", spec={"priority": 7}, metadata={**when, **owned("train")}), pod("q", 1, "a", metadata=owned("x/y")))
    (p, q) = inventory_of(service)["nodes"][0]["holders"]
    assert (p["priority"], p["terminating"], p["created"]) == (7, True, "2026-11-20T10:00:00Z")
    assert (p["controller"], q["controller"]) == ({"kind": "Job", "name": "train"}, None)


def test_promised_room_is_listed_and_not_counted(start_over):
    """A nomination is listed even if victims still fill the node, but not for pods without GPUs."""
    waits = pod("waits", 2, spec={"priority": 9}, metadata=owned("train"), status={"nominatedNodeName": "a"})
    plain = pod("plain", None, status={"nominatedNodeName": "a"})
    service = start_over(node("a"), node("b"), pod("p", 8, "a"), waits, plain)
    (a, b) = inventory_of(service)["nodes"]
    job = {"kind": "Job", "name": "train"}
    promised = {"namespace": "ml", "pod": "waits", "uid": "pod-waits", "gpus": {GPU: 2}, "priority": 9, "terminating": False}
    assert a["nominations"] == [{**promised, "created": None, "controller": job}] and b["nominations"] == []
    assert (a["resources"][GPU]["used"], a["resources"][GPU]["reserved"]) == (8, 0)


def test_a_label_of_the_nodes(start_over):
    service = start_over(node("a", metadata={"labels": {"zone": "z-1"}}), node("b"))
    assert all("label" not in item for item in inventory_of(service)["nodes"])
    found = service.get("/v1/inventory?label=zone").json()["nodes"]
    assert [(item["name"], item["label"]) for item in found] == [("a", "z-1"), ("b", None)]
    found = service.get("/v1/inventory?label=pool,zone,,").json()["nodes"]
    assert [item["label"] for item in found] == ["z-1", None], "the first that the node has"
    assert service.get("/v1/inventory?label=" + "k," * 8).status == 200
    assert service.get("/v1/inventory?label=" + "k," * 9).status == 400


def test_totals_by_model_are_the_sums_of_the_nodes(service):
    inventory = inventory_of(service)
    totals = {total["model"]: total for total in inventory["models"]}
    assert sorted(totals) == ["A100-SXM4-80GB", "T4"]
    for model, total in totals.items():
        nodes = [item["resources"][GPU] for item in inventory["nodes"] if item["model"] == model]
        assert total["nodes"] == len(nodes) and total["resource"] == GPU
        sums = {key: sum(max(0, item[key]) for item in nodes) for key in AMOUNTS}
        assert {key: total[key] for key in AMOUNTS} == sums, "an over-full node has no free GPU, and takes none from others"


def test_the_table_lists_every_node_with_the_same_values(service):
    lines = service.get("/v1/inventory?output=table&wide=true").text.splitlines()
    rows = {cells[0]: cells for cells in (re.split(r"  +", line) for line in lines)}
    assert rows["NODE"][1:] == ["MODEL", "GPUS", "USED", "FREE", "USABLE", "STATE", "CPU", "MEMORY", "PODS"], "one RESOURCE is told below"
    assert rows["a"][1:6] == ["A100-SXM4-80GB", "8", "2", "6", "6"] and (rows["a"][6], rows["a"][-1]) == ("Ready", "ml/one (2)")
    assert rows["b"][1:7] == ["T4", "4", "0", "4", "0", "cordoned"] and rows["b"][-1] == "-"
    assert rows["c"][1:7] == ["A100-SXM4-80GB", "7", "8", "-1", "0", "NotReady"]
    assert f"The same in each row: RESOURCE {GPU}." in lines and "Without GPUs: cpu." in lines and rows["Pod"][1] == "ml/bad"
    assert lines[-1] == inventory_of(service)["source"] and lines[-1].startswith("file:")


def test_the_headline_counts_whole_gpus(start_over):
    """In use, stranded and closed ones add up; slices and shares are left out."""
    small = {"allocatable": {GPU: "4", "cpu": "2", "memory": "1Gi"}}
    shared = node("s", 4, "Tesla-T4-SHARED")
    service = start_over(node("a", 8), node("closed", 3, spec={"unschedulable": True}), node("small", 4, status=small), shared, asking("runs", "8", node="a"), asking("waits", "8"))
    inventory = inventory_of(service)
    assert {item["name"]: (item["usable"], item["strandedBecause"]) for item in inventory["nodes"]} == {"a": (6, ""), "closed": (0, ""), "small": (0, "cpu"), "s": (0, "")}
    assert service.get("/v1/inventory?output=table").text.startswith("6 of 15 GPUs are usable; 4 are stranded, 3 on closed nodes, 2 in use\n")


def asking(name, cpu, **place):
    return pod(name, 2, place.get("node"), spec={"containers": [{"name": "main", "resources": {"limits": {GPU: "2", "cpu": cpu}}}]})


def test_taints_of_nodes(start_over):
    taints = [{"key": "dedicated", "value": "x", "effect": "NoSchedule"}, {"key": "plain", "effect": "NoExecute"}]
    (item,) = inventory_of(start_over(node("a", 8, spec={"taints": taints})))["nodes"]
    assert item["taints"] == ["dedicated=x:NoSchedule", "plain:NoExecute"]


def test_models_stand_in_the_order_of_worth(start_over):
    """A model that nobody has listed is most likely newer; nodes of unknown model come last."""
    labels = ["Tesla-K80", None, "Tesla-T4", "NVIDIA-H100-80GB-HBM3", "NVIDIA-Z900", "NVIDIA-A100-PCIE-40GB", "NVIDIA-A100-SXM4-80GB"]
    inventory = inventory_of(start_over(*(node(f"n{i}", 1, label) for i, label in enumerate(labels))))
    models = [total["model"] for total in inventory["models"]]
    assert models == ["Z900", "H100-80GB-HBM3", "A100-SXM4-80GB", "A100-PCIe-40GB", "T4", "K80", ""]
    assert [item["model"] for item in inventory["nodes"]] == models


def test_pods_of_absent_nodes_are_reported(start_over):
    ended = pod("ended", 1, "gone", status={"phase": "Succeeded"})
    service = start_over(node("a", 8), pod("here", 2, "a"), pod("lost", 3, "gone"), pod("plain", None, "gone"), pod("new", 1), ended)
    assert inventory_of(service)["podsWithoutNode"] == [
        {"namespace": "ml", "pod": "lost", "uid": "pod-lost", "gpus": {GPU: 3}, "node": "gone"}
    ]
    rows = [" ".join(line.split()) for line in service.get("/v1/inventory?output=table").text.splitlines()]
    assert rows[rows.index("POD USES ON A NODE NOT IN THE INVENTORY") + 1] == f"ml/lost 3 {GPU} gone"


def test_an_empty_cluster(start_over):
    service = start_over()
    inventory = inventory_of(service)
    assert (inventory["nodes"], inventory["models"], inventory["problems"]) == ([], [], [])
    assert inventory["podsWithoutNode"] == []
    assert service.get("/v1/inventory?output=table").status == 200


# ---- who uses ----

DELETED = {"deletionTimestamp": "2026-11-21T10:00:00Z", "deletionGracePeriodSeconds": 30}
USERS = {
    "running": (pod("p", 2, "a"), 2),
    "bound, not started": (pod("p", 2, "a", status={"phase": "Pending"}), 2),
    "of unknown phase": (pod("p", 2, "a", status={"phase": "Unknown"}), 2),
    "without status": (pod("p", 2, "a", status=None), 2),
    "terminating": (pod("p", 2, "a", metadata=DELETED), 2),
    "of another scheduler": (pod("p", 2, "a", spec={"schedulerName": "volcano"}), 2),
    "crash-looping": (pod("p", 2, "a", status={"containerStatuses": [{"name": "main", "state": {"waiting": {}}}]}), 2),
    "succeeded": (pod("p", 2, "a", status={"phase": "Succeeded"}), 0),
    "failed": (pod("p", 2, "a", status={"phase": "Failed"}), 0),
    "succeeded and terminating": (pod("p", 2, "a", status={"phase": "Succeeded"}, metadata=DELETED), 0),
    "without a node": (pod("p", 2), 0),
    "nominated": (pod("p", 2, status={"nominatedNodeName": "a"}), 0),
    "on a node that is not there": (pod("p", 2, "gone"), 0),
    "asking for none": (pod("p", "0", "a"), 0),
}


@pytest.mark.parametrize("who", USERS)
def test_pods_use_gpus_by_their_state(who, start_over):
    user, used = USERS[who]
    service = start_over(node("a"), user)
    assert gpus_of(service)["used"] == used and gpus_of(service)["free"] == 8 - used
    assert holders_of(service) == ({"p": {GPU: used}} if used else {})
    assert inventory_of(service)["problemCount"] == 0


DEMANDS = {
    "containers are added": ({"containers": [container("a", 2), container("b", 3)]}, 5),
    "an init container is not": ({"initContainers": [container("i", 1)], "containers": [container("a", 2)]}, 2),
    "the largest init container counts": ({"initContainers": [container("i", 4), container("j", 3)], "containers": [container("a", 2)]}, 4),
    "a sidecar is added": (
        {"initContainers": [container("s", 1, restartPolicy="Always"), container("i", 4)], "containers": [container("a", 2)]},
        5,
    ),
    "a sidecar after the init container": (
        {"initContainers": [container("i", 3), container("s", 2, restartPolicy="Always")], "containers": [container("a", 2)]},
        4,
    ),
    "a limit is the request": ({"containers": [container("a", 3)]}, 3),
    "none is none": ({"containers": [container("a", 3), container("b", None), container("c", "0")]}, 3),
    "ephemeral containers ask for nothing": ({"ephemeralContainers": [container("e", 5)]}, 1),
    "1k is a thousand": ({"containers": [container("a", "1k")]}, 1000),
}


@pytest.mark.parametrize("what", DEMANDS)
def test_a_pod_uses_its_effective_demand(what, start_over):
    spec, used = DEMANDS[what]
    service = start_over(node("a"), pod("p", on="a", spec=spec))
    assert gpus_of(service)["used"] == used and holders_of(service) == {"p": {GPU: used}}


def test_new_and_shrunk_nodes_have_correct_amounts(start_service, write):
    """Pods may come before their node, and stay when it goes."""
    users = [pod("one", 3, "a"), pod("two", 2, "a")]
    path = write("c.json", list_text(*users))
    service = start_service("--cluster-file", path)
    assert inventory_of(service)["nodes"] == []
    for gpus, free in ((8, 3), (4, -1), (16, 11)):
        path.write_text(list_text(*users, node("a", gpus)), encoding="utf-8")
        n_lines = len(service.log.lines)
        service.signal(1)
        service.log.wait_for({"msg": "reloaded"}, after=n_lines)
        amounts = {"capacity": gpus, "allocatable": gpus, "used": 5, "reserved": 0, "free": free}
        assert gpus_of(service) == {**gpus_of(service), **amounts}


def test_a_model_and_the_label_it_came_from(start_over):
    """Labels are tried in the policy's order; one that names no model is skipped."""
    labels = {"accelerator": "nvidia", "cloud.google.com/gke-accelerator": "nvidia-tesla-v100", "nvidia.com/gpu.product": ""}
    (found,) = inventory_of(start_over(node("a", model=None, metadata={"labels": labels})))["nodes"]
    assert (found["model"], found["modelLabel"]) == ("V100", "cloud.google.com/gke-accelerator=nvidia-tesla-v100")


def test_amounts_of_any_size(start_over):
    """Sums saturate and never wrap."""
    largest = str(2**63 - 1)
    amounts = {"capacity": {GPU: largest, "memory": "7Ei"}, "allocatable": {GPU: largest, "memory": "7Ei"}}
    users = [pod(f"p-{i}", str(2**62), "b") for i in range(3)]
    service = start_over(node("a", status=amounts), node("c", status=amounts), node("b", 1), *users)
    assert gpus_of(service)["free"] == 2**63 - 1
    assert gpus_of(service, "b")["free"] < -(2**53)
    (total,) = inventory_of(service)["models"]
    assert total["allocatable"] == 2**63 - 1


def test_thousands_of_holders_are_listed_fast(start_over):
    """A tenant can create any number of pods that name a node. The table lists a few; its cost must not grow quadratically."""
    service = start_over(node("a"), *[pod(f"a-pod-with-a-long-name-{i}", 1, "a") for i in range(5000)])
    before = service.memory("VmHWM")
    table = service.get("/v1/inventory?output=table&wide=true").text
    assert len(table) < 2000 and re.search(r" and 49\d\d more", table)
    assert len(holders_of(service)) == 5000
    assert service.memory("VmHWM") - before < 64e6


def test_names_with_any_characters_are_reported_unchanged(start_over):
    service = start_over(node("\u00e9\U0001f600"), pod('"<&>\n', 1, "\u00e9\U0001f600"))
    (found,) = inventory_of(service)["nodes"]
    assert (found["name"], found["holders"][0]["pod"]) == ("\u00e9\U0001f600", '"<&>\n')


def test_the_source_is_named(start_service, write):
    path = write("c.json", list_text(node("a")))
    assert inventory_of(start_service("--cluster-file", path))["source"] == f"file:{os.fspath(path)}"
