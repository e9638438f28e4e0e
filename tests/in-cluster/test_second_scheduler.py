"""The overlay for managed control planes: a kube-scheduler that runs as pods, and that pods select."""

import os
import re
import tempfile

import gpus
import pytest
import yaml
from live import BOUND_BY
from ours import DEPLOYMENTS, VERBS, server_name
from real import run

OVERLAY = "overlays/second-scheduler"
NAME = "gpu-scheduler"
N_PODS = 16


def make_image(cluster, root, name):
    """kube-scheduler of the control plane with its libraries, under the image name of the overlay."""
    program = os.path.join(cluster.binaries, "kube-scheduler")
    libraries = re.findall(r"/\S+\.so\S*", run("ldd", program))
    os.makedirs(os.path.join(root, "usr/bin"))
    run("cp", program, os.path.join(root, "usr/bin"))
    run("cp", "--dereference", "--parents", *libraries, root)
    cluster.make_image(name, root, "COPY . /", "ENV PATH=/usr/bin")


@pytest.fixture
def scheduler(ours):
    """Without DNS in this cluster, a hosts file gives its pods the Service's address."""
    with open(os.path.join(ours.manifests, OVERLAY, "kustomization.yaml"), encoding="utf-8") as file:
        (image,) = yaml.safe_load(file)["images"]
    with tempfile.TemporaryDirectory() as root:
        make_image(ours.cluster, root, f"{image['newName']}:{image['newTag']}")
    alias = {"ip": ours.address_of(VERBS), "hostnames": [server_name(VERBS)]}
    patch = [{"op": "add", "path": "/spec/template/spec/hostAliases", "value": [alias]}]
    whole = {
        "resources": [os.path.join("..", OVERLAY)],
        "patches": [{"target": {"kind": "Deployment", "name": NAME}, "patch": yaml.safe_dump(patch)}],
    }
    folder = os.path.join(ours.manifests, "tried")
    os.makedirs(folder)
    ours.cluster.write(os.path.join(folder, "kustomization.yaml"), yaml.safe_dump(whole))
    ours.cluster.kubectl("apply", "--server-side", "-k", folder)
    yield NAME
    ours.cluster.kubectl("delete", "--wait=false", "-k", folder)


def test_pods_of_the_second_scheduler_are_bound(ours, scheduler, make):
    ours.api.wait_for(DEPLOYMENTS, f"metadata.name={scheduler}", lambda seen: seen["status"].get("availableReplicas") == 2)
    make(range(N_PODS), schedulerName=scheduler)
    pods = gpus.wait_until_bound(ours.api, N_PODS).values()
    assert [item["metadata"]["name"] for item in pods if BOUND_BY not in item["metadata"]["annotations"]] == []
