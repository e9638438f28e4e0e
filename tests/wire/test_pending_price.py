"""GET /v1/pending beside pods that take long to judge: an affinity may have hundreds of thousands of values.

A user who may create pods must not keep a thread busy for minutes: the same thread may serve kube-scheduler.
"""

import pytest
from objects import node, pod

N_NODES = 2000
MOST_VERDICTS = 1_000_000
# Number of comparisons that cost as much as a verdict; these exceed the limit.
COMPARISONS_OF_A_VERDICT = 16
TOO_MANY = COMPARISONS_OF_A_VERDICT * (1 + MOST_VERDICTS // N_NODES)


def in_one_of(values):
    expression = {"key": "kubernetes.io/hostname", "operator": "In", "values": values}
    return [{"matchExpressions": [expression]}]


def required(terms):
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}}


def preferred(terms):
    weighed = [{"weight": 1, "preference": term} for term in terms]
    return {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": weighed}}}


def tolerations(number):
    return {"tolerations": [{"key": f"key-{i}", "operator": "Exists"} for i in range(number)]}


COSTLY = {
    "values": required(in_one_of(["x"] * TOO_MANY)),
    "terms": required(in_one_of(["x"]) * TOO_MANY),
    "preferences": preferred(in_one_of(["x"]) * TOO_MANY),
    "tolerations": tolerations(TOO_MANY),
}


# test_shape_limits.py covers the memory of such pods.
POLICY = "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\nlimits: {podShapeBytes: 16Mi, objectValues: 200000}\n"


@pytest.mark.parametrize("costly", COSTLY)
@pytest.mark.long
def test_a_too_slow_pod_is_not_judged(start_over, write, costly):
    nodes = [node(f"n-{i}", 1) for i in range(N_NODES)]
    first = {**COSTLY[costly], "priority": 1}
    options = ["--config", write("policy.yaml", POLICY)]
    service = start_over(*nodes, pod("costly", 1, spec=first), pod("plain", 1), options=options)
    answer = service.get("/v1/pending").json()
    assert [(item["name"], item["judged"]) for item in answer["pods"]] == [("costly", False), ("plain", True)]
    assert answer["notJudged"] == 1
    assert service.get("/v1/pods/ml/costly/explain").json()["pod"]["judged"]
