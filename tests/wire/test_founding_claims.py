"""The dry run of the fourteen objects in founding_claims/, as a published guide has them, and of their forms in resource.k8s.io/v1.

founding_claims/README.md names the guide. The cluster is examples/dra-cluster.yaml.
"""

import glob
import json
import os

import pytest
import yaml
from service import Service

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "tests/wire/founding_claims")
NUMBERS = [f"{n:02}" for n in range(1, 15)]
CLASSES = {"01": 22, "02": 22, "03": 22, "08": 0}  # devices of 26 that match
CLAIMS = {"04": [22], "05": [22, 22, 22], "13": [22]}  # of each request or alternative
PODS = {  # the entry and the claim that nobody has made
    "06": "gpu-resource (exclusive-gpu-claim)",
    "07": "shared-gpu (shared-gpu-claim)",
    "09": "mig-partition (mig-gpu-claim)",
    "11": "gpu-resource (maintenance-gpu-claim)",
    "14": "monitor-gpu (monitoring-gpu-claim)",
}


def text_of(name):
    with open(os.path.join(FOLDER, f"{name}.yaml"), encoding="utf-8") as file:
        return file.read()


@pytest.fixture(scope="module")
def service():
    running = Service("--cluster-file", os.path.join(ROOT, "examples/dra-cluster.yaml"))
    yield running
    running.stop()


def ask(service, text):
    answer = service.post("/v1/dry-run", text.encode())
    assert answer.status == 200, answer
    return answer.json()


def test_all_fourteen_are_there():
    for folder in (FOLDER, os.path.join(FOLDER, "v1")):
        assert sorted(os.path.basename(path)[:-5] for path in glob.glob(os.path.join(folder, "*.yaml"))) == NUMBERS


def test_the_guide_gives_no_comments():
    assert not [number for number in NUMBERS if "#" in text_of(number)]


@pytest.mark.parametrize("number", [number for number in NUMBERS if number not in PODS])
def test_object_without_pods_is_skipped(service, number):
    for name in (number, f"v1/{number}"):
        answer = ask(service, text_of(name))
        assert len(answer["skipped"]) == 1 and answer["workloads"] == []


@pytest.mark.parametrize("number", PODS)
def test_pod_waits_for_its_claim(service, number):
    entry, claim = PODS[number].rstrip(")").split(" (")
    for name in (number, f"v1/{number}"):
        (workload,) = ask(service, text_of(name))["workloads"]
        assert workload["placed"] == 0 and {node["reason"] for node in workload["nodes"]} == {"claim_missing"}
        assert f"/{claim}" in workload["summary"]
        of_form = [note for note in workload["notEvaluated"] if f"resource claim {entry} ({claim})" in note]
        assert ["removed source" in note for note in of_form] == ([] if "/" in name else [True])


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The cluster without taints and without partitions, of which nothing would be judged."""
    with open(os.path.join(ROOT, "examples/dra-cluster.yaml"), encoding="utf-8") as file:
        items = [item for item in yaml.safe_load(file)["items"] if item["kind"] != "DeviceTaintRule"]
    path = tmp_path_factory.mktemp("plain") / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [item for item in items if "a100-1" not in item["metadata"]["name"]]}))
    running = Service("--cluster-file", path)
    yield running
    running.stop()


def reasons_of(service, *texts):
    (workload,) = ask(service, "---\n".join(texts))["workloads"]
    return {node["node"]: node["reason"] for node in workload["nodes"]}


OPEN = {"h100-1": "fits", "h100-2": "claim_total", "h100-3": "fits", "h100-4": "claim_total"}


def test_pod_with_the_claim_and_its_class_is_judged(plain):
    classes = [text_of(f"v1/{number}") for number in CLASSES]
    exclusive = reasons_of(plain, *classes, text_of("v1/04"), text_of("v1/06"))
    flexible = reasons_of(plain, *classes, text_of("v1/05"), text_of("v1/06").replace("exclusive-gpu-claim", "flexible-gpu-claim"))
    assert exclusive == flexible == OPEN


def test_pod_with_the_claim_and_without_its_class_waits(plain):
    assert set(reasons_of(plain, text_of("v1/04"), text_of("v1/06")).values()) == {"claim_class"}


def test_admin_access_gets_devices_in_use(plain):
    monitor = text_of("v1/14").replace("name: gpu-monitor", "name: gpu-monitor\n  namespace: gpu-admin-namespace")
    monitor = monitor.replace("monitoring-gpu-claim", "admin-gpu-claim")
    assert reasons_of(plain, text_of("v1/02"), text_of("v1/13"), monitor) == OPEN


def test_no_device_is_the_partition_that_is_asked_for(plain):
    claim = text_of("v1/04").replace("exclusive-gpu-claim", "mig-gpu-claim").replace("nvidia-gpu-class", "mig-gpu-class").replace("ml-training", "default")
    answers = reasons_of(plain, text_of("v1/08"), claim, text_of("v1/09"))
    assert set(answers.values()) == {"claim_total"}


@pytest.mark.parametrize("number", CLASSES)
def test_class_counts_its_devices(service, number):
    (request,) = ask(service, text_of(f"v1/{number}"))["deviceRequests"]
    assert (request["matching"], request["devices"]) == (CLASSES[number], 26)


@pytest.mark.parametrize("number", CLAIMS)
def test_claim_counts_its_devices(service, number):
    classes = [text_of(f"v1/{one}") for one in CLASSES]
    requests = ask(service, "---\n".join([*classes, text_of(f"v1/{number}")]))["deviceRequests"]
    assert [request["matching"] for request in requests[len(classes) :]] == CLAIMS[number]


def test_missing_profile_is_named_with_those_there_are(service):
    (warning,) = ask(service, text_of("v1/08"))["warnings"]
    assert '"1g.10gb" (4)' in warning["message"]


def warnings_of(service, text):
    return {warning["path"].rpartition(": ")[2]: warning["message"] for warning in ask(service, text)["warnings"]}


OLD = ["01", "02", "03", "04", "05", "08", "10", "13"]  # of resource.k8s.io/v1alpha2


@pytest.mark.parametrize("number", NUMBERS)
def test_what_the_api_server_says_to_each(service, number):
    """The API server says of the old version that it has no such kind; it serves the others and the translations."""
    texts = warnings_of(service, text_of(number))
    assert ("no matches for kind" in texts.get("apiVersion", "")) == (number in OLD)
    assert "apiVersion" not in warnings_of(service, text_of(f"v1/{number}"))


MEANINGS = {
    "01": {"kind": "DeviceClass", "spec.driverName": "device.driver ==", "spec.parameters": "quantity"},
    "02": {"kind": "DeviceClass"},
    "03": {"kind": "DeviceClass", "spec.parameters": "no field says how many users"},
    "04": {"spec.resourceClassName": "deviceClassName", "spec.allocationMode": "waits for its first pod"},
    "05": {"spec.resourceClassNames": "firstAvailable"},
    "08": {"kind": "DeviceClass"},
    "10": {"spec.driverName": "spec.driver", "spec.devices[0].taints[1].effect": "no PreferNoSchedule", "spec": "judged without it"},
    "11": {"spec.tolerations[0]": "claim's request", "spec.tolerations[1]": "claim's request"},
    "12": {"metadata.labels.resource.kubernetes.io/admin-access": 'only "true"'},
    "13": {"spec.parameters.overcommit": "adminAccess", "spec.parameters.requiredNodeAffinity": "belongs into the pod"},
}


@pytest.mark.parametrize("number", MEANINGS)
def test_what_the_old_form_means_in_v1(service, number):
    texts = warnings_of(service, text_of(number))
    for path, part in MEANINGS[number].items():
        assert part in texts[path], (path, texts)


def test_claim_of_an_old_version_does_not_count(service):
    answers = ask(service, text_of("04") + "---\n" + text_of("06"))
    (workload,) = answers["workloads"]
    assert {node["reason"] for node in workload["nodes"]} == {"claim_missing"} and "do not serve" in workload["summary"]


def test_slice_under_maintenance_is_a_hypothesis(service):
    """Its v1 form: the translation's node and pool, with a taint."""
    answer = ask(service, text_of("v1/10"))
    assert "as if it were applied" in answer["skipped"][0]["why"]


def test_flexible_claim_says_which_alternative(plain):
    classes = [text_of(f"v1/{number}") for number in CLASSES]
    pod = text_of("v1/06").replace("exclusive-gpu-claim", "flexible-gpu-claim")
    (workload,) = ask(plain, "---\n".join([*classes, text_of("v1/05"), pod]))["workloads"]
    (claim,) = workload["claims"]
    first, *others = claim["requests"]
    assert first["choice"].startswith("taken on") and all(other["choice"].startswith("not needed") for other in others)
