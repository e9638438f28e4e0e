"""The pods that a workload of a dry run would evict. tests/unit/decide/test_evict.c covers their choice."""

import pytest
from objects import GPU, merged, node, pod

CLASSES = [
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value, **more}
    for name, value, more in (
        ("low", 10, {}),
        ("high", 1000, {}),
        ("patient", 1000, {"preemptionPolicy": "Never"}),
        ("usual", 50, {"globalDefault": True}),
    )
]
FLEET = [
    node("a", 8),
    node("b", 8),
    pod("a1", 4, "a", spec={"priority": 10}),
    pod("a2", 4, "a", spec={"priority": 100}),
    pod("b1", 8, "b", spec={"priority": 100}),
    *CLASSES,
]


@pytest.fixture(scope="module")
def service(module_service):
    return module_service(*FLEET)


def of(service, asking, output=""):
    answer = service.post("/v1/dry-run" + output, asking)
    return answer.text if output else answer.json()["workloads"][0]["preemption"]


def in_class(name, gpus, **spec):
    return pod("new", gpus, spec={"priorityClassName": name, **spec})


def test_the_victims(service):
    summary = (
        f"for the next one, kube-scheduler would evict 1 pod from a: ml/a1 (priority 10, 4 {GPU}); PodDisruptionBudgets are not read"
    )
    assert of(service, in_class("high", 4)) == {
        "priority": 1000,
        "summary": summary,
        "node": "a",
        "victims": [{"namespace": "ml", "name": "a1", "priority": 10, "gpus": {GPU: 4}}],
        "victimCount": 1,
    }
    assert of(service, in_class("high", 4), "?output=table&width=400").rstrip().endswith(f"\nPreemption: {summary}")


def test_the_global_default_counts(service):
    preemption = of(service, pod("new", 4))
    assert (preemption["priority"], preemption["node"]) == (50, "a")


def test_a_too_low_priority_evicts_no_pod(service):
    preemption = of(service, in_class("low", 4))
    assert preemption == {
        "priority": 10,
        "summary": "evicting pods of a priority below 10 makes room on no node",
        "node": None,
        "victims": [],
        "victimCount": 0,
    }


@pytest.mark.parametrize("asking", [in_class("patient", 4), in_class("high", 4, preemptionPolicy="Never")], ids=["class", "pod"])
def test_preemption_policy_never_evicts_no_pod(service, asking):
    preemption = of(service, asking)
    assert (preemption["node"], preemption["victims"]) == (None, [])
    assert preemption["summary"] == "its preemptionPolicy is Never: no pod is evicted for it"


def test_evictions_are_not_computed_where_they_cannot_help(service, start_over):
    """The pod fits, the API server would reject it, we reject it, or it is a DaemonSet's."""
    assert of(start_over(*FLEET, node("free", 8)), in_class("high", 4)) is None
    assert of(service, in_class("unknown", 4)) is None
    assert of(service, merged(in_class("high", 4), {"metadata": {"annotations": {"gpu-extender.io/models": ","}}})) is None
    daemons = {"kind": "DaemonSet", "metadata": {"name": "d"}, "spec": {"template": {"spec": in_class("high", 4)["spec"]}}}
    assert of(service, daemons) is None


FIRST, SECOND, THIRD = "2026-03-02T08:00:00Z", "2026-03-02T08:00:01Z", "2026-03-02T08:00:02Z"


def running(name, on, created, started):
    status = {"startTime": started} if started else {}
    return pod(name, 4, on, metadata={"creationTimestamp": created}, status=status)


def test_the_start_decides_and_not_the_creation(start_over):
    """kube-scheduler evicts what started last; a pod that no kubelet has started yet is the last."""
    alike = [running("created-last", "a", THIRD, FIRST), running("started-last", "a", FIRST, SECOND)]
    waiting = running("not-started", "b", FIRST, None)

    def victim(*pods):
        preemption = of(start_over(node("a", 8), node("b", 4), *pods, *CLASSES), in_class("high", 4))
        return [preemption["node"], *(victim["name"] for victim in preemption["victims"])]

    assert victim(*alike, running("started-first", "b", THIRD, FIRST)) == ["a", "started-last"]
    assert victim(*alike, waiting) == ["b", "not-started"]


def test_evictions_are_shown_for_the_first_unfit_replica(start_over):
    """The replica that fits takes its room first; the second one could have a with a2 still there."""
    template = {"spec": in_class("high", 6)["spec"]}
    deployment = {"kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 3, "template": template}}
    service = start_over(node("a", 8), node("free", 8), pod("a1", 4, "a"), pod("a2", 2, "a"), pod("a3", 1, "a"), *CLASSES)
    preemption = of(service, deployment)
    assert (preemption["node"], [victim["name"] for victim in preemption["victims"]]) == ("a", ["a1", "a3"])


def test_many_workloads_are_not_all_asked(service):
    """Each computation visits all pods."""
    answer = service.post("/v1/dry-run", {"kind": "List", "items": [in_class("high", 4)] * 17}).json()
    assert [workload["preemption"] is None for workload in answer["workloads"]] == [False] * 16 + [True]


def test_the_list_of_victims_is_bounded(start_over):
    many = [pod(f"p{i:03}", 1, "a") for i in range(105)]
    preemption = of(start_over(node("a", 105, status={"allocatable": {"cpu": "64", "memory": "1Ti", "pods": "200", GPU: "105"}}), *many, *CLASSES), in_class("high", 105))
    assert (len(preemption["victims"]), preemption["victimCount"]) == (100, 105)
    assert "would evict 105 pods from a: ml/p000 (priority 0, 1 nvidia.com/gpu), " in preemption["summary"]
    assert preemption["summary"].endswith(" and 99 more; PodDisruptionBudgets are not read")
