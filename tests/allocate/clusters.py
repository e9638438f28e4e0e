"""Random clusters with devices, and pods with claims, as kube-apiserver takes them; and what the allocator is asked about such a pod.

Objects refer to a pod's uid as "uid of NAMESPACE/NAME": whoever creates them puts the real one.
"""

import copy
import random
import uuid

import generate

API = "resource.k8s.io/v1"
EXTENDED = "example.com/gpu"  # comes through the class gpu
# The other driver's devices are judged without an entry.
POLICY = {
    "apiVersion": "gpu-extender.io/v1alpha1",
    "kind": "SchedulerPolicy",
    "deviceDrivers": {"gpu.example.com": {"model": "model"}},
}
NAMESPACES = {"claims-a": {}, "claims-b": {"resource.kubernetes.io/admin-access": "true"}}
ZONES, HOST = ("z1", "z2", "z3"), "kubernetes.io/hostname"
GIB = 2**30


class Devices(generate.Generator):
    """Devices and requests of a cluster, none of which kube-apiserver rejects."""

    POOLS, N_POOLS = [f"pool-{letter}" for letter in "abcdefgh"], (2, 3, 4, 6)
    MEMORY = ("80Gi", "40Gi", "40Gi", "16Gi")
    EFFECTS = ("NoSchedule", "NoSchedule", "NoExecute", "None")
    RARE = generate.RARE_SELECTORS[:4]
    ERROR_CLASSES = ("broken", "missing")

    def __init__(self, dice, nodes):
        super().__init__(dice, nodes)
        self.homes = list(nodes)
        # kube-scheduler looks every five seconds whether a driver has set them.
        self.rates.update(conditions=dice.choice([0] * 9 + [0.1, 0.3]), stale=min(self.rates["stale"], 0.1), wide=min(self.rates["wide"], 0.1))
        self.namespace = "claims-a"

    def device(self, driver, name, sets):
        out = super().device(driver, name, sets)
        attributes = out.get("attributes", {})
        attributes.pop("list", None)
        if "model" in attributes:
            attributes.pop("gpu.example.com/model", None)
        if not out.get("allowMultipleAllocations"):
            for capacity in out.get("capacity", {}).values():
                capacity.pop("requestPolicy", None)
        out["consumesCounters"] = [each for each in out.get("consumesCounters", []) if each["counters"]]
        return {key: value for key, value in out.items() if value}

    def pool(self, driver, name):
        """Rarely pools of two drivers have one name: with counters, they are not judged."""
        return super().pool(driver, name if self.dice.random() < 0.1 else f"{driver[:3]}-{name}")

    def toleration(self):
        if self.dice.random() < 0.5:
            out = {"key": self.dice.choice(["", "k", "l"]), "operator": "Exists"}
        else:
            out = {"key": self.dice.choice("kl"), "operator": "Equal", "value": self.dice.choice(["", "v"])}
        out["effect"] = self.dice.choice(["", "NoSchedule", "NoExecute"])
        return {key: value for key, value in out.items() if value}

    def policy(self, value):
        unit, most = ("Gi", int(value[:-2])) if value.endswith("Gi") else ("", int(value))
        least, step = self.dice.choice([1, 2]), self.dice.choice([1, 2]) if most > 3 else 0
        amounts = range(least, most + 1, step or 1)
        default = self.dice.choice(amounts[:4])
        if self.dice.random() < 0.5:
            values = sorted({default, *self.dice.sample(amounts, min(3, len(amounts)))})
            return {"default": f"{default}{unit}", "validValues": [f"{amount}{unit}" for amount in values]}
        valid = {"min": f"{least}{unit}"}
        if step and self.dice.random() < 0.5:
            valid["step"] = f"{step}{unit}"
        if self.dice.random() < 0.5:
            valid["max"] = f"{amounts[-1]}{unit}"
        return {"default": f"{default}{unit}", "validRange": valid}

    def disturb(self, specs):
        """A missing slice, an old or a new generation, or a name in two slices."""
        kind, spec = self.dice.choice(["missing", "old", "new", "twice"]), self.dice.choice(specs)
        if kind == "missing":
            spec["gone"] = True
        elif kind in ("old", "new"):
            spec.update(generation=1 if kind == "old" else 3, extra=len(specs) > 1 and self.dice.random() < 0.5)
        elif spec.get("devices") and all(other is spec or other.get("devices") for other in specs):
            twin = dict(spec["devices"][0])
            others = [other for other in specs if other is not spec and "perDeviceNodeSelection" not in other]
            if others and "perDeviceNodeSelection" not in spec:
                others[0]["devices"].append(twin)

    def slices(self, specs, driver, name):
        for spec in specs:
            if not spec.get("devices") and "sharedCounters" in spec:
                spec.pop("devices", None)
        out = super().slices(specs, driver, name)
        return [{"apiVersion": API, "kind": "ResourceSlice", **each} for each in out]

    def full_counters(self):
        return {"slots": {"value": str(self.dice.choice([4, 7]))}, "memory": {"value": str(self.dice.choice([5, 8]))}}

    def chance(self, name):
        """Claims with admin access are rejected where the namespace does not have its label."""
        return super().chance(name) and (name != "admin" or self.namespace == "claims-b")

    def device_class(self):
        """Rarely one that is of no driver: it is not judged."""
        name = super().device_class()
        return "gpu" if name == "any" and self.dice.random() < 0.95 else name

    def want(self, name, can_be_admin):
        out = super().want(name, can_be_admin)
        if out.get("count", 0) > 8 and self.dice.random() < 0.8:
            out["count"] = 4
        return out

    def rule(self, number, slices):
        """A DeviceTaintRule for some of the devices."""
        spec = self.dice.choice(slices)["spec"]
        selector = {"driver": spec["driver"], "pool": spec["pool"]["name"]}
        if spec.get("devices"):
            selector["device"] = self.dice.choice(spec["devices"])["name"]
        selector = {key: value for key, value in selector.items() if self.dice.random() < 0.8}
        out = {"taint": self.taint()}
        if selector or self.dice.random() < 0.3:
            out["deviceSelector"] = selector
        return {"apiVersion": "resource.k8s.io/v1beta2", "kind": "DeviceTaintRule", "metadata": {"name": f"rule-{number}"}, "spec": out}


def as_ready(result):
    """The status of a device whose binding conditions are true."""
    when = {"lastTransitionTime": "2026-03-02T00:00:00Z", "reason": "Ready", "message": ""}
    conditions = [{"type": name, "status": "True", **when} for name in result["bindingConditions"]]
    return {key: result[key] for key in ("driver", "pool", "device", "shareID") if key in result} | {"conditions": conditions}


class State:
    """A cluster: its objects, and what a further pod may name. rooms: whether the nodes differ in more than devices."""

    def __init__(self, dice, rooms=True):
        self.dice, self.rooms = dice, rooms
        self.nodes = {f"node-{number}": self.labels(f"node-{number}") for number in range(dice.randint(2, 6))}
        self.devices = Devices(dice, self.nodes)
        self.slices = self.devices.cluster()
        self.free = self.whole_devices()
        dice.shuffle(self.free)
        self.claims = []
        self.pods = []

    def labels(self, name):
        return {HOST: name, **({"zone": self.dice.choice(ZONES)} if self.dice.random() < 0.9 else {})}

    def whole_devices(self):
        """(slice, device) of those of the newest generation that are on a node of their own."""
        newest = {}
        for each in self.slices:
            pool = each["spec"]["pool"]
            newest[pool["name"], each["spec"]["driver"]] = max(pool["generation"], newest.get((pool["name"], each["spec"]["driver"]), 0))
        return [
            (each, device)
            for each in self.slices
            for device in each["spec"].get("devices", [])
            if each["spec"]["pool"]["generation"] == newest[each["spec"]["pool"]["name"], each["spec"]["driver"]]
        ]

    def node(self, name):
        has = {"cpu": "1000", "memory": "1000Gi", "pods": "110"}
        metadata, spec = {"name": name, "labels": self.nodes[name]}, {}
        if self.rooms:
            has.update(cpu=self.dice.choice(("4", "16", "16")), pods=self.dice.choice(("6", "110", "110")))
        if self.rooms and self.dice.random() < 0.05:
            spec["taints"] = [{"key": "dedicated", "value": "some", "effect": "NoSchedule"}]
        status = {"capacity": has, "allocatable": has, "conditions": [{"type": "Ready", "status": "True"}]}
        return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status}

    # ---- claims and pods ----

    def claim_spec(self, namespace):
        self.devices.namespace = namespace
        return self.devices.claim("unused")["spec"]

    def result(self, slice_, device):
        spec = slice_["spec"]
        out = {"request": "r", "driver": spec["driver"], "pool": spec["pool"]["name"], "device": device["name"]}
        if device.get("allowMultipleAllocations"):
            out["shareID"] = str(uuid.UUID(int=self.dice.getrandbits(128), version=4))
            capacity = {name: each["value"] for name, each in device.get("capacity", {}).items()}
            if capacity:
                out["consumedCapacity"] = {name: self.part_of(value) for name, value in capacity.items()}
        return out | {key: device[key] for key in ("bindingConditions", "bindingFailureConditions") if key in device}

    def part_of(self, value):
        return f"{self.dice.choice((1, 4, 10))}Gi" if value.endswith("Gi") else str(self.dice.randint(1, 2))

    def allocated(self, name, namespace, node):
        """A claim with some devices that the node reaches by its name."""
        mine = [each for each in self.free if each[0]["spec"].get("nodeName") == node][: self.dice.choice((1, 1, 2, 3))]
        if not mine:
            return None
        self.free = [each for each in self.free if each not in mine]
        request = {"name": "r", "exactly": {"deviceClassName": "gpu", "count": len(mine)}}
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
        allocation = {"devices": {"results": [self.result(*each) for each in mine]}, "nodeSelector": {"nodeSelectorTerms": [term]}}
        allocation["allocationTimestamp"] = "2026-03-02T00:00:00Z"
        waiting = [each for each in allocation["devices"]["results"] if "bindingConditions" in each]
        is_ready = self.dice.random() < 0.8
        return {
            "apiVersion": API,
            "kind": "ResourceClaim",
            "metadata": {"name": name, "namespace": namespace, "finalizers": ["resource.kubernetes.io/delete-protection"]},
            "spec": {"devices": {"requests": [request]}},
            "status": {"allocation": allocation, **({"devices": list(map(as_ready, waiting))} if waiting and is_ready else {})},
        }

    def pod(self, name, namespace, entries):
        needs = {"cpu": self.dice.choice(("100m", "500m", "500m", "3")), "memory": "64Mi"}
        spec = {
            "containers": [{"name": "main", "image": "example.com/none:1", "resources": {"requests": needs, "limits": needs}}],
            "terminationGracePeriodSeconds": 0,
            "resourceClaims": entries,
        }
        metadata = {"name": name, "namespace": namespace}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}

    def populate(self):
        """Claims that exist before the first case: used by a running pod, allocated and used by none, or free."""
        for number in range(self.dice.choice((0, 1, 3, 6))):
            namespace, node = self.dice.choice(list(NAMESPACES)), self.dice.choice(list(self.nodes))
            claim = self.allocated(f"held-{number}", namespace, node)
            if claim is None:
                continue
            self.claims.append(claim)
            if self.dice.random() < 0.9:
                pod = self.pod(f"runs-{number}", namespace, [{"name": "c", "resourceClaimName": f"held-{number}"}])
                pod["spec"]["nodeName"] = node
                pod["status"] = {"phase": "Running"}
                self.pods.append(pod)
                user = {"resource": "pods", "name": f"runs-{number}", "uid": f"uid of {namespace}/runs-{number}"}
                claim["status"]["reservedFor"] = [user]
        for namespace in NAMESPACES:
            self.claims.append(self.claim("open", namespace))

    def claim(self, name, namespace):
        return {"apiVersion": API, "kind": "ResourceClaim", "metadata": {"name": name, "namespace": namespace}, "spec": self.claim_spec(namespace)}

    def template(self, name, namespace):
        item = self.claim(name, namespace)
        return {**item, "kind": "ResourceClaimTemplate", "spec": {"spec": item["spec"]}}

    def objects(self):
        self.populate()
        classes = [{"apiVersion": API, "kind": "DeviceClass", **each} for each in self.devices.classes() if each["metadata"]["name"] != "odd"]
        for each in classes:
            if each["metadata"]["name"] == "gpu":
                each["spec"]["extendedResourceName"] = EXTENDED
        rules = [self.devices.rule(number, self.slices) for number in range(self.dice.choice((0, 0, 0, 1, 2)))]
        templates = [self.template("common", namespace) for namespace in NAMESPACES]
        return [*map(self.node, self.nodes), *classes, *self.slices, *rules, *templates, *self.pods, *self.claims]

    def case(self, number):
        """(new claims and templates, the pod)."""
        namespace, made, entries = self.dice.choice(list(NAMESPACES)), [], []
        held = [each["metadata"]["name"] for each in self.claims if each["metadata"]["namespace"] == namespace]
        for index in range(self.dice.choice((1, 1, 1, 2, 3))):
            name = f"case-{number}-{index}"
            kind = self.dice.choice(("template", "template", "template", "claim", "claim", "common", "held"))
            taken = {each.get("resourceClaimName") for each in entries}
            if kind == "held" and (left := sorted(set(held) - taken)):
                entries.append({"name": f"c{index}", "resourceClaimName": self.dice.choice(left)})
            elif kind == "claim":
                made.append(self.claim(name, namespace))
                entries.append({"name": f"c{index}", "resourceClaimName": name})
            elif kind == "common":
                entries.append({"name": f"c{index}", "resourceClaimTemplateName": "common"})
            else:
                made.append(self.template(name, namespace))
                entries.append({"name": f"c{index}", "resourceClaimTemplateName": name})
        pod = self.pod(f"case-{number}", namespace, entries)
        if self.rooms:
            self.place(pod["spec"])
        return made, pod

    def place(self, spec):
        """Fields of the pod that rule out nodes before its claims are judged, and rarely a resource that is not judged."""
        if self.dice.random() < 0.01:
            resources = spec["containers"][0]["resources"]
            resources.update({kind: {**amounts, EXTENDED: "1"} for kind, amounts in resources.items()})
        if self.dice.random() < 0.15:
            spec["nodeSelector"] = {"zone": self.dice.choice(ZONES)}
        if self.dice.random() < 0.1:
            term = {"matchExpressions": [{"key": HOST, "operator": "NotIn", "values": [self.dice.choice(list(self.nodes))]}]}
            spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


# ---- what the allocator is asked ----


class Cluster:
    """A cluster of a seed, with its cases."""

    def __init__(self, seed, n_cases):
        state = State(random.Random(f"sets {seed}"), rooms=False)
        self.seed = seed
        self.items = listed(state)
        self.cases = [state.case(number) for number in range(n_cases)]
        self.nodes = {item["metadata"]["name"]: item for item in self.items if item["kind"] == "Node"}

    def questions(self):
        """One a case, about all nodes."""
        return [{**question_of(self.items, made, pod), "nodes": list(self.nodes.values())} for made, pod in self.cases]


def listed(state):
    """The cluster as the dry run reads it from a file."""
    items = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}} for name, labels in NAMESPACES.items()]
    items += state.objects()
    for item in items:
        item["metadata"].setdefault("uid", f"uid of {item['metadata'].get('namespace')}/{item['metadata']['name']}")
    return items


def tainted(items):
    """The ResourceSlices of a cluster with the taints of its rules."""
    slices = copy.deepcopy([item for item in items if item["kind"] == "ResourceSlice"])
    rules = [item["spec"] for item in items if item["kind"] == "DeviceTaintRule"]
    for rule in [rule for rule in rules if "deviceSelector" in rule]:
        for spec in [each["spec"] for each in slices]:
            for device in spec.get("devices") or []:
                names = {"driver": spec["driver"], "pool": spec["pool"]["name"], "device": device["name"]}
                if all(names[key] == value for key, value in rule["deviceSelector"].items()):
                    device.setdefault("taints", []).append(rule["taint"])
    return slices


def template_of(items, namespace, name):
    """The spec of the claims of a ResourceClaimTemplate."""
    wanted = ("ResourceClaimTemplate", namespace, name)
    found = (item for item in items if (item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"]) == wanted)
    return copy.deepcopy(next(found)["spec"]["spec"])


def question_of(items, made, pod):
    """The question of tests/allocate/oracle.go, without nodes. items: the cluster. made: more claims and templates."""
    items = [*made, *items]
    namespace = pod["metadata"]["namespace"]
    there = {(item["metadata"]["namespace"], item["metadata"]["name"]): item for item in items if item["kind"] == "ResourceClaim"}
    claims = []
    for entry in pod["spec"]["resourceClaims"]:
        if "resourceClaimName" in entry:
            claims.append(there.pop((namespace, entry["resourceClaimName"])))
        else:
            metadata = {"name": entry["name"], "namespace": namespace}
            claims.append({"metadata": metadata, "spec": template_of(items, namespace, entry["resourceClaimTemplateName"])})
    classes = [item for item in items if item["kind"] == "DeviceClass"]
    return {"slices": tainted(items), "classes": classes, "claims": claims, "others": list(there.values())}
