"""A pod with a resource claim loses its reservation if its binding takes effect but kube-scheduler gets an Error.

kube-scheduler then runs Unreserve: DynamicResources removes the pod from the claim's status.reservedFor, though the pod is on its
node (PROTOCOL 3.6, 3.7). (A kube-controller-manager would reserve the claim again; none runs here.) So bindTimeoutSeconds must not be too short.
"""

import dra
import pytest
from api import wait_until
from between import Between
from cluster import PODS

pytestmark = dra.SINCE
MODEL = "NVIDIA-H100-80GB-HBM3"
GROUP = "/apis/resource.k8s.io/v1"
CLASSES, SLICES = f"{GROUP}/deviceclasses", f"{GROUP}/resourceslices"
CLAIMS = f"{GROUP}/namespaces/gpu/resourceclaims"
DRIVER = "nic.example.com"
LAG_S = 3600  # ended earlier
CLAIM = {"spec": {"devices": {"requests": [{"name": "nic", "exactly": {"deviceClassName": DRIVER}}]}}}


def reserved_for(claim):
    return [consumer["name"] for consumer in claim.get("status", {}).get("reservedFor", [])]


@pytest.fixture
def live(proxied):
    """A node with GPUs, and with two devices of a driver."""
    api = proxied.api
    proxied.add_node("node", MODEL, 8)
    devices = [{"name": f"nic-{number}"} for number in range(2)]
    pool = {"name": "node", "generation": 1, "resourceSliceCount": 1}
    for path in (CLAIMS, SLICES, CLASSES):
        proxied.ends.callback(api.delete_all, path)
    api.create(CLASSES, {"metadata": {"name": DRIVER}, "spec": {}})
    api.create(SLICES, {"metadata": {"name": "node"}, "spec": {"driver": DRIVER, "nodeName": "node", "pool": pool, "devices": devices}})
    return proxied


def create(live, name):
    """A pod with one GPU and one of these devices."""
    live.api.create(CLAIMS, {"metadata": {"name": name}, **CLAIM})
    live.create_known(name, 1, resourceClaims=[{"name": "nic", "resourceClaimName": name}])


def test_effective_binding_answered_with_error_loses_its_reservation(live):
    def lose_the_answer(body):
        """The POST leaves on the connection open since the first binding; its answer, and all answers to later requests, are delayed."""
        if b'"late"' in body:
            live.proxy.delay(LAG_S)
            live.proxy.hold()

    live.start_service()
    with Between(live.service, lose_the_answer) as between:
        live.start_scheduler(between.address)
        create(live, "in-time")
        live.node_of("in-time")
        create(live, "late")
        assert live.node_of("late") == "node"
        answers = wait_until(lambda: [said for asked, said in between.binds if b'"late"' in asked], live.service.log.text)
        assert "the outcome is unknown" in answers[0]["Error"], answers
        # Reserved before bind was called, and released after its answer.
        live.api.wait_for(CLAIMS, "metadata.name=late", lambda claim: not reserved_for(claim))
        live.proxy.let_go()
        live.proxy.no_delay()
    assert reserved_for(live.api.get(f"{CLAIMS}/late")) == [], "kube-scheduler undoes what it reserved"
    assert reserved_for(live.api.get(f"{CLAIMS}/in-time")) == ["in-time"]
    assert [item["spec"].get("nodeName") for item in live.api.get(PODS)["items"]] == ["node", "node"]
    assert live.used() == {"node": 2}
