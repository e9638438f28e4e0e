"""GET /v1/snapshot: the ledger as a cluster file, which reads back to the same answers."""

import json
import os
import re
import socket
import threading

import openapi
import pytest
from objects import A100, GPU, TIMES, ageless, annotated, container, filter_args, node, pod
from service import ROOT

JUDGE = openapi.Judge(openapi.load())
PATH = "/v1/snapshot"
OURS = "gpu-extender.io/v1alpha1"

LEGACY = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [{"key": "nvidia.com/gpu.product", "operator": "In", "values": ["A100", "T4"]}]}
            ]
        },
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 9, "preference": {"matchExpressions": [{"key": "accelerator", "operator": "NotIn", "values": ["K80"]}]}}
        ],
    }
}
AFFINITY = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {
                    "matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}],
                    "matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["b"]}],
                },
                {"matchExpressions": [{"key": "rank", "operator": "Gt", "values": ["3"]}]},
            ]
        },
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 3, "preference": {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}}
        ],
    }
}
TAINTS = [{"key": "dedicated", "value": "ml", "effect": "NoSchedule"}, {"key": "slow", "effect": "PreferNoSchedule"}]
TOLERATIONS = [{"key": "dedicated", "operator": "Equal", "value": "ml"}, {"operator": "Exists", "effect": "NoExecute"}]
NODES = [
    node("a", 8, metadata={"labels": {"disk": "ssd", "rank": "5"}}),
    node("b", 8, status={"allocatable": {GPU: "7"}}),
    node("t4", 4, "Tesla-T4", spec={"taints": TAINTS}),
    node("cordoned", 8, spec={"unschedulable": True}),
    node("unready", 4, status={"conditions": [{"type": "Ready", "status": "Unknown"}]}),
    node("shared", 4, "NVIDIA-A100-SXM4-80GB-SHARED"),
    node("cpu", None, None),
]
OWNED = {"ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "set-1", "controller": True}]}
PODS = [
    pod("runs", 4, "a"),
    pod("leaves", 1, "b", metadata={"deletionTimestamp": "2026-11-20T10:00:00Z"}),
    pod("ended", 2, "b", status={"phase": "Succeeded"}),
    pod("astray", 2, "nowhere"),
    pod("waits", 8, spec={"priority": 7, "priorityClassName": "high"}, metadata={"creationTimestamp": "2026-11-20T10:00:00Z"}),
    pod("told", 3, status={"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/7"}]}),
    pod("gated", 1, spec={"schedulingGates": [{"name": "example/wait"}]}),
    pod("nominated", 2, status={"nominatedNodeName": "a"}),
    pod("spreads", 1, spec={"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]}),
    pod("picky", 1, spec={"affinity": AFFINITY, "nodeSelector": {"disk": "ssd"}, "tolerations": TOLERATIONS}),
    pod("bound-picky", 1, "a", spec={"affinity": AFFINITY}),
    annotated("modern", 1, models="H100-80GB, A100", min_gpu_memory="40Gi"),
    pod("old", 1, metadata={"annotations": {"scheduler.alpha.kubernetes.io/affinity": json.dumps(LEGACY)}}),
    annotated("broken", 2, models=","),
    pod("unequal", 0, spec={"containers": [container(requests={GPU: "2"})]}),
    pod("odd", spec={"containers": 7}),
    pod("no-uid", 1, "b", metadata={"uid": None}),
    pod("web-0", 1, "b", metadata=OWNED),
    pod("member", 1, spec={"schedulingGroup": {"podGroupName": "ring"}}),
    annotated("shares", 1, allow_shared="true"),
]
OTHERS = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml", "labels": {"team": "ml"}}},
    *[
        {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {"name": name, "namespace": "ml"}, "spec": {"schedulingPolicy": policy}}
        for name, policy in (("ring", {"gang": {"minCount": 4}}), ("loose", {"basic": {}}))
    ],
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 7, "globalDefault": True},
    {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "meek"},
        "value": 9,
        "preemptionPolicy": "Never",
    },
    {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "nvidia"}, "handler": "nvidia"},
    {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "amd"},
        "spec": {"extendedResourceName": "amd.com/gpu"},
    },
    {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}},
]
DRIVER = "gpu.nvidia.com"


def device(name, **more):
    attributes = {"productName": {"string": "NVIDIA H100 80GB HBM3"}, "resource.kubernetes.io/pciBusID": {"string": f"0000:{name}"}}
    return {"name": name, "attributes": attributes, "capacity": {"memory": {"value": "81559Mi"}}, **more}


def slice_of(name, devices=(), **spec):
    pool = {"name": "b", "generation": 3, "resourceSliceCount": 1, **spec.pop("pool", {})}
    spec = {"driver": DRIVER, "pool": pool, "devices": list(devices), **spec}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec}


def claim(name, *requests, devices=(), **metadata):
    results = [{"request": "gpus", "driver": DRIVER, "pool": "b", **device} for device in devices]
    status = {"allocation": {"devices": {"results": results}}} if results else {}
    if results:
        status["reservedFor"] = [{"resource": "pods", "name": "runs", "uid": f"uid-{name}"}, {"apiGroup": "x", "resource": "y", "name": "z", "uid": "z"}]
    metadata = {"name": name, "namespace": "ml", "uid": f"claim-{name}", **metadata}
    whole = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata}
    return {**whole, "spec": {"devices": {"requests": list(requests)}}, "status": status}


def exactly(**more):
    return {"name": "gpus", "exactly": {"deviceClassName": "gpu", **more}}


COUNTERS = [{"name": "gpu-4", "counters": {"memory": {"value": "80Gi"}, "slices": {"value": "7"}}}]
PARTITIONS = [
    device(f"mig-{number}", consumesCounters=[{"counterSet": "gpu-4", "counters": {"memory": {"value": "40Gi"}, "slices": {"value": "3"}}}])
    for number in range(2)
]
for partition in PARTITIONS:
    partition["attributes"]["profile"] = {"string": "3g.40gb"}
PARTITIONABLE = {"name": "parts", "generation": 1, "resourceSliceCount": 2}
DEVICES = [
    slice_of("b-gpus", [device("gpu-0"), device("gpu-1", taints=[{"key": "k", "effect": "NoSchedule"}]), device("gpu-2")], nodeName="b"),
    slice_of("b-old", [device("gpu-7")], nodeName="b", pool={"generation": 2}),
    slice_of("b-counters", sharedCounters=COUNTERS, allNodes=True, pool=PARTITIONABLE),
    slice_of("b-parts", PARTITIONS, nodeName="b", pool=PARTITIONABLE),
    slice_of("far", [device("gpu-8", nodeName="b"), device("gpu-9", allNodes=True)], perDeviceNodeSelection=True, pool={"name": "far"}),
    slice_of("lacks", [device("gpu-10")], nodeName="a", pool={"name": "lacks", "resourceSliceCount": 2}),
    slice_of("network", [{"name": "nic"}], driver="nic.example.com", nodeName="b"),
    claim("one", exactly(count=1), devices=[{"device": "gpu-0"}]),
    claim("parts", exactly(count=2), devices=[{"device": "mig-0", "pool": "parts"}, {"device": "gpu-2", "adminAccess": True}]),
    claim("waits", exactly(allocationMode="All"), {"name": "or", "firstAvailable": [{"name": "a", "count": 3}, {"name": "b", "count": 2}]}),
    claim("gone", exactly(), devices=[{"device": "not-there"}], deletionTimestamp="2026-01-01T00:00:00Z"),
    {
        "apiVersion": "resource.k8s.io/v1beta2",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "broken"},
        "spec": {"deviceSelector": {"driver": DRIVER, "device": "gpu-8"}, "taint": {"key": "k", "effect": "NoExecute"}},
    },
    {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "of-2", "namespace": "ml"},
        "spec": {"spec": {"devices": {"requests": [exactly(count=2), {"name": "or", "firstAvailable": [{"name": "a", "count": 3}]}]}}},
    },
]
ASKING = [pod("asks-1", 1), pod("asks-4", 4), annotated("asks-t4", 1, models="T4"), PODS[4], PODS[9], PODS[12]]
ASKING += [PODS[-1], pod("claims", 1, resource="amd.com/gpu"), pod("web-1", 1, metadata=OWNED), pod("meek", 8, spec={"priorityClassName": "meek"})]
QUOTAS = """
apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
quotas:
  - name: team-ml
    namespaceSelector: {matchLabels: {team: ml}}
    limits: [{total: 9, models: {T4: 0}}]
"""
CHANGING = (*TIMES, "source", "live", "freshness")


def snapshot_of(service):
    """The previous snapshot may arrive before the server knows that it was sent."""
    answer = service.get(PATH)
    for _ in range(2000):
        if answer.status != 503:
            break
        answer = service.get(PATH)
    assert answer.status == 200, answer
    assert JUDGE.faults_of_answer("GET", PATH, answer) == []
    return answer.text


def answers(service, asking, names):
    """All answers to users and kube-scheduler."""
    found = {}
    for path in ("/v1/inventory", "/v1/pending"):
        found[path] = ageless(service.get(path).json(), CHANGING)
    for item in asking:
        name = item["metadata"]["name"]
        for verb in ("filter", "prioritize"):
            found[verb, name] = service.post(f"/scheduler/{verb}", filter_args(item, names)).text
        dry_run = service.post("/v1/dry-run", {"apiVersion": "v1", "kind": "List", "items": [item]})
        found["dry run", name] = ageless(dry_run.json(), CHANGING)
    return found


def lines_of(snapshot):
    """All but the head, which has its time and source."""
    return [line for line in snapshot.splitlines() if '"kind":"Snapshot"' not in line]


def head_of(snapshot):
    (line,) = [line for line in snapshot.splitlines() if '"kind":"Snapshot"' in line]
    return json.loads(line.rstrip(","))


@pytest.fixture
def read_back(start_service, write):
    return lambda snapshot, *options: start_service("--cluster-file", write("snapshot.json", snapshot), *options)


def assert_same(first, second, asking, names):
    wanted, found = answers(first, asking, names), answers(second, asking, names)
    for key, answer in wanted.items():
        assert found[key] == answer, key


@pytest.fixture
def service(start_over):
    return start_over(*NODES, *PODS, *OTHERS, *DEVICES)


def test_snapshot_reads_back_to_the_same_answers(service, read_back):
    names = [item["metadata"]["name"] for item in NODES]
    second = read_back(snapshot_of(service))
    assert_same(service, second, ASKING, names)
    assert snapshot_of(second).splitlines()[2:] == snapshot_of(service).splitlines()[2:]
    assert lines_of(snapshot_of(second)) == lines_of(snapshot_of(service))


def test_snapshot_has_what_is_counted_and_judged_of_claims(service):
    """The snapshot has slices of other drivers than GPUs, too."""
    items = json.loads(snapshot_of(service))["items"]
    names = {kind: {item["metadata"]["name"] for item in items if item["kind"] == kind} for kind in ("ResourceSlice", "ResourceClaim", "DeviceTaintRule")}
    assert names == {
        "ResourceSlice": {"b-gpus", "b-old", "b-counters", "b-parts", "far", "lacks", "network"},
        "ResourceClaim": {"one", "parts", "waits", "gone"},
        "DeviceTaintRule": {"broken"},
    }
    (one,) = [item for item in items if item["kind"] == "ResourceClaim" and item["metadata"]["name"] == "one"]
    (result,) = one["status"]["allocation"]["devices"]["results"]
    assert (result["driver"], result["pool"], result["device"]) == (DRIVER, "b", "gpu-0")
    assert one["status"]["reservedFor"][0]["uid"] == "uid-one" and len(one["status"]["reservedFor"]) == 2


def free_devices(service):
    inventory = service.get("/v1/inventory").json()
    found = {item["name"]: item for item in inventory["nodes"]}["b"]
    return found["devices"].get(DRIVER, {}).get("free"), [item["name"] for item in inventory["problems"]]


@pytest.mark.parametrize("broken", ["two", "three"])
def test_a_slice_that_cannot_be_read_stays_unusable(api, follow, read_back, broken):
    """Two slices of one pool; then one cannot be read any more, or a third never could."""
    pool = {"resourceSliceCount": 3 if broken == "three" else 2}
    slices = [slice_of(name, [device(name)], nodeName="b", pool=pool) for name in ("one", "two")]
    api.store.put(node("b", None, None), claim("waits", exactly()), *slices)
    service = follow()
    api.store.put(slice_of(broken) | {"spec": {"driver": DRIVER, "devices": 7}})
    service.wait("the slice is a problem", lambda: broken in free_devices(service)[1])
    assert free_devices(service)[0] == 0
    snapshot = snapshot_of(service)
    second = read_back(snapshot)
    assert free_devices(second) == free_devices(service)
    assert lines_of(snapshot_of(second)) == lines_of(snapshot)
    assert second.get("/v1/inventory").json()["nodes"] == service.get("/v1/inventory").json()["nodes"]


def test_unknown_claims_stay_unknown(api, follow, read_back):
    api.store.put(node("b", None, None), slice_of("one", [device("one")], nodeName="b"))
    api.faults.fail("list resourceclaims", 403, "Forbidden", times=None)
    service = follow()
    second = read_back(snapshot_of(service))
    assert free_devices(second) == free_devices(service) == (None, [])
    for path in ("/v1/inventory", "/v1/quota"):
        assert second.get(path).json()["claimsNotCountedBecause"] == service.get(path).json()["claimsNotCountedBecause"] != ""


def test_no_claims_are_known_to_be_none(api, follow, read_back):
    """A cluster without claims, in contrast to a file without them."""
    api.store.put(node("b", None, None), slice_of("one", [device("one")], nodeName="b"))
    service = follow()
    assert free_devices(read_back(snapshot_of(service))) == (1, [])


@pytest.mark.parametrize("example", ["sample-cluster.yaml", pytest.param("openb-cluster.json", marks=pytest.mark.long)])
def test_the_examples_read_back(example, start_service, read_back):
    first = start_service("--cluster-file", os.path.join(ROOT, "examples", example))
    second = read_back(snapshot_of(first))
    names = [item["name"] for item in first.get("/v1/inventory").json()["nodes"]]
    assert_same(first, second, ASKING, names)
    assert lines_of(snapshot_of(second)) == lines_of(snapshot_of(first))


def test_quotas_are_restored(start_over, read_back, write):
    """The snapshot restores the namespaces' labels and the usage."""
    options = ("--config", write("policy.yaml", QUOTAS))
    first = start_over(*NODES, *PODS, *OTHERS, options=options)
    second = read_back(snapshot_of(first), *options)
    assert "quota" in first.post("/scheduler/filter", filter_args(ASKING[2], ["t4"])).text
    assert_same(first, second, ASKING, [item["metadata"]["name"] for item in NODES])
    assert ageless(second.get("/v1/quota").json(), CHANGING) == ageless(first.get("/v1/quota").json(), CHANGING)
    assert lines_of(snapshot_of(second)) == lines_of(snapshot_of(first))


def test_the_head(service):
    head = head_of(snapshot_of(service))
    assert (head["apiVersion"], head["policy"]["placement"]) == (OURS, {"policy": "slot-price", "softPreferences": "defer", "replicaSpreadMilli": 1000})
    assert head["source"].startswith("file:") and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", head["asOf"])
    left_out = [problem for problem in service.get("/v1/inventory").json()["problems"] if problem["kind"] == "Pod"]
    assert head["problems"] == left_out and head["problemCount"] == 1, "the others are those of the objects in it"
    assert head["reckoned"]["nodes"] == 7 and head["reckoned"]["reservations"] == 0
    assert head["reckoned"][f"{GPU} of A100-SXM4-80GB, nodes"] > 0


def test_snapshot_holds_only_data_of_the_ledger(start_over):
    secret = {"env": [{"name": "TOKEN", "value": "hidden-1"}], "args": ["hidden-2"], "image": "hidden-3"}
    metadata = {"annotations": {"note": "hidden-4"}, "labels": {"app": "shown"}, "finalizers": ["example.com/hidden-5"]}
    service = start_over(NODES[0], pod("runs", 1, "a", spec={"containers": [container(**secret)]}, metadata=metadata))
    assert "hidden" not in snapshot_of(service)


def reserve(api, follower):
    """A pod has a reservation because its binding hangs."""
    api.store.put(pod("train-0", 2, metadata=OWNED), pod("train-1", 1, "a", metadata=OWNED))
    follower.wait("the pods are known", lambda: "pod-train-0" in follower.ledger()[1])
    hold = api.faults.hold("bind")
    caller = threading.Thread(target=follower.bind, args=(pod("train-0", 2, metadata=OWNED), "b"))
    caller.start()
    hold.wait_for(1)
    return hold, caller


def test_reservations_are_restored(api, follower, read_back):
    hold, caller = reserve(api, follower)
    snapshot = snapshot_of(follower)
    names = [item["name"] for item in follower.get("/v1/inventory").json()["nodes"]]
    second = read_back(snapshot)
    assert_same(follower, second, [pod("asks-1", 1), pod("train-0", 2), pod("train-2", 1, metadata=OWNED)], names)
    (item,) = [json.loads(line.rstrip(",")) for line in snapshot.splitlines() if '"kind":"Reservation"' in line]
    assert (item["node"], item["metadata"]["uid"]) == ("b", "pod-train-0")
    assert lines_of(snapshot_of(second)) == lines_of(snapshot)
    (held,) = [found for found in second.get("/v1/inventory").json()["nodes"] if found["name"] == "b"]
    assert [found["uid"] for found in held["reservations"]] == ["pod-train-0"]
    assert "ml/train-0 (2)" in second.get("/v1/inventory?output=table&wide=true").text
    hold.release()
    caller.join()


def test_a_reservation_whose_pod_has_a_node_is_its_use(api, follower, read_back):
    """A UID counts once: lines of a file may differ in age."""
    hold, caller = reserve(api, follower)
    snapshot = snapshot_of(follower)
    lines = [
        line.replace('"spec":{', '"spec":{"nodeName":"b",') if '"kind":"Pod"' in line and '"train-0"' in line else line
        for line in snapshot.splitlines()
    ]
    second = read_back("\n".join(lines))
    (node_b,) = [found for found in second.get("/v1/inventory").json()["nodes"] if found["name"] == "b"]
    assert (node_b["resources"][GPU]["used"], node_b["resources"][GPU]["reserved"]) == (2, 0)
    hold.release()
    caller.join()


def test_differing_sums_are_a_problem(service, read_back):
    """For example a file edited by hand or cut."""
    lines = [line for line in snapshot_of(service).splitlines() if '"name":"runs"' not in line]
    problems = read_back("\n".join(lines)).get("/v1/inventory").json()["problems"]
    assert problems[0] == {"kind": "Snapshot", "name": "reckoned", "what": "pods: the file says 19, the ledger computes 18"}


def test_another_policy_compares_nothing(service, read_back, write):
    policy = write(
        "policy.yaml", f"apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\nmodels: {{aliases: {{{A100}: T4}}}}\n"
    )
    second = read_back(snapshot_of(service), "--config", policy)
    inventory = second.get("/v1/inventory").json()
    assert [problem for problem in inventory["problems"] if problem["kind"] == "Snapshot"] == []
    assert {item["model"] for item in inventory["models"]} != {item["model"] for item in service.get("/v1/inventory").json()["models"]}


@pytest.mark.parametrize(
    "item, what",
    [
        ({"kind": "Reservation", "metadata": {"name": "x"}, "node": 7}, "node: is the number 7, should be a string"),
        ({"kind": "Reservation", "metadata": {"name": "x"}}, "node: is missing"),
        ({"kind": "KeptPod", "metadata": {"name": "x"}, "refusal": []}, "refusal: is an array, should be a string"),
        ({"kind": "Snapshot", "metadata": {"name": "x"}, "problems": [{"kind": 1}]}, "problems[0].kind: is the number 1, should be a string"),
        ({"kind": "Snapshot", "metadata": {"name": "x"}, "reckoned": "much"}, 'reckoned: is the string "much", should be an object'),
    ],
)
def test_faults_of_a_snapshot_are_problems(start_over, item, what):
    inventory = start_over(NODES[0], {"apiVersion": OURS, **item}).get("/v1/inventory").json()
    assert [problem["what"] for problem in inventory["problems"]] == [what]


def test_the_kinds_are_ours_only_under_our_group(start_over):
    """A tenant's objects of another group are none of them."""
    item = {"apiVersion": "example.com/v1", "kind": "Reservation", "metadata": {"name": "x", "namespace": "ml"}, "node": "a"}
    inventory = start_over(NODES[0], item).get("/v1/inventory").json()
    assert inventory["problems"] == [] and inventory["nodes"][0]["reservations"] == []


def test_one_snapshot_is_sent_at_a_time(start_service, start_over):
    """While one is sent to a client that does not read, the next gets 503 with Retry-After; once that client is gone, the next succeeds."""
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "x" * 4000}
    many = [pod(f"p-{i}", 1, status={"conditions": [condition]}) for i in range(2500)]
    service = start_over(NODES[0], *many)
    host, _, port = service.addresses["people"].rpartition(":")
    with socket.create_connection((host, int(port))) as slow:
        slow.sendall(f"GET {PATH} HTTP/1.1\r\nHost: [::1]\r\n\r\n".encode())
        assert slow.recv(1)
        answer = service.get(PATH)
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert answer.json() == {"error": "another snapshot is being made or sent: try again"}
    assert snapshot_of(service)


def test_unknown_query_values_are_rejected(service):
    answer = service.get(PATH + "?output=table")
    assert answer.status == 400 and "?output: is unknown" in answer.text
