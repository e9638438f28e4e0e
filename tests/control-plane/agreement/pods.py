"""Random pods. `alone`: kube-scheduler must be able to judge all that the pod asks for; without it annotations of ours count, too."""

import json

GPU = "nvidia.com/gpu"
MODELS = ("NVIDIA-H100-80GB-HBM3", "NVIDIA-A100-SXM4-40GB", "Tesla-T4", "NVIDIA-L4", "Tesla-V100-SXM2-32GB")
PRIORITIES = {"agree-low": (-10, True), "agree-mid": (100, True), "agree-high": (1000, True), "agree-quiet": (1000, False)}
APPS = ("web", "db", "train")
MANAGED = (GPU, "amd.com/gpu")  # of the shipped configuration: kube-scheduler asks us about pods that name one


def chance(dice, share):
    return dice.random() < share


def requests_of(dice, gpus):
    needs = {}
    if chance(dice, 0.9):
        needs["cpu"] = dice.choice(("100m", "500m", "1", "3", "7500m"))
    if chance(dice, 0.8):
        needs["memory"] = dice.choice(("64Mi", "1Gi", "10Gi", "40Gi"))
    if chance(dice, 0.1):
        needs["ephemeral-storage"] = dice.choice(("1Gi", "15Gi"))
    if gpus:
        needs[GPU] = str(gpus)
    if chance(dice, 0.06):
        needs["amd.com/gpu"] = "1"
    if chance(dice, 0.08):
        needs["example.com/fpga"] = "1"
    if chance(dice, 0.04) and "memory" in needs:
        needs["hugepages-2Mi"] = "256Mi"
    return needs


def container(dice, name, gpus=0, **more):
    needs = requests_of(dice, gpus)
    return {"name": name, "image": "example.com/none:1", "resources": {"requests": needs, "limits": needs}, **more}


def containers_of(dice):
    gpus = dice.choice((0, 0, 0, 1, 1, 2, 4, 8))
    found = [container(dice, "main", gpus)]
    if chance(dice, 0.2):
        found.append(container(dice, "second", dice.choice((0, 0, 1))))
    return found


def init_containers_of(dice):
    found = []
    if chance(dice, 0.15):
        found.append(container(dice, "prepares", dice.choice((0, 0, 1, 2))))
    if chance(dice, 0.1):
        found.append(container(dice, "sidecar", restartPolicy="Always"))
    if chance(dice, 0.05):
        found.append(container(dice, "after", dice.choice((0, 1))))
    return found


def expression(dice):
    key = dice.choice(("pool", "topology.kubernetes.io/zone", "cores", "kubernetes.io/hostname", "nowhere"))
    operator = dice.choice(("In", "In", "NotIn", "Exists", "DoesNotExist", *(("Gt", "Lt") if key == "cores" else ())))
    values = {"pool": ("a", "b"), "topology.kubernetes.io/zone": ("z1", "z2", "z3"), "cores": ("8", "16", "32")}
    found = {"key": key, "operator": operator}
    if operator in ("In", "NotIn"):
        known = values.get(key, [f"node-{number}" for number in range(6)])
        found["values"] = dice.sample(list(known), dice.randint(1, len(known)))
    if operator in ("Gt", "Lt"):
        found["values"] = [str(dice.choice((8, 15, 31)))]
    return found


def node_term(dice):
    term = {"matchExpressions": [expression(dice) for _ in range(dice.choice((1, 1, 2)))]}
    if chance(dice, 0.1):
        term = {"matchFields": [{"key": "metadata.name", "operator": dice.choice(("In", "NotIn")), "values": [f"node-{dice.randrange(6)}"]}]}
    return term


def node_affinity(dice):
    found = {}
    if chance(dice, 0.25):
        terms = [node_term(dice) for _ in range(dice.choice((1, 1, 2)))]
        found["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    if chance(dice, 0.06):
        preferred = {"weight": dice.choice((1, 50, 100)), "preference": node_term(dice)}
        found["preferredDuringSchedulingIgnoredDuringExecution"] = [preferred]
    return found


def tolerations_of(dice):
    choices = [
        {"operator": "Exists"},
        {"key": "dedicated", "operator": "Equal", "value": "train", "effect": "NoSchedule"},
        {"key": "dedicated", "operator": "Exists"},
        {"key": GPU, "operator": "Exists", "effect": "NoSchedule"},
        {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"},
    ]
    return [toleration for toleration in choices if chance(dice, 0.12)]


def annotations_of(dice):
    found = {}
    if chance(dice, 0.35):
        names = dice.sample(("H100", "A100", "T4", "L4", "V100", "A100-40GB", "K80"), dice.choice((1, 1, 2)))
        found["gpu-extender.io/models"] = ",".join(names)
    if chance(dice, 0.1):
        found["gpu-extender.io/exclude-models"] = dice.choice(("T4", "H100", "V100"))
    if chance(dice, 0.1):
        found["gpu-extender.io/min-gpu-memory"] = dice.choice(("16Gi", "40Gi", "80Gi"))
    return found


def label_selector(dice):
    """Over the labels of pod_of(); now and then absent, or empty."""
    kind = dice.random()
    if kind < 0.05:
        return {}
    if kind < 0.1:
        return {"labelSelector": {}}
    if kind < 0.7:
        return {"labelSelector": {"matchLabels": {"app": dice.choice(APPS)}}}
    expression = {"key": dice.choice(("app", "team", "nothing")), "operator": dice.choice(("In", "NotIn", "Exists", "DoesNotExist"))}
    if expression["operator"] in ("In", "NotIn"):
        expression["values"] = dice.sample(("web", "db", "a", "b"), dice.randint(1, 2))
    return {"labelSelector": {"matchExpressions": [expression]}}


def pod_term(dice, labels):
    """A required term of affinity between pods. labels: of the pod itself, which it often selects."""
    term = {"topologyKey": dice.choice(("kubernetes.io/hostname", "topology.kubernetes.io/zone", "pool")), **label_selector(dice)}
    if chance(dice, 0.4):
        term["labelSelector"] = {"matchLabels": {"app": labels["app"]}}
    if chance(dice, 0.15):
        term["namespaces"] = dice.sample(("agree-a", "agree-b", "elsewhere"), dice.randint(1, 2))
    if chance(dice, 0.2):
        term["namespaceSelector"] = dice.choice(({}, {"matchLabels": {"team": "a"}}, {"matchExpressions": [{"key": "tier", "operator": "Exists"}]}))
    if chance(dice, 0.15) and "team" not in json.dumps(term.get("labelSelector", "team")):
        term[dice.choice(("matchLabelKeys", "mismatchLabelKeys"))] = ["team"]
    return term


def spread_constraint(dice, labels):
    found = {"topologyKey": dice.choice(("kubernetes.io/hostname", "topology.kubernetes.io/zone", "pool")), "maxSkew": dice.choice((1, 1, 2))}
    found["whenUnsatisfiable"] = "DoNotSchedule"
    found.update(label_selector(dice))
    if chance(dice, 0.6):
        found["labelSelector"] = {"matchLabels": {"app": labels["app"]}}
    if chance(dice, 0.2):
        found["minDomains"] = dice.choice((2, 3, 5))
    if chance(dice, 0.2):
        found["nodeAffinityPolicy"] = dice.choice(("Honor", "Ignore"))
    if chance(dice, 0.2):
        found["nodeTaintsPolicy"] = dice.choice(("Honor", "Ignore"))
    if chance(dice, 0.15) and "team" not in json.dumps(found.get("labelSelector", "team")):
        found["matchLabelKeys"] = ["team"]
    return found


def add_terms(dice, labels, spec):
    """What the pod asks of other pods."""
    for member, share in (("podAffinity", 0.12), ("podAntiAffinity", 0.2)):
        if chance(dice, share):
            terms = [pod_term(dice, labels) for _ in range(dice.choice((1, 1, 1, 2)))]
            spec.setdefault("affinity", {})[member] = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    if chance(dice, 0.15):
        found = {each["topologyKey"]: each for each in (spread_constraint(dice, labels) for _ in range(dice.choice((1, 1, 2))))}
        spec["topologySpreadConstraints"] = list(found.values())


def is_managed(item):
    spec = item["spec"]
    containers = spec["containers"] + spec.get("initContainers", [])
    return any(name in each["resources"]["requests"] for each in containers for name in MANAGED)


def is_soft(item):
    """Whether kube-scheduler scores by something that the pod itself prefers."""
    affinity = item["spec"].get("affinity", {})
    return "preferredDuringSchedulingIgnoredDuringExecution" in affinity.get("nodeAffinity", {})


def pod_of(dice, name, alone):
    spec = {"containers": containers_of(dice), "terminationGracePeriodSeconds": 0}
    if found := init_containers_of(dice):
        spec["initContainers"] = found
    if chance(dice, 0.15):
        spec["nodeSelector"] = dice.choice(({"pool": "a"}, {"topology.kubernetes.io/zone": "z1"}, {"pool": "b", "cores": "16"}))
    if found := node_affinity(dice):
        spec["affinity"] = {"nodeAffinity": found}
    if found := tolerations_of(dice):
        spec["tolerations"] = found
    if chance(dice, 0.6):
        spec["priorityClassName"] = dice.choice(list(PRIORITIES))
    labels = {"app": dice.choice(APPS), **({"team": dice.choice("ab")} if chance(dice, 0.3) else {})}
    add_terms(dice, labels, spec)
    annotations = {} if alone else annotations_of(dice)
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "labels": labels, "annotations": annotations}, "spec": spec}
