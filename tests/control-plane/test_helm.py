"""The chart renders the objects of the kustomizations, rejects wrong values, and installs on a real API server.

Listed differences, which same_form() takes out: Helm's own labels; the Namespace, which Helm makes itself; the order of objects; the
hash in the name of a ConfigMap; how the policy is written, whose values are compared; and the init container that checks the policy.
"""

import base64
import copy
import json
import os
import re
import subprocess

import helm
import kustomize
import marked
import pytest
import yaml
from api import LIMIT_S, wait_until
from helm import NAME, Helm
from kustomize import Kubectl, one
from plane import NotHere, Plane
from service import BINARY, ENV

HELMS_LABELS = ("helm.sh/chart", "app.kubernetes.io/managed-by", "app.kubernetes.io/instance", "app.kubernetes.io/version")
HASHED = re.compile(r"(gpu-scheduler-configuration)-\w{10}\b")
CERT_MANAGER = {"tls": {"certManager": True}}
OWN_SECRETS = {"tls": {"secretName": "server", "clientSecretName": "client"}}
EVERYTHING = {part: {"enabled": True} for part in ("monitoring", "secondScheduler", "aggregatedAPI", "admission", "claims")}


@pytest.fixture(scope="module")
def binaries():
    try:
        return helm.built()
    except NotHere as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def chart(binaries, tmp_path_factory):
    return Helm(binaries, tmp_path_factory.mktemp("chart"))


@pytest.fixture(scope="module")
def kubectl(programs, tmp_path_factory):
    return Kubectl(programs, tmp_path_factory.mktemp("kustomized"))


def same_form(objects):
    """{(kind, namespace, name): object} without the listed differences."""
    found = {}
    for item in objects:
        item = json.loads(HASHED.sub(r"\1", json.dumps(item)))
        for label in HELMS_LABELS:
            item["metadata"].get("labels", {}).pop(label, None)
        if not item["metadata"].get("labels"):
            item["metadata"].pop("labels", None)
        if item["metadata"]["name"] == "gpu-extender-policy":
            item["data"] = {name: yaml.safe_load(text) for name, text in item["data"].items()}
        if item["kind"] == "Deployment":
            item["spec"]["template"]["spec"].pop("initContainers", None)
        found[item["kind"], item["metadata"].get("namespace"), item["metadata"]["name"]] = item
    found.pop(("Namespace", None, NAME), None)
    return found


def kustomized(kubectl, overlays, changes):
    """The overlays together, and their policy with these changes."""
    objects = [item for overlay in overlays for item in kubectl.rendered(overlay)]
    made = one(objects, "ConfigMap", "gpu-extender-policy")
    policy = yaml.safe_load(made["data"]["scheduler-policy.yaml"])
    for section, values in changes.items():
        policy.setdefault(section, {}).update(values)
    made["data"] = {"scheduler-policy.yaml": yaml.safe_dump(policy)}
    return objects


# The values, the overlays, and what their documents say to change in the policy.
FORMS = {
    "cert-manager": ({}, ["cert-manager"], {}),
    "monitoring": ({"monitoring": {"enabled": True}}, ["cert-manager", "monitoring"], {}),
    "second-scheduler": ({"secondScheduler": {"enabled": True}}, ["cert-manager", "second-scheduler"], {"scheduler": {"names": ["gpu-scheduler"]}}),
    "aggregated-api": ({"aggregatedAPI": {"enabled": True}}, ["cert-manager", "aggregated-api"], {"aggregatedAPI": {"enabled": True}}),
    "admission": ({"admission": {"enabled": True}}, ["cert-manager", "admission"], {}),
    "claims": ({"claims": {"enabled": True}}, ["cert-manager", "claims"], {}),
}


@pytest.mark.parametrize("form", FORMS)
def test_chart_and_kustomization_have_the_same_objects(chart, kubectl, form):
    values, overlays, changes = FORMS[form]
    ours, shipped = same_form(chart.rendered({**CERT_MANAGER, **values})), same_form(kustomized(kubectl, overlays, changes))
    assert sorted(map(str, ours)) == sorted(map(str, shipped))
    for key, item in shipped.items():
        assert ours[key] == item


def test_unchanged_policy_is_the_file_itself(chart):
    with open(os.path.join(kustomize.MANIFESTS, "base/scheduler-policy.yaml"), encoding="utf-8") as file:
        assert one(chart.rendered({}), "ConfigMap", "gpu-extender-policy")["data"] == {"scheduler-policy.yaml": file.read()}


def without_secrets(objects):
    return {key: item for key, item in same_form(objects).items() if key[0] != "Secret"}


def test_own_secrets_take_the_place_of_the_chart_s(chart, kubectl):
    """As with the overlay self-signed, whose Secrets you make yourself."""
    objects = chart.rendered({**OWN_SECRETS, "secondScheduler": {"enabled": True}, "monitoring": {"enabled": True}})
    assert [item for item in objects if item["kind"] == "Secret"] == []
    assert secrets_of(objects, NAME) == ["server"] and secrets_of(objects, "gpu-scheduler") == ["client"]
    assert one(objects, "ServiceMonitor")["spec"]["endpoints"][0]["tlsConfig"]["ca"]["secret"]["name"] == "server"
    assert without_secrets(chart.rendered({})) == without_secrets(kubectl.rendered("self-signed"))


def secrets_of(objects, name):
    volumes = one(objects, "Deployment", name)["spec"]["template"]["spec"]["volumes"]
    return [item["secret"]["secretName"] for item in volumes if "secret" in item]


def test_chart_makes_the_certificates(chart, tmp_path):
    """An authority that signs both, each for its purpose, and the APIService trusts it."""
    objects = chart.rendered({"aggregatedAPI": {"enabled": True}})
    authority = one(objects, "Secret", "gpu-extender-tls")["data"]["ca.crt"]
    for name, purpose, called in (("gpu-extender-tls", "sslserver", ["-verify_hostname", "gpu-extender-verbs.gpu-extender.svc"]), ("gpu-extender-client", "sslclient", [])):
        made = one(objects, "Secret", name)
        assert (made["type"], sorted(made["data"]), made["data"]["ca.crt"]) == ("kubernetes.io/tls", ["ca.crt", "tls.crt", "tls.key"], authority)
        for file, text in made["data"].items():
            (tmp_path / file).write_bytes(base64.b64decode(text))
        openssl("verify", "-purpose", purpose, *called, "-CAfile", tmp_path / "ca.crt", tmp_path / "tls.crt")
        key = openssl("pkey", "-in", tmp_path / "tls.key", "-pubout")
        assert openssl("x509", "-in", tmp_path / "tls.crt", "-noout", "-pubkey") == key
        (named,) = re.findall(r"CN ?= ?(\S+)", openssl("x509", "-in", tmp_path / "tls.crt", "-noout", "-subject"))
        assert named == ("gpu-extender" if purpose == "sslserver" else "gpu-extender-client")
    assert one(objects, "APIService", "v1alpha1.visibility.gpu-extender.io")["spec"]["caBundle"] == authority


def test_replica_accepts_the_chart_s_certificates(chart, tmp_path):
    """As its init container checks them."""
    objects = chart.rendered({})
    for file, text in one(objects, "Secret", "gpu-extender-tls")["data"].items():
        (tmp_path / file).write_bytes(base64.b64decode(text))
    (policy,) = one(objects, "ConfigMap", "gpu-extender-policy")["data"].values()
    (tmp_path / "policy.yaml").write_text(policy.replace("/etc/gpu-extender/tls", str(tmp_path)), encoding="utf-8")
    done = subprocess.run([BINARY, "--config", tmp_path / "policy.yaml", "--check"], env={**os.environ, **ENV}, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "warning" not in done.stderr, done.stdout + done.stderr


def openssl(*arguments):
    return subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, check=True).stdout


def test_no_kind_is_needed_that_an_api_server_lacks(chart):
    groups = {item["apiVersion"].rpartition("/")[0] for item in chart.rendered({})}
    assert groups == {group for group in groups if "." not in group or group.endswith(".k8s.io")}


def test_init_container_checks_the_policy(chart):
    """With the image, the files and the rights of the replica: a policy that --check rejects starts no replica."""
    pod = one(chart.rendered({"image": {"tag": "1.2.3"}}), "Deployment", NAME)["spec"]["template"]["spec"]
    (check,), (replica,) = pod["initContainers"], pod["containers"]
    assert check["args"] == [*replica["args"], "--check"] and check["name"] == "check"
    same = ("image", "env", "resources", "securityContext", "volumeMounts")
    assert {key: check[key] for key in same} == {key: replica[key] for key in same} and set(check) == {"name", "args", *same}


def test_values_change_what_they_name_and_nothing_else(chart):
    toleration = {"key": "nvidia.com/gpu", "operator": "Exists"}
    values = {
        **CERT_MANAGER,
        "image": {"repository": "registry.example.com/gpu-extender", "tag": "1.2.3", "pullSecrets": ["pulls"]},
        "replicas": 3,
        "resources": {"requests": {"cpu": "1"}},
        "nodeSelector": {"pool": "system"},
        "tolerations": [toleration],
        "policy": {"mode": "observe", "limits": {"bodiesBytes": 268435456}},
        "networkPolicy": {"verbsFrom": ["10.0.0.0/28"]},
        "monitoring": {"enabled": True, "namespace": "prom", "serviceAccount": "scraper", "labels": {"release": "stack"}},
        "secondScheduler": {"enabled": True, "image": {"tag": "v1.35.1"}},
        "admission": {"enabled": True, "settings": {"schedulerNames": "default-scheduler"}},
    }
    ours, shipped = same_form(chart.rendered(values)), same_form(chart.rendered({**CERT_MANAGER, **{name: {"enabled": True} for name in ("monitoring", "secondScheduler", "admission")}}))
    wanted = copy.deepcopy(shipped)
    spec = wanted["Deployment", NAME, NAME]["spec"]
    spec["replicas"] = 3
    pod = spec["template"]["spec"]
    pod["imagePullSecrets"] = [{"name": "pulls"}]
    pod["nodeSelector"]["pool"] = "system"
    pod["tolerations"].append(toleration)
    pod["containers"][0].update(image="registry.example.com/gpu-extender:1.2.3", resources={"requests": {"cpu": "1"}})
    wanted["ConfigMap", NAME, "gpu-extender-policy"]["data"]["scheduler-policy.yaml"].update(values["policy"])
    verbs, people = {"from": [{"ipBlock": {"cidr": "10.0.0.0/28"}}], "ports": [{"port": "verbs"}]}, shipped["NetworkPolicy", NAME, NAME]["spec"]["ingress"][1]
    wanted["NetworkPolicy", NAME, NAME]["spec"]["ingress"] = [verbs, people, {"ports": [{"port": "probes"}]}]
    wanted["ClusterRoleBinding", None, "gpu-extender-metrics"]["subjects"] = [{"kind": "ServiceAccount", "name": "scraper", "namespace": "prom"}]
    wanted["NetworkPolicy", NAME, "gpu-extender-metrics"]["spec"]["ingress"][0]["from"][0]["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"] = "prom"
    for kind in ("ServiceMonitor", "PrometheusRule"):
        wanted[kind, NAME, NAME]["metadata"]["labels"]["release"] = "stack"
    scheduler = wanted["Deployment", NAME, "gpu-scheduler"]["spec"]["template"]["spec"]["containers"][0]
    scheduler["image"] = scheduler["image"].rpartition(":")[0] + ":v1.35.1"
    policy = ("ValidatingAdmissionPolicy", None, "gpu-extender-quota")
    names = [form[policy]["spec"]["variables"][0]["expression"] for form in (shipped, same_form(chart.rendered({**CERT_MANAGER, "admission": {"enabled": True}})))]
    assert names == ["['gpu-scheduler']", "['default-scheduler', 'gpu-scheduler']"], "the cluster's own scheduler asks nobody beside a second one"
    wanted[policy]["spec"]["variables"][0]["expression"] = "['default-scheduler']"
    assert ours == wanted


# ---- wrong values ----

WRONG = [
    ({"replica": 2}, "replica"),
    ({"replicas": 0}, "replicas"),
    ({"replicas": "2"}, "replicas"),
    ({"image": "gpu-extender:0.1.0"}, "image"),
    ({"image": {"name": "x"}}, "image"),
    ({"policy": {"mode": "observer"}}, "policy/mode"),
    ({"tls": {"certmanager": False}}, "tls"),
    ({"networkPolicy": {"verbsFrom": ["10.0.0.1"]}}, "networkPolicy/verbsFrom/0"),
    ({"secondScheduler": {"enabled": "yes"}}, "secondScheduler/enabled"),
    ({"secondScheduler": {"image": {"tag": "1.36"}}}, "secondScheduler/image/tag"),
    ({"monitoring": {"labels": {"release": 1}}}, "monitoring/labels/release"),
    ({"admission": {"settings": {"schedulers": "x"}}}, "admission/settings"),
    ({"policy": {"placment": {}}}, "/policy"),
    ({"policy": {"quotas": {}}}, "policy/quotas"),
    ({"policy": {"gangs": {"mod": "plan"}}}, "policy/gangs"),
    ({"resources": {"limits": {"memory": "1 GiB"}}}, "resources/limits/memory"),
    ({"resources": {"limits": {"ram": "1Gi"}}}, "resources/limits"),
    ({"tolerations": [{"key": "a", "operator": "exists"}]}, "tolerations/0/operator"),
    ({"tolerations": [{"keys": "a"}]}, "tolerations/0"),
    ({"tls": {"secretName": "mine"}}, "set both, or none"),
    ({"tls": {**OWN_SECRETS["tls"], "certManager": True}}, "set one of them"),
    ({**OWN_SECRETS, "aggregatedAPI": {"enabled": True}}, "aggregatedAPI.caBundle is empty"),
]


@pytest.mark.parametrize("values, named", WRONG, ids=[json.dumps(values) for values, _ in WRONG])
def test_wrong_values_are_rejected_by_name(chart, values, named):
    status, _, error = chart.template(values)
    assert status != 0 and named in error, error


def test_another_namespace_is_rejected(chart):
    status, _, error = chart.template({}, namespace="other")
    assert status != 0 and "the namespace is other, should be gpu-extender" in error


def leaves(schema, path=()):
    for name, below in schema.get("properties", {}).items():
        yield (*path, name), below
        yield from leaves(below, (*path, name))


def test_schema_describes_every_value():
    folder = os.path.join(helm.ROOT, "charts/gpu-extender")
    with open(os.path.join(folder, "values.schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    # config/scheduler-policy.yaml describes the policy.
    assert [path for path, below in leaves(schema) if not below.get("description") and path[:1] != ("policy",)] == []
    with open(os.path.join(folder, "values.yaml"), encoding="utf-8") as file:
        values = yaml.safe_load(file)
    assert set(values) == set(schema["properties"]) - {"global"}
    for name, value in values.items():
        assert not isinstance(value, dict) or set(value) <= set(schema["properties"][name].get("properties", {}))


def test_chart_is_of_this_version():
    with open(os.path.join(helm.ROOT, "charts/gpu-extender/Chart.yaml"), encoding="utf-8") as file:
        told = yaml.safe_load(file)
    with open(os.path.join(helm.ROOT, "meson.build"), encoding="utf-8") as file:
        version = re.search(r"version: '(.*?)'", file.read())[1]
    assert told["version"] == told["appVersion"] == version


def test_package_contains_no_key(chart, kubectl, tmp_path):
    """The overlays with links do not have the folder in which make-certificates puts the authority's key."""
    status, said, error = chart.run("package", "charts/gpu-extender", "--destination", str(tmp_path))
    assert status == 0, said + error
    (archive,) = os.listdir(tmp_path)
    status, said, error = chart.run("template", NAME, str(tmp_path / archive), "--namespace", NAME, "--set=tls.certManager=true")
    assert (status, error) == (0, "") and same_form(yaml.safe_load_all(said)) == same_form(kubectl.rendered("cert-manager"))


# ---- a real API server ----


@pytest.fixture(scope="module")
def live(programs, binaries, tmp_path_factory):
    """(plane, Helm) of an API server that knows cert-manager's and Prometheus' kinds, and nothing else of ours."""
    try:
        definitions = kustomize.definitions()
    except NotHere as error:
        pytest.skip(str(error))
    with Plane(programs, tmp_path_factory.mktemp("helm")) as plane:
        kubectl = Kubectl(programs, plane.folder, plane.kubeconfig())
        for command in (["apply", "--server-side"], ["wait", "--for=condition=Established", "--timeout=300s"]):
            status, said = kubectl.run(*command, "--filename", definitions)
            assert status == 0, said
        kinds = {"certificates.cert-manager.io", "issuers.cert-manager.io", "servicemonitors.monitoring.coreos.com", "prometheusrules.monitoring.coreos.com"}
        wait_until(lambda: kinds <= set(kubectl.run("api-resources", "--output=name")[1].split()), lambda: f"not all of {kinds} are served")
        chart = Helm(binaries, tmp_path_factory.mktemp("released"), plane.kubeconfig())
        chart.accept_any_version()
        yield plane, kubectl, chart


def existing(kubectl, objects):
    """The objects that the API server has: [kind/name]."""
    text = "---\n".join(yaml.safe_dump(item) for item in objects)
    path = os.path.join(kubectl.home, "asked.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    status, said = kubectl.run("get", "--ignore-not-found", "--output=name", "--filename", path)
    assert status == 0, said
    return said.split()


@pytest.fixture(scope="module")
def shell(live, binaries):
    """shell(commands): in the folder with charts/, with both programs."""
    plane, _, chart = live

    def run(commands):
        env = {"PATH": f"{binaries}:{plane.binaries}:{os.environ['PATH']}", "HOME": chart.folder, "KUBECONFIG": plane.kubeconfig()}
        command = ["bash", "-euo", "pipefail", "-c", commands]
        done = subprocess.run(command, cwd=chart.folder, env=env, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    return run


def test_release_is_installed_changed_rolled_back_and_removed_as_documented(live, shell):
    plane, kubectl, chart = live
    shell(marked.block("docs/INSTALL.md", "helm-values"))
    with open(os.path.join(chart.folder, "values.yaml"), encoding="utf-8") as file:
        values = yaml.safe_load(file)
    assert values["secondScheduler"]["image"] == {"tag": "v0.0.0"}  # what this API server calls itself
    values["secondScheduler"]["image"]["tag"] = "v1.36.3"
    few, everything = chart.rendered(values), chart.rendered({**values, **EVERYTHING})
    assert len(few) < len(everything)

    def image():
        (container,) = plane.api.get(f"/apis/apps/v1/namespaces/{NAME}/deployments/{NAME}")["spec"]["template"]["spec"]["containers"]
        return container["image"]

    def certificates():
        return [plane.api.get(f"/api/v1/namespaces/{NAME}/secrets/gpu-extender-{name}")["data"] for name in ("tls", "client")]

    chart.write_values(values)
    install = marked.block("docs/INSTALL.md", "helm-install")
    shell(install)
    assert image().startswith("registry.example.com/gpu-extender:") and existing(kubectl, everything) == existing(kubectl, few)
    assert len(existing(kubectl, few)) == len(few)
    made = certificates()
    more = " ".join(f"--set={part}.enabled=true" for part in EVERYTHING)
    shell(install.replace("--values values.yaml", f"--values values.yaml --set=image.tag=2.0.0 {more}"))
    assert image().endswith(":2.0.0") and len(existing(kubectl, everything)) == len(everything)
    assert certificates() == made and plane.api.get("/apis/apiregistration.k8s.io/v1/apiservices/v1alpha1.visibility.gpu-extender.io")["spec"]["caBundle"] == made[0]["ca.crt"]
    shell(marked.block("docs/INSTALL.md", "helm-roll-back"))
    assert certificates() == made
    assert not image().endswith(":2.0.0") and existing(kubectl, everything) == existing(kubectl, few)
    # No controller empties the namespace here, so kubectl would wait for it.
    shell(marked.block("docs/INSTALL.md", "helm-take-out").replace("delete namespace", "delete --wait=false namespace"))
    wait_until(lambda: existing(kubectl, everything) == [], lambda: existing(kubectl, everything))


def test_laptop_gets_made_up_gpus_as_documented(live, shell):
    plane, _, _ = live
    plane.api.create("/api/v1/nodes", {"kind": "Node", "metadata": {"name": "laptop"}})
    shell(marked.block("docs/INSTALL.md", "laptop-values"))
    node = plane.api.get("/api/v1/nodes/laptop")
    assert node["status"]["allocatable"] == {"nvidia.com/gpu": "8"} and "nvidia.com/gpu.product" in node["metadata"]["labels"]
