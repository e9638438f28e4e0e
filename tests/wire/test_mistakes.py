"""Mistakes found in other extenders' code (docs/dev/MISTAKES.md), and for each the test that would fail with it here, from outside."""

import itertools
import json
import os
import signal

import pytest
import yaml
from objects import BIND_ARGS, GPU, annotated, container, filter_args, list_text, node, pod
from service import ROOT, fields_of


def passed(service, asking, names):
    answer = service.post("/scheduler/filter", filter_args(asking, names))
    assert answer.status == 200 and answer.json()["Error"] == "", answer
    return answer.json()["NodeNames"]


def used(service, name="a"):
    nodes = {item["name"]: item for item in service.get("/v1/inventory").json()["nodes"]}
    return nodes[name]["resources"][GPU]["used"]


def reload(service, path, *items):
    n_lines = len(service.log.lines)
    path.write_text(list_text(*items), encoding="utf-8")
    service.signal(signal.SIGHUP)
    service.log.wait_for({"msg": "reloaded"}, after=n_lines)


def test_free_is_signed(start_over):
    """free = total - used in unsigned arithmetic: an over-full node looks nearly infinite (gpushare)."""
    service = start_over(node("a", 4), node("b", 4), pod("one", 3, "a"), pod("two", 3, "a"))
    assert passed(service, pod(), ["a", "b"]) == ["b"]
    scores = {entry["Host"]: entry["Score"] for entry in service.post("/scheduler/prioritize", filter_args(pod(), ["a", "b"])).json()}
    assert scores["b"] > scores["a"] == 0
    (workload,) = service.post("/v1/dry-run", pod()).json()["workloads"]
    assert workload["moreReplicas"] == 3, "only those of b"


def test_a_shrunk_node_has_less(start_service, write):
    """Devices built once; a node that shrinks 8 to 4 keeps 8: stale capacity for ever (gpushare)."""
    path = write("c.json", list_text(node("a", 8)))
    service = start_service("--cluster-file", path)
    assert passed(service, pod(gpus=8), ["a"]) == ["a"]
    reload(service, path, node("a", 4))
    assert passed(service, pod(gpus=8), ["a"]) == [] and passed(service, pod(gpus=4), ["a"]) == ["a"]


def test_the_count_may_come_before_the_model(start_service, write):
    """Devices built when the count arrives, before another attribute: the later one is never seen (gpushare)."""
    path = write("c.json", list_text(node("a", 8, None)))
    service = start_service("--cluster-file", path)
    assert passed(service, annotated(models="A100"), ["a"]) == []
    reload(service, path, node("a", 8))
    assert passed(service, annotated(models="A100"), ["a"]) == ["a"]


def test_a_pod_may_name_an_absent_node(start_over):
    """Start-up fails if a pod names a node that is gone: a crash loop (gpushare)."""
    service = start_over(pod("one", 2, "gone"), node("a"), pod("two", 1, "a"))
    assert service.get("/readyz").status == 200 and used(service) == 1


def test_a_terminating_pod_still_counts(start_over):
    """A terminating pod counts as finished: its GPU is given away in its grace period (gpushare)."""
    service = start_over(node("a", 2), pod("one", 2, "a", metadata={"deletionTimestamp": "2026-11-21T10:00:00Z"}))
    assert passed(service, pod(), ["a"]) == []


def test_a_retry_is_judged_like_the_first_try(start_service, write):
    """A retry skips the ledger because the pod is "known": two pods, one GPU (elastic)."""
    path = write("c.json", list_text(node("a", 1), pod("first")))
    service = start_service("--cluster-file", path)
    assert passed(service, pod("first"), ["a"]) == ["a"]
    reload(service, path, node("a", 1), pod("first"), pod("other", 1, "a"))
    assert passed(service, pod("first"), ["a"]) == []


def test_a_container_without_gpu_request_gets_none(start_over):
    """A container without a GPU request gets GPU 0: double booking (elastic)."""
    containers = [container("log", None), container("zero", "0"), container("train", 2)]
    service = start_over(node("a"), pod("one", on="a", spec={"containers": containers}), pod("two", None, "a"), pod("three", "0", "a"))
    assert used(service) == 2
    (held,) = service.get("/v1/inventory").json()["nodes"][0]["holders"]
    assert held["gpus"] == {GPU: 2}


@pytest.mark.parametrize("how", ["restart", "read again"])
def test_ended_pods_are_released(how, start_service, write):
    """Succeeded pods counted again after a restart; force-deleted pods never released: leaks (GAS)."""
    running = [pod("ends", 2, "a"), pod("is-deleted", 3, "a"), pod("stays", 1, "a")]
    later = [pod("ends", 2, "a", status={"phase": "Succeeded"}), pod("stays", 1, "a")]
    path = write("c.json", list_text(node("a"), *running))
    service = start_service("--cluster-file", path)
    assert used(service) == 6
    if how == "restart":
        service.stop()
        service = start_service("--cluster-file", write("later.json", list_text(node("a"), *later)))
    else:
        reload(service, path, node("a"), *later)
    assert used(service) == 1


def test_pods_are_identified_by_uid(start_service, write):
    """State keyed by name, or namespace/name, instead of UID: a re-created pod inherits, or collides (GAS)."""
    path = write("c.json", list_text(node("a"), pod("web-0", 4, "a", metadata={"uid": "first"})))
    service = start_service("--cluster-file", path)
    reload(service, path, node("a"), pod("web-0", 1, metadata={"uid": "second"}), pod("web-0", 2, "a", metadata={"uid": "x", "namespace": "y"}))
    (held,) = service.get("/v1/inventory").json()["nodes"][0]["holders"]
    assert (held["uid"], used(service)) == ("x", 2)


def test_bind_reports_its_reason_in_a_200(start_over):
    """A bind failure answered with 500 or 404: the reason never reaches the user (gpushare, elastic, GAS)."""
    service = start_over(node("a"))
    for body in (BIND_ARGS, {**BIND_ARGS, "Node": "gone"}, {**BIND_ARGS, "PodName": "gone"}, {}, "{", ""):
        answer = service.post("/scheduler/bind", body)
        assert answer.status == 200 and answer.json()["Error"]


def test_filter_leaves_nothing_behind(start_over):
    """An assignment written in filter and never cleared: phantom usage (HAMi)."""
    service = start_over(node("a", 2), pod("waits"))
    before = service.get("/v1/inventory").json()
    for i in range(20):
        assert passed(service, pod(f"p-{i}", 2), ["a"]) == ["a"]
    assert service.get("/v1/inventory").json() == before


def test_filter_asks_the_api_server_nothing(api, follower):
    """API writes under a global lock in filter: throughput is bounded by API latency (vgpu-manager)."""
    before = api.faults.count("*")
    api.faults.hold("*")
    for _ in range(20):
        assert passed(follower, pod("p", 2), ["a", "b"]) == ["a", "b"]
        assert follower.post("/scheduler/prioritize", filter_args(pod("p", 2), ["a", "b"])).status == 200
    assert api.faults.count("*") == before


CHIPS = {
    "A10": "NVIDIA-A10",
    "A100": "NVIDIA-A100-SXM4-80GB",
    "A30": "NVIDIA-A30",
    "L4": "NVIDIA-L4",
    "L40": "NVIDIA-L40",
    "L40S": "NVIDIA-L40S",
    "H20": "NVIDIA-H20",
    "H200": "NVIDIA-H200",
    "H100": "NVIDIA-H100-80GB-HBM3",
    "RTX-3090": "NVIDIA-GeForce-RTX-3090",
    "RTX-3090-Ti": "NVIDIA-GeForce-RTX-3090-Ti",
    "RTX-6000": "Quadro-RTX-6000",
    "RTX-6000-Ada": "NVIDIA-RTX-6000-Ada-Generation",
    "T4": "Tesla-T4",
}


def test_models_are_compared_whole(start_over):
    """A model matched by substring: A10 also matches A100, L4 matches L40, H20 matches H200 (HAMi, vgpu-manager, Volcano)."""
    service = start_over(*[node(name, 8, label) for name, label in CHIPS.items()])
    for name in CHIPS:
        assert passed(service, annotated(models=name), list(CHIPS)) == [name]
        others = passed(service, annotated(exclude_models=name), list(CHIPS))
        assert others == [other for other in CHIPS if other != name]


def test_the_dry_run_counts_running_pods(start_over):
    """A dry run that treats every node as empty: "would it fit now?" answered wrongly (HAMi)."""
    service = start_over(node("a", 8), pod("one", 6, "a"))
    (workload,) = service.post("/v1/dry-run", pod(gpus=4)).json()["workloads"]
    assert workload["placed"] == 0 and workload["nodes"][0]["reason"] == "gpu_free"
    assert workload["nodes"][0]["lacks"] == {GPU: 2}
    (workload,) = service.post("/v1/dry-run", pod(gpus=1)).json()["workloads"]
    assert (workload["placed"], workload["moreReplicas"]) == (1, 1)


def test_filter_returns_every_node_that_fits(start_over):
    """Exactly one node returned by filter: affinity, spreading and image locality lose their say (HAMi, vgpu-manager, gpu-admission)."""
    names = [f"n-{i}" for i in range(50)]
    service = start_over(*[node(name) for name in names])
    assert passed(service, pod(), names) == names


def test_verbs_fail_before_the_cluster_is_read(start_service, run_binary, write):
    """Ready before the first lists are complete: decisions over an empty cluster (gpu-admission, HAMi)."""
    service = start_service("--cluster-file", write("c.json", list_text(*[node(f"n-{i}") for i in range(2000)])))
    messages = [line["msg"] for line in service.log.fields()]
    assert messages.index("file read") < messages.index("listening")
    done = run_binary("--cluster-file", write("broken.json", list_text(node("a"))[:-1]), "--listen", "127.0.0.1:0")
    assert done.returncode == 2 and "listening" not in [fields_of(line).get("msg") for line in done.stderr.splitlines()]


FORGED = {
    "metadata": {
        "annotations": {
            **{key: json.dumps({GPU: "0"}) for key in ("gpu-extender.io/assigned", "gpu-extender.io/used", "gpu-extender.io/gpus")},
            "hami.io/vgpu-devices-allocated": "GPU-0,NVIDIA,0,0:;",
            "ALIYUN_COM_GPU_MEM_POD": "0",
        },
        "labels": {"gpu-extender.io/ignore": "true", "hami.io/webhook": "ignore"},
    }
}


def test_tenant_annotations_do_not_affect_usage(start_over):
    """Tenant-writable annotations are an input to usage: tenants forge their grant (HAMi, all but topolvm)."""
    honest = start_over(node("a"), pod("one", 3, "a"))
    forged = start_over(node("a"), pod("one", 3, "a", **FORGED))
    unreadable = start_over(node("a"), pod("one", 3, "a", metadata={"annotations": {"gpu-extender.io/models": "\n,"}}))
    assert used(honest) == used(forged) == used(unreadable) == 3
    assert passed(forged, pod(gpus=6, **FORGED), ["a"]) == []


@pytest.mark.parametrize(
    ("init", "needs"),
    [
        ([container("i", 5)], 5),
        ([container("s", 1, restartPolicy="Always")], 3),
        ([container("s", 1, restartPolicy="Always"), container("i", 4)], 5),
        ([container("i", 4), container("s", 1, restartPolicy="Always")], 4),
    ],
    ids=["init container", "sidecar", "sidecar, then init container", "init container, then sidecar"],
)
def test_init_containers_and_sidecars_count(init, needs, start_over):
    """Init containers ignored; sidecars (restartable init) ignored: wrong demand (gpushare, elastic, GAS)."""
    asking = {"initContainers": init, "containers": [container("main", 2)]}
    service = start_over(node("enough", needs), node("less", needs - 1), node("busy"), pod("one", on="busy", spec=asking))
    assert passed(service, pod(spec=asking), ["less", "enough"]) == ["enough"]
    assert used(service, "busy") == needs


@pytest.fixture(scope="module")
def extender():
    """The extender entry of the shipped kube-scheduler configuration."""
    with open(os.path.join(ROOT, "manifests/kube-scheduler-config.yaml"), encoding="utf-8") as file:
        (found,) = yaml.safe_load(file)["extenders"]
    return found


def test_shipped_configuration_is_not_ignorable(extender):
    """`ignorable: true` with a bind verb: the default binder overrules the extender (GAS)."""
    assert extender["ignorable"] is False


def test_names_are_sent_not_nodes(extender):
    """`nodeCacheCapable: false`: in-tree scoring sees every node empty (topolvm, linstor, gpu-admission; kubernetes #141781)."""
    assert extender["nodeCacheCapable"] is True


def test_default_addresses_are_loopback(run_binary):
    """A bind endpoint open without authentication on a NodePort: anybody can place pods (gpushare, HAMi)."""
    lines = run_binary("--print-policy").stdout.splitlines()
    listen = list(itertools.takewhile(lambda line: line.startswith(" "), lines[lines.index("listen:") + 1 :]))
    assert len(listen) == 5 and all("127.0.0.1:" in line for line in listen[:3]), listen
    assert all(line.endswith(": false") for line in listen[3:]), listen
