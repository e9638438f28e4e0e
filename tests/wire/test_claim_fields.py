"""Fields of claims, templates, classes, slices and rules, by the version that they are written in, as kubectl's strict validation has it."""

import pytest
from objects import node
from test_claims_judged import DRIVER, device_class, slice_of

CEL = {"cel": {"expression": "true"}}
FLAT = {"name": "gpu", "deviceClassName": DRIVER}
NESTED = {"name": "gpu", "exactly": {"deviceClassName": DRIVER}}
FIRST_V1BETA1 = {"name": "gpu", "firstAvailable": [{"name": "a", "deviceClassName": DRIVER}]}
TAINT = {"taint": {"key": "a.b/c", "effect": "NoSchedule"}}


def of(version, kind, spec):
    return {"apiVersion": f"resource.k8s.io/{version}", "kind": kind, "metadata": {"name": "x", "namespace": "ml"}, "spec": spec}


def claim(version, *requests, **more):
    return of(version, "ResourceClaim", {"devices": {"requests": list(requests), **more}})


def template(version, *requests):
    return of(version, "ResourceClaimTemplate", {"spec": {"devices": {"requests": list(requests)}}})


def devices(version, **members):
    pool = {"name": "a", "generation": 1, "resourceSliceCount": 1}
    return of(version, "ResourceSlice", {"driver": DRIVER, "nodeName": "a", "pool": pool, "devices": [{"name": "a", **members}]})


def asking(**exactly):
    return {"name": "gpu", "exactly": {"deviceClassName": DRIVER, **exactly}}


# An object, and the paths of the fields that its version does not have.
WRONG = {
    "the form of v1beta1 under v1": (template("v1", FLAT), ["spec.spec.devices.requests[0].deviceClassName"]),
    "the same in a claim": (claim("v1", FLAT), ["spec.devices.requests[0].deviceClassName"]),
    "the same under v1beta2": (claim("v1beta2", FLAT), ["spec.devices.requests[0].deviceClassName"]),
    "the form of v1 under v1beta1": (claim("v1beta1", NESTED), ["spec.devices.requests[0].exactly"]),
    "a mixture": (claim("v1", {**NESTED, "count": 2}), ["spec.devices.requests[0].count"]),
    "one of two requests": (claim("v1", NESTED, {**FLAT, "name": "b"}), ["spec.devices.requests[1].deviceClassName"]),
    "cel at the wrong depth": (claim("v1", asking(selectors=[{"expression": "true"}])), ["spec.devices.requests[0].exactly.selectors[0].expression"]),
    "request": (of("v1", "ResourceClaim", {"devices": {"request": [NESTED]}}), ["spec.devices.request"]),
    "a template without its inner spec": (of("v1", "ResourceClaimTemplate", {"devices": {"requests": [NESTED]}}), ["spec.devices"]),
    "selectors beside exactly": (claim("v1", {**NESTED, "selectors": [CEL]}), ["spec.devices.requests[0].selectors"]),
    "a constraint's misspelt field": (claim("v1", NESTED, constraints=[{"requests": ["gpu"], "matchAttributes": "a/b"}]), ["spec.devices.constraints[0].matchAttributes"]),
    "a class's selector": (of("v1", "DeviceClass", {"selector": [CEL]}), ["spec.selector"]),
    "a slice's driverName": (of("v1", "ResourceSlice", {"driverName": DRIVER, "pool": {"name": "p"}}), ["spec.driverName"]),
    "a device of v1 under v1beta1": (of("v1beta1", "ResourceSlice", {"driver": DRIVER, "devices": [{"name": "a", "attributes": {}}]}), ["spec.devices[0].attributes"]),
    "a device of v1beta1 under v1": (of("v1", "ResourceSlice", {"driver": DRIVER, "devices": [{"name": "a", "basic": {"attributes": {}}}]}), ["spec.devices[0].basic"]),
    "attributes without a type": (devices("v1", attributes={"model": {"stringValue": "H100"}}), ["spec.devices[0].attributes.model.stringValue"]),
    "a policy of a capacity": (devices("v1", capacity={"memory": {"value": "1Gi", "requestPolicy": {"range": {}}}}), ["spec.devices[0].capacity.memory.requestPolicy.range"]),
    "a rule's devices": (of("v1beta2", "DeviceTaintRule", {"deviceSelectors": {}, **TAINT}), ["spec.deviceSelectors"]),
}
RIGHT = {
    "v1": claim("v1", NESTED),
    "v1, all of a request": claim("v1", asking(allocationMode="ExactCount", count=2, selectors=[CEL], adminAccess=False, tolerations=[{"operator": "Exists"}])),
    "v1beta2": template("v1beta2", NESTED),
    "v1beta1": template("v1beta1", FLAT),
    "v1beta1, first available": claim("v1beta1", FIRST_V1BETA1),
    "v1, first available": claim("v1", FIRST_V1BETA1),
    "constraints and configuration": claim("v1", NESTED, constraints=[{"matchAttribute": "a/b"}], config=[{"opaque": {"driver": DRIVER, "parameters": {"any": {"thing": 1}}}}]),
    "a class": device_class(),
    "a slice": slice_of("a", {"name": "a", "attributes": {"any": {"string": "x"}}, "capacity": {"memory": {"value": "1Gi"}}}),
    "a slice of v1beta1": of("v1beta1", "ResourceSlice", {"driver": DRIVER, "nodeName": "a", "pool": {"name": "a", "generation": 1, "resourceSliceCount": 1}, "devices": [{"name": "a", "basic": {"attributes": {"any": {"string": "x"}}}}]}),
    "all of a device": devices(
        "v1",
        attributes={"a": {"string": "x"}, "b": {"bool": True}, "c": {"int": 3}, "d": {"version": "1.2.3"}},
        capacity={"memory": {"value": "80Gi", "requestPolicy": {"default": "1Gi", "validRange": {"min": "1Gi", "step": "1Gi"}}}},
        consumesCounters=[{"counterSet": "s", "counters": {"memory": {"value": "1Gi"}}}],
    ),
    "a rule": of("v1alpha3", "DeviceTaintRule", {"deviceSelector": {"driver": DRIVER}, **TAINT}),
    "a rule since 1.37": of("v1", "DeviceTaintRule", {"deviceSelector": {"driver": DRIVER}, **TAINT}),
    "a newer rule": of("v1beta2", "DeviceTaintRule", {"deviceSelector": {"driver": DRIVER}, **TAINT}),
    "status of others": {**claim("v1", NESTED), "status": {"allocation": {"devices": {}}, "new": 1}},
    "a version of the future": claim("v2", {"anything": 1}),
}


def unknown(service, item):
    answer = service.post("/v1/dry-run", item).json()
    return [one["path"].rpartition(": ")[2] for one in answer["warnings"] if one["message"].startswith("unknown field")], answer


@pytest.fixture
def service(start_over):
    return start_over(node("a"))


@pytest.mark.parametrize("what", WRONG)
def test_a_field_of_another_version_is_told(what, service):
    item, paths = WRONG[what]
    found, answer = unknown(service, item)
    assert found == paths, answer


def test_the_place_is_told(service):
    (warning,) = service.post("/v1/dry-run", template("v1", FLAT)).json()["warnings"]
    assert warning["message"] == "unknown field; write it under spec.spec.devices.requests[0].exactly"
    (warning,) = service.post("/v1/dry-run", of("v1", "ResourceClaimTemplate", {"devices": {"requests": [NESTED]}})).json()["warnings"]
    assert warning["message"] == "unknown field; write it under spec.spec"


@pytest.mark.parametrize("what", RIGHT)
def test_what_the_version_has_is_silent(what, service):
    found, answer = unknown(service, RIGHT[what])
    assert found == [], answer


# An object, and the start of the one warning of it.
WRONG_VALUES = {
    "a capacity of v1alpha3": (devices("v1", capacity={"memory": "80Gi"}), 'spec.devices[0].capacity: "memory" is the string "80Gi", should be an object'),
    "an attribute alone": (devices("v1", attributes={"model": "H100"}), 'spec.devices[0].attributes: "model" is the string "H100"'),
    "a whole number in quotes": (devices("v1", attributes={"index": {"int": "5"}}), 'spec.devices[0].attributes.index.int: is the string "5"'),
    "a version that is a number": (devices("v1beta2", attributes={"d": {"version": 1.2}}), "spec.devices[0].attributes.d.version: is the number 1.2"),
    "a counter alone": (devices("v1", consumesCounters=[{"counterSet": "s", "counters": {"memory": "1Gi"}}]), 'spec.devices[0].consumesCounters[0].counters: "memory" is the string "1Gi"'),
    "a rule of v1beta1": (of("v1beta1", "DeviceTaintRule", {"deviceSelector": {}, **TAINT}), "apiVersion: Kubernetes does not serve it"),
    "a kind in small letters": ({**claim("v1", NESTED), "kind": "resourceclaim"}, "kind: Kubernetes does not serve it"),
    "the name of a resource": ({**claim("v1", NESTED), "kind": "ResourceClaims"}, "kind: Kubernetes does not serve it"),
    "a group of Kubernetes itself": ({**claim("v1", NESTED), "apiVersion": "v1"}, "apiVersion: ResourceClaim is not in this group; did you mean resource.k8s.io/v1?"),
    "a group with an s": ({**claim("v1", NESTED), "apiVersion": "resources.k8s.io/v1"}, "apiVersion: ResourceClaim is not in this group; did you mean resource.k8s.io/v1?"),
}


@pytest.mark.parametrize("what", WRONG_VALUES)
def test_what_the_server_cannot_read_is_told(what, service):
    item, start = WRONG_VALUES[what]
    (warning,) = service.post("/v1/dry-run", item).json()["warnings"]
    assert f"{warning['path'].rpartition(': ')[2]}: {warning['message']}".startswith(start)


def test_kinds_of_others_may_have_the_names(service):
    item = {**claim("v1", {"any": 1}), "apiVersion": "claims.example.org/v1"}
    assert service.post("/v1/dry-run", item).json()["warnings"] == []
    assert service.post("/v1/dry-run", of("v1alpha3", "ResourcePoolStatusRequest", {"driver": DRIVER})).json()["warnings"] == []


def test_a_rule_of_v1alpha3_is_served(service):
    """By Kubernetes 1.33 to 1.35; of claims of that version the dry run says that it is not."""
    assert service.post("/v1/dry-run", RIGHT["a rule"]).json()["warnings"] == []
    assert "do not serve it" in service.post("/v1/dry-run", claim("v1alpha3", NESTED)).json()["warnings"][0]["message"]
