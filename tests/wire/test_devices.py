"""GPUs of dynamic resource allocation in answers to users (docs/DRA.md): devices, the claims that hold them, and their problems."""

import json
import os
import re

import marked
import pytest
from objects import GPU, filter_args, list_text, merged, node, pod
from service import ROOT, Service, inventory_of, stopping

DRIVER = "gpu.nvidia.com"
EXAMPLE = os.path.join(ROOT, "examples/dra-cluster.yaml")
H100 = "NVIDIA H100 80GB HBM3"
CLAIM_ITEMS = 200000  # of an answer, for used and unused claims each


def device(number, model=H100, **attributes):
    texts = {"productName": model, "resource.kubernetes.io/pciBusID": f"0000:{number:02x}:00.0", **attributes}
    return {"name": f"gpu-{number}", "attributes": {name: {"string": text} for name, text in texts.items()}}


def resource_slice(name, n_devices=2, generation=1, n_slices=1, model=H100, **reach):
    """One slice of the pool of that name; by default on the node of that name."""
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{name}-slice"},
        "spec": {
            "driver": DRIVER,
            "pool": {"name": name, "generation": generation, "resourceSliceCount": n_slices},
            "devices": [device(number, model) for number in range(n_devices)],
            **(reach or {"nodeName": name}),
        },
    }


def claim(name, pool=None, devices=(), pods=(), **result):
    """An allocated claim, unless pool is None. pods: names of those that use it."""
    made = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "ml", "uid": f"claim-{name}"},
        "spec": {"devices": {"requests": [{"name": "gpus", "exactly": {"deviceClassName": DRIVER}}]}},
        "status": {},
    }
    if pool is not None:
        results = [{"request": "gpus", "driver": DRIVER, "pool": pool, "device": f"gpu-{number}", **result} for number in devices]
        made["status"] = {
            "allocation": {"devices": {"results": results}},
            "reservedFor": [{"resource": "pods", "name": each, "uid": f"pod-{each}"} for each in pods],
        }
    return made


def node_of(inventory, name):
    (found,) = [item for item in inventory["nodes"] if item["name"] == name]
    return found


def problems_of(inventory):
    return [(item["kind"], item["name"], item["what"]) for item in inventory["problems"]]


def rows_of(service):
    return [re.split(r"  +", line) for line in service.get("/v1/inventory?output=table&wide=true").text.splitlines()]


@pytest.fixture(scope="module")
def example():
    """Shared by the read-only tests."""
    with stopping(Service) as start:
        yield start("--cluster-file", EXAMPLE)


# ---- the document ----


def body_of(path):
    with open(os.path.join(ROOT, path), "rb") as file:
        return file.read()


@pytest.mark.parametrize("command, output", marked.commands("docs/DRA.md", "dra"), ids=lambda text: text[:60])
def test_commands_of_the_document(example, command, output):
    path = re.fullmatch(r"curl -sS 'http://127\.0\.0\.1:8888(\S+)'(?: --data-binary @(\S+))?(?: \| grep (\w+))?", command)
    text = (example.post(path[1], body_of(path[2])) if path[2] else example.get(path[1])).text
    said = "".join(line for line in text.splitlines(keepends=True) if not path[3] or path[3] in line)
    pattern = "".join("(?:.*\n)*" if line == "...\n" else re.escape(line) for line in output.splitlines(keepends=True))
    assert re.fullmatch(pattern, said), said


# ---- nodes ----


def tainted(made, number, *taints):
    made["spec"]["devices"][number]["taints"] = list(taints)
    return made


def rule(name, key, **selector):
    taint = {"key": key, "value": "yes", "effect": "NoExecute"}
    return {"apiVersion": "resource.k8s.io/v1alpha3", "kind": "DeviceTaintRule", "metadata": {"name": name}, "spec": {"deviceSelector": selector, "taint": taint}}


def test_taints_of_devices_are_shown_with_their_node(start_over):
    """Of devices in use, too. Equal ones once; an effect that keeps nothing off is none."""
    xid = {"key": "gpu.nvidia.com/xid", "value": "79", "effect": "NoSchedule"}
    slices = tainted(tainted(tainted(resource_slice("a", 3), 1, xid), 0, xid), 2, {"key": "note", "effect": "None"}), resource_slice("b"), resource_slice("net", allNodes=True)
    rules = rule("drain", "example.com/drain", driver=DRIVER, pool="a"), rule("other", "k", driver="other")
    waits = pod("waits", gpus=None, spec={"resourceClaims": [{"name": "gpus", "resourceClaimName": "asks"}]})
    asks = claim("asks")
    asks["spec"]["devices"]["requests"][0]["exactly"]["count"] = 3
    classes = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": DRIVER}, "spec": {"selectors": [{"cel": {"expression": f"device.driver == '{DRIVER}'"}}]}}
    service = start_over(node("a", None, None), node("b", None, None), *slices, *rules, classes, claim("one", "a", [0], ["train-0"]), asks, waits)
    lines = [f"{DRIVER} gpu-0 and 2 more: example.com/drain=yes:NoExecute (DeviceTaintRule drain)", f"{DRIVER} gpu-0 and 1 more: gpu.nvidia.com/xid=79:NoSchedule"]
    inventory = inventory_of(service)
    assert node_of(inventory, "a")["deviceTaints"] == lines
    assert "deviceTaints" not in node_of(inventory, "b")
    assert [["a", f"device taint: {line}"] for line in lines] == [row for row in rows_of(service) if row[-1].startswith("device taint")]
    explained = service.get("/v1/explain?namespace=ml&name=waits").json()
    assert {each["node"]: each.get("deviceTaints") for each in explained["nodes"]} == {"a": lines, "b": None}, explained["nodes"]
    assert "device taint: gpu.nvidia.com gpu-0" in service.get("/v1/explain?namespace=ml&name=waits&output=table").text


def test_shown_taints_of_devices_are_bounded(start_over):
    """The first of the sorted ones; longer texts are cut."""
    rules = [rule(f"rule-{number:03}", f"example.com/{'k' * 300}{number:03}", driver=DRIVER) for number in range(12)]
    service = start_over(node("a", None, None), resource_slice("a", 100), *rules)
    shown = node_of(inventory_of(service), "a")["deviceTaints"]
    assert len(shown) == 8 and {len(line) for line in shown} == {320} and shown == sorted(shown)


def test_devices_of_a_node(example):
    inventory = inventory_of(example)
    found = node_of(inventory, "h100-1")
    models = {"H100-80GB-HBM3": {"total": 8, "allocated": 5, "free": 2, "memoryBytes": 81559 * 2**20, "usable": 2, "stranded": 0, "closed": 0}}
    rest = {"blocked": 0, "incomplete": 0, "invalid": 0, "partitioned": 0, "publishedTwice": False, "partitions": {}}
    assert found["devices"] == {DRIVER: {"total": 8, "allocated": 5, "free": 2, "tainted": 1, "models": models, **rest}}
    assert GPU not in found["resources"], "its pods get the resource through a claim"
    assert node_of(inventory, "h100-2")["devices"] == {}


def test_partitions_are_apart_from_their_gpus(example):
    found = node_of(inventory_of(example), "a100-1")["devices"][DRIVER]
    assert (found["total"], found["allocated"], found["free"]) == (2, 1, 1)
    assert list(found["models"]) == ["A100-SXM4-80GB"]
    partition = {"total": 4, "allocated": 1, "free": 3, "memoryBytes": 9856 * 2**20}
    assert found["partitions"] == {"A100-SXM4-80GB-MIG-1g.10gb": partition}


def sharing(name, consumed, number=0):
    return claim(name, "a", [number], [f"pod-{name}"], shareID=f"share-{name}", **({"consumedCapacity": consumed} if consumed else {}))


def shareable(**capacities):
    """Two devices that claims may share."""
    made = resource_slice("a")
    for each in made["spec"]["devices"]:
        each.update(allowMultipleAllocations=True, capacity={key: {"value": value} for key, value in capacities.items()})
    return made


def test_what_is_left_of_shared_devices(start_over):
    claims = [sharing("one", {"memory": "10Gi", "cores": 3}), sharing("two", {"memory": "20Gi", "cores": "5"}), sharing("last", {"memory": "1Gi"}, number=1)]
    service = start_over(node("a", None, None), shareable(memory="80Gi", cores="64"), *claims)
    inventory = inventory_of(service)
    numbers = node_of(inventory, "a")["devices"][DRIVER]["models"]["H100-80GB-HBM3"]
    assert (numbers["total"], numbers["allocated"], numbers["free"]) == (2, 2, 0), "nobody can take a whole one"
    memory = {"total": 160 << 30, "used": 31 << 30, "free": 129 << 30}
    assert numbers["shared"] == {"devices": 2, "capacity": {"memory": memory, "cores": {"total": 128, "used": 8, "free": 120}}}
    assert [item["devices"][0]["consumedCapacity"] for item in inventory["claims"]] == [{"memory": "1Gi"}, {"memory": "10Gi", "cores": 3}, {"memory": "20Gi", "cores": "5"}]
    assert ["a", DRIVER, "H100-80GB-HBM3", "2", "memory", "160Gi", "31Gi", "129Gi"] in rows_of(service)


@pytest.mark.parametrize(
    "capacities, consumed, shown",
    [
        ({"gpu.nvidia.com/memory": "80Gi"}, {"gpu.nvidia.com/memory": "10Gi"}, {"memory": (160, 10, 150)}),
        ({"gpu.nvidia.com/memory": "80Gi"}, {"memory": "10Gi"}, {"memory": (160, 10, 150)}),
        ({"memory": "80Gi"}, {"memory": "ten"}, {"memory": (160, None, None)}),
        ({"memory": "80Gi"}, {"memory": "0.0001"}, {"memory": (160, None, None)}),
        ({"memory": "80Gi"}, {"x" * 300: "1"}, {"memory": (160, 0, 160)}),
        ({"memory": "80Gi"}, {str(number) * 60: "1" for number in range(40)}, {"memory": (160, None, None)}),
        ({"memory": "80Gi"}, None, {"memory": (160, 0, 160)}),
        ({"memory": "80Gi"}, {"memory": "100Gi"}, {"memory": (160, 100, 60)}),
        ({}, {"memory": "1Gi"}, {}),
    ],
)
def test_consumed_capacities_as_they_come(start_over, capacities, consumed, shown):
    """Names with the driver's domain and without it; what is not known; more than there is. Only the shared device counts."""
    service = start_over(node("a", None, None), shareable(**capacities), sharing("one", consumed), sharing("two", consumed, number=1) if shown else claim("x"))
    shared = node_of(inventory_of(service), "a")["devices"][DRIVER]["models"]["H100-80GB-HBM3"]["shared"]
    factor = 2 if consumed and shown else 1
    amounts = {name: tuple(value and value // 2**30 for value in (item["total"], item["used"], item["free"])) for name, item in shared["capacity"].items()}
    expected = {name: (total, used and used * factor, None if used is None else total - used * factor) for name, (total, used, _) in shown.items()}
    assert amounts == expected


def test_no_device_is_shared_without_a_share_id(example):
    inventory = inventory_of(example)
    assert all("shared" not in numbers for item in inventory["nodes"] for group in item["devices"].values() for numbers in group["models"].values())
    assert "SHARED ON" not in example.get("/v1/inventory?output=table").text


def test_pods_hold_devices_through_claims(example):
    holders = {item["pod"]: (item["gpus"], item["devices"]) for item in node_of(inventory_of(example), "h100-1")["holders"]}
    assert holders == {
        "train-0": ({}, {DRIVER: 2}),
        "notebook-a": ({}, {DRIVER: 1}),
        "notebook-b": ({}, {DRIVER: 1}),
        "serve-0": ({GPU: 1}, {DRIVER: 1}),
    }


@pytest.mark.parametrize("gpus", [None, 0])
def test_a_request_that_a_claim_meets_is_listed_as_devices(start_over, gpus):
    """After a device plugin is gone, the kubelet keeps its resource with 0 GPUs."""
    held = claim("extended", "a", [0], ["train-0"])
    inventory = inventory_of(start_over(node("a", gpus, None), resource_slice("a"), held, pod(on="a")))
    assert GPU not in node_of(inventory, "a")["resources"]
    assert [item["resource"] for item in inventory["models"]] == [DRIVER]


def test_a_request_that_no_claim_meets_stays(start_over):
    inventory = inventory_of(start_over(node("a", 0, None), resource_slice("a"), claim("waits"), pod(on="a")))
    assert node_of(inventory, "a")["resources"][GPU]["free"] == -1


@pytest.mark.parametrize(
    "label, other, fits", [(None, None, True), ("NVIDIA-L4", None, False), (None, "NVIDIA L4", False), (None, H100, True)]
)
def test_a_node_without_a_model_label_has_the_model_of_its_devices(start_over, label, other, fits):
    asks = pod("asks", metadata={"annotations": {"gpu-extender.io/models": "H100"}})
    more = [resource_slice("more", model=other, nodeName="n1")] if other else []
    service = start_over(node("n1", model=label), resource_slice("one", nodeName="n1"), *more)
    answer = service.post("/scheduler/filter", filter_args(asks, ["n1"])).json()
    assert (answer["NodeNames"] == ["n1"]) == fits, answer


def test_gpus_of_another_vendors_plugin_do_not_have_the_model_of_the_devices(start_over):
    """A device plugin's GPUs of the driver's own vendor are these devices."""
    asks = pod("asks", metadata={"annotations": {"gpu-extender.io/models": "H100"}})
    other = pod("other", resource="amd.com/gpu", metadata=asks["metadata"])
    service = start_over(
        node("same", 2, None),
        node("mixed", 2, None, resource="amd.com/gpu"),
        *(resource_slice(name, nodeName=name) for name in ("same", "mixed")),
    )
    assert service.post("/scheduler/filter", filter_args(asks, ["same"])).json()["NodeNames"] == ["same"]
    assert service.post("/scheduler/filter", filter_args(other, ["mixed"])).json()["NodeNames"] == []


def test_totals_by_model_count_each_gpu_once(example):
    totals = {(item["model"], item["resource"]): item for item in inventory_of(example)["models"]}
    plugin = totals.pop(("H100-80GB-HBM3", GPU))
    assert (plugin["nodes"], plugin["capacity"], plugin["used"]) == (2, 16, 3)
    numbers = {"nodes": 2, "capacity": 12, "allocatable": 7, "used": 5, "reserved": 0, "free": 2, "usable": 2, "stranded": 0, "closed": 0, "lost": 0}
    assert totals.pop(("H100-80GB-HBM3", DRIVER)) == {"model": "H100-80GB-HBM3", "resource": DRIVER, "unit": "gpu", **numbers}
    assert list(totals) == [("A100-SXM4-80GB", DRIVER)]


def test_the_table_has_a_row_a_driver_and_model(example):
    rows = {(cells[0], cells[6]): [*cells[2:5], cells[-1]] for cells in rows_of(example) if len(cells) == 10}
    *numbers, held_by = rows["h100-1", DRIVER]
    assert numbers == ["7", "5", "2"], "total is without the tainted one"
    assert sorted(held_by.split(", ")) == ["ml/notebook-a (1)", "ml/notebook-b (1)", "ml/serve-0 (1)", "ml/train-0 (2)"]
    assert rows["h100-3", GPU][:3] == ["8", "0", "8"]
    assert rows["h100-3", f"{DRIVER} (not counted)"] == ["8", "0", "8", "-"]
    assert rows["h100-4", DRIVER] == ["0", "0", "0", "-"]


def test_devices_of_several_nodes_are_listed_once(start_over):
    service = start_over(node("a", None, None), resource_slice("net", 3, allNodes=True), claim("one", "net", [1], ["train-0"]), pod(on="a", gpus=None))
    inventory = inventory_of(service)
    found = inventory["devices"][DRIVER]
    assert (found["total"], found["allocated"], found["free"]) == (3, 1, 2)
    assert node_of(inventory, "a")["devices"] == {} and inventory["models"] == []
    assert inventory["claims"][0]["node"] == ""
    assert node_of(inventory, "a")["holders"][0]["devices"] == {DRIVER: 1}, "the node of the pod"
    assert ["DEVICES OF SEVERAL NODES", "MODEL", "TOTAL", "USED", "FREE"] in rows_of(service)
    assert [DRIVER, "H100-80GB-HBM3", "3", "1", "2"] in rows_of(service)


@pytest.mark.parametrize(
    "driver, attribute, text, model",
    [
        ("gpu.amd.com", "productName", "AMD Instinct MI300X", "MI300X"),
        ("gpu.intel.com", "model", "Intel Data Center GPU Max 1550", "Max-1550"),
        ("gpu.example.com", "chip", "L4", "L4"),
    ],
)
def test_each_driver_has_its_attribute_for_the_model(start_over, write, driver, attribute, text, model):
    """Two are built in, one is named by the policy. The memory is a capacity."""
    policy = f"apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\ndeviceDrivers: {{gpu.example.com: {{model: chip, resource: example.com/gpu}}}}\n"
    options = ["--config", write("policy.yaml", policy)] if driver == "gpu.example.com" else []
    part = resource_slice("a")
    part["spec"]["driver"] = driver
    for each in part["spec"]["devices"]:
        each.update(attributes={attribute: {"string": text}}, capacity={"memory": {"value": "24Gi"}})
    used = claim("used", "a", [0], ["train-0"], driver=driver)
    groups = node_of(inventory_of(start_over(node("a", None, None), part, used, options=options)), "a")["devices"]
    assert groups[driver]["models"] == {model: {"total": 2, "allocated": 1, "free": 1, "memoryBytes": 24 * 2**30, "usable": 1, "stranded": 0, "closed": 0}}


def test_a_driver_that_the_policy_does_not_name_has_no_gpus(start_over):
    other = resource_slice("a")
    other["spec"]["driver"] = "nic.example.com"
    used = claim("nic", "a", [0], ["train-0"], driver="nic.example.com")
    inventory = inventory_of(start_over(node("a", None, None), other, used))
    assert (inventory["claims"], inventory["problems"], node_of(inventory, "a")["devices"]) == ([], [], {})
    assert inventory["claimsCounted"] is True


# ---- claims ----


def test_claims_are_listed_by_name(example):
    inventory = inventory_of(example)
    names = [item["name"] for item in inventory["claims"]]
    assert names == ["benchmark", "notebooks", "serve-0-extended-resources-x7k2p", "small", "train-0-gpus"]
    assert [item["name"] for item in inventory["claims"] if item["unused"]] == ["benchmark"]
    assert inventory["claimsOmitted"] == 0
    notebooks = inventory["claims"][1]
    assert notebooks == {
        "namespace": "ml",
        "name": "notebooks",
        "node": "h100-1",
        "unused": False,
        "terminating": False,
        "devices": [
            {
                "driver": DRIVER,
                "pool": "h100-1",
                "device": "gpu-2",
                "model": "H100-80GB-HBM3",
                "published": True,
                "partition": False,
                "shared": False,
                "adminAccess": False,
            }
        ],
        "reservedFor": [{"pod": "notebook-a", "uid": "pod-notebook-a"}, {"pod": "notebook-b", "uid": "pod-notebook-b"}],
        "reservedForCount": 2,
    }


def test_only_allocated_claims_are_listed(start_over):
    admin = claim("monitor", "a", [0, 1], ["agent"], adminAccess=True)
    service = start_over(node("a", None, None), resource_slice("a"), claim("waits"), admin, claim("used", "a", [0], ["gone"]))
    inventory = inventory_of(service)
    assert [item["name"] for item in inventory["claims"]] == ["used"], "admin access uses no device"
    assert node_of(inventory, "a")["devices"][DRIVER]["allocated"] == 1
    assert inventory["claims"][0]["reservedFor"] == [{"pod": "gone", "uid": "pod-gone"}], "its pod is not in the file"
    assert node_of(inventory, "a")["holders"] == []


def test_a_device_that_no_slice_has(start_over):
    inventory = inventory_of(start_over(node("a", None, None), resource_slice("a"), claim("early", "a", [7], ["train-0"])))
    (listed,) = inventory["claims"]
    assert (listed["node"], listed["devices"][0]["published"], listed["devices"][0]["model"]) == ("", False, "")
    assert node_of(inventory, "a")["devices"][DRIVER]["allocated"] == 0


@pytest.mark.long
def test_the_number_of_listed_claims_is_bounded(start_over):
    """Unused claims are listed whatever the number of the others."""
    holders = [{"resource": "pods", "uid": str(number)} for number in range(256)]
    n_listed = CLAIM_ITEMS // (1 + 1 + len(holders))
    crowded = merged(claim("crowded", "a", [0]), {"status": {"reservedFor": holders}})
    many = [{**crowded, "metadata": {"name": f"crowded-{i}", "namespace": "ml", "uid": f"{i}"}} for i in range(n_listed + 3)]
    service = start_over(node("a", None, None), resource_slice("a"), *many, claim("unused", "a", [1]))
    inventory = inventory_of(service)
    assert inventory["claimsOmitted"] == 3
    assert len(inventory["claims"]) == n_listed + 1 and "unused" in [item["name"] for item in inventory["claims"]]


def test_the_number_of_listed_problems_is_bounded(start_over):
    many = [claim(f"unused-{i}", "a", [0]) for i in range(1003)]
    inventory = inventory_of(start_over(node("a", None, None), resource_slice("a"), *many))
    assert len(inventory["problems"]) == 1000 and inventory["problemCount"] == 1003


# ---- problems ----


def test_problems_of_devices(example):
    assert problems_of(inventory_of(example)) == [
        ("Node", "h100-3", f"publishes GPUs twice: by a device plugin, and as devices of {DRIVER}, which are not counted"),
        (
            "ResourceSlice",
            f"{DRIVER}/h100-4",
            "nothing is free in this pool on the node h100-4: slices are missing (generation 2 has 1 of 2 slices)",
        ),
        ("ResourceClaim", "ml/benchmark", "holds 1 device, but no pod uses it"),
    ]
    assert inventory_of(example)["problemCount"] == 3
    assert ["PROBLEM", "NAME", "WHAT"] in rows_of(example)
    assert "\ngpu_extender_inventory_problems 0\n" in example.get("/metrics").text, "only objects that were left out"


def test_a_pool_that_contradicts_itself(start_over):
    twice = resource_slice("a")
    twice["spec"]["devices"][1]["name"] = "gpu-0"
    inventory = inventory_of(start_over(node("a", None, None), twice, claim("waits")))
    assert node_of(inventory, "a")["devices"][DRIVER]["free"] == 0
    ((kind, name, what),) = problems_of(inventory)
    assert (kind, name) == ("ResourceSlice", f"{DRIVER}/a") and what.startswith("nothing is free in this pool on the node a: ")


# ---- are claims counted? ----


def claims_user(**changes):
    return pod("user", None, on="a", spec={"resourceClaims": [{"name": "gpu", "resourceClaimName": "shared"}]}, **changes)


MAPS = {"kind": "DeviceClass", "apiVersion": "resource.k8s.io/v1", "metadata": {"name": "gpu"}, "spec": {"extendedResourceName": GPU}}


def assert_in_use_is_unknown(service, why):
    """Checks every answer that counts devices. The node "a" has two."""
    inventory = inventory_of(service)
    group = node_of(inventory, "a")["devices"][DRIVER]
    model = {"total": 2, "allocated": None, "free": None, "memoryBytes": 0}
    assert (group["total"], group["allocated"], group["free"], group["blocked"]) == (2, None, None, None)
    assert group["models"] == {"H100-80GB-HBM3": model}
    (total,) = [row for row in inventory["models"] if row["resource"] == DRIVER]
    assert (total["capacity"], total["allocatable"], total["used"], total["free"]) == (2, None, None, None)
    rows = rows_of(service)
    assert {"unknown"} < set(next(row for row in rows if row[0] == "a" and DRIVER in row))
    assert {"unknown"} < set(next(row for row in rows if row[0] == "H100-80GB-HBM3" and DRIVER in row))
    for path in ("inventory", "quota", "fragmentation"):
        answer = service.get(f"/v1/{path}").json()
        assert (answer["claimsCounted"], answer["claimsNotCountedBecause"]) == (False, why), path
        assert service.get(f"/v1/{path}?output=table&width=400").text.startswith(f"{why}\n\n"), path
    assert 0 == sum(row["free"] for row in service.get("/v1/fragmentation").json()["models"] if row["model"] == "H100-80GB-HBM3")


def test_a_file_without_claims_says_so(start_over):
    service = start_over(MAPS, node("a", None, None), resource_slice("a"), claims_user())
    assert_in_use_is_unknown(service, "claims are not counted: the cluster file has no resourceclaims")


def test_a_file_without_slices_says_so(start_over):
    inventory = inventory_of(start_over(node("a", None, None), claim("used", "a", [0], ["train-0"])))
    assert inventory["claimsNotCountedBecause"] == "claims are not counted: the cluster file has no resourceslices"


def test_a_file_without_devices_lacks_nothing(start_over):
    inventory = inventory_of(start_over(node("a")))
    assert (inventory["claimsCounted"], inventory["claimsNotCountedBecause"]) == (True, "")


def test_claims_that_cannot_be_listed(api, follow):
    api.store.put(resource_slice("a"))
    api.faults.fail("list resourceclaims", 403, "Forbidden", times=None)
    service = follow()
    why = "claims are not counted: the resourceclaims are not listed: "
    service.wait("the answer says so", lambda: inventory_of(service)["claimsNotCountedBecause"].startswith(why))
    assert inventory_of(service)["claimsCounted"] is False


def test_devices_are_not_free_before_claims_are_known(api, follow):
    api.store.put(node("a", None, None), resource_slice("a"), MAPS)
    api.faults.fail("list resourceclaims", 403, "Forbidden", times=None)
    service = follow()
    why = inventory_of(service)["claimsNotCountedBecause"]
    assert why.startswith("claims are not counted: the resourceclaims are not listed: ")
    assert_in_use_is_unknown(service, why)
    api.faults.heal()
    service.wait("claims are counted", lambda: inventory_of(service)["claimsCounted"])
    assert node_of(inventory_of(service), "a")["devices"][DRIVER]["free"] == 2
    assert "unknown" not in service.get("/v1/inventory?output=table").text


def test_devices_that_several_nodes_reach_are_not_free_before_claims_are_known(start_over):
    inventory = inventory_of(start_over(node("a", None, None), resource_slice("net", 3, allNodes=True), claims_user()))
    group = inventory["devices"][DRIVER]
    assert (group["total"], group["free"], group["allocated"], group["models"]["H100-80GB-HBM3"]["free"]) == (3, None, None, None)


# ---- other answers ----


def test_the_number_of_claims_is_a_metric(example, start_over):
    def states(service):
        found = re.findall(r'^gpu_extender_device_claims\{state="(\w+)"\} (\S+)$', service.get("/metrics").text, re.MULTILINE)
        return {state: int(n) for state, n in found}

    assert states(example) == {"allocated": 4, "unused": 1, "unallocated": 0}
    assert states(start_over(node("a"), claim("waits"))) == {"allocated": 0, "unused": 0, "unallocated": 1}


def test_fragmentation_counts_free_devices_under_their_resource(start_over):
    service = start_over(
        MAPS, node("a", None, None), resource_slice("a", 4), claim("used", "a", [0], ["train-0"]), node("b", 8), pod("waits", 4)
    )
    models = {item["model"]: item for item in service.get("/v1/fragmentation").json()["models"]}
    assert (models["H100-80GB-HBM3"]["resource"], models["H100-80GB-HBM3"]["free"]) == (GPU, 3)
    assert models["H100-80GB-HBM3"]["fragmented"] == 3, "the typical pod needs 4"
    assert models["A100-SXM4-80GB"]["free"] == 8


def test_a_snapshot_gives_the_same_answer(example, start_service, write):
    again = start_service("--cluster-file", write("snapshot.json", json.dumps(example.get("/v1/snapshot").json())))
    for part in ("nodes", "models", "devices", "claims", "problems"):
        assert inventory_of(again)[part] == inventory_of(example)[part], part


def test_slices_of_one_node_are_bounded(start_service, write):
    """What has no room is a problem, and the devices of its pool are not free; another node has its own room."""
    policy = write("policy.yaml", "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\nlimits: {nodeSlicesBytes: 8Ki}\n")
    more = merged(resource_slice("a", n_devices=20), {"metadata": {"name": "more"}})
    nodes = [node("a", gpus=None), node("b", gpus=None)]
    for slices, free in (([resource_slice("a"), resource_slice("b")], [2, 2]), ([resource_slice("a", n_slices=2), more, resource_slice("b")], [0, 2])):
        service = start_service("--cluster-file", write("cluster.json", list_text(*nodes, *slices, claim("waits"))), "--config", policy)
        inventory = inventory_of(service)
        assert [node_of(inventory, name)["devices"][DRIVER]["free"] for name in "ab"] == free
        left_out = ("ResourceSlice", "more", "its devices are left out, as slices exceed limits.nodeSlicesBytes")
        assert (left_out in problems_of(inventory)) == (free == [0, 2])
    assert node_of(inventory, "a")["devices"][DRIVER]["incomplete"] == 2
