"""POST /v1/dry-run, explain and pending: on which nodes the devices are that the resource claims of a pod ask for (docs/DRA.md)."""

import glob
import os

import openapi
import pytest
from objects import merged, node, pod
from service import ROOT

DRIVER = "gpu.nvidia.com"
JUDGE = openapi.Judge(openapi.load())
API = "resource.k8s.io/v1"


def of_kind(kind, name, spec, namespace=None, **more):
    metadata = {"name": name, "uid": f"{kind}-{name}", **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec, **more}


def device_class(name=DRIVER, *terms):
    expression = " && ".join([f"device.driver == '{DRIVER}'", *terms])
    return of_kind("DeviceClass", name, {"selectors": [{"cel": {"expression": expression}}]})


def device(name, **attributes):
    return {"name": name, "attributes": {key: {"string": value} for key, value in {"type": "gpu", **attributes}.items()}}


def slice_of(name, *devices, **pool):
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1, **pool}
    return of_kind("ResourceSlice", name, {"driver": DRIVER, "nodeName": name, "pool": pool, "devices": list(devices)})


def asks(count=1, selector=None, **more):
    selectors = {"selectors": [{"cel": {"expression": selector}}]} if selector else {}
    exactly = {"deviceClassName": DRIVER, "count": count, **selectors, **more}
    return {"devices": {"requests": [{"name": "gpus", "exactly": exactly}]}}


def claim(name, spec=None, on=None, holders=0):
    """on: the node and devices that it has."""
    status = {}
    if on:
        where, *devices = on
        results = [{"request": "gpus", "driver": DRIVER, "pool": where, "device": device} for device in devices]
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [where]}]}
        status = {"allocation": {"devices": {"results": results}, "nodeSelector": {"nodeSelectorTerms": [term]}}}
        status["reservedFor"] = [{"resource": "pods", "name": f"p{n}", "uid": f"p{n}"} for n in range(holders)]
    return of_kind("ResourceClaim", name, spec or asks(), "ml", status=status)


def template(name, spec):
    return of_kind("ResourceClaimTemplate", name, {"spec": spec}, "ml")


def cluster(*more):
    """a has three devices, one of which is in use; b has one, c none."""
    devices = [slice_of("a", *(device(f"gpu-{n}", model="big") for n in range(3))), slice_of("b", device("gpu-0"))]
    nodes = [node(name, None, None) for name in "abc"]
    return [*nodes, device_class(), *devices, claim("used", on=("a", "gpu-0"), holders=1), *more]


def using(name="train", **claims):
    """A pod with these claims: by name, or by template if the key begins with t_."""
    entries = [{"name": key, ("resourceClaimTemplateName" if key[:2] == "t_" else "resourceClaimName"): value} for key, value in claims.items()]
    return pod(name, None, spec={"resourceClaims": entries})


def deployment(replicas, asking):
    template_ = {"metadata": {"labels": {"app": "web"}}, "spec": asking["spec"]}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template_}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "ml"}, "spec": spec}


def dry_run(service, *objects):
    answer = service.post("/v1/dry-run", {"apiVersion": "v1", "kind": "List", "items": list(objects)})
    assert answer.status == 200, answer
    assert JUDGE.faults_of_answer("POST", "/v1/dry-run", answer) == []
    return answer.json()["workloads"]


def reasons(workload):
    return {item["node"]: item["reason"] for item in workload["nodes"]}


def messages(workload):
    return {item["node"]: item["message"] for item in workload["nodes"]}


def placed(workload):
    return sorted(item["node"] for item in workload["placements"] if item["node"])


ONE = template("one", asks())


def test_too_few_in_total_or_free(start_over):
    service = start_over(*cluster(ONE, template("three", asks(3))))
    (one,) = dry_run(service, using(t_a="one"))
    assert reasons(one) == {"a": "fits", "b": "fits", "c": "claim_total"}
    (three,) = dry_run(service, using(t_a="three"))
    assert reasons(three) == {"a": "claim_free", "b": "claim_total", "c": "claim_total"}


@pytest.mark.parametrize(
    "claims, text",
    [
        ({"t_a": "three"}, "On 3 of 3 nodes, its claim three finds too few gpu.nvidia.com devices."),
        ({"t_a": "three", "t_b": "one"}, "On 3 of 3 nodes, its claims three and 1 more find too few gpu.nvidia.com devices."),
        ({"t_a": "other"}, "On 3 of 3 nodes, its claim other finds too few devices."),
        ({"t_a": "three", "t_b": "other"}, "On 3 of 3 nodes, its claims three and 1 more find too few devices."),
        ({"a": "gone"}, "On 3 of 3 nodes, the devices of its claim gone are out of reach."),
    ],
)
def test_the_verdict_names_the_claim_and_its_class(start_over, claims, text):
    both = {"devices": {"requests": [asks(9)["devices"]["requests"][0], {"name": "x", "exactly": {"deviceClassName": "any", "count": 1}}]}}
    there = cluster(ONE, template("three", asks(3)), template("other", both), device_class("any"), claim("gone", on=("z", "gpu-0"), holders=1))
    (workload,) = dry_run(start_over(*there), using(**claims))
    assert workload["verdict"]["text"] == text


def test_each_replica_gets_its_own_claim_of_a_template(start_over):
    service = start_over(*cluster(ONE))
    (workload,) = dry_run(service, deployment(5, using(t_a="one")))
    assert (workload["placed"], placed(workload), workload["moreReplicas"]) == (3, ["a", "a", "b"], 0)
    assert "kube-scheduler evicts no pod for the devices of claims" in workload["preemption"]["summary"]
    (workload,) = dry_run(service, deployment(1, using(t_a="one")))
    assert (workload["placed"], workload["moreReplicas"]) == (1, 2)


@pytest.mark.parametrize(
    "spec, taints, remedies",
    [
        ({}, [{"key": "team", "value": "ml", "effect": "NoSchedule"}], ["add a toleration for team"]),
        ({"nodeSelector": {"zone": "nowhere"}}, [], ["drop the nodeSelector zone=nowhere"]),
        ({"nodeSelector": {"zone": "nowhere"}}, [{"key": "team", "value": "ml", "effect": "NoSchedule"}], []),
    ],
)
def test_what_helps_is_tried_with_the_claims(start_over, spec, taints, remedies):
    """b has too few devices, so that nothing about b is offered."""
    service = start_over(
        *(item for item in cluster(template("two", asks(2))) if item["metadata"]["name"] != "a" or item["kind"] != "Node"),
        node("a", None, None, spec={"taints": taints}),
    )
    asking = using(t_a="two")
    asking["spec"].update(spec)
    (workload,) = dry_run(service, asking)
    assert [remedy["text"] for remedy in workload["remedies"]] == remedies
    assert dry_run(service, asking)[0]["remedies"] == workload["remedies"]


@pytest.mark.parametrize(
    "requests, replicas, remedies",
    [
        (asks(3), 1, [("ask for 2 devices in request gpus", 1, ["a"])]),
        (asks(5), 2, [("ask for 1 device in request gpus", 2, ["b", "a"])]),
        (asks(2), 3, [("ask for 1 device in request gpus", 3, ["b", "a"])]),
        (asks(1), 4, []),
    ],
)
def test_fewer_devices_are_offered(start_over, requests, replicas, remedies):
    """a has two devices left, b has one."""
    service = start_over(*cluster(template("several", requests)))
    (workload,) = dry_run(service, deployment(replicas, using(t_a="several")))
    assert [(remedy["text"], remedy["fits"], remedy["nodes"]) for remedy in workload["remedies"]] == remedies


def test_fewer_devices_of_several_requests(start_over):
    several = {"devices": {"requests": [{"name": name, "exactly": {"deviceClassName": DRIVER, "count": 2}} for name in ("first", "second")]}}
    service = start_over(*cluster(template("several", several)))
    (workload,) = dry_run(service, using(t_a="several"))
    assert [(remedy["text"], remedy["nodes"]) for remedy in workload["remedies"]] == [("ask for at most 1 device in each request", ["a"])]


def test_roles_of_a_job_take_devices_from_each_other_in_trials(start_over):
    """a and b have three devices left: one for each of three pods, none for a fourth."""
    service = start_over(*cluster(template("two", asks(2)), ONE))
    roles = {"Master": {"replicas": 1, "template": {"spec": using(t_a="two")["spec"]}}, "Worker": {"replicas": 2, "template": {"spec": using(t_a="two")["spec"]}}}
    job = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "j", "namespace": "ml"}, "spec": {"pytorchReplicaSpecs": roles}}
    answer = service.post("/v1/dry-run", job).json()
    assert [remedy["text"] for remedy in answer["jobs"][0]["remedies"]] == ["ask for 1 device in request gpus"]
    roles["Worker"]["replicas"] = 3
    assert service.post("/v1/dry-run", job).json()["jobs"][0]["remedies"] == []


def test_workloads_take_devices_from_each_other(start_over):
    service = start_over(*cluster(ONE))
    first, second = dry_run(service, deployment(2, using(t_a="one")), using(t_a="one", t_b="one"))
    assert first["placed"] == 2 and second["placed"] == 0
    assert set(reasons(second).values()) == {"claim_free", "claim_total"}


def test_pods_that_name_a_claim_share_it(start_over):
    service = start_over(*cluster(claim("shared", asks(2))))
    first, second = dry_run(service, deployment(3, using(a="shared")), using(a="shared"))
    assert placed(first) == ["a"] * 3 and placed(second) == ["a"]
    assert reasons(second) == {"a": "fits", "b": "claim_elsewhere", "c": "claim_elsewhere"}


@pytest.mark.parametrize(("more", "b"), [({}, "fits"), ({"bindsToNode": True, "bindingConditions": ["attached"]}, "claim_elsewhere")])
def test_shared_claim_reaches_where_its_devices_do(more, b, start_over):
    wide = merged(slice_of("wide", {**device("gpu-0"), **more}), {"spec": {"nodeName": None, "allNodes": True}})
    service = start_over(node("a", None, None), node("b", None, None), device_class(), wide, claim("shared"))
    first, second = dry_run(service, merged(using("first", a="shared"), {"spec": {"nodeName": "a"}}), using(a="shared"))
    assert placed(first) == ["a"] and reasons(second) == {"a": "fits", "b": b}


def test_allocated_claim_pins_its_node(start_over):
    service = start_over(*cluster())
    (workload,) = dry_run(service, using(a="used"))
    assert reasons(workload) == {"a": "fits", "b": "claim_elsewhere", "c": "claim_elsewhere"}
    (workload,) = dry_run(service, using(a="used", t_b="one"), ONE)
    assert reasons(workload)["a"] == "fits"


def test_claim_that_no_pod_uses_may_lose_its_devices(start_over):
    """kube-scheduler frees it for a pod that fits nowhere (its PostFilter), so elsewhere is not its last word."""
    service = start_over(*cluster(claim("unused", on=("a", "gpu-1"), holders=0)))
    said = {name: messages(dry_run(service, using(a=name))[0])["b"] for name in ("used", "unused")}
    assert "no pod uses the claim" in said["unused"] and "no pod uses the claim" not in said["used"]


def test_claim_that_is_in_use_by_too_many(start_over):
    service = start_over(*cluster(claim("full", on=("a", "gpu-1"), holders=256), claim("nearly", on=("a", "gpu-2"), holders=255)))
    (workload,) = dry_run(service, using(a="full"))
    assert set(reasons(workload).values()) == {"claim_holders"}
    (workload,) = dry_run(service, deployment(2, using(a="nearly")))
    assert workload["placed"] == 1


def test_what_is_missing_is_named(start_over):
    service = start_over(*cluster(ONE, claim("odd", asks(deviceClassName="gone"))))
    (workload,) = dry_run(service, using(a="nowhere"))
    assert set(reasons(workload).values()) == {"claim_missing"} and "ResourceClaim ml/nowhere" in workload["summary"]
    (workload,) = dry_run(service, using(t_a="nowhere"))
    assert "ResourceClaimTemplate ml/nowhere" in messages(workload)["a"]
    (workload,) = dry_run(service, using(a="odd"))
    assert set(reasons(workload).values()) == {"claim_class"} and "DeviceClass gone" in messages(workload)["b"]


def test_nearest_name_of_what_is_missing_is_told(start_over):
    """The answer suggests the nearest name of a claim of the pod's own namespace, or of a class."""
    elsewhere = merged(claim("trainong"), {"metadata": {"namespace": "secret", "uid": "far"}})
    service = start_over(*cluster(ONE, claim("training-set"), elsewhere, merged(template("other", asks()), {"metadata": {"namespace": "secret"}})))
    said = {name: messages(dry_run(service, using(**{key: name}))[0])["a"] for key, name in [("a", "training-sets"), ("t_a", "onne"), ("t_a", "othre"), ("a", "trainang")]}
    assert "did you mean training-set?" in said["training-sets"] and "did you mean one?" in said["onne"]
    assert "did you mean" not in said["othre"] + said["trainang"]
    (workload,) = dry_run(service, using(t_a="mine"), template("mine", asks(deviceClassName="gpu.nvidia.con")))
    assert f"did you mean {DRIVER}?" in messages(workload)["a"]
    (workload,) = dry_run(service, using(t_a="mine"), template("mime", asks()))
    assert "did you mean mime?" in messages(workload)["a"]


def test_manifest_brings_its_claims_and_classes(start_over):
    service = start_over(*cluster(ONE))
    big = device_class("big", f"device.attributes['{DRIVER}'].type == 'gpu'", f"device.attributes['{DRIVER}'][?'model'].orValue('') == 'big'")
    (workload,) = dry_run(service, using(a="mine"), claim("mine", asks(deviceClassName="big")), big)
    assert reasons(workload) == {"a": "fits", "b": "claim_total", "c": "claim_total"}
    (workload,) = dry_run(service, using(t_a="one"), template("one", asks(4)))
    assert set(reasons(workload).values()) == {"claim_total"}
    (workload,) = dry_run(service, using(a="used"), claim("used", asks(9)))
    assert reasons(workload)["a"] == "fits", "the cluster's claim counts"


FAILS = f"device.attributes['{DRIVER}'].model == 'big'"


def test_error_on_one_node_rejects_the_pod_on_all(start_over):
    service = start_over(*cluster(template("fails", asks(selector=FAILS))))
    (workload,) = dry_run(service, using(t_a="fails"))
    assert set(reasons(workload).values()) == {"claim_error"}
    assert "no such key: model" in messages(workload)["a"] and "node b" in messages(workload)["a"]
    assert workload["placed"] == 0 and "no such key: model" in workload["summary"]


def test_error_on_a_node_that_is_ruled_out_before_rejects_nothing(start_over):
    service = start_over(*cluster(template("fails", asks(selector=FAILS))))
    asking = merged(using(t_a="fails"), {"spec": {"nodeName": "a"}})
    (workload,) = dry_run(service, asking)
    assert reasons(workload) == {"a": "fits", "b": "node_name", "c": "node_name"}


def test_error_that_replicas_run_into_stops_them(start_over):
    """The selector sees gpu-1 only once gpu-0 is taken."""
    service = start_over(node("a", None, None), device_class(), slice_of("a", device("gpu-0", model="big"), device("gpu-1")), claim("other"))
    (workload,) = dry_run(service, deployment(3, using(t_a="fails")), template("fails", asks(selector=FAILS)))
    assert workload["placed"] == 1 and workload["moreReplicas"] == 0
    assert "no such key: model" in workload["summary"]


def test_invalid_pool_gives_nothing(start_over):
    service = start_over(node("a", None, None), device_class(), slice_of("a", device("gpu-0"), resourceSliceCount=2), claim("other"), ONE)
    (workload,) = dry_run(service, using(t_a="one"))
    assert reasons(workload) == {"a": "claim_total"}


@pytest.mark.parametrize("kind, claims", [("ResourceClaim", {"a": "used"}), ("ResourceClaimTemplate", {"t_a": "one"}), ("DeviceClass", {"t_a": "one"})])
def test_kind_that_the_file_lacks_is_not_judged(kind, claims, start_over):
    user = merged(using("train-0", a="used"), {"spec": {"nodeName": "a"}})
    service = start_over(user, *(item for item in cluster(ONE) if item["kind"] != kind))
    (workload,) = dry_run(service, using(**claims))
    assert set(reasons(workload).values()) == {"claim_not_judged"}


# A driver that the policy does not name.
NIC = "nic.example.com"
NIC_CLASS = of_kind("DeviceClass", NIC, {"selectors": [{"cel": {"expression": f"device.driver == '{NIC}'"}}]})
ANY_CLASS = of_kind("DeviceClass", "any", {"selectors": [{"cel": {"expression": "device.allowMultipleAllocations == false"}}]})


def nics(where, *names, **pool):
    slice_ = slice_of(where, *({"name": name, "attributes": {"numa": {"int": n}}} for n, name in enumerate(names)), **pool)
    return merged(slice_, {"metadata": {"name": f"nics-{where}", "uid": f"nics-{where}"}, "spec": {"driver": NIC}})


def asks_both(n_gpus=1, n_nics=1):
    requests = [{"name": name, "exactly": {"deviceClassName": driver, "count": n}} for name, driver, n in [("gpu", DRIVER, n_gpus), ("nic", NIC, n_nics)]]
    return {"devices": {"requests": requests}}


def with_nics(*more):
    """a has two NICs, one of which is in use; b has one in use, c a free one."""
    used = [merged(claim(f"nic-{where}", on=(where, "nic-0"), holders=1), {"status": {"allocation": {"devices": {"results": [{"request": "nic", "driver": NIC, "pool": where, "device": "nic-0"}]}}}}) for where in "ab"]
    return cluster(NIC_CLASS, nics("a", "nic-0", "nic-1"), nics("b", "nic-0"), nics("c", "nic-0"), *used, *more)


def test_devices_of_drivers_that_the_policy_does_not_name_are_judged(start_over):
    service = start_over(*with_nics(ONE))
    (workload,) = dry_run(service, deployment(4, using(t_a="nic")), template("nic", asks(deviceClassName=NIC)))
    assert reasons(workload) == {"a": "fits", "b": "claim_free", "c": "fits"}
    assert (workload["placed"], placed(workload), workload["moreReplicas"]) == (2, ["a", "c"], 0)
    (workload,) = dry_run(service, using(t_a="odd"), template("odd", asks(deviceClassName=NIC, selector=f"device.attributes['{NIC}'].numa == 1")))
    assert reasons(workload) == {"a": "fits", "b": "claim_total", "c": "claim_total"}


def test_claims_on_devices_of_several_drivers(start_over):
    service = start_over(*with_nics(ONE))
    (workload,) = dry_run(service, deployment(4, using(t_a="both")), template("both", asks_both()))
    assert reasons(workload) == {"a": "fits", "b": "claim_free", "c": "claim_total"}
    assert (workload["placed"], placed(workload)) == (1, ["a"])
    (workload,) = dry_run(service, using(t_a="one", t_b="nic"), template("nic", asks(deviceClassName=NIC)))
    assert reasons(workload) == {"a": "fits", "b": "claim_free", "c": "claim_total"}


def test_class_that_names_no_driver_takes_devices_of_any(start_over):
    (workload,) = dry_run(start_over(*with_nics(ANY_CLASS)), deployment(9, using(t_a="any")), template("any", asks(deviceClassName="any")))
    assert (workload["placed"], placed(workload)) == (5, ["a", "a", "a", "b", "c"])


def test_other_drivers_change_no_numbers(start_over):
    without, with_ = (start_over(*objects).get("/v1/inventory").json() for objects in (cluster(), cluster(nics("a", "x", "y"), nics("c", "x", resourceSliceCount=2))))
    for part in ("nodes", "models", "problems"):
        assert with_.get(part) == without.get(part)


def test_incomplete_pool_of_any_driver_fails_all(start_over):
    service = start_over(*cluster(ONE, template("all", asks(allocationMode="All", count=None)), nics("b", "nic-0", resourceSliceCount=2)))
    every, one = dry_run(service, using(t_a="all"), using(t_a="one"))
    assert set(reasons(every).values()) == {"claim_error"}
    assert reasons(one)["b"] == "fits"


def test_slice_of_another_driver_that_cannot_be_read_is_not_judged(start_over):
    """A claim is not judged only if the unread slices may matter for it."""
    service = start_over(*cluster(ONE, NIC_CLASS, nics("a", *(f"nic-{n}" for n in range(129)))))
    nic, one = dry_run(service, using(t_a="nic"), using(t_a="one"), template("nic", asks(deviceClassName=NIC)))
    assert set(reasons(nic).values()) == {"claim_not_judged"} and NIC in messages(nic)["c"]
    assert reasons(one) == {"a": "fits", "b": "fits", "c": "claim_total"}


@pytest.mark.parametrize("n_slices", [31, 33])
def test_claim_on_other_drivers_changes_no_answer_about_other_claims(n_slices, start_over):
    """Whatever these publish; 33 such slices are more than are looked through."""
    wide = [nics(f"wide-{n}") for n in range(n_slices)]
    for slice_ in wide:
        del slice_["spec"]["nodeName"]
        slice_["spec"].update(perDeviceNodeSelection=True, devices=[{"name": f"d-{n}", "allNodes": True} for n in range(128)])
    waits = merged(using("waits", a="wanted"), {"status": {"phase": "Pending"}})
    greedy = merged(using("greedy", a="anything"), {"metadata": {"uid": "greedy"}, "status": {"phase": "Pending"}})
    objects = [*cluster(ANY_CLASS, ONE, claim("wanted")), *wide]
    anything = template("any", asks(deviceClassName="any"))
    service = start_over(*objects, waits)
    (alone,) = service.get("/v1/pending").json()["pods"]
    (one,) = dry_run(service, using(t_a="one"))
    assert reasons(one) == {"a": "fits", "b": "fits", "c": "claim_total"} and numbers(claims_of(one)["ResourceClaimTemplate ml/one"][0]) == [4, 4, 3, 0]
    service = start_over(*objects, waits, greedy, claim("anything", asks(deviceClassName="any")))
    pending = {each["name"]: each for each in service.get("/v1/pending").json()["pods"]}
    assert {key: pending["waits"][key] for key in ("reasons", "claims")} == {key: alone[key] for key in ("reasons", "claims")}
    beside, any_ = dry_run(service, using(t_a="one"), using("new", t_a="any"), anything)
    assert beside == one
    ((wants_any,),) = claims_of(any_).values()
    if n_slices == 33:
        assert set(reasons(any_).values()) == {"claim_not_judged"} and numbers(wants_any) == [None] * 4
        assert "too many devices" in wants_any["message"]
    else:
        assert set(reasons(any_).values()) == {"fits"} and wants_any["devices"] == 4 + 128 * 31


def test_snapshot_keeps_devices_of_other_drivers(start_over, start_service, write):
    service = start_over(*with_nics(ONE))
    asking = [deployment(3, using(t_a="both")), template("both", asks_both()), using(t_a="one", a="nic-a")]
    before = dry_run(service, *asking)
    snapshot = write("snapshot.json", service.get("/v1/snapshot").text)
    assert dry_run(start_service("--cluster-file", snapshot), *asking) == before


def test_pod_with_many_claims_is_not_judged(start_over):
    service = start_over(*cluster(ONE))
    (workload,) = dry_run(service, using(**{f"t_{n}": "one" for n in range(40)}))
    assert set(reasons(workload).values()) == {"claim_not_judged"}


def test_old_form_of_a_pod_is_judged_as_the_new_one(start_over):
    service = start_over(*cluster(ONE))
    old = pod("old", None, spec={"resourceClaims": [{"name": "a", "source": {"resourceClaimTemplateName": "one"}}]})
    (workload,) = dry_run(service, old)
    assert reasons(workload) == {"a": "fits", "b": "fits", "c": "claim_total"}
    assert any("removed source" in note for note in workload["notEvaluated"])


def test_daemon_set_gets_devices_where_there_are_some(start_over):
    service = start_over(*cluster(ONE))
    daemons = merged(deployment(0, using(t_a="one")), {"kind": "DaemonSet", "spec": {"replicas": None}})
    (workload,) = dry_run(service, daemons)
    assert (workload["placed"], workload["replicas"], placed(workload)) == (2, 3, ["a", "b"])


def test_explain_and_pending_judge_claims(start_over):
    waits = merged(using("waits", a="wanted"), {"status": {"phase": "Pending"}})
    service = start_over(*cluster(claim("wanted", asks(3)), waits))
    answer = service.get("/v1/pods/ml/waits/explain")
    assert JUDGE.faults_of_answer("GET", "/v1/pods/{namespace}/{name}/explain", answer) == []
    assert {item["node"]: item["reason"] for item in answer.json()["nodes"]} == {"a": "claim_free", "b": "claim_total", "c": "claim_total"}
    assert not any("resource claim" in note for note in answer.json()["pod"]["notEvaluated"])


POLICY = """
apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
quotas:
- name: teams
  namespaces: [ml, small]
  limits: [{total: 400}]
"""


def test_namespaces_share_the_budget_of_pending(start_over, write):
    """256 pods with claims that a quota covers are judged: not those of the namespace with most of them and a priority of its own only."""
    of_small = [merged(item, {"metadata": {"namespace": "small"}}) for item in (claim("wanted"), using("late", a="wanted"))]
    many = [using(f"many-{n}", a="wanted") for n in range(300)]
    first = [merged(item, {"spec": {"priority": 9}}) for item in many]
    service = start_over(*cluster(claim("wanted"), *of_small, *first), options=["--config", write("policy.yaml", POLICY)])
    answer = service.get("/v1/pending").json()
    judged = [item["namespace"] for item in answer["pods"] if item["judged"]]
    assert (judged.count("ml"), judged.count("small"), answer["notJudged"]) == (255, 1, 45)
    assert not any("0 of" in item["summary"] for item in answer["pods"] if not item["judged"])


def explained(service, name="waits"):
    answer = service.get(f"/v1/pods/ml/{name}/explain").json()
    return {item["node"]: item["reason"] for item in answer["nodes"]}, answer["nodes"][0]["message"]


@pytest.mark.parametrize(("owner", "by", "reason"), [("waits", "t_a", "fits"), ("before", "t_a", "claim_missing"), (None, "t_a", "claim_missing"), ("before", "a", "fits")])
def test_claim_that_was_made_for_another_pod_keeps_the_pod_off(owner, by, reason, start_over, start_service, write):
    """Only a claim that is made from the pod's template must be its own."""
    owners = [{"apiVersion": "v1", "kind": "Pod", "name": "waits", "uid": f"uid-{owner}", "controller": True}] if owner else []
    made = merged(claim("made"), {"metadata": {"ownerReferences": owners}})
    status = {"phase": "Pending", "resourceClaimStatuses": [{"name": "t_a", "resourceClaimName": "made"}]}
    waits = merged(using("waits", **{by: "one" if by == "t_a" else "made"}), {"metadata": {"uid": "uid-waits"}, "status": status})
    service = start_over(*cluster(made, waits, ONE))
    reasons_, message = explained(service)
    assert reasons_["a"] == reason and ("ml/made was not created for" in message) == (reason == "claim_missing")
    snapshot = write("snapshot.json", service.get("/v1/snapshot").text)
    assert explained(start_service("--cluster-file", snapshot)) == (reasons_, message)


def test_snapshot_keeps_what_claims_ask_for(start_over, start_service, write):
    objects = [claim("wanted", asks(3)), template("three", asks(3, selector=f"device.attributes['{DRIVER}'].type == 'gpu'"))]
    service = start_over(*cluster(*objects))
    asking = [using("first", a="wanted"), using("second", t_a="three"), using("third", a="used")]
    before = dry_run(service, *asking)
    snapshot = write("snapshot.json", service.get("/v1/snapshot").text)
    assert dry_run(start_service("--cluster-file", snapshot), *asking) == before


def test_claim_that_is_being_deleted_keeps_the_pod_off(start_over):
    deleted = merged(claim("going", on=("a", "gpu-1")), {"metadata": {"deletionTimestamp": "2026-11-28T00:00:00Z"}})
    (workload,) = dry_run(start_over(*cluster(deleted)), using(a="going"))
    assert set(reasons(workload).values()) == {"claim_missing"}
    assert "being deleted" in messages(workload)["a"]


def test_a_count_of_0_is_1(start_over):
    service = start_over(*cluster(template("none", asks(0))))
    (workload,) = dry_run(service, deployment(9, using(t_a="none")))
    assert workload["placed"] == 3 and reasons(workload)["c"] == "claim_total"


# Of what the API server would reject.
UNKNOWN = {"claim_missing", "claim_not_judged"}
# A list without its dash, and the like.
MISSHAPEN = {
    "selectors": {"exactly": {"deviceClassName": DRIVER, "selectors": {"cel": {"expression": "false"}}}},
    "tolerations": {"exactly": {"deviceClassName": DRIVER, "tolerations": "all"}},
    "capacity": {"exactly": {"deviceClassName": DRIVER, "capacity": 5}},
    "firstAvailable": {"firstAvailable": {"name": "x", "deviceClassName": DRIVER}},
    "both": {"exactly": {"deviceClassName": DRIVER}, "firstAvailable": [{"name": "x", "deviceClassName": DRIVER}]},
}


@pytest.mark.parametrize("request_", MISSHAPEN.values(), ids=MISSHAPEN)
def test_misshapen_request_is_not_judged(request_, start_over):
    (workload,) = dry_run(start_over(*cluster()), using(t_a="odd"), template("odd", {"devices": {"requests": [{"name": "gpus", **request_}]}}))
    assert workload["placed"] == 0 and reasons(workload)["a"] in UNKNOWN


@pytest.mark.parametrize("devices", [{"requests": {"name": "gpus"}}, {"requests": [], "constraints": {"matchAttribute": "x/y"}}])
def test_misshapen_claim_is_not_judged(devices, start_over):
    (workload,) = dry_run(start_over(*cluster()), using(t_a="odd"), template("odd", {"devices": devices}))
    assert set(reasons(workload).values()) < UNKNOWN


@pytest.mark.parametrize("selectors", ["x", [{}], [5], [{"cel": {}}]])
def test_misshapen_class_of_a_manifest_is_not_judged(selectors, start_over):
    odd = of_kind("DeviceClass", "odd", {"selectors": selectors})
    (workload,) = dry_run(start_over(*cluster()), using(t_a="any"), template("any", asks(deviceClassName="odd")), odd)
    assert set(reasons(workload).values()) == {"claim_not_judged"}


@pytest.mark.parametrize(("labels", "reason"), [({}, "claim_missing"), ({"resource.kubernetes.io/admin-access": "enabled"}, "claim_missing"), ({"resource.kubernetes.io/admin-access": "true"}, "fits")])
def test_admin_access_needs_the_label_of_its_namespace(labels, reason, start_over):
    ml = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml", "labels": labels}}
    (workload,) = dry_run(start_over(*cluster(ml, template("all", asks(3, adminAccess=True)))), using(t_a="all"))
    assert reasons(workload)["a"] == reason


def test_pending_lists_pods_that_wait_by_claims_alone(start_over):
    waits = merged(using("waits", a="wanted"), {"status": {"phase": "Pending"}})
    service = start_over(*cluster(claim("wanted", asks(3)), waits))
    (waiting,) = service.get("/v1/pending").json()["pods"]
    assert waiting["name"] == "waits"
    assert {row["reason"] for row in waiting["reasons"]} == {"claim_free", "claim_total"}


def test_snapshot_does_not_make_up_what_was_too_long(start_over, start_service, write):
    """Neither a claim's selectors nor the nodes of an allocation."""
    long_ = template("long", asks(selector="false && '" + "x" * 20000 + "' == ''"))
    term = {"matchExpressions": [{"key": "k" * 20000, "operator": "Exists"}]}
    far = merged(claim("far", on=("a", "gpu-1")), {"status": {"allocation": {"nodeSelector": {"nodeSelectorTerms": [term]}}}})
    service = start_over(*cluster(long_, far))
    asking = [using("first", t_a="long"), using("second", a="far")]
    before = dry_run(service, *asking)
    assert {reason for workload in before for reason in reasons(workload).values()} == {"claim_not_judged"}
    snapshot = write("snapshot.json", service.get("/v1/snapshot").text)
    assert dry_run(start_service("--cluster-file", snapshot), *asking) == before


def claims_of(workload):
    """The requests of each claim, and the message of each."""
    return {answer["claim"]: answer["requests"] for answer in workload["claims"]}


def numbers(entry):
    return [entry[key] for key in ("devices", "matching", "free", "tainted")]


def test_answer_counts_devices_of_each_request(start_over):
    """gpu-0 of a is in use."""
    service = start_over(*cluster(ONE))
    big = f"device.attributes['{DRIVER}'].type == 'gpu' && device.attributes['{DRIVER}'][?'model'].orValue('') == 'big'"
    (workload,) = dry_run(service, using(t_a="one", t_b="big"), template("big", asks(2, selector=big)))
    answers = claims_of(workload)
    assert list(answers) == ["ResourceClaimTemplate ml/one", "ResourceClaimTemplate ml/big"]
    ((one,), (two,)) = answers.values()
    assert (one["request"], one["alternative"], one["deviceClass"], one["count"]) == ("gpus", None, DRIVER, 1)
    assert numbers(one) == [4, 4, 3, 0] and numbers(two) == [4, 3, 2, 0]
    assert [(item["selector"], item["devices"]) for item in two["removed"]] == [("selector 0", 1)]
    assert two["removed"][0]["term"] == big.split(" && ")[1]
    assert "evicts no pod" in two["message"]


def test_answer_names_the_selector_that_rules_out_devices_and_the_nearest_value(start_over):
    service = start_over(*cluster(device_class("typed", f"device.attributes['{DRIVER}'].type == 'gpus'")))
    named = f"device.attributes['{DRIVER}'][?'model'].orValue('none') == 'x'"
    asking = [template("typed", asks(deviceClassName="typed")), template("named", asks(selector=named))]
    (workload,) = dry_run(service, using(t_a="typed", t_b="named"), *asking)
    ((typed,), (named_,)) = claims_of(workload).values()
    assert typed["removed"] == [{"selector": "DeviceClass typed, selector 0", "term": f"device.attributes['{DRIVER}'].type == 'gpus'", "devices": 4, "nearest": "gpu"}]
    assert sum(item["devices"] for item in named_["removed"]) == 4
    assert typed["matching"] == named_["matching"] == 0 and typed["nodes"] == 0


@pytest.mark.parametrize("shift", ["", "x"])
def test_long_term_is_cut_between_characters(shift, start_over):
    term = f"device.attributes['{DRIVER}'].type == '{shift}" + "\u00e9" * 200 + "'"
    service = start_over(*cluster())
    (workload,) = dry_run(service, using(t_a="named"), template("named", asks(selector=term)))
    ((named,),) = claims_of(workload).values()
    assert [item["term"] for item in named["removed"]] == [term.encode()[:200].decode(errors="ignore") + "..."]


def test_nearest_amount_of_a_capacity(start_over):
    sizes = [{**device(f"gpu-{n}"), "capacity": {"memory": {"value": size}}} for n, size in enumerate(["40Gi", "81559Mi", "16Gi"])]
    service = start_over(node("a", None, None), device_class(), slice_of("a", *sizes), claim("other"))
    selector = f"device.capacity['{DRIVER}'].memory.compareTo(quantity('80Gi')) >= 0"
    (workload,) = dry_run(service, using(t_a="large"), template("large", asks(selector=selector)))
    ((large,),) = claims_of(workload).values()
    assert [(item["devices"], item["nearest"]) for item in large["removed"]] == [(3, "81559Mi")]


def any_of(*alternatives):
    listed = [{"name": name, "deviceClassName": DRIVER, **asked} for name, asked in alternatives]
    return {"devices": {"requests": [{"name": "gpus", "firstAvailable": listed}]}}


def test_answer_says_which_alternative_and_why_not_an_earlier_one(start_over):
    service = start_over(*cluster())
    wishes = any_of(("four", {"count": 4}), ("three", {"count": 3}), ("two", {"count": 2}), ("one", {}))
    (workload,) = dry_run(service, using(t_a="any"), template("any", wishes))
    entries = {entry["alternative"]: entry for (requests) in claims_of(workload).values() for entry in requests}
    assert reasons(workload) == {"a": "fits", "b": "fits", "c": "claim_total"}
    assert {name: entry["nodes"] for name, entry in entries.items()} == {"four": 0, "three": 0, "two": 1, "one": 1}
    best = workload["placements"][0]["node"]
    taken = {"a": "two", "b": "one"}[best]
    assert [name for name, entry in entries.items() if entry["choice"].startswith("taken")] == [taken]
    assert "too few devices" in entries["four"]["choice"]
    on_a = dry_run(service, merged(using(t_a="any"), {"spec": {"nodeName": "a"}}), template("any", wishes))
    entries = {entry["alternative"]: entry for entry in claims_of(on_a[0])["ResourceClaimTemplate ml/any"]}
    assert "are free now" in entries["three"]["choice"] and entries["one"]["choice"].startswith("not needed on a")


def test_answer_says_that_the_binding_waits_for_the_driver(start_over):
    """Pools with binding conditions come last."""
    late = {**device("gpu-0"), "bindingConditions": ["attached", "ready"], "bindingFailureConditions": ["broken"]}
    slices = [slice_of("a", late, device("gpu-1")), merged(slice_of("z", device("gpu-0")), {"spec": {"nodeName": "a"}}), slice_of("b", device("gpu-0"), device("gpu-1"))]
    service = start_over(*[node(name, None, None) for name in "ab"], device_class(), *slices, claim("shared", asks(2)), ONE)
    first, second, third = dry_run(service, using("first", t_a="one"), merged(using("second", a="shared"), {"spec": {"nodeName": "a"}}), using("third", a="shared"))
    assert [each["claims"][0]["bindingWaits"] for each in (first, second, third)] == [0, 1, 1]
    assert "attached, ready of device gpu-0" in second["claims"][0]["message"] and "attached" not in first["claims"][0]["message"]
    assert reasons(third) == {"a": "fits", "b": "claim_elsewhere"}


@pytest.mark.parametrize(("conditions", "reason"), [({"ready": "True"}, "fits"), ({"ready": "False"}, "claim_not_judged"), ({}, "claim_not_judged"),
                                                    ({"ready": "True", "broken": "True"}, "claim_not_judged")])
def test_claim_whose_driver_has_not_set_its_conditions_is_not_judged(conditions, reason, start_over, start_service, write):
    """kube-scheduler may take its devices back. A snapshot keeps it."""
    used = claim("attaches", on=("a", "gpu-1"), holders=1)
    (result,) = used["status"]["allocation"]["devices"]["results"]
    result.update(bindingConditions=["ready"], bindingFailureConditions=["broken"])
    said = {key: result[key] for key in ("driver", "pool", "device")} | {"conditions": [{"type": key, "status": value} for key, value in conditions.items()]}
    used["status"]["devices"] = [said] if conditions else []
    first = start_over(*cluster(used))
    again = start_service("--cluster-file", write("again.json", first.get("/v1/snapshot").text))
    for service in (first, again):
        (workload,) = dry_run(service, using(a="attaches"))
        assert reasons(workload)["a"] == reason


def test_device_with_a_list_is_not_judged(start_over):
    """Whether kube-scheduler's selectors fail on it depends on a feature gate."""
    listed = merged(device("gpu-0"), {"attributes": {"links": {"strings": ["x"]}}})
    service = start_over(*cluster(ONE, merged(slice_of("c", listed), {})))
    (workload,) = dry_run(service, using(t_a="one"))
    assert reasons(workload) == {"a": "fits", "b": "fits", "c": "claim_not_judged"}
    assert "DRAListTypeAttributes" in messages(workload)["c"]


def test_answer_about_taints_and_devices_that_replicas_took(start_over):
    tainted = {**device("gpu-0"), "taints": [{"key": "k", "effect": "NoSchedule"}]}
    service = start_over(node("a", None, None), device_class(), slice_of("a", tainted, device("gpu-1")), claim("other"), ONE)
    first, second = dry_run(service, using("first", t_a="one"), using("second", t_a="one"))
    assert [numbers(claims_of(workload)["ResourceClaimTemplate ml/one"][0]) for workload in (first, second)] == [[2, 2, 1, 1], [2, 2, 0, 1]]
    assert reasons(second) == {"a": "claim_tainted"}
    tolerant = template("tolerant", asks(tolerations=[{"operator": "Exists"}]))
    (workload,) = dry_run(service, using(t_a="tolerant"), tolerant)
    assert numbers(claims_of(workload)["ResourceClaimTemplate ml/tolerant"][0]) == [2, 2, 2, 0]


def test_answer_about_claims_without_numbers(start_over):
    failing = template("fails", asks(selector=FAILS))
    service = start_over(*cluster(failing))
    (workload,) = dry_run(service, using(a="used", b="nowhere", t_c="fails"))
    used, nowhere, fails = workload["claims"]
    assert "is allocated" in used["message"] and used["requests"] == nowhere["requests"] == []
    assert "does not exist" in nowhere["message"]
    assert numbers(fails["requests"][0]) == [4, None, None, None] and "no such key: model" in fails["requests"][0]["message"]


def test_tables_show_the_numbers(start_over):
    waits = merged(using("waits", a="wanted"), {"status": {"phase": "Pending"}})
    service = start_over(*cluster(claim("wanted", asks(3)), waits))
    expected = "request gpus: 4 of 4 devices match, 3 of them are free"
    assert expected in service.get("/v1/pods/ml/waits/explain?output=table").text
    assert expected in service.get("/v1/pending?output=table&wide=true").text
    assert expected in service.post("/v1/dry-run?output=table", using(a="wanted")).text
    (pod_,) = service.get("/v1/pending").json()["pods"]
    assert pod_["claims"] == service.get("/v1/pods/ml/waits/explain").json()["pod"]["claims"] != []


@pytest.mark.parametrize(("uid", "reason"), [("p7", "fits"), ("p300", "claim_not_judged")])
def test_pod_that_holds_its_place_among_256_keeps_it(uid, reason, start_over):
    """The ledger knows only the first holders."""
    waits = merged(using("waits", a="full"), {"metadata": {"uid": uid}, "status": {"phase": "Pending"}})
    service = start_over(*cluster(claim("full", on=("a", "gpu-1"), holders=256), waits))
    answer = service.get("/v1/pods/ml/waits/explain").json()
    assert {item["node"]: item["reason"] for item in answer["nodes"]}["a"] == reason


def test_pods_of_one_template_share_their_verdicts(start_over):
    """Pods share verdicts even after one of them took devices or was given up."""
    service = start_over(*cluster(ONE, template("fails", asks(selector=FAILS))))
    first, second, third = dry_run(service, using("first", t_a="one"), deployment(2, using(t_a="one")), using("third", t_a="one"))
    assert (first["placed"], second["placed"], third["placed"]) == (1, 2, 0)
    pinned = merged(using("pinned", t_a="fails"), {"spec": {"nodeName": "a"}})
    given_up, fits = dry_run(service, using(t_a="fails"), pinned)
    assert (given_up["placed"], fits["placed"]) == (0, 1)


@pytest.mark.long
def test_work_of_an_answer_is_bounded(start_over):
    """Eight of 24 devices, and one that no device is: each node takes a million steps."""
    slices = [slice_of(f"n{n:03}", *(device(f"gpu-{m}") for m in range(24))) for n in range(200)]
    never = {"name": "never", "exactly": {"deviceClassName": DRIVER, "selectors": [{"cel": {"expression": "1 == 2"}}]}}
    wide = {"devices": {"requests": [*asks(8)["devices"]["requests"], never]}}
    service = start_over(device_class(), claim("other"), *(node(item["metadata"]["name"], None, None) for item in slices), *slices)
    (workload,) = dry_run(service, using(t_a="wide"), template("wide", wide))
    texts = set(messages(workload).values())
    assert set(reasons(workload).values()) == {"claim_not_judged"} and len(texts) == 2
    assert all("too many combinations" in text for text in texts)


def test_what_a_pod_with_claims_asks_for(start_over):
    service = start_over(*cluster(ONE))
    (workload,) = dry_run(service, using(t_a="one"))
    assert workload["understood"].startswith("asks for the devices of its resource claims")


def test_two_entries_of_one_name_are_rejected(start_over):
    entries = [{"name": "a", "resourceClaimTemplateName": "one"}, {"name": "a", "resourceClaimName": "used"}]
    (workload,) = dry_run(start_over(*cluster(ONE)), pod("train", None, spec={"resourceClaims": entries}))
    assert set(reasons(workload).values()) == {"pod_invalid"} and "spec.resourceClaims[1].name" in workload["summary"]


EXAMPLES = {  # replicas of each file, without and with the taint rule of maintenance.yaml
    "by-claims": (4, 1),
    "by-device-plugin": (4, 4),
    "first-available": (3, 2),
    "maintenance": (None, None),
}


def example(name):
    with open(os.path.join(ROOT, "examples/claims", f"{name}.yaml"), encoding="utf-8") as file:
        return file.read()


def test_every_example_of_claims_has_an_answer():
    assert sorted(os.path.basename(path)[:-5] for path in glob.glob(os.path.join(ROOT, "examples/claims/*"))) == sorted(EXAMPLES)
    assert all(example(name).startswith("# ") for name in EXAMPLES)


def test_examples_of_claims(start_service):
    service = start_service("--cluster-file", os.path.join(ROOT, "examples/dra-cluster.yaml"))
    for name, placed_ in EXAMPLES.items():
        texts = [example(name), "---\n".join([example(name), example("maintenance")])]
        answers = [service.post("/v1/dry-run", text.encode()).json() for text in texts]
        assert [answer["warnings"] for answer in answers] == [[], []] or name == "maintenance"
        assert tuple(answer["workloads"][0]["placed"] if answer["workloads"] else None for answer in answers) == placed_, name
        assert all("as if it were applied" in skipped["why"] for answer in answers for skipped in answer["skipped"]), name


def test_answers_about_requests_are_bounded(start_over):
    """Pods that name a template with many alternatives many times, in a manifest and in the cluster."""
    wants = [{"name": f"a{n}", "deviceClassName": DRIVER} for n in range(8)]
    spec = {"devices": {"requests": [{"name": f"r{n}", "firstAvailable": wants} for n in range(20)]}}
    claims = {f"t_c{n}": "many" for n in range(31)}
    pods = []
    for n in range(8):
        made = using(f"waits-{n}", **claims)
        made["metadata"]["uid"] = f"waits-{n}"
        made["spec"]["containers"][0]["resources"] = {"requests": {"cpu": f"{n + 1}m"}}
        pods.append(made)
    service = start_over(*cluster(template("many", spec)), *pods)
    listed = service.get("/v1/pending").json()["pods"]
    workloads = dry_run(service, *(merged(each, {"metadata": {"name": f"new-{n}"}}) for n, each in enumerate(pods)))
    for answers in ([each["claims"] for each in listed], [each["claims"] for each in workloads]):
        shown = [each for claims in answers for each in claims]
        assert 0 < sum(len(each["requests"]) for each in shown) <= 1000
        assert any("left out" in each["message"] for each in shown)


def test_what_helps_a_pod_with_claims_in_turn(start_over):
    """Two devices of a are free, which the first pod takes; one of b stays."""
    service = start_over(*cluster(template("two", asks(2)), using("first", t_a="two"), using("second", t_a="two")))
    found = {pod["name"]: pod for pod in service.get("/v1/pending").json()["pods"]}
    assert [found[name]["verdict"]["result"] for name in ("first", "second")] == ["fits", "waits"], found
    assert "its claim two finds too few gpu.nvidia.com devices" in found["second"]["verdict"]["text"]
    assert [remedy["text"] for remedy in found["second"]["remedies"]] == ["ask for 1 device in request gpus"]
