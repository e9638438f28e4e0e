"""The changes that would let a workload fit, for a dry run and for a pending pod: nodes with exactly one obstacle."""

import json
import random
import re

import pytest
from objects import GPU, annotated, node, pod
from test_verdicts import REQUIRED, SPREAD, TERM, annotate, fits, jobs_of, kinds_that_help, limits, of_kind, table_of, template_of

T4 = "Tesla-T4"


def taints(*texts):
    made = []
    for text in texts:
        key, _, effect = text.partition(":")
        made.append({"key": key, "effect": effect})
    return {"taints": made}


def misses(service, asking):
    (workload,) = service.post("/v1/dry-run", asking).json()["workloads"]
    return workload["nearMisses"]


def told(service, asking):
    return [miss["summary"] for miss in misses(service, asking)]


def test_one_missing_gpu_is_a_near_miss(start_over):
    """a and b lack 1 of 4, c lacks 2; the one that lacks CPU too is not near."""
    poor = node("d", 8, status={"allocatable": {"cpu": "1", GPU: "8", "memory": "1Gi", "pods": "110"}})
    fleet = [node(name, 8) for name in "abc"] + [poor, *(pod(f"p-{name}", n, name) for name, n in (("a", 5), ("b", 5), ("c", 6), ("d", 5)))]
    service = start_over(*fleet)
    asking = pod("new", 4, spec={"containers": [{"name": "c", "resources": {"limits": {GPU: "4", "cpu": "2"}}}]})
    assert misses(service, asking) == [
        {
            "summary": f"2 A100-SXM4-80GB nodes would fit if 1 more {GPU} were free",
            "reason": "gpu_free",
            "nodes": 2,
            "names": ["a", "b"],
            "nearest": "a",
            "lacks": {GPU: 1},
        },
        {
            "summary": f"1 A100-SXM4-80GB node would fit if 2 more {GPU} were free",
            "reason": "gpu_free",
            "nodes": 1,
            "names": ["c"],
            "nearest": "c",
            "lacks": {GPU: 2},
        },
    ]


def with_demand(name="new", **limits):
    return pod(name, spec={"containers": [{"name": "c", "resources": {"limits": limits}}]})


NODE = {
    "cordoned": node("x", 8, spec={"unschedulable": True, **taints("node.kubernetes.io/unschedulable:NoSchedule")}),
    "tainted": node("x", 8, spec=taints("team:NoSchedule", "old:NoExecute")),
    "lost": node("x", 8, spec=taints("node.kubernetes.io/unreachable:NoSchedule")),
    "t4": node("x", 4, T4),
    "unknown": node("x", 4, None),
    "shared": node("x", 8, "Tesla-T4-SHARED"),
    "slices": node("x", 8, "NVIDIA-A100-PCIE-40GB-MIG-1g.5gb"),
    "small": node("x", 8, status={"allocatable": {"cpu": "2", GPU: "8", "memory": "1Gi", "pods": "110"}}),
    "crowded": node("x", 8, status={"allocatable": {"cpu": "2", GPU: "8", "memory": "1Gi", "pods": "0"}}),
}
SELECTOR = {"nodeSelector": {"zone": "a"}}
TERM = {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}
AFFINITY = {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [TERM]}}}}


@pytest.mark.parametrize(
    "there, asking, summary",
    [
        ("cordoned", pod("new"), "1 node would fit if uncordoned"),
        ("tainted", pod("new"), "1 node would fit if the pod tolerated team:NoSchedule and old:NoExecute"),
        ("lost", pod("new"), "1 node would fit without the taint node.kubernetes.io/unreachable:NoSchedule"),
        ("t4", pod("new", spec=SELECTOR), "1 node would fit if the pod's nodeSelector allowed that"),
        ("t4", pod("new", spec=AFFINITY), "1 node would fit if the pod's required node affinity allowed that"),
        ("t4", annotated("new", models="H100, A100"), "1 node would fit if the pod accepted T4 too"),
        ("t4", annotated("new", exclude_models="T4"), "1 node would fit if the pod did not exclude T4"),
        ("t4", annotated("new", min_gpu_memory="24Gi"), "1 node would fit if the pod asked for no GPU memory"),
        ("shared", pod("new"), "1 node would fit if the pod allowed shared GPUs (gpu-extender.io/allow-shared)"),
        ("slices", pod("new"), "1 node would fit if the pod allowed slices of GPUs (gpu-extender.io/allow-shared)"),
        ("unknown", annotated("new", models="T4"), "1 node would fit if the pod did not choose GPU models"),
        ("t4", pod("new", 8), f"1 T4 node would fit if the pod asked for at most 4 {GPU}"),
        ("small", with_demand(**{GPU: "1", "cpu": "2500m"}), "1 node would fit if more cpu were free (x lacks the least: 500m CPU)"),
        ("small", with_demand(**{GPU: "1", "memory": "3Gi"}), "1 node would fit if more memory were free (x lacks the least: 2Gi of memory)"),
        ("crowded", pod("new"), "1 node would fit with a free pod slot (x lacks the least: a pod slot)"),
        ("t4", with_demand(**{GPU: "1", "rdma/hca": "1"}), "1 node would fit if more rdma/hca were free (x lacks the least: 1 rdma/hca)"),
    ],
)
def test_each_reason(start_over, there, asking, summary):
    assert told(start_over(NODE[there]), asking) == [summary]


@pytest.mark.parametrize(
    "there, asking",
    [
        ("cordoned", pod("new", spec=SELECTOR)),
        ("tainted", annotated("new", models="H100")),
        ("t4", annotated("new", 8, models="H100")),
        ("t4", pod("new", resource="amd.com/gpu")),
        ("small", with_demand(**{GPU: "1", "cpu": "3", "memory": "3Gi"})),
    ],
)
def test_two_obstacles_are_no_near_miss(start_over, there, asking):
    assert told(start_over(NODE[there]), asking) == []


def test_the_nearest_of_many_and_a_few_of_the_changes(start_over):
    """Changes that lack fewest GPUs first, then those that help most nodes; six of them."""
    full = [item for i in range(1, 9) for item in (node(f"n{i}", 8, T4), pod(f"p{i}", i, f"n{i}"))]
    tainted = [node(f"t{i}", 8, spec=taints(f"taint-{i // 2}:NoSchedule")) for i in range(3)]
    assert told(start_over(*full, *tainted), pod("new", 8)) == [
        "2 nodes would fit if the pod tolerated taint-0:NoSchedule",
        "1 node would fit if the pod tolerated taint-1:NoSchedule",
        *(f"1 T4 node would fit if {i} more {GPU} were free" for i in range(1, 5)),
    ]


def test_near_misses_of_a_partly_fitting_workload(start_over):
    """Earlier replicas use room that the next one lacks."""
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "ml"},
        "spec": {"replicas": 2, "template": {"spec": pod("x", 5)["spec"]}},
    }
    service = start_over(node("a", 8))
    assert told(service, deployment) == [f"1 A100-SXM4-80GB node would fit if 2 more {GPU} were free"]
    assert told(service, pod("new", 5)) == []


def test_near_misses_of_a_pending_pod(start_over):
    service = start_over(node("a", 8), pod("there", 5, "a"), pod("waits", 4), pod("fits", 3))
    answer = service.get("/v1/pods/ml/waits/explain").json()
    sentence = f"1 A100-SXM4-80GB node would fit if 1 more {GPU} were free"
    assert [miss["summary"] for miss in answer["nearMisses"]] == [sentence]
    for name in ("there", "fits"):
        assert service.get(f"/v1/pods/ml/{name}/explain").json()["nearMisses"] == []


def test_a_quota(start_over, write):
    """A node that also lacks GPUs has two obstacles."""
    head = "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\n"
    policy = write("policy.yaml", f"{head}quotas:\n- name: team\n  namespaces: [ml]\n  limits: [{{total: 4}}]\n")
    service = start_over(node("a", 8), node("full", 8), pod("p", 7, "full", metadata={"namespace": "other"}), options=["--config", policy])
    assert told(service, pod("new", 5)) == ["1 node would fit if a quota allowed it (quota team leaves too few GPUs in total)"]


OF_NODES = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
APART = {"affinity": {"podAntiAffinity": {REQUIRED: [OF_NODES]}}}


@pytest.mark.parametrize(
    "n, asks, spec, models, added",
    [
        (4, {GPU: 6, "cpu": 100}, APART, "", ("a100-80-1", 3)),
        (4, {GPU: 6}, APART, "", ("a100-80-1", 3)),
        (4, {GPU: 1, "cpu": 32}, APART, "H200, A100-80GB", ("a100-80-1", 3)),
        (5, {GPU: 4, "cpu": 8, "memory": "1Ti"}, {}, "A100, A10", ("a100-80-1", 4)),
        (5, {GPU: 4, "cpu": 32, "memory": "100Gi"}, {}, "L40S", ("l40s-1", 5)),
        (1, {"amd.com/gpu": 5}, {"topologySpreadConstraints": [{**SPREAD, **OF_NODES}]}, "", ("mi300x-1", 1)),
    ],
)
def test_the_fewest_more_nodes(service, n, asks, spec, models, added):
    """Also where a rule about other pods or a model decides."""
    template = template_of(**spec)
    limits(template).clear()
    limits(template).update(asks)
    if models:
        annotate(template, models)
    asking = of_kind("Deployment", "web", template, replicas=n)
    (job,) = jobs_of(service, asking)
    change = {remedy["kind"]: remedy["change"] for remedy in job["remedies"]}.get("administrator")
    assert change == {"addNodes": {"like": added[0], "count": added[1]}}
    assert [fits(service, asking, [{"addNodes": {"like": added[0], "count": i}}] if i else []) for i in (added[1] - 1, added[1])] == [False, True]


def test_a_sixth_of_all_is_enough(service):
    """Parts that leave each pod whole GPUs, and not only halves of halves."""
    template = template_of(6)
    limits(template).update({"cpu": "200", "memory": "100Gi"})
    asking = of_kind("Deployment", "web", template, replicas=5)
    assert "askLess" in kinds_that_help(service, asking)
    texts = [remedy["text"] for remedy in jobs_of(service, asking)[0]["remedies"]]
    assert "ask for a sixth, 1 GPU, 33 CPU, 16Gi of memory a pod" in texts


@pytest.mark.parametrize(
    "models, n, asks, text",
    [
        ("L4", 1, {GPU: 8, "cpu": 50, "memory": "1Ti"}, "No node has 8 L4; the largest, l4-1, has 4."),
        ("T4", 1, {GPU: 6, "cpu": 4}, "No node has 6 T4; the largest, t4-gke-1, has 4."),
        ("L40S", 5, {GPU: 4, "cpu": 32, "memory": "100Gi"}, "It asks for 20 L40S; usable nodes have 4, so 16 are missing."),
        ("A100, A10", 5, {GPU: 4, "cpu": 8, "memory": "1Ti"}, "It asks for 20 A100 or A10; usable nodes have 18, so 2 are missing."),
        ("A100-80GB, A10, L4", 5, {GPU: 4}, "It asks for 20 GPUs; its models have 13, so 7 are missing."),
        ("L4", 1, {GPU: 4, "cpu": 500}, "The nearest node, l4-1, lacks 2 GPUs and 461 CPU."),
    ],
)
def test_what_nodes_of_the_model_lack_decides(service, models, n, asks, text):
    """Though a node of another model lacks nothing else."""
    template = template_of()
    annotate(template, models)
    limits(template).update(asks)
    (job,) = jobs_of(service, of_kind("Deployment", "web", template, replicas=n))
    assert job["verdict"]["text"] == text


@pytest.mark.parametrize(
    "n, gpus, selector, text",
    [
        (6, 12, {}, "No node has 12 GPUs; the largest, h100-1, has 8."),
        (9, 4, {"accelerator": "nvidia-tesla-v100"}, "It asks for 36 GPUs; nodes it selects have 12, so 24 are missing."),
        (3, 12, {"nvidia.com/mig-1g.5gb.count": "7"}, "No node that it selects has 12 GPUs; the largest, a100-mig-1, has 1."),
        (30, 4, {}, "It asks for 120 GPUs; usable nodes have 62, so 58 are missing."),
    ],
)
def test_all_pods_together_ask_for_too_much(service, n, gpus, selector, text):
    """Unless one does alone. Of nodes that are not selected nothing is said."""
    asking = of_kind("Deployment", "web", template_of(gpus, nodeSelector=selector), replicas=n)
    (job,) = jobs_of(service, asking)
    assert job["verdict"]["text"] == text


@pytest.mark.parametrize(
    "models, asks, text",
    [
        ("MI300X", {"gpu.intel.com/i915": 8, "cpu": 16}, "No node has MI300X as gpu.intel.com/i915; intel-1 has Flex-170."),
        ("L40S", {"amd.com/gpu": 1, "cpu": 300}, "No node has L40S as amd.com/gpu; mi300x-1 has MI300X-OAM."),
    ],
)
def test_only_nodes_with_the_resource_decide(service, models, asks, text):
    """And not the cordons and taints of others."""
    template = template_of()
    annotate(template, models)
    limits(template).clear()
    limits(template).update(asks)
    (job,) = jobs_of(service, of_kind("Deployment", "web", template, replicas=1))
    assert job["verdict"]["text"] == text


NOWHERE = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
NEAR = {"labelSelector": {}, "topologyKey": "kubernetes.io/hostnam"}


@pytest.mark.parametrize(
    "spec, text",
    [
        ({"topologySpreadConstraints": [NOWHERE]}, "No node has the label topology.kubernetes.io/zone, its topologyKey."),
        ({"affinity": {"podAffinity": {REQUIRED: [NEAR]}}}, "No node has the label kubernetes.io/hostnam, its topologyKey. Did you mean kubernetes.io/hostname?"),
    ],
)
def test_a_topology_that_no_node_has(start_over, spec, text):
    """In a dry run, and of a pod that waits."""
    there = [node(name, 8, metadata={"labels": {"kubernetes.io/hostname": name}}) for name in "ab"]
    service = start_over(*there, pod("waits", 1, spec=spec))
    (job,) = jobs_of(service, pod("new", 1, spec=spec))
    (waits,) = service.get("/v1/pending").json()["pods"]
    assert (job["verdict"]["text"], waits["verdict"]["text"]) == (text, text)


def test_only_gpus_are_counted_as_gpus(start_over, write):
    """A quota that rules a node out, which lacks huge pages; and a quota beside another rule has its numbers."""
    policy = json.dumps({"apiVersion": "gpu-extender.io/v1alpha1", "kind": "SchedulerPolicy", "quotas": [{"name": "q", "namespaces": ["ml"], "limits": [{"total": 1}]}]})
    service = start_over(node("a", 8, status={"allocatable": {GPU: "8", "cpu": "8", "pods": "9"}}), options=["--config", write("policy.yaml", policy)])
    asking = with_demand(**{GPU: "2", "hugepages-2Mi": "1Gi"})
    text = service.post("/v1/dry-run?output=table", asking).text
    assert "a quota leaves too few GPUs" in text and "GPUs lacking" not in text, text
    apart = pod("new", 2, spec={"topologySpreadConstraints": [NOWHERE]})
    assert jobs_of(service, apart)[0]["verdict"]["text"] == "Quota q leaves 1 GPU in all; it asks for 2."


# ---- few words ----

MODELS = ["H100", "A100", "T4"]
SIZES = {"cpu": ["1", "900"], "memory": ["1Gi", "1500Mi", "9Ti"], "ephemeral-storage": ["1Gi", "9Ti"], "hugepages-2Mi": ["0", "1Gi"], "rdma/hca": ["0", "1"]}
# The headline has at most 20 words, and so many of them in the sentence (test_verdicts.py), names apart.
WORDS = 14


def random_policy(dice):
    """Five quotas of some of ten limits: of all models or one, of a resource, guaranteed or lent."""

    def limit():
        borrow = {"limit": dice.randrange(3), "maxPriority": 0}
        return dice.choice([dice.randrange(9), {"limit": dice.randrange(9), "borrow": borrow}])

    def limits():
        chosen = [{**({"resource": name} if name else {}), "total": limit(), "models": {model: limit() for model in MODELS if dice.random() < 0.5}} for name in (None, GPU, "nvidia.com/mig-1g.5gb") if dice.random() < 0.6]
        return chosen or [{"total": limit()}]

    quotas = [{"name": f"q{i}", "namespaces": ["ml", "ml-training"], "limits": limits()} for i in range(dice.randrange(1, 6))]
    return json.dumps({"apiVersion": "gpu-extender.io/v1alpha1", "kind": "SchedulerPolicy", "quotas": quotas})


def random_workload(dice, i):
    amounts = {dice.choice([GPU, GPU, "nvidia.com/mig-1g.5gb"]): dice.choice(["1", "2", "4", "9"])}
    amounts |= {name: dice.choice(sizes) for name, sizes in SIZES.items() if dice.random() < 0.5}
    asking = annotated(f"p{i}", **({"models": ", ".join(dice.sample(MODELS, dice.randrange(1, 4)))} if dice.random() < 0.5 else {}))
    asking["spec"] = {"containers": [{"name": "c", "resources": {"limits": amounts}}]}
    replicas = dice.choice([{"kind": "Deployment", "replicas": 3}, {"kind": "DaemonSet"}])
    return asking if dice.random() < 0.5 else of_kind(name=f"d{i}", template=asking, **replicas)


def words_of(text):
    """Without names: of nodes, quotas, models and resources."""
    words = [word.strip(".,;:") for word in text.split()]
    names = {*MODELS, "rdma/hca", "hugepages-2Mi", "nvidia.com/mig-1g.5gb", GPU}
    return [word for word in words if word not in names and not re.fullmatch(r"[nq]\d", word)]


@pytest.mark.parametrize("seed", range(6))
def test_verdicts_have_few_words_whatever_is_lacking(start_over, write, seed):
    dice = random.Random(seed)
    amounts = {"cpu": "64", "memory": "64Gi", "ephemeral-storage": "99Gi", "pods": "99"}
    there = [node(f"n{i}", 8, model, status={"allocatable": {**amounts, GPU: "8"}}) for i, model in enumerate(MODELS)]
    there.append(node("n3", None, "H100-MIG-1g.5gb", status={"allocatable": {**amounts, "nvidia.com/mig-1g.5gb": "7"}}))
    service = start_over(*there, options=["--config", write("policy.yaml", random_policy(dice))])
    texts = [job["verdict"]["text"] for i in range(60) for job in service.post("/v1/dry-run", random_workload(dice, i)).json()["jobs"]]
    assert [text for text in texts if len(words_of(text)) > WORDS] == []
    assert any(re.search(r"leaves|lacks", text) for text in texts)


@pytest.mark.parametrize(
    "named, cause, text",
    [
        ("small", "total", "No node that it selects has 4 GPUs; the largest, small, has 2."),
        ("gone", "name", "There is no node gone, its spec.nodeName."),
        ("larg", "name", "There is no node larg, its spec.nodeName. Did you mean large?"),
    ],
)
def test_a_pod_that_names_its_node(start_over, named, cause, text):
    """No node is added that it does not name; without the name it fits."""
    service = start_over(node("small", 2), node("large", 8))
    (job,) = jobs_of(service, pod("new", 4, spec={"nodeName": named}))
    assert (job["verdict"]["cause"], job["verdict"]["text"]) == (cause, text)
    texts = [remedy["text"] for remedy in job["remedies"]]
    assert texts == ["write large in spec.nodeName"] * (named == "larg") + ["drop spec.nodeName"] + ["ask for 2 GPUs"] * (cause == "total")
    assert job["remedies"][0]["nodes"] == ["large"]


@pytest.mark.parametrize("affinity", [False, True])
def test_no_node_is_added_where_the_pods_name_theirs(start_over, affinity):
    """It would have another name."""
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["a"]}]}
    required = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    chosen = {"affinity": required} if affinity else {"nodeSelector": {"kubernetes.io/hostname": "a"}}
    service = start_over(node("a", 8, metadata={"labels": {"kubernetes.io/hostname": "a"}}))
    for spec, helps in (({}, ["1 more node like a"]), (chosen, [])):
        (job,) = jobs_of(service, of_kind("Deployment", "web", template_of(5, **spec), replicas=2))
        assert [remedy["text"] for remedy in job["remedies"] if remedy["kind"] == "administrator"] == helps


def test_what_has_no_trial_is_not_ruled_out(start_over):
    """The end of a pod that keeps others off, a new node like one that is closed or that a rule of other pods rules out."""
    apart = {"affinity": {"podAntiAffinity": {REQUIRED: [{**TERM, "labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "zone"}]}}}
    lonely = pod("lonely", 1, spec={**apart, "nodeName": "a"}, metadata={"namespace": "ml-training"})
    closed = node("b", 8, spec={"unschedulable": True})
    for nodes, template, replicas in (([lonely], template_of(1), 1), ([closed, pod("runs", 8, "b")], template_of(8, **apart), 4)):
        service = start_over(node("a", 4, metadata={"labels": {"zone": "z"}}), *nodes)
        (job,) = jobs_of(service, of_kind("Deployment", "web", template, replicas=replicas))
        assert job["remedies"] == [] and job["remediesTried"] != "all", job
        assert "No single change" not in table_of(service, of_kind("Deployment", "web", template, replicas=replicas))


@pytest.mark.parametrize("limit, helps", [({"memory": "60Gi"}, "ask for 30Gi of memory a pod"), ({"cpu": "50"}, "ask for 31 CPU a pod"), ({"memory": "60Gi", "cpu": "50"}, "ask for 25 CPU and 30Gi of memory a pod")])
def test_less_memory_is_enough_for_pods_that_fit_in_part(start_over, limit, helps):
    """One pod finds its memory, and two would with less; which is tried for all. Of both if neither alone is enough."""
    service = start_over(node("a", 8, status={"allocatable": {"cpu": "64", "memory": "64Gi", GPU: "8", "pods": "99"}}))
    asking = of_kind("Deployment", "web", template_of(1), replicas=2)
    limits(asking["spec"]["template"]).update(limit)
    (job,) = jobs_of(service, asking)
    texts = [remedy["text"] for remedy in job["remedies"] if remedy["kind"] == "askLess"]
    assert (job["verdict"]["result"], texts) == ("partlyFits", [helps])
    assert "askLess" in kinds_that_help(service, asking)


@pytest.mark.parametrize("asks", [{"cpu": "2000"}, {"memory": "65536Gi"}, {"cpu": "2000", "memory": "65536Gi"}, {"rdma/hca": "8"}])
def test_much_less_is_enough_for_several_pods(start_over, asks):
    """Than a sixteenth of what they ask for, or of a resource that has no sixteenths: parts of what the nearest node has."""
    service = start_over(node("a", 8, status={"allocatable": {"cpu": "64", "memory": "64Gi", "rdma/hca": "8", GPU: "8", "pods": "99"}}))
    asking = of_kind("Deployment", "web", template_of(1), replicas=3)
    limits(asking["spec"]["template"]).update(asks)
    assert "askLess" in kinds_that_help(service, asking)
