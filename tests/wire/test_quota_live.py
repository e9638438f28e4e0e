"""Quotas over a live API server: labels of nodes that flap, namespaces that the watch has not shown, and models that no node has."""

import json

from objects import GPU, filter_args, list_text, merged, node, pod

H100 = "NVIDIA-H100-80GB-HBM3"
UNKNOWN_NAMESPACE = "the pod's namespace is not in the inventory yet, and quotas select by label"


def quotas(*limits, **who):
    return {"quotas": [{"name": "team-a", "limits": list(limits), **(who or {"namespaces": ["ml"]})}]}


def namespace(name, **labels):
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "uid": f"namespace-{name}", "labels": labels}}


def limits_of(service):
    (quota,) = service.get("/v1/quota").json()["quotas"]
    return quota["limits"]


def models_of(service):
    return {item["name"]: item["model"] for item in service.get("/v1/inventory").json()["nodes"]}


def unlabelled(item):
    return merged(item, {"metadata": {"labels": None}})


def test_a_flapping_label_admits_no_pod_over_the_quota(api, follow):
    nodes = [node("h1", 8, H100), node("h2", 8, H100)]
    api.store.put(*nodes, pod("first", 8, on="h1"), pod("second", 8))
    service = follow(more=quotas({"resource": GPU, "models": {"H100": 8}}))
    service.settle()
    api.store.put(*map(unlabelled, nodes))
    service.wait("the labels are gone", lambda: not {"h1", "h2"} & {name for name, model in models_of(service).items() if model})
    answer = service.post("/scheduler/filter", filter_args(pod("second", 8), ["h2"])).json()
    assert "quota team-a" in answer["FailedAndUnresolvableNodes"]["h2"]
    assert "quota team-a" in service.bind(pod("second", 8), "h2")
    assert [(row["used"], row["unknown"], row["nodes"]) for row in limits_of(service)] == [(8, 0, 2)]


def test_restart_during_a_flap_leaves_the_model_unknown(api, follow):
    api.store.put(node("h1", 8, None), pod("first", 8, on="h1"))
    service = follow(more=quotas({"resource": GPU, "total": 11, "models": {"H100": 8}}))
    service.settle()
    rows = [(row["model"], row["used"], row["unknown"]) for row in limits_of(service)]
    assert rows == [("", 8 + 3, 8), ("H100", 0, 8)]
    assert service.metric("gpu_extender_quota_unknown_gpus", quota="team-a", resource=GPU) == 8
    api.store.put(node("h1", 8, H100))
    service.wait("the label is back", lambda: limits_of(service)[1]["used"] == 8)
    assert service.metric("gpu_extender_quota_unknown_gpus") == 0


def test_pods_of_an_unseen_namespace_are_retried(api, follow):
    """Its pods came first: no quota is waived meanwhile, and they are retried."""
    waiting = merged(pod("asks", 1), {"metadata": {"namespace": "new"}})
    api.store.put(waiting, namespace("ml"))
    service = follow(more=quotas({"total": 0}, namespaceSelector={"matchLabels": {"stage": "test"}}))
    service.settle()
    error = service.post("/scheduler/filter", filter_args(waiting, ["a", "b"])).json()["Error"]
    assert UNKNOWN_NAMESPACE in error
    assert service.metric("gpu_extender_filter_namespace_unknown_total") == 1
    assert UNKNOWN_NAMESPACE in service.bind(waiting, "b")
    api.store.put(namespace("new", stage="prod"))
    service.wait("it is shown", lambda: service.get("/v1/quota").json()["quotas"] and service.bind(waiting, "b") is None)


def test_namespaces_without_the_admission_policy_are_reported(api, follow):
    api.store.put(namespace("ml"), namespace("held", **{"gpu-extender.io/quota": "enforced"}), namespace("other"))
    service = follow(more=quotas({"total": 4}, namespaces=["ml", "held"]))
    (quota,) = service.get("/v1/quota").json()["quotas"]
    assert (quota["namespaces"], quota["unenforcedNamespaces"], quota["unenforced"]) == (2, 1, ["ml"])


NO_NODE = "quota team-a: no node has the model H1OO: its limit has no effect"


def test_a_model_without_nodes_causes_a_warning(api, follow):
    more = quotas({"resource": GPU, "models": {"H1OO": 8, "A100": 8}})
    service = follow(more=more)
    service.settle()
    service.wait("it is warned of", lambda: NO_NODE in service.log.text())
    assert "the model A100" not in service.log.text()
    assert [row["nodes"] for row in limits_of(service)] == [0, 2]
    assert service.metric("gpu_extender_quota_model_nodes", model="H1OO") == 0
    assert service.metric("gpu_extender_quota_model_nodes", model="A100") == 2


def test_check_warns_of_a_model_without_nodes(run_binary, write):
    aliases = {"models": {"aliases": {"ours": "H10O", "small": "T4"}}}
    head = {"apiVersion": "gpu-extender.io/v1alpha1", "kind": "SchedulerPolicy"}
    config = write("policy.yaml", json.dumps({**head, **aliases, **quotas({"resource": GPU, "models": {"H1OO": 8, "H100": 8}}, {"resource": "amd.com/gpu", "total": 8})}))
    done = run_binary("--config", config, "--cluster-file", write("cluster.json", list_text(node("h", 8, H100))), "--check")
    warnings = [line for line in done.stderr.splitlines() if "no node has" in line]
    assert done.returncode == 0 and sorted(line.partition("warning: ")[2] for line in warnings) == [
        "alias ours: no node has the model H10O; did you mean H100-80GB-HBM3?",
        f"{NO_NODE}; did you mean H100-80GB-HBM3?",
        "quota team-a: no node has the resource amd.com/gpu: its limit has no effect; write the name of a resource of a node",
    ]


def test_check_warns_of_namespaces_and_kinds_of_sharing_that_are_misspelt(run_binary, write):
    head = {"apiVersion": "gpu-extender.io/v1alpha1", "kind": "SchedulerPolicy"}
    limits = {"resource": GPU, "models": {"A1OO-MIG-1g.5gb": 8, "T4-SHARED": 8}}
    config = write("policy.yaml", json.dumps({**head, **quotas(limits, namespaces=["ml-team", "ml-taem", "to-come"])}))
    nodes = [node("m", 8, "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"), node("t", 8, "Tesla-T4-SHARED")]
    done = run_binary("--config", config, "--cluster-file", write("cluster.json", list_text(*nodes, namespace("ml-team"))), "--check")
    warnings = [line.partition("warning: ")[2] for line in done.stderr.splitlines() if "no node has" in line or "no namespace" in line]
    assert done.returncode == 0 and sorted(warnings) == [
        "quota team-a: no node has the model A1OO-MIG-1g.5gb: its limit has no effect; did you mean A100-SXM4-40GB-MIG-1g.5gb?",
        "quota team-a: there is no namespace ml-taem; did you mean ml-team?",
    ]
