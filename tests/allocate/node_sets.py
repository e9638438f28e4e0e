"""The dry run's sets of nodes against kube-scheduler's allocator: random clusters and pods (clusters.py), each asked on all nodes at once."""

import collections
import dataclasses
import json
import random

from agreement.rounds import reload
from clusters import NAMESPACES, POLICY, State, question_of
from compare import answers, differs
from service import Service


@dataclasses.dataclass
class Tally:
    cases: int = 0
    agreed: int = 0
    nodes: int = 0  # of the cases that were judged
    fitting: int = 0  # of these nodes
    timeouts: int = 0
    unjudged: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    differences: list = dataclasses.field(default_factory=list)


def objects_of(state):
    """The cluster as the dry run reads it from a file."""
    items = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}} for name, labels in NAMESPACES.items()]
    items += state.objects()
    for item in items:
        item["metadata"].setdefault("uid", f"uid of {item['metadata'].get('namespace')}/{item['metadata']['name']}")
    return items


def said(service, made, pod):
    """({node: reason}, the message of a node that is not judged)."""
    answer = service.post("/v1/dry-run", {"apiVersion": "v1", "kind": "List", "items": [*made, pod]})
    assert answer.status == 200, answer
    (workload,) = answer.json()["workloads"]
    unjudged = [item["message"] for item in workload["nodes"] if item["reason"] == "claim_not_judged"]
    return {item["node"]: item["reason"] for item in workload["nodes"]}, unjudged[0].rpartition(": ")[2] if unjudged else None


def expected(by_node):
    """{node: reasons} of kube-scheduler's answers. An error on one node rejects the pod on all; a class that is missing, before that."""
    if any(each["verdict"] == "error" for each in by_node.values()):
        return {node: {"claim_error", "claim_class"} for node in by_node}
    reasons = {"fits": {"fits"}, "elsewhere": {"claim_elsewhere"}}
    return {node: reasons.get(each["verdict"], {"claim_total", "claim_free", "claim_tainted"}) for node, each in by_node.items()}


def judge(tally, case, reasons, unjudged, theirs, ours):
    """theirs, ours: {node: answer}, of both allocators."""
    wanted = expected(theirs)
    tally.cases += 1
    if any(each["verdict"] == "timeout" for each in theirs.values()):
        tally.timeouts += 1
    elif unjudged:
        tally.unjudged[unjudged] += 1
    elif any(reasons[node] not in wanted[node] for node in wanted):
        tally.differences.append((case, reasons, theirs))
    elif any(differs(ours[node], theirs[node]) for node in wanted if ours[node]["verdict"] != "not judged"):
        tally.differences.append((case, ours, theirs))
    else:
        tally.agreed += 1
        tally.nodes += len(reasons)
        tally.fitting += sum(reason == "fits" for reason in reasons.values())


def compare_cluster(tally, service, path, seed, n_cases, our_program, oracle):
    dice = random.Random(f"sets {seed}")
    state = State(dice, rooms=False)
    items = objects_of(state)
    cases = [state.case(number) for number in range(n_cases)]
    nodes = {item["metadata"]["name"]: item for item in items if item["kind"] == "Node"}
    reload(service, path, items)
    questions = [question_of(items, made, pod) for made, pod in cases]
    theirs = answers(oracle, [{**question, "nodes": list(nodes.values())} for question in questions])
    ours = iter(answers(our_program, [{**question, "node": node} for question in questions for node in nodes.values()]))
    for number, ((made, pod), their) in enumerate(zip(cases, theirs, strict=True)):
        our = {node: next(ours) for node in nodes}
        judge(tally, (seed, number), *said(service, made, pod), dict(zip(nodes, their, strict=True)), our)


def compare_clusters(tally, folder, seeds, n_cases, our_program, oracle):
    """folder: for the files of the service."""
    policy, path = f"{folder}/policy.json", f"{folder}/cluster.json"
    with open(policy, "w", encoding="utf-8") as file:
        json.dump(POLICY, file)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"kind": "List", "items": objects_of(State(random.Random(0)))}, file)
    service = Service("--cluster-file", path, "--config", policy)
    try:
        for seed in seeds:
            compare_cluster(tally, service, path, seed, n_cases, our_program, oracle)
            if len(tally.differences) >= 10:
                break
    finally:
        service.stop()
