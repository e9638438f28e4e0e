"""Selectors (CEL) of device requests: the dry run warns of mistakes and counts the devices that match. PROTOCOL 11.5."""

import pytest

GPU = "device.attributes['gpu.nvidia.com']"
MEMORY = "device.capacity['gpu.nvidia.com'].memory"
PATH = "spec.devices.requests[0].exactly.selectors[0].cel.expression"


def device(i, product, memory, **attributes):
    bus = {"resource.kubernetes.io/pciBusID": {"string": f"0000:{i:02x}:00.0"}}
    values = {"type": {"string": "gpu"}, "productName": {"string": product}, "cudaComputeCapability": {"version": "9.0.0"}, **bus, **attributes}
    return {"name": f"gpu-{i}", "attributes": values, "capacity": {"memory": {"value": memory}}}


def slice_of(name, devices):
    spec = {"driver": "gpu.nvidia.com", "nodeName": name, "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}, "devices": devices}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec}


def device_class(expression, name="gpu"):
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}, "spec": {"selectors": [{"cel": {"expression": expression}}]}}


def claim(expression, class_name="gpu"):
    request = {"name": "gpus", "exactly": {"deviceClassName": class_name, "selectors": [{"cel": {"expression": expression}}]}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "train", "namespace": "ml"},
        "spec": {"devices": {"requests": [request]}},
    }


@pytest.fixture(scope="module")
def service(module_service):
    h100 = [device(i, "NVIDIA H100 80GB HBM3", "81559Mi") for i in range(8)]
    a100 = [device(i, "NVIDIA A100-SXM4-40GB", "40Gi") for i in range(4)]
    part = device(9, "NVIDIA H100 80GB HBM3", "9984Mi", type={"string": "mig"}, profile={"string": "1g.10gb"})
    classes = [
        device_class("device.driver == 'gpu.nvidia.com'"),
        device_class(f"{GPU}.type == 'mig'", "mig.nvidia.com"),
        device_class("device.driver == 'gpu.amd.com'", "gpu.amd.com"),
        device_class(f"{GPU}.profile == '1g.10gb'", "errs"),
        device_class("duration('1s') == duration('1s')", "beyond"),
        device_class("true && " * 2100 + "true", "long"),
    ]
    return module_service(slice_of("h", h100), slice_of("a", a100), slice_of("p", [part]), *classes)


def judge(service, *objects):
    response = service.post("/v1/dry-run", {"apiVersion": "v1", "kind": "List", "items": list(objects)})
    assert response.status == 200
    return response.json()


def only(service, expression):
    answer = judge(service, claim(expression))
    assert [item["path"] for item in answer["warnings"]] in ([], [f"ResourceClaim ml/train: {PATH}"])
    (request,) = answer["deviceRequests"]
    assert (request["object"], request["path"], request["devices"]) == ("ResourceClaim ml/train", "spec.devices.requests[0].exactly", 13)
    return [item["message"] for item in answer["warnings"]], request


@pytest.mark.parametrize(
    ("expression", "matching"),
    [
        (f"{GPU}.productName == 'NVIDIA H100 80GB HBM3'", 9),
        (f"{GPU}.productName.matches('A100')", 4),
        (f"{MEMORY}.compareTo(quantity('40Gi')) >= 0", 12),
        (f"'profile' in {GPU} && {GPU}.profile == '1g.10gb'", 1),
        (f"{GPU}.cudaComputeCapability.compareTo(semver('9.0.0')) >= 0", 13),
        ("device.attributes['resource.kubernetes.io'].pciBusID == '0000:02:00.0'", 2),
    ],
)
def test_valid_selectors_are_counted_without_a_warning(service, expression, matching):
    warnings, request = only(service, expression)
    assert (warnings, request["matching"]) == ([], matching)
    assert request["message"].startswith(f"matches {matching} of 13 devices")


@pytest.mark.parametrize(
    ("expression", "parts", "matching"),
    [
        (f"{GPU}.productName == 'H100'", ["NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-40GB"], 0),
        (f"{MEMORY}.compareTo(quantity('80Gi')) >= 0", ["81559Mi"], 0),
        (f"{GPU}.productName.matches('A10')", ["NVIDIA A100-SXM4-40GB"], 4),
        (f"{MEMORY} >= quantity('40Gi')", ["found no matching overload", "compareTo"], None),
        (f"{GPU}.productName not in ['x']", ["Syntax error", "!(x in"], None),
        (f"has({GPU})", ["has() macro"], None),
        ("device.attributes['nvidia.com'].productName == 'x'", ["no such key: productName", "gpu.nvidia.com"], None),
        (f"{GPU}.model == 'H100'", ["no such key: model", "13 of 13 devices", "all nodes", "productName"], None),
        (f"{GPU}.profile == '1g.10gb'", ["no such key: profile", "12 of 13 devices", "all nodes"], None),
        (f"{GPU}.cudaComputeCapability == '9.0.0'", ["no such overload", "semver"], None),
        (f"{MEMORY}.compareTo(quantity('80GB')) >= 0", ["quantities must match", "80G"], None),
        (f"{MEMORY} >= 80Gi", ["Syntax error", "quantity(\"40Gi\")"], None),
        (f"{GPU}.memory >= 80737418240", ["no such key: memory", "device.capacity", "13 of 13 devices", "all nodes"], None),
        (f"{GPU}.productName.lowerAscii().matches('^.*a10.*$')", ["NVIDIA A100-SXM4-40GB", "longer number"], 4),
    ],
)
def test_a_mistake_is_named(service, expression, parts, matching):
    (warning,), request = only(service, expression)
    assert [part for part in parts if part not in warning] == []
    assert request["matching"] == matching
    is_error = any(part.startswith(("no such", "quantities must", "found no", "Syntax", "has()")) for part in parts)
    assert ("no such key" in warning or "no such overload" in warning or "compilation failed" in warning or "quantities must" in warning) == is_error


def test_the_only_device_is_judged(start_over):
    service = start_over(slice_of("a", [device(12, "NVIDIA A100-SXM4-40GB", "40Gi", index={"int": 12})]), device_class("true"))
    for expression, matching, part in ((f"{GPU}.index == 12", 1, None), (f"{GPU}.productName.matches('A10')", 1, "longer number")):
        answer = judge(service, claim(expression))
        assert answer["deviceRequests"][0]["matching"] == matching
        assert [part in item["message"] for item in answer["warnings"]] == ([True] if part else [])


def test_what_is_not_judged_is_said_so_and_warns_of_nothing(service):
    warnings, request = only(service, "duration('1s') == duration('1s')")
    assert (warnings, request["matching"]) == ([], None)
    assert request["message"].startswith("not judged: ")


def test_what_the_api_server_may_refuse_for_its_cost_is_not_judged(service):
    warnings, request = only(service, f"{MEMORY} != quantity('40Gi')")
    assert (warnings, request["matching"]) == ([], None)
    assert "too complex" in request["message"]


def requests_of(n, n_selectors, name):
    """Claims with n requests in total, each claim with as many as the API allows."""
    selectors = [{"cel": {"expression": "true"}}] * n_selectors
    requests = [{"name": f"r{i}", "exactly": {"deviceClassName": name, "selectors": selectors}} for i in range(n)]
    head = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim"}
    return [
        {**head, "metadata": {"name": f"many-{i}", "namespace": "ml"}, "spec": {"devices": {"requests": requests[i : i + 32]}}}
        for i in range(0, n, 32)
    ]


CUT = ("deviceRequests", "has the first 200 requests with the first 400 selectors; the others are not judged")


def judged(service, *objects):
    answer = judge(service, *objects)
    return answer["deviceRequests"], [(item["path"], item["message"]) for item in answer["warnings"]]


def test_what_is_cut_is_said(service):
    requests, warnings = judged(service, *requests_of(200, 1, "gpu"))
    assert warnings == []
    assert [item["matching"] for item in requests] == [13] * 200
    requests, warnings = judged(service, *requests_of(201, 1, "gpu"))
    assert warnings == [CUT]
    assert [item["matching"] for item in requests] == [13] * 200


def test_a_claim_with_too_many_requests_is_named(service):
    """The API server refuses it. The rest of the manifest is answered."""
    (few,), (many,) = requests_of(1, 0, "gpu"), requests_of(32, 0, "gpu")
    many["spec"]["devices"]["requests"].append({"name": "r32", "exactly": {"deviceClassName": "gpu"}})
    many["metadata"]["name"] = "more"
    requests, warnings = judged(service, few, many)
    assert len(requests) == 34
    ((path, message),) = warnings
    assert path == "ResourceClaim ml/more: spec" and "33" in message and "32" in message


def test_a_request_of_which_selectors_are_cut_is_not_judged(service):
    requests, warnings = judged(service, *requests_of(20, 30, "gpu"))
    assert warnings == [CUT]
    assert [item["matching"] for item in requests] == [13] * 13 + [None]
    assert requests[-1]["message"].startswith("not judged: ")


def test_a_class_that_is_cut_is_neither_missing_nor_the_clusters(service):
    requests, warnings = judged(service, *requests_of(200, 0, "mig.nvidia.com"), device_class("true", "mig.nvidia.com"))
    assert warnings == [CUT]
    assert {item["message"] for item in requests} == {"not judged: the manifest has too many requests to look for the class"}


def test_a_class_of_the_manifest_is_asked_first(service):
    parts = device_class(f"{GPU}.type == 'mig'", "parts")
    answer = judge(service, parts, claim(f"{GPU}.profile == '1g.10gb'", "parts"))
    assert answer["warnings"] == []
    assert [(item["object"], item["matching"]) for item in answer["deviceRequests"]] == [("DeviceClass parts", 1), ("ResourceClaim ml/train", 1)]


def of_class(service, name, expression="true"):
    answer = judge(service, claim(expression, name))
    (request,) = answer["deviceRequests"]
    return [(item["path"], item["message"]) for item in answer["warnings"]], request


def test_a_class_of_the_cluster_is_asked_first(service):
    assert of_class(service, "mig.nvidia.com", f"{GPU}.profile == '1g.10gb'") == ([], of_class(service, "mig.nvidia.com")[1])
    assert of_class(service, "mig.nvidia.com")[1]["matching"] == 1
    assert of_class(service, "gpu.amd.com")[1]["matching"] == 0


def test_a_class_of_the_manifest_replaces_that_of_the_cluster(service):
    answer = judge(service, device_class(f"{GPU}.type == 'gpu'", "mig.nvidia.com"), claim("true", "mig.nvidia.com"))
    assert [item["matching"] for item in answer["deviceRequests"]] == [12, 12]


def test_an_error_of_a_class_of_the_cluster_is_reported(service):
    ((path, message),), request = of_class(service, "errs")
    assert path == "DeviceClass errs: spec.selectors[0].cel.expression"
    assert "no such key: profile, on 12 of 13 devices" in message
    assert request["matching"] is None


@pytest.mark.parametrize("name", ["beyond", "long"])
def test_a_class_of_the_cluster_that_cannot_be_judged(service, name):
    warnings, request = of_class(service, name)
    assert (warnings, request["matching"]) == ([], None)
    assert request["message"].startswith("not judged: ") and f"class {name}" in request["message"]


def test_a_class_that_does_not_exist_is_named(service):
    ((path, message),), request = of_class(service, "gpu.nvidia.con")
    assert path == "ResourceClaim ml/train: spec.devices.requests[0].exactly.deviceClassName"
    assert "no DeviceClass gpu.nvidia.con" in message
    assert request["matching"] is None
    assert "13 of 13" in request["message"]
    ((_, message),), _ = of_class(service, "mig.nvidia.con")
    assert "did you mean mig.nvidia.com?" in message


def test_templates_and_alternatives_are_read(service):
    one = {"name": "one", "deviceClassName": "gpu", "selectors": [{"cel": {"expression": f"{GPU}.type == 'mig'"}}]}
    spec = {"devices": {"requests": [{"name": "gpus", "firstAvailable": [one, {"name": "two", "deviceClassName": "gpu"}]}]}}
    template = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": "t", "namespace": "ml"}, "spec": {"spec": spec}}
    requests = judge(service, template)["deviceRequests"]
    prefix = "spec.spec.devices.requests[0].firstAvailable"
    assert [(item["path"], item["matching"]) for item in requests] == [(f"{prefix}[0]", 1), (f"{prefix}[1]", 13)]


def test_many_devices_are_read_in_steps(start_over):
    wide = {f"a{i}": {"string": f"value-{i}"} for i in range(28)}
    slices = [slice_of(f"n{n}", [device(i, "NVIDIA H100 80GB HBM3", "80Gi", **wide, index={"int": 8 * n + i}) for i in range(8)]) for n in range(100)]
    service = start_over(*slices, device_class("device.driver == 'gpu.nvidia.com'"))
    for expression, matching in [("true", 800), (f"{GPU}.index < 300", 300), (f"{GPU}.a7 == 'value-7'", 800), (f"{GPU}.index == 799", 1)]:
        (request,) = judge(service, claim(expression))["deviceRequests"]
        assert (request["matching"], request["devices"]) == (matching, 800)


def test_the_snapshot_keeps_what_selectors_read(service, start_over):
    copy = start_over(*service.get("/v1/snapshot").json()["items"])
    _, request = only(copy, f"{GPU}.cudaComputeCapability.compareTo(semver('9.0.0')) >= 0 && {MEMORY}.compareTo(quantity('40Gi')) == 0")
    assert request["matching"] == 4
    for name in ("gpu", "mig.nvidia.com", "gpu.amd.com", "errs", "beyond", "long", "none"):
        assert of_class(copy, name) == of_class(service, name)
