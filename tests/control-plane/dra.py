"""GPUs of dynamic resource allocation for tests: slices as a driver writes them, claims, and what our service counts of them.

The truth is computed from the API server's lists: which devices are published, and which of them a claim's allocation names.
"""

import re

import pytest
from api import wait_until
from cluster import PODS

GROUP = "/apis/resource.k8s.io"
DRIVER = "gpu.nvidia.com"
H100 = "NVIDIA H100 80GB HBM3"
# Of kube-controller-manager: makes claims from templates, and frees claims whose pods are gone.
CONTROLLER = "resourceclaim-controller"
GPUS = re.compile(r'^gpu_extender_node_gpus\{node="([^"]*)",model="[^"]*",resource="gpu\.nvidia\.com",state="([^"]*)"\} (\S+)$', re.MULTILINE)


def paths(version="v1"):
    """{plural: the path of its collection}; claims and templates in the namespace gpu."""
    cluster_wide = ("deviceclasses", "resourceslices", "devicetaintrules")
    namespaced = ("resourceclaims", "resourceclaimtemplates")
    return {
        **{kind: f"{GROUP}/{version}/{kind}" for kind in cluster_wide},
        **{kind: f"{GROUP}/{version}/namespaces/gpu/{kind}" for kind in namespaced},
    }


PATHS = paths()
# Marks tests that need them.
SINCE = pytest.mark.since("1.34", "claims and slices in resource.k8s.io/v1")


def are_served(api):
    """Whether the API server has claims and slices in v1."""
    return any(version["groupVersion"] == f"{GROUP.removeprefix('/apis/')}/v1" for group in api.get("/apis")["groups"] for version in group["versions"])


def device_class():
    selector = f"device.driver == '{DRIVER}' && device.attributes['{DRIVER}'].type == 'gpu'"
    return {"metadata": {"name": DRIVER}, "spec": {"selectors": [{"cel": {"expression": selector}}]}}


def device(node, number, model=H100):
    texts = {"type": "gpu", "productName": model, "uuid": f"GPU-{node}-{number}", "architecture": "Hopper"}
    texts["resource.kubernetes.io/pciBusID"] = f"0000:{number:02x}:00.0"
    attributes = {name: {"string": text} for name, text in texts.items()}
    attributes["driverVersion"] = {"version": "580.65.6"}
    return {"name": f"gpu-{number}", "attributes": attributes, "capacity": {"memory": {"value": "81559Mi"}}}


def resource_slice(node, devices, generation=1, part=0, parts=1, model=H100):
    """One of the `parts` slices of the node's pool; devices: their numbers."""
    return {
        "metadata": {"name": f"{node}-{part}"},
        "spec": {
            "driver": DRIVER,
            "nodeName": node,
            "pool": {"name": node, "generation": generation, "resourceSliceCount": parts},
            "devices": [device(node, number, model) for number in devices],
        },
    }


def wanted(count):
    """The spec of a claim for so many GPUs."""
    return {"devices": {"requests": [{"name": "gpus", "exactly": {"deviceClassName": DRIVER, "count": count}}]}}


def asks_by_template(template):
    return {"resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": template}]}


def asks_by_name(claim):
    return {"resourceClaims": [{"name": "gpus", "resourceClaimName": claim}]}


def start_controller(plane):
    """The caller kills it."""
    return plane.start_controllers(CONTROLLER)


def free_all(api):
    """Ends all claims, as if no pod used them: their finalizer would keep them."""
    api.delete_all(PODS)
    api.wait_for_all(PODS, lambda items: not items)
    for claim in api.get(PATHS["resourceclaims"])["items"]:
        api.merge(f"{PATHS['resourceclaims']}/{claim['metadata']['name']}", {"metadata": {"finalizers": None}})


# ---- the truth ----


def device_of(result):
    return result["driver"], result["pool"], result["device"]


def allocated(claims):
    """{(driver, pool, device): the claim} from ResourceClaims."""
    return {
        device_of(result): f"{claim['metadata']['namespace']}/{claim['metadata']['name']}"
        for claim in claims
        for result in claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", [])
    }


def current(slices):
    """({(driver, pool, device): its node} of the highest generations, the pools that are complete)."""
    pools = {}
    for item in slices:
        pools.setdefault((item["spec"]["driver"], item["spec"]["pool"]["name"]), []).append(item["spec"])
    devices, complete = {}, set()
    for pool, specs in pools.items():
        newest = max(spec["pool"]["generation"] for spec in specs)
        specs = [spec for spec in specs if spec["pool"]["generation"] == newest]
        devices.update({(*pool, each["name"]): spec["nodeName"] for spec in specs for each in spec.get("devices", [])})
        if len(specs) == specs[0]["pool"]["resourceSliceCount"]:
            complete.add(pool)
    return devices, complete


def is_tainted(name, rules):
    """Whether a DeviceTaintRule with a selector by driver, pool and device taints the device."""
    for rule in rules:
        selector = rule["spec"].get("deviceSelector")
        if selector is not None and all(selector.get(key, value) == value for key, value in zip(("driver", "pool", "device"), name)):
            return True
    return False


def truth(api, version="v1", rules=()):
    """({device: claim}, {node: GPUs by state}) from the API server's lists."""
    claims = api.get(f"{GROUP}/{version}/resourceclaims")["items"]
    devices, complete = current(api.get(f"{GROUP}/{version}/resourceslices")["items"])
    used, nodes = allocated(claims), {}
    for name, node in devices.items():
        counts = nodes.setdefault(node, {"used": 0, "free": 0, "unallocatable": 0})
        if name in used:
            counts["used"] += 1
        else:
            counts["unallocatable" if is_tainted(name, rules) or name[:2] not in complete else "free"] += 1
    return used, nodes


# ---- what our service says ----


def told(service):
    """The same from GET /v1/snapshot and GET /metrics."""
    snapshot = service.get("/v1/snapshot")
    assert snapshot.status == 200, snapshot
    claims = [item for item in snapshot.json()["items"] if item["kind"] == "ResourceClaim"]
    nodes = {}
    for node, state, value in GPUS.findall(service.get("/metrics").text):
        nodes.setdefault(node, {"used": 0, "free": 0, "unallocatable": 0})[state] += int(float(value))
    return allocated(claims), nodes


def wait_until_counted(service, api, **more):
    """Returns the truth once our count equals it."""
    both = []

    def equal():
        both[:] = told(service), truth(api, **more)
        return both[0] == both[1]

    wait_until(equal, lambda: f"ours {both[0]}\nthe API server's {both[1]}\n{service.log.text()[-2000:]}")
    return both[1]
