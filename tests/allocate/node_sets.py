"""The dry run's sets of nodes against kube-scheduler's allocator: random clusters and pods (clusters.py), each asked on all nodes at once."""

import collections
import dataclasses
import json
import random

from agreement.rounds import reload
from clusters import POLICY, State, listed
from compare import NOT_JUDGED, TIMEOUT, ours
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


def said(service, made, pod):
    """({node: reason}, the message of a node that is not judged)."""
    answer = service.post("/v1/dry-run", {"apiVersion": "v1", "kind": "List", "items": [*made, pod]})
    assert answer.status == 200, answer
    (workload,) = answer.json()["workloads"]
    unjudged = [item["message"] for item in workload["nodes"] if item["reason"] == "claim_not_judged"]
    return {item["node"]: item["reason"] for item in workload["nodes"]}, unjudged[0].rpartition(": ")[2] if unjudged else None


def verdict(answer):
    return answer.split(" ", 1)[0]


def expected(by_node):
    """{node: reasons} of kube-scheduler's answers. An error on one node rejects the pod on all; a class that is missing, before that."""
    if any(verdict(each) == "error" for each in by_node.values()):
        return {node: {"claim_error", "claim_class"} for node in by_node}
    reasons = {"fits": {"fits"}, "elsewhere": {"claim_elsewhere"}}
    return {node: reasons.get(verdict(each), {"claim_total", "claim_free", "claim_tainted"}) for node, each in by_node.items()}


def judge(tally, case, reasons, unjudged, theirs, mine):
    """theirs, mine: {node: answer as written}, of both allocators."""
    wanted = expected(theirs)
    tally.cases += 1
    if TIMEOUT in theirs.values():
        tally.timeouts += 1
    elif unjudged:
        tally.unjudged[unjudged] += 1
    elif any(reasons[node] not in wanted[node] for node in wanted):
        tally.differences.append((case, reasons, theirs))
    elif any(mine[node] != theirs[node] for node in wanted if mine[node] != NOT_JUDGED):
        tally.differences.append((case, mine, theirs))
    else:
        tally.agreed += 1
        tally.nodes += len(reasons)
        tally.fitting += sum(reason == "fits" for reason in reasons.values())


def compare_cluster(tally, service, path, cluster, *given):
    """given: both allocators' answers, a list a case."""
    reload(service, path, cluster.items)
    for number, ((made, pod), *lists) in enumerate(zip(cluster.cases, *given, strict=True)):
        by_node = (dict(zip(cluster.nodes, each, strict=True)) for each in lists)
        judge(tally, (cluster.seed, number), *said(service, made, pod), *by_node)


def compare_clusters(tally, folder, clusters, program, answers_of):
    """folder: for the files of the service. answers_of: of a cluster's questions, upstream's."""
    policy, path = f"{folder}/policy.json", f"{folder}/cluster.json"
    with open(policy, "w", encoding="utf-8") as file:
        json.dump(POLICY, file)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"kind": "List", "items": listed(State(random.Random(0)))}, file)
    service = Service("--cluster-file", path, "--config", policy)
    try:
        for cluster in clusters:
            questions = cluster.questions()
            compare_cluster(tally, service, path, cluster, answers_of(questions), ours(program, questions))
            if len(tally.differences) >= 10:
                break
    finally:
        service.stop()
