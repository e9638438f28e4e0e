"""Devices as drivers publish them: how many GPUs they are, which devices are parts of one, and whose pods hold them.

tests/cases/field/devices.yaml has a row for each:
    case        a name of its own
    driver      of all devices; gpu.example.com gets a policy of its own
    devices     [{times: how many, attributes, memory, consumes: {set: {counter: amount}}}]; the names are dROW-NUMBER
    sets        {set: {counter: amount}} of the pool
    claimed     names of devices, a claim for each
    is          the driver's numbers in /v1/inventory
    partitions  {name: its numbers}, if given
"""

import pytest
import yaml
from objects import list_text, node
from service import ROOT

with open(f"{ROOT}/tests/cases/field/devices.yaml", encoding="utf-8") as _file:
    ROWS = yaml.load(_file, yaml.CSafeLoader)
POLICY = """apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
deviceDrivers: {gpu.example.com: {model: model}}
"""
NAMES = {bool: "bool", int: "int", str: "string"}
VERSION = "resource.k8s.io/v1"


def attribute(value, i):
    return {NAMES[type(value)]: value.replace("{}", str(i)) if isinstance(value, str) else value}


def counters(sets, name):
    return [{name: each, "counters": {key: {"value": str(amount)} for key, amount in amounts.items()}} for each, amounts in sets.items()]


def devices_of(row):
    for at, device in enumerate(row["devices"]):
        for i in range(device.get("times", 1)):
            published = {
                "name": f"d{at}-{i}",
                "attributes": {key: attribute(value, i) for key, value in device["attributes"].items()},
                "capacity": {"memory": {"value": device["memory"]}},
            }
            yield {**published, **({"consumesCounters": counters(device["consumes"], "counterSet")} if "consumes" in device else {})}


def slice_of(row, name, **members):
    pool = {"name": "a", "generation": 1, "resourceSliceCount": 2 if "sets" in row else 1}
    return {"apiVersion": VERSION, "kind": "ResourceSlice", "metadata": {"name": name}, "spec": {"driver": row["driver"], "nodeName": "a", "pool": pool, **members}}


def claim_of(row, device, **holder):
    result = {"request": "r", "driver": row["driver"], "pool": "a", "device": device}
    spec = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}}
    status = {"allocation": {"devices": {"results": [result]}}, "reservedFor": [{"resource": "pods", "name": "p", "uid": "u", **holder}]}
    return {"apiVersion": VERSION, "kind": "ResourceClaim", "metadata": {"name": f"of-{device}", "namespace": "ml"}, "spec": spec, "status": status}


def objects_of(row):
    sets = [slice_of(row, "sets", sharedCounters=counters(row["sets"], "name"))] if "sets" in row else []
    return [node("a", None), *sets, slice_of(row, "devices", devices=list(devices_of(row))), *(claim_of(row, each) for each in row.get("claimed", []))]


def numbers(found, expected):
    return {key: found[key] for key in expected}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["case"])
def test_devices_of_the_field(row, start_service, write):
    policy = ["--config", write("policy.yaml", POLICY)] if row["driver"] == "gpu.example.com" else []
    service = start_service("--cluster-file", write("cluster.json", list_text(*objects_of(row))), *policy)
    inventory = service.get("/v1/inventory").json()
    (found,) = inventory["nodes"][0]["devices"].values()
    assert numbers(found, row["is"]) == row["is"]
    for each in [found, *found["models"].values(), *found["partitions"].values()]:
        assert 0 <= each["free"] <= each["total"] - each["allocated"]
    if "partitions" in row:
        assert {name: numbers(each, row["partitions"].get(name, {})) for name, each in found["partitions"].items()} == row["partitions"]
    assert inventory["problems"] == []


def test_the_cases_have_names_of_their_own():
    assert len({row["case"] for row in ROWS}) == len(ROWS)


HELD = next(row for row in ROWS if row["case"] == "whole GPUs of all drivers")


@pytest.mark.parametrize(
    ("holder", "users"),
    [
        ({"name": "train-0"}, [{"pod": "train-0", "uid": "u"}]),
        ({"name": "train-1", "uid": "of-another-pod"}, [{"pod": "train-1", "uid": "of-another-pod"}]),
        ({"name": ""}, [{"pod": "", "uid": "u"}]),
        ({"name": "x", "apiGroup": "scheduling.k8s.io", "resource": "podgroups"}, []),
    ],
)
def test_the_holder_of_a_claim_has_its_name(holder, users, start_service, write):
    """ResourceClaimConsumerReference of resource.k8s.io/v1 has it; the cluster file has no such pod."""
    service = start_service("--cluster-file", write("cluster.json", list_text(*objects_of(HELD), claim_of(HELD, "d0-0", **holder))))
    (claim,) = service.get("/v1/inventory").json()["claims"]
    assert (claim["reservedFor"], claim["reservedForCount"]) == (users, 1)
    kept = [user for item in service.get("/v1/snapshot").json()["items"] if item["kind"] == "ResourceClaim" for user in item["status"]["reservedFor"]]
    assert [user["name"] for user in kept if user["resource"] == "pods"] == [user["pod"] for user in users]
