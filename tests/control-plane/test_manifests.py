"""The configurations in manifests/ with the real kube-scheduler, and the pods that each sends to us."""

import json
import os
import re
import subprocess

import pytest
import yaml
from cluster import GPU, MANIFESTS, NODES, PODS, node, pod
from live import BOUND_BY

USUAL, ALL_PODS = "kube-scheduler-config.yaml", "kube-scheduler-config-all-pods.yaml"
GPU_PROFILE = "kube-scheduler-config-gpu-profile.yaml"
LEGACY = "alpha.kubernetes.io/nvidia-gpu"
MODEL = "NVIDIA-H100-80GB-HBM3"


def read(name):
    with open(os.path.join(MANIFESTS, name), encoding="utf-8") as file:
        return file.read()


def extender(whole):
    (found,) = whole["extenders"]
    return found


def test_both_configurations_differ_only_in_resources():
    usual, every = yaml.safe_load(read(USUAL)), yaml.safe_load(read(ALL_PODS))
    managed = extender(usual).pop("managedResources")
    assert usual == every
    assert [item["name"] for item in managed] == [GPU, "amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe", "gpu-extender.io/claims"]
    assert not any(item["ignoredByScheduler"] for item in managed)
    assert (extender(usual)["weight"], usual["percentageOfNodesToScore"]) == (141, 100)


def test_gpu_profile_configuration_differs_only_in_profiles():
    usual, profiled = yaml.safe_load(read(USUAL)), yaml.safe_load(read(GPU_PROFILE))
    ordinary, for_gpus = profiled.pop("profiles")
    assert ordinary == {"schedulerName": "default-scheduler"}
    assert for_gpus.pop("percentageOfNodesToScore") == usual.pop("percentageOfNodesToScore")
    assert list(for_gpus) == ["schedulerName"] and profiled == usual


def default_plugins(plane):
    """{name: weight} of the scoring plugins that kube-scheduler enables by default, as written by kube-scheduler."""
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": plane.kubeconfig()},
    }
    given, written = plane.write("defaults-given.json", json.dumps(configuration)), plane.path("defaults-written.yaml")
    command = [os.path.join(plane.binaries, "kube-scheduler"), f"--config={given}", f"--write-config-to={written}"]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    with open(written, encoding="utf-8") as file:
        (profile,) = yaml.safe_load(file)["profiles"]
    return {plugin["name"]: plugin["weight"] for plugin in profile["plugins"]["multiPoint"]["enabled"] if plugin["weight"] > 0}


@pytest.mark.since("1.34", "the score of DynamicResources, for which the weight of 141 is")
def test_one_extender_point_outweighs_all_plugins(plane):
    """A plugin's score is at most 100; one point of ours counts weight x 10. A weight one less would not suffice."""
    weights = default_plugins(plane)
    assert {"DynamicResources", "TaintToleration"} < set(weights)
    theirs = 100 * sum(weights.values())
    assert extender(yaml.safe_load(read(USUAL)))["weight"] == theirs // 10 + 1, weights


def uncommented(text):
    """With all commented-out resources enabled."""
    return yaml.safe_load(text.replace("# - name:", "- name:").replace("#   ignoredByScheduler", "  ignoredByScheduler"))


def test_commented_resources_are_valid(plane):
    whole = uncommented(read(USUAL))
    names = [item["name"] for item in extender(whole)["managedResources"]]
    assert len(names) == len(set(names)) > 30 and "nvidia.com/mig-1g.5gb" in names
    plane.start_scheduler("all-resources", whole).kill()


def test_the_legacy_resource_cannot_be_managed(plane):
    """The reason for a second file."""
    whole = yaml.safe_load(read(USUAL))
    extender(whole)["managedResources"].append({"name": LEGACY, "ignoredByScheduler": False})
    with pytest.raises(AssertionError, match=re.escape(LEGACY) + ".*is an invalid extended resource name"):
        plane.start_scheduler("legacy", whole)


def add_legacy_node(live):
    """Adds a node as Kubernetes 1.6 had it: this resource, and the label that names its model. A label of nvidia.com is not about it."""
    item = node("node", MODEL, 4)
    has = item["status"]["allocatable"]  # and its capacity
    has[LEGACY] = has.pop(GPU)
    item["metadata"]["labels"] = {LEGACY + "-name": MODEL}
    live.api.create(NODES, item)


def ask_for(live, name, resource, models):
    item = pod(name, 0, models=models)
    resources = item["spec"]["containers"][0]["resources"]
    for amounts in resources.values():
        amounts[resource] = "1"
    live.api.create(PODS, item)


def test_no_managed_resources_sends_every_pod(live):
    add_legacy_node(live)
    live.start(shipped=ALL_PODS)
    ask_for(live, "legacy", LEGACY, "H100")
    ask_for(live, "wants-another", LEGACY, "T4")
    live.create("no-gpu", 0)
    assert live.node_of("legacy") == live.node_of("no-gpu") == "node"
    assert not live.bound_by_others(live.api.wait_for_all(PODS, lambda items: len(items) == 3))
    assert "GPU model" in live.refusal_of("wants-another")["message"]
    live.wait_until_told()
    (told,) = live.service.get("/v1/inventory").json()["nodes"]
    assert [(item["pod"], item["gpus"]) for item in told["holders"]] == [("legacy", {LEGACY: 1})]


def test_only_the_gpu_profile_filters_all_nodes(live):
    """With 100 nodes or more kube-scheduler stops after enough fitting ones: of 200 here, 96 (50 - 200 / 125 percent), but at least 100."""
    live.add_nodes("node", 200, MODEL, 8, kwok=False)
    live.start(shipped=GPU_PROFILE)

    def asked_about(name, **more):
        live.create(name, 1, **more)
        live.node_of(name)
        # The last one: a binding held after our start ends in an Error, and filter is called again.
        return live.service.get(f"/v1/decisions?name={name}&verb=filter").json()["decisions"][0]["nodesAsked"]

    assert asked_about("sampled") == 100
    assert asked_about("sees-all", schedulerName="gpu-scheduler") == 200


def test_unlisted_resource_bypasses_gpu_extender(live):
    """As docs/KUBE-SCHEDULER.md warns: the requested model is ignored. Our ledger counts it nevertheless."""
    add_legacy_node(live)
    live.start()
    ask_for(live, "bypasses", LEGACY, "T4")
    assert live.node_of("bypasses") == "node"
    assert BOUND_BY not in live.api.get(f"{PODS}/bypasses")["metadata"].get("annotations", {})
    assert live.filter_requests() == 0
    live.wait_until_told()
    (told,) = live.service.get("/v1/inventory").json()["nodes"]
    assert told["resources"][LEGACY]["used"] == 1
