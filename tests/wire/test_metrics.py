"""GET /metrics: Prometheus text whose gauges say what the inventory says, and whose counters count what was asked."""

import re
import subprocess

import pytest
from objects import filter_args, node, pod

SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"')
GAUGES = {"capacity": "capacity", "allocatable": "allocatable", "used": "used", "reserved": "reserved", "free": "free"}


@pytest.fixture(scope="module")
def service(module_service):
    odd = node('o"d\\\n', 2, None, spec={"unschedulable": True})
    both = {"nvidia.com/gpu": "1", "nvidia.com/mig-1g.5gb": "7", "cpu": "8", "pods": "110"}
    items = [node("a"), node("b", 4, "Tesla-T4"), odd, node("mig", status={"capacity": both, "allocatable": both}), node("cpu", None, None)]
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


def test_promtool_has_nothing_to_say(promtool, service):
    service.post("/scheduler/filter", filter_args(pod(), ["a"]))
    check_with_promtool(promtool, service)


def test_nothing_is_told_twice_where_an_api_server_is_followed(alone):
    found = samples(alone)
    assert found["gpu_extender_data_stale", (("kind", "pods"),)] == 0
    assert ("gpu_extender_binds_total", (("outcome", "bound"),)) in found
    assert found["gpu_extender_filter_ledger_behind_total", ()] == 0
    assert found["gpu_extender_filter_room_kept_total", ()] == 0
    assert found["gpu_extender_preempt_candidates_total", (("verdict", "vetoed"),)] == 0


def test_promtool_has_nothing_to_say_where_an_api_server_is_followed(promtool, alone):
    check_with_promtool(promtool, alone)


def test_gauges_are_the_inventory(service):
    found, inventory = samples(service), service.get("/v1/inventory").json()
    gpu_resources = {total["resource"] for total in inventory["models"]}
    wanted = {}
    for item in inventory["nodes"]:
        for resource, amounts in item["resources"].items():
            labels = (("model", item["model"]), ("node", escaped(item["name"])), ("resource", resource))
            for gauge, member in GAUGES.items() if resource in gpu_resources else ():
                wanted[f"gpu_extender_node_gpus_{gauge}", labels] = amounts[member]
    assert {key: value for key, value in found.items() if key[0].startswith("gpu_extender_node_gpus_")} == wanted
    assert len(wanted) == 5 * 5, "a, b, the odd one, and two of mig"
    assert wanted["gpu_extender_node_gpus_free", (("model", "T4"), ("node", "b"), ("resource", "nvidia.com/gpu"))] == -2
    counts = {"nodes": 5, "pods": 2, "inventory_problems": 1}
    assert {name: found[f"gpu_extender_{name}", ()] for name in counts} == counts


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


def test_no_label_is_made_of_what_clients_send(service):
    """Else a stranger could grow the process and the store behind it."""
    before = set(samples(service))
    for i in range(50):
        service.ask("GET", f"/nothing-{i}")
        service.ask(f"METHOD{i}", "/livez")
        service.post("/scheduler/filter", filter_args(pod(f"p-{i}"), [f"n-{i}"]))
    fresh = {labels for key, labels in set(samples(service)) - before}
    assert {dict(labels).get("route") for labels in fresh} <= {"other", "livez", "filter"} and len(fresh) <= 3
