"""Everything at once: filter, prioritize, dry runs, inventory and metrics, while the cluster file is read again and again.

Bounded by a number of calls. Every answer must be one that one of the two clusters gives, never a mixture. scripts/test runs this
under AddressSanitizer and, in its step "thread", under ThreadSanitizer too.
"""

import json
import threading

from objects import filter_args, list_text, node, pod

N_CALLS = 60  # of each kind
N_RELOADS = 30
NAMES = [f"n-{i}" for i in range(40)]
# In one cluster every node is free, in the other one every node is full.
FREE = list_text(*[node(name) for name in NAMES])
FULL = list_text(*[node(name) for name in NAMES], *[pod(f"p-{name}", 8, name) for name in NAMES])


def filtered(service):
    result = service.post("/scheduler/filter", filter_args(pod(), NAMES)).json()
    return result["NodeNames"] == NAMES or (not result["NodeNames"] and sorted(result["FailedAndUnresolvableNodes"]) == sorted(NAMES))


def prioritized(service):
    scores = service.post("/scheduler/prioritize", filter_args(pod(), NAMES)).json()
    return len(scores) == len(NAMES) and len({entry["Score"] > 0 for entry in scores}) <= 2


def tried(service):
    (workload,) = service.post("/v1/dry-run", pod(gpus=8)).json()["workloads"]
    free = sum(item["fits"] for item in workload["nodes"])
    return (free, workload["placed"], workload["moreReplicas"]) in ((len(NAMES), 1, len(NAMES) - 1), (0, 0, 0))


def listed(service):
    inventory = service.get("/v1/inventory").json()
    used = {item["resources"]["nvidia.com/gpu"]["used"] for item in inventory["nodes"]}
    return used in ({0}, {8}) and len(inventory["nodes"]) == len(NAMES)


def measured(service):
    text = service.get("/metrics").text
    return text.count(',state="free"} ') == len(NAMES) + 1  # of each node, and of the model


def test_everything_at_once(start_service, write):
    path = write("c.json", FREE)
    service = start_service("--cluster-file", path)
    wrong = []

    def repeat(question):
        try:
            wrong.extend(question.__name__ for _ in range(N_CALLS) if not question(service))
        except Exception as error:  # reported by the test, not by the thread
            wrong.append(f"{question.__name__}: {error!r}")

    questions = [filtered, filtered, prioritized, tried, tried, listed, measured]
    threads = [threading.Thread(target=repeat, args=[question]) for question in questions]
    for thread in threads:
        thread.start()
    for i in range(N_RELOADS):
        n_lines = len(service.log.lines)
        path.write_text(FULL if i % 2 == 0 else FREE, encoding="utf-8")
        service.signal(1)
        service.log.wait_for({"msg": "reloaded"}, after=n_lines)
    for thread in threads:
        thread.join()
    assert wrong == []
    assert filtered(service) and json.loads(service.get("/v1/inventory").body)["problems"] == []
