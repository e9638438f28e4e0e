"""The doctor says of a configuration that kube-scheduler does not start if and only if the real one rejects it."""

import json
import os
import subprocess

import pytest
from service import LIMIT_S, run_to_end

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "clientConnection": {"kubeconfig": "/nonexistent"}}
OURS = {
    "urlPrefix": "http://127.0.0.1:8888/scheduler",
    "filterVerb": "filter",
    "prioritizeVerb": "prioritize",
    "preemptVerb": "preempt",
    "bindVerb": "bind",
    "weight": 141,
    "httpTimeout": "3s",
    "nodeCacheCapable": True,
    "managedResources": [{"name": "nvidia.com/gpu"}],
}
OTHER = {"urlPrefix": "https://10.0.0.1/x", "filterVerb": "filter"}


def ours(**changes):
    """None removes a member."""
    return {key: value for key, value in {**OURS, **changes}.items() if value is not None}


def other(**changes):
    return {**OTHER, **changes}


def managing(*names):
    return [{"name": name} for name in names]


def extenders(*items):
    return {"extenders": list(items)}


def profiles(*items):
    return {"profiles": list(items), **extenders(OURS)}


# Every rule of Kubernetes' pkg/scheduler/apis/config/validation that the doctor checks, from both sides.
CONFIGS = {
    "ours": extenders(OURS),
    "no weight without prioritizeVerb": extenders(ours(prioritizeVerb=None, weight=None)),
    "weight 0 without prioritizeVerb": extenders(ours(prioritizeVerb="", weight=0)),
    "no weight": extenders(ours(weight=None)),
    "weight 0": extenders(ours(weight=0)),
    "a negative weight": extenders(ours(weight=-1)),
    "another's weight is missing": extenders(OURS, other(prioritizeVerb="p")),
    "another has no weight and no prioritizeVerb": extenders(OURS, OTHER),
    "another's weight is positive": extenders(OURS, other(prioritizeVerb="p", weight=1)),
    "two binders": extenders(OURS, other(bindVerb="b")),
    "two binders, both of others": extenders(ours(bindVerb=None), other(bindVerb="b"), other(bindVerb="c")),
    "an empty bindVerb": extenders(OURS, other(bindVerb="")),
    "one resource in two extenders": extenders(OURS, other(managedResources=managing("a.b/c", "nvidia.com/gpu"))),
    "one resource in two others": extenders(OURS, other(managedResources=managing("a.b/c")), other(managedResources=managing("a.b/c"))),
    "one resource twice": extenders(ours(managedResources=managing("nvidia.com/gpu", "nvidia.com/gpu"))),
    "other resources": extenders(OURS, other(managedResources=managing("nvidia.com/gpumem"))),
    "resources that differ in case": extenders(OURS, other(managedResources=managing("nvidia.com/GPU"))),
    **{
        f"the name {name!r}": extenders(OURS, other(managedResources=managing(name)))
        for name in (
            "",
            "cpu",
            "a/b",
            "a.b/c",
            "a.b/C_d.e-f",
            "a b/c",
            "A.b/c",
            "a.b/",
            "/c",
            "a.b/c/d",
            "a.b/-c",
            "a.b/c-",
            "a.b/*",
            "a..b/c",
            "-a.b/c",
            "requests.a.b/c",
            "requests/c",
            "limits.a.b/c",
            "kubernetes.io/c",
            "alpha.kubernetes.io/c",
            "xkubernetes.io/c",
            "kubernetes.io.a/c",
            f"a.b/{'c' * 63}",
            f"a.b/{'c' * 64}",
            f"{'a' * 63}.b/c",
            f"{'a' * 64}.b/c",
            "/".join(("a." * 126 + "a", "c")),
            "/".join(("a." * 121 + "a", "c")),
        )
    },
    "a name of another type": extenders(OURS, other(managedResources=[{"name": 1}])),
    "an item without a name": extenders(OURS, other(managedResources=[{}])),
    "one profile": profiles({"schedulerName": "a"}),
    "two profiles": profiles({"schedulerName": "a"}, {"schedulerName": "b"}),
    "two profiles of one name": profiles({"schedulerName": "a"}, {"schedulerName": "a"}),
    "the default name twice": profiles({}, {"schedulerName": "default-scheduler"}),
    "an unknown key of an extender": extenders(ours(wieght=1)),
    "a fraction": extenders(ours(weight=1.5)),
    "a timeout that is a number": extenders(ours(httpTimeout=3)),
    "a percentage": {**extenders(OURS), "percentageOfNodesToScore": 100},
    "a percentage above 100": {**extenders(OURS), "percentageOfNodesToScore": 101},
    "a profile's percentage above 100": profiles({"percentageOfNodesToScore": 101}),
    "no parallelism": {**extenders(OURS), "parallelism": 0},
    "little parallelism": {**extenders(OURS), "parallelism": 1},
    **{
        f"backoff {list(seconds.values())}": {**extenders(OURS), **seconds}
        for seconds in (
            {"podInitialBackoffSeconds": 0},
            {"podInitialBackoffSeconds": 5},
            {"podInitialBackoffSeconds": 11},
            {"podMaxBackoffSeconds": 0},
            {"podMaxBackoffSeconds": 1},
            {"podInitialBackoffSeconds": 5, "podMaxBackoffSeconds": 4},
            {"podInitialBackoffSeconds": 5, "podMaxBackoffSeconds": 5},
        )
    },
    "an empty schedulerName": profiles({"schedulerName": ""}),
}


def starts(programs, path):
    """The configuration is valid if kube-scheduler looks for the API server."""
    command = [os.path.join(programs, "kube-scheduler"), "--config", path, "--secure-port", "0"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=LIMIT_S, check=False)
    assert done.returncode != 0
    return "/nonexistent" in done.stderr, done.stderr


@pytest.mark.parametrize("config", CONFIGS)
def test_the_doctor_judges_as_kube_scheduler(config, programs, tmp_path):
    path = tmp_path / "scheduler.yaml"
    path.write_text(json.dumps({**HEAD, **CONFIGS[config]}), encoding="utf-8")
    really, why = starts(programs, path)
    done = run_to_end("--doctor", "--scheduler-config", path, "--output", "json")
    found = json.loads(done.stdout)["findings"]
    faults = [one for one in found if one["level"] == "fail" and "does not start" in one["seen"] + one["advice"]]
    assert (not faults) == really, (why, found)
