"""The aggregated API through the real API server, with the real kubectl and client-go: what each user sees by each face, discovery,
forged headers, two replicas, and deleted namespaces while no replica answers."""

import contextlib
import json
import os
import subprocess

import dra
import plane
import pytest
import yaml
from aggregated import API_SERVICE, API_SERVICES, BASE, GROUP, USERS, Aggregated
from api import wait_until
from certificates import Authority
from cluster import NODES, node, pod
from guarded import DRY_RUN, PATHS
from kubectl_gpu import Ui
from objects import ageless
from service import ENV, ROOT

MODEL = "NVIDIA-H100-80GB-HBM3"
INVENTORY = f"{BASE}/views/inventory"
SECRET = "secret-project"
NAMESPACES = "/api/v1/namespaces"
GONE_S = 120
# What a tenant sees in the namespace.
KINDS = ("gpupods", "gpupending", "gpuclaims", "gpuquotas", "gpudecisions")
ALL = ",".join(KINDS)
CLIENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clients/build")


def fill(aggregated, namespace, owner, waits):
    """A pod that holds a GPU, and one that waits, on which the service has decided."""
    api, pods = aggregated.plane.api, f"{NAMESPACES}/{namespace}/pods"
    api.create(pods, pod(f"{owner}-holds", 1, node_name="node"))
    answer = aggregated.service.decide(api.create(pods, pod(waits, 16)))
    assert answer.status == 200, answer


def claim(api, namespace, owner, device):
    """A pod with a claim for a device."""
    pods, claims = f"{NAMESPACES}/{namespace}/pods", f"{dra.GROUP}/v1/namespaces/{namespace}/resourceclaims"
    api.create(claims, {"metadata": {"name": f"{owner}-claim", "labels": {"team": owner}}, "spec": dra.wanted(1)})
    user = api.create(pods, pod(f"{owner}-claims", 0, node_name="node", **dra.asks_by_name(f"{owner}-claim")))["metadata"]
    given = {"request": "gpus", "driver": dra.DRIVER, "pool": "node", "device": f"gpu-{device}"}
    reserved = [{"resource": "pods", "name": user["name"], "uid": user["uid"]}]
    api.merge(f"{claims}/{owner}-claim/status", {"status": {"allocation": {"devices": {"results": [given]}}, "reservedFor": reserved}})


def claim_devices(api):
    """Returns the number of claims."""
    api.create(dra.PATHS["deviceclasses"], dra.device_class())
    api.create(dra.PATHS["resourceslices"], dra.resource_slice("node", range(2)))
    claim(api, "default", "ours", 0)
    claim(api, "theirs", "theirs", 1)
    return 2


def states_of_claims(api):
    return [each["status"]["state"] for each in api.get(f"{BASE}/gpuclaims")["items"]]


@pytest.fixture(scope="module")
def aggregated(programs, tmp_path_factory):
    with Aggregated(programs, tmp_path_factory.mktemp("aggregated")) as running:
        api = running.plane.api
        api.create(NODES, node("node", MODEL, 8))
        api.create(NAMESPACES, {"metadata": {"name": "theirs"}})
        n_claims = claim_devices(api) if dra.are_served(api) else 0
        fill(running, "default", "ours", SECRET)
        fill(running, "theirs", "theirs", "theirs-waits")
        running.ask("create", "rolebinding", "tenant", "--clusterrole=view", "--user=tenant", "--namespace=default")
        running.ask("create", "clusterrolebinding", "viewers", "--clusterrole=gpu-extender-views", "--user=viewer")
        wait_until(lambda: raw(running, "viewer", INVENTORY)[0] == 0, lambda: raw(running, "viewer", INVENTORY))
        wait_until(lambda: "theirs-waits" in raw(running, "viewer", f"{BASE}/views/pending")[1], lambda: "the last pod is unknown")
        wait_until(lambda: states_of_claims(api) == ["in use"] * n_claims, lambda: states_of_claims(api))
        yield running


def raw(aggregated, user, path, verb="get", *more):
    """kubectl's exit status and output. user None: the administrator."""
    return aggregated.kubectl.run(*(aggregated.plane.user(user) if user else ()), verb, "--raw", path, *more)


def test_users_with_the_role_get_the_views(aggregated):
    for user in (None, "viewer"):
        status, said = raw(aggregated, user, INVENTORY)
        assert status == 0, said
        assert [each["name"] for each in json.loads(said)["nodes"]] == ["node"]
    table = raw(aggregated, "viewer", f"{BASE}/views/pending?output=table")
    assert table[0] == 0 and SECRET in table[1]


def test_the_dry_run_is_a_view(aggregated):
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "fits"}, "spec": pod("fits", 1)["spec"]}
    file = aggregated.plane.write("fits.json", json.dumps(manifest))
    for user in (None, "viewer"):
        status, said = raw(aggregated, user, f"{BASE}/views/dry-run", "create", "--filename", file)
        assert status == 0, said
    status, said = raw(aggregated, "stranger", f"{BASE}/views/dry-run", "create", "--filename", file)
    assert status == 1 and "Forbidden" in said
    status, said = raw(aggregated, "viewer", f"{BASE}/views/inventory", "create", "--filename", file)
    assert status == 1 and "Forbidden" in said, "the role allows one view to be created"


def test_others_learn_nothing(aggregated):
    for view in ("inventory", "pending", "quota", "snapshot", "nothing", f"explain?namespace=default&name={SECRET}"):
        for user in ("stranger", "tenant"):
            status, said = raw(aggregated, user, f"{BASE}/views/{view}")
            assert status == 1 and said.startswith("Error from server (Forbidden): "), said
            assert SECRET not in said and MODEL not in said
    for method, path in PATHS:
        body = DRY_RUN if method == "POST" else None
        for user in ("stranger", "tenant"):
            answer = aggregated.service.reach(path, {"Authorization": f"Bearer {user}-token"}, body=body)
            assert answer.status == 403 and SECRET not in answer.text and MODEL not in answer.text, (path, answer)
    for user, may in (("stranger", "no"), ("viewer", "yes")):
        said = aggregated.kubectl.run(*aggregated.plane.user(user), "auth", "can-i", "get", f"views.{GROUP}/inventory")[1]
        assert said.split()[-1] == may, said


@pytest.mark.parametrize("user", [None, *USERS])
def test_discovery_works_for_everybody(aggregated, user):
    """Every user can read resources and verbs of all groups, and OpenAPI, as clients do."""
    who = aggregated.plane.user(user) if user else ()

    def ask(*command):
        status, said = aggregated.kubectl.run(*who, *command)
        assert status == 0, said
        return said

    assert f"views  {GROUP}/v1alpha1  false  View  create,get" in ["  ".join(line.split()[:5]) for line in ask("api-resources", "-o", "wide").split("\n")]
    assert f"{GROUP}/v1alpha1" in ask("api-versions").split()
    resources = json.loads(ask("get", "--raw", BASE))["resources"]
    kinds = {"views", "gpunodes", "gpupods", "gpupods/explain", "gpupending", "gpuclaims", "gpuquotas", "gpudecisions", "dryruns"}
    assert {each["name"] for each in resources} == kinds
    assert GROUP in [each["name"] for each in json.loads(ask("get", "--raw", "/apis"))["groups"]]


def test_kubectl_works_as_before(aggregated):
    assert SECRET in aggregated.ask("get", "all", "-A")
    assert SECRET in aggregated.ask("get", "pods", "-A")
    status, said = aggregated.kubectl.run("get", "views", "inventory")
    assert status == 1 and said.startswith("Error from server (NotAcceptable): ") and "kubectl get --raw" in said, said


def granted(aggregated, user, *words):
    """The output of kubectl, once the aggregated roles have the right."""
    who = aggregated.plane.user(user) if user else ()
    wait_until(lambda: aggregated.kubectl.run(*who, *words)[0] == 0, lambda: aggregated.kubectl.run(*who, *words))
    return aggregated.kubectl.run(*who, *words)[1]


def test_kubectl_lists_the_objects(aggregated):
    """The columns of kubectl's tables, names, YAML and explanations."""
    assert granted(aggregated, None, "get", "gpunodes").split("\n")[0].split() == ["NAME", "STATUS", "MODEL", "FREE"]
    assert "6 of 8 nvidia.com/gpu" in aggregated.ask("get", "gpunodes")
    assert "SHARING" in aggregated.ask("get", "gpunodes", "-o", "wide").split("\n")[0]
    assert aggregated.ask("get", "gpunode", "node", "-o", "name") == f"gpunode.{GROUP}/node\n"
    assert yaml.safe_load(aggregated.ask("get", "gpupending", "-A", "-o", "yaml"))["items"][0]["kind"] == "GPUPending"
    assert SECRET in aggregated.ask("get", "gpupending", "--field-selector", f"metadata.name={SECRET}")
    assert SECRET not in aggregated.ask("get", "gpupending", "-A", "--selector", "none=none")
    for resource, said in (("views", "kubectl get"), ("gpupending", "waits for GPUs"), ("gpupending.status.why", "Why it waits"), ("gpunodes.status", "free")):
        assert said in aggregated.ask("explain", resource, f"--api-version={GROUP}/v1alpha1"), resource
    status, said = aggregated.kubectl.run("get", "gpunodes", "--watch-only")
    assert status == 1 and "MethodNotAllowed" in said, said


# ---- an administrator, a tenant, and a user without rights ----


def listed(said):
    return json.loads(said)["items"]


def names(items):
    return {(each["kind"], each["metadata"]["namespace"]) for each in items}


@dra.SINCE
def test_an_administrator_sees_all_namespaces(aggregated):
    kinds = ("GPUPod", "GPUPending", "GPUClaim", "GPUQuota", "GPUDecision")
    assert names(listed(aggregated.ask("get", ALL, "-A", "-o", "json"))) == {(kind, of) for kind in kinds for of in ("default", "theirs")}


@dra.SINCE
def test_kubectl_selects_claims_by_labels(aggregated):
    for selector, wanted in (("team=ours", "ours-claim\n"), ("team notin (ours)", "theirs-claim\n"), ("none", "")):
        said = aggregated.ask("get", "gpuclaims", "-A", "-l", selector, "-o", "jsonpath={range .items[*]}{.metadata.name}{'\\n'}{end}")
        assert said == wanted, selector
    assert "No resources found" in aggregated.ask("get", "gpuclaims", "-A", "-l", "none")


@dra.SINCE
def test_a_tenant_sees_one_namespace(aggregated):
    """The ClusterRole view has the right by aggregation; bound in one namespace, it gives nothing elsewhere."""
    ours = listed(granted(aggregated, "tenant", "get", ALL, "-o", "json"))
    assert ours == listed(aggregated.ask("get", ALL, "-n", "default", "-o", "json"))
    for words in (("get", ALL), ("get", ALL, "-o", "wide"), ("get", ALL, "-o", "name"), ("describe", ALL)):
        status, said = aggregated.kubectl.run(*aggregated.plane.user("tenant"), *words)
        assert status == 0 and "theirs-" not in said, said
        assert not [name for name in ("ours-holds", "ours-claims", "ours-claim", SECRET, "team") if name not in said], said
    status, said = raw(aggregated, "tenant", f"{BASE}/namespaces/default/gpupods/{SECRET}/explain")
    assert status == 0 and json.loads(said)["status"]["pod"]["name"] == SECRET
    for verb, what, may in (("list", f"gpupending.{GROUP}", "yes"), ("list", f"gpunodes.{GROUP}", "no"), ("watch", f"gpupending.{GROUP}", "no")):
        assert aggregated.kubectl.run(*aggregated.plane.user("tenant"), "auth", "can-i", verb, what)[1].split()[-1] == may


@pytest.mark.parametrize("user, namespaces", [("tenant", ["theirs"]), ("stranger", ["default", "theirs"])])
def test_elsewhere_users_learn_nothing(aggregated, user, namespaces):
    """A 403 does not even tell whether an object exists."""
    who = aggregated.plane.user(user)

    def refused(*words):
        status, said = aggregated.kubectl.run(*who, *words)
        assert status == 1 and "Forbidden" in said and MODEL not in said, said
        return said

    lists = [("get", ALL, "-A"), ("get", "gpunodes"), *(("get", ALL, "-n", namespace) for namespace in namespaces)]
    for words in lists:
        said = refused(*words)
        assert said.count("Forbidden") == len(words[1].split(",")) and "theirs-" not in said and SECRET not in said, said
    for namespace in namespaces:
        owner = "ours" if namespace == "default" else "theirs"
        for name in (f"gpupods/{owner}-holds", f"gpuclaims/{owner}-claim", "gpuquotas/team", "gpudecisions/0000000001"):
            unknown = f"{name}-none"
            assert refused("get", name, "-n", namespace) == refused("get", unknown, "-n", namespace).replace("-none", "")
        refused("get", "--raw", f"{BASE}/namespaces/{namespace}/gpupods/{owner}-holds/explain")
    assert "no" == aggregated.kubectl.run(*who, "auth", "can-i", "list", f"gpupods.{GROUP}", "-A")[1].split()[-1]


def test_users_of_nodes_see_no_pods(aggregated):
    aggregated.ask("create", "clusterrolebinding", "nodes", "--clusterrole=gpu-extender-nodes", "--user=viewer")
    said = granted(aggregated, "viewer", "get", "gpunodes", "-o", "yaml")
    assert MODEL in said and not [each for each in ("ours-", "theirs", SECRET) if each in said], said
    status, said = aggregated.kubectl.run(*aggregated.plane.user("viewer"), "get", ALL, "-A")
    assert status == 1 and said.count("Forbidden") == len(KINDS), said


# ---- clients ----


@pytest.fixture(scope="module")
def client():
    """The program of clients.go."""
    try:
        return os.path.join(plane.built(CLIENTS), "clients")
    except plane.NotHere as error:
        pytest.skip(str(error))


@dra.SINCE
def test_client_go(aggregated, client):
    """Its discovery, its RESTMapper, lists in pages, and metadata, as controllers and k9s use them."""

    def ask(user, resource, namespace):
        kubeconfig = aggregated.plane.user(user)[1] if user else aggregated.kubectl.kubeconfig
        done = subprocess.run([client, f"{GROUP}/v1alpha1", resource, namespace], env={**os.environ, "KUBECONFIG": kubeconfig}, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    holders = ["default/ours-claims", "default/ours-holds", "theirs/theirs-claims", "theirs/theirs-holds"]
    for user, namespace, visible in ((None, "", holders), ("tenant", "default", holders[:2])):
        seen = ask(user, "gpupods", namespace)
        assert (seen["names"], seen["metadata"], seen["pages"]) == (visible, visible, len(visible))
        assert (seen["kind"], seen["plural"]) == ("GPUPod", "gpupods")
        assert {"gpupods[get list]", "gpupods/explain[get]", "dryruns[create]"} <= set(seen["resources"]) and "gpunodes" not in seen["namespaced"]
        assert list(seen["errors"]) == ["Watch"], seen["errors"]
    seen = ask("stranger", "gpupods", "")
    assert seen["kind"] == "GPUPod" and not seen["names"] and sorted(seen["errors"]) == ["List", "List of metadata", "Watch"]


def test_forms_that_clients_accept(aggregated):
    """Aggregated discovery, metadata only, and tables with whole objects."""
    api = aggregated.plane.api

    def ask(path, accept):
        with api._connection() as connection:
            connection.request("GET", path, headers={"Accept": accept, "Authorization": f"Bearer {api.token}"})
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()
            return json.loads(answer.read())

    found = ask("/apis", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json")
    ours = next(each for each in found["items"] if each["metadata"]["name"] == GROUP)["versions"][0]
    assert ours["freshness"] == "Current" and "gpupending" in [each["resource"] for each in ours["resources"]]
    pending = f"{BASE}/namespaces/default/gpupending"
    partial = "as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    metadata = ask(pending, f"application/vnd.kubernetes.protobuf;{partial},application/json;{partial},application/json")
    assert metadata["kind"] == "PartialObjectMetadataList" and metadata["items"][0]["metadata"]["name"] == SECRET
    table = ask(f"{pending}?includeObject=Object", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json")
    assert table["kind"] == "Table" and table["rows"][0]["object"]["status"]["asksFor"] == "16 nvidia.com/gpu"


def test_dry_runs(aggregated):
    """kubectl leaves the validation to the service; it may not list CustomResourceDefinitions as the tenant."""
    aggregated.ask("create", "rolebinding", "runner", "--clusterrole=gpu-extender-dry-runs", "--user=tenant", "--namespace=default")
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "fits"}, "spec": pod("fits", 1)["spec"]}
    asked = {"apiVersion": f"{GROUP}/v1alpha1", "kind": "DryRun", "metadata": {"name": "try"}, "spec": {"objects": [manifest]}}
    file = aggregated.plane.write("try.json", json.dumps(asked))
    tenant = aggregated.plane.user("tenant")
    assert f"dryrun.{GROUP}/try created" in aggregated.ask("create", "--filename", file)
    answered = yaml.safe_load(granted(aggregated, "tenant", "create", "--filename", file, "--output", "yaml"))
    assert answered["status"]["workloads"][0]["placements"][0]["node"] == "node"
    wrong = aggregated.plane.write("wrong.json", json.dumps({**asked, "spec": {"objets": []}}))
    for who, more in ((tenant, ["--validate=false"]), (tenant, []), ((), [])):
        status, said = aggregated.kubectl.run(*who, "create", *more, "--filename", wrong)
        assert status == 1 and "objets" in said
    for user, namespace in (("tenant", "kube-system"), ("stranger", "default")):
        status, said = aggregated.kubectl.run(*aggregated.plane.user(user), "create", "--filename", file, "--namespace", namespace)
        assert status == 1 and "Forbidden" in said.replace("forbidden", "Forbidden"), said
    assert "spec" in aggregated.ask("explain", "dryruns", f"--api-version={GROUP}/v1alpha1")


def test_openapi_is_merged(aggregated):
    def merged():
        return f"{BASE}/views/{{name}}" in json.loads(aggregated.ask("get", "--raw", "/openapi/v2"))["paths"]

    wait_until(merged, lambda: "the API server has not merged OpenAPI v2")
    address = json.loads(aggregated.ask("get", "--raw", "/openapi/v3"))["paths"][BASE.removeprefix("/")]["serverRelativeURL"]
    assert f"{BASE}/views/{{name}}" in json.loads(aggregated.ask("get", "--raw", address))["paths"]
    assert "kubectl get --raw" in aggregated.ask("explain", "views", f"--api-version={GROUP}/v1alpha1")


def test_headers_count_only_from_the_front_proxy(aggregated, tmp_path):
    headers = {"X-Remote-User": "root", "X-Remote-Group": "system:masters"}
    stranger = Authority(tmp_path / "stranger").client("front-proxy-client")
    certificates = aggregated.kubectl.path("overlays/self-signed/certificates/")
    for client in (None, stranger, (f"{certificates}client.crt", f"{certificates}client.key")):
        for path in (INVENTORY, "/apis", "/openapi/v2"):
            answer = aggregated.service.reach(path, headers, client)
            assert (answer.status, answer.json()["reason"]) == (401, "Unauthorized")
    assert raw(aggregated, "stranger", INVENTORY)[0] == 1


def test_the_proxys_headers_replace_the_users(aggregated):
    """Headers that a user sends are not the ones that reach us."""
    api = aggregated.plane.api.with_token("stranger-token")
    with api._connection() as connection:
        connection.request("GET", INVENTORY, headers={"Authorization": "Bearer stranger-token", "X-Remote-User": "root", "X-Remote-Group": "system:masters"})
        assert connection.getresponse().status == 403


@pytest.fixture(scope="module")
def static_plugin():
    """The plugin as it is published: linked statically."""
    subprocess.run(["scripts/build", "static", "kubectl-gpu"], cwd=ROOT, check=True)


def plugin(aggregated, user, *words):
    """`kubectl gpu` finds the plugin in PATH, which finds kubectl there."""
    folders = (os.path.join(ROOT, "build/static"), aggregated.programs, os.environ["PATH"])
    who = aggregated.plane.user(user) if user else ("--kubeconfig", aggregated.kubectl.kubeconfig)
    env = {**os.environ, **ENV, "PATH": ":".join(folders), "HOME": aggregated.kubectl.home}
    command = [aggregated.kubectl.program, "gpu", *words, *who]
    return subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


VERBS = {
    ("nodes",): "inventory",
    ("nodes", "-l", f"nvidia.com/gpu.product in ({MODEL}, other)"): f"inventory?labelSelector=nvidia.com/gpu.product={MODEL}",
    ("nodes", "-l", "!nvidia.com/gpu.product"): "inventory?labelSelector=!nvidia.com/gpu.product",
    ("pending",): "pending?namespace=default",
    ("pending", "-A"): "pending",
    ("pending", "-l", "none=a"): "pending?namespace=default&labelSelector=none=a",
    ("why", SECRET): f"explain?namespace=default&name={SECRET}",
    ("quota",): "quota?namespace=default",
    ("frag",): "fragmentation",
    ("decisions",): "decisions?namespace=default",
    ("node-groups",): "node-groups",
}


@dra.SINCE
def test_the_plugins_answers_are_those_of_the_views(aggregated, static_plugin):
    for words, view in VERBS.items():
        done = plugin(aggregated, "viewer", *words, "-o", "json")
        assert (done.returncode, done.stderr) == (0, ""), done
        assert ageless(json.loads(done.stdout)) == ageless(json.loads(raw(aggregated, "viewer", f"{BASE}/views/{view}")[1])), words
    assert json.loads(plugin(aggregated, "viewer", "nodes", "-l", "!nvidia.com/gpu.product", "-o", "json").stdout)["nodes"] == []
    assert plugin(aggregated, "viewer", "claims", "-l", "team=ours", "-A", "-o", "name").stdout == "resourceclaim/ours-claim\n"
    asked = aggregated.plane.write("what-if.json", json.dumps({"changes": [{"drain": ["node"]}]}))
    status, answer = raw(aggregated, "viewer", f"{BASE}/views/what-if", "create", "--filename", asked)
    done = plugin(aggregated, "viewer", "what-if", "--drain", "node", "-o", "json")
    assert (status, done.returncode) == (0, 1) and ageless(json.loads(done.stdout)) == ageless(json.loads(answer))
    assert plugin(aggregated, "viewer", "what-if", "--drain", "nobody").returncode == 2
    assert plugin(aggregated, None, "doctor").returncode == 0


def test_the_plugin_uses_the_users_rights(aggregated, static_plugin):
    for user in (None, "viewer"):
        for words in (("nodes",), ("pending",), ("why", SECRET), ("quota",), ("frag",), ("claims",), ("version",)):
            done = plugin(aggregated, user, *words)
            assert (done.returncode, done.stderr) == (0, ""), done
    assert plugin(aggregated, "viewer", "nodes", "-o", "name").stdout == "node/node\n"
    assert plugin(aggregated, "viewer", "pending", "-n", "default", "-o", "name").stdout == f"pod/{SECRET}\n"
    assert plugin(aggregated, "viewer", "pending", "-n", "kube-system", "-o", "name").stdout == ""
    assert plugin(aggregated, "viewer", "why", "nobody").returncode == 2
    for words in (("nodes",), ("why", SECRET), ("claims",), ("what-if", "--drain", "node")):
        done = plugin(aggregated, "stranger", *words)
        assert (done.returncode, done.stdout) == (3, "") and "forbidden" in done.stderr and MODEL not in done.stderr
    assert plugin(aggregated, None, "nodes", "--as=stranger").returncode == 3


def test_the_plugins_exit_status_is_for_ci(aggregated, static_plugin):
    for gpus, status in ((1, 0), (9, 1)):
        manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "asks"}, "spec": pod("asks", gpus)["spec"]}
        file = aggregated.plane.write("asks.json", json.dumps(manifest))
        assert plugin(aggregated, "viewer", "fit", "-f", file).returncode == status
        assert plugin(aggregated, "stranger", "fit", "-f", file).returncode == 3
    assert plugin(aggregated, "viewer", "fit", "-f", aggregated.plane.write("asks.json", "a: [")).returncode == 2


def test_the_plugin_serves_the_page(aggregated):
    """With the real kubectl and the user's rights; nothing else of the API server is reached."""
    manifest = json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "asks"}, "spec": pod("asks", 1)["spec"]})
    env = {"PATH": f"{aggregated.programs}:{os.environ['PATH']}", "HOME": aggregated.kubectl.home}
    for user, status in (("viewer", 200), ("stranger", 403)):
        ui = Ui(*aggregated.plane.user(user), env=env)
        try:
            answers = [ui.get(f"/v1/{path}") for path in ("inventory", "pending", "policy", f"explain?namespace=default&name={SECRET}")]
            answers.append(ui.post("/v1/dry-run", manifest))
            assert [answer.status for answer in answers] == [status] * 5, answers
            assert status == 200 or not any(MODEL in answer.text or SECRET in answer.text for answer in answers)
            if status == 200:
                assert [node["name"] for node in answers[0].json()["nodes"]] == ["node"]
                assert ui.get("/v1/inventory", {"If-None-Match": answers[0].headers["etag"]}).status == 304
            for path in ("/api/v1/secrets", "/v1/../../../../../api/v1/secrets", "/v1/snapshot"):
                assert ui.get(path).status == 404
        finally:
            ui.stop()


# ---- two replicas ----


@pytest.fixture
def other(aggregated):
    """A second replica, which does not lead."""
    started = aggregated.replica()
    yield started
    aggregated.any_replica.lead_to(aggregated.service.port)
    started.stop()


def test_pages_go_on_at_another_replica(aggregated, other):
    ask = aggregated.plane.api.get
    for kind in ("gpunodes", "gpupods", "gpupending", "gpuclaims", "gpuquotas"):
        whole, page, found = ask(f"{BASE}/{kind}")["items"], {"metadata": {"continue": ""}}, []
        while page["metadata"].get("continue") is not None:
            aggregated.any_replica.lead_to(other.port if len(found) % 2 else aggregated.service.port)
            page = ask(f"{BASE}/{kind}?limit=1&continue={page['metadata']['continue']}")
            found += page["items"]
        assert found == whole, kind


def test_decisions_are_those_of_the_leader(aggregated, other):
    """Another replica answers 503 and closes the connection: kubectl asks again, and a new connection may lead to the leader."""
    aggregated.any_replica.lead_to(other.port)
    for path in (f"{BASE}/namespaces/default/gpudecisions", f"{BASE}/views/decisions", f"{BASE}/views/observed"):
        assert aggregated.plane.api.status_of("GET", path) == 503
    assert aggregated.plane.api.status_of("GET", f"{BASE}/gpunodes") == 200
    aggregated.any_replica.ports = [aggregated.service.port]  # open connections stay
    assert SECRET in aggregated.ask("get", "gpudecisions")


def test_namespaces_go_while_one_replica_is_away(aggregated, other):
    """Half of the new connections lead to nobody."""
    aggregated.any_replica.lead_to(aggregated.service.port, aggregated.any_replica.nobody)
    api = aggregated.plane.api
    api.create(NAMESPACES, {"metadata": {"name": "half"}})
    api.delete(f"{NAMESPACES}/half")
    wait_until_gone(aggregated, "half")


# ---- namespaces; the last tests, because they stop the service ----


def delete_in_vain(aggregated, name):
    """Deletes a namespace and waits until its controller reports that it could not find out what is in it."""
    api = aggregated.plane.api
    api.create(NAMESPACES, {"metadata": {"name": name}})
    api.delete(f"{NAMESPACES}/{name}")
    reason = "NamespaceDeletionDiscoveryFailure"
    api.wait_for(
        NAMESPACES,
        f"metadata.name={name}",
        lambda seen: any(each["type"] == reason and each["status"] == "True" for each in seen["status"].get("conditions", [])),
    )


def wait_until_gone(aggregated, name):
    api, path = aggregated.plane.api, f"{NAMESPACES}/{name}"
    with contextlib.closing(api.watch(NAMESPACES, f"metadata.name={name}", GONE_S)) as events:
        is_gone = api.status_of("GET", path) == 404 or any(event == "DELETED" for event, _ in events)
        assert is_gone or api.status_of("GET", path) == 404, f"{name} is still there after {GONE_S} s"


@pytest.fixture
def silent(aggregated):
    """No replica answers, and the API server knows it."""
    aggregated.service.stop()
    aggregated.plane.api.wait_for(
        API_SERVICES,
        f"metadata.name={API_SERVICE}",
        lambda seen: any(each["type"] == "Available" and each["status"] == "False" for each in seen["status"]["conditions"]),
    )
    return aggregated


def test_namespaces_go_after_the_return_of_a_replica(silent):
    delete_in_vain(silent, "returning")
    assert SECRET in silent.ask("get", "pods", "-A")
    silent.start()
    wait_until_gone(silent, "returning")
    silent.wait_until_available()


def test_namespaces_go_after_the_removal(silent):
    delete_in_vain(silent, "removing")
    silent.ask("delete", "apiservice", API_SERVICE)
    wait_until_gone(silent, "removing")
    assert GROUP not in silent.ask("api-versions")
