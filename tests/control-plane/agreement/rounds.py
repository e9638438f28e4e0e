"""One cluster and its cases: the dry run is asked about a workload, then the workload's pods are created one at a time, and both must agree.

`beside`: kube-scheduler calls our service, and the node must be the same. `apart`: kube-scheduler runs without us, and only the verdict counts;
the node must be one that the dry run says fits. The dry run is asked over a file of the API server's lists, so that a case replays.
"""

import contextlib
import copy
import dataclasses
import json
import os
import random
import signal

import yaml
from agreement.pods import is_managed, is_soft, pod_of
from agreement.states import HELD, NAMESPACES, objects_of, started
from api import wait_until
from cluster import configuration, scheduled
from live import LiveCluster, wait_until_it_binds
from service import Service

MOST_UNJUDGED = 0.05
NODES, PODS = "/api/v1/nodes", "/api/v1/pods"
KEPT_KINDS = {
    "Node": NODES,
    "Pod": PODS,
    "Namespace": "/api/v1/namespaces",
    "PriorityClass": "/apis/scheduling.k8s.io/v1/priorityclasses",
}
# Notes that leave the verdict as it is: what a LimitRange might add, and what the policy says has no effect.
HARMLESS = ("no request for", "soft preferences:", "has no effect")
GENERATED = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "deletionTimestamp", "deletionGracePeriodSeconds")


def pods_path(namespace, name=""):
    return f"/api/v1/namespaces/{namespace}/pods{'/' if name else ''}{name}"


def name_of(item):
    return f"{item['metadata']['namespace']}/{item['metadata']['name']}"


@dataclasses.dataclass
class Case:
    number: int
    namespace: str
    pod: dict  # the template, named for its first replica
    replicas: int = 1

    def manifest(self):
        """A Pod, or a ReplicaSet of several."""
        metadata = {"name": self.pod["metadata"]["name"], "namespace": self.namespace}
        if self.replicas == 1:
            return {**self.pod, "metadata": {**self.pod["metadata"], **metadata}}
        template = {"metadata": {key: self.pod["metadata"][key] for key in ("labels", "annotations")}, "spec": self.pod["spec"]}
        spec = {"replicas": self.replicas, "selector": {"matchLabels": self.pod["metadata"]["labels"]}, "template": template}
        return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": spec}

    def replica(self, number):
        """The pod as its controller would create it."""
        item = copy.deepcopy(self.pod)
        item["metadata"]["name"] += f"-{number}"
        if self.replicas > 1:
            owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": self.pod["metadata"]["name"], "uid": f"set-{self.number}"}
            item["metadata"]["ownerReferences"] = [{**owner, "controller": True}]
        return item


@dataclasses.dataclass
class Seen:
    """What was said or done about one replica. node None: refused. victims: evicted for it, sorted."""

    node: str | None
    victims: list


class NotBound(Exception):
    """kube-scheduler nominated the pod, evicted its victims, and bound nothing until the limit."""


class Asked:
    """The dry run's answer about one case."""

    def __init__(self, answer):
        (self.workload,) = answer["workloads"]
        self.fits = {item["node"] for item in self.workload["nodes"] if item["fits"]}
        notes = self.workload["notEvaluated"]
        self.unjudged = [note for note in notes if not any(part in note for part in HARMLESS)]

    def verdict(self, number):
        """Of a replica; None for those after the first that is not placed."""
        node = self.workload["placements"][number]["node"]
        if node:
            return Seen(node, [])
        if number != self.workload["placed"]:
            return None
        eviction = self.workload["preemption"] or {"node": None, "victims": []}
        return Seen(eviction["node"], sorted(f"{pod['namespace']}/{pod['name']}" for pod in eviction["victims"]))


@dataclasses.dataclass
class Plan:
    """A cluster by its seed, or from the folder of a case."""

    name: str
    is_beside: bool
    policy: dict
    items: list
    cases: list
    dice: random.Random | None = None


def policy_of(dice):
    policy = {"apiVersion": "gpu-extender.io/v1alpha1", "kind": "SchedulerPolicy"}
    policy["placement"] = {"policy": dice.choice(("slot-price", "binpack", "spread", "fgd"))}
    if dice.random() < 0.4:
        limit = {"resource": "nvidia.com/gpu", "total": dice.choice((0, 4, 12))}
        if dice.random() < 0.4:
            limit["models"] = {"H100": dice.choice((0, 2)), "T4": 4}
        policy["quotas"] = [{"name": "some", "namespaces": [dice.choice(list(NAMESPACES))], "limits": [limit]}]
    return policy


def plan_of(seed, n_cases):
    dice = random.Random(seed)
    is_beside = seed % 2 == 0
    policy = policy_of(dice) if is_beside else {"apiVersion": "gpu-extender.io/v1alpha1", "kind": "SchedulerPolicy"}
    nodes, pods = objects_of(dice)
    cases = []
    for number in range(n_cases):
        pod = pod_of(dice, f"case-{number}", alone=not is_beside)
        # A slot's price depends on how many replicas are known, and here they come one at a time.
        several = is_beside and is_managed(pod) and policy["placement"]["policy"] != "slot-price" and dice.random() < 0.4
        cases.append(Case(number, dice.choice(list(NAMESPACES)), pod, dice.randint(2, 4) if several else 1))
    return Plan(f"agree-{seed}", is_beside, policy, nodes + pods, cases, dice)


def reload(service, path, items):
    """The service reads its cluster file again."""
    n_lines = len(service.log.lines)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"kind": "List", "items": items}, file)
    service.signal(signal.SIGHUP)
    line = service.log.wait_for({"msg": "reloaded"}, {"level": "error"}, after=n_lines)
    assert line["msg"] == "reloaded", line


def dry_run_over(items, service, path, manifest):
    """The answer of the service, whose cluster file gets these items."""
    reload(service, path, items)
    answer = service.post("/v1/dry-run", manifest)
    assert answer.status == 200, answer
    return answer.json()


class Round:
    """Runs a plan on a plane. A context manager; removes what it created."""

    def __init__(self, plane, plan):
        self.plane, self.api, self.plan = plane, plane.api, plan
        self.live = LiveCluster(plane, plan.name)
        self.ends = contextlib.ExitStack()
        self.n_started = 40000

    def __enter__(self):
        self.live.__enter__()
        self.ends.callback(self.live.__exit__, None, None, None)
        for namespace in NAMESPACES:
            self.ends.callback(self.api.delete_all, pods_path(namespace))
            self.ends.callback(self._let_go, namespace)
        self._restore()
        self._start()
        return self

    def __exit__(self, *failure):
        return self.ends.__exit__(*failure)

    def _let_go(self, namespace):
        for item in self.api.get(pods_path(namespace))["items"]:
            if item["metadata"].get("finalizers"):
                self.api.merge(pods_path(namespace, item["metadata"]["name"]), {"metadata": {"finalizers": None}})

    # ---- the state ----

    def _restore(self):
        kinds = {kind: [item for item in self.plan.items if item["kind"] == kind] for kind in ("Node", "Pod")}
        self.api.create_all(NODES, [without_generated(item) for item in kinds["Node"]])
        self.api.create_all(PODS, kinds["Pod"], lambda _, item: self._create_running(item))

    def _create_running(self, item):
        item = without_merged_keys(item)
        new = without_generated(item)
        namespace, name = item["metadata"]["namespace"], item["metadata"]["name"]
        self.api.create(pods_path(namespace), new)
        if "status" in item:
            self.api.merge(f"{pods_path(namespace, name)}/status", {"status": item["status"]})
        if "deletionTimestamp" in item["metadata"]:
            self.api.delete(pods_path(namespace, name))

    def listed(self):
        """What the dry run is asked over."""
        return [{"kind": kind, **item} for kind, path in KEPT_KINDS.items() for item in self.api.get(path)["items"]]

    def pods(self):
        return {name_of(item): item for item in self.api.get(PODS)["items"]}

    # ---- programs ----

    def _start(self):
        policy = self.plane.write(f"policy-{self.plan.name}.yaml", json.dumps(self.plan.policy))
        self.file = self.plane.write(f"cluster-{self.plan.name}.json", json.dumps({"kind": "List", "items": self.listed()}))
        self.answers = Service("--cluster-file", self.file, "--config", policy)
        self.ends.callback(self.answers.stop)
        if not self.plan.is_beside:
            apart = self.plane.start_scheduler(f"kube-scheduler-{self.plan.name}", {"percentageOfNodesToScore": 100})
            self.ends.callback(apart.kill)
            return
        self.live.start_service("--config", policy)
        wait_until_it_binds(self.live.service)
        self.live.start_scheduler()

    def ask(self, case):
        """The dry run, over the cluster as it is now."""
        self.items = self.listed()
        return Asked(dry_run_over(self.items, self.answers, self.file, case.manifest()))

    def wait_until_followed(self):
        """Until our service has seen the pods as they are; it keeps no finished ones."""
        if not self.plan.is_beside:
            return
        there = {name: item for name, item in self.pods().items() if item["status"]["phase"] != "Succeeded"}
        wanted = {name: item["spec"].get("nodeName", "") for name, item in there.items()}

        def shown():
            items = self.live.service.get("/v1/snapshot").json().get("items", [])
            return {name_of(item): item["spec"].get("nodeName", "") for item in items if item["kind"] in ("Pod", "KeptPod")}

        wait_until(lambda: shown() == wanted, lambda: f"{shown()}, should be {wanted}")

    # ---- one pod ----

    def create(self, case, number):
        """Creates a replica and returns what kube-scheduler did."""
        item = case.replica(number)
        path, name = pods_path(case.namespace), item["metadata"]["name"]
        before = self.pods()
        self.api.create(path, item)
        decided = self.api.wait_for(path, f"metadata.name={name}", is_decided)
        if "nodeName" in decided["spec"]:
            node = decided["spec"]["nodeName"]
        elif node := decided["status"].get("nominatedNodeName"):
            try:
                bound = self.api.wait_for(path, f"metadata.name={name}", lambda seen: "nodeName" in seen["spec"])
            except AssertionError as why:
                raise NotBound(f"{name}: {why}") from why
            node = f"{node}, but bound to {bound['spec']['nodeName']}" if bound["spec"]["nodeName"] != node else node
        return Seen(node, sorted(before.keys() - self.pods().keys()))

    def settle(self, case, number, seen):
        """A kubelet starts the pod; one that was refused goes."""
        name = case.replica(number)["metadata"]["name"]
        if not seen.node:
            self.api.delete(pods_path(case.namespace, name))
            return
        self.n_started += 1
        status = {"phase": "Running", "startTime": started(self.n_started)}
        self.api.merge(f"{pods_path(case.namespace, name)}/status", {"status": status})

    def change(self):
        """Some pods end between cases."""
        dice = self.plan.dice
        names = [name for name, item in sorted(self.pods().items()) if not item["metadata"].get("finalizers")]
        if dice and names and dice.random() < 0.5:
            for name in dice.sample(names, min(len(names), dice.randint(1, 3))):
                self.api.delete(pods_path(*name.split("/")))


def without_generated(item):
    """The object as it may be created."""
    return {**item, "metadata": {key: value for key, value in item["metadata"].items() if key not in GENERATED}}


def without_merged_keys(item):
    """The API server has merged matchLabelKeys into the selectors of stored pods, and rejects both together."""
    if "uid" not in item["metadata"] or "spec" not in item:
        return item
    item = copy.deepcopy(item)
    affinity = item["spec"].get("affinity", {})
    terms = [term for kind in ("podAffinity", "podAntiAffinity") for list_ in affinity.get(kind, {}).values() for term in list_]
    for term in terms + item["spec"].get("topologySpreadConstraints", []):
        term.pop("matchLabelKeys", None)
        term.pop("mismatchLabelKeys", None)
    return item


def is_decided(item):
    return "nodeName" in item["spec"] or scheduled(item).get("reason") == "Unschedulable"


def agree(case, plan, asked, said, seen):
    """Whether the verdict, the victims, and beside us the node are the same."""
    if said.victims or seen.victims or not said.node or not seen.node:
        return said == seen
    if plan.is_beside and is_managed(case.pod) and not is_soft(case.pod):
        return said.node == seen.node
    return seen.node in asked.fits


@dataclasses.dataclass
class Tally:
    agreed: int = 0
    unjudged: int = 0
    placed: int = 0
    nominated: int = 0
    disagreements: list = dataclasses.field(default_factory=list)  # folders

    @property
    def cases(self):
        return self.agreed + self.unjudged + len(self.disagreements)


def keep_parts(path, parts):
    os.makedirs(path, exist_ok=True)
    for name, part in parts.items():
        with open(os.path.join(path, name), "w", encoding="utf-8") as file:
            json.dump(part, file, indent=1)


def read_part(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return json.load(file)


def keep(folder, running, case, asked, said, seen):
    """Writes a disagreement as a folder that replays."""
    path = os.path.join(folder, f"{running.plan.name}-{case.number}")
    parts = {
        "cluster.json": {"kind": "List", "apiVersion": "v1", "items": running.items},
        "manifest.json": case.manifest(),
        "expected.json": {"said": dataclasses.asdict(said), "workload": asked.workload},
        "seen.json": dataclasses.asdict(seen),
        "case.json": {"beside": running.plan.is_beside, "policy": running.plan.policy, **dataclasses.asdict(case)},
    }
    if running.plan.is_beside:
        parts["decisions.json"] = running.live.service.get("/v1/decisions").json()
    keep_parts(path, parts)
    return path


def read_plan(folder):
    """The plan with the one case of such a folder."""
    case = read_part(folder, "case.json")
    is_beside, policy = case.pop("beside"), case.pop("policy")
    items = [item for item in read_part(folder, "cluster.json")["items"] if item["kind"] in ("Node", "Pod")]
    return Plan(f"again-{os.path.basename(folder)}", is_beside, policy, items, [Case(**case)])


def run_case(running, case, folder, tally):
    """Asks, creates the replicas up to the first that is not simply placed, and compares each."""
    running.wait_until_followed()
    asked = running.ask(case)
    agreed = True
    for number in range(case.replicas):
        said = asked.verdict(number)
        try:
            seen = running.create(case, number)
        except NotBound as why:
            print(f"{running.plan.name}-{case.number} not judged: {why}", flush=True)
            running.settle(case, number, Seen(None, []))
            tally.unjudged += 1
            return
        running.settle(case, number, seen)
        if not asked.unjudged and not agree(case, running.plan, asked, said, seen):
            tally.disagreements.append((keep(folder, running, case, asked, said, seen), said, seen))
            return
        if not seen.node or seen.victims or not said.node:
            break
        running.wait_until_followed()
    tally.placed += seen.node is not None
    tally.nominated += bool(seen.victims)
    tally.unjudged += bool(asked.unjudged)
    tally.agreed += agreed and not asked.unjudged


def run_plan(plane, plan, folder, tally):
    with Round(plane, plan) as running:
        for case in plan.cases:
            run_case(running, case, folder, tally)
            running.change()
