"""Random questions for tests/allocate: small clusters, in which claims often just fit or just do not."""

DRIVERS = ["gpu.example.com", "nic.example.com"]
CLASSES = {
    "gpu": ["device.driver == 'gpu.example.com'"],
    "nic": ["device.driver == 'nic.example.com'"],
    "any": [],
    "big": ["device.driver == 'gpu.example.com'", "device.capacity['gpu.example.com'].memory.compareTo(quantity('40Gi')) >= 0"],
    "broken": ["device.driver == 'gpu.example.com'", "device.attributes['gpu.example.com'].none == 1"],
    "odd": ["device.driver =="],
}
MODEL, INDEX = "device.attributes['gpu.example.com'].?model.orValue('')", "device.attributes['gpu.example.com'].?index.orValue(9)"
SELECTORS = [
    f"{MODEL} == 'a'",
    f"{MODEL} != 'a'",
    f"{INDEX} < 3",
    "'index' in device.attributes['gpu.example.com'] && device.attributes['gpu.example.com'].index >= 1",
    f"device.driver == 'nic.example.com' || {INDEX} > 0",
    "has(device.attributes['gpu.example.com'].model)",
    "true",
]
RARE_SELECTORS = [
    "device.attributes['gpu.example.com'].model == 'a'",
    "device.attributes['gpu.example.com'].index < 2",
    "device.attributes['gpu.example.com'].none == 1",
    "false",
    "1",
    "device.driver.format([]) == ''",
]
# Without a slash, a name is of the driver's domain.
ATTRIBUTES = ["index", "model", "numa", "resource.example.com/root", "gpu.example.com/model"]
CONSTRAINED = ["gpu.example.com/numa", "resource.example.com/root", "gpu.example.com/model", "nic.example.com/numa", "gpu.example.com/index"]
EFFECTS = ["NoSchedule", "NoExecute", "None", "Other"]


class Generator:
    """One question. Each feature is common in some questions and missing in others.

    nodes: {name: labels}; the first is the one that a question of one node asks about, and has most of the devices.
    """

    POOLS, N_POOLS = ("p", "pool-b", "pool-a", "p1"), (1, 1, 2, 3)
    MEMORY = ("80Gi", "40Gi", "16Gi", "0.5")
    RARE = RARE_SELECTORS
    EFFECTS = EFFECTS
    ERROR_CLASSES = ("broken", "odd", "missing")

    def __init__(self, dice, nodes=None):
        self.dice = dice
        self.nodes = nodes or {"n1": {"zone": "z1"}, "n2": {}}
        self.homes = list(self.nodes)[:1] + list(self.nodes)
        self.rates = {name: dice.choice([0, 0, 0.1, 0.4]) for name in
                      ("taint", "admin", "all", "alternatives", "constraint", "stale", "conditions", "counters", "capacity", "error", "wide", "busy")}
        if dice.random() < 0.5:
            self.rates["capacity"] = 0
        if dice.random() < 0.5:
            self.rates["error"] = 0

    def chance(self, name):
        return self.dice.random() < self.rates[name]

    def attribute(self, name):
        if name.endswith("index"):
            return {"int": self.dice.randrange(4)}
        if name.endswith("model"):
            return {"string": self.dice.choice("ab")}
        return self.dice.choice([{"int": self.dice.randrange(2)}, {"int": 0}, {"bool": True}, {"string": "0"}, {"version": self.dice.choice(["1.0.0", "2.0.0"])}])

    def taint(self):
        taint = {"key": self.dice.choice("kl"), "value": self.dice.choice(["", "v"]), "effect": self.dice.choice(self.EFFECTS)}
        return {key: value for key, value in taint.items() if value}

    def toleration(self):
        toleration = {"key": self.dice.choice(["", "k", "l"]), "operator": self.dice.choice(["", "Exists", "Equal"]),
                      "value": self.dice.choice(["", "v"]), "effect": self.dice.choice(["", *EFFECTS[:2]])}
        return {key: value for key, value in toleration.items() if value}

    def counters(self, most):
        return {name: {"value": str(self.dice.randint(0 if most < 4 else 2, most))} for name in ("slots", "memory") if self.dice.random() < 0.8}

    def device(self, driver, name, sets):
        out = {"name": name, "attributes": {}, "capacity": {}}
        for attribute in ATTRIBUTES[:4]:
            if self.dice.random() < (0.9 if driver == DRIVERS[0] else 0.5):
                out["attributes"][attribute] = self.attribute(attribute)
        if self.dice.random() < 0.002:
            out["attributes"]["gpu.example.com/model"] = self.attribute("model")
        if self.chance("error") and self.dice.random() < 0.1:
            out["attributes"]["list"] = {"ints": [1]}
        if driver == DRIVERS[0]:
            out["capacity"]["memory"] = {"value": self.dice.choice(self.MEMORY)}
        if self.chance("capacity"):
            self.shared(out)
        if self.chance("taint"):
            out["taints"] = [self.taint() for _ in range(self.dice.randint(1, 2))]
        if self.chance("conditions"):
            out["bindingConditions"], out["bindingFailureConditions"] = ["ready"], ["failed"]
            if self.dice.random() < 0.3:
                out["bindsToNode"] = True
        if sets and self.dice.random() < 0.7:
            out["consumesCounters"] = [{"counterSet": name, "counters": self.counters(3)} for name in self.dice.sample(sets, self.dice.randint(1, len(sets)))]
        return {key: value for key, value in out.items() if value}

    def shared(self, device):
        if self.dice.random() < 0.6:
            device["allowMultipleAllocations"] = True
        if self.dice.random() < 0.5:
            device["capacity"]["slots"] = {"value": str(self.dice.choice([2, 4, 8]))}
        for capacity in device["capacity"].values():
            if self.dice.random() < 0.5:
                capacity["requestPolicy"] = self.policy(capacity["value"])
        if self.dice.random() < 0.1:
            device["capacity"] = {}

    def policy(self, value):
        unit, most = ("Gi", 80) if value.endswith("Gi") else ("", 8)
        amounts = sorted(self.dice.sample(range(1, most), self.dice.randint(2, 4)))
        policy = {"default": f"{amounts[0]}{unit}"}
        if self.dice.random() < 0.5:
            policy["validValues"] = [f"{amount}{unit}" for amount in amounts]
        else:
            policy["validRange"] = {"min": f"{amounts[0]}{unit}"}
            if self.dice.random() < 0.5:
                policy["validRange"]["step"] = f"{self.dice.choice([1, 2, 3])}{unit}"
            if self.dice.random() < 0.5:
                policy["validRange"]["max"] = f"{amounts[-1]}{unit}"
        if self.dice.random() < 0.1:
            del policy["default"]
        return policy

    def amounts(self):
        out = {}
        if self.dice.random() < 0.8:
            out["memory"] = self.dice.choice(["1Gi", "5Gi", "10Gi", "16Gi", "40Gi", "81Gi"])
        if self.dice.random() < 0.3:
            out["slots"] = str(self.dice.randint(1, 5))
        if self.dice.random() < 0.02:
            out["gpu.example.com/memory"] = "1"
        return out

    def place(self, spec, node):
        kind = self.dice.choice(["name"] * 6 + ["selector", "field", "all", "device"])
        if kind == "name":
            spec["nodeName"] = node
        elif kind == "all":
            spec["allNodes"] = True
        elif kind == "device":
            spec["perDeviceNodeSelection"] = True
            for device in spec["devices"]:
                self.place_device(device, node)
        else:
            spec["nodeSelector"] = self.selector(node, kind)

    def place_device(self, device, node):
        if self.dice.random() < 0.5:
            device["nodeName"] = self.dice.choice(list(self.nodes))
        elif self.dice.random() < 0.5:
            device["allNodes"] = True
        else:
            device["nodeSelector"] = self.selector(node, "selector")

    def selector(self, node, kind):
        if kind == "field":
            return {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}
        term = {"key": "zone", "operator": "In", "values": self.dice.sample(["z1", "z2", "z3"], 2)} if self.dice.random() < 0.7 else {"key": "zone", "operator": "Exists"}
        return {"nodeSelectorTerms": [{"matchExpressions": [term]}]}

    def pool(self, driver, name):
        """Slices of one pool: mostly of one generation and complete."""
        node = self.dice.choice(self.homes)
        n = self.dice.choice([1, 1, 1, 2, 3])
        with_sets = self.chance("counters")
        sets = ["set-a", "set-b"][: self.dice.randint(1, 2)] if with_sets else []
        specs, names = [], [f"d{i}" for i in range(24)]
        self.dice.shuffle(names)
        for _ in range(n):
            devices = [self.device(driver, names.pop(), sets) for _ in range(self.dice.choice([0, 2, 3, 4, 6, 8]))]
            spec = {"devices": devices}
            self.place(spec, node if self.dice.random() < 0.8 else self.dice.choice(list(self.nodes)))
            specs.append(spec)
        if with_sets:
            spec = {"sharedCounters": [{"name": name, "counters": self.full_counters()} for name in sets]}
            self.place({**spec, "devices": []}, node)
            spec["nodeName"] = node
            specs.append(spec)
        if self.chance("stale"):
            self.disturb(specs)
        return self.slices(specs, driver, name)

    def full_counters(self):
        counters = self.counters(6)
        return counters if self.dice.random() < 0.1 else {"slots": {"value": "4"}, "memory": {"value": "5"}, **counters}

    def disturb(self, specs):
        """Duplicate names, a missing slice, an old or a new generation."""
        kind = self.dice.choice(["missing", "old", "new", "twice", "count", "set"])
        spec = self.dice.choice(specs)
        if kind == "missing":
            spec["gone"] = True
        elif kind in ("old", "new"):
            spec["generation"] = 1 if kind == "old" else 3
            if self.dice.random() < 0.5:
                spec["extra"] = True
        elif kind == "count":
            spec["count"] = len(specs) + 1
        elif kind == "set" and spec.get("sharedCounters"):
            spec["sharedCounters"].append(spec["sharedCounters"][0])
        elif spec.get("devices"):
            spec["devices"].append(spec["devices"][0])

    def slices(self, specs, driver, name):
        count = sum(not spec.get("extra") for spec in specs)
        out = []
        for spec in specs:
            if spec.pop("gone", False):
                continue
            spec.pop("extra", None)
            pool = {"name": name, "generation": spec.pop("generation", 2), "resourceSliceCount": spec.pop("count", count)}
            out.append({"metadata": {"name": f"s{self.dice.randrange(10**6):06}"}, "spec": {"driver": driver, "pool": pool, **spec}})
        return out

    def cluster(self):
        out = []
        for driver in DRIVERS[: self.dice.choice([1, 2, 2])]:
            for name in self.dice.sample(self.POOLS, self.dice.choice(self.N_POOLS)):
                out += self.pool(driver, name)
        self.dice.shuffle(out)
        return out

    def selectors(self):
        n = self.dice.choice([0, 0, 0, 1, 2])
        return [{"cel": {"expression": self.dice.choice(self.RARE if self.chance("error") and self.dice.random() < 0.3 else SELECTORS)}} for _ in range(n)]

    def want(self, name, can_be_admin):
        out = {"deviceClassName": self.device_class(), "allocationMode": "ExactCount", "count": self.dice.choice([1, 1, 1, 1, 2, 2, 3])}
        if self.chance("all"):
            out["allocationMode"] = "All"
            del out["count"]
        elif self.chance("wide"):
            out["count"] = self.dice.choice([8, 16, 31, 33])
        if name:
            out["name"] = name
        if can_be_admin and self.chance("admin"):
            out["adminAccess"] = True
        selectors = self.selectors()
        if selectors:
            out["selectors"] = selectors
        if self.chance("taint") or self.dice.random() < 0.1:
            out["tolerations"] = [self.toleration() for _ in range(self.dice.randint(1, 2))]
        if self.chance("capacity"):
            out["capacity"] = {"requests": self.amounts()}
        return out

    def device_class(self):
        if self.chance("error") and self.dice.random() < 0.2:
            return self.dice.choice(self.ERROR_CLASSES)
        return self.dice.choice(["gpu", "gpu", "gpu", "nic", "any", "big"])

    def request(self, name):
        if self.chance("alternatives"):
            return {"name": name, "firstAvailable": [self.want(f"a{i}", False) for i in range(self.dice.randint(1, 3))]}
        return {"name": name, "exactly": self.want("", True)}

    def constraint(self, requests):
        names = []
        for request in self.dice.sample(requests, self.dice.randint(0, len(requests))):
            alternatives = request.get("firstAvailable", [])
            names.append(f"{request['name']}/{alternatives[0]['name']}" if alternatives and self.dice.random() < 0.5 else request["name"])
        kind = self.dice.choice(["matchAttribute", "matchAttribute", "distinctAttribute"])
        return {kind: self.dice.choice(CONSTRAINED), **({"requests": names} if names else {})}

    def claim(self, name):
        requests = [self.request(f"r{i}") for i in range(self.dice.choice([1, 1, 2, 2, 3]))]
        devices = {"requests": requests}
        if self.chance("constraint"):
            devices["constraints"] = [self.constraint(requests) for _ in range(self.dice.randint(1, 2))]
        return {"metadata": {"name": name, "namespace": "ns"}, "spec": {"devices": devices}}

    def results(self, slices, share):
        out = []
        for one in slices:
            for device in one["spec"].get("devices", []):
                if self.dice.random() < share:
                    result = {"request": "r", "driver": one["spec"]["driver"], "pool": one["spec"]["pool"]["name"], "device": device["name"]}
                    if self.dice.random() < 0.1:
                        result["adminAccess"] = True
                    if self.chance("capacity"):
                        result["shareID"] = f"u{self.dice.randrange(9)}"
                        if self.dice.random() < 0.9:
                            result["consumedCapacity"] = self.amounts()
                    out.append(result)
        return out

    def allocated(self, name, slices, share):
        allocation = {"devices": {"results": self.results(slices, share)}}
        if self.dice.random() < 0.7:
            allocation["nodeSelector"] = self.selector(self.dice.choice(self.homes), "field")
        return {"metadata": {"name": name, "namespace": "ns"}, "status": {"allocation": allocation}}

    def node(self, name):
        return {"metadata": {"name": name, "labels": self.nodes[name]}}

    def classes(self):
        selectors = {name: [{"cel": {"expression": text}} for text in texts] for name, texts in CLASSES.items()}
        return [{"metadata": {"name": name}, "spec": {"selectors": each}} for name, each in selectors.items()]

    def question(self):
        slices = self.cluster()
        claims = [self.claim(f"c{i}") for i in range(self.dice.choice([1, 1, 1, 2, 3]))]
        if self.dice.random() < 0.1:
            claims.insert(self.dice.randrange(len(claims) + 1), self.allocated("mine", slices, 0.1))
        return {
            "node": self.node(self.homes[0]),
            "slices": slices,
            "classes": self.classes(),
            "claims": claims,
            "others": [self.allocated("other", slices, 0.3)] if self.chance("busy") else [],
        }


def question(dice):
    return Generator(dice).question()
