"""What makes the service tell kube-scheduler to ask about rejected pods again, and what happens if it cannot. The fake API server knows no
CSIStorageCapacity: each test says what it answers. tests/control-plane/test_wake.py has a real one."""

import os
import signal

import pytest
from follow import policy
from objects import annotated, filter_args, pod

NAME = "gpu-extender-wake"
PATCH = f"PATCH /apis/storage.k8s.io/v1/namespaces/gpus/csistoragecapacities/{NAME}"
WAKES = {"wake": {"objectName": NAME}, "leaderElection": {"namespace": "gpus"}}


def quota(gpus, **covers):
    return {"quotas": [{"name": "team", **(covers or {"namespaces": ["ml"]}), "limits": [{"total": gpus}]}], **WAKES}


def fits(service, name="new", **more):
    return bool(service.post("/scheduler/filter", filter_args(more.get("asks") or pod(name, 1), ["a", "b"])).json()["NodeNames"])


def reload(service, folder, more):
    after = len(service.log.lines)
    there = folder / "new.yaml"
    there.write_text(policy(more), encoding="utf-8")
    os.replace(there, folder / "policy.yaml")
    service.signal(signal.SIGHUP)
    service.log.wait_for({"msg": "the policy file was reloaded"}, after=after)


def wait_until_woken(service, cause):
    service.wait(f"a wake by {cause}", lambda: service.metric("gpu_extender_wakes_total", cause=cause) == 1)
    assert service.metric("gpu_extender_wakes_total") == 1
    assert service.metric("gpu_extender_wakes_left_out_total") == 0


@pytest.fixture
def start(api, follow):
    """start(more) -> a service whose ledger has caught up; its patches succeed."""

    def run(more):
        service = follow(more=more)
        service.settle()
        api.faults.garble(PATCH, b"{}", times=None)
        return service

    return run


def test_a_reload_wakes(api, start, tmp_path):
    service = start(quota(0))
    assert not fits(service)
    reload(service, tmp_path, quota(100))
    wait_until_woken(service, "policy")
    assert fits(service) and api.faults.count(PATCH) == 1


def test_other_labels_of_a_namespace_wake(api, start):
    service = start(quota(0, namespaceSelector={"matchLabels": {"stage": "test"}}))
    api.store.change("namespaces", "ml", metadata={"labels": {"stage": "test"}})
    service.wait("the label counts", lambda: not fits(service))
    api.store.change("namespaces", "ml", metadata={"labels": {"stage": "done"}})
    wait_until_woken(service, "namespace")
    assert fits(service)


def test_claims_that_are_counted_again_wake(api, start):
    api.faults.fail("list resourceclaims", 403, times=None)
    service = start(quota(0))
    assert not fits(service)
    api.faults.heal()
    api.faults.garble(PATCH, b"{}", times=None)
    wait_until_woken(service, "claims")


def test_the_end_of_soft_claims_wakes(start):
    """One of two pods claims the quota and is never bound. The other gets Errors as long as there are tokens, then a rejection."""
    service = start({**quota(4), "filter": {"quotaClaimSeconds": 1}})

    def is_rejected(name):
        said = service.post("/scheduler/filter", filter_args(pod(name, 1), ["a", "b"])).json()
        return not said["Error"] and not said["NodeNames"]

    service.wait("one is rejected", lambda: is_rejected("one") or is_rejected("other"))
    wait_until_woken(service, "quota_claim")


@pytest.mark.parametrize("code", [403, 404, 409, 429])
def test_a_failure_changes_only_a_counter(api, follow, tmp_path, code):
    service = follow(more=quota(0))
    service.settle()
    api.faults.fail(PATCH, code)
    api.faults.fail(PATCH, 404, times=None)  # of 409 and 429, which are tried again
    assert not fits(service)
    reload(service, tmp_path, quota(100))
    service.wait("it is counted", lambda: service.metric("gpu_extender_wakes_left_out_total", why=str(code)) == 1)
    assert service.metric("gpu_extender_wakes_total") == 0
    assert service.get("/readyz").status == 200 and fits(service) and service.is_clean()


def test_without_a_name_nothing_is_written(api, follow, tmp_path):
    service = follow(more={"quotas": quota(0)["quotas"]})
    service.settle()
    assert not fits(service) and not fits(service, asks=annotated("none", models="V100"))
    reload(service, tmp_path, {"quotas": quota(100)["quotas"]})
    assert fits(service)
    assert service.metric("gpu_extender_wakes_total") == service.metric("gpu_extender_wakes_left_out_total") == 0
    assert api.faults.count("PATCH *") == 0
