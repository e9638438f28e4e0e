"""GET /metrics: Prometheus text. Its gauges equal the inventory, and its counters count the requests."""

import os
import re
import subprocess

import pytest
from objects import GPU, filter_args, node, pod, preempt_args

SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"')
ALWAYS = ("used", "free")
CALLS = "gpu_extender_verb_calls_total"
ODD = 'o"d\\\n'


@pytest.fixture(scope="module")
def service(module_service):
    odd = node(ODD, 2, None, spec={"unschedulable": True})
    silent = node("silent", status={"conditions": [{"type": "Ready", "status": "Unknown"}]})
    broken = node("broken", status={"allocatable": {GPU: "5"}})
    both = {"nvidia.com/gpu": "1", "nvidia.com/mig-1g.5gb": "7", "cpu": "8", "pods": "110"}
    items = [node("a"), node("b", 4, "Tesla-T4"), odd, silent, broken, node("mig", status={"capacity": both, "allocatable": both}), node("cpu", None, None)]
    return module_service(*items, pod("one", 3, "a"), pod("over", 6, "b"), pod("bad", "x", spec={"containers": 1}))


def samples(service):
    """(name, labels sorted) -> value. Every line is a comment or a sample."""
    answer = service.get("/metrics")
    assert answer.status == 200 and answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    found = {}
    for line in answer.text.splitlines():
        if line.startswith(("# HELP ", "# TYPE ")):
            continue
        name, labels, value = SAMPLE.fullmatch(line).groups()
        key = name, tuple(sorted(LABEL.findall(labels or "")))
        assert key not in found, f"twice: {line}"
        found[key] = float(value)
    return found


def escaped(text):
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def check_with_promtool(promtool, service):
    text = service.get("/metrics").body
    done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_promtool_reports_nothing(promtool, service):
    service.post("/scheduler/filter", filter_args(pod(), ["a"]))
    check_with_promtool(promtool, service)


def test_live_metrics_have_no_duplicates(alone):
    found = samples(alone)
    assert found["gpu_extender_data_stale", (("kind", "pods"),)] == 0
    assert ("gpu_extender_binds_total", (("outcome", "bound"),)) in found
    assert found["gpu_extender_filter_ledger_behind_total", ()] == 0
    assert found["gpu_extender_filter_room_kept_total", ()] == 0
    assert found["gpu_extender_filter_repeats_total", ()] == 0
    assert found["gpu_extender_filter_waits_total", (("result", "in_vain"),)] == 0
    assert found["gpu_extender_preempt_candidates_total", (("verdict", "vetoed"),)] == 0
    assert found["gpu_extender_preempt_dropped_total", ()] == 0


def test_promtool_reports_nothing_about_live_metrics(promtool, alone):
    check_with_promtool(promtool, alone)


def states_of(item, amounts):
    """The expected samples of one node and resource, by /v1/inventory."""
    closed = max(amounts["free"], 0) if item["unschedulable"] or not item["ready"] else 0
    states = {"used": amounts["used"], "reserved": amounts["reserved"], "free": amounts["free"] - closed, "closed": closed}
    return {**states, "unallocatable": amounts["capacity"] - amounts["allocatable"]}


def gpus(found, name, label):
    """{(label's value, resource): {state: value}} of a metric."""
    read = {}
    for (metric, labels), value in found.items():
        if metric == name:
            named = dict(labels)
            read.setdefault((named[label], named["resource"]), {})[named["state"]] = value
    return read


def test_gauges_are_the_inventory(service):
    found, inventory = samples(service), service.get("/v1/inventory").json()
    gpu_resources = {total["resource"] for total in inventory["models"]}
    wanted = {
        (escaped(item["name"]), resource): {state: value for state, value in states_of(item, amounts).items() if value or state in ALWAYS}
        for item in inventory["nodes"]
        for resource, amounts in item["resources"].items()
        if resource in gpu_resources
    }
    assert gpus(found, "gpu_extender_node_gpus", "node") == wanted
    assert len(wanted) == 7, "a, b, the odd one, the silent one, the broken one, and two of mig"
    assert wanted["b", GPU] == {"used": 6, "free": -2} and wanted[escaped(ODD), GPU] == {"used": 0, "free": 0, "closed": 2}
    assert wanted["silent", GPU] == {"used": 0, "free": 0, "closed": 8} and wanted["broken", GPU] == {"used": 0, "free": 5, "unallocatable": 3}
    counts = {"nodes": 7, "pods": 2, "inventory_problems": 1}
    assert {name: found[f"gpu_extender_{name}", ()] for name in counts} == counts


def test_the_gauges_of_models_are_sums_of_those_of_nodes(service):
    found = samples(service)
    """But an over-full node takes no free GPU from others."""
    models, sums = {}, {}
    for (name, labels), value in found.items():
        key = tuple(pair for pair in labels if pair[0] != "node")
        if name == "gpu_extender_node_gpus":
            sums[key] = sums.get(key, 0) + (max(0, value) if ("state", "free") in key else value)
        elif name == "gpu_extender_gpus":
            models[key] = value
    assert {key: value for key, value in models.items() if value or key in sums} == sums and len(models) == 4 * 5
    assert sum(models.values()) == 8 + 4 + 2 + 8 + 8 + 1 + 7 + 2, "all that nodes have, and two that pods use beyond it"


def calls(service, verb):
    return {dict(labels)["result"]: value for (name, labels), value in samples(service).items() if name == CALLS and ("verb", verb) in labels}


@pytest.mark.parametrize("verb", ["filter", "prioritize", "preempt", "bind"])
def test_calls_are_counted_by_outcome(service, verb):
    fits, full, victims = filter_args(pod(), ["a"]), filter_args(pod(gpus=9), ["a"]), {"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": "x"}]}}}
    binding = {"PodName": "p", "PodNamespace": "ml", "PodUID": "u", "Node": "a"}
    asked = {
        "filter": {"ok": fits, "none": full, "malformed": "{"},
        "prioritize": {"ok": fits, "none": filter_args(pod(gpus="x"), ["a"]), "malformed": "{"},
        "preempt": {"ok": {"Pod": pod(), **victims}, "none": {"Pod": pod(gpus=9), **victims}, "malformed": "{"},
        "bind": {"none": binding, "malformed": "{"},
    }
    for result, body in asked[verb].items():
        before = calls(service, verb)
        service.post(f"/scheduler/{verb}", body)
        assert calls(service, verb) == {**before, result: before[result] + 1}, result


def test_calls_over_unusable_data_are_counted(alone):
    binding = {"PodName": "p", "PodNamespace": "ml", "PodUID": "u", "Node": "a"}
    for verb, body in (("filter", filter_args(pod(), ["a"])), ("prioritize", filter_args(pod(), ["a"])), ("preempt", preempt_args(pod(), {"a": ["u"]})), ("bind", binding)):
        alone.post(f"/scheduler/{verb}", body)
        assert calls(alone, verb) == {"ok": 0, "none": 0, "retry": 0, "unusable": 1, "malformed": 0}
    assert samples(alone)["gpu_extender_ready", ()] == 0


def test_a_bound_call_is_counted(api, follower):
    api.store.put(waiting := pod("train-0", 2))
    follower.wait("the pod is known", lambda: "pod-train-0" in follower.ledger()[1])
    assert follower.bind(waiting, "b") is None
    assert calls(follower, "bind")["ok"] == 1 and samples(follower)["gpu_extender_ready", ()] == 1


def test_pods_rejected_by_a_kubelet_are_counted(api, follower):
    """The kubelet reports Failed without any container status. Pods that it had accepted do not count."""
    refused, crashed = pod("refused", status={"phase": "Pending"}), pod("crashed", status={"phase": "Pending", "containerStatuses": [{"name": "main"}]})
    for item in (refused, crashed):
        item["spec"]["nodeName"] = "b"
    api.store.put(refused, crashed)
    follower.settle()
    for name in ("crashed", "refused"):
        api.store.change("pods", name, "ml", status={"phase": "Failed", "reason": "UnexpectedAdmissionError"})
    follower.settle()
    assert samples(follower)["gpu_extender_node_pods_refused_total", (("cause", "unexpected_admission"), ("node", "b"))] == 1


def test_the_process_is_this_one(service):
    found = samples(service)
    assert abs(found["process_resident_memory_bytes", ()] - service.memory("VmRSS")) < 64 * 1024 * 1024
    assert 3 < found["process_open_fds", ()] <= found["process_max_fds", ()]
    assert abs(found["process_start_time_seconds", ()] - os.stat(f"/proc/{service.process.pid}").st_mtime) < 5


def test_requests_are_counted_by_route_and_status(service):
    def count(route, code):
        return samples(service).get(("gpu_extender_http_requests_total", (("code", code), ("route", route))), 0)

    before = count("filter", "200"), count("prioritize", "400"), count("dry_run", "400"), count("bind", "405"), count("other", "404")
    for _ in range(3):
        service.post("/scheduler/filter", filter_args(pod(), ["a"]))
    service.post("/scheduler/prioritize", "{")
    service.post("/v1/dry-run", "{")
    service.get("/scheduler/bind")
    service.get("/nothing")
    after = count("filter", "200"), count("prioritize", "400"), count("dry_run", "400"), count("bind", "405"), count("other", "404")
    assert [now - then for now, then in zip(after, before)] == [3, 1, 1, 1, 1]


def test_latencies_are_histograms_by_route(service):
    service.post("/scheduler/filter", filter_args(pod(), ["a"]))
    found = samples(service)
    name = "gpu_extender_http_request_duration_seconds"
    buckets = [value for (key, labels), value in found.items() if key == f"{name}_bucket" and ("route", "filter") in labels]
    count = found[f"{name}_count", (("route", "filter"),)]
    assert buckets == sorted(buckets) and buckets[-1] == count > 0
    assert found[f"{name}_sum", (("route", "filter"),)] > 0
    assert sum(value for (key, labels), value in found.items() if key.endswith("requests_total") and ("route", "filter") in labels) == count


def test_client_input_creates_no_label(service):
    """If it did, an unauthenticated client could grow the process and the metrics database."""
    before = set(samples(service))
    for i in range(50):
        service.ask("GET", f"/nothing-{i}")
        service.ask(f"METHOD{i}", "/livez")
        service.post("/scheduler/filter", filter_args(pod(f"p-{i}"), [f"n-{i}"]))
    fresh = {labels for key, labels in set(samples(service)) - before}
    assert {dict(labels).get("route") for labels in fresh} <= {"other", "livez", "filter"} and len(fresh) <= 3
