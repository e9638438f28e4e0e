"""manifests/rbac/rbac.yaml is exactly what the service needs: with it everything works, and the log names each missing verb."""

import ledger
import pytest
from api import wait_until
from cluster import PODS, pod
from identity import Identity, manifests, renamed, without
from live import wait_until_it_binds
from openapi import watched_kinds
from replicas import Replicas, leads_since, take_right
from service import Service

MODEL = "NVIDIA-H100-80GB-HBM3"
ESSENTIAL = ("nodes", "pods", "namespaces", "priorityclasses", "deviceclasses")
OF_CLAIMS = ("resourceslices", "resourceclaims", "devicetaintrules")
POLICY = """apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
kubernetes:
  watchSilenceSeconds: 5
"""


def granted():
    (role,) = [item for item in manifests() if item["kind"] == "ClusterRole"]
    return {(resource, verb) for rule in role["rules"] for resource in rule["resources"] for verb in rule["verbs"]}


def test_granted_rights_are_minimal():
    reads = {(resource, verb) for resource in watched_kinds() for verb in ("list", "watch")}
    assert granted() == reads | {("pods", "get"), ("pods/binding", "create")}


@pytest.fixture
def start_without(plane, name):
    """start_without(resource, verb) -> a Service with all rights but that."""
    started = []

    def start(resource, verb):
        account = f"gpu-extender-without-{verb}-{resource.replace('/', '-')}"
        identity = Identity(plane, f"{name}-{account}", renamed(without(resource, verb), account))
        policy = plane.write(f"policy-{account}.yaml", POLICY)
        service = Service("--kubeconfig", identity.kubeconfig(), "--config", policy, ready=False)
        started.append(service)
        return service

    yield start
    for service in started:
        service.stop()


def readiness_names(service, kind):
    answer = service.get("/readyz")
    return answer.status == 503 and kind in answer.text


@pytest.mark.parametrize("verb", ["list", "watch"])
def test_readyz_names_a_forbidden_kind(start_without, verb):
    services = {kind: start_without(kind, verb) for kind in ESSENTIAL}
    for kind, service in services.items():
        wait_until(lambda: readiness_names(service, kind), lambda: f"{kind}: {service.get('/readyz')}\n{service.log.text()}")


@pytest.mark.parametrize("kind", OF_CLAIMS)
def test_a_service_that_may_not_count_claims_is_ready_and_says_so(start_without, kind):
    service = start_without(kind, "list")
    said = f"ok\nclaims are not counted: {kind}: never listed: refused\n"
    wait_until(lambda: service.get("/readyz").text == said, lambda: f"{kind}: {service.get('/readyz')}\n{service.log.text()}")
    assert service.get("/readyz").status == 200
    assert "403" in service.log.wait_for({"msg": "claims are not counted"})["why"]


@pytest.mark.parametrize("kind", ["leases", "endpointslices"])
@pytest.mark.parametrize("verb", ["list", "watch"])
def test_log_names_a_missing_right_to_shared_objects(live, kind, verb):
    """It leads nevertheless; the others only see its end later."""
    replicas = Replicas(live)
    take_right(live, kind, verb)
    replica = replicas.start()
    told = replica.log.wait_for({"mod": "leader", "kind": kind, "right": verb})
    assert "403" in told["why"] or "forbidden" in told["why"], told
    leads_since(replica)


BINDING = {"PodName": "pod", "PodNamespace": "gpu", "Node": "node"}


def wait_until_ready(service):
    wait_until(lambda: service.get("/readyz").status == 200, lambda: f"{service.get('/readyz')}\n{service.log.text()}")


def test_forbidden_binding_is_reported(live, start_without):
    live.add_node("node", MODEL, 8)
    uid = live.api.create(PODS, pod("pod", 1))["metadata"]["uid"]
    service = start_without("pods/binding", "create")
    wait_until_ready(service)
    wait_until_it_binds(service)
    said = service.post("/scheduler/bind", {**BINDING, "PodUID": uid}).json()["Error"]
    assert "403" in said or "forbidden" in said, said
    assert not live.api.get(f"{PODS}/pod")["spec"].get("nodeName")
    wait_until(lambda: ledger.told(service) == ledger.truth(live.api), lambda: "room is still held")


def test_forbidden_get_of_a_pod_is_reported(live, start_without):
    """A UID unknown to the ledger needs a GET."""
    live.add_node("node", MODEL, 8)
    live.api.create(PODS, pod("pod", 1))
    service = start_without("pods", "get")
    wait_until_ready(service)
    said = service.post("/scheduler/bind", {**BINDING, "PodUID": "not-its-uid"}).json()["Error"]
    assert "403" in said or "forbidden" in said, said
