"""kube-scheduler asks about rejected pods again once our answers have changed, although nothing else happens in the cluster. By itself it would
ask after five minutes, which is beyond the limit of a wait."""

import os
import signal
import time

import pytest
import yaml
from api import wait_until
from cluster import NAMESPACE, PODS
from identity import NAMESPACE as ACCOUNTS, attributes_of, wait_until_may
from pairs import Pairs, policy
from test_quota import OF_MODEL, POLICY, wait_until_asked_no_more

MODEL = "NVIDIA-H100-80GB-HBM3"
OVERLAY = os.path.join(os.path.dirname(__file__), "..", "..", "manifests", "overlays", "control-plane")
OBJECTS = f"/apis/storage.k8s.io/v1/namespaces/{ACCOUNTS}/csistoragecapacities"
ROLES = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{ACCOUNTS}"
NAME = "gpu-extender-wake"
BY_NAME = "namespaces: [gpu]"
BY_LABEL = "namespaceSelector: {matchLabels: {stage: test}}"


def shipped(name):
    with open(os.path.join(OVERLAY, name), encoding="utf-8") as file:
        return list(yaml.safe_load_all(file))


def text_of(covers, h100):
    wakes = {key: shipped("scheduler-policy.yaml")[0][key] for key in ("leaderElection", "wake")}
    return POLICY.format(covers, h100) + yaml.safe_dump(wakes)


def allow(live):
    """Allows the account of a LiveCluster to patch the object."""
    account = {"kind": "ServiceAccount", "name": live.identity.account, "namespace": ACCOUNTS}
    _, role, binding = shipped("rbac.yaml")
    role["metadata"]["name"] = binding["metadata"]["name"] = binding["roleRef"]["name"] = live.name.lower()
    binding["subjects"] = [account]
    for kind, item in (("roles", role), ("rolebindings", binding)):
        live.api.create(f"{ROLES}/{kind}", item)
        live.ends.callback(live.api.delete, f"{ROLES}/{kind}/{item['metadata']['name']}")
    wait_until_may(live.api, account, attributes_of(role["rules"][1], ACCOUNTS))


def make_object(live):
    live.api.create(OBJECTS, shipped("wake.yaml")[0])
    live.ends.callback(live.api.delete, f"{OBJECTS}/{NAME}")


@pytest.fixture
def waking(live):
    """A live cluster with the object and the right to patch it."""
    make_object(live)
    allow(live)
    return live


def write(live, service, text):
    """Puts the policy into force."""
    path = live.plane.path(f"policy-{live.name}.yaml")
    after = len(service.log.lines)
    os.replace(live.plane.write(f"new-{live.name}.yaml", text), path)
    service.signal(signal.SIGHUP)
    service.log.wait_for({"msg": "the policy file was reloaded"}, after=after)


def start(live, covers, h100):
    prepare(live)
    live.start_service("--config", live.plane.write(f"policy-{live.name}.yaml", text_of(covers, h100)))
    live.wait_until_told()
    live.start_scheduler()
    wait_for_refusal(live)


def prepare(live):
    """A pod that runs, and one that will wait for the quota. No kubelet changes them."""
    live.add_nodes("h100", 2, MODEL, 8, kwok=False)
    live.create("runs", 1, node_name="h100-0")
    live.create("waits", 1, models="H100")


def wait_for_refusal(live):
    wait_until_asked_no_more(live, "waits")
    assert OF_MODEL in live.refusal_of("waits")["message"]
    assert value(live) is None


def tell(capsys, what, since):
    with capsys.disabled():
        print(f"\nbound after {what}: {time.monotonic() - since:.2f} s")


def wait_until_woken(live, cause):
    """The pod may be bound before the answer to our patch has arrived."""
    wait_until(lambda: live.metric("gpu_extender_wakes_total", cause=cause) == 1, live.service.log.text)
    assert live.metric("gpu_extender_wakes_total") == 1


def value(live):
    """Of the annotation; None without it or the object."""
    if live.api.status_of("GET", f"{OBJECTS}/{NAME}") != 200:
        return None
    annotations = live.api.get(f"{OBJECTS}/{NAME}")["metadata"].get("annotations", {})
    return annotations.get("gpu-extender.io/wake")


def test_a_raised_quota_binds_its_pod(waking, capsys):
    live = waking
    start(live, BY_NAME, 1)
    since = time.monotonic()
    write(live, live.service, text_of(BY_NAME, 2))
    assert live.node_of("waits").startswith("h100")
    tell(capsys, "a raised quota", since)
    wait_until_woken(live, "policy")
    assert value(live)


def test_labels_that_end_a_quota_bind_its_pod(waking, capsys):
    live = waking
    live.ends.callback(live.api.merge, NAMESPACE, {"metadata": {"labels": {"stage": None}}})
    live.api.merge(NAMESPACE, {"metadata": {"labels": {"stage": "test"}}})
    start(live, BY_LABEL, 1)
    since = time.monotonic()
    live.api.merge(NAMESPACE, {"metadata": {"labels": {"stage": None}}})
    live.node_of("waits")
    tell(capsys, "other labels of the namespace", since)
    wait_until_woken(live, "namespace")


def left_out(live, why):
    return live.metric("gpu_extender_wakes_left_out_total", why=why)


@pytest.mark.parametrize("why", ["403", "404"])
def test_without_object_or_right_only_a_counter_changes(live, why):
    if why == "403":
        make_object(live)
    else:
        allow(live)
    start(live, BY_NAME, 1)
    write(live, live.service, text_of(BY_NAME, 2))
    wait_until(lambda: left_out(live, why) == 1, live.service.log.text)
    assert live.service.get("/readyz").status == 200
    assert live.metric("gpu_extender_wakes_total") == 0
    assert not live.api.get(f"{PODS}/waits")["spec"].get("nodeName")
    live.wake("h100-0")  # as docs/OPERATIONS.md says
    assert live.node_of("waits").startswith("h100")


def test_only_the_instance_that_kube_scheduler_asks_wakes(waking, capsys):
    """Two instances beside two kube-schedulers, of which one leads. Both put the new policy into force."""
    live = waking
    prepare(live)
    pairs = Pairs(live)
    live.plane.write(f"policy-{live.name}.yaml", whole(1))
    leading = pairs.start()
    pairs.holder()
    other = pairs.start()
    live.service = leading.service
    wait_for_refusal(live)
    since = time.monotonic()
    for pair in (other, leading):
        write(live, pair.service, whole(2))
    assert live.node_of("waits").startswith("h100")
    tell(capsys, "a raised quota, beside two kube-schedulers", since)
    wait_until_woken(live, "policy")
    live.service = other.service
    assert live.metric("gpu_extender_wakes_total") == live.metric("gpu_extender_wakes_left_out_total") == 0


def whole(h100):
    quotas = yaml.safe_load(POLICY.format(BY_NAME, h100))
    return yaml.safe_dump({**policy(), "quotas": quotas["quotas"]})
