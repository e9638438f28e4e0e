"""The objects of the aggregated API: what each user may see of them, tables, selectors and pages. The fake API server decides rights as
RBAC does; control-plane/test_aggregated_api has the real one."""

import functools
import json
import urllib.parse

import pytest
from certificates import Authority
from fronted import BASE, JANE, NAMED, Fronted, config_map, status
from objects import filter_args, node, pod
from service import stopping
from test_devices import DRIVER, H100, claim, resource_slice

TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"}
VERSION = "visibility.gpu-extender.io/v1alpha1"
NAMESPACED = ("gpupods", "gpupending", "gpuclaims", "gpuquotas", "gpudecisions")
TEAM = {"name": "team", "namespaces": ["ours", "theirs"], "limits": [{"total": 60}, {"resource": "nvidia.com/gpu", "models": {"A100": 50}}]}
QUOTAS = {"quotas": [TEAM, {"name": "all", "namespaceSelector": {}, "limits": [{"total": 100}]}]}


def of(namespace, name, gpus, on=None, **labels):
    metadata = {"namespace": namespace, "uid": f"uid-{namespace}-{name}", "labels": labels, "creationTimestamp": "2026-01-01T00:00:00Z"}
    return pod(name, gpus, on, metadata=metadata)


def claiming(namespace, name, named):
    made = of(namespace, name, None, "devices")
    made["spec"]["resourceClaims"] = [{"name": "gpus", "resourceClaimName": named}]
    return made


def fill(store):
    """Two tenants, each with a pod that holds GPUs and one that waits."""
    store.put(resource_slice("devices", 4), node("devices", None, model=None))
    store.put(node("n", 8, metadata={"labels": {"zone": "a"}}), node("m", 4, metadata={"labels": {"zone": "b"}}), node("cpu", 0, model=None))
    for namespace in ("ours", "theirs"):
        store.put({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": namespace, "uid": f"uid-{namespace}"}})
        held = claim(f"{namespace}-claim", "devices", [0] if namespace == "ours" else [1, 3], [])
        held["metadata"].update(namespace=namespace, labels={"app": namespace, "empty": ""})
        held["status"]["reservedFor"] = [{"resource": "pods", "name": f"{namespace}-claims", "uid": f"uid-{namespace}-{namespace}-claims"}]
        store.put(held, claiming(namespace, f"{namespace}-claims", f"{namespace}-claim"))
        store.put(of(namespace, f"{namespace}-runs", 2, "n", app=namespace), of(namespace, f"{namespace}-waits", 16, app=namespace))


class Tenants(Fronted):
    """Asks as jane."""

    def see(self, path, table=False, status_code=200, **query):
        encoded = f"?{urllib.parse.urlencode(query)}" if query else ""
        answer = self.forward(self.proxy, f"{BASE}/{path}{encoded}", {**JANE, **(TABLE if table else {})})
        assert answer.status == status_code, answer.text
        return answer.json()

    def names(self, path, **query):
        return [each["metadata"]["name"] for each in self.see(path, **query)["items"]]

    def refuse(self, path, code, reason, method="GET", **query):
        encoded = f"?{urllib.parse.urlencode(query)}" if query else ""
        answer = self.forward(self.proxy, f"{BASE}/{path}{encoded}", method=method, body={} if method == "POST" else None)
        assert "theirs-" not in answer.text, answer.text
        return status(answer, code, reason)


@pytest.fixture
def tenants(api, tmp_path):
    front = Authority(tmp_path / "front")
    api.store.put(config_map(front))
    fill(api.store)
    with stopping(functools.partial(Tenants, api, tmp_path)) as begin:
        started = begin(cacheSeconds=0, more=QUOTAS)
        started.trusts()
        started.proxy = front.client(NAMED)
        for namespace in ("ours", "theirs"):
            asking = next(each for each in api.store.all("pods") if each["metadata"]["name"] == f"{namespace}-waits")
            assert started.post("/scheduler/filter", filter_args(asking, ["n", "m"])).status == 200
        yield started


def grant(api, *rights):
    """(verb, resource, namespace) that jane has."""
    api.resource_rights |= {("jane", *right) for right in rights}


@pytest.fixture
def tenant(api):
    """jane may view the namespace `ours`."""
    grant(api, *((verb, kind, "ours") for verb in ("get", "list") for kind in NAMESPACED), ("get", "gpupods/explain", "ours"))


@pytest.fixture
def viewer(api):
    """jane may list everything."""
    grant(api, *((verb, kind, "") for verb in ("get", "list") for kind in (*NAMESPACED, "gpunodes")))


def resources(api):
    return [each["resourceAttributes"] for each in api.resource_reviews]


def test_a_tenant_lists_what_is_in_the_namespace(api, tenants, tenant):
    pods = tenants.see("namespaces/ours/gpupods")
    assert (pods["kind"], pods["apiVersion"], pods["metadata"]) == ("GPUPodList", VERSION, {})
    claims, one = pods["items"]
    assert (claims["metadata"]["name"], claims["status"]["gpus"]) == ("ours-claims", "1 gpu.nvidia.com")
    assert (one["kind"], one["apiVersion"]) == ("GPUPod", VERSION)
    labels, created = {"app": "ours"}, "2026-01-01T00:00:00Z"
    assert one["metadata"] == {"name": "ours-runs", "namespace": "ours", "labels": labels, "creationTimestamp": created}
    assert (one["status"]["gpus"], one["status"]["node"], one["status"]["uid"]) == ("2 nvidia.com/gpu", "n", "uid-ours-ours-runs")
    (waits,) = tenants.see("namespaces/ours/gpupending")["items"]
    assert waits["metadata"]["name"] == "ours-waits" and waits["status"]["asksFor"] == "16 nvidia.com/gpu"
    assert waits["status"]["why"].startswith("0 of 6 nodes fit") and waits["status"]["fits"] == 0
    assert tenants.see("namespaces/ours/gpupods/ours-runs") == one
    assert {each.get("namespace") for each in resources(api)} == {"ours"}


def test_a_tenant_learns_nothing_of_others(tenants, tenant):
    for kind in NAMESPACED:
        assert "theirs" not in json.dumps(tenants.see(f"namespaces/ours/{kind}"))
        assert "theirs" not in json.dumps(tenants.see(f"namespaces/ours/{kind}", table=True, includeObject="Object"))
        for path in (kind, f"namespaces/theirs/{kind}", f"namespaces/theirs/{kind}/theirs-runs"):
            tenants.refuse(path, 403, "Forbidden")
        tenants.refuse(f"namespaces/ours/{kind}/nobody", 404, "NotFound")
        tenants.refuse(kind, 403, "Forbidden", fieldSelector="metadata.namespace=ours")
    tenants.refuse("namespaces/theirs/gpupods/theirs-runs/explain", 403, "Forbidden")
    for path in ("gpunodes", "gpunodes/n"):
        tenants.refuse(path, 403, "Forbidden")


def test_without_a_right_nothing_is_seen(tenants):
    for path in ("gpunodes", *NAMESPACED, *(f"namespaces/ours/{kind}" for kind in NAMESPACED), "namespaces/ours/gpupods/ours-runs/explain"):
        tenants.refuse(path, 403, "Forbidden")


def test_lists_of_all_namespaces_need_a_cluster_wide_right(tenants, viewer):
    assert tenants.names("gpuclaims") == ["ours-claim", "theirs-claim"]
    assert tenants.names("gpupods", labelSelector="app") == ["ours-runs", "theirs-runs"]
    assert tenants.names("gpupending", labelSelector="app") == ["ours-waits", "theirs-waits"]
    assert tenants.see("namespaces/ours/gpupods", status_code=403)["reason"] == "Forbidden", "the fake grants no namespaces then"


def test_an_object_is_the_same_for_all_who_may_read_it(tenants, tenant, viewer):
    for kind in NAMESPACED:
        mine = tenants.see(f"namespaces/ours/{kind}")["items"]
        assert mine and [each for each in tenants.see(kind)["items"] if each["metadata"]["namespace"] == "ours"] == mine
        for one in mine:
            assert tenants.see(f"namespaces/ours/{kind}/{one['metadata']['name']}") == one


def test_nodes_have_totals_only(tenants, viewer):
    answer = tenants.see("gpunodes")
    found = {each["metadata"]["name"]: each["status"] for each in answer["items"]}
    assert found["n"]["free"] == "4 of 8 nvidia.com/gpu" and found["n"]["resources"]["nvidia.com/gpu"]["used"] == 4
    assert found["n"]["state"] == "Ready" and "cpu" not in found and "cpu" not in found["n"]["resources"]
    text = json.dumps(answer) + json.dumps(tenants.see("gpunodes", table=True, includeObject="Object"))
    assert "ours" not in text and "theirs" not in text
    one = tenants.see("gpunodes/n")
    assert one in answer["items"] and one["metadata"]["labels"]["zone"] == "a"
    said = tenants.refuse("gpunodes/none", 404, "NotFound")
    assert said == 'gpunodes.visibility.gpu-extender.io "none" not found'


def test_tables_are_those_of_kubectl(tenants, tenant):
    for path, query in (("gpupods", {"labelSelector": "app", "limit": 500}), ("gpupods/ours-runs", {})):
        table = tenants.see(f"namespaces/ours/{path}", table=True, **query)
        assert (table["kind"], table["apiVersion"]) == ("Table", "meta.k8s.io/v1")
        columns = [(each["name"], each["priority"]) for each in table["columnDefinitions"]]
        assert columns == [("Name", 0), ("GPUs", 0), ("Node", 0), ("Age", 0), ("Model", 1), ("Priority", 1)]
        (row,) = table["rows"]
        assert row["cells"][:3] == ["ours-runs", "2 nvidia.com/gpu", "n"] and len(row["cells"]) == len(columns)
        assert row["object"]["kind"] == "PartialObjectMetadata" and row["object"]["metadata"]["namespace"] == "ours"
    whole = tenants.see("namespaces/ours/gpupods", table=True, includeObject="Object")
    assert whole["rows"][1]["object"]["status"]["node"] == "n"
    assert "object" not in tenants.see("namespaces/ours/gpupods", table=True, includeObject="None")["rows"][0]
    assert tenants.see("namespaces/ours/gpupods", table=True, includeObject="All", status_code=400)["reason"] == "BadRequest"


def test_clients_choose_the_form(tenants, tenant):
    def ask(path, accept):
        return tenants.forward(tenants.proxy, f"{BASE}/namespaces/ours/{path}", {**JANE, "Accept": accept})

    proto = "application/vnd.kubernetes.protobuf"
    metadata = "{}as=PartialObjectMetadata{};g=meta.k8s.io;v=v1"
    accept = f"{metadata.format(proto + ';', 'List')},{metadata.format('application/json;', 'List')},application/json"
    partial = ask("gpupods", accept).json()
    assert partial["kind"] == "PartialObjectMetadataList" and set(partial["items"][0]) == {"kind", "apiVersion", "metadata"}
    one = ask("gpupods/ours-runs", metadata.format("application/json;", "")).json()
    assert one == partial["items"][1]
    assert ask("gpupods", f"{proto},application/json").json()["kind"] == "GPUPodList"
    assert ask("gpupods", "*/*").json()["kind"] == "GPUPodList"
    for accept in (proto, "application/yaml", "text/html", "application/json;as=Table;v=v1beta1;g=meta.k8s.io"):
        status(ask("gpupods", accept), 406, "NotAcceptable")


def test_label_selectors(api, tenants, viewer):
    for selector, names in {
        "zone": ["m", "n"],
        "zone=a": ["n"],
        "zone==b": ["m"],
        "zone!=a": ["m"],
        "!zone": [],
        " zone in ( a , b ) , zone notin (b)": ["n"],
        "none": [],
        "none!=a": ["m", "n"],
    }.items():
        assert [name for name in tenants.names("gpunodes", labelSelector=selector) if name in "mn"] == names, selector
    assert tenants.names("gpupods", labelSelector="app=theirs") == ["theirs-runs"]
    assert tenants.names("gpuclaims", labelSelector="app=theirs,empty=") == ["theirs-claim"]
    assert tenants.names("gpuclaims", labelSelector="empty") == ["ours-claim", "theirs-claim"]
    assert tenants.names("gpuclaims", labelSelector="!app") == []
    large = claim("large", "devices", [2], [])
    large["metadata"]["labels"] = {f"key-{i}": "a" for i in range(65)}
    api.store.put(large)
    tenants.wait("the claim is known", lambda: "large" in tenants.names("gpuclaims"))
    for selector in ("!app", "app!=ours,app!=theirs", "key-0", "!key-0,!app"):
        assert tenants.names("gpuclaims", labelSelector=selector) == [], "its labels are not kept, so it matches nothing"
    for wrong in ("=a", "a=b,", "a in b", "a in (b", "a b", "a=b c", "a=(b)", ",".join(["a"] * 65), f"a in ({','.join('b' * 65)})"):
        tenants.refuse("gpupods", 400, "BadRequest", labelSelector=wrong)


def test_field_selectors(api, tenants, viewer):
    assert tenants.names("gpupods", fieldSelector="metadata.name=ours-runs") == ["ours-runs"]
    assert resources(api)[-1]["name"] == "ours-runs", "the API server asks so"
    assert tenants.names("gpupods", fieldSelector="metadata.namespace==theirs,metadata.name!=theirs-claims") == ["theirs-runs"]
    assert "theirs-runs" in tenants.names("gpupods", fieldSelector="status.node=n")
    assert tenants.names("gpupods", fieldSelector="status.node=m") == []
    assert tenants.names("gpunodes", fieldSelector="metadata.name=m") == ["m"]
    for wrong in ("spec.nodeName=n", "status.node", "status.gpus=2", "metadata.name>x"):
        tenants.refuse("gpupods", 400, "BadRequest", fieldSelector=wrong)
    tenants.refuse("gpunodes", 400, "BadRequest", fieldSelector="status.node=n")


def test_pages(api, tenants, viewer):
    for i in range(7):
        api.store.put(of(f"ns-{i % 3}", f"p-{i}", 1, "m", paged="yes"))
    tenants.wait("the pods are known", lambda: len(tenants.names("gpupods", labelSelector="paged")) == 7)

    def pages(kind, **query):
        token, found = None, []
        while token != "":
            answer = tenants.see(kind, **query, **({"continue": token} if token else {}))
            token = answer["metadata"].get("continue", "")
            found.append([f"{each['metadata'].get('namespace', '')}/{each['metadata']['name']}" for each in answer["items"]])
        return found

    whole = pages("gpupods", labelSelector="paged")
    assert whole == [["ns-0/p-0", "ns-0/p-3", "ns-0/p-6", "ns-1/p-1", "ns-1/p-4", "ns-2/p-2", "ns-2/p-5"]]
    for limit in (1, 2, 3, 6, 7, 8):
        cut = pages("gpupods", labelSelector="paged", limit=limit)
        assert sum(cut, []) == whole[0] and all(len(page) == limit for page in cut[:-1])
    for kind, n in (("gpunodes", 5), ("gpuclaims", 2), ("gpuquotas", 5)):
        (whole_kind,) = pages(kind)
        assert len(whole_kind) == n and whole_kind == sorted(whole_kind) and pages(kind, limit=1) == [[each] for each in whole_kind], kind
        assert pages(kind, limit=n) == [whole_kind]
    assert pages("gpupods", labelSelector="paged", limit=0) == whole
    assert tenants.see("gpupods", table=True, limit=1)["metadata"]["continue"]
    for query in ({"limit": "-1"}, {"limit": "x"}, {"continue": "x"}, {"continue": "x/"}, {"resourceVersion": "7"}):
        tenants.refuse("gpupods", 400, "BadRequest", **query)
    assert tenants.names("gpupods", resourceVersion="0", labelSelector="paged", limit="99999999999999999999")


def test_explain_is_a_subresource(tenants, tenant):
    for name in ("ours-waits", "ours-runs"):
        seen = tenants.see(f"namespaces/ours/gpupods/{name}/explain")
        direct = tenants.get(f"/v1/pods/ours/{name}/explain").json()
        assert (seen["kind"], seen["metadata"]) == ("GPUPodExplanation", {"name": name, "namespace": "ours"})
        assert seen["status"]["nodes"] == direct["nodes"] and seen["status"]["pod"]["uid"] == direct["pod"]["uid"]
        assert "theirs" not in json.dumps(seen)
    table = tenants.forward(tenants.proxy, f"{BASE}/namespaces/ours/gpupods/ours-waits/explain?output=table").text
    assert table.startswith("DOES NOT FIT  Pod ours/ours-waits")
    tenants.refuse("namespaces/ours/gpupods/nobody/explain", 404, "NotFound")


def test_the_pod_that_gets_the_room_is_not_named_to_others(api, tenants, tenant):
    for i in range(4):
        first = of("theirs", f"theirs-first-{i}", 4)
        first["spec"]["priority"] = 5
        api.store.put(first)
    api.store.put(of("ours", "ours-last", 4))
    tenants.wait("the pods are known", lambda: tenants.get("/v1/pending").json()["podCount"] == 7)
    seen = tenants.see("namespaces/ours/gpupods/ours-last/explain")
    verdict = seen["status"]["pod"]["verdict"]
    assert (verdict["result"], verdict["cause"]) == ("waits", "freeGpus") and "goes to another pod" in verdict["text"]
    assert "theirs" not in json.dumps(seen)


def test_claims(tenants, tenant):
    (one,) = tenants.see("namespaces/ours/gpuclaims")["items"]
    labels = {"app": "ours", "empty": ""}
    assert (one["metadata"], one["status"]["node"]) == ({"name": "ours-claim", "namespace": "ours", "labels": labels}, "devices")
    assert (one["status"]["state"], one["status"]["pods"], one["status"]["deviceNames"]) == ("in use", "ours-claims", "devices/gpu-0")
    (row,) = tenants.see("namespaces/ours/gpuclaims", table=True)["rows"]
    assert row["cells"] == ["ours-claim", "in use", "devices", "H100-80GB-HBM3", "ours-claims", "devices/gpu-0"]
    assert tenants.names("namespaces/ours/gpuclaims", fieldSelector="status.node!=devices") == []


def test_devices_of_one_driver_are_counted_together(tenants, viewer):
    shown = {each["metadata"]["name"]: each["status"]["gpus"] for each in tenants.see("gpupods")["items"]}
    assert (shown["ours-claims"], shown["theirs-claims"]) == ("1 gpu.nvidia.com", "2 gpu.nvidia.com")


def test_quotas_of_the_namespace(tenants, tenant):
    everything, team = tenants.see("namespaces/ours/gpuquotas")["items"]
    assert (everything["metadata"]["name"], team["metadata"]["name"]) == ("all", "team")
    assert team["status"]["used"] == "7 of 60 GPUs, 4 of 50 A100 of nvidia.com/gpu"
    assert team["status"]["usedHere"] == "3 GPUs, 2 A100 of nvidia.com/gpu"
    total = {"resource": "", "model": "", "limit": 60, "used": 7, "usedHere": 3, "borrowed": 0}
    assert team["status"]["limits"][0] == total and team["status"]["claimsCounted"] is True
    assert [each["cells"][0] for each in tenants.see("namespaces/ours/gpuquotas", table=True)["rows"]] == ["all", "team"]


def test_decisions_on_pods_of_the_namespace(tenants, tenant):
    (one,) = tenants.see("namespaces/ours/gpudecisions")["items"]
    assert one["metadata"]["name"] == "0000000001" and one["metadata"]["creationTimestamp"].startswith("20")
    assert (one["status"]["verb"], one["status"]["pod"], one["status"]["nodesAsked"]) == ("filter", "ours-waits", 2)
    assert tenants.names("namespaces/ours/gpudecisions", fieldSelector="status.pod=ours-waits") == ["0000000001"]
    assert tenants.names("namespaces/ours/gpudecisions", fieldSelector="status.pod=other") == []


# ---- dry runs ----


def dry_run(*objects, **more):
    return {"apiVersion": VERSION, "kind": "DryRun", "metadata": {"name": "try"}, "spec": {"objects": list(objects), **more}}


def asking(gpus=2, **metadata):
    made = pod("asks", gpus, metadata={"uid": None, "namespace": None, **metadata})
    made["spec"]["priorityClassName"] = "high"
    return made


@pytest.fixture
def runner(api):
    """jane may create dry runs in `ours`."""
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}
    api.store.put(high)
    grant(api, ("create", "dryruns", "ours"))


def create(tenants, body, code=201, namespace="ours", query=""):
    answer = tenants.forward(tenants.proxy, f"{BASE}/namespaces/{namespace}/dryruns{query}", method="POST", body=body)
    assert answer.status == code, answer.text
    return answer


def test_a_dry_run_is_created_and_answered(tenants, runner):
    tenants.wait("the class is known", lambda: "high" in tenants.get("/v1/snapshot").text)
    made = create(tenants, dry_run(asking(1))).json()
    assert (made["kind"], made["apiVersion"], made["metadata"]) == ("DryRun", VERSION, {"name": "try", "namespace": "ours"})
    (workload,) = made["status"]["workloads"]
    assert workload["namespace"] == "ours" and "team" in json.dumps(workload["quotas"])
    assert "explain" not in workload or workload["explain"] is None
    (explained,) = create(tenants, dry_run(asking(1), explain=True)).json()["status"]["workloads"]
    assert explained["explain"]["ranking"]
    table = create(tenants, dry_run(asking(1)), 200, query="?output=table&fieldManager=kubectl-create").text
    assert table.startswith("FITS  Pod ours/asks: ")


def test_a_dry_run_names_no_pods_of_others(api, tenants, runner):
    """The node is full: two of the victims are ours, the others theirs."""
    for namespace in ("ours", "theirs"):
        api.store.put(of(namespace, f"{namespace}-fills", 2, "n"))
    tenants.wait("the pods are known", lambda: "theirs-fills" in tenants.get("/v1/inventory").text)
    tenants.wait("the class is known", lambda: "high" in tenants.get("/v1/snapshot").text)
    asks = asking(8)
    asks["spec"]["nodeSelector"] = {"zone": "a"}
    answer = create(tenants, dry_run(asks, explain=True))
    assert "theirs" not in answer.text
    found = answer.json()["status"]["workloads"][0]["preemption"]
    assert {each["name"] for each in found["victims"]} == {"ours-runs", "ours-fills"} and found["victimCount"] == 4
    assert "2 in other namespaces" in found["summary"]
    table = create(tenants, dry_run(asks), 200, query="?output=table&wide=true").text
    assert "ours-fills" in table and "theirs" not in table
    whole = tenants.post("/v1/dry-run", {**asks, "metadata": {"name": "asks", "namespace": "ours"}}).json()["workloads"][0]["preemption"]
    assert {"theirs-runs", "theirs-fills"} < {each["name"] for each in whole["victims"]}, "the administrator's answer has all"


SLICES = {"verb": "list", "group": "resource.k8s.io", "version": "*", "resource": "resourceslices"}


def selecting(name, expression):
    request = {"name": "gpus", "exactly": {"deviceClassName": DRIVER, "selectors": [{"cel": {"expression": expression}}]}}
    spec = {"devices": {"requests": [request]}}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": name}, "spec": spec}


WRONG = {"value": "productName == 'no'", "name": "productNam == 'no'", "prefix": "productName.matches('H10')"}
MISTAKES = [selecting(name, f"device.attributes['{DRIVER}'].{rest}") for name, rest in WRONG.items()]


def warnings_of(tenants):
    return "\n".join(each["message"] for each in create(tenants, dry_run(*MISTAKES)).json()["status"]["warnings"])


def test_who_may_not_read_slices_is_not_told_what_devices_have(api, tenants, runner):
    api.store.put({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": DRIVER}, "spec": {}})
    tenants.wait("the class is known", lambda: DRIVER in [each["metadata"]["name"] for each in tenants.get("/v1/snapshot").json()["items"]])
    told = warnings_of(tenants)
    assert len(told.splitlines()) == 3 and "longer number" in told, told
    assert H100 not in told and "devices have" not in told and "mean" not in told, told
    assert SLICES in resources(api)
    grant(api, ("list", "resourceslices", ""))
    told = warnings_of(tenants)
    assert H100 in told and "devices have" in told and "mean" in told, told


def test_a_failed_review_of_slices_is_no_right(api, tenants, runner):
    grant(api, ("list", "resourceslices", ""))
    assert H100 in warnings_of(tenants)
    api.faults.mislabel("review access", "application/json")  # the first one, of the dry run
    api.faults.fail("review access", 500)
    assert H100 not in warnings_of(tenants)
    assert H100 in warnings_of(tenants), "the failure is not cached"


def test_masters_read_slices(tenants):
    masters = {**JANE, "X-Remote-Group": "system:masters"}
    answer = tenants.forward(tenants.proxy, f"{BASE}/namespaces/ours/dryruns", masters, "POST", dry_run(*MISTAKES))
    assert H100 in json.dumps(answer.json()["status"]["warnings"])


def test_dry_runs_are_of_one_namespace(tenants, runner):
    inside = {"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "PodList", "items": [asking(namespace="theirs")]}]}
    for wrong in (asking(namespace="theirs"), inside, "text", ["list"], {**asking(), "metadata": "text"}, {**asking(), "metadata": {"namespace": 1}}):
        said = status(create(tenants, dry_run(wrong), 400), 400, "BadRequest")
        assert "spec.objects" in said or "namespace" in said
    assert create(tenants, dry_run(asking(namespace="ours")))
    other = dry_run(asking())
    other["metadata"]["namespace"] = "theirs"
    status(create(tenants, other, 400), 400, "BadRequest")
    for body in (None, {}, {**dry_run(asking()), "kind": "Pod"}, dry_run(), dry_run(asking(), explane=True), {**dry_run(asking()), "more": 1}):
        status(create(tenants, body, 400), 400, "BadRequest")
    status(create(tenants, dry_run(asking(), explain="yes"), 400), 400, "BadRequest")
    status(create(tenants, dry_run(asking()), 403, "theirs"), 403, "Forbidden")
    status(tenants.forward(tenants.proxy, f"{BASE}/dryruns", method="POST", body=dry_run(asking())), 405, "MethodNotAllowed")
    for path in ("dryruns", "namespaces/ours/dryruns", "namespaces/ours/dryruns/try"):
        assert tenants.refuse(path, 405, "MethodNotAllowed")


# ---- before the first lists ----


class Early(Tenants):
    def _wait_until_ready(self):
        """It never is."""


def test_discovery_needs_no_data(api, tmp_path):
    front = Authority(tmp_path / "front")
    api.store.put(config_map(front))
    api.faults.fail("list pods", 500, times=None)
    grant(api, ("list", "gpupods", ""), ("create", "dryruns", "ours"))
    with stopping(functools.partial(Early, api, tmp_path)) as begin:
        early = begin(cacheSeconds=0)
        early.trusts()
        early.proxy = front.client(NAMED)
        for path in ("/apis", BASE, "/openapi/v2", "/openapi/v3"):
            assert early.forward(early.proxy, path).status == 200
        assert "waiting for" in early.refuse("gpupods", 503, "ServiceUnavailable")
        assert "waiting for" in status(create(early, dry_run(asking()), 503), 503, "ServiceUnavailable")


# ---- what there is not ----


def test_objects_are_only_read(tenants, tenant):
    there = "namespaces/ours/gpupods"
    tenants.refuse(there, 405, "MethodNotAllowed", watch="1")
    tenants.refuse(there, 405, "MethodNotAllowed", method="POST")
    tenants.refuse(there, 405, "MethodNotAllowed", method="DELETE")
    wrong = ("namespaces/ours", "namespaces/ours/", "namespaces//gpupods", "namespaces/ours/gpunodes", "gpupods/a", "gpunodes/", "gpunodes/a/b", "gpupodsx")
    for path in (*wrong, f"{there}/", f"{there}/a/", f"{there}/a/status", f"{there}/a/explain/b", "gpupods/a/explain"):
        tenants.refuse(path, 404, "NotFound")
