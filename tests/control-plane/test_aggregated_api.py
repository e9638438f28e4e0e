"""The aggregated API through the real API server, with the real kubectl: rights, discovery, forged headers, and deleted namespaces while
no replica answers."""

import contextlib
import json
import os
import subprocess

import pytest
import yaml
from aggregated import API_SERVICE, API_SERVICES, BASE, GROUP, USERS, Aggregated
from api import wait_until
from certificates import Authority
from cluster import NODES, node, pod
from service import BINARY, ENV, SANITIZERS

MODEL = "NVIDIA-H100-80GB-HBM3"
INVENTORY = f"{BASE}/views/inventory"
SECRET = "secret-project"
NAMESPACES = "/api/v1/namespaces"
GONE_S = 120


@pytest.fixture(scope="module")
def aggregated(programs, tmp_path_factory):
    with Aggregated(programs, tmp_path_factory.mktemp("aggregated")) as running:
        api = running.plane.api
        api.create(NODES, node("node", MODEL, 8))
        api.create(f"{NAMESPACES}/default/pods", pod(SECRET, 16))
        running.ask("create", "clusterrolebinding", "viewers", "--clusterrole=gpu-extender-views", "--user=viewer")
        wait_until(lambda: raw(running, "viewer", INVENTORY)[0] == 0, lambda: raw(running, "viewer", INVENTORY))
        wait_until(lambda: SECRET in raw(running, "viewer", f"{BASE}/views/pending")[1], lambda: "the pod is unknown")
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
        status, said = raw(aggregated, "stranger", f"{BASE}/views/{view}")
        assert status == 1 and said.startswith("Error from server (Forbidden): "), said
        assert SECRET not in said and MODEL not in said
    for user, may in (("stranger", "no"), ("viewer", "yes")):
        said = aggregated.kubectl.run(*aggregated.plane.user(user), "auth", "can-i", "get", f"views.{GROUP}/inventory")[1]
        assert said.split()[-1] == may, said


@pytest.mark.parametrize("user", [None, *USERS])
def test_discovery_works_for_everybody(aggregated, user):
    """As clients do: resources and verbs of all groups, and OpenAPI."""
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
    """What kubectl prints once the aggregated roles have the right."""
    who = aggregated.plane.user(user) if user else ()
    wait_until(lambda: aggregated.kubectl.run(*who, *words)[0] == 0, lambda: aggregated.kubectl.run(*who, *words))
    return aggregated.kubectl.run(*who, *words)[1]


def test_kubectl_lists_the_objects(aggregated):
    """The columns of kubectl's tables, names, YAML and explanations."""
    assert granted(aggregated, None, "get", "gpunodes").split("\n")[0].split() == ["NAME", "STATUS", "MODEL", "FREE"]
    assert "8 of 8 nvidia.com/gpu" in aggregated.ask("get", "gpunodes")
    assert "SHARING" in aggregated.ask("get", "gpunodes", "-o", "wide").split("\n")[0]
    assert aggregated.ask("get", "gpunode", "node", "-o", "name") == f"gpunode.{GROUP}/node\n"
    assert yaml.safe_load(aggregated.ask("get", "gpupending", "-A", "-o", "yaml"))["items"][0]["kind"] == "GPUPending"
    assert SECRET in aggregated.ask("get", "gpupending", "--field-selector", f"metadata.name={SECRET}")
    assert SECRET not in aggregated.ask("get", "gpupending", "-A", "--selector", "none=none")
    assert SECRET in aggregated.ask("describe", "gpupending", SECRET)
    for resource, said in (("views", "kubectl get"), ("gpupending", "waits for GPUs"), ("gpupending.status.why", "Why it waits"), ("gpunodes.status", "free")):
        assert said in aggregated.ask("explain", resource, f"--api-version={GROUP}/v1alpha1"), resource
    for kind in ("gpuclaims", "gpuquotas", "gpudecisions"):
        assert "No resources found" in aggregated.ask("get", kind, "-A") or kind == "gpuquotas"
    status, said = aggregated.kubectl.run("get", "gpunodes", "--watch-only")
    assert status == 1 and "MethodNotAllowed" in said, said


def test_a_tenant_sees_one_namespace(aggregated):
    """The ClusterRole view has the right by aggregation; bound in one namespace, it gives nothing elsewhere."""
    tenant = aggregated.plane.user("tenant")
    aggregated.ask("create", "rolebinding", "tenant", "--clusterrole=view", "--user=tenant", "--namespace=default")
    assert SECRET in granted(aggregated, "tenant", "get", "gpupending", "-o", "wide")
    explained = json.loads(granted(aggregated, "tenant", "get", "--raw", f"{BASE}/namespaces/default/gpupods/{SECRET}/explain"))
    assert explained["status"]["pod"]["name"] == SECRET
    assert "No resources found" in granted(aggregated, "tenant", "get", "gpupods")
    for words in (("gpupending", "-A"), ("gpupods", "-n", "kube-system"), ("gpunodes",)):
        status, said = aggregated.kubectl.run(*tenant, "get", *words)
        assert status == 1 and "Forbidden" in said and SECRET not in said, said
    for verb, what, may in (("list", f"gpupending.{GROUP}", "yes"), ("list", f"gpunodes.{GROUP}", "no"), ("watch", f"gpupending.{GROUP}", "no")):
        assert aggregated.kubectl.run(*tenant, "auth", "can-i", verb, what)[1].split()[-1] == may
    for kind in ("gpupods", "gpupending", "gpunodes", "gpuclaims", "gpuquotas", "gpudecisions"):
        status, said = aggregated.kubectl.run(*aggregated.plane.user("stranger"), "get", kind)
        assert status == 1 and "Forbidden" in said and SECRET not in said and MODEL not in said, said


def test_clients_of_libraries(aggregated):
    """What client-go and k9s ask: aggregated discovery, metadata only, and tables with whole objects."""
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
    """Without --validate=false kubectl lists CustomResourceDefinitions, which the tenant may not."""
    aggregated.ask("create", "rolebinding", "runner", "--clusterrole=gpu-extender-dry-runs", "--user=tenant", "--namespace=default")
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "fits"}, "spec": pod("fits", 1)["spec"]}
    asked = {"apiVersion": f"{GROUP}/v1alpha1", "kind": "DryRun", "metadata": {"name": "try"}, "spec": {"objects": [manifest]}}
    file = aggregated.plane.write("try.json", json.dumps(asked))
    tenant = aggregated.plane.user("tenant")
    assert f"dryrun.{GROUP}/try created" in aggregated.ask("create", "--filename", file)
    answered = yaml.safe_load(granted(aggregated, "tenant", "create", "--validate=false", "--filename", file, "--output", "yaml"))
    assert answered["status"]["workloads"][0]["placements"][0]["node"] == "node"
    wrong = aggregated.plane.write("wrong.json", json.dumps({**asked, "spec": {"objets": []}}))
    for who, more in ((tenant, ["--validate=false"]), ((), [])):
        status, said = aggregated.kubectl.run(*who, "create", *more, "--filename", wrong)
        assert status == 1 and "objets" in said
    for user, namespace in (("tenant", "kube-system"), ("stranger", "default")):
        status, said = aggregated.kubectl.run(*aggregated.plane.user(user), "create", "--validate=false", "--filename", file, "--namespace", namespace)
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
            answer = aggregated.service.forge(path, headers, client)
            assert (answer.status, answer.json()["reason"]) == (401, "Unauthorized")
    assert raw(aggregated, "stranger", INVENTORY)[0] == 1


def test_the_proxys_headers_replace_the_users(aggregated):
    """Headers that a user sends are not the ones that reach us."""
    api = aggregated.plane.api.with_token("stranger-token")
    with api._connection() as connection:
        connection.request("GET", INVENTORY, headers={"Authorization": "Bearer stranger-token", "X-Remote-User": "root", "X-Remote-Group": "system:masters"})
        assert connection.getresponse().status == 403


def plugin(aggregated, user, *words):
    """`kubectl gpu` finds the plugin in PATH, which finds kubectl there."""
    folders = (os.path.dirname(BINARY), aggregated.programs, os.environ["PATH"])
    who = aggregated.plane.user(user) if user else ("--kubeconfig", aggregated.kubectl.kubeconfig)
    env = {**os.environ, **ENV, "PATH": ":".join(folders), "HOME": aggregated.kubectl.home}
    command = [aggregated.kubectl.program, "gpu", *words, *who]
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert not SANITIZERS.search(done.stderr), done.stderr
    return done


def test_the_plugin_uses_the_users_rights(aggregated):
    for user in (None, "viewer"):
        for words in (("nodes",), ("pending",), ("why", SECRET), ("quota",), ("frag",), ("claims",)):
            done = plugin(aggregated, user, *words)
            assert (done.returncode, done.stderr) == (0, ""), done
    assert plugin(aggregated, "viewer", "nodes", "-o", "name").stdout == "node/node\n"
    assert plugin(aggregated, "viewer", "pending", "-o", "name").stdout == f"pod/{SECRET}\n"
    assert plugin(aggregated, "viewer", "pending", "-n", "kube-system", "-o", "name").stdout == ""
    assert plugin(aggregated, "viewer", "why", "nobody").returncode == 1
    for words in (("nodes",), ("why", SECRET), ("claims",)):
        done = plugin(aggregated, "stranger", *words)
        assert (done.returncode, done.stdout) == (3, "") and "forbidden" in done.stderr and MODEL not in done.stderr
    assert plugin(aggregated, None, "nodes", "--as=stranger").returncode == 3


def test_the_plugins_exit_status_is_for_ci(aggregated):
    for gpus, status in ((1, 0), (9, 1)):
        manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "asks"}, "spec": pod("asks", gpus)["spec"]}
        file = aggregated.plane.write("asks.json", json.dumps(manifest))
        assert plugin(aggregated, "viewer", "fit", "-f", file).returncode == status
        assert plugin(aggregated, "stranger", "fit", "-f", file).returncode == 3
    assert plugin(aggregated, "viewer", "fit", "-f", aggregated.plane.write("asks.json", "a: [")).returncode == 2


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
