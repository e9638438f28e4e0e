"""Quotas that lend: what views, filter, the dry run and a what-if say. tests/unit/decide has the rules, tests/cases the eviction."""

import pytest
from objects import GPU, filter_args, merged, node, pod

H100 = "NVIDIA-H100-80GB-HBM3"
POLICY = """
apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
quotas:
- name: team-a
  namespaces: [a]
  limits: [{resource: nvidia.com/gpu, models: {H100: {limit: 8, borrow: {limit: 10, maxPriority: 0}}}}]
- name: team-b
  namespaces: [b]
  limits: [{resource: nvidia.com/gpu, models: {H100: {limit: 8, borrow: {limit: 0, maxPriority: 0}}}}]
- name: team-c
  namespaces: [c]
  limits: [{resource: nvidia.com/gpu, models: {H100: {limit: 0, borrow: {limit: 0, maxPriority: 0}}}}]
"""
TO_BORROW = "gpu-extender: quota team-a leaves too few GPUs of the node's model to borrow"


def of(namespace, name, gpus, on=None, priority=0):
    return merged(pod(name, gpus, on), {"metadata": {"namespace": namespace, "uid": f"{namespace}-{name}"}, "spec": {"priority": priority}})


FLEET = [
    node("h1", 8, H100),
    node("h2", 8, H100),
    of("a", "low", 6, "h1"),
    of("a", "low-2", 3, "h2"),
    of("a", "high", 2, "h1", 100),
    of("b", "high", 3, "h2", 100),
    of("a", "waits", 2),
]


@pytest.fixture(scope="module")
def service(module_service, tmp_path_factory):
    policy = tmp_path_factory.mktemp("lend") / "policy.yaml"
    policy.write_text(POLICY)
    return module_service(*FLEET, options=["--config", str(policy)])


def test_each_count_has_its_message(service):
    low = service.post("/scheduler/filter", filter_args(of("a", "waits", 2), ["h2"])).json()
    assert low["FailedAndUnresolvableNodes"] == {"h2": TO_BORROW}
    high = service.post("/scheduler/filter", filter_args(of("a", "new", 2, priority=1), ["h2"])).json()
    assert high["NodeNames"] == ["h2"]


def test_what_is_guaranteed_borrowed_and_lent(service):
    """2 GPUs are free. Team a uses 2 of 8, and team b 3 of 8: of their idle 6 and 5 GPUs, 4 and 3 are in use by borrowers."""
    ours, theirs = (quota["limits"][0] for quota in service.get("/v1/quota").json()["quotas"][:2])
    borrowers = [{"quota": "team-a", "gpus": 9}]
    assert ours["borrow"] == {"limit": 10, "maxPriority": 0, "used": 9}
    assert (ours["limit"], ours["used"], ours["lent"], ours["borrowers"]) == (8, 2, 4, borrowers)
    assert theirs["borrow"] == {"limit": 0, "maxPriority": 0, "used": 0}
    assert (theirs["limit"], theirs["used"], theirs["lent"], theirs["borrowers"]) == (8, 3, 3, borrowers)
    table = [line.split("  ") for line in service.get("/v1/quota?output=table").text.splitlines()]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in table]
    while cells[1][0] != "QUOTA":
        del cells[1]
    assert cells[1][:7] == ["QUOTA", "GPUS", "USED", "LIMIT", "LEFT", "BORROWED", "LENT"]
    assert cells[2][2:7] == ["2", "8", "6", "9 of 10", "4 to team-a"]
    assert cells[3][2:7] == ["3", "8", "5", "0 of 0", "3 to team-a"]


def test_metrics(service):
    text = service.get("/metrics").text
    for name, value in (("used", 2), ("limit", 8), ("borrowed", 9), ("borrow_limit", 10)):
        assert f'gpu_extender_quota_{name}_gpus{{quota="team-a",resource="{GPU}",model="H100"}} {value}\n' in text
    assert "# TYPE gpu_extender_gpu_seconds_total counter\n" in text


def test_what_a_borrower_risks(service):
    low = service.get("/v1/explain?namespace=a&name=low").json()["pod"]
    assert low["borrows"] == {"quota": "team-a", "resource": GPU, "model": "H100", "maxPriority": 0}
    assert low["summary"].endswith("it borrows H100 by quota team-a: a pod with a priority above 0 may evict it")
    assert service.get("/v1/explain?namespace=a&name=high").json()["pod"]["borrows"] is None
    waits = service.get("/v1/explain?namespace=a&name=waits").json()["pod"]
    assert "would borrow" in waits["summary"] and waits["verdict"]["cause"] == "quota"
    assert waits["verdict"]["text"] == "Quota team-a leaves 1 H100 to borrow; it asks for 2."


def test_what_would_help(service):
    """A change that the policy's reader takes."""
    waits = service.get("/v1/explain?namespace=a&name=waits").json()["pod"]
    (raised,) = [remedy for remedy in waits["remedies"] if "team-a" in remedy["text"]]
    assert raised["text"] == "raise team-a to 11 H100 to borrow"
    limits = [{"resource": GPU, "models": {"H100": {"limit": 8, "borrow": {"limit": 11, "maxPriority": 0}}}}]
    assert raised["change"]["quota"]["limits"] == limits
    pending = service.post("/v1/what-if", {"changes": [raised["change"]], "workloads": []}).json()["pending"]
    assert (pending["before"]["fit"], pending["after"]["fit"]) == (0, 1), pending


def test_a_dry_run_counts_by_priority(service):
    """The manifest's priority is that of no class: 0."""
    (low,) = service.post("/v1/dry-run", of("a", "new", 1)).json()["workloads"]
    (use,) = low["quotas"]
    assert (use["used"], use["wouldUse"], use["borrow"]["used"], use["borrow"]["wouldUse"]) == (2, 2, 9, 10)
    (over,) = service.post("/v1/dry-run", of("a", "new", 2)).json()["workloads"]
    assert "to borrow" in over["verdict"]["text"], over["verdict"]


def test_what_would_help_roles_of_both_classes(service):
    """A leader counts to the guarantee, and its worker borrows."""
    leader, worker = ({"spec": of("c", "any", 1, priority=priority)["spec"]} for priority in (1, 0))
    group = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "serve", "namespace": "c"},
        "spec": {"replicas": 1, "leaderWorkerTemplate": {"size": 2, "leaderTemplate": leader, "workerTemplate": worker}},
    }
    remedies = service.post("/v1/dry-run", group).json()["workloads"][0]["remedies"]
    assert [remedy["text"] for remedy in remedies if "team-c" in remedy["text"]] == ["raise team-c to 1 H100 and 1 H100 to borrow"]
