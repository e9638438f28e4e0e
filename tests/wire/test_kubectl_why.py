"""kubectl gpu why: which pod is meant, with and without a namespace."""

import json

import pytest
from kubectl_gpu import Kubectl, complaint, said
from objects import list_text, node, pod


def owned(name, kind, owner, namespace="ml", **more):
    reference = {"apiVersion": "v1", "kind": kind, "name": owner, "uid": owner, "controller": True}
    return pod(name, 40, metadata={"namespace": namespace, "uid": f"{namespace}-{name}", "ownerReferences": [reference]}, **more)


def alone(name, namespace, on=None):
    return pod(name, 1, on, metadata={"namespace": namespace, "uid": f"{namespace}-{name}"})


@pytest.fixture
def where(write):
    cluster = list_text(
        node("a", 8),
        alone("runs", "research", "a"),
        alone("web-0", "ml", "a"),
        alone("web-0", "research", "a"),
        alone("here", "default", "a"),
        alone("here", "ml", "a"),
        owned("train-x", "Job", "train"),
        owned("web-5d9c7b6f48-x2v9m", "ReplicaSet", "web-5d9c7b6f48", "research"),
        owned("db-0", "StatefulSet", "db", "research"),
        owned("db-1", "StatefulSet", "db", "ml"),
        owned("agent-7", "DaemonSet", "agent"),
        owned("old-1", "ReplicationController", "old"),
        owned("llama-master-0", "PyTorchJob", "llama"),
    )
    return "--cluster-file", write("cluster.json", cluster)


@pytest.mark.parametrize(
    "words, meant",
    [
        (["runs"], "research/runs"),
        (["pod/runs"], "research/runs"),
        (["PO/runs"], "research/runs"),
        (["here"], "default/here"),  # in the namespace that counts without -n, so no other is asked for
        (["web-0", "-n", "ml"], "ml/web-0"),
        (["train-x"], "ml/train-x"),
        (["ml/web-0"], "ml/web-0"),  # as answers call it
        (["job/train"], "ml/train-x"),
        (["jobs/train", "-n", "ml"], "ml/train-x"),
        (["deploy/web"], "research/web-5d9c7b6f48-x2v9m"),
        (["Deployment/web"], "research/web-5d9c7b6f48-x2v9m"),
        (["rs/web-5d9c7b6f48"], "research/web-5d9c7b6f48-x2v9m"),
        (["sts/db", "-n", "ml"], "ml/db-1"),
        (["statefulsets.apps/db", "-n", "ml"], "ml/db-1"),
        (["deployment.apps/web"], "research/web-5d9c7b6f48-x2v9m"),
        (["ds/agent"], "ml/agent-7"),
        (["rc/old"], "ml/old-1"),
        (["pytorchjob.kubeflow.org/llama"], "ml/llama-master-0"),
    ],
)
def test_the_pod_that_is_meant(where, words, meant):
    found = json.loads(said("why", *words, *where, "-o", "json"))["pod"]
    assert f"{found['namespace']}/{found['name']}" == meant


@pytest.mark.parametrize(
    "words, status, message",
    [
        (["web-0"], 2, "2 pods are named web-0: ml/web-0, research/web-0. Add -n NAMESPACE."),
        (["sts/db"], 2, "2 pods are meant by sts/db: ml/db-1, research/db-0. Add -n NAMESPACE, or name the pod."),
        (["runs", "-n", "ml"], 1, "pod ml/runs: is not in the inventory"),
        (["nobody"], 1, "pod default/nobody: is not in the inventory"),
        (["job/train", "-n", "research"], 1, "no pod of job/train waits for GPUs in the namespace research"),
        (["deploy/train"], 1, "no pod of deploy/train waits for GPUs"),
        (["deploy/web-5d9c7b6f48"], 1, "no pod of deploy/web-5d9c7b6f48 waits for GPUs"),
        (["odd/train"], 1, "no pod of odd/train waits for GPUs"),
        (["depoly/train"], 1, "no pod of depoly/train waits for GPUs; did you mean deploy/?"),
    ],
)
def test_what_is_not_clear(where, words, status, message):
    assert complaint("why", *words, *where, status=status).startswith(message)


def test_who_may_not_see_all_namespaces_learns_of_no_other(tmp_path):
    """Through kubectl: the message is that of the namespace of the context, whatever is elsewhere."""
    kubectl = Kubectl(tmp_path)
    kubectl.answer("", "Error from server (NotFound): pod here/web-0: is not in the inventory\n", 1)
    assert "pod here/web-0: is not in the inventory" in complaint("why", "web-0", env=kubectl.env, status=1)
    kubectl.answer("", "Error from server (Forbidden): views is forbidden\n", 1)
    assert "forbidden" in complaint("why", "job/train", env=kubectl.env, status=3)
    assert kubectl.words()[-1].endswith("/views/pending?namespace=here")
