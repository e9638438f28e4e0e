"""POST /v1/what-if: drains, cordons, added nodes and removed pods over a cluster file."""

import json

import pytest
from follow import policy
from objects import GPU, node, pod

PATH = "/v1/what-if"


def owned(name, kind="ReplicaSet", owner="web", **changes):
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": f"uid-{owner}", "controller": True}
    made = pod(name, **changes)
    made["metadata"]["ownerReferences"] = [reference]
    return made


def with_priority(made, priority):
    made["spec"]["priority"] = priority
    return made


CLUSTER = [
    node("a", 4, metadata={"labels": {"kubernetes.io/hostname": "a"}}),
    node("b", 4),
    owned("web-0", gpus=2, on="a"),
    with_priority(owned("web-1", gpus=2, on="a"), 7),
    owned("agent-a", "DaemonSet", "agent", gpus=None, on="a"),
    owned("static-a", "Node", "a", gpus=None, on="a"),
    owned("train-0", "Job", "train", gpus=2, on="b"),
    pod("alone", 1, on="b"),
    owned("waits-0", "Job", "waits", gpus=4),
]


@pytest.fixture(scope="module")
def service(module_service):
    return module_service(*CLUSTER)


def ask(service, *changes, **members):
    answer = service.post(PATH, {"changes": list(changes), **members})
    assert answer.status == 200, answer
    return answer.json()


def places(pods):
    return {each["name"]: each["node"] for each in pods}


def test_nothing_changes_without_changes(service):
    answer = ask(service)
    assert answer["changes"] == answer["displaced"] == answer["notChecked"] == []
    assert answer["pending"]["before"] == answer["pending"]["after"] == {"pods": 1, "fit": 0, "notJudged": 0}
    assert answer["fragmentation"]["before"] == answer["fragmentation"]["after"] == service.get("/v1/fragmentation").json()["models"]


def test_a_drain(service):
    """The pod of the higher priority gets the only room. DaemonSet and mirror pods stay."""
    answer = ask(service, {"drain": ["a"]})
    assert answer["changes"] == [
        {"change": "drain", "node": "a", "evicted": 2, "stay": 2, "alreadyLeaving": 0, "withoutController": 0}
    ]
    displaced = {each["name"]: each for each in answer["displaced"]}
    assert displaced["web-1"] == {
        "namespace": "ml", "name": "web-1", "uid": "pod-web-1", "owner": {"kind": "ReplicaSet", "name": "web"},
        "priority": 7, "from": "a", "budgets": None, "node": None, "judged": True, "judgedWithout": None,
        "reason": "0 of 2 nodes fit (1 × the node is cordoned; 1 × the node has too few free GPUs now)",
    }  # fmt: skip
    assert displaced["web-0"]["node"] is None and answer["displacedCounts"] == {"pods": 2, "fit": 0}
    assert "PodDisruptionBudgets: not checked: the cluster file has none; save it with pdb" in answer["notChecked"]


def test_a_pod_without_a_controller_is_not_recreated(service):
    answer = ask(service, {"drain": ["b"]})
    assert answer["changes"][0]["withoutController"] == 1
    assert places(answer["displaced"]) == {"train-0": None, "alone": None}
    assert answer["displaced"][1]["reason"] == "no controller recreates it"


def test_added_nodes(service):
    """The new node has the pods that its model's DaemonSets have, and takes what fits."""
    answer = ask(service, {"addNodes": {"like": "a", "count": 2}}, {"drain": ["a"]})
    assert answer["changes"][0] == {"change": "addNodes", "like": "a", "count": 2, "nodes": ["a-new-1", "a-new-2"], "podsOnEach": 2, "devicesOnEach": 0}
    assert sorted(each["node"] for each in answer["displaced"]) == ["a-new-1", "a-new-1"] or answer["displacedCounts"]["fit"] == 2
    assert places(answer["pending"]["nowRun"]).keys() == {"waits-0"}
    assert answer["pending"]["before"]["fit"] == 0 and answer["pending"]["after"]["fit"] == 1
    before, after = (answer["fragmentation"][when][0] for when in ("before", "after"))
    assert (before["nodes"], after["nodes"]) == (2, 3)


def test_removed_pods_make_room(service):
    answer = ask(service, {"removePods": ["ml/web-0", "ml/web-1"]})
    assert answer["changes"][0] == {"change": "removePods", "pod": "ml/web-0", "node": "a"}
    assert places(answer["pending"]["nowRun"]) == {"waits-0": "a"}


def test_a_cordon_displaces_nobody(service):
    answer = ask(service, {"cordon": ["b"]}, workloads=[pod("new", 1)])
    assert answer["displaced"] == [] and answer["changes"] == [{"change": "cordon", "node": "b", "wasCordoned": False}]
    assert answer["workloads"][0]["placed"] == 0
    assert ask(service, workloads=[pod("new", 1)])["workloads"][0]["placements"][0]["node"] == "b"


def test_workloads_come_after_the_displaced_pods(service):
    """A workload is an object, or a text."""
    changes = [{"removePods": ["ml/waits-0", "ml/alone", "ml/train-0"]}, {"drain": ["a"]}]
    for workload in (pod("new", 1), "kind: Pod\nmetadata: {name: new}\nspec: {containers: [{name: c, resources: {limits: {%s: 1}}}]}\n" % GPU):
        answer = ask(service, *changes, workloads=[workload])
        assert answer["displacedCounts"] == {"pods": 2, "fit": 2}
        assert answer["workloads"][0]["placed"] == 0 and answer["workloads"][0]["name"] == "new"


@pytest.fixture(scope="module")
def with_quota(module_service, tmp_path_factory):
    """A service whose namespace ml has a quota that nothing reaches."""
    path = tmp_path_factory.mktemp("policy") / "policy.yaml"
    path.write_text(policy({"quotas": [{"name": "team", "namespaces": ["ml"], "limits": [{"total": 100}]}]}), encoding="utf-8")
    return module_service(*CLUSTER, options=("--config", path))


@pytest.mark.parametrize(
    "changes, used",
    [
        ([], 7),
        ([{"drain": ["a"]}], 3),
        ([{"drain": ["a"]}, {"addNodes": {"like": "a"}}], 7),
        ([{"removePods": ["ml/web-0"]}], 5),
        ([{"removePods": ["ml/train-0", "ml/alone", "ml/web-0"]}], 6),
    ],
    ids=["none", "no-room", "room", "removed", "waits-0-runs"],
)
def test_quota_and_fragmentation_are_those_without_the_workloads(with_quota, changes, used):
    """The quota's use after the changes has the pods that stay, and the displaced and pending pods that find a place. The workload takes a GPU of those left."""
    alone = ask(with_quota, *changes)
    limit = {"quota": "team", "resource": "", "model": "", "limit": 100}
    assert alone["quota"] == {"before": [limit | {"used": 7}], "after": [limit | {"used": used}]}
    joined = ask(with_quota, *changes, workloads=[pod("new", 1)])
    assert joined["workloads"][0]["placed"] == 1
    (left,) = joined["fragmentation"].pop("afterWorkloads")
    assert left["free"] == sum(each["free"] for each in alone["fragmentation"]["after"]) - 1
    assert (joined["quota"], joined["fragmentation"]) == (alone["quota"], alone["fragmentation"])


LIMITED = [{"total": 7}]


@pytest.fixture(scope="module")
def with_little_quota(module_service, tmp_path_factory):
    """A service whose namespace ml has used its quota up; waits-0 would fit on the empty node c."""
    path = tmp_path_factory.mktemp("policy") / "policy.yaml"
    quotas = [{"name": "team", "namespaces": ["ml"], "limits": LIMITED}, {"name": "other", "namespaces": ["web"], "limits": [{"total": 1}]}]
    path.write_text(policy({"quotas": quotas}), encoding="utf-8")
    return module_service(*CLUSTER, node("c", 4), options=("--config", path))


WRONG = "kind: Pod\nmetadata: {name: wrong}\nspec:\n a: b\n  c: d\n"
UNREAD = "metadata: {name: without-a-kind}\n"
GOOD = "# a comment\nkind: Pod\nmetadata: {name: good}\nspec: {containers: [{name: c, resources: {limits: {%s: 1}}}]}\n" % GPU


def test_lines_are_those_of_each_text(service):
    """An object may be among them."""
    answer = ask(service, workloads=[GOOD, UNREAD, pod("object", 1), GOOD + "---\n" + UNREAD])
    assert [one["name"] for one in answer["workloads"]] == ["good", "object", "good"]
    whys = [one["why"] for one in answer["skipped"]]
    assert [why.split(": ")[1:3] for why in whys] == [["workloads[1]", "1:1"], ["workloads[3]", "6:1"]], whys
    for wrong, place in (([WRONG, UNREAD], "workloads[0]: 5:4: "), ([GOOD, pod("object", 1), WRONG], "workloads[2]: 5:4: "), ([UNREAD, UNREAD], "workloads[0]: 1:1: ")):
        refused = service.post(PATH, {"workloads": wrong})
        assert refused.status == 400 and refused.json()["error"].startswith(place), refused
    assert service.post(PATH, {"workloads": [WRONG]}).json()["error"].startswith("workloads: manifest: 5:4: ")
    assert service.post(PATH, {"workloads": ["", "# nothing"]}).json()["error"].startswith("workloads: is empty")
    assert service.post(PATH, {"workloads": ["a"] * 1001}).status == 413


def test_the_texts_of_a_request_share_its_budget(service):
    """Aliases count as if they were written out."""
    large = "kind: ConfigMap\nmetadata: {name: large}\ndata: {%s}\n" % ", ".join(f"k-{i}: v" for i in range(6000))
    answer = ask(service, workloads=[large] + [GOOD] * 99)
    assert [one["name"] for one in answer["workloads"]] == ["good"] * 99
    items = "".join(f"  - &a{i} [{', '.join('x' * 1000)}]\n" + f"  - *a{i}\n" * 9 for i in range(2))
    aliased = "kind: ConfigMap\nmetadata: {name: aliased}\ndata:\n" + items
    assert service.post(PATH, {"workloads": [aliased] + [GOOD] * 9}).status == 200
    refused = service.post(PATH, {"workloads": [aliased] * 10 + [GOOD]})
    assert refused.status == 413 and "workloads[9]: " in refused.json()["error"], refused
    assert "values, should have at most 200000 (limits.userRequestValues)" in refused.json()["error"]


def test_a_quota_raised_admits_and_one_lowered_refuses(with_little_quota):
    """Only the copy has the limits; a model's limit is beside the total; below the use no pod is evicted."""
    raised = ask(with_little_quota, {"quota": {"name": "team", "limits": [{"total": 11, "models": {"A100": 20}}]}})
    assert raised["changes"] == [{"change": "quota", "quota": "team", "before": LIMITED, "after": [{"total": 11, "models": {"A100": 20}}]}]
    assert places(raised["pending"]["nowRun"]) == {"waits-0": "c"} and raised["pending"]["before"]["fit"] == 0
    assert [(each["quota"], each["model"], each["used"], each["limit"]) for each in raised["quota"]["after"]] == [
        ("team", "", 11, 11), ("team", "A100", 11, 20), ("other", "", 0, 1)
    ]  # fmt: skip
    assert [(each["quota"], each["used"], each["limit"]) for each in raised["quota"]["before"]] == [("team", 7, 7), ("other", 0, 1)]
    again = ask(with_little_quota, *raised_and_lowered())
    assert places(again["pending"]["nowRun"]) == {} and again["quota"]["after"][0] == {
        "quota": "team", "resource": "", "model": "", "limit": 3, "used": 7
    }  # fmt: skip
    assert [change["before"] for change in again["changes"]] == [LIMITED, [{"total": 30}]]
    refused = ask(with_little_quota, raised_and_lowered()[1], {"removePods": ["ml/web-0", "ml/web-1"]}, workloads=[pod("new", 1)])
    assert "quota team" in json.dumps(refused["workloads"][0]) and refused["workloads"][0]["placed"] == 0
    assert ask(with_little_quota)["pending"]["before"]["fit"] == 0


def test_a_limit_for_a_model_that_no_node_has(with_little_quota):
    """It has no effect, so the answer warns of it, with a near name; added nodes count. Only limits of the changes are looked at."""

    def warned(*changes):
        answer = ask(with_little_quota, *changes)
        return [(one["path"], one["message"]) for one in answer["warnings"]]

    limit = lambda models: {"quota": {"name": "team", "limits": [{"total": 9, "models": models}]}}
    ((path, message),) = warned({"cordon": ["c"]}, limit({"A1OO": 4, "A100": 4}))
    assert path == "changes[1].quota" and "team" in message and "A1OO" in message and "did you mean A100" in message
    ((_, message),) = warned(limit({"MI300X": 4}))
    assert "MI300X" in message and "did you mean" not in message
    ((path, message),) = warned(limit({"A1OO": 4}), {"quota": {"name": "team", "limits": [{"resource": "amd.com/gpu", "total": 4}]}})
    assert path == "changes[1].quota" and "amd.com/gpu" in message
    assert warned(limit({"A100": 4})) == warned({"cordon": ["c"]}) == []
    table = with_little_quota.post(PATH + "?output=table&width=400", {"changes": [limit({"A1OO": 4})]}).text
    assert "did you mean A100" in table


def raised_and_lowered():
    return [{"quota": {"name": "team", "limits": [{"total": total}]}} for total in (30, 3)]


def test_a_quota_lowered_takes_the_place_of_a_pending_pod(with_quota):
    """The reason names the quota. A displaced pod counts as any other."""
    changes = [{"quota": {"name": "team", "limits": [{"total": 6}]}}, {"addNodes": {"like": "a"}}]
    answer = ask(with_quota, *changes, {"drain": ["a"]})
    displaced = {each["name"]: each for each in answer["displaced"]}
    assert places(answer["displaced"]) == {"web-1": "a-new-1", "web-0": None} and "a quota" in displaced["web-0"]["reason"]
    text = with_quota.post(PATH + "?output=table", {"changes": changes}).text
    assert "100 -> 6" in text and max(map(len, text.splitlines())) <= 100


def test_placement(module_service):
    """The ranking of the copy: the emptier node, or the fuller; the members that are not named stay."""
    served = module_service(node("a", 4), node("b", 4), owned("runs", gpus=2, on="a"), owned("waits-0", "Job", "waits", gpus=1))
    workload = pod("new", 1)
    for ranking, place in (("binpack", "a"), ("spread", "b")):
        answer = ask(served, {"placement": {"policy": ranking, "replicaSpread": None}}, {"removePods": ["ml/waits-0"]}, workloads=[workload])
        assert answer["changes"][0] == {"change": "placement", "before": {"policy": "slot-price"}, "after": {"policy": ranking}}
        assert answer["workloads"][0]["placements"][0]["node"] == place
    answer = ask(served, {"placement": {"slotPrice": {"drainWeight": 0.5}, "replicaSpread": 1.25}})
    assert answer["changes"][0]["before"] == {"slotPrice": {"drainWeight": "0.2"}, "replicaSpread": 1}


@pytest.mark.parametrize(
    "change, message",
    [
        ({"quota": {"name": "team"}}, "changes[0].quota.limits: is missing, should be limits as in the policy file"),
        ({"quota": {"limits": LIMITED}}, "changes[0].quota.name: is missing, should be the name of a quota"),
        ({"quota": {"name": "team", "limits": LIMITED, "namespaces": []}}, "changes[0].quota.namespaces: is unknown, should be name or limits"),
        ({"quota": {"name": "team", "limits": [{"total": -1}]}},
         "changes[0].quota.limits[0].total: is the number -1, should be a whole number of GPUs from 0 to 1000000"),
        ({"quota": {"name": "team", "limits": [{"models": {"nvidia": 1}}]}},
         "changes[0].quota.limits[0].models.nvidia: is not a GPU model, should be a name such as A100-80GB (a brand alone is no model)"),
        ({"quota": {"name": "team", "limits": 7}}, "changes[0].quota.limits: is the number 7, should be a list of limits"),
        ({"quota": []}, 'changes[0].quota: is an array, should be {"name": QUOTA, "limits": [...]}'),
        ({"placement": {"policy": "binpak"}},
         'changes[0].placement.policy: is the string "binpak", should be slot-price or binpack or spread or fgd'),
        ({"placement": {"polcy": "binpack"}}, "changes[0].placement.polcy: unknown key; did you mean policy?"),
        ({"placement": {"slotPrice": {"drainWeight": 101}}},
         "changes[0].placement.slotPrice.drainWeight: is the number 101, should be a number from 0 to 100 with at most three decimals"),
        ({"placement": {"slotPrice": 3}}, None),
        ({"placement": {}}, "changes[0].placement: is empty, should be an object as `placement` in the policy file"),
    ],
)  # fmt: skip
def test_values_of_the_policy_are_checked_by_its_own_reader(with_quota, change, message):
    answer = with_quota.post(PATH, {"changes": [change]})
    assert answer.status == 400, answer
    assert message is None or answer.json()["error"] == message


def test_quotas_that_do_not_exist(with_quota, service):
    for served, name, rest in ((with_quota, "taem", "; did you mean team?"), (with_quota, "x", " (GET /v1/quota lists them)"), (service, "x", ": the policy has none")):
        answer = served.post(PATH, {"changes": [{"quota": {"name": name, "limits": LIMITED}}]})
        assert answer.status == 404 and answer.json()["error"] == f"changes[0].quota.name: there is no quota {name}{rest}"


def test_too_many_changes_of_the_policy(with_quota):
    assert with_quota.post(PATH, {"changes": [{"placement": {"policy": "spread"}}] * 101}).status == 413


def test_the_cluster_is_as_before(service):
    before = service.get("/v1/inventory").json()["nodes"]
    ask(service, {"drain": ["a", "b"]}, {"addNodes": {"like": "a", "count": 3}})
    assert service.get("/v1/inventory").json()["nodes"] == before


@pytest.mark.parametrize(
    "body, status, message",
    [
        ({"changes": [{"drian": ["a"]}]}, 400, "changes[0].drian: is unknown; did you mean drain?"),
        ({"chagnes": []}, 400, "chagnes: is unknown; did you mean changes?"),
        ({"changes": [{"drain": "a"}]}, 400, "changes[0].drain: is a string, should be an array of names"),
        ({"changes": [{"drain": []}]}, 400, "changes[0].drain: is empty, should be an array of names"),
        ({"changes": [{"drain": [7]}]}, 400, "changes[0].drain[0]: is a whole number, should be the name of a node"),
        ({"changes": [{}]}, 400, "changes[0]: has 0 members, should have one: addNodes, drain, cordon, lift, removePods, quota or placement"),
        ({"drain": ["a"]}, 400, 'drain: is a change, should be in the list: {"changes": [{"drain": ...}]}'),
        ({"changes": [{"removePods": ["ml/"]}]}, 400, 'changes[0].removePods[0]: is "ml/", should be "NAMESPACE/NAME" of a pod'),
        ({"changes": [{"removePods": ["web-0"]}]}, 400, 'changes[0].removePods[0]: is "web-0", should be "NAMESPACE/NAME" of a pod'),
        ({"changes": [{"addNodes": {"like": "a", "count": 0}}]}, 400, "changes[0].addNodes.count: is 0, should be at least 1"),
        ({"changes": [{"addNodes": {"count": 1}}]}, 400, "changes[0].addNodes.like: is missing, should be the name of a node"),
        ({"changes": [{"addNodes": {"like": "a", "n": 1}}]}, 400, "changes[0].addNodes.n: is unknown, should be like or count"),
        ({"changes": [{"removePods": ["ml/web-7"]}]}, 404, "changes[0].removePods[0]: there is no pod ml/web-7; did you mean ml/web-0?"),
        ({"changes": [{"cordon": ["a"]}, {"drain": ["a", "gone"]}]}, 404, "changes[1].drain[1]: there is no node gone (GET /v1/inventory lists them)"),
        ({"changes": [{"addNodes": {"like": "gone"}}]}, 404, "changes[0].addNodes: there is no node gone (GET /v1/inventory lists them)"),
        ({"changes": [{"addNodes": {"like": "a", "count": 2**62}}]}, 413, "changes[0].addNodes.count: the request adds more than 5000 nodes"),
        ({"changes": [{"cordon": ["a"]}] * 1001}, 413, "changes: are 1001, should be at most 1000"),
        ({"changes": [{"cordon": ["a"] * 10001}]}, 413, "changes[0].cordon: the request names more than 10000 objects"),
        ({"changes": 1}, 400, "changes: is a whole number, should be an array"),
        ([], 400, 'body: is an array, should be {"changes": [...], "workloads": [...]}'),
        (b"", 400, 'body: is empty, should be {"changes": [...], "workloads": [...]}'),
        (b"drain: [a]", 400, "body: is no JSON: 1:1: found 'd', should be a value"),
        ({"workloads": ["kind: Pod\n a: b"]}, 400, None),
        ({"workloads": [1]}, 400, None),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(service, body, status, message):
    answer = service.post(PATH, body)
    assert answer.status == status, answer
    assert message is None or answer.json()["error"] == message


def test_the_table_fits(service):
    text = service.post(PATH + "?output=table", {"changes": [{"drain": ["a"]}, {"addNodes": {"like": "a", "count": 2}}], "workloads": [pod("new", 1)]}).text
    assert max(map(len, text.splitlines())) <= 100
    assert "ml/web-0" in text and "Free GPUs before and after:" in text


def test_free_gpus_without_an_open_node(service):
    text = service.post(PATH + "?output=table", {"changes": [{"cordon": ["a", "b"]}]}).text
    assert "-> 0" in text and "-> -" not in text


# Node groups.


def labelled(name, key, value, gpus=4):
    return node(name, gpus, metadata={"labels": {key: value}})


def test_node_groups(module_service):
    """The group whose nodes are large enough helps; two pods share one node, and the third finds no room on it."""
    waiting = [owned(f"waits-{i}", "Job", "waits", gpus=2) for i in range(3)] + [owned("large", "Job", "large", gpus=8)]
    nodes = [labelled(f"s{i}", "eks.amazonaws.com/nodegroup", "small", 2) for i in range(2)] + [labelled("l", "karpenter.sh/nodepool", "large", 4)]
    running = [owned(f"runs-{name}", "Job", "runs", gpus=gpus, on=name) for name, gpus in (("s0", 2), ("s1", 2), ("l", 4))]
    plain = node("plain", None, None)
    served = module_service(*nodes, plain, *running, *waiting, owned("agent-l", "DaemonSet", "agent", gpus=1, on="l"))
    answer = served.get("/v1/node-groups").json()
    assert answer["pending"] == {"pods": 4, "fit": 0} and answer["omitted"] == 0
    groups = {group["name"]: group for group in answer["groups"]}
    assert [(name, group["by"], group["nodes"], group["like"], group["wouldRun"]) for name, group in groups.items()] == [
        ("small", "eks.amazonaws.com/nodegroup", 2, "s0", 1),
        ("large", "karpenter.sh/nodepool", 1, "l", 1),
        ("64 cpu, 512Gi memory", "shape", 1, "plain", 0),
    ]
    assert groups["large"]["pods"] == [{"namespace": "ml", "name": "waits-0"}]
    text = served.get("/v1/node-groups?output=table").text
    assert max(map(len, text.splitlines())) <= 100 and "ml/waits-0" in text
    assert "One more node of 1 other group would let none of the others run.\n" in text and "64 cpu" not in text and "64 cpu" in served.get("/v1/node-groups?output=table&wide=true").text


@pytest.mark.parametrize(
    "label",
    ["eks.amazonaws.com/nodegroup", "cloud.google.com/gke-nodepool", "kubernetes.azure.com/agentpool", "karpenter.sh/nodepool"],
)
def test_each_provisioner_s_label_makes_a_group(module_service, label):
    """A node whose label has another value is in another group. A node with an empty value is in no provisioner's group."""
    nodes = [labelled("a", label, "pool-1"), labelled("b", label, "pool-1"), labelled("c", label, "pool-2"), labelled("d", label, "")]
    groups = module_service(*nodes).get("/v1/node-groups").json()["groups"]
    named = {group["name"]: (group["nodes"], group["like"]) for group in groups if group["by"] == label}
    assert named == {"pool-1": (2, "a"), "pool-2": (1, "c")}
    assert [(group["nodes"], group["like"]) for group in groups if group["by"] == "shape"] == [(1, "d")]


def test_each_of_many_groups_is_judged(module_service):
    """The question is about one node, so it costs no verdict on each of the others for each of many different pods."""
    nodes = [node(f"n-{i}", 1, metadata={"labels": {"karpenter.sh/nodepool": f"pool-{i % 20}"}}, spec={"unschedulable": True}) for i in range(600)]
    waiting = [owned(f"waits-{i}", "Job", f"waits-{i}", spec={"nodeSelector": {"karpenter.sh/nodepool": f"pool-{i % 20}"}}, gpus=1 + i // 20) for i in range(300)]
    answer = module_service(*nodes, *waiting).get("/v1/node-groups").json()
    assert [group["wouldRun"] for group in answer["groups"]] == [1] * 20


def test_what_runs_now_is_not_counted(module_service):
    served = module_service(node("a", 4), owned("waits-0", "Job", "waits", gpus=4), owned("waits-1", "Job", "waits", gpus=4))
    answer = served.get("/v1/node-groups").json()
    assert answer["pending"] == {"pods": 2, "fit": 1}
    assert answer["groups"][0]["wouldRun"] == 1 and answer["groups"][0]["pods"] == [{"namespace": "ml", "name": "waits-1"}]


def test_added_nodes_are_numbered_over_the_whole_request(service):
    """A change may name a node that another change adds. Names do not grow without bound."""
    answer = ask(service, {"addNodes": {"like": "a"}}, {"addNodes": {"like": "a"}}, {"addNodes": {"like": "a-new-1"}})
    assert [change["nodes"] for change in answer["changes"]] == [["a-new-1"], ["a-new-2"], ["a-new-1-new-3"]]
    name, changes = "a", []
    for n in range(60):
        changes.append({"addNodes": {"like": name}})
        name += f"-new-{n + 1}"
    refused = service.post(PATH, {"changes": changes})
    assert refused.status == 400 and "too long" in refused.json()["error"]


def test_the_oldest_of_the_pending_pods_comes_first(module_service):
    waiting = [owned(f"{name}-0", "Job", name, gpus=4, metadata={"creationTimestamp": f"2026-11-20T{hour}:00:00Z"}) for name, hour in (("a", 11), ("b", 10))]
    answer = ask(module_service(node("like", 4), pod("runs", 4, "like"), *waiting), {"addNodes": {"like": "like", "count": 1}})
    assert [each["name"] for each in answer["pending"]["nowRun"]] == ["b-0"]


def test_a_pod_that_is_removed_after_a_drain_is_not_displaced(service):
    answer = ask(service, {"drain": ["a"]}, {"removePods": ["ml/web-0"]})
    assert places(answer["displaced"]) == {"web-1": None} and answer["displacedCounts"]["pods"] == 1


def test_a_drain_may_have_removed_the_pod_already(module_service):
    """The end is the same as in the other order. A name that is given twice is still a mistake."""
    leaving = pod("leaves", 1, on="b", metadata={"deletionTimestamp": "2026-11-21T10:00:00Z"})
    served = module_service(*CLUSTER, leaving)
    drain, remove = {"drain": ["b"]}, {"removePods": ["ml/alone", "ml/leaves"]}
    after, first = ask(served, drain, remove), ask(served, remove, drain)
    assert after["displaced"] == first["displaced"] and after["pending"] == first["pending"]
    assert places(after["displaced"]).keys() == {"train-0"} and after["displacedCounts"]["pods"] == 1
    assert after["changes"][1:] == [{"change": "removePods", "pod": name, "node": None} for name in remove["removePods"]]
    twice = served.post(PATH, {"changes": [drain, remove, remove]})
    assert twice.status == 404 and twice.json()["error"].startswith("changes[2].removePods[0]: there is no pod ml/alone")
    near = served.post(PATH, {"changes": [drain, {"removePods": ["ml/alonee"]}]})
    assert near.status == 404 and near.json()["error"] == "changes[1].removePods[0]: there is no pod ml/alonee; did you mean ml/alone?"


GANGS = "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\ngangs: {mode: plan}\ntopology: {levels: [rack]}\n"


def member(i, size, gpus=2, group="ring", on=None, **annotations):
    about = {"gpu-extender.io/gang": group, "gpu-extender.io/gang-size": str(size), **{f"gpu-extender.io/{key}": value for key, value in annotations.items()}}
    return owned(f"{group}-{i}", "Job", group, gpus=gpus, on=on, metadata={"annotations": about})


@pytest.fixture
def of_gangs(start_over, write):
    """a and b are a rack, with 4 GPUs each; c is another."""
    racks = [node(name, 4, metadata={"labels": {"rack": rack}}) for name, rack in (("a", "1"), ("b", "1"), ("c", "2"))]
    return lambda *pods: start_over(*racks, *pods, options=["--config", write("gangs.yaml", GANGS)])


def reasons(pods):
    return {each["name"]: each["reason"] for each in pods}


def test_a_group_finds_places_whole_or_none(of_gangs):
    """It holds nothing while it waits: the later pod gets the room that three of its four pods would have taken."""
    service = of_gangs(*(member(i, 4, 4) for i in range(4)), owned("single-0", "Job", "single", gpus=4))
    answer = ask(service)
    assert answer["pending"]["before"]["fit"] == answer["pending"]["after"]["fit"] == 1
    answer = ask(service, {"addNodes": {"like": "c", "count": 1}})
    assert {name: bool(place) for name, place in places(answer["pending"]["nowRun"]).items()} == dict.fromkeys([f"ring-{i}" for i in range(4)], True)
    assert reasons(answer["pending"]["noLonger"]).keys() == {"single-0"}
    answer = ask(service, {"cordon": ["c"]})
    assert answer["pending"]["after"]["fit"] == 1


def test_pods_of_a_manifest_count_with_those_of_their_group_in_the_cluster(of_gangs):
    service = of_gangs(member(0, 4, 1))
    for n, told in ((2, ("waits", "Its group ring needs 4 pods; the manifest has 2 and the cluster 1.")), (3, ("fits", "It is of group ring. 9 more would fit."))):
        answer = service.post("/v1/dry-run", {"kind": "List", "apiVersion": "v1", "items": [member(1 + i, 4, 1) for i in range(n)]}).json()
        verdict = answer["jobs"][-1]["verdict"]
        assert (verdict["result"], verdict["text"]) == told
        helps = [(remedy["text"], remedy["fits"]) for remedy in answer["jobs"][-1]["remedies"]]
        assert helps == ([("add 1 pod to the group", 3)] if n == 2 else []), "the pod in the cluster has the old size"


def test_a_group_that_is_drained_says_what_it_lacks(of_gangs):
    service = of_gangs(member(0, 2, 4, on="a"), member(1, 2, 4, on="b"), owned("other-0", "Job", "other", gpus=4, on="c"))
    answer = ask(service, {"drain": ["a"]})
    assert reasons(answer["displaced"]) == {"ring-0": "its group ring: 1 of 2 bound; 1 of 2 would fit now; the second lacks 4 A100-SXM4-80GB"}
    answer = ask(service, {"drain": ["a", "b"]}, {"addNodes": {"like": "c", "count": 2}})
    assert sorted(places(answer["displaced"]).values()) == ["c-new-1", "c-new-2"]


def test_a_group_goes_to_one_domain(of_gangs):
    service = of_gangs(*(member(i, 3, 4, domain="require rack") for i in range(3)))
    answer = ask(service, {"addNodes": {"like": "c", "count": 1}})
    assert answer["pending"]["after"]["fit"] == 0
    answer = ask(service, {"addNodes": {"like": "c", "count": 2}})
    assert sorted(places(answer["pending"]["nowRun"]).values()) == ["c", "c-new-1", "c-new-2"]


def test_a_group_that_is_not_complete_waits(of_gangs):
    service = of_gangs(*(member(i, 4, 1) for i in range(3)))
    assert ask(service, {"addNodes": {"like": "c", "count": 2}})["pending"]["after"]["fit"] == 0
    groups = service.get("/v1/node-groups").json()["groups"]
    assert {group["wouldRun"] for group in groups} == {0}


def test_one_more_node_lets_a_whole_group_run(of_gangs):
    service = of_gangs(*(member(i, 4, 4) for i in range(4)), *(member(i, 6, 4, "large") for i in range(6)))
    groups = service.get("/v1/node-groups").json()["groups"]
    assert {group["wouldRun"] for group in groups} == {4}
