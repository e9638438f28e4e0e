"""GET /v1/snapshot of a live cluster: from that file the service gives the same answers as with the API server."""

from cluster import pod
from objects import TIMES, ageless, filter_args
from service import Service

MODELS = {"a100": "NVIDIA-A100-SXM4-80GB", "h100": "NVIDIA-H100-80GB-HBM3", "t4": "Tesla-T4"}
CHANGING = (*TIMES, "source", "live", "freshness")


def answers(service):
    asked = pod("asks", 2)
    found = {path: ageless(service.get(path).json(), CHANGING) for path in ("/v1/inventory", "/v1/pending", "/v1/fragmentation")}
    for verb in ("filter", "prioritize"):
        found[verb] = service.post(f"/scheduler/{verb}", filter_args(asked, list(MODELS))).json()
    found["dry run"] = ageless(service.post("/v1/dry-run", asked).json(), CHANGING)
    return found


def test_snapshot_reads_back_to_the_same_answers(live, tmp_path):
    for name, model in MODELS.items():
        live.add_node(name, model, 8)
    live.start()
    live.create_all("runs", 5, 3)
    live.wait_until_bound(5)
    live.create("waits", 16)
    live.refusal_of("waits")
    live.wait_until_told()
    path = tmp_path / "snapshot.json"
    path.write_text(live.service.get("/v1/snapshot").text)
    second = Service("--cluster-file", str(path))
    live.ends.callback(second.stop)
    wanted, found = answers(live.service), answers(second)
    assert [item["name"] for item in wanted["/v1/pending"]["pods"]] == ["waits"] and wanted["filter"]["NodeNames"]
    for question, answer in wanted.items():
        assert found[question] == answer, question
