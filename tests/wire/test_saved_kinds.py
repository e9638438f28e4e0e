"""`kubectl get -o yaml` writes nothing of a kind without objects: what a saved cluster without claims or classes says."""

import pytest
from kubectl_gpu import fit
from objects import GPU, merged, node, pod
from service import inventory_of
from test_claims_judged import DRIVER, ONE, claim, deployment, device, device_class, dry_run, of_kind, slice_of, using

NODE, CLASS = node("a", None, None), merged(device_class(), {"spec": {"extendedResourceName": GPU}})
PRODUCT = {"productName": "NVIDIA H100 80GB HBM3"}
SLICE = slice_of("a", device("gpu-0", **PRODUCT), device("gpu-1", **PRODUCT))
OTHER_CLASS = of_kind("DeviceClass", "other", {"selectors": []})
ASKING = using(t_a="one")
NO_CLAIMS, NO_CLASSES = "the cluster file has no resourceclaims", "the cluster file has no deviceclasses"


def by_name(**changes):
    return merged(using("user", a="shared"), merged({"spec": {"nodeName": "a"}}, changes))


def by_status(**status):
    return pod("user", None, on="a", status=status)


# Pods that show that the claims were left out, or that show nothing.
USERS = {
    "by name": by_name(),
    "by template, made": by_status(resourceClaimStatuses=[{"name": "gpu", "resourceClaimName": "user-gpu-x"}]),
    "by extended resource": by_status(extendedResourceClaimStatus={"resourceClaimName": "user-extended", "requestMappings": []}),
    "pending": merged(ASKING, {"metadata": {"name": "waits"}}),
}
OTHERS = {
    "nobody": (),
    "no claims": (pod("user", 0, on="a"), by_status(resourceClaimStatuses=[])),
    "succeeded": (by_name(status={"phase": "Succeeded"}),),
    "failed": (by_name(status={"phase": "Failed"}),),
}


def free_of(service):
    return inventory_of(service)["nodes"][0]["devices"][DRIVER]["free"]


@pytest.mark.parametrize("others", OTHERS)
@pytest.mark.parametrize("classes", [(CLASS,), ()], ids=["with classes", "slices only"])
def test_no_claim_is_there(others, classes, start_over):
    """Then no claim exists, with a note."""
    service = start_over(NODE, SLICE, *classes, *OTHERS[others])
    inventory = inventory_of(service)
    assert (inventory["claimsCounted"], inventory["claimsNotCountedBecause"]) == (True, "")
    assert inventory["claimsNote"].startswith(NO_CLAIMS) and free_of(service) == 2
    for path in ("inventory", "quota", "fragmentation"):
        assert service.get(f"/v1/{path}?output=table").text.startswith(NO_CLAIMS), path
    assert [row["free"] for row in service.get("/v1/fragmentation").json()["models"]] == [2]
    assert f'gpu_extender_gpus{{model="H100-80GB-HBM3",resource="{DRIVER}",state="free"}} 2' in service.get("/metrics").text


@pytest.mark.parametrize("user", USERS)
def test_claims_were_left_out(user, start_over):
    service = start_over(NODE, SLICE, CLASS, USERS[user])
    inventory = inventory_of(service)
    assert not inventory["claimsCounted"] and inventory["claimsNote"] == "" and free_of(service) is None
    (workload,) = dry_run(service, ASKING, ONE)
    assert workload["placed"] == 0 and "not judged" in workload["summary"] and NO_CLAIMS in workload["summary"]


@pytest.mark.parametrize("objects", [(NODE,), (node("a"), pod(on="a")), (NODE, SLICE, CLASS, claim("other"))], ids=["nothing", "plain", "all"])
def test_nothing_is_noted_where_nothing_is_missing(objects, start_over):
    assert inventory_of(start_over(*objects))["claimsNote"] == ""


def test_claims_of_an_empty_cluster_are_placed(start_over):
    (workload,) = dry_run(start_over(NODE, SLICE, CLASS), deployment(2, ASKING), ONE)
    assert workload["placed"] == 2 and any(NO_CLAIMS in note for note in workload["notEvaluated"])
    (workload,) = dry_run(start_over(NODE, SLICE, CLASS), pod(gpus=0))
    assert not any(NO_CLAIMS in note for note in workload["notEvaluated"])


DEMAND = (ASKING, ONE)


@pytest.mark.parametrize("lacking, cluster", [(NO_CLASSES, (NODE, SLICE, claim("other"))), (NO_CLASSES, (NODE, claim("other"))), (NO_CLASSES, (NODE,)), (NO_CLAIMS, (NODE, SLICE, CLASS, by_name()))])
def test_what_was_not_saved_is_not_a_no(lacking, cluster, write):
    status, answer = fit(write, DEMAND, *cluster)
    (warning,) = answer["warnings"]
    assert status == 2 and "not judged" in answer["summary"] and lacking in answer["summary"] and "can be placed" not in answer["summary"]
    assert lacking in warning["message"] and "kubectl get" in warning["message"]
    status, answer = fit(write, (*DEMAND, pod("plain", 0)), *cluster)
    assert status == 2 and answer["summary"].startswith("1 of 2 workloads") and "1 are not judged" in answer["summary"]


def test_a_class_that_is_not_among_others_is_missing(write):
    status, answer = fit(write, DEMAND, NODE, SLICE, OTHER_CLASS)
    assert status == 2 and "0 of 1 replicas can be placed" in answer["summary"]
    assert answer["workloads"][0]["nodes"][0]["reason"] == "claim_class"


def test_a_class_of_the_manifest_suffices(write):
    assert fit(write, (*DEMAND, CLASS), NODE, SLICE)[0] == 0


def test_a_pod_that_fits_nowhere_without_claims_is_judged(write):
    """Its claims would not help."""
    status, answer = fit(write, (merged(ASKING, {"spec": {"nodeSelector": {"zone": "none"}}}), ONE), NODE, SLICE, claim("other"))
    assert "0 of 1 replicas can be placed" in answer["summary"] and NO_CLASSES not in answer["summary"] and status != 0
    status, answer = fit(write, (pod(gpus=2),), node("a", 1))
    assert status == 1 and GPU not in str(answer["warnings"])
