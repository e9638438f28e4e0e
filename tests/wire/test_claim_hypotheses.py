"""POST /v1/dry-run judges claims as if the slices, rules and templates of its manifest were applied (docs/DRA.md)."""

import pytest
from objects import merged
from test_claims_judged import API, DRIVER, JUDGE, ONE, asks, claim, cluster, deployment, device, dry_run, messages, nics, reasons, slice_of, template, using


def rule(name, effect="NoSchedule", **selector):
    return {"apiVersion": API, "kind": "DeviceTaintRule", "metadata": {"name": name, "uid": name}, "spec": {"deviceSelector": selector, "taint": {"key": name, "effect": effect}}}


def answer_to(service, *objects):
    answer = service.post("/v1/dry-run", {"apiVersion": "v1", "kind": "List", "items": list(objects)})
    assert JUDGE.faults_of_answer("POST", "/v1/dry-run", answer) == []
    return answer.json()


def test_slices_of_a_manifest_are_hypotheses(start_over):
    """ResourceSlices of another node, with more devices, and with devices that a claim uses."""
    service = start_over(*cluster(ONE, template("three", asks(3))))
    fourth = slice_of("a", *(device(f"gpu-{n}", model="big") for n in range(4)))
    (workload,) = dry_run(service, using(t_a="three"), fourth)
    assert reasons(workload) == {"a": "fits", "b": "claim_total", "c": "claim_total"}, "gpu-0 is in use"
    (workload,) = dry_run(service, using(t_a="one"), slice_of("c", device("gpu-0")), slice_of("b"))
    assert reasons(workload) == {"a": "fits", "b": "claim_total", "c": "fits"}
    newer = slice_of("a", device("gpu-0"), generation=2)
    newer["metadata"]["name"] = "newer"
    (workload,) = dry_run(service, using(t_a="one"), newer)
    assert reasons(workload) == {"a": "claim_free", "b": "fits", "c": "claim_total"}
    (workload,) = dry_run(service, using(t_a="one"))
    assert reasons(workload) == {"a": "fits", "b": "fits", "c": "claim_total"}, "nothing is kept"


def test_device_requests_count_slices_of_the_manifest(start_over):
    """Slices in the manifest replace the cluster's of the same name, and older ones of their pool."""
    service = start_over(*cluster(nics("c", "nic-0")))
    big = template("big", asks(selector=f"device.attributes['{DRIVER}'][?'model'].orValue('') == 'big'"))

    def counted(*slices):
        (request,) = answer_to(service, big, *slices)["deviceRequests"]
        return request["matching"], request["devices"]

    assert counted() == (3, 4)
    assert counted(slice_of("a", device("gpu-0", model="big"))) == (1, 2)
    assert counted(slice_of("d", device("gpu-0", model="big"), device("gpu-1"))) == (4, 6)
    newer = merged(slice_of("a", device("gpu-0", model="big"), generation=2), {"metadata": {"name": "newer"}})
    assert counted(newer) == (1, 2)
    assert counted(merged(newer, {"spec": {"pool": {"generation": 0}}})) == (3, 4)


def test_taint_rules_of_a_manifest_are_hypotheses(start_over):
    service = start_over(*cluster(ONE, rule("maintenance", pool="b")))
    (workload,) = dry_run(service, using(t_a="one"))
    assert reasons(workload) == {"a": "fits", "b": "claim_tainted", "c": "claim_total"}
    answer = answer_to(service, using(t_a="one"), rule("maintenance", pool="a"))
    assert reasons(answer["workloads"][0]) == {"a": "claim_tainted", "b": "fits", "c": "claim_total"}
    assert "as if it were applied" in answer["skipped"][0]["why"]
    (workload,) = dry_run(service, using(t_a="one"), rule("maintenance", "None", pool="a"))
    assert reasons(workload) == {"a": "fits", "b": "fits", "c": "claim_total"}


def test_unreadable_hypothesis_is_named_and_changes_nothing(start_over):
    service = start_over(*cluster(ONE))
    odd = slice_of("a")
    del odd["spec"]["driver"]
    answer = answer_to(service, using(t_a="one"), odd, rule("odd", "PreferNoSchedule", pool="a"), slice_of("c", device("gpu-0")), slice_of("c"))
    assert reasons(answer["workloads"][0]) == {"a": "fits", "b": "fits", "c": "fits"}
    texts = [warning["message"] for warning in answer["warnings"]]
    assert len(texts) == 3 and all("judged without it" in text for text in texts)
    assert "PreferNoSchedule" in texts[1] and "of this name before" in texts[2]


def test_template_of_the_manifest_that_does_not_count_is_named(start_over):
    service = start_over(*cluster())
    (workload,) = dry_run(service, using(t_a="broken"), template("broken", 5))
    assert set(reasons(workload).values()) == {"claim_missing"} and "does not count" in messages(workload)["a"]
    answer = answer_to(service, using(t_a="twice"), template("twice", asks(1)), template("twice", asks(9)))
    assert reasons(answer["workloads"][0])["a"] == "fits"
    assert any("of this name before" in warning["message"] for warning in answer["warnings"])


def test_a_workload_that_runs_already_with_claims(start_over):
    """A claim that two of its pods share counts once; p0 uses gpu-0, too."""
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d8f", "uid": "web", "controller": True}
    running = [merged(using(name, a="shared"), {"spec": {"nodeName": "a"}, "metadata": {"uid": name, "ownerReferences": [owner]}, "status": {"phase": "Running"}}) for name in ("p0", "p1")]
    service = start_over(*cluster(ONE, claim("shared", on=("a", "gpu-1", "gpu-2"), holders=2), *running))
    answer = service.post("/v1/dry-run", deployment(1, using(t_a="one"))).json()
    assert answer["jobs"][0]["running"] == {"pods": 2, "gpus": 1 + 2}


@pytest.mark.parametrize(
    "kind, spec, wanted, text",
    [
        ("Deployment", {}, "typo", "There is no DeviceClass gpu.nvidia.co; did you mean gpu.nvidia.com?"),
        ("Deployment", {"nodeSelector": {"kubernetes.io/hostnam": "a"}}, "typo", "There is no DeviceClass gpu.nvidia.co; did you mean gpu.nvidia.com?"),
        ("DaemonSet", {}, "typo", "There is no DeviceClass gpu.nvidia.co; did you mean gpu.nvidia.com?"),
        ("Deployment", {"nodeSelector": {"kubernetes.io/hostnam": "a"}}, "gone", "There is no ResourceClaimTemplate ml/gone."),
    ],
)
def test_a_class_that_is_missing_decides_whatever_the_nodes_say(start_over, kind, spec, wanted, text):
    asking = deployment(1, merged(using(t_a=wanted), {"spec": spec}))
    if kind == "DaemonSet":
        asking["kind"] = kind
        del asking["spec"]["replicas"]
    (workload,) = dry_run(start_over(*cluster(template("typo", asks(deviceClassName="gpu.nvidia.co")))), asking)
    assert (workload["verdict"]["cause"], workload["verdict"]["text"]) == ("missing", text)


def test_what_is_not_tried_of_claims_is_not_ruled_out(start_over):
    """A toleration in the request would be enough."""
    asking = deployment(1, using(t_a="two"))
    there = cluster(template("two", asks(2)), rule("broken", driver=DRIVER))
    job = start_over(*there).post("/v1/dry-run", asking).json()["jobs"][0]
    assert (job["verdict"]["cause"], job["remedies"], job["remediesTried"]) == ("claims", [], "some")
