"""The cluster file: output of kubectl and the API server is read. A broken file is rejected; an invalid object is left out."""

import json

import pytest
import yaml
from objects import GPU, container, filter_args, kindless, list_text, node, object_list, pod
from service import LITTLE_QUARANTINE, inventory_of

OBJECTS = [
    node("a"),
    node("b", 4, "Tesla-T4", metadata={"annotations": {"text": "tab\t, \u00e9, \U0001f600, <&>, \u2028"}}),
    pod("one", 2, "a"),
    pod("two", 1, "b", status={"phase": "Succeeded"}),
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml"}},
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000},
]
NODES, PODS, OTHERS = OBJECTS[:2], OBJECTS[2:4], OBJECTS[4:]


def yaml_of(*documents):
    return yaml.safe_dump_all(documents, sort_keys=False, allow_unicode=True)


def raw_list(kind, items, **order):
    """As GET /api/v1/nodes answers: the items have no kind. order={"last": True}: the list's own kind comes after them."""
    made = {"kind": kind, "apiVersion": "v1", "metadata": {"resourceVersion": "7"}, "items": [kindless(item) for item in items]}
    return dict(reversed(made.items())) if order else made


RAW = [raw_list("NodeList", NODES), raw_list("PodList", PODS), *OTHERS]
BACKWARDS = [raw_list("NodeList", NODES, last=True), raw_list("PodList", PODS, last=True), *OTHERS]
SAME = {
    "List as JSON": list_text(*OBJECTS),
    "List as indented JSON": json.dumps(object_list(*OBJECTS), indent=4),
    "List as JSON, its kind last": json.dumps(dict(reversed(object_list(*OBJECTS).items()))),
    "List as YAML": yaml_of(object_list(*OBJECTS)),
    "List as YAML, lines ended as on Windows": yaml_of(object_list(*OBJECTS)).replace("\n", "\r\n"),
    "List as YAML, JSON inside": "---\n" + json.dumps(object_list(*OBJECTS), ensure_ascii=False),
    "List with a byte order mark": "\ufeff" + list_text(*OBJECTS),
    "YAML with a byte order mark": "\ufeff" + yaml_of(object_list(*OBJECTS)),
    "single objects, several documents": yaml_of(*OBJECTS),
    "single objects, one after another": "\n".join(json.dumps(item) for item in OBJECTS),
    "pods before their nodes": list_text(*OBJECTS[::-1]),
    "NodeList and PodList as YAML": yaml_of(*RAW),
    "NodeList and PodList as JSON": "\n".join(json.dumps(item) for item in RAW),
    "NodeList and PodList as YAML, kinds last": yaml_of(*BACKWARDS),
    "NodeList and PodList as JSON, kinds last": "\n".join(json.dumps(item) for item in BACKWARDS),
    "lists and single objects": yaml_of(object_list(*NODES), object_list(), *PODS, object_list(*OTHERS)),
    "empty documents between": "---\n---\n" + "\n---\n\n---\n".join(yaml_of(item) for item in OBJECTS) + "---\n",
    "a list without items": json.dumps(object_list(*OBJECTS)) + '{"kind":"PodList","apiVersion":"v1","items":null}',
}


def told(service):
    """The inventory without its source and time."""
    inventory = inventory_of(service)
    dry_run = service.post("/v1/dry-run", pod("probe", spec={"priorityClassName": "high"})).json()
    known = {key: inventory[key] for key in ("nodes", "models", "problems", "problemCount")}
    return known, {key: dry_run[key] for key in ("summary", "workloads", "skipped")}


def problems_of(service):
    return {(problem["kind"], problem["name"]): problem["what"] for problem in inventory_of(service)["problems"]}


def names_of(service):
    return sorted(item["name"] for item in inventory_of(service)["nodes"])


@pytest.fixture(scope="module")
def plain(module_service):
    service = module_service(*OBJECTS)
    assert names_of(service) == ["a", "b"]
    return told(service)


@pytest.mark.parametrize("how", SAME)
def test_all_formats_of_kubectl_and_api_server_are_read(how, plain, start_service, write):
    service = start_service("--cluster-file", write("cluster", SAME[how]))
    assert told(service) == plain


def test_other_kinds_are_counted_and_skipped(start_over):
    others = [
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "Yg=="}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": {"template": {"spec": {}}}},
        {"apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetrics", "metadata": {"name": "train-0"}},
        {"apiVersion": "example.com/v1", "kind": "Node", "metadata": {"name": "a"}},
        {"apiVersion": "example.com/v1", "kind": "Odd", "metadata": {"name": 7}},
    ]
    service = start_over(node("a"), *others)
    assert service.log.wait_for({"msg": "file read"})["skipped"] == "5"
    assert names_of(service) == ["a"] and inventory_of(service)["problemCount"] == 0


# ---- broken files ----

HEAD = '{"apiVersion": "v1", "kind": "List", "items": [\n'
NODE = json.dumps(node("a"))
BROKEN = {
    "cut off": (HEAD + NODE, "2:"),
    "no comma": (HEAD + NODE + "\n" + NODE + "]}", "3:1:"),
    "no string ends": (HEAD + '{"kind": "Nod', "2:"),
    "not UTF-8": ((HEAD + '{"kind": "').encode() + b"\xff\xfe", "2:11:"),
    "text after it": (HEAD + "]}\nx", "3:1:"),
    "no JSON number": (HEAD + '{"kind": "Node", "x": 01}]}', "2:24:"),
    "items twice": ('{"kind": "List", "items": [],\n"items": []}', "2:1:"),
    "deep": (HEAD + "[" * 5000, "2:"),
    "an array": (f"[{NODE}]", "1:1:"),
    "YAML: a tab": ("apiVersion: v1\nkind: List\nitems:\n\t- kind: Node\n", "4:1:"),
    "YAML: a key twice": ("apiVersion: v1\nkind: Node\nkind: Pod\n", "3:1:"),
    "YAML: no such anchor": ("kind: List\nitems:\n- *gone\n", "3:3:"),
    "YAML: many lists in lists": ("kind: List\nitems: " + "[" * 500, "2:"),
    "YAML: a brace is left open": ("kind: List\nitems: [\n{kind: Node\n", "4:1:"),
    "YAML: text": ("apiVersion v1\n", "1:1:"),
    "YAML: no kind": ("---\nkind: Node\nmetadata: {name: a}\n---\nmetadata: {name: b}\n", "5:1:"),
    "items of no kind": ('{"apiVersion": "v1", "kind": "List", "items": [{"metadata": {"name": "a"}}]}', "1:1:"),
    "empty": ("", ""),
    "blank": (" \n\n", ""),
    "a comment": ("# nothing\n", ""),
}
LAUGHS = "".join(f"- &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12))
BROKEN["YAML: a billion laughs"] = ("kind: List\nitems:\n- &a0 [lol]\n" + LAUGHS, "")


@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("check", [["--check"], []], ids=["check", "start"])
def test_a_broken_file_is_refused_at_its_first_fault_and_nothing_starts(how, check, run_binary, write):
    text, place = BROKEN[how]
    path = write("cluster", text)
    done = run_binary("--cluster-file", path, "--listen", "127.0.0.1:0", *check)
    assert (done.returncode, done.stdout) == (2, ""), done
    assert "listening" not in done.stderr
    line = done.stderr.splitlines()[-1]
    assert line.startswith(f"gpu-extender: {path}: {place}"), line
    assert len(line) > len(f"gpu-extender: {path}: {place}") + 5, "and says what is wrong"


@pytest.mark.parametrize("kind", ["missing", "folder"])
def test_unreadable_file_is_an_error(kind, run_binary, tmp_path):
    path = tmp_path if kind == "folder" else tmp_path / "gone.yaml"
    done = run_binary("--cluster-file", path)
    assert done.returncode == 2 and done.stderr.startswith(f"gpu-extender: {path}: ")


# ---- bad objects in good files ----


def with_amounts(name, amount):
    amounts = {"cpu": "8", "pods": "110", GPU: amount}
    return node(name, status={"capacity": amounts, "allocatable": amounts})


BAD = {
    "a quantity of 1.5 GPUs": (with_amounts("bad", "1.5"), "Node", "bad", ["status.", GPU, "1.5", "whole"]),
    "GPUs less than none": (with_amounts("bad", "-1"), "Node", "bad", [GPU, "-1"]),
    "GPUs in words": (with_amounts("bad", "many"), "Node", "bad", [GPU, "many"]),
    "a JSON real as quantity": (with_amounts("bad", 1.5), "Node", "bad", [GPU, "1.5", "whole"]),
    "more than can be counted": (with_amounts("bad", "1e19"), "Node", "bad", [GPU, "1e19"]),
    "memory in words": (node("bad", status={"allocatable": {"memory": "2 GB"}}), "Node", "bad", ["memory", "2 GB"]),
    "labels that are none": (node("bad", metadata={"labels": ["a"]}), "Node", "bad", ["metadata.labels", "array"]),
    "a taint of no effect": (node("bad", spec={"taints": [{"key": "a", "effect": "No"}]}), "Node", "bad", ["spec.taints[0]", "No"]),
    "status is text": ({**node("bad"), "status": "fine"}, "Node", "bad", ["status", "fine"]),
    "a name that is none": (node("x" * 300, metadata={"uid": "u"}), "Node", "(unnamed)", ["metadata.name", "300"]),
    "no name": (node("bad", metadata={"name": None}), "Node", "(unnamed)", ["name"]),
    "containers that are none": (pod("bad", spec={"containers": {"a": 1}}), "Pod", "ml/bad", ["spec.containers"]),
    "a name of another type": (pod("bad", metadata={"name": 7}), "Pod", "(unnamed)", ["metadata.name", "7"]),
    "a class without a number": (
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "bad"}, "value": "1000"},
        "PriorityClass",
        "bad",
        ["value", "1000"],
    ),
}


@pytest.mark.parametrize("how", BAD)
def test_a_bad_object_is_left_out_and_the_others_are_served(how, start_over):
    item, kind, name, words = BAD[how]
    service = start_over(node("first"), item, node("last"), pod("held", 3, "last"))
    found = problems_of(service)
    assert list(found) == [(kind, name)]
    assert [word for word in words if word not in found[kind, name]] == [], found
    inventory = inventory_of(service)
    assert inventory["problemCount"] == 1
    assert {item["name"]: item["resources"][GPU]["free"] for item in inventory["nodes"]} == {"first": 8, "last": 5}
    lines = [line for line in service.log.fields() if line.get("msg") == "object left out"]
    assert [(line["level"], line["kind"], line["name"], line["why"]) for line in lines] == [("warn", kind, name, found[kind, name])]
    assert service.post("/scheduler/filter", filter_args(pod(), ["first", "last"])).json()["NodeNames"] == ["first", "last"]


@pytest.mark.parametrize("how", BAD)
def test_check_exits_with_2_if_an_object_is_left_out(how, run_binary, write):
    path = write("cluster.json", list_text(node("first"), BAD[how][0]))
    done = run_binary("--cluster-file", path, "--check")
    assert done.returncode == 2
    assert "object left out" in done.stderr and done.stderr.splitlines()[-1].startswith(f"gpu-extender: {path}: 1 ")


def test_items_that_are_no_objects_are_left_out(start_service, write):
    text = HEAD + f'7, null, "x", [], {{}}, {NODE}]}}'
    service = start_service("--cluster-file", write("cluster.json", text.replace("{},", '{"kind": 7},')))
    assert names_of(service) == ["a"] and inventory_of(service)["problemCount"] == 5


def test_many_problems_are_counted_and_the_first_are_listed(start_over):
    bad = [with_amounts(f"bad-{i:04}", "1.5") for i in range(1500)]
    inventory = inventory_of(start_over(node("a"), *bad))
    assert inventory["problemCount"] == 1500
    assert [problem["name"] for problem in inventory["problems"]] == [f"bad-{i:04}" for i in range(1000)]


def test_an_invalid_pod_still_counts(start_over):
    """If it did not, a tenant could hide usage by a request unequal to its limit or by unreadable annotations."""
    broken = {"annotations": {"gpu-extender.io/models": ",,", "scheduler.alpha.kubernetes.io/affinity": "{"}}
    unequal = container(resources={"requests": {GPU: "3"}, "limits": {GPU: "2"}})
    service = start_over(node("a"), pod("one", 2, "a", metadata=broken), pod("two", on="a", spec={"containers": [unequal]}))
    inventory = inventory_of(service)
    assert inventory["problemCount"] == 0
    assert inventory["nodes"][0]["resources"][GPU]["used"] == 5


@pytest.mark.parametrize("form", [list_text, lambda *items: yaml_of(object_list(*items))], ids=["JSON", "YAML"])
def test_a_nul_character_is_replaced(form, start_service, write):
    """The API server accepts NUL in an annotation. A tenant must not make the cluster unreadable with it, nor hide a pod's usage."""
    annotations = {"any": "a\0b", "gpu-extender.io/models": "A100\0", "scheduler.alpha.kubernetes.io/affinity": "{\0}"}
    text = form(node("a"), pod("one", 2, "a", metadata={"annotations": annotations}))
    inventory = inventory_of(start_service("--cluster-file", write("cluster", text)))
    assert inventory["problemCount"] == 0
    assert inventory["nodes"][0]["resources"][GPU]["used"] == 2


def test_names_of_any_length_make_lines_of_the_log(start_over):
    """One line per event, whatever the object's name."""
    service = start_over(node("a"), pod('"w" w ' * 8000), pod("w" * 100000), pod("after", on="a", spec={"containers": 7}))
    lines = service.log.fields()
    assert all({"ts", "level", "mod", "msg"} <= set(line) for line in lines), service.log.text()
    left_out = [line["name"] for line in lines if line["msg"] == "object left out"]
    assert len(left_out) == 3 and left_out[-1] == "ml/after"
    assert len(service.get("/v1/inventory").body) < 5000


# ---- twice the same ----

TWICE = {
    "nodes of one name": [node("x"), node("x", 4)],
    "nodes of one name, the second one bad": [node("x"), with_amounts("x", "1.5")],
    "pods of one name": [pod("x", 2, "a"), pod("x", 2, "a", metadata={"uid": "other"})],
    "pods of one UID": [pod("x", 2, "a", metadata={"uid": "u"}), pod("y", 2, "a", metadata={"uid": "u"})],
    "pods without UID": [pod("x", 2, "a", metadata={"uid": None}), pod("x", 2, "a", metadata={"uid": None})],
    "pods without UID and namespace": [pod("x", 2, "a", metadata={"uid": None, "namespace": None})] * 2,
    "pods in the default namespace": [
        pod("x", 2, "a", metadata={"uid": "u", "namespace": None}),
        pod("x", 2, "a", metadata={"uid": "v", "namespace": "default"}),
    ],
    "three of one name": [node("x"), node("x", 4), node("x")],
    "the second one's UID again": [
        pod("x", 2, "a", metadata={"uid": "u"}),
        pod("x", 2, "a", metadata={"uid": "v"}),
        pod("y", 2, "a", metadata={"uid": "v"}),
    ],
}


@pytest.mark.parametrize("how", TWICE)
def test_all_copies_of_duplicates_are_left_out(how, start_over):
    service = start_over(node("a"), *TWICE[how], pod("kept", 1, "a"))
    inventory = inventory_of(service)
    assert [item["name"] for item in inventory["nodes"]] == ["a"]
    assert [holder["pod"] for holder in inventory["nodes"][0]["holders"]] == ["kept"]
    assert inventory["nodes"][0]["resources"][GPU]["used"] == 1
    assert inventory["problems"] and all("more than once" in problem["what"] for problem in inventory["problems"])


def test_names_are_the_same_only_within_a_namespace_and_a_kind(start_over):
    same = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}}
    pods = [pod("x", 1, "x"), pod("x", 1, "x", metadata={"namespace": "other", "uid": "other"})]
    service = start_over(node("x"), *pods, same)
    assert inventory_of(service)["problemCount"] == 0
    assert inventory_of(service)["nodes"][0]["resources"][GPU]["used"] == 2


# ---- read again on SIGHUP ----


def reload(service, path, text, wanted):
    path.write_text(text, encoding="utf-8")
    n_before = len(service.log.lines)
    service.signal(1)
    return service.log.wait_for({"msg": wanted}, after=n_before)


RELOADED, REFUSED = "reloaded", "reload failed: keeping the old cluster"


def test_a_hangup_reads_the_file_again_all_or_nothing(start_service, write):
    path = write("cluster.json", list_text(node("old"), pod("held", 3, "old")))
    service = start_service("--cluster-file", path)
    before = inventory_of(service)
    half = list_text(node("new"), node("old", 2), pod("more", 1, "new"))[:-20]
    line = reload(service, path, half, REFUSED)
    assert line["level"] == "error" and line["err"].startswith(f"{path}: 1:")
    assert inventory_of(service) == before
    assert service.get("/readyz").status == 200
    reload(service, path, list_text(node("new"), pod("more", 1, "new")), RELOADED)
    assert names_of(service) == ["new"]
    assert inventory_of(service)["nodes"][0]["resources"][GPU]["used"] == 1
    verdicts = service.post("/scheduler/filter", filter_args(pod(), ["old", "new"])).json()
    assert verdicts["NodeNames"] == ["new"] and list(verdicts["FailedAndUnresolvableNodes"]) == ["old"]


@pytest.mark.parametrize("how", ["empty", "blank", "YAML: text", "items of no kind", "YAML: a billion laughs"])
def test_a_hangup_with_a_broken_file_changes_nothing(how, start_service, write):
    path = write("cluster.json", list_text(node("a"), pod("held", 3, "a")))
    service = start_service("--cluster-file", path)
    before = inventory_of(service)
    reload(service, path, BROKEN[how][0], REFUSED)
    assert inventory_of(service) == before


def test_a_hangup_while_the_file_is_gone_changes_nothing(start_service, write):
    path = write("cluster.json", list_text(node("a")))
    service = start_service("--cluster-file", path)
    path.unlink()
    service.signal(1)
    service.log.wait_for({"msg": REFUSED})
    assert names_of(service) == ["a"]


def test_a_hangup_with_a_bad_object_reads_the_others(start_service, write):
    path = write("cluster.json", list_text(with_amounts("bad", "1.5"), node("a")))
    service = start_service("--cluster-file", path)
    reload(service, path, list_text(node("bad"), with_amounts("a", "half")), RELOADED)
    assert names_of(service) == ["bad"]
    assert list(problems_of(service)) == [("Node", "a")]


def test_many_hangups(start_service, write):
    path = write("cluster.json", list_text(node("a")))
    service = start_service("--cluster-file", path)
    for _ in range(50):
        service.signal(1)
    reload(service, path, list_text(node("b")), RELOADED)
    service.log.wait_for({"msg": RELOADED})
    assert names_of(service) in (["a"], ["b"])
    assert service.get("/livez").status == 200


# ---- limits ----


def limited(write, **limits):
    lines = "".join(f"  {key}: {value}\n" for key, value in limits.items())
    return write("policy.yaml", f"apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\nlimits:\n{lines}")


LARGE = "x" * 3000
LIMITS = {
    "nodes": ({"nodes": 2}, [node("a"), node("b")], [node("c")], "limits.nodes"),
    "pods": ({"pods": 2}, [node("a"), pod("one"), pod("two")], [pod("three")], "limits.pods"),
    "an object": ({"objectBytes": 2048}, [node("a")], [node("b", metadata={"annotations": {"a": LARGE}})], "2048"),
    "the file": ({"clusterFileBytes": 2048}, [node("a")], [node(name) for name in "bcdefgh"], "limits.clusterFileBytes"),
}


@pytest.mark.parametrize("form", ["JSON", "YAML"])
@pytest.mark.parametrize("what", LIMITS)
def test_input_over_a_limit_is_rejected_with_its_name(what, form, run_binary, write):
    limits, fits, more, word = LIMITS[what]
    options = ["--config", limited(write, **limits), "--check", "--cluster-file"]
    make = list_text if form == "JSON" else lambda *items: yaml_of(object_list(*items))
    assert run_binary(*options, write("fits", make(*fits))).returncode == 0
    path = write("large", make(*fits, *more))
    done = run_binary(*options, path)
    if form == "YAML" and what == "an object":
        assert done.returncode == 0, "an object of YAML is bounded by its keys and values, not its bytes"
        return
    assert done.returncode == 2
    assert str(path) in done.stderr and word in done.stderr


DENSE = pod("dense", 3, "a", spec={"affinity": {"terms": [{}] * 1200}})
AROUND = [node("a", 8), DENSE, pod("plain", 2, "a")]
FORMS = {
    "List as JSON": list_text(*AROUND),
    "List as YAML": yaml_of(object_list(*AROUND)),
    "JSON objects": "\n".join(map(json.dumps, AROUND)),
    "YAML documents": yaml_of(*AROUND),
}


@pytest.mark.parametrize("form", FORMS)
def test_only_the_object_with_too_many_values_is_a_problem(form, start_service, write):
    """JSON is read twice: what the pod uses counts. Of YAML only what stands before the limit is read, which names it."""
    service = start_service("--config", limited(write, objectValues=1000), "--cluster-file", write("cluster", FORMS[form]))
    said = problems_of(service)
    assert list(said) == [("Pod", "ml/dense")] and said["Pod", "ml/dense"].endswith("(limits.objectValues)"), said
    used = [item["resources"][GPU]["used"] for item in inventory_of(service)["nodes"]]
    assert used == ([5] if "JSON" in form else [2]), inventory_of(service)["nodes"]


@pytest.mark.parametrize("form", ["JSON", "YAML"])
def test_a_list_with_too_many_values_of_its_own_is_rejected(form, run_binary, write):
    """Its items may not have been read."""
    made = {"apiVersion": "v1", "kind": "List", "metadata": {"x": [{}] * 1200}, "items": AROUND[::2]}
    path = write("cluster", json.dumps(made) if form == "JSON" else yaml_of(made))
    done = run_binary("--config", limited(write, objectValues=1000), "--check", "--cluster-file", path)
    assert done.returncode == 2 and "1:1: the object that begins here has" in done.stderr and "(limits.objectValues)" in done.stderr, done.stderr


def test_unread_members_do_not_count_against_the_limit(run_binary, write):
    fields = [{"manager": "kubelet", "fieldsV1": {f"f:{i}": {"text": LARGE} for i in range(50)}}]
    images = [{"names": [LARGE], "sizeBytes": 2**40}] * 50
    item = node("a", metadata={"managedFields": fields}, status={"images": images})
    done = run_binary("--config", limited(write, objectBytes=2048), "--check", "--cluster-file", write("c.json", list_text(item)))
    assert done.returncode == 0, done.stderr


@pytest.mark.long
@pytest.mark.parametrize("kinds", ["each its own", "the list's"])
def test_memory_grows_with_kept_data_not_with_the_file(kinds, start_service, write):
    """32 MB of unread annotations of pods, also in a list whose items have no kind."""

    def highest(length):
        pods = [pod(f"p-{i}", metadata={"annotations": {"notes": "x" * length}}) for i in range(1000)]
        made = object_list(*pods) if kinds == "each its own" else raw_list("PodList", pods)
        service = start_service("--cluster-file", write("c.json", json.dumps(made)), env=LITTLE_QUARANTINE)
        assert service.log.wait_for({"msg": "file read"})["pods"] == "1000"
        return service.memory("VmHWM")

    assert highest(32000) - highest(6) < 12e6
