"""scheduler.beside: an instance beside each kube-scheduler. Rejected settings, verbs after a pause, and callers that hung up."""

import json
import os
import signal
import socket
import subprocess
import time

import pytest
from objects import BIND_ARGS, filter_args, pod
from service import BINARY

HEAD = "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\n"
BESIDE = HEAD + "scheduler: {beside: true}\nkubernetes: {bindTimeoutSeconds: 2}\n"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"


# ---- --check and the start ----


def check(path, *options):
    done = subprocess.run([BINARY, "--config", path, "--check", *options], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_shipped_policy_is_consistent():
    shipped = os.path.join(os.path.dirname(__file__), "..", "..", "manifests/overlays/control-plane/scheduler-policy.yaml")
    status, said = check(shipped)
    assert status == 0 and "warning" not in said


@pytest.mark.parametrize(
    "more, said",
    [
        ("leaderElection: {enabled: true}\n", "scheduler.beside: excludes leaderElection.enabled"),
        ('listen: {verbs: "0.0.0.0:8888", insecureVerbs: true}\n', 'listen.verbs: is "0.0.0.0:8888", should be on loopback'),
    ],
)
def test_invalid_values_are_rejected(write, more, said):
    path = write("policy.yaml", BESIDE + more)
    status, text = check(path)
    assert status == 2 and said in text
    assert subprocess.run([BINARY, "--config", path], capture_output=True, check=False).returncode == 2


def test_a_binding_must_end_before_another_kube_scheduler_may_lead(write):
    longer = BESIDE.replace("beside: true", "beside: true, httpTimeoutSeconds: 5").replace("bindTimeoutSeconds: 2", "bindTimeoutSeconds: 4")
    status, text = check(write("policy.yaml", longer))
    assert status == 2 and "bindTimeoutSeconds: is 4, should be at most 3" in text


def test_beside_has_no_effect_with_a_cluster_file(write):
    path = write("policy.yaml", BESIDE)
    status, text = check(path, "--cluster-file", "examples/sample-cluster.yaml")
    assert status == 0 and "scheduler.beside: has no effect with --cluster-file" in text


# ---- over a fake API server ----


@pytest.fixture
def beside(api, follow, write):
    """An instance that follows `api`, and knows two pods: train-0 and train-1."""
    service = follow("--config", write("beside.yaml", BESIDE))
    api.store.put(pod("train-0", 2), pod("train-1", 2))
    service.wait("the pods are known", lambda: len(service.ledger()[1]) == 2)
    return service


@pytest.fixture
def decides(beside):
    """The same, once it answers verbs: after a start it waits until bindings of an earlier instance can no longer take effect."""
    beside.wait("it decides", lambda: ask_filter(beside).status == 200)
    return beside


def pauses(service, ledger):
    return service.metric("gpu_extender_beside_pauses_total", ledger=ledger)


def ask_filter(service):
    return service.post("/scheduler/filter", filter_args(pod("train-0", 2), ["a", "b"]))


def test_the_first_verb_waits_until_the_ledger_caught_up(api, decides):
    """It asks for the Lease once. If the machine stalls, that is another pause, and the Lease is found unchanged."""
    beside = decides
    for _ in range(2):
        assert pauses(beside, "caught_up") == 1
        assert api.faults.count(LEASE) == 1 + pauses(beside, "current")
        assert ask_filter(beside).status == 200


def test_verbs_are_rejected_if_the_ledger_does_not_catch_up(api, beside):
    """503 without a body, as from a follower. Later calls of the same pause do not wait."""
    held = api.faults.hold(LEASE)
    began = time.monotonic()
    answer = ask_filter(beside)
    assert (answer.status, answer.body) == (503, b"")
    assert time.monotonic() - began >= 0.99
    assert beside.post("/scheduler/bind", BIND_ARGS).status == 503
    held.release()
    beside.wait("the ledger caught up", lambda: pauses(beside, "caught_up") == 1)
    assert ask_filter(beside).status == 200


def request_of(path, body):
    return f"POST {path} HTTP/1.1\r\nHost: [::1]\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


def bind_args(item, node):
    metadata = item["metadata"]
    return {"PodName": metadata["name"], "PodNamespace": metadata["namespace"], "PodUID": metadata["uid"], "Node": node}


def test_binding_of_a_disconnected_caller_is_not_sent(api, decides):
    """The request came while the instance was paused, and its caller left before it resumed."""
    waiting = api.store.get("pods", "train-0", "ml")
    decides.signal(signal.SIGSTOP)
    host, _, port = decides.address.rpartition(":")
    with socket.create_connection((host, int(port))) as caller:
        caller.sendall(request_of("/scheduler/bind", json.dumps(bind_args(waiting, "b"))))
    decides.signal(signal.SIGCONT)
    line = decides.log.wait_for({"mod": "binds", "msg": "not bound"})
    assert line["why"] == "gpu-extender: the caller disconnected, or its deadline has passed"
    assert api.faults.count("bind") == 0 and not api.store.bound
    decides.wait("no room is held", lambda: decides.metric("gpu_extender_reservations_open") == 0)


def test_binding_of_a_waiting_caller_is_sent(api, decides):
    waiting = api.store.get("pods", "train-0", "ml")
    assert decides.post("/scheduler/bind", bind_args(waiting, "b")).json() == {"Error": ""}
    assert api.store.bound == [("pod-train-0", "b")]
