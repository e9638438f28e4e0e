"""One cluster with devices, and its cases: the service is asked about a pod with claims, then the pod is scheduled, and both must agree.

The service has the cluster from a file, and the claims and templates from the manifest of the dry run; or it follows the API server, where the
claims and templates are created first, and is asked by a dry run that only names them, or to explain the pod while a scheduling gate holds it.

kube-scheduler runs without us, or with us if the pods have the marker (is_marked): then it must take the node that the dry run ranks first.
The node that it chooses must be one that fits, with the devices that allocate/ gives the pod there
(tests/allocate/answer.c), and a pod that fits nowhere must be refused. The test makes the claims of templates and ends pods as
kube-controller-manager does, so that no case begins before the one before it has ended.
"""

import contextlib
import dataclasses
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "allocate"))

from agreement.rounds import HARMLESS, NODES, PODS, Seen, dry_run_over, is_decided, keep_parts, pods_path, read_part, without_generated  # noqa: E402
from api import wait_until  # noqa: E402
from cluster import configuration, scheduled  # noqa: E402
from clusters import API, EXTENDED, NAMESPACES, POLICY, State, as_ready, question_of, template_of  # noqa: E402
from compare import answers  # noqa: E402
from plane import Plane  # noqa: E402
from service import ROOT, Service  # noqa: E402

GROUP = "/apis/resource.k8s.io/v1"
RULES = "/apis/resource.k8s.io/v1beta2/devicetaintrules"
# In the order in which they are created.
KINDS = {
    "Node": ("v1", NODES),
    "DeviceClass": (API, f"{GROUP}/deviceclasses"),
    "ResourceSlice": (API, f"{GROUP}/resourceslices"),
    "DeviceTaintRule": ("resource.k8s.io/v1beta2", RULES),
    "ResourceClaimTemplate": (API, f"{GROUP}/resourceclaimtemplates"),
    "Pod": ("v1", PODS),
    "ResourceClaim": (API, f"{GROUP}/resourceclaims"),
}
LISTED = {**KINDS, "Namespace": ("v1", "/api/v1/namespaces")}
GATE = "--feature-gates=DRADeviceTaintRules=true"
TAKES_BACK = "kube-scheduler takes the devices back"
BINDS_LATER = "the service has just started"
DEALLOCATED = "deallocation of ResourceClaim completed"
GATE_OF_POD = "example.com/asked"
MARKER = "gpu-extender.io/claims"
ANSWER = os.path.join(ROOT, "build/test/tests/allocate/allocate_answer")


class RulesPlane(Plane):
    """A control plane that has DeviceTaintRules."""

    def apiserver_options(self):
        return (*super().apiserver_options(), "--runtime-config=resource.k8s.io/v1beta2=true", GATE)


def prepare(api):
    for name, labels in NAMESPACES.items():
        api.create("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})


def path_of(item, named=False):
    """Of the item's collection, or of the item."""
    _, path = KINDS[item["kind"]]
    metadata = item["metadata"]
    if "namespace" in metadata:
        head, _, plural = path.rpartition("/")
        path = f"{head}/namespaces/{metadata['namespace']}/{plural}"
    return f"{path}/{metadata['name']}" if named else path


@dataclasses.dataclass
class Case:
    number: int
    made: list  # the claims and templates that come with the pod
    pod: dict
    way: str = "manifest"  # how the service is asked: or "names", "explain", over the live cluster

    def manifest(self):
        return {"apiVersion": "v1", "kind": "List", "items": [self.pod] if self.way == "names" else [*self.made, self.pod]}

    def created_pod(self):
        """Held by a gate if it is there while the service is asked."""
        held = {"schedulingGates": [{"name": GATE_OF_POD}]} if self.way == "explain" else {}
        return {**self.pod, "spec": {**self.pod["spec"], **held}}


@dataclasses.dataclass
class Plan:
    name: str
    items: list
    cases: list
    dice: random.Random | None = None
    is_marked: bool = False  # the pods come to the service, which binds them

    @property
    def is_live(self):
        return self.cases[0].way != "manifest"


def mark(pod):
    """As manifests/overlays/claims does."""
    container = pod["spec"]["containers"][0]
    container.setdefault("resources", {}).setdefault("limits", {})[MARKER] = "0"


def plan_of(seed, n_cases, is_marked=False):
    """The service follows every other cluster, and all if the pods are marked. There, many claims have constraints, which it has to keep."""
    dice = random.Random(f"claims {seed}")
    state = State(dice)
    items = [item for item in state.objects() if item["kind"] != "DeviceTaintRule" or "deviceSelector" in item["spec"]]  # PROTOCOL 11.4
    is_live = seed % 2 or is_marked
    ways = ("names",) if is_marked else ("names", "explain") if is_live else ("manifest",)
    if is_live:
        state.devices.rates["constraint"] = 0.6
    cases = [Case(number, *state.case(number), ways[number % len(ways)]) for number in range(n_cases)]
    for case in cases if is_marked else ():
        mark(case.pod)
    return Plan(f"claims-{seed}", items, cases, dice, is_marked)


def read_plan(folder):
    case = read_part(folder, "case.json")
    items = [item for item in read_part(folder, "cluster.json")["items"] if item["kind"] in KINDS]
    limits = case["pod"]["spec"]["containers"][0].get("resources", {}).get("limits", {})
    return Plan(f"again-{os.path.basename(folder)}", items, [Case(**case)], is_marked=MARKER in limits)


class Asked:
    """What the service says about one case."""

    def __init__(self, workload):
        self.workload = workload
        self.reasons = {item["node"]: item["reason"] for item in self.workload["nodes"]}
        self.fits = {item["node"] for item in self.workload["nodes"] if item["fits"]}
        notes = [note for note in self.workload["notEvaluated"] if not any(part in note for part in (*HARMLESS, GATE_OF_POD))]
        unjudged = [f"{item['node']}: {item['message']}" for item in self.workload["nodes"] if item["reason"] == "claim_not_judged"]
        freed = [item["message"] for item in self.workload["nodes"] if not self.fits and TAKES_BACK in item["message"]]
        self.unjudged = notes + unjudged + freed
        self.best = next((item["node"] for item in self.workload.get("placements", ())), None)
        self.waits = max((claim["bindingWaits"] for claim in self.workload["claims"]), default=0)  # on so many nodes that fit


@dataclasses.dataclass
class Tally:
    agreed: int = 0
    placed: int = 0
    devices: int = 0  # compared ones
    waited: int = 0  # for binding conditions, of those placed
    unjudged: list = dataclasses.field(default_factory=list)
    disagreements: list = dataclasses.field(default_factory=list)  # (folder, said, seen)
    reasons: dict = dataclasses.field(default_factory=dict)  # of refusals

    @property
    def cases(self):
        return self.agreed + len(self.unjudged) + len(self.disagreements)


class Round:
    """Runs a plan on a plane. A context manager; removes what it created."""

    def __init__(self, plane, plan):
        self.plane, self.api, self.plan = plane, plane.api, plan
        self.ends = contextlib.ExitStack()
        self.uids = {}
        self.items, self.message = [], ""
        self.n_fences = 0

    def __enter__(self):
        with contextlib.ExitStack() as ends:
            ends.callback(self.ends.close)
            self.ends.callback(self._clear)
            self._restore()
            self._start()
            ends.pop_all()
        return self

    def __exit__(self, *_):
        self.ends.close()

    # ---- the state ----

    def _restore(self):
        for kind in KINDS:
            for item in self.plan.items:
                if item["kind"] == kind:
                    self._create_with_status(item)

    def _create_with_status(self, item):
        """Also an object of a kept case, whose uids are gone."""
        old = item["metadata"].get("uid")
        text = json.dumps(item)
        for uid, new in self.uids.items():
            text = text.replace(f'"{uid}"', f'"{new}"')
        item = without_generated(json.loads(text))
        status = item.pop("status", None) if item["kind"] != "Node" else None
        created = self.api.create(path_of(item), item)
        name = f"{item['metadata'].get('namespace')}/{item['metadata']['name']}"
        if item["kind"] == "Pod":
            self.uids[old or f"uid of {name}"] = created["metadata"]["uid"]
        if status:
            self.api.merge(f"{path_of(item, True)}/status", {"status": status})

    def listed(self):
        """What the dry run is asked over."""
        found = []
        for kind, (version, path) in LISTED.items():
            found += [{"apiVersion": version, "kind": kind, **item} for item in self.api.get(path)["items"]]
        return found

    def _clear(self):
        for namespace in NAMESPACES:
            self.api.delete_all(pods_path(namespace))
        for item in self._of_kind("ResourceClaim"):
            self.free(item)
        for kind, (_, path) in KINDS.items():
            if kind in ("ResourceClaim", "ResourceClaimTemplate"):
                for namespace in NAMESPACES:
                    self.api.delete_all(path_of({"kind": kind, "metadata": {"namespace": namespace, "name": ""}}))
            elif kind != "Pod":
                self.api.delete_all(path)

    def _of_kind(self, kind):
        version, path = KINDS[kind]
        return [{"apiVersion": version, "kind": kind, **item} for item in self.api.get(path)["items"]]

    def _start(self):
        policy = self.plane.write(f"policy-{self.plan.name}.yaml", json.dumps(POLICY))
        self.file = self.plane.write(f"cluster-{self.plan.name}.json", json.dumps({"kind": "List", "items": self.listed()}))
        source = ("--kubeconfig", self.plane.kubeconfig()) if self.plan.is_live else ("--cluster-file", self.file)
        self.answers = Service(*source, "--config", policy)
        self.ends.callback(self.answers.stop)
        wait_until(lambda: self.answers.get("/readyz").status == 200, lambda: self.answers.get("/readyz"))
        alone = {"percentageOfNodesToScore": 100}
        asked = configuration(self.answers.address) if self.plan.is_marked else alone
        scheduler = self.plane.start_scheduler(f"kube-scheduler-{self.plan.name}", asked, options=(GATE,))
        self.ends.callback(scheduler.kill)

    # ---- one case ----

    def ask(self, case):
        """The service, about the cluster as it is now."""
        self.items = self.listed()
        if case.way == "manifest":
            (workload,) = dry_run_over(self.items, self.answers, self.file, case.manifest())["workloads"]
            return Asked(workload)
        self.create_made(case)
        if case.way == "explain":
            self.create_pod(case)
        self.fence(lambda fence: self.wait_until_followed(case, fence))
        if case.way == "names":
            (workload,) = self.told(self.answers.post("/v1/dry-run", case.manifest()))["workloads"]
            return Asked(workload)
        metadata = case.pod["metadata"]
        answer = self.told(self.answers.get(f"/v1/pods/{metadata['namespace']}/{metadata['name']}/explain"))
        return Asked({"nodes": answer["nodes"], "notEvaluated": answer["pod"]["notEvaluated"], "claims": answer["pod"]["claims"]})

    @staticmethod
    def told(answer):
        assert answer.status == 200, answer
        return answer.json()

    def wait_until_followed(self, case, fence):
        """Until the live service has the case's claims and templates, and a pod and a claim that were created after them."""
        names = {(kind, fence["namespace"], fence["name"]) for kind in ("Pod", "ResourceClaim")}
        names |= {(item["kind"], item["metadata"]["namespace"], item["metadata"]["name"]) for item in case.made}

        def missing():
            items = self.told(self.answers.get("/v1/snapshot"))["items"]
            return names - {(item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"]) for item in items}

        wait_until(lambda: not missing(), missing)

    def wait_for(self, case, holds):
        return self.api.wait_for(path_of(case.pod), f"metadata.name={case.pod['metadata']['name']}", holds)

    def set_conditions(self, path, name):
        """As a driver: those of a claim that the binding waits for."""
        claim = self.api.wait_for(path, f"metadata.name={name}", lambda seen: "allocation" in seen.get("status", {}))
        waiting = [result for result in claim["status"]["allocation"]["devices"].get("results", []) if "bindingConditions" in result]
        if waiting:
            self.api.merge(f"{path}/{name}/status", {"status": {"devices": list(map(as_ready, waiting))}})

    def set_conditions_of_extended(self, case):
        """The same of the claim that kube-scheduler makes for a resource that comes through a class."""
        if EXTENDED not in json.dumps(case.pod["spec"]["containers"]):
            return
        pod = self.wait_for(case, lambda pod: is_final(pod) or "extendedResourceClaimStatus" in pod["status"])
        if "extendedResourceClaimStatus" in pod["status"]:
            path = path_of({"kind": "ResourceClaim", "metadata": {**case.pod["metadata"], "name": ""}})
            self.set_conditions(path, pod["status"]["extendedResourceClaimStatus"]["resourceClaimName"])

    def create_made(self, case):
        for item in case.made:
            self.api.create(path_of(item), item)

    def create_pod(self, case):
        self.make_claims(case, self.api.create(path_of(case.pod), case.created_pod()))

    def schedule(self, case):
        """Creates what is not there yet, and returns what kube-scheduler did."""
        if case.way == "manifest":
            self.create_made(case)
            self.fence()
        if case.way == "explain":
            self.api.merge(path_of(case.pod, True), {"spec": {"schedulingGates": None}})
        else:
            self.create_pod(case)
        decided = self.wait_for(case, lambda pod: is_final(pod) or pod["status"].get("nominatedNodeName"))
        if not is_final(decided):
            for claim in self.claims_of(case).values():
                self.set_conditions(path_of(claim), claim["metadata"]["name"])
            self.set_conditions_of_extended(case)
            decided = self.wait_for(case, is_final)
        self.message = scheduled(decided).get("message", "")
        return Seen(decided["spec"].get("nodeName"), [])

    def fence(self, meanwhile=lambda fence: None):
        """kube-scheduler has seen all earlier changes of claims and pods once it refuses this pod: its claim names a class of its own.
        meanwhile: is called with the names of both while they exist."""
        self.n_fences += 1
        name, namespace = f"fence-{self.n_fences}", next(iter(NAMESPACES))
        request = {"name": "r", "exactly": {"deviceClassName": name}}
        metadata = {"name": name, "namespace": namespace}
        claim = {"kind": "ResourceClaim", "metadata": metadata, "spec": {"devices": {"requests": [request]}}}
        containers = [{"name": "main", "image": "example.com/none:1"}]
        pod = {"kind": "Pod", "metadata": metadata, "spec": {"containers": containers, "resourceClaims": [{"name": "c", "resourceClaimName": name}]}}
        for item in (claim, pod):
            self.api.create(path_of(item), item)
        self.api.wait_for(path_of(pod), f"metadata.name={name}", is_final)
        meanwhile(metadata)
        for item in (pod, claim):
            self.api.delete(path_of(item, True))

    def make_claims(self, case, pod):
        """Those of the pod's templates."""
        made = []
        for entry in pod["spec"]["resourceClaims"]:
            if "resourceClaimTemplateName" not in entry:
                continue
            metadata = {"name": f"{pod['metadata']['name']}-{entry['name']}", "namespace": pod["metadata"]["namespace"]}
            owner = {"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"], "controller": True}
            metadata["ownerReferences"] = [{**owner, "blockOwnerDeletion": True}]
            metadata["annotations"] = {"resource.kubernetes.io/pod-claim-name": entry["name"]}
            claim = {"kind": "ResourceClaim", "metadata": metadata, "spec": self.template(case, entry)}
            self.api.create(path_of(claim), claim)
            made.append({"name": entry["name"], "resourceClaimName": metadata["name"]})
        if made:
            self.api.merge(f"{path_of(case.pod, True)}/status", {"status": {"resourceClaimStatuses": made}})

    def template(self, case, entry):
        return template_of([*case.made, *self.items], case.pod["metadata"]["namespace"], entry["resourceClaimTemplateName"])

    def claims_of(self, case):
        """The pod's ResourceClaims, by the names of their entries."""
        namespace, name = case.pod["metadata"]["namespace"], case.pod["metadata"]["name"]
        there = {item["metadata"]["name"]: item for item in self._of_kind("ResourceClaim") if item["metadata"]["namespace"] == namespace}
        entries = case.pod["spec"]["resourceClaims"]
        return {entry["name"]: there[entry.get("resourceClaimName", f"{name}-{entry['name']}")] for entry in entries}

    def given(self, case):
        """{entry: the devices that the claim has}."""
        out = {}
        for name, claim in self.claims_of(case).items():
            out[name] = list(map(device_of, claim["status"]["allocation"]["devices"].get("results", [])))
        return out

    def ranked(self, case):
        """What the service records of prioritize; None: it was not called, as with one node that fits."""
        metadata = case.pod["metadata"]
        path = f"/v1/decisions?namespace={metadata['namespace']}&name={metadata['name']}&verb=prioritize&limit=1"
        return next(iter(self.told(self.answers.get(path))["decisions"]), None)

    def expected(self, case, node):
        """The same by allocate/, over the objects that the dry run saw."""
        nodes = {item["metadata"]["name"]: item for item in self.items if item["kind"] == "Node"}
        question = {"node": nodes[node], **question_of(self.items, case.made, case.pod)}
        (answer,) = answers(ANSWER, [question])
        if answer["verdict"] != "fits":
            return answer
        out = {}
        for entry, claim, results in zip(case.pod["spec"]["resourceClaims"], question["claims"], answer["results"], strict=True):
            out[entry["name"]] = list(map(device_of, claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", results)))
        return out

    # ---- between cases ----

    def free(self, claim):
        """Deallocates it as kube-controller-manager does."""
        self.api.merge(f"{path_of(claim, True)}/status", {"status": {"allocation": None, "reservedFor": None, "devices": None}})
        self.api.merge(path_of(claim, True), {"metadata": {"finalizers": None}})

    def end(self, name, namespace):
        """Ends a pod with the claims that were made for it; of others it is no user any more."""
        pod = self.api.get(pods_path(namespace, name))
        self.api.delete(pods_path(namespace, name))
        for claim in self._of_kind("ResourceClaim"):
            if any(owner["uid"] == pod["metadata"]["uid"] for owner in claim["metadata"].get("ownerReferences", [])):
                self.free(claim)
                self.api.delete(path_of(claim, True))
            elif any(user["uid"] == pod["metadata"]["uid"] for user in claim.get("status", {}).get("reservedFor", [])):
                left = [user for user in claim["status"]["reservedFor"] if user["uid"] != pod["metadata"]["uid"]]
                # Now and then it keeps its devices, as if the controller were late.
                if left or (self.plan.dice and self.plan.dice.random() < 0.15):
                    self.api.merge(f"{path_of(claim, True)}/status", {"status": {"reservedFor": left or None}})
                else:
                    self.free(claim)

    def change(self):
        dice = self.plan.dice
        pods = sorted((item["metadata"]["name"], item["metadata"]["namespace"]) for item in self._of_kind("Pod"))
        if dice and pods and dice.random() < 0.5:
            for pod in dice.sample(pods, min(len(pods), dice.randint(1, 3))):
                self.end(*pod)


def is_final(pod):
    """Bound or refused for good: kube-scheduler tries again after it took back a claim's devices, or if we bind nothing yet."""
    if scheduled(pod).get("reason") == "SchedulerError":
        return BINDS_LATER not in scheduled(pod).get("message", "")
    return is_decided(pod) and ("nodeName" in pod["spec"] or DEALLOCATED not in scheduled(pod).get("message", ""))


def waits(claims, before):
    """Whether one of them that was not allocated before got a device with binding conditions."""
    had = {item["metadata"]["uid"] for item in before if item["kind"] == "ResourceClaim" and "allocation" in item.get("status", {})}
    new = [claim for claim in claims if claim["metadata"]["uid"] not in had]
    return any("bindingConditions" in result for claim in new for result in claim["status"]["allocation"]["devices"].get("results", []))


def device_of(result):
    return {key: result[key] for key in ("request", "driver", "pool", "device")}


def difference(running, case, asked, seen, tally):
    """What disagrees; None: nothing."""
    if not seen.node:
        return f"refused, but it fits {sorted(asked.fits)}: {running.message}" if asked.fits else None
    if seen.node not in asked.fits:
        return f"bound to {seen.node}, which is said not to fit: {asked.reasons[seen.node]}"
    if running.plan.is_marked and seen.node != asked.best:
        return f"bound to {seen.node}, and {asked.best} is ranked first: {asked.workload['nodes']}; prioritize: {running.ranked(case)}"
    given, expected = running.given(case), running.expected(case, seen.node)
    tally.devices += sum(map(len, given.values()))
    if given != expected:
        return f"got {given}, expected {expected}"
    has_waited = waits(running.claims_of(case).values(), running.items)
    tally.waited += has_waited
    if asked.waits in (0, len(asked.fits)) and has_waited != (asked.waits > 0):
        return f"{'waited' if has_waited else 'did not wait'} for binding conditions, which was said of {asked.waits} of {len(asked.fits)} nodes"
    return None


def run_case(running, case, folder, tally):
    asked = running.ask(case)
    seen = running.schedule(case)
    what = None if asked.unjudged else difference(running, case, asked, seen, tally)
    if asked.unjudged:
        tally.unjudged.append(asked.unjudged[0])
    elif what:
        parts = {
            "cluster.json": {"kind": "List", "apiVersion": "v1", "items": running.items},
            "manifest.json": case.manifest(),
            "expected.json": {"workload": asked.workload},
            "seen.json": {"node": seen.node, "message": running.message, "difference": what},
            "case.json": dataclasses.asdict(case),
        }
        path = os.path.join(folder, f"{running.plan.name}-{case.number}")
        keep_parts(path, parts)
        tally.disagreements.append((path, what, seen))
    else:
        tally.agreed += 1
        tally.placed += seen.node is not None
        for reason in set() if seen.node else set(asked.reasons.values()):
            tally.reasons[reason] = tally.reasons.get(reason, 0) + 1
    if not seen.node:
        running.end(case.pod["metadata"]["name"], case.pod["metadata"]["namespace"])


def run_plan(plane, plan, folder, tally):
    with Round(plane, plan) as running:
        for case in plan.cases:
            run_case(running, case, folder, tally)
            running.change()
