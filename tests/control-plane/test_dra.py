"""Our count of GPUs that come by claims equals the API server's, device by device, while a real kube-scheduler allocates them."""

import cluster as clusters
import dra
import pytest
from api import wait_until
from cluster import PODS
from live import LiveCluster
from plane import Plane

pytestmark = dra.SINCE
NODES, DEVICES = 4, 8
GPUS = NODES * DEVICES


@pytest.fixture
def claiming(proxied):
    """Nodes whose GPUs come by slices alone, and templates for one, two and four of them. kube-controller-manager makes claims of these."""
    api = proxied.api
    proxied.add_nodes("node", NODES, "NVIDIA-H100-80GB-HBM3", 0)
    for kind in ("resourceclaims", "resourceclaimtemplates", "resourceslices", "deviceclasses"):
        proxied.ends.callback(api.delete_all, dra.PATHS[kind])
    proxied.ends.callback(dra.free_all, api)
    proxied.ends.callback(dra.start_controller(proxied.plane).kill)
    api.create(dra.PATHS["deviceclasses"], dra.device_class())
    for number in range(NODES):
        api.create(dra.PATHS["resourceslices"], dra.resource_slice(f"node-{number}", range(DEVICES)))
    for count in (1, 2, 4):
        template = {"metadata": {"name": f"of-{count}"}, "spec": {"spec": dra.wanted(count)}}
        api.create(dra.PATHS["resourceclaimtemplates"], template)
    return proxied


def burst(live, prefix, count, template):
    live.create_all(prefix, count, 0, **dra.asks_by_template(template))
    live.wait_until_bound(count, prefix)


def counted(live):
    used, nodes = dra.wait_until_counted(live.service, live.api)
    assert live.metric("gpu_extender_self_check_differences_total") == 0
    assert live.metric("gpu_extender_claims_counted") == 1
    return used, nodes


def delete_pods(live, *names):
    """Deletes their claims from templates, too, as the garbage collector does; the controller frees these."""
    claims = live.api.get(dra.PATHS["resourceclaims"])["items"]
    gone = {claim["metadata"]["name"] for claim in claims if {owner["name"] for owner in claim["metadata"].get("ownerReferences", [])} & set(names)}
    for name in names:
        live.api.delete(f"{PODS}/{name}")
    for name in gone:
        live.api.delete(f"{dra.PATHS['resourceclaims']}/{name}")
    live.api.wait_for_all(dra.PATHS["resourceclaims"], lambda items: not {item["metadata"]["name"] for item in items.values()} & gone)


def test_bursts_are_counted_device_by_device(claiming):
    claiming.start()
    assert counted(claiming) == ({}, {f"node-{number}": {"used": 0, "free": DEVICES, "unallocatable": 0} for number in range(NODES)})
    burst(claiming, "one", 10, "of-1")
    burst(claiming, "four", 3, "of-4")
    used, _ = counted(claiming)
    assert len(used) == 22
    delete_pods(claiming, *[f"one-{number}" for number in range(5)], "four-1")
    # 19 devices are free now, an odd number on up to three nodes: there is always room for eight pairs, not always for nine.
    burst(claiming, "two", 8, "of-2")
    used, _ = counted(claiming)
    assert len(used) == 5 + 8 + 16
    delete_pods(claiming, *[item["metadata"]["name"] for item in claiming.api.get(PODS)["items"]])
    used, nodes = counted(claiming)
    assert not used and {node["free"] for node in nodes.values()} == {DEVICES}


def replace(live, part):
    path, name = dra.PATHS["resourceslices"], part["metadata"]["name"]
    live.api.merge(f"{path}/{name}", {"spec": {key: part["spec"][key] for key in ("pool", "devices")}})


def test_replaced_slices_and_withdrawn_devices(claiming):
    """A newer generation counts alone, and nothing of it is free before all its slices are there. Claims keep devices that are gone."""
    path, api = dra.PATHS["resourceslices"], claiming.api
    claiming.start()
    burst(claiming, "one", 12, "of-1")
    counted(claiming)
    first, second = (dra.resource_slice("node-0", part, 2, number, 2) for number, part in enumerate((range(4), range(4, DEVICES))))
    replace(claiming, first)
    _, nodes = counted(claiming)
    assert nodes["node-0"]["free"] == 0 and sum(nodes["node-0"].values()) == 4
    api.create(path, second)
    _, nodes = counted(claiming)
    assert nodes["node-0"]["unallocatable"] == 0 and sum(nodes["node-0"].values()) == DEVICES

    used, _ = counted(claiming)
    withdrawn = next(name for name in used if name[1] != "node-0")
    left = [number for number in range(DEVICES) if f"gpu-{number}" != withdrawn[2]]
    replace(claiming, dra.resource_slice(withdrawn[1], left, 2))
    used, nodes = counted(claiming)
    assert withdrawn in used and sum(nodes[withdrawn[1]].values()) == DEVICES - 1

    api.delete(f"{path}/node-{NODES - 1}-0")
    _, nodes = dra.truth(api)
    assert f"node-{NODES - 1}" not in nodes
    wait_until(lambda: f"node-{NODES - 1}" not in dra.told(claiming.service)[1], claiming.service.log.text)


def change_everything(live):
    """While our service does not look: claims end and begin, a device is withdrawn, a slice is replaced."""
    delete_pods(live, "one-0", "one-1", "four-0")
    burst(live, "late", 2, "of-2")
    used, _ = dra.truth(live.api)
    free = [number for number in range(DEVICES) if (dra.DRIVER, "node-0", f"gpu-{number}") not in used]
    replace(live, dra.resource_slice("node-0", [number for number in range(DEVICES) if number not in free[:1]], 2))


def prepare(live):
    live.start()
    burst(live, "one", 8, "of-1")
    burst(live, "four", 2, "of-4")
    live.create("by-name", 0, **dra.asks_by_name("kept"))
    live.api.create(dra.PATHS["resourceclaims"], {"metadata": {"name": "kept"}, "spec": dra.wanted(2)})
    live.node_of("by-name")
    counted(live)


def all_is_counted(live):
    used, nodes = counted(live)
    assert len(used) == 6 + 4 + 2 + 4 and sum(nodes["node-0"].values()) == DEVICES - 1
    burst(live, "after", 3, "of-1")
    used, _ = counted(live)
    assert len(used) == 6 + 4 + 2 + 4 + 3


def test_killed_service_counts_again(claiming):
    prepare(claiming)
    claiming.service.kill()
    change_everything(claiming)
    claiming.start_service()
    all_is_counted(claiming)


def test_kinds_are_relisted(claiming):
    prepare(claiming)
    claiming.proxy.cut()
    change_everything(claiming)
    claiming.plane.kill_apiserver()
    claiming.plane.start_apiserver()
    claiming.proxy.mend()
    all_is_counted(claiming)
    for kind in ("resourceslices", "resourceclaims"):
        wait_until(lambda: claiming.metric("gpu_extender_watch_relists_total", kind=kind, cause="gone"), claiming.service.log.text)


QUOTA = """
apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
scheduler: {allPods: true}
quotas:
- name: team-a
  namespaces: [gpu]
  limits: [{total: 10}]
"""
IN_TOTAL = "quota team-a leaves too few GPUs in total"


def devices_of_bound(api):
    """Devices of the claims of pods that have a node, from the API server's lists."""
    placed = {item["metadata"]["uid"] for item in api.get(PODS)["items"] if item["spec"].get("nodeName")}
    claims = api.get(dra.PATHS["resourceclaims"])["items"]
    return len(dra.allocated([each for each in claims if placed & {holder["uid"] for holder in each.get("status", {}).get("reservedFor", [])}]))


def start_with_quota(live):
    live.start_service("--config", live.plane.write(f"policy-{live.name}.yaml", QUOTA))
    live.start_scheduler(shipped="kube-scheduler-config-all-pods.yaml")


def waiting(live, prefix):
    return [item for item in live.api.get(PODS)["items"] if item["metadata"]["name"].startswith(prefix) and not item["spec"].get("nodeName")]


def test_a_burst_of_claims_gets_exactly_the_quota(claiming):
    """10 of 32 GPUs. The other pods wait with the reason; when one ends, the next is bound."""
    start_with_quota(claiming)
    claiming.create_all("two", 8, 0, **dra.asks_by_template("of-2"))
    claiming.wait_until_bound(5, "two")
    wait_until(lambda: all(IN_TOTAL in clusters.scheduled(item).get("message", "") for item in waiting(claiming, "two")), claiming.service.log.text)
    assert len(waiting(claiming, "two")) == 3 and devices_of_bound(claiming.api) == 10
    delete_pods(claiming, next(name for name in (f"two-{number}" for number in range(8)) if name not in {item["metadata"]["name"] for item in waiting(claiming, "two")}))
    counted(claiming)
    claiming.wake("node-0")
    wait_until(lambda: len(waiting(claiming, "two")) == 2, claiming.service.log.text)
    assert devices_of_bound(claiming.api) == 10


def test_a_pod_is_judged_by_its_template_before_its_claim_exists(claiming):
    """No controller makes the claim: kube-scheduler waits for it, and users learn what will be."""
    template = {"metadata": {"name": "of-11"}, "spec": {"spec": dra.wanted(11)}}
    claiming.api.create(dra.PATHS["resourceclaimtemplates"], template)
    start_with_quota(claiming)
    claiming.create("large", 0, **dra.asks_by_template("of-11"), schedulingGates=[{"name": "example.com/held"}])

    def reasons():
        answer = claiming.service.get("/v1/pods/gpu/large/explain")
        return {each["reason"] for each in answer.json()["nodes"]} if answer.status == 200 else None

    wait_until(lambda: reasons() == {"quota"}, claiming.service.log.text)


def test_all_devices_of_a_node_beyond_a_quota_are_refused_once(claiming):
    """Filter expects one device. kube-scheduler allocates 8, bind refuses, and filter remembers it."""
    every = {"devices": {"requests": [{"name": "gpus", "exactly": {"deviceClassName": dra.DRIVER, "allocationMode": "All"}}]}}
    claiming.api.create(dra.PATHS["resourceclaims"], {"metadata": {"name": "whole"}, "spec": every})
    start_with_quota(claiming)
    burst(claiming, "four", 1, "of-4")
    claiming.create("by-name", 0, **dra.asks_by_name("whole"))
    wait_until(lambda: [item for item in waiting(claiming, "by-name") if IN_TOTAL in clusters.scheduled(item).get("message", "")], claiming.service.log.text)
    claiming.create_all("one", 6, 0, **dra.asks_by_template("of-1"))
    assert claiming.metric("gpu_extender_binds_total", outcome="refused") <= 2
    assert devices_of_bound(claiming.api) <= 10


class Served(Plane):
    """A control plane that serves other versions of resource.k8s.io than by default."""

    def __init__(self, *arguments, versions):
        super().__init__(*arguments)
        self.versions = versions

    def apiserver_options(self):
        served = ",".join(f"resource.k8s.io/{version}={'true' if is_served else 'false'}" for version, is_served in self.versions.items())
        return (*super().apiserver_options(), f"--runtime-config={served}")


@pytest.fixture
def served(programs, tmp_path, name):
    """served({version: whether}) -> a live cluster on a control plane of its own, without kube-scheduler."""
    started = []

    def start(versions):
        plane = Served(programs, tmp_path, versions=versions)
        started.append(plane)
        plane.__enter__()
        clusters.prepare(plane.api)
        live = LiveCluster(plane, name)
        started.append(live)
        return live.__enter__()

    yield start
    for each in reversed(started):
        each.__exit__(None, None, None)


def allocate(live, version, name, *devices):
    """A claim that has these devices of the node, as kube-scheduler writes it."""
    path = dra.paths(version)["resourceclaims"]
    requests = dra.wanted(len(devices))["devices"]["requests"]
    if version == "v1beta1":
        requests = [{"name": "gpus", **requests[0]["exactly"]}]
    live.api.create(path, {"metadata": {"name": name}, "spec": {"devices": {"requests": requests}}})
    results = [{"request": "gpus", "driver": dra.DRIVER, "pool": "node-0", "device": f"gpu-{number}"} for number in devices]
    live.api.merge(f"{path}/{name}/status", {"status": {"allocation": {"devices": {"results": results}}}})


def test_server_that_has_only_the_oldest_version(served):
    live = served({"v1": False, "v1beta2": False, "v1beta1": True})
    live.add_nodes("node", 1, "NVIDIA-H100-80GB-HBM3", 0, kwok=False)
    part = dra.resource_slice("node-0", range(DEVICES))
    part["spec"]["devices"] = [{"name": each.pop("name"), "basic": each} for each in part["spec"]["devices"]]
    live.api.create(dra.paths("v1beta1")["resourceslices"], part)
    allocate(live, "v1beta1", "first", 0, 1)
    live.start_service()
    allocate(live, "v1beta1", "second", 5)
    used, nodes = dra.wait_until_counted(live.service, live.api, version="v1beta1")
    assert len(used) == 3 and nodes == {"node-0": {"used": 3, "free": 5, "unallocatable": 0}}
    assert live.service.get("/readyz").text == "ok\n"


@pytest.mark.parametrize("version", ["v1beta2", "v1alpha3"])
def test_taint_rules_of_a_server_that_has_them(served, version):
    live = served({version: True})
    live.add_nodes("node", 1, "NVIDIA-H100-80GB-HBM3", 0, kwok=False)
    live.api.create(dra.PATHS["resourceslices"], dra.resource_slice("node-0", range(DEVICES)))
    allocate(live, "v1", "first", 0, 1)
    live.start_service()
    rules, path = [], dra.paths(version)["devicetaintrules"]

    def add(name, selector, effect="NoSchedule"):
        spec = {"taint": {"key": "example.com/broken", "effect": effect}}
        rule = {"metadata": {"name": name}, "spec": {**spec, **({"deviceSelector": selector} if selector is not None else {})}}
        live.api.create(path, rule)
        rules.extend([rule] if effect != "None" else [])
        return dra.wait_until_counted(live.service, live.api, rules=rules)[1]["node-0"]

    assert add("one", {"driver": dra.DRIVER, "pool": "node-0", "device": "gpu-1"}) == {"used": 2, "free": 6, "unallocatable": 0}
    assert add("two", {"device": "gpu-2"}, "NoExecute") == {"used": 2, "free": 5, "unallocatable": 1}
    assert add("nothing", None) == add("no-effect", {}, "None") == {"used": 2, "free": 5, "unallocatable": 1}
    assert add("all", {}) == {"used": 2, "free": 0, "unallocatable": 6}
    live.api.delete(f"{path}/all")
    rules.pop()
    assert dra.wait_until_counted(live.service, live.api, rules=rules)[1]["node-0"]["free"] == 5
