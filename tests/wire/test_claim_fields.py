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
    "a rule": of("v1alpha3", "DeviceTaintRule", {"deviceSelector": {"driver": DRIVER}, **TAINT}),
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


def test_a_rule_of_v1alpha3_is_served(service):
    """By Kubernetes 1.33 to 1.35; of claims of that version the dry run says that it is not."""
    assert service.post("/v1/dry-run", RIGHT["a rule"]).json()["warnings"] == []
    assert "do not serve it" in service.post("/v1/dry-run", claim("v1alpha3", NESTED)).json()["warnings"][0]["message"]
