"""Quotas of the policy file: filter, GET /v1/quota, the metrics, and a dry run."""

import json

import pytest
from objects import GPU, filter_args, merged, node, pod

POLICY = """
apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
quotas:
- name: team-a
  namespaces: [ml]
  limits: [{resource: nvidia.com/gpu, total: 6, models: {H100: 4}}]
"""
H100 = "NVIDIA-H100-80GB-HBM3"
OF_MODEL = "gpu-extender: quota team-a leaves too few GPUs of the node's model"
FLEET = [node("h", 8, H100), node("t", 8, "Tesla-T4"), pod("runs", 3, "h"), pod("waits", 2), pod("much", 5)]


@pytest.fixture
def service(start_over, write):
    return start_over(*FLEET, options=["--config", write("policy.yaml", POLICY)])


def limits(total, h100):
    rows = (("", 6, total, 2), ("H100", 4, h100, 1))
    users = [{"namespace": "ml", "used": 3}]
    waiting = [{"namespace": "ml", "pods": 1, "gpus": 5}]
    return [{"resource": GPU, "model": model, "limit": limit, "used": used, "unknown": 0, "nodes": nodes, "users": users, "waiting": waiting} for model, limit, used, nodes in rows]


def test_filter_names_the_quota(service):
    answer = service.post("/scheduler/filter", filter_args(pod("waits", 2), ["h", "t"])).json()
    assert (answer["NodeNames"], answer["FailedAndUnresolvableNodes"]) == (["t"], {"h": OF_MODEL})


def test_usage_of_quotas_is_reported(service):
    covered = {"namespaces": 0, "unenforcedNamespaces": 0, "unenforced": []}
    quotas = service.get("/v1/quota").json()["quotas"]
    for limit in quotas[0]["limits"]:
        limit["waiting"][0].pop("remedies")
    assert quotas == [{"name": "team-a", **covered, "limits": limits(3, 3)}]
    lines = [line.split() for line in service.get("/v1/quota?output=table").text.splitlines()]
    assert " ".join(lines[0]).startswith("No limit is used up. Pods wait")
    assert lines[-2:] == [["team-a", "any", GPU, "3", "6", "3", "ml", "3", "ml", "5"], ["H100", "3", "4", "1", "ml", "3", "ml", "5"]]
    wide = service.get("/v1/quota?output=table&wide=true").text.splitlines()
    assert [line.split()[0] for line in wide[-2:]] == ["team-a", "team-a"]
    assert f'gpu_extender_quota_used_gpus{{quota="team-a",resource="{GPU}",model="H100"}} 3\n' in service.get("/metrics").text


def test_limits_that_are_used_up_come_first_in_the_text(start_over, write):
    """And namespaces where they are not enforced are named once."""
    quota = POLICY.replace("total: 6", "total: 9").replace("H100: 4", "H100: 3") + "- name: other\n  namespaces: [ml]\n  limits: [{resource: nvidia.com/gpu, total: 3}]\n"
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml"}}
    lines = start_over(*FLEET, namespace, options=["--config", write("policy.yaml", quota)]).get("/v1/quota?output=table").text.splitlines()
    assert lines[0] == f"2 of 3 limits are used up: team-a, H100; other, any {GPU}. Pods wait for more than is left."
    assert " ".join(lines).endswith("Pods that kube-scheduler never sends here are counted, not rejected, in ml: no label gpu-extender.io/quota=enforced for the admission policy.")


def test_the_largest_users_of_a_limit(start_over, write):
    """Ten at most, by use and then by name; also of namespaces that do not exist."""
    names = [f"team-{i:02}" for i in range(12)]
    quota = POLICY.replace("[ml]", json.dumps(names[1:]))
    uses = {name: 1 + i % 3 for i, name in enumerate(names)}
    pods = [pod(f"p-{name}", n, "h", metadata={"namespace": name}) for name, n in uses.items()]
    service = start_over(node("h", 64, H100), *pods, options=["--config", write("policy.yaml", quota)])
    (total, h100) = service.get("/v1/quota").json()["quotas"][0]["limits"]
    expected = sorted(((-n, name) for name, n in uses.items() if name != names[0]))[:10]
    assert [(-user["used"], user["namespace"]) for user in total["users"]] == expected and h100["users"] == total["users"]


def test_who_waits_for_a_quota_and_who_uses_it(start_over, write):
    """Only pods that a quota alone keeps out: not `large`, for which no node is large enough."""
    pods = [pod(name, n, metadata={"namespace": "other"}) for name, n in (("late", 4), ("later", 3), ("large", 64))]
    quota = POLICY.replace("[ml]", "[ml, other]")
    service = start_over(*FLEET, *pods, options=["--config", write("policy.yaml", quota)])
    (total, _) = service.get("/v1/quota").json()["quotas"][0]["limits"]
    owners = {owner["name"]: owner for owner in service.get("/v1/pending").json()["owners"]}
    helps = [owners[name]["remedies"] for name in ("much", "late")]
    assert total["waiting"] == [{"namespace": "ml", "pods": 1, "gpus": 5, "remedies": helps[0]}, {"namespace": "other", "pods": 1, "gpus": 4, "remedies": helps[1]}]
    assert [[remedy["kind"] for remedy in each] for each in helps] == [["askLess", "administrator"], ["askLess"]], "much takes what is raised"
    lines = service.get("/v1/quota?output=table&width=400").text.splitlines()
    (first, *_) = [remedy["text"] for remedy in helps[0]]
    assert lines[0].endswith(". Pods wait for more than is left.") and lines[1].startswith(f"  ml waits for 5 GPUs. Helps: {first} ("), lines
    assert "; administrator: raise team-a to " in lines[1] and lines[2].startswith("  other waits for 4 GPUs. Helps: ")
    assert [(row["quota"], row["model"], row["left"], row["asks"]) for row in owners["much"]["verdict"]["quotas"]][:2] == [("team-a", "H100", 1, 5), ("team-a", "", 3, 5)]
    assert owners["much"]["verdict"]["quotas"][0]["users"] == [{"namespace": "ml", "used": 3}]
    assert "quotas" not in owners["large"]["verdict"]
    assert "asks for 5. Used by ml 3. Helps: ask for" in " ".join(service.get("/v1/pending?output=table").text.split())


def test_quotas_of_a_namespace(service):
    assert [quota["name"] for quota in service.get("/v1/quota?namespace=ml").json()["quotas"]] == ["team-a"]
    assert service.get("/v1/quota?namespace=other").json()["quotas"] == []


def test_no_quotas_give_an_empty_list(start_over):
    answer = start_over(node("a"))
    assert answer.get("/v1/quota").json()["quotas"] == []
    assert answer.get("/v1/quota?output=table").text == "no quotas: the policy has none, or none for the namespace asked for\n"


def test_a_dry_run_consumes_the_quota(service):
    (workload,) = service.post("/v1/dry-run", json.dumps(pod("asks", 2))).json()["workloads"]
    assert [(row["model"], row["used"], row["wouldUse"]) for row in workload["quotas"]] == [("", 3, 5), ("H100", 3, 3)]
    (refused,) = [row for row in workload["nodes"] if row["node"] == "h"]
    assert (refused["reason"], "gpu-extender: " + refused["message"]) == ("quota", OF_MODEL)


def test_quota_rejection_reports_no_missing_room(service):
    lines = service.get("/v1/pending?output=table&wide=true").text.splitlines()
    assert "  fits on         t" in lines
    lines = service.get("/v1/pods/ml/much/explain?output=table").text.splitlines()
    assert not any(line.startswith("  closest") for line in lines), "the verdict is about that node"
    closest = service.get("/v1/pods/ml/much/explain").json()["pod"]["closest"]
    assert (closest["node"], closest["message"], closest["lacks"]) == ("h", "quota team-a leaves too few GPUs in total", {})


def test_the_nominated_node_is_resolvable_while_its_victims_count(start_over, write):
    """Their GPUs are free, but kube-scheduler must wait for them instead of evicting others elsewhere."""
    ending = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}
    fleet = [node("h", 8, H100), node("h-2", 8, H100), merged(pod("victim", 4, "h"), ending)]
    service = start_over(*fleet, options=["--config", write("policy.yaml", POLICY)])
    asking = pod("first", 2, spec={"priority": 10}, status={"nominatedNodeName": "h"})
    answer = service.post("/scheduler/filter", filter_args(asking, ["h", "h-2"])).json()
    assert (answer["FailedNodes"], answer["FailedAndUnresolvableNodes"]) == ({"h": OF_MODEL}, {"h-2": OF_MODEL})
