"""kubectl gpu why: which pod is meant, with and without a namespace."""

import json

import pytest
from kubectl_gpu import FILE, Kubectl, complaint, said
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
        node("full", 40),
        alone("runs", "research", "a"),
        alone("web-0", "ml", "a"),
        alone("web-0", "research", "a"),
        alone("here", "default", "a"),
        alone("here", "ml", "a"),
        owned("train-x", "Job", "train"),
        owned("done-6f7d-a", "ReplicaSet", "done-6f7d", on="full"),
        owned("web-5d9c7b6f48-x2v9m", "ReplicaSet", "web-5d9c7b6f48", "research"),
        owned("db-0", "StatefulSet", "db", "research"),
        owned("db-1", "StatefulSet", "db", "ml"),
        owned("agent-7", "DaemonSet", "agent"),
        owned("old-1", "ReplicationController", "old"),
        owned("llama-master-0", "PyTorchJob", "llama"),
        owned("nightly-29384750-abcde", "Job", "nightly-29384750"),
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
        (["ml/web-0", "-n", "ml"], "ml/web-0"),
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
        (["pytorchjobs/llama"], "ml/llama-master-0"),
        (["cronjob/nightly"], "ml/nightly-29384750-abcde"),
        (["cj/nightly", "-n", "ml"], "ml/nightly-29384750-abcde"),
    ],
)
def test_the_pod_that_is_meant(where, words, meant):
    found = json.loads(said("why", *words, *where, "-o", "json"))["pod"]
    assert f"{found['namespace']}/{found['name']}" == meant


def test_a_namespace_that_was_found_is_said(where):
    """On the first line; kube-scheduler's words come last."""
    lines = said("why", "big-train-0", *FILE).splitlines()
    assert lines[0].startswith("DOES NOT FIT  Pod ml-training/big-train-0, the only pod of this name: waits for ")
    assert lines[-2:] == ["", "kube-scheduler says: 0/25 nodes are available: 25 Insufficient nvidia.com/gpu."]
    assert not any(line.startswith("  closest") for line in lines), "the verdict names that node"
    for words in (["big-train-0", "-n", "ml-training"], ["ml-training/big-train-0"]):
        assert said("why", *words, *FILE).splitlines() == [lines[0].replace(", the only pod of this name", ""), *lines[1:]]
    assert "the only" not in said("why", "here", *where) and "only" not in said("why", "big-train-0", *FILE, "-o", "json").lower().replace("only from", "")


@pytest.mark.parametrize(
    "words, status, message",
    [
        (["web-0"], 2, "2 pods are named web-0: ml/web-0, research/web-0. Add -n NAMESPACE."),
        (["sts/db"], 2, "2 pods are meant by sts/db: ml/db-1, research/db-0. Add -n NAMESPACE, or name the pod."),
        (["runs", "-n", "ml"], 2, "pod ml/runs: is not in the inventory"),
        (["nobody"], 2, "pod default/nobody: is not in the inventory"),
        (["ml/nobody"], 2, "pod ml/nobody: is not in the inventory"),
        (["research/nobody"], 2, "pod research/nobody: is not in the inventory"),
        (["job/train", "-n", "research"], 2, "no pod of job/train waits for GPUs in the namespace research"),
        (["job/trian"], 2, "no pod of job/trian waits for GPUs; did you mean job/train?"),
        (["deploy/train"], 2, "no pod of deploy/train waits for GPUs"),
        (["deploy/web-5d9c7b6f48"], 2, "no pod of deploy/web-5d9c7b6f48 waits for GPUs"),
        (["deploy/done"], 1, "no pod of deploy/done waits for GPUs: 1 of its pods holds GPUs"),
        (["odd/train"], 2, "odd/train: odd is neither a kind nor a namespace of pods that wait for GPUs or hold them; should be POD, NAMESPACE/POD or KIND/NAME, such as deploy/web"),
        (["depoly/train"], 2, "depoly/train: depoly is neither a kind nor a namespace of pods that wait for GPUs or hold them; did you mean deploy/train?"),
        (["pytorchjbo/llama"], 2, "pytorchjbo/llama: pytorchjbo is neither a kind nor a namespace of pods that wait for GPUs or hold them; did you mean pytorchjob/llama?"),
        (["ml/web-0", "-n", "research"], 2, "ml/web-0: is in the namespace ml, but --namespace is research"),
        (["node/a"], 2, "node/a: a node does not wait for GPUs; did you mean kubectl gpu nodes a?"),
    ],
)
def test_what_is_not_clear(where, words, status, message):
    assert complaint("why", *words, *where, status=status).startswith(message)


@pytest.mark.parametrize("words", [["cronjob/x"], ["cronjob/train"], ["cj/tf-trai"]])
def test_jobs_of_no_cronjob_are_not_named(write, words):
    """Only a time of eight digits behind the name makes a Job one of a CronJob."""
    cluster = list_text(node("a", 40), owned("train-x", "Job", "train"), owned("tf-train-k80-x", "Job", "tf-train-k80"), owned("held", "Job", "tf-train-p100", on="a"))
    assert complaint("why", *words, "--cluster-file", write("jobs.json", cluster), status=2) == f"no pod of {words[0]} waits for GPUs"


def test_a_namespace_that_does_not_exist():
    assert complaint("why", "big-train-0", "-n", "nowhere", *FILE, status=2) == '--namespace: "nowhere": there is no such namespace'


@pytest.mark.parametrize("words, meant", [(["runs", "-n", "ml"], "research/runs"), (["job/train", "-n", "research"], "ml/train-x"), (["rnus"], "research/runs"), (["pod/web-9"], "ml/web-0"), (["train-y", "-n", "ml"], "ml/train-x"), (["deploy/donne"], "deploy/done")])
def test_a_name_that_is_near(where, words, meant):
    assert complaint("why", *words, *where, status=2).endswith(f"; did you mean {meant}?")


def test_a_running_pod_says_that_its_node_has_another_model(write):
    """As where another scheduler placed it, which reads no annotations."""
    wish = {"annotations": {"gpu-extender.io/models": "A100"}}
    cluster = list_text(node("a", 8, "NVIDIA-H100-80GB-HBM3"), pod("right", 1, "a"), pod("wrong", 1, "a", metadata=wish))
    shown = {name: said("why", name, "-n", "ml", "--cluster-file", write("cluster.json", cluster)).splitlines()[1].strip() for name in ("right", "wrong")}
    assert shown == {"right": "It runs on a.", "wrong": "It runs on a, though the node's GPU model is not one that the pod asks for."}


@pytest.mark.parametrize("word", ["", "/", "/x", "deploy/", "po/", "ml/", "deployment.apps/", ".apps/web", "deploy/a/b", "pod/ml/train-x", "Web", "web_0", "po/-x", "..", "job/tr ain", "x" * 254])
@pytest.mark.parametrize("more", [[], ["-n", "ml"]], ids=["", "-n"])
def test_no_name_at_all(where, word, more):
    said_of_it = complaint("why", word, *more, *where, status=2)
    assert said_of_it.startswith(f"{word[:200]}: has no name of small letters, digits, '-' and '.', should be POD, NAMESPACE/POD or KIND/NAME, such as deploy/web" if word else "POD: is empty")


def test_who_may_not_see_all_namespaces_learns_of_no_other(tmp_path):
    """Through kubectl: the message is that of the namespace of the context, whatever is elsewhere."""
    kubectl = Kubectl(tmp_path)
    kubectl.answer("", "Error from server (NotFound): pod here/web-0: is not in the inventory\n", 1)
    assert "pod here/web-0: is not in the inventory" in complaint("why", "web-0", env=kubectl.env, status=2)
    kubectl.answer("", "Error from server (Forbidden): views is forbidden\n", 1)
    assert "forbidden" in complaint("why", "job/train", env=kubectl.env, status=3)
    assert kubectl.words()[-1].endswith("/views/pending?namespace=here")
    kubectl.answer("", "Error from server (NotFound): pod mine/web-0: is not in the inventory\n", 1)
    assert complaint("why", "web-0", "-n", "mine", env=kubectl.env, status=2).strip().endswith("pod mine/web-0: is not in the inventory")
