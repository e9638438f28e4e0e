"""Queries: unknown parameters and values are rejected with the nearest known one, and errors follow ?output=."""

import os
import re
import urllib.parse

import openapi
import pytest
import yaml
from objects import list_text, node, pod
from service import ROOT

JUDGE = openapi.Judge(openapi.load())
PATHS = [(method, path) for method, path in JUDGE.operations() if path.startswith("/v1/")]
POD = "kind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: main}]}\n"


def documented(method, path):
    """{name: its schema} of the query's parameters."""
    parameters = [openapi.resolve(JUDGE.document, each) for each in JUDGE.operations()[method, path].get("parameters", [])]
    return {each["name"]: each["schema"] for each in parameters if each["in"] == "query"}


def ask(service, method, path, query):
    path = path.replace("{namespace}", "ml-training").replace("{name}", "finetune-0")
    if path == "/v1/explain":  # these two are required
        path, query = path + "?namespace=ml-training&name=finetune-0", "&" + query[1:]
    return service.ask(method, path + query, {"/v1/dry-run": POD, "/v1/what-if": "{}"}.get(path))


@pytest.mark.parametrize("method, path", PATHS)
def test_the_document_lists_exactly_the_parameters(service, method, path):
    answer = ask(service, method, path, "?unheard=of")
    assert answer.status == 400, answer
    listed = re.fullmatch(r"\?unheard: is unknown, should be one of ([^;]*)", answer.json()["error"])
    names = listed[1].split(", ") if listed else []
    assert listed or answer.json()["error"] == "?unheard: is unknown, this path has no parameters"
    assert sorted(names) == sorted(documented(method, path))


@pytest.mark.parametrize("method, path", PATHS)
def test_the_document_lists_exactly_the_values(service, method, path):
    for name, schema in documented(method, path).items():
        for value in schema.get("enum", []):
            assert ask(service, method, path, f"?{name}={value}").status == 200
        if "enum" in schema:
            answer = ask(service, method, path, f"?{name}=unheard-of")
            assert answer.status == 400, answer
            listed = re.fullmatch(rf"\?{name}=unheard-of: is unknown, should be ([^;]*)", answer.json()["error"])
            assert re.split(", | or ", listed[1]) == schema["enum"]


@pytest.mark.parametrize(
    "query, message",
    [
        ("?outptu=table", "?outptu: is unknown, should be one of explain, output, wide, width; did you mean output?"),
        ("?output=tabel", "?output=tabel: is unknown, should be json or table; did you mean table?"),
        ("?width=79", "?width=79: is unknown, should be a whole number from 80 to 400"),
        ("?width=401", "?width=401: is unknown, should be a whole number from 80 to 400"),
        ("?width=0100000000", "?width=0100000000: is unknown, should be a whole number from 80 to 400"),
        ("?width=", "?width=: is unknown, should be a whole number from 80 to 400"),
        ("?explain=True", "?explain=True: is unknown, should be true or false; did you mean true?"),
        ("?explain", "?explain=: is unknown, should be true or false"),
        ("?output=json&output=table", "?output: is given twice, should be given once"),
        ("?output=json&x=1", "?x: is unknown, should be one of explain, output, wide, width"),
    ],
)
def test_the_nearest_known_word_is_named(service, query, message):
    answer = service.post("/v1/dry-run" + query, POD)
    assert (answer.status, answer.json()["error"]) == (400, message)


def test_other_paths_ignore_their_query(service):
    """kubelets and Prometheus may send what they like."""
    for path in ("/livez", "/readyz", "/metrics"):
        assert service.get(path + "?verbose&x=1").status == 200


def test_a_long_unknown_word_is_shortened(service):
    message = service.get("/v1/quota?" + "x" * 10000).json()["error"]
    assert message == "?" + "x" * 60 + ": is unknown, should be one of namespace, output, wide, width"


@pytest.mark.parametrize(
    "method, path, body, status, begins",
    [
        ("GET", "/v1/quota?output=table&x", None, 400, "?x: is unknown"),
        ("GET", "/v1/pods/a/b/explain?output=table", None, 404, "pod a/b: is not in the inventory"),
        ("GET", "/v1/explain?output=table&namespace=a", None, 400, "?namespace= and ?name= are both needed"),
        ("GET", "/v1/nothing?output=table", None, 404, "no such path"),
        ("PUT", "/v1/dry-run?output=table", "", 405, "the method must be"),
    ],
)
def test_errors_follow_the_output(service, method, path, body, status, begins):
    text = service.ask(method, path, body)
    assert (text.status, text.headers["content-type"]) == (status, "text/plain; charset=utf-8")
    assert text.text.startswith("error: " + begins) and text.text.index("\n") == len(text.text) - 1
    json = service.ask(method, path.replace("output=table", "output=json"), body)
    assert f"error: {json.json()['error']}\n" == text.text


def test_an_error_as_text_controls_no_terminal(service):
    answer = service.get("/v1/quota?output=table&a%1b%5b2J%0a%c2%9b%ff")
    assert answer.text == "error: ?a [2J  \ufffd: is unknown, should be one of namespace, output, wide, width\n"


def names(answer):
    return {node["name"] for node in answer.json()["nodes"]}


def test_the_inventory_of_one_node(service):
    found = service.get("/v1/inventory?node=h100-1").json()
    assert [node["name"] for node in found["nodes"]] == ["h100-1"]
    assert [(total["model"], total["nodes"]) for total in found["models"]] == [(found["nodes"][0]["model"], 1)]
    assert found["nodes"][0]["labels"]["kubernetes.io/hostname"] == "h100-1" and len(found["nodes"][0]["labels"]) > 3
    assert "labels" not in service.get("/v1/inventory").json()["nodes"][0], "they would be larger than all else"
    missing = service.get("/v1/inventory?node=h100")
    assert (missing.status, missing.json()["error"][:43]) == (404, "?node=h100: is not in the inventory, should")
    assert service.get("/v1/inventory?node=H100_1").json()["error"].endswith("; did you mean h100-1?")


@pytest.mark.parametrize("path", ["/v1/inventory", "/v1/pending", "/v1/quota", "/v1/fragmentation", "/v1/observed", "/v1/decisions"])
@pytest.mark.parametrize(
    "name, asked, message",
    [
        ("model", "H10O", '"H10O": no node has it; did you mean H100-80GB-HBM3?'),
        ("model", "H200", '"H200": no node has it'),
        ("resource", "nvidia", '"nvidia": no node has it; did you mean nvidia.com/gpu?'),
        ("resource", "none", '"none": no node has it'),
        ("namespace", "ml-trianing", '"ml-trianing": there is no such namespace; did you mean ml-training?'),
        ("namespace", "none", '"none": there is no such namespace'),
    ],
)
def test_names_that_the_cluster_lacks_are_told(service, path, name, asked, message):
    """A list that is empty because of a misspelt name must not look like an empty cluster."""
    if name not in documented("GET", path):
        return
    answer = service.get(f"{path}?{name}={asked}")
    assert JUDGE.faults_of_answer("GET", path, answer) == []
    assert answer.json()["warnings"] == [{"path": f"?{name}", "message": message}]
    assert f"warning: ?{name}: {message}\n" in service.get(f"{path}?{name}={asked}&output=table").text


def test_names_that_the_cluster_has_are_not(service):
    for path in ("/v1/inventory?resource=nvidia.com/gpu&model=H100&node=h100-1", "/v1/pending?namespace=ml-training", "/v1/quota"):
        assert service.get(path).json()["warnings"] == []


def test_a_file_without_namespaces_lacks_none(module_service):
    assert module_service().get("/v1/pending?namespace=none").json()["warnings"] == []


def test_the_inventory_of_a_namespace(service, start_service, write):
    """Its holders and its claims; amounts count all."""
    every, found = (service.get("/v1/inventory" + query).json()["nodes"] for query in ("", "?namespace=ml-training"))
    wanted = [{**node, "holders": [each for each in node["holders"] if each["namespace"] == "ml-training"]} for node in every]
    assert found == wanted and wanted != every and any(node["holders"] for node in wanted)
    with open(os.path.join(ROOT, "examples/dra-cluster.yaml"), encoding="utf-8") as file:
        objects = [each for each in yaml.safe_load(file)["items"] if each["kind"] != "Namespace"]
    service = start_service("--cluster-file", write("claims.json", list_text(*objects)))
    assert service.get("/v1/inventory").json()["claims"] and not service.get("/v1/inventory?namespace=none").json()["claims"]


def test_the_inventory_by_state(service):
    every = service.get("/v1/inventory").json()["nodes"]
    for state, member, value in (("ready", "ready", True), ("not-ready", "ready", False), ("cordoned", "unschedulable", True)):
        found = names(service.get(f"/v1/inventory?state={state}"))
        assert found == {node["name"] for node in every if node[member] is value}


@pytest.mark.parametrize("model", ["V100", "A100-40GB", "tesla-t4", "H200"])
def test_the_inventory_of_a_model(service, model):
    """The nodes that a pod with this model in its annotation may use, by their model."""
    wanted = {"V100": {"V100"}, "A100-40GB": {"A100-SXM4-40GB", "A100-PCIe-40GB"}, "tesla-t4": {"T4"}, "H200": set()}[model]
    found = service.get(f"/v1/inventory?model={model}").json()
    assert {node["name"] for node in found["nodes"]} == names_of_models(service, wanted)
    assert {total["model"] for total in found["models"]} <= wanted | {name + "-SHARED" for name in wanted}


def names_of_models(service, models):
    return {node["name"] for node in service.get("/v1/inventory").json()["nodes"] if node["model"] in models}


def test_a_model_that_is_none_is_an_error(service):
    answer = service.get("/v1/inventory?model=nvidia")
    assert (answer.status, answer.json()["error"]) == (400, "?model=nvidia: names no GPU model, should be one, such as A100 or T4")


def test_the_inventory_of_a_resource(service):
    found = service.get("/v1/inventory?resource=nvidia.com/mig-1g.5gb").json()["nodes"]
    assert [node["name"] for node in found] == ["a100-mig-1"]
    assert names(service.get("/v1/inventory?resource=none")) == set()
    assert service.get("/v1/inventory?resource=none&node=a100-mig-1").json()["nodes"] == []


@pytest.mark.parametrize("by", ["free", "used"])
def test_the_inventory_is_sorted(service, by):
    found = service.get(f"/v1/inventory?sort={by}").json()
    gpus = {total["resource"] for total in found["models"]}
    sums = [sum(amounts[by] for name, amounts in node["resources"].items() if name in gpus) for node in found["nodes"]]
    assert sums == sorted(sums, reverse=True) and sums[0] > sums[-1]


def test_pending_pods_of_a_namespace(service):
    every = service.get("/v1/pending").json()["pods"]
    for namespace in {pod["namespace"] for pod in every} | {"none"}:
        found = service.get(f"/v1/pending?namespace={namespace}").json()
        wanted = [pod["name"] for pod in every if pod["namespace"] == namespace]
        assert [pod["name"] for pod in found["pods"]] == wanted
        assert found["podCount"] == len(found["pods"])


# ---- label selectors ----


@pytest.fixture(scope="module")
def labelled(module_service):
    """Nodes n (zone a), m (zone b) and bare; their GPUs are 1, 2 and 4. Pods wait for 3 each."""
    nodes = [node(name, gpus, metadata={"labels": labels}) for name, gpus, labels in (("n", 1, {"zone": "a"}), ("m", 2, {"zone": "b", "e": ""}), ("bare", 4, {}))]
    return module_service(*nodes, *(pod(name, 3, metadata={"labels": labels}) for name, labels in (("n", {"zone": "a"}), ("m", {"zone": "b", "e": ""}), ("bare", {}))))


@pytest.mark.parametrize(
    "selector, found",
    [
        ("zone", "nm"),
        ("zone=a", "n"),
        ("zone==b", "m"),
        ("zone!=a", "m bare"),
        ("!zone", "bare"),
        (" zone in ( a , b ) , zone notin (b)", "n"),
        ("zone in (a,c),!e", "n"),
        ("e=", "m"),
        ("e in (,x)", "m"),
        ("zone>1", ""),
        ("zone<9223372036854775807", ""),
        ("none", ""),
        ("", "nm bare"),
        (" ", "nm bare"),
    ],
)
def test_label_selectors(labelled, selector, found):
    """The selectors apply to nodes and their sums, and to pods and their owners."""
    found = [name for name in ("bare", "m", "n") if name in found.replace("bare", "") or name in found.split()]
    gpus = sum({"n": 1, "m": 2, "bare": 4}[name] for name in found)
    query = "?labelSelector=" + urllib.parse.quote(selector)
    inventory = labelled.get("/v1/inventory" + query).json()
    assert [each["name"] for each in inventory["nodes"]] == found and sum(each["capacity"] for each in inventory["models"]) == gpus
    fragmentation = labelled.get("/v1/fragmentation" + query + "&nodes=true").json()
    assert [(each["nodes"], each["free"]) for each in fragmentation["models"]] == [(len(found), gpus)] * bool(found)
    assert sorted(each["node"] for each in fragmentation["nodes"]) == [name for name in found if name != "bare"]
    pending = labelled.get("/v1/pending" + query).json()
    assert sorted(each["name"] for each in pending["pods"]) == sorted(each["firstPod"] for each in pending["owners"]) == found
    assert pending["podCount"] == len(found) and pending["nodeCount"] == 3


@pytest.mark.parametrize("path", ["/v1/inventory", "/v1/fragmentation", "/v1/pending"])
def test_selectors_that_are_none(labelled, path):
    for wrong in ("=a", "a=b,", "a in b", "a in (b", "a b", "a=b c", "a=(b)", "!", "a>x", "a<", "a>=1", "a>-1", "a<1x", "a>9223372036854775808", ",".join(["a"] * 65), f"a in ({','.join('b' * 65)})"):
        answer = labelled.get(f"{path}?labelSelector=" + urllib.parse.quote(wrong))
        assert answer.status == 400 and answer.json()["error"].startswith("?labelSelector=" + wrong[:100])
    assert labelled.get(f"{path}?labelSelector=" + ",".join(["a"] * 64)).status == 200


def test_a_node_and_a_selector(labelled):
    assert labelled.get("/v1/inventory?node=n&labelSelector=zone").json()["nodes"][0]["name"] == "n"
    assert labelled.get("/v1/inventory?node=n&labelSelector=!zone").json()["nodes"] == []
