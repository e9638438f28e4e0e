"""The verdict on each workload of tests/cases/verdicts over examples/sample-cluster.yaml: the decisive cause, and the amount."""

import copy
import json
import re

import pytest
import yaml
from objects import node, pod
from service import SAMPLE_CLUSTER, Service, read

GPU = "nvidia.com/gpu"
# The headline has at most 20 words, of which "DOES NOT FIT Pod x: 0 of 1 pod" has eight.
WORDS = 14


def case(name):
    return read("tests/cases/verdicts", f"{name}.yaml")


@pytest.fixture(scope="module")
def quota_service():
    running = Service("--cluster-file", SAMPLE_CLUSTER, "--config", "tests/cases/verdicts/quota-policy.yaml")
    yield running
    running.stop()


def verdict(service, name, at=0):
    return service.post("/v1/dry-run", case(name)).json()["workloads"][at]["verdict"]


def missing(pods, gpus):
    return {"pods": pods, "gpus": gpus}


@pytest.mark.parametrize(
    "name, result, cause, node, lacks, lost",
    [
        ("fits", "fits", "", "", {}, missing(0, 0)),
        ("full", "doesNotFit", "freeGpus", "a100-40-1", {GPU: 3}, missing(1, 4)),
        ("typo", "doesNotFit", "name", "", {}, missing(1, 1)),
        ("b200", "doesNotFit", "name", "", {}, missing(1, 1)),
        ("selvalue", "doesNotFit", "name", "", {}, missing(1, 1)),
        ("selkey", "doesNotFit", "name", "", {}, missing(1, 1)),
        ("reskey", "doesNotFit", "name", "", {}, missing(1, 0)),
        ("taint", "doesNotFit", "taint", "t4-gke-1", {}, missing(1, 1)),
        ("big", "doesNotFit", "total", "h100-1", {GPU: 8}, missing(1, 16)),
        ("ddp", "partlyFits", "freeGpus", "v100-2", {GPU: 2}, missing(2, 8)),
    ],
)
def test_the_cause(service, name, result, cause, node, lacks, lost):
    found = verdict(service, name)
    text = found.pop("text")
    assert found == {"result": result, "cause": cause, "node": node, "lacks": lacks, "missing": lost}
    assert len(text.split()) <= WORDS, text


@pytest.mark.parametrize(
    "name, names",
    [
        ("typo", ["H10O", "H100-80GB-HBM3"]),
        ("b200", ["B200", "A10"]),
        ("selvalue", ["nvidia.com/gpu.product=NVIDIA-H100-80GB", "NVIDIA-H100-80GB-HBM3"]),
        ("selkey", ["nvidia.com/gpu.prodct", "nvidia.com/gpu.product"]),
        ("reskey", ["nvidia.com/gpus", "nvidia.com/gpu"]),
        ("taint", ["t4-gke-1", "nvidia.com/gpu=present:NoSchedule"]),
    ],
)
def test_the_sentence_names_the_mistake_and_what_exists(service, name, names):
    text = verdict(service, name)["text"]
    assert [part for part in names if part not in text] == []


def test_all_limits_that_a_pod_breaks_are_named(quota_service):
    found = verdict(quota_service, "fits")
    assert (found["cause"], found["node"]) == ("quota", "h100-1")
    assert "research-and-ml" in found["text"] and "4 H100" in found["text"] and "7 GPUs in all" in found["text"]
    rows = quota_service.post("/v1/dry-run?output=table&width=120", case("fits")).text.split("WHY NOT ELSEWHERE")[1].splitlines()
    assert [row.split() for row in rows if "quota" in row] == [["1", *"a quota leaves too few GPUs".split(), "h100-1"]], "the others lack GPUs, too"


QUOTAS = """apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
quotas:
- {name: one, namespaces: [ml], limits: [{total: 7, models: {H100: 4}}]}
- {name: two, namespaces: [ml, other], limits: [{total: 2}]}
- {name: three, namespaces: [ml], limits: [{total: 3}]}
"""


@pytest.mark.parametrize("cpu, text", [(1, "one 4 H100 and 7 GPUs; it asks for 8."), (99, "one 4 H100, +1; h lacks 35 CPU.")])
def test_all_limits_of_all_quotas(start_over, write, cpu, text):
    """The nearest first, in few words; the remedy raises them all."""
    service = start_over(node("h", 8, "H100", status={"allocatable": {"cpu": "64", GPU: "8", "pods": "99"}}), options=["--config", write("policy.yaml", QUOTAS)])
    (job,) = jobs_of(service, with_cpu(cpu))
    assert job["verdict"]["text"] == "Quota two leaves 2 GPUs, three 3 GPUs, " + text
    assert [(row["quota"], row["left"]) for row in job["verdict"]["quotas"]] == [("two", 2), ("three", 3), ("one", 4), ("one", 7)]
    (raised,) = [remedy["text"] for remedy in job["remedies"] if remedy["kind"] == "administrator"] or [""]
    assert raised == ("" if cpu > 64 else "raise one to 8 GPUs in all and 8 H100 and raise two to 8 GPUs in all and raise three to 8 GPUs in all")


def test_a_pending_pod_has_the_same_verdict(service):
    owners = service.get("/v1/pending").json()["owners"]
    found = {owner["name"]: owner["verdict"] for owner in owners}["big-train-0"]
    assert (found["cause"], found["node"], found["missing"]) == ("total", "h100-1", missing(1, 16))
    assert service.get("/v1/explain?namespace=ml-training&name=big-train-0").json()["pod"]["verdict"] == found


def test_how_long_it_waits_is_said_in_one_unit(service):
    """As in the column of pending."""
    text = service.get("/v1/explain?namespace=ml-training&name=big-train-0&output=table").text
    assert re.match(r"DOES NOT FIT  Pod ml-training/big-train-0: waits for \d+d\n", text), text


def with_cpu(cpu):
    asking = pod("new", 8)
    limits(asking)["cpu"] = str(cpu)
    return asking


def test_a_pod_that_was_made_just_now(start_over):
    """Its clock may be ahead of ours, too."""
    asking = pod("new", 9, metadata={"creationTimestamp": "2999-01-01T00:00:00Z"})
    text = start_over(node("a"), asking).get("/v1/explain?namespace=ml&name=new&output=table").text
    assert text.splitlines()[0] == "DOES NOT FIT  Pod ml/new: waits for 0s", text


def templates(manifest):
    """The pods of a manifest: each has metadata and spec."""
    if manifest["kind"] == "Pod":
        yield manifest
    for value in manifest["spec"].get("pytorchReplicaSpecs", {"all": manifest["spec"]}).values():
        if "template" in value:
            yield value["template"]


def limits(pod):
    return pod["spec"]["containers"][0]["resources"]["limits"]


def annotate(pod, models):
    pod.setdefault("metadata", {}).setdefault("annotations", {})["gpu-extender.io/models"] = models


def ask_for(pod, amounts):
    """amounts: ["2 GPUs", "16 CPU", "128Gi of memory"]"""
    for amount in amounts:
        n, unit = amount.split(" ", 1)
        name = {"GPU": GPU, "GPUs": GPU, "CPU": "cpu", "of memory": "memory", "of storage": "ephemeral-storage"}.get(unit, unit)
        limits(pod)[name] = n


def edited(manifest, remedy):
    """The manifests that the remedy of a user makes; several for alternatives."""
    text = remedy["text"]
    words = text.split()
    if words[0] == "accept":
        for model in re.split(", | or ", text.removeprefix("accept ").removesuffix(" too")):
            changed = copy.deepcopy(manifest)
            for pod in templates(changed):
                annotate(pod, pod["metadata"]["annotations"]["gpu-extender.io/models"] + ", " + model)
            yield changed
        return
    if words[0] == "write" and text.endswith("spec.nodeSelector"):
        for name in re.split(", | or ", text.removeprefix("write ").removesuffix(" in spec.nodeSelector")):
            changed = copy.deepcopy(manifest)
            for pod in templates(changed):
                ((key, value),) = pod["spec"]["nodeSelector"].items()
                pod["spec"]["nodeSelector"] = {name: value} if "/" in name else {key: name}
            yield changed
        return
    changed = copy.deepcopy(manifest)
    for pod in templates(changed):
        if words[0] == "write" and text.endswith("gpu-extender.io/models"):
            annotate(pod, words[1])
        elif words[0] == "write" and text.endswith("resources.limits"):
            ((wrong, n),) = [(key, n) for key, n in limits(pod).items() if "/" in key]
            del limits(pod)[wrong]
            limits(pod)[words[1]] = n
        elif text.startswith("add a toleration for "):
            keys = text.removeprefix("add a toleration for ").split(" and ")
            pod["spec"]["tolerations"] = [{"key": key, "operator": "Exists"} for key in keys]
        elif text.startswith("drop gpu-extender.io/"):
            del pod["metadata"]["annotations"][words[1]]
        elif text.startswith("drop the nodeSelector "):
            del pod["spec"]["nodeSelector"][words[3].split("=")[0]]
        elif text.startswith("allow parts"):
            pod.setdefault("metadata", {}).setdefault("annotations", {})["gpu-extender.io/allow-shared"] = "true"
        elif text.startswith("ask for at most") and text.endswith("GPU memory"):
            pod["metadata"]["annotations"]["gpu-extender.io/min-gpu-memory"] = words[4]
        elif text.startswith("ask for no "):
            del limits(pod)[words[3]]
        elif text.startswith("ask for "):
            asked = text.removeprefix("ask for ").removeprefix("at most ").removesuffix(" a pod")
            ask_for(pod, re.split(", | and ", re.sub("^(half|an? [a-z]+), ", "", asked)))
        else:
            pytest.fail(text)
    yield changed


def fits(service, manifest, changes=()):
    body = json.dumps({"changes": list(changes), "workloads": [manifest]})
    (job,) = service.post("/v1/what-if", body).json()["jobs"]
    return job["fits"] == job["pods"] and job["verdict"]["result"] == "fits"


def kinds_that_help(service, manifest):
    """The kinds of the remedies that are offered. Each is applied, and must be enough alone."""
    (job,) = service.post("/v1/dry-run", json.dumps(manifest)).json()["jobs"]
    assert job["remediesTried"] == ("none" if job["verdict"]["result"] == "fits" else "all")
    for remedy in job["remedies"]:
        assert remedy["fits"] == job["pods"]
        if remedy["change"]:
            assert fits(service, manifest, [remedy["change"]]), remedy
        else:
            assert all(fits(service, changed) for changed in edited(manifest, remedy)), remedy
    return [remedy["kind"] for remedy in job["remedies"]]


def of_one_pod(limits, **spec):
    """In a namespace of the sample cluster."""
    asks = {"models": "models", "exclude": "exclude-models", "memory": "min-gpu-memory"}
    annotations = {f"gpu-extender.io/{name}": spec.pop(key) for key, name in asks.items() if key in spec}
    metadata = {"name": "m", "namespace": "ml-training", "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [{"name": "m", "image": "x", "resources": {"limits": limits}}], **spec}}


def roles_of(**roles):
    """A PyTorchJob of these amounts of one pod, and models."""
    specs = {}
    for role, (n, amounts, models) in roles.items():
        template = template_of(1)
        limits(template).update(amounts)
        template["metadata"] = {"annotations": {"gpu-extender.io/models": models}} if models else {}
        specs[role] = {"replicas": n, "template": template}
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "r", "namespace": "ml-training"}, "spec": {"pytorchReplicaSpecs": specs}}


def test_parts_are_what_every_role_asks_for(start_over):
    """As text: at most so much in each pod, or nothing is said."""
    service = start_over(node("a", 8, status={"allocatable": {"cpu": "64", "memory": "64Gi", GPU: "8", "pods": "99"}}))
    (job,) = jobs_of(service, roles_of(Master=(1, {GPU: "16", "memory": "32Gi"}, ""), Worker=(5, {GPU: "3", "memory": "20Gi"}, "")))
    assert [remedy["text"] for remedy in job["remedies"]] == ["ask for at most 1 GPU, 2Gi of memory a pod"]
    assert kinds_that_help(service, roles_of(Master=(1, {GPU: "16", "memory": "32Gi"}, ""), Worker=(5, {GPU: "3", "memory": "20Gi"}, ""))) == ["askLess"]


def test_the_first_cause_of_all_roles_decides(start_over):
    """Not that of the first role."""
    asking = roles_of(Master=(1, {GPU: 16}, "H100"), Worker=(3, {GPU: 8}, "H10O"))
    (job,) = jobs_of(start_over(node("h", 8, "NVIDIA-H100-80GB-HBM3")), asking)
    assert (job["verdict"]["cause"], job["verdict"]["text"]) == ("name", "No node has the model H10O. Did you mean H100-80GB-HBM3?")


def test_several_models_together_are_enough(start_over):
    """None has room for all pods alone."""
    service = start_over(node("a", 4, "A100"), node("h", 4, "H100"))
    asking = roles_of(Master=(1, {GPU: "4"}, "L4"), Worker=(1, {GPU: "4"}, "L4"))
    assert kinds_that_help(service, asking) == ["accept"]
    assert [remedy["text"] for remedy in jobs_of(service, asking)[0]["remedies"]] == ["drop gpu-extender.io/models"]


@pytest.mark.parametrize(
    "asking, kinds, first",
    [
        ({"limits": {GPU: 1}, "nodeSelector": {"accelerator": "nvidia-tesla-v10"}}, ["correct", "accept"], "write nvidia-tesla-v100, nvidia-tesla-k80 or nvidia-tesla-p100 in spec.nodeSelector"),
        ({"limits": {"nvidia.con/gpu": 1}}, ["correct"], f"write {GPU} in resources.limits"),
        ({"limits": {"nvidia.com/gpus": 8}, "models": "H100"}, ["correct"], f"write {GPU} in resources.limits"),
        ({"limits": {"nvidia.com/gpus": 1}, "models": "B200"}, [], None),
        ({"limits": {"nvidia.com/h100": 1}}, ["correct"], f"write {GPU} in resources.limits"),
        ({"limits": {GPU: 1, "rdma/hca": 1}}, ["askLess"], "ask for no rdma/hca"),
        ({"limits": {"nvidia.com/h100": 1, "rdma/hca": 1}}, [], None),
        ({"limits": {"nvidia.com/gpus": 4}, "memory": "190Gi"}, ["correct"], "write amd.com/gpu in resources.limits"),
        ({"limits": {"nvidia.com/gpus": 1}, "models": "!"}, [], None),
    ],
)
def test_what_is_mistyped_has_a_remedy(service, asking, kinds, first):
    manifest = of_one_pod(**asking)
    assert service.post("/v1/dry-run", manifest).json()["jobs"][0]["verdict"]["cause"] == "name"
    if asking.get("models") == "!":
        assert service.post("/v1/dry-run", manifest).json()["jobs"][0]["remediesTried"] == "none"
        return
    assert kinds_that_help(service, manifest) == kinds
    remedies = service.post("/v1/dry-run", manifest).json()["jobs"][0]["remedies"]
    assert [remedy["text"] for remedy in remedies[:1]] == ([first] if first else [])


@pytest.mark.parametrize(
    "asking, helps",
    [
        ({"limits": {"nvidia.com/mig-1g.5gb": 8}, "memory": "10Gi"}, f"write {GPU} in resources.limits"),
        ({"limits": {"gpu.intel.com/i915": 1}, "memory": "40Gi"}, "drop gpu-extender.io/min-gpu-memory"),
        ({"limits": {GPU: 8}, "exclude": "A100,H100,V100"}, "drop gpu-extender.io/exclude-models"),
    ],
)
def test_nothing_is_left_untried(service, asking, helps):
    """Though another resource than the one that is there would do, or less that the pod wants of GPUs."""
    manifest = of_one_pod(**asking)
    kinds_that_help(service, manifest)
    assert helps in [remedy["text"] for remedy in service.post("/v1/dry-run", manifest).json()["jobs"][0]["remedies"]]


@pytest.mark.parametrize(
    "asking, text",
    [
        ({"limits": {GPU: 1, "cpu": 200}, "models": "V100", "memory": "40Gi"}, "On 13 of 17 nodes, the GPU model is another."),
        ({"limits": {"nvidia.com/h100": 1}}, f"No node has the resource nvidia.com/h100; there are {GPU}, nvidia.com/mig-1g.5gb, alpha.kubernetes.io/nvidia-gpu, +2."),
        ({"limits": {GPU: 1}, "nodeSelector": {"example.com/pool": "a"}}, "No node has the label example.com/pool; there are nvidia.com/gpu.count, nvidia.com/gpu.family, nvidia.com/gpu.memory, +23."),
        ({"limits": {GPU: 1}, "nodeSelector": {"accelerator": "zzz"}}, "No node has accelerator=zzz; there are nvidia, nvidia-tesla-k80, nvidia-tesla-p100, +1."),
        ({"limits": {GPU: 1}, "nodeSelector": {"kubernetes.io/os": "plan9"}}, "No node has kubernetes.io/os=plan9; there is linux."),
    ],
)
def test_the_names_that_there_are(service, asking, text):
    """The nearest first; the others are counted."""
    assert service.post("/v1/dry-run", of_one_pod(**asking)).json()["jobs"][0]["verdict"]["text"] == text


def test_many_nodes_that_a_single_pod_may_choose_are_counted(service):
    text = service.post("/v1/dry-run?output=table", of_one_pod({"nvidia.com/gpus": 1})).text
    assert re.search(r"\n  write nvidia.com/gpu in resources.limits: fits on \d+ nodes, best on l40s-1\n", text), text
    text = service.post("/v1/dry-run?output=table", of_one_pod({"nvidia.com/gpus": 8})).text
    assert "\n  write nvidia.com/gpu in resources.limits: fits on h100-1\n" in text


def test_the_taint_of_all_nodes_with_the_model_decides(module_service):
    """Though they lack GPUs, too, and another model would be enough."""
    taints = [{"key": "team", "value": "vision", "effect": "NoSchedule"}]
    tainted = [node(name, 2, "Tesla-T4", spec={"taints": taints}) for name in ("t1", "t2")]
    served = module_service(*tainted, pod("a", 2, on="t1"), pod("b", 2, on="t2"), node("a10", 4, "A10"))
    asking = of_one_pod({GPU: 1}, models="T4")
    (job,) = served.post("/v1/dry-run", asking).json()["jobs"]
    assert (job["verdict"]["cause"], job["verdict"]["text"]) == ("taint", "It does not tolerate t1's taint team=vision:NoSchedule.")
    assert [remedy["text"] for remedy in job["remedies"]] == ["accept A10 too"]


@pytest.mark.parametrize(
    "name, kinds",
    [
        ("fits", []),
        ("full", ["accept", "askLess", "wait"]),
        ("typo", ["correct", "accept"]),
        ("b200", ["accept"]),
        ("selvalue", ["correct", "accept"]),
        ("selkey", ["correct", "accept"]),
        ("reskey", ["correct"]),
        ("taint", ["accept"]),
        ("big", ["askLess"]),
        ("llama-ft", ["askLess", "administrator"]),
        ("ddp", ["accept", "askLess", "administrator"]),
    ],
)
def test_each_remedy_is_enough_alone(service, name, kinds):
    assert kinds_that_help(service, yaml.safe_load(case(name))) == kinds


def test_a_raised_quota_is_enough(quota_service):
    assert kinds_that_help(quota_service, yaml.safe_load(case("fits"))) == ["askLess", "administrator"]
    kinds_that_help(quota_service, yaml.safe_load(case("llama-ft")))
    kinds_that_help(quota_service, yaml.safe_load(case("ddp")))


def test_a_job_that_fits_in_part_keeps_its_places(service):
    """The search for remedies takes its pods back, and places them again."""
    first, second = service.post("/v1/dry-run", case("llama-ft") + "\n---\n" + case("fits")).json()["jobs"]
    assert (first["fits"], first["remediesTried"]) == (1, "all")
    assert (second["fits"], second["verdict"]["cause"]) == (0, "freeGpus")


def test_a_closed_node_is_reopened(start_over):
    service = start_over(node("open", 2), node("closed", 8, spec={"unschedulable": True}))
    (job,) = service.post("/v1/dry-run", pod("new", 8)).json()["jobs"]
    assert (job["verdict"]["cause"], job["verdict"]["node"]) == ("total", "open")
    texts = {remedy["kind"]: remedy["text"] for remedy in job["remedies"]}
    assert texts == {"askLess": "ask for 2 GPUs", "administrator": "uncordon closed"}


def test_a_corrected_resource_is_no_remedy_where_annotations_choose_models(service):
    """The annotations are not read of a pod that asks for no GPU, so that nothing was tried with them."""
    asking = yaml.safe_load(case("reskey"))
    asking["metadata"]["annotations"] = {"gpu-extender.io/models": "L40S"}
    (workload,) = service.post("/v1/dry-run", asking).json()["workloads"]
    assert (workload["verdict"]["cause"], workload["remedies"]) == ("name", [])


def test_roles_of_other_models_do_not_compete(service):
    job = yaml.safe_load(case("llama-ft"))
    master = job["spec"]["pytorchReplicaSpecs"]["Master"]["template"]
    master["metadata"]["annotations"]["gpu-extender.io/models"] = "A10"
    master["spec"]["containers"][0]["resources"]["limits"] = {GPU: 2}
    job["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"] = 1
    (verdict,) = [job["verdict"] for job in service.post("/v1/dry-run", job).json()["jobs"]]
    assert (verdict["missing"], "2 A10" in verdict["text"]) == (missing(1, 2), True)


def jobs_of(service, *manifests):
    return service.post("/v1/dry-run", "\n---\n".join(json.dumps(manifest) for manifest in manifests)).json()["jobs"]


def table_of(service, manifest, width=80):
    return service.post(f"/v1/dry-run?output=table&width={width}", json.dumps(manifest)).text


def test_why_not_elsewhere_names_the_most_wanted_models_first(service):
    """Nodes of no model last; equal ones by name."""
    lines = table_of(service, pod("asks", 16, metadata={"namespace": "ml-training"})).splitlines()
    assert "    7  no nvidia.com/gpu      mi300x-1, p100-alpha-1, m40-alpha-1, +4" in lines
    assert "    2  taint not tolerated    t4-gke-1, cp-1" in lines
    models = {each["name"]: each["model"] for each in service.get("/v1/inventory").json()["nodes"]}
    (workload,) = service.post("/v1/dry-run", pod("asks", 16, metadata={"namespace": "ml-training"})).json()["workloads"]
    assert [models.get(each["node"], "") for each in workload["nodes"]] == [each["model"] for each in workload["nodes"]]


def of_kind(kind, name, template, **spec):
    labels = {"app": name}
    template = {"metadata": {**template["metadata"], "labels": labels}, "spec": template["spec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "ml-training"},
        "spec": {"selector": {"matchLabels": labels}, "template": template, **spec},
    }


def template_of(gpus=1, **spec):
    return {"metadata": {}, "spec": {"containers": [{"name": "c", "image": "x", "resources": {"limits": {GPU: gpus}}}], **spec}}


def test_a_daemon_set_that_no_node_takes_does_not_fit(service):
    asking = of_kind("DaemonSet", "agent", template_of(nodeSelector={"nvidia.com/gpu.prodct": "x"}))
    (job,) = jobs_of(service, asking)
    assert (job["pods"], job["verdict"]["result"], job["verdict"]["cause"]) == (0, "doesNotFit", "name")
    assert table_of(service, asking).startswith("DOES NOT FIT  DaemonSet ml-training/agent: runs on no node\n")


def test_a_daemon_set_is_judged_node_by_node(start_over):
    """Its pods have a node each: what all nodes together have decides nothing."""
    service = start_over(node("a", 8), node("b", 4))
    (job,) = service.post("/v1/dry-run", of_kind("DaemonSet", "agent", template_of(gpus=8))).json()["jobs"]
    assert job["verdict"]["text"].startswith("b: "), job["verdict"]


HAS_GPU = {"labels": {"gpu": "nvidia"}}


@pytest.mark.parametrize(
    "asking, text, remedy",
    [
        ({"cpu": "1000"}, "The nearest node, h100-1, lacks 809 CPU.", "ask for 191 CPU"),
        ({"memory": "64Ti"}, "The nearest node, h100-1, lacks 63490Gi of memory.", "ask for 2046Gi of memory"),
        ({"ephemeral-storage": "100Ti"}, "The nearest node, a10-1, lacks 101989Gi of storage.", "ask for 411Gi of storage"),
        ({"hugepages-2Mi": "1Gi", "memory": "1Gi"}, "The nearest node, a10-1, lacks 1Gi of hugepages-2Mi.", "ask for no hugepages-2Mi"),
    ],
)
def test_amounts_are_for_people(service, asking, text, remedy):
    """In whole units, and the rounded request is what is tried."""
    wanted = pod("new", 1, metadata={"namespace": "ml-training"})
    limits(wanted).update(asking)
    (job,) = jobs_of(service, wanted)
    assert job["verdict"]["text"] == text
    assert [remedy["text"] for remedy in job["remedies"][:1]] == ([remedy] if remedy else [])
    kinds_that_help(service, wanted)


def test_anti_affinity_is_not_a_lack_of_gpus(service):
    """What is there counts, also on nodes that earlier pods close to later ones."""
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
    rule = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    (job,) = jobs_of(service, of_kind("Deployment", "web", template_of(affinity=rule), replicas=30))
    assert (job["verdict"]["result"], job["verdict"]["text"]) == ("partlyFits", "No node open to it has 1 GPU left; a100-mig-1 lacks 1.")


TERM = {"labelSelector": {"matchLabels": {"app": "nobody"}}, "topologyKey": "kubernetes.io/hostname"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "web"}}}


@pytest.mark.parametrize(
    "spec, replicas, remedies",
    [
        ({"affinity": {"podAffinity": {REQUIRED: [TERM]}}}, 2, ["drop the required pod affinity"]),
        ({"topologySpreadConstraints": [SPREAD]}, 2, ["drop the topology spread constraints"]),
        ({"affinity": {"podAntiAffinity": {REQUIRED: [{**TERM, "labelSelector": {"matchLabels": {"app": "web"}}}]}}}, 30, ["drop the required pod anti-affinity", "18 more nodes like a100-mig-1"]),
        ({"affinity": {"podAffinity": {REQUIRED: [TERM]}}, "topologySpreadConstraints": [SPREAD]}, 2, []),
    ],
)
def test_a_rule_about_other_pods_is_dropped(service, spec, replicas, remedies):
    """If that alone is enough."""
    (job,) = jobs_of(service, of_kind("Deployment", "web", template_of(**spec), replicas=replicas))
    assert [remedy["text"] for remedy in job["remedies"]] == remedies
    assert fits(service, of_kind("Deployment", "web", template_of(), replicas=replicas))


def test_a_model_that_the_selected_nodes_lack(service):
    asking = pod("new", 1, metadata={"namespace": "ml-training", "annotations": {"gpu-extender.io/models": "H100"}}, spec={"nodeSelector": {"accelerator": "nvidia-tesla-v100"}})
    (job,) = jobs_of(service, asking)
    assert job["verdict"]["text"] == "No node that it selects has H100; v100-1 has V100."


def test_a_claim_that_does_not_exist(service):
    asking = pod("new", None, metadata={"namespace": "ml-training"}, spec={"resourceClaims": [{"name": "gpus", "resourceClaimName": "nope"}]})
    (job,) = jobs_of(service, asking)
    assert (job["verdict"]["cause"], job["verdict"]["text"]) == ("missing", "There is no ResourceClaim ml-training/nope.")


def daemon_set(gpus=8, **spec):
    return of_kind("DaemonSet", "agent", template_of(gpus, **spec))


def test_the_nodes_of_a_daemon_set_share_a_row(service):
    text = table_of(service, daemon_set(1), 160)
    assert re.search(r"^ +9  - +1 nvidia.com/gpu\n +13  k80-1, p100-1, .* and 7 more +1 nvidia.com/gpu$", text, re.M), text
    assert "cpu-1 and 6 more: the node has no GPUs of the requested resource: nvidia.com/gpu." in text


@pytest.mark.parametrize(
    "nodes, asking, remedies",
    [
        ([node("a", 8), node("b", 4)], daemon_set(8), [("askLess", "ask for 4 GPUs a pod")]),
        (
            [node("a", metadata=HAS_GPU), node("b", metadata=HAS_GPU), node("c", None, None)],
            daemon_set(8),
            [("askLess", "add the nodeSelector gpu=nvidia")],
        ),
        (
            [node("a", metadata=HAS_GPU)],
            daemon_set(8, nodeSelector={"gpu": "nvidai"}),
            [("correct", "write nvidia in spec.nodeSelector"), ("accept", "drop the nodeSelector gpu=nvidai")],
        ),
    ],
)
def test_what_helps_a_daemon_set(start_over, nodes, asking, remedies):
    """No more nodes: its pods would be on these, too."""
    service = start_over(*nodes)
    (job,) = jobs_of(service, asking)
    assert [(remedy["kind"], remedy["text"]) for remedy in job["remedies"]] == remedies
    for _, text in remedies:
        changed = copy.deepcopy(asking)
        spec = changed["spec"]["template"]["spec"]
        if "nodeSelector" in text:
            spec["nodeSelector"] = {} if text.startswith("drop") else {"gpu": "nvidia"}
        else:
            ask_for(changed["spec"]["template"], ["4 GPUs"])
        assert fits(service, changed), text


@pytest.mark.parametrize(
    "models, resource, text, remedy",
    [
        ("H10O", GPU, "No node has the model H10O. Did you mean H100-80GB-HBM3?", "write H100-80GB-HBM3 in gpu-extender.io/models"),
        ("H100", "nvidia.com/gpus", "No node has the resource nvidia.com/gpus. Did you mean nvidia.com/gpu?", "write nvidia.com/gpu in resources.limits"),
    ],
)
def test_a_name_that_no_node_has_decides_before_their_number(start_over, models, resource, text, remedy):
    service = start_over(node("a", 8, "NVIDIA-H100-80GB-HBM3"), node("b", 8, "NVIDIA-H100-80GB-HBM3"))
    asking = daemon_set()
    annotate(asking["spec"]["template"], models)
    asking["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"] = {resource: 8}
    (job,) = jobs_of(service, asking)
    assert (job["verdict"]["cause"], job["verdict"]["text"], job["remedies"][0]["text"]) == ("name", text, remedy)


def test_a_daemon_set_keeps_its_places(start_over):
    """The search takes its pods back, and places them again, each on its node."""
    service = start_over(node("a", 8), node("b", 4))
    first, second = jobs_of(service, daemon_set(6), of_kind("Deployment", "web", template_of(4)))
    assert (first["fits"], first["remediesTried"]) == (1, "all")
    assert second["workloads"] == [1] and second["fits"] == 1
    (answer,) = jobs_of(service, daemon_set(6), of_kind("Deployment", "web", template_of(8)))[1:]
    assert answer["fits"] == 0


def test_without_its_namespace_no_pod_fits(service):
    """The amounts agree; what would help is to make it, if nothing else lacks."""
    asking = of_kind("Deployment", "web", template_of(), replicas=2)
    asking["metadata"]["namespace"] = "nowhere"
    (job,) = jobs_of(service, asking)
    assert (job["fits"], job["verdict"]["cause"], job["verdict"]["missing"]) == (0, "missing", missing(2, 2))
    assert [remedy["text"] for remedy in job["remedies"]] == ["create the namespace nowhere"]
    text = table_of(service, asking)
    assert "0 of 2 pods" in text and "GOES TO" not in text
    asking["spec"]["template"] = template_of(64)
    assert [job["remedies"] for job in jobs_of(service, asking)] == [[]]


@pytest.mark.parametrize(
    "namespace, spec, text, remedies",
    [
        ("ml-trainin", {}, "namespace ml-trainin. Did you mean ml-training?", ["write ml-training in metadata.namespace"]),
        (None, {"priorityClassName": "system-node-critica"}, "system-node-critical?", ["write system-node-critical in spec.priorityClassName"]),
        (None, {"priorityClassName": "nobody"}, "There is no priority class nobody.", ["create the priority class nobody"]),
        ("ml-trainin", {"priorityClassName": "nobody"}, "Did you mean ml-training?", []),
    ],
)
def test_what_exists_is_offered_before_its_creation(service, namespace, spec, text, remedies):
    """The corrected workload is tried, and it may lack no second object."""
    asking = of_kind("Deployment", "web", template_of(**spec), replicas=2)
    asking["metadata"]["namespace"] = namespace or "ml-training"
    (job,) = jobs_of(service, asking)
    assert (job["verdict"]["cause"], text in job["verdict"]["text"]) == ("missing", True), job["verdict"]
    assert [remedy["text"] for remedy in job["remedies"]] == remedies


def test_a_namespace_whose_quota_is_used_up_is_not_offered(quota_service):
    asking = of_kind("Deployment", "web", template_of(8), replicas=2)
    asking["metadata"]["namespace"] = "ml-trainin"
    (job,) = jobs_of(quota_service, asking)
    assert (job["verdict"]["text"], job["remedies"]) == ("There is no namespace ml-trainin. Did you mean ml-training?", [])


@pytest.mark.parametrize(
    "annotations, text, remedy",
    [
        ({}, "No GPU is known to have 200Gi of memory; the largest, on a100-80-1, have 80Gi.", "ask for at most 80Gi of GPU memory"),
        ({"gpu-extender.io/models": "A100-40GB"}, "No A100-40GB has 200Gi of memory; the largest, on a100-40-1, have 40536Mi.", "ask for at most 40536Mi of GPU memory"),
    ],
)
def test_more_memory_than_any_gpu_has(service, annotations, text, remedy):
    """The largest there are, and not those of the first node."""
    asking = pod("new", 1, metadata={"namespace": "ml-training", "annotations": {"gpu-extender.io/min-gpu-memory": "200Gi", **annotations}})
    (job,) = jobs_of(service, asking)
    assert (job["verdict"]["cause"], job["verdict"]["text"]) == ("model", text)
    assert remedy in [remedy["text"] for remedy in job["remedies"]]


def test_a_model_that_is_there_as_another_resource(service):
    """Eight H100 are free."""
    asking = pod("new", 0, metadata={"namespace": "ml-training", "annotations": {"gpu-extender.io/models": "H100"}})
    limits(asking)["amd.com/gpu"] = 1
    (job,) = jobs_of(service, asking)
    assert job["verdict"]["text"] == "No node has H100 as amd.com/gpu; mi300x-1 has MI300X-OAM."


def test_two_resources_that_no_node_has_together(service):
    """Which is why, and not that one of the nodes with either is cordoned."""
    asking = pod("new", 1, metadata={"namespace": "ml-training"})
    limits(asking)["amd.com/gpu"] = 1
    (job,) = jobs_of(service, asking)
    assert (job["verdict"]["cause"], job["verdict"]["text"]) == ("total", "No node has both amd.com/gpu and nvidia.com/gpu.")
    assert [remedy["text"] for remedy in job["remedies"]] == ["ask for no amd.com/gpu or no nvidia.com/gpu"]
    for resource in list(limits(asking)):
        if "/" in resource:
            one = copy.deepcopy(asking)
            del limits(one)[resource]
            assert fits(service, one)


@pytest.mark.parametrize("kind, field", [("Namespace", None), ("PriorityClass", "priorityClassName"), ("RuntimeClass", "runtimeClassName")])
def test_what_the_manifest_makes_is_not_missing(service, kind, field):
    asking = of_kind("Deployment", "web", template_of(**({field: "new"} if field else {})))
    asking["metadata"]["namespace"] = "ml-training" if field else "new"
    made = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "new"}}
    assert [job["verdict"]["result"] for job in jobs_of(service, made, asking)] == ["fits"]


def test_objects_of_one_name_are_apart(service):
    """As in two files: each has its verdict."""
    jobs = jobs_of(service, of_kind("Deployment", "web", template_of()), of_kind("Deployment", "web", template_of(64)))
    assert [(job["workloads"], job["verdict"]["result"]) for job in jobs] == [([0], "fits"), ([1], "doesNotFit")]


def test_json_documents_are_separated_as_in_yaml(service):
    """kubectl reads them, too."""
    text = json.dumps(pod("a", 1, metadata={"namespace": "ml-training"}), indent=1)
    answer = service.post("/v1/dry-run", f"{text}\n---\n{text}\n---\nkind: ConfigMap\napiVersion: v1\nmetadata: {{name: b}}\n").json()
    assert (len(answer["jobs"]), [skipped["kind"] for skipped in answer["skipped"]]) == (2, ["ConfigMap"])


def test_a_missing_class_of_one_role_decides(service):
    """What would help the other role is not enough."""
    job = yaml.safe_load(case("llama-ft"))
    job["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]["spec"]["priorityClassName"] = "nobody"
    (found,) = jobs_of(service, job)
    assert (found["verdict"]["cause"], found["remedies"]) == ("missing", [])


@pytest.mark.parametrize("name", ["full", "typo", "selkey", "llama-ft", "ddp", "web"])
@pytest.mark.parametrize("width", [80, 120])
def test_lines_obey_the_width(service, name, width):
    """Remedies, notes and warnings, too; only one word may be longer."""
    for line in table_of(service, yaml.safe_load(case(name)), width).splitlines():
        assert len(line) <= width or " " not in line.strip(), line


@pytest.mark.parametrize("taint, hinted", [({}, True), ({"effect": "NoExecute"}, False), ({"key": "team"}, False)])
def test_what_an_admission_plugin_would_add(module_service, taint, hinted):
    """A toleration of NoSchedule for the name of a resource that the pod asks for, and no other."""
    tainted = node("a", 1, spec={"taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule", **taint}]})
    text = table_of(module_service(tainted), pod("asks", 1), 100)
    helps = f"  add a toleration for {taint.get('key', 'nvidia.com/gpu')}: fits on a\n"
    assert helps in text
    assert (helps + "  (the admission plugin ExtendedResourceToleration adds it, where it runs)\n" in text) == hinted == ("ExtendedResource" in text)


def test_a_misspelt_toleration(service):
    """No taint has its key, and one has a key that is near."""
    asking = yaml.safe_load(case("taint"))
    asking["spec"]["tolerations"] = [{"key": "nvidia.com/gpus", "operator": "Exists"}]
    (job,) = jobs_of(service, asking)
    text = "It tolerates nvidia.com/gpus, not t4-gke-1's taint nvidia.com/gpu=present:NoSchedule. Did you mean nvidia.com/gpu?"
    assert (job["verdict"]["cause"], job["verdict"]["text"]) == ("taint", text)
    assert (job["remedies"][0]["kind"], job["remedies"][0]["text"]) == ("correct", "write nvidia.com/gpu in spec.tolerations")
    assert "add a toleration for nvidia.com/gpu" not in [remedy["text"] for remedy in job["remedies"]], "it is the same"
    asking["spec"]["tolerations"][0]["key"] = "nvidia.com/gpu"
    assert fits(service, asking)


@pytest.mark.parametrize("toleration", [{"operator": "Equal", "value": "yes"}, {"operator": "Exists", "effect": "NoExecute"}])
def test_a_toleration_of_another_value_or_effect(service, toleration):
    asking = yaml.safe_load(case("taint"))
    asking["spec"]["tolerations"] = [{"key": "nvidia.com/gpu", **toleration}]
    (job,) = jobs_of(service, asking)
    assert job["verdict"]["text"] == "Its toleration does not match t4-gke-1's taint nvidia.com/gpu=present:NoSchedule."
    assert [remedy["text"] for remedy in job["remedies"]] == ["add a toleration for nvidia.com/gpu"]


KEYLESS = {"operator": "Exists", "effect": "NoExecute"}
MISSPELT = {"key": "nvidia.com/gpus", "operator": "Exists"}


@pytest.mark.parametrize(
    "tolerations, helps",
    [([KEYLESS], "add a toleration for nvidia.com/gpu"), ([KEYLESS, MISSPELT], "write nvidia.com/gpu in spec.tolerations"), ([MISSPELT, KEYLESS], "write nvidia.com/gpu in spec.tolerations")],
)
def test_a_toleration_of_every_key(service, tolerations, helps):
    """It has no key, and tolerates taints of one effect only."""
    asking = yaml.safe_load(case("taint"))
    asking["spec"]["tolerations"] = tolerations
    (job,) = jobs_of(service, asking)
    assert (job["verdict"]["cause"], job["remedies"][0]["text"]) == ("taint", helps)



def test_a_workload_that_runs_already(start_over):
    """Its pods count as others', which is said; not those of another kind, namespace or name."""
    made_by = lambda kind, name: {"ownerReferences": [{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": name, "controller": True}]}
    owned = [("ReplicaSet", "web-5d8f", "ml-training"), ("ReplicaSet", "web-5d8f", "ml-training"), ("ReplicaSet", "web-5d8f", "ml"), ("ReplicaSet", "web-2-5d8f", "ml-training"), ("StatefulSet", "web", "ml-training")]
    pods = [pod(f"p-{i}", 2, "a", metadata={"namespace": namespace, **made_by(kind, name)}) for i, (kind, name, namespace) in enumerate(owned)]
    service = start_over(node("a", 12), *pods, pod("alone", 1, "a", metadata={"namespace": "ml-training"}))
    deployment = of_kind("Deployment", "web", template_of(2), replicas=2)
    jobs = jobs_of(service, deployment, of_kind("StatefulSet", "web", template_of(1)), of_kind("Job", "web", template_of(1)), of_one_pod({GPU: 1}) | {"metadata": {"name": "alone", "namespace": "ml-training"}})
    assert [job.get("running") for job in jobs] == [{"pods": 2, "gpus": 4}, {"pods": 1, "gpus": 2}, None, {"pods": 1, "gpus": 1}]
    text = table_of(service, deployment, 100)
    assert "\n2 of its pods already run and hold 4 GPUs; here they count as others'.\n" in text, text
    assert "\n1 of its pods already runs and holds 1 GPU; " in table_of(service, of_one_pod({GPU: 1}) | {"metadata": {"name": "alone", "namespace": "ml-training"}}, 100)


@pytest.mark.parametrize(
    "asks, result, text",
    [
        ({"nvidia.com/gpus": 1}, "mistake", f"No node has the resource nvidia.com/gpus. Did you mean {GPU}?"),
        ({GPU: 16}, "fits", "Scaled up, none would fit. No node has 16 GPUs; the largest, h100-1, has 8."),
        ({GPU: 1}, "fits", "34 more would fit."),
    ],
)
def test_no_replicas(service, asks, result, text):
    """A mistake comes first, though no pod lacks a place."""
    asking = of_kind("Deployment", "web", template_of(1), replicas=0)
    asking["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"] = asks
    (job,) = jobs_of(service, asking)
    assert (job["pods"], job["verdict"]["result"], job["verdict"]["text"]) == (0, result, text)
    assert table_of(service, asking).startswith("MISTAKE  Deployment ml-training/web" if result == "mistake" else "FITS  ")


def test_how_many_more_is_said_of_a_single_template(service):
    """Of several, the pods of the last one are no measure."""
    (several,) = service.post("/v1/dry-run", read("examples/workloads/argo-workflow.yaml")).json()["jobs"]
    (single,) = jobs_of(service, of_kind("Deployment", "web", template_of(), replicas=1))
    assert [(job["verdict"]["result"], job["verdict"]["text"]) for job in (several, single)] == [("fits", "All its pods fit."), ("fits", "33 more would fit.")]


def test_half_a_gang_holds_its_gpus(service):
    text = table_of(service, yaml.safe_load(case("llama-ft")), 100)
    assert "\nWithout gang scheduling Master 0 starts, and holds 8 H100 while the others wait.\n" in text
    assert "gang" not in table_of(service, yaml.safe_load(case("ddp")))
    several = case("llama-ft").replace("gpu: 8, cpu: 64, memory: 512Gi", "gpu: 2, cpu: 8").replace("replicas: 3", "replicas: 4")
    assert "\nWithout gang scheduling Master 0 and Worker 0-2 start, and hold 8 H100 while the others wait.\n" in table_of(service, yaml.safe_load(several), 100)


def test_a_mistake_has_no_places(service):
    """They would be those of other pods."""
    text = table_of(service, yaml.safe_load(case("web")))
    assert text.startswith("MISTAKE  ") and "GOES TO" not in text


def test_what_was_not_saved_is_to_be_saved(service):
    """Claims whose classes are unknown are not judged, and nothing is said of nodes."""
    text = service.post("/v1/dry-run?output=table", read("examples/claims", "by-claims.yaml")).text
    assert text.startswith("NOT JUDGED  Deployment ml/by-claims: 4 pods\n")
    assert "  save the cluster again, with deviceclasses among the kinds\n" in text and "NODES" not in text
    assert " ".join(text.split()).count("aved cluster has no DeviceClasses; two-h100 names gpu.nvidia.com.") == 1 and "not counted" not in text


def test_a_drain_that_displaces_nothing_says_so(service):
    """Rows of models whose numbers stay are left out."""
    ask = lambda change: service.post("/v1/what-if?output=table", {"changes": [change]}).text
    assert ask({"drain": ["h100-1"]}).startswith("no pod is displaced; ")
    assert not ask({"cordon": ["h100-1"]}).startswith("no pod is displaced")
    rows = ask({"drain": ["v100-1"]}).split("Free GPUs before and after:\n")[1].splitlines()
    assert [row.split()[1] for row in rows[1:]] == ["H100-80GB-HBM3", "V100"]
