"""Groups by annotation over a fake API server: no pod is bound before there is room for all, and a group that waits holds nothing."""

import json
import re

import pytest
from kubectl_gpu import said as run_kubectl_gpu
from objects import annotated, container, filter_args, merged, node, pod, preempt_args
from test_live_binds import arrive

NODES = ["a", "b"]  # with 5 and 4 free GPUs


def members(n, size=None, gpus=1, group="train"):
    return [annotated(f"{group}-{i}", gpus, gang=group, gang_size=str(size or n)) for i in range(n)]


@pytest.fixture
def planning(follow):
    """A service that plans groups. Kept: a plan needs most of the two nodes, so the share is the whole."""
    return follow(more={"gangs": {"mode": "plan", "maxKeptShare": 1}})


def groups(service):
    return service.get("/v1/groups").json()["groups"]


def wait_until(service, **expected):
    def is_so():
        shown = groups(service)
        return shown and all(shown[0][key] == value for key, value in expected.items())

    service.wait(f"the group is {expected}", is_so, lambda: groups(service))


def said(service, asking, names=NODES):
    return service.post("/scheduler/filter", filter_args(asking, names)).json()


def handed_on(service, asking, names=NODES):
    return said(service, asking, names)["NodeNames"]


def reasons(service, asking):
    answer = said(service, asking)
    assert not answer["Error"] and not answer["FailedNodes"]
    return set(answer["FailedAndUnresolvableNodes"].values())


def test_a_group_waits_whole_and_is_bound_whole(api, planning):
    four = members(4, gpus=2)
    arrive(api, planning, *four[:3])
    wait_until(planning, state="forming", waiting=3, size=4)
    assert reasons(planning, four[0]) == {"gpu-extender: the group is not complete"}
    assert "the group is not complete" in planning.bind(four[0], "a")
    api.store.put(four[3])
    wait_until(planning, state="planned", planned=4, reason="")
    assert reasons(planning, pod("other", 2)) == {"gpu-extender: the node's free GPUs are kept for a group"}
    for one in four:
        nodes = handed_on(planning, one)
        assert nodes
        assert planning.bind(one, nodes[0]) is None
    planning.wait("it runs", lambda: not groups(planning))
    bound = sorted(api.store.get("pods", one["metadata"]["name"], "ml")["spec"]["nodeName"] for one in four)
    assert bound == ["a", "a", "b", "b"]
    assert planning.metric("gpu_extender_group_plans_total") == 1
    assert planning.metric("gpu_extender_groups", state="running") == 1
    planning.wait("it is timed", lambda: planning.metric("gpu_extender_group_wait_seconds_count") == 1)
    assert planning.metric("gpu_extender_group_spread_seconds_count") == 1
    assert planning.metric("gpu_extender_groups_waiting", reason="room") == 0


def test_a_group_that_does_not_fit_holds_nothing(api, planning):
    arrive(api, planning, *members(3, gpus=4))
    wait_until(planning, state="waiting", reason="room")
    assert reasons(planning, members(3, gpus=4)[0]) == {"gpu-extender: the group does not fit now"}
    assert "the group does not fit now" in planning.bind(members(3, gpus=4)[0], "b")
    assert handed_on(planning, pod("other", 4)) == ["a", "b"]
    assert api.faults.count("bind") == 0


def test_a_deleted_group_frees_its_places_at_once(api, planning):
    two = members(2, gpus=4)
    arrive(api, planning, *two)
    wait_until(planning, state="planned")
    api.store.remove(*two)
    planning.wait("the pods are gone", lambda: not {"pod-train-0", "pod-train-1"} & planning.ledger()[1])
    assert handed_on(planning, pod("other", 4)) == ["a", "b"]


def test_nothing_is_evicted_for_a_group(api, planning):
    arrive(api, planning, *members(3, gpus=4))
    wait_until(planning, state="waiting")
    answer = planning.post("/scheduler/preempt", preempt_args(members(3, gpus=4)[0], {"a": ["pod-old-0", "pod-old-1", "pod-old-2"]}))
    assert answer.json() == {"NodeNameToMetaVictims": {}}


def test_a_node_that_is_not_offered_is_done_without(api, planning):
    two = members(2, gpus=2)
    arrive(api, planning, *two)
    wait_until(planning, state="planned")
    first = {*handed_on(planning, two[0])}
    (other,) = {"a", "b"} - first if len(first) == 1 else ({"b"},)
    planning.wait("another plan", lambda: handed_on(planning, two[0], [other]))


def test_a_group_says_that_its_node_is_not_offered(api, planning):
    two = members(2, gpus=4)
    arrive(api, planning, *two)
    wait_until(planning, state="planned")
    assert handed_on(planning, two[0], ["elsewhere"]) == []
    planning.wait("it says so", lambda: "kube-scheduler did not offer" in groups(planning)[0]["message"], lambda: groups(planning))


@pytest.mark.parametrize("same", [True, False])
def test_only_pods_of_one_kind_exchange_places(api, follow, same):
    """Pod first keeps those of role b away from x."""
    apart = {"labelSelector": {"matchLabels": {"role": "b"}}, "topologyKey": "kubernetes.io/hostname"}
    keeps_away = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}
    api.store.put(*(node(name, gpus, "Tesla-T4", metadata={"labels": {"kubernetes.io/hostname": name}}) for name, gpus in (("x", 2), ("y", 1))))
    api.store.put(merged(pod("first", 1, on="x"), {"spec": {"affinity": keeps_away}}))
    service = follow(more={"gangs": {"mode": "plan", "maxKeptShare": 1}})
    wanted = {"spec": {"nodeSelector": {"nvidia.com/gpu.product": "Tesla-T4"}}}
    two = [merged(one, merged(wanted, {"metadata": {"labels": {"role": role}}})) for one, role in zip(members(2), "aa" if same else "ab")]
    arrive(api, service, *two)
    wait_until(service, state="planned")
    assert handed_on(service, two[0], ["x", "y"]) == (["x", "y"] if same else ["x"])


WRONG = [
    ({"gang": "t"}, "annotation gpu-extender.io/gang-size: is missing, and gpu-extender.io/gang is set: set both or none"),
    ({"gang_size": "2"}, "annotation gpu-extender.io/gang: is missing"),
    ({"gang": "t", "gang_size": "many"}, "should be the number of the group's pods"),
    ({"gang": "t", "gang_size": "0"}, "should be the number of the group's pods"),
    ({"gang": "t", "gang_size": "65"}, "is 65, should be at most 64 (the policy's gangs.maxSize)"),
    ({"gang": "a b", "gang_size": "2"}, "should have 1 to 63 letters"),
    ({"gang": "x" * 64, "gang_size": "2"}, "should have 1 to 63 letters"),
]


def test_what_is_wrong_is_said(planning):
    for annotations, fault in WRONG:
        (why,) = reasons(planning, annotated("wrong", 1, **annotations))
        assert fault in why


def test_observed_groups_have_no_effect(api, follow):
    service = follow(more={"gangs": {"mode": "observe"}})
    four = members(4, gpus=2)
    arrive(api, service, *four[:3])
    wait_until(service, state="forming")
    assert handed_on(service, four[0]) == ["a", "b"]
    api.store.put(four[3])
    wait_until(service, state="waiting", reason="observed")
    pod_of = service.get("/v1/explain?namespace=ml&name=train-0").json()["pod"]
    assert pod_of["gang"]["message"] == "waits: all of its pods fit now; groups are only observed"
    assert (pod_of["verdict"]["result"], pod_of["verdict"]["cause"]) == ("fits", "scheduler")
    assert handed_on(service, pod("other", 4)) == ["a", "b"]
    assert service.bind(four[0], "b") is None
    assert handed_on(service, annotated("wrong", 1, gang="t")) == ["a", "b"]


def test_without_groups_the_annotations_have_no_effect(api, follower):
    four = members(4, gpus=2)
    arrive(api, follower, four[0])
    assert handed_on(follower, four[0]) == ["a", "b"]
    assert handed_on(follower, annotated("wrong", 1, gang="a b")) == ["a", "b"]
    assert follower.bind(four[0], "b") is None
    assert follower.get("/v1/groups").json() == {"mode": "off", "groups": [], "warnings": []}


def test_as_a_table(api, planning):
    arrive(api, planning, *members(3, size=4))
    wait_until(planning, state="forming")
    lines = planning.get("/v1/groups?output=table").text.splitlines()
    assert lines[0] == "1 group of pods waits (gangs.mode: plan)"
    assert lines[2].split() == ["ml", "train", "forming", "0", "of", "4"]
    assert lines[3].strip() == "forming: 3 of 4 pods exist"
    shown = run_kubectl_gpu("groups", "--url", f"http://{planning.address}", "-n", "ml")
    assert shown.splitlines() == lines
    assert json.loads(run_kubectl_gpu("groups", "--url", f"http://{planning.address}", "-o", "json"))["groups"] == groups(planning)


def told(service, one):
    """What /v1/groups, explain and pending say of the group, which is the same."""
    (row,) = groups(service)
    name = one["metadata"]["name"]
    pod = service.get(f"/v1/explain?namespace=ml&name={name}").json()["pod"]
    (waiting,) = (each for each in service.get("/v1/pending").json()["pods"] if each["name"] == name)
    for each in (pod, waiting):
        assert each["gang"]["message"] == row["message"]
        assert each["verdict"]["text"] == f"Its group train: {row['message']}."
        assert (each["verdict"]["cause"], each["summary"]) == ("group", f"ml/{name}: its group train: {row['message']}")
    return pod["verdict"]["result"], row["message"]


def test_a_pod_is_answered_for_its_group(api, planning):
    three = members(3, gpus=4)
    arrive(api, planning, *three[:2])
    wait_until(planning, state="forming", waiting=2)
    assert told(planning, three[0]) == ("doesNotFit", "forming: 2 of 3 pods exist")
    api.store.put(three[2])
    wait_until(planning, state="waiting", reason="room")
    # a has 5 and b 4 free GPUs, so 1 is left there for the third
    assert told(planning, three[0]) == ("doesNotFit", "waits: 2 of 3 would fit now; the third lacks 3 A100-SXM4-80GB")
    (owner,) = (each for each in planning.get("/v1/pending").json()["owners"] if each["name"] == "train-0")
    assert (owner["fits"], owner["verdict"]["cause"]) == (0, "group")
    api.store.remove(three[2])
    two = members(2, gpus=4)
    api.store.put(*two)
    wait_until(planning, state="planned")
    result, text = told(planning, two[0])
    assert result == "fits" and text in ("planned on a, b; 0 of 2 bound", "planned on b, a; 0 of 2 bound")
    (node,) = handed_on(planning, two[0])[:1]
    assert planning.bind(two[0], node) is None
    wait_until(planning, state="partial", bound=1)
    assert re.fullmatch(r"partial since \d\d:\d\d UTC: planned on [ab]; 1 of 2 bound", told(planning, two[1])[1])


def test_a_group_of_kueue(api, follow):
    """Only where the policy names the convention; a pod whose group is too large for the policy is invalid."""
    service = follow(more={"gangs": {"mode": "plan", "maxKeptShare": 1, "conventions": ["kueue"]}})
    four = [pod(f"train-{i}", 2) for i in range(4)]
    for one in four:
        one["metadata"].update(labels={"kueue.x-k8s.io/pod-group-name": "train"}, annotations={"kueue.x-k8s.io/pod-group-total-count": "4"})
    arrive(api, service, *four[:3])
    wait_until(service, name="train", state="forming", waiting=3, size=4)
    assert reasons(service, four[0]) == {"gpu-extender: the group is not complete"}
    dry_run = service.post("/v1/dry-run", four[3]).json()["workloads"][0]
    assert dry_run["group"] == {"name": "train", "size": 4}
    assert not [note for note in dry_run["notEvaluated"] if "pod group" in note]
    api.store.put(four[3])
    wait_until(service, state="planned", planned=4)
    four[0]["metadata"]["annotations"]["kueue.x-k8s.io/pod-group-total-count"] = "65"
    assert "kueue.x-k8s.io/pod-group-total-count: is 65, should be at most 64" in str(said(service, four[0]))


def test_a_group_begins_when_its_pods_are_not_gated(api, planning):
    """A queue may hold them for hours: no alert, and they are not given up as incomplete meanwhile."""
    gated = members(2, group="queued")
    for one in gated:
        one["spec"]["schedulingGates"] = [{"name": "kueue.x-k8s.io/admission"}]
        api.store.put(one)
    arrive(api, planning, *members(2))
    wait_until(planning, name="train", state="planned")
    assert [group["name"] for group in groups(planning)] == ["train"]
    del gated[0]["spec"]["schedulingGates"]
    api.store.put(gated[0])
    wait_until(planning, name="queued", state="forming", waiting=1)


def test_a_group_that_never_fits_says_why(api, planning):
    three = members(3, gpus=8)
    arrive(api, planning, *three)
    wait_until(planning, reason="never")
    assert told(planning, three[0]) == ("doesNotFit", "can never fit here: an empty cluster has room for 1 of 3 such pods")


def test_the_dry_run_names_the_annotations(start_over, write):
    config = write("policy.yaml", "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\ngangs: {mode: observe}\n")
    service = start_over(node("a"), options=["--config", config])
    template = {"spec": {"containers": [container()]}}
    job = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "train", "namespace": "ml"}}
    job["spec"] = {"pytorchReplicaSpecs": {"Worker": {"replicas": 2, "template": template}}}
    hint = "set the annotations gpu-extender.io/gang and gpu-extender.io/gang-size in their templates"
    assert hint in service.post("/v1/dry-run", job).text
    template["metadata"] = {"annotations": {"gpu-extender.io/gang": "train", "gpu-extender.io/gang-size": "2"}}
    assert hint not in service.post("/v1/dry-run", job).text


def test_the_dry_run_says_that_groups_with_claims_are_not_planned(start_over, write):
    policy = write("policy.yaml", "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\ngangs: {mode: plan}\n")
    service = start_over(node("a"), options=["--config", policy])
    one = members(1)[0]
    said_of_it = "the group: its pods stay pending"
    assert said_of_it not in service.post("/v1/dry-run", one).text
    one["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "mine"}]
    assert said_of_it in service.post("/v1/dry-run", one).text


@pytest.fixture
def racks(api):
    """a and b are in no rack; r1 has two nodes of 4 GPUs, r2 three."""
    for number, rack in enumerate(["r1", "r1", "r2", "r2", "r2"]):
        api.store.put(node(f"{rack}-{number}", 4, "A100", metadata={"labels": {"example.com/rack": rack}}))


def racks_of(service, group, names):
    """The racks of the nodes that filter hands on for the pods of the group."""
    return {name.partition("-")[0] for one in group for name in handed_on(service, one, names)}


RACKS = ["a", "b", "r1-0", "r1-1", "r2-2", "r2-3", "r2-4"]
BY_RACK = {"gangs": {"mode": "plan", "maxKeptShare": 1, "domain": "prefer rack"}, "topology": {"levels": ["example.com/rack"]}}


@pytest.mark.parametrize("domain", ["require rack", None])
def test_a_plan_is_in_one_domain(api, follow, racks, domain):
    service = follow(more=BY_RACK)
    three = members(3, gpus=4)
    for one in three:
        if domain:
            one["metadata"]["annotations"]["gpu-extender.io/domain"] = domain
    arrive(api, service, *three)
    wait_until(service, state="planned", planned=3)
    assert racks_of(service, three, RACKS) == {"r2"}


def test_a_group_waits_for_one_domain(api, follow, racks):
    service = follow(more=BY_RACK)
    three = members(3, gpus=4)
    three[0]["metadata"]["annotations"]["gpu-extender.io/domain"] = "require rack"
    other = pod("other", 1, on="r2-3")
    api.store.put(other)
    arrive(api, service, *three)
    wait_until(service, state="waiting", reason="room", message="waits: no rack has room for 3 pods of 4 GPUs; r2, with 11 free, fits 2")
    api.store.remove(other)
    wait_until(service, state="planned", planned=3)
    assert racks_of(service, three, RACKS) == {"r2"}


def test_a_pod_that_replaces_one_is_answered_for_the_domain(api, follow, racks):
    """Its group runs in r1, which is full; r2 has room."""
    three = members(3, gpus=4)
    for one in three:
        one["metadata"]["annotations"]["gpu-extender.io/domain"] = "require rack"
    api.store.put(*(merged(one, {"spec": {"nodeName": name}, "status": {"phase": "Running"}}) for one, name in zip(three, ["r1-0", "r1-1"])))
    service = follow(more=BY_RACK)
    arrive(api, service, three[2])
    explained = service.get("/v1/explain?namespace=ml&name=train-2").json()
    assert explained["pod"]["verdict"]["result"] != "fits", explained
    assert handed_on(service, three[2], ["r2-2", "r2-3", "r2-4"]) == []


def test_a_wrong_domain(api, follow, racks):
    service = follow(more=BY_RACK)
    wrong = members(1)[0]
    wrong["metadata"]["annotations"]["gpu-extender.io/domain"] = "require floor"
    arrive(api, service, wrong)
    answer = said(service, wrong)
    assert 'should be "require LEVEL" or "prefer LEVEL"; levels here: rack' in str(answer)
