"""POST /scheduler/bind of a pod with a resource claim, under a quota: bind judges the claim as the watch shows it (docs/QUOTA.md)."""

import pytest
from objects import merged, node, pod
from test_devices import DRIVER, H100, claim, resource_slice

USED = 3  # by the pods of the fixture
LEFT = 2
# A GPU-free pod that names the claim "c".
ASKS = {"spec": {"resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]}}
CLASS = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "DeviceClass",
    "metadata": {"name": DRIVER},
    "spec": {"selectors": [{"cel": {"expression": f"device.driver == '{DRIVER}'"}}]},
}


@pytest.fixture
def service(api, follow):
    """A service over a node with four devices, a claim without an allocation, and a pod that names it."""
    quota = {"name": "team", "namespaces": ["ml"], "limits": [{"total": USED + LEFT}]}
    api.store.put(node("n", None, None), resource_slice("n", 4, model=H100), CLASS, claim("c"), merged(pod("asks", None), ASKS))
    service = follow(more={"quotas": [quota]})
    service.wait_until_it_binds()
    service.wait("the claim is known", lambda: claims_of(service, "unallocated") == 1)
    return service


def claims_of(service, state):
    return service.metric("gpu_extender_device_claims", state=state)


def test_an_allocation_that_is_not_shown(api, service):
    """Bind waits for it, then judges what the claim's spec asks for: else no pod is bound while the watch fails."""
    api.faults.fail("list resourceclaims", 500, times=None)
    api.watch("resourceclaims").go_silent()
    api.store.put(claim("c", "n", range(LEFT + 1), ["asks"]))
    assert service.bind(pod("asks", None), "n") is None
    assert api.store.bound == [("pod-asks", "n")]
    assert service.metric("gpu_extender_bind_duration_seconds_sum") > 0.2, "it did not wait"


def test_an_allocation_that_is_shown_is_judged(api, service):
    api.store.put(claim("c", "n", range(LEFT + 1), ["asks"]))
    service.wait("the watch shows it", lambda: claims_of(service, "allocated") == 1)
    assert "quota team leaves too few GPUs in total" in service.bind(pod("asks", None), "n")
    assert api.faults.count("bind") == 0
    api.store.put(claim("c", "n", range(LEFT), ["asks"]))
    service.wait("it is smaller", lambda: service.get("/v1/quota").json()["quotas"][0]["limits"][0]["used"] == USED + LEFT)
    assert service.bind(pod("asks", None), "n") is None
