"""Extended resources that come by claims (dynamic resource allocation): nodes without a device plugin, where a DeviceClass maps the resource.

PROTOCOL 11.2. gpu-extender does not judge what the claims would get. The answer says so, and it is no reason to reject the pod.
"""

import pytest
from follow import SILENCE_S
from objects import GPU, annotated, filter_args, node, pod

ABSENT = "gpu-extender: the node has no GPUs of the requested resource"
MODEL = "gpu-extender: the node's GPU model is not one that the pod asks for"
NOT_JUDGED = "claims are judged by quotas only, not by devices"


def device_class(name="gpu.nvidia.com", **spec):
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name, "uid": f"class-{name}"}, "spec": spec}


MAPS = device_class(extendedResourceName=GPU, selectors=[{"cel": {"expression": "device.driver == 'gpu.nvidia.com'"}}])
NODES = [node("plugin", 4), node("full", 2), pod("holds", 2, on="full"), node("driver", None, "Tesla-T4"), node("zero", 0)]
NAMES = ["plugin", "full", "driver", "zero"]


def refused(service, asking):
    return service.post("/scheduler/filter", filter_args(asking, NAMES)).json()["FailedAndUnresolvableNodes"]


def dry_run(service, asking):
    return service.post("/v1/dry-run", asking).json()["workloads"][0]


FULL = {"full": "gpu-extender: the node has too few free GPUs now"}


@pytest.mark.parametrize("class_", [None, device_class(), device_class(extendedResourceName="amd.com/gpu")])
def test_resource_is_absent_without_its_class(class_, start_over):
    service = start_over(*NODES, *([class_] if class_ else []))
    assert refused(service, pod()) == {**FULL, "driver": ABSENT, "zero": ABSENT}
    assert not [line for line in dry_run(service, pod())["notEvaluated"] if NOT_JUDGED in line]


def test_class_makes_nodes_without_the_resource_judged_by_model(start_over):
    service = start_over(*NODES, MAPS)
    assert refused(service, pod(gpus=2)) == FULL
    assert refused(service, pod(gpus=1000)) == {name: "gpu-extender: the node has too few GPUs in total" for name in ("plugin", "full")}
    assert refused(service, annotated(models="A100")) == {**FULL, "driver": MODEL}


def test_dry_run_notes_that_claims_are_not_judged(start_over):
    service = start_over(*NODES, MAPS)
    workload = dry_run(service, pod())
    verdicts = {item["node"]: item for item in workload["nodes"]}
    for name in ("driver", "zero"):
        assert verdicts[name]["fits"] and verdicts[name]["lacks"] == {}
        assert verdicts[name]["message"] == f"the pod fits; {NOT_JUDGED}: {GPU} would come through a device class"
    assert verdicts["plugin"]["message"] == "the pod fits"
    (line,) = [line for line in workload["notEvaluated"] if NOT_JUDGED in line]
    assert line.startswith(f"{GPU}: ") and " 2 of the nodes" in line
    assert f"; on 2 nodes {NOT_JUDGED}" in workload["summary"]


def test_known_room_ranks_first_and_no_count_is_promised(start_over):
    service = start_over(*NODES, MAPS)
    workload = dry_run(service, pod())
    assert ([item["node"] for item in workload["placements"]], workload["moreReplicas"]) == (["plugin"], 3)
    scores = {item["node"]: item["score"] for item in workload["nodes"] if item["fits"]}
    assert scores["plugin"] == 10 > max(scores["driver"], scores["zero"])


@pytest.mark.parametrize("name, maps", [("gpu.nvidia.com", True), ("other", False)])
def test_every_class_has_an_implicit_name(name, maps, start_over, write):
    resource = "deviceclass.resource.kubernetes.io/gpu.nvidia.com"
    policy = f"apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\ngpuResources: [{GPU}, {resource}]\n"
    service = start_over(node("driver", None), device_class(name), options=["--config", write("policy.yaml", policy)])
    answer = service.post("/scheduler/filter", filter_args(pod(resource=resource), ["driver"])).json()
    assert answer["NodeNames"] == (["driver"] if maps else [])


# ---- followed ----


def verdict_of(service, name):
    return {item["node"]: item for item in dry_run(service, pod())["nodes"]}[name]


def test_device_classes_are_watched(api, follower):
    api.store.put(node("driver", 0))
    follower.settle()
    assert verdict_of(follower, "driver")["reason"] == "gpu_absent"
    api.store.put(MAPS)
    follower.wait("the class is known", lambda: verdict_of(follower, "driver")["fits"])
    api.store.remove(MAPS)
    follower.wait("the class is gone", lambda: verdict_of(follower, "driver")["reason"] == "gpu_absent")


def test_api_server_without_device_classes_is_accepted(api, follow):
    """The service retries from time to time, and follows the kind after an upgrade."""
    api.store.put(node("driver", 0), MAPS)
    api.faults.fail("list deviceclasses", 404, "NotFound", times=None)
    service = follow(watchSilenceSeconds=SILENCE_S)  # a kind that is not there is asked for again within it
    service.settle()
    assert verdict_of(service, "driver")["reason"] == "gpu_absent"
    n_asked = api.faults.count("list deviceclasses")
    service.wait("it is asked again", lambda: api.faults.count("list deviceclasses") > n_asked + 1)
    assert service.get("/readyz").status == 200 and service.relists("deviceclasses") == 1
    api.faults.heal()
    service.wait("the class is known", lambda: verdict_of(service, "driver")["fits"])


RULE = {"apiVersion": "resource.k8s.io/v1alpha3", "kind": "DeviceTaintRule", "metadata": {"name": "r"}, "spec": {"deviceSelector": {"driver": "other"}, "taint": {"key": "a.b/c", "effect": "NoSchedule"}}}
OF_CLAIMS = ("resourceslices", "resourceclaims", "devicetaintrules")


def test_api_server_with_older_versions_is_followed(api, follow):
    """The service asks for the newest first; after an upgrade of the API server it goes over to the new version."""
    api.resource_version = "v1beta1"
    api.store.put(node("driver", 0), MAPS, RULE)
    service = follow()
    service.settle()
    assert verdict_of(service, "driver")["fits"]
    assert "DeviceTaintRule" in {item["kind"] for item in service.get("/v1/snapshot").json()["items"]}
    assert service.get("/readyz").text == "ok\n"
    api.resource_version = "v1"
    api.store.remove(MAPS)
    api.watch("deviceclasses").end()
    service.wait("the class is gone", lambda: verdict_of(service, "driver")["reason"] == "gpu_absent")


@pytest.mark.parametrize("kind", OF_CLAIMS)
def test_a_kind_of_claims_that_is_forbidden_stops_the_count_only(api, follow, kind):
    api.store.put(node("plugin", 4))
    api.faults.fail(f"list {kind}", 403, "Forbidden", times=None)
    service = follow()
    service.settle()
    assert service.get("/readyz").status == 200
    assert service.get("/readyz").text == f"ok\nclaims are not counted: {kind}: never listed: refused\n"
    assert service.metric("gpu_extender_claims_counted") == 0
    assert kind in service.log.wait_for({"msg": "claims are not counted", "level": "warn"})["why"]
    for path in ("inventory", "quota", "fragmentation"):
        answer = service.get(f"/v1/{path}").json()
        assert not answer["claimsCounted"] and f"the {kind} are not listed: " in answer["claimsNotCountedBecause"], path
    assert verdict_of(service, "plugin")["fits"]
    api.faults.heal()
    service.wait("claims are counted", lambda: service.metric("gpu_extender_claims_counted") == 1)
    assert service.get("/readyz").text == "ok\n"


def test_forbidden_list_of_classes_is_named_by_readyz(api, follow):
    api.faults.fail("list deviceclasses", 403, "Forbidden", times=None)
    service = follow(ready=False)
    service.wait("it says what it may not", lambda: "403" in service.freshness("deviceclasses")["why"])
    service.wait("all else is there", lambda: service.get("/readyz").text == "deviceclasses: never listed: refused\n")
    assert service.get("/readyz").status == 503
