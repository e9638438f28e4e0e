"""docs/KUBE-SCHEDULER.md and the files of manifests/ agree with each other, with the policy, and with what the service can do.

The commands of the document are run by tests/control-plane/test_documented.py, which has a cluster to run them on.
"""

import glob
import os
import platform
import re
import shutil
import subprocess

import marked
import openapi
import pytest
import yaml
from objects import filter_args, node, pod, preempt_args
from service import BINARY, ROOT, read, run_to_end
from test_openapi import documented_metrics

# Values that `scheduler` of the policy file shares with the configurations, and values that all of them share.
ALWAYS = {"nodeCacheCapable": True, "ignorable": False}
# What the one for observing has instead, and does not have.
OBSERVE = "kube-scheduler-config-observe.yaml"
OBSERVES = {"ignorable": True, "httpTimeout": "1s"}
CONFIGURATIONS = ["kube-scheduler-config.yaml", "kube-scheduler-config-all-pods.yaml", "kube-scheduler-config-gpu-profile.yaml"]
# Keys in comments, for users to uncomment. Prose begins with a capital.
COMMENTED_KEY = re.compile(r"^ *# +(?:- )?([a-z]\w*):", re.MULTILINE)
COMMENTED_NAME = re.compile(r"^ *# - name: (\S+)$", re.MULTILINE)
LEGACY = "alpha.kubernetes.io/nvidia-gpu"
OF_OTHERS = {"--namespace", "--output", "--filename", "--clusterrole", "--serviceaccount", "--cacert", "--header", "--feature-gates", "--runtime-config"}
OF_EVERY_SYSTEM = re.compile(r"lib(c|m|gcc_s|\w+san)\.so")
ROUTE = re.compile(r"(?<![a-z.])/(?:(?:scheduler|v1)/[\w/-]+|metrics|readyz|livez)")


DOCUMENT = read("docs/KUBE-SCHEDULER.md")
PROSE = re.sub(r"^```.*?^```$", "", DOCUMENT, flags=re.MULTILINE | re.DOTALL)
SOURCES = "".join(read(path) for pattern in ("src/**/*.c", "include/**/*.h") for path in glob.glob(pattern, root_dir=ROOT, recursive=True))


LINES = marked.table("docs/KUBE-SCHEDULER.md", "lines")


def quoted(text):
    return re.findall(r"`([^`]+)`", text)


def configuration(name):
    return yaml.safe_load(read("manifests", name))


def keys_of(thing, above=""):
    """Every key below, as a path without the numbers of lists: extenders.managedResources.name."""
    if isinstance(thing, list):
        return {key for item in thing for key in keys_of(item, above)}
    if not isinstance(thing, dict):
        return set()
    return {path for key, value in thing.items() for path in {above + key} | keys_of(value, f"{above}{key}.")}


# ---- the configurations of kube-scheduler ----


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_each_configuration_line_is_documented(name):
    told = {word for cell in quoted("".join(row[0] for row in LINES)) for word in re.findall(r"\w+", cell.partition(":")[0])}
    keys = {path.rpartition(".")[2] for path in keys_of(configuration(name))} | set(COMMENTED_KEY.findall(read("manifests", name)))
    assert keys - told - {"extenders"} == set()


def test_documented_lines_exist():
    text = read("manifests", CONFIGURATIONS[0]) + read("manifests", CONFIGURATIONS[-1])
    named = [line for row in LINES for line in quoted(row[0])]
    for line in named:
        *_, last = line.split(".") if ":" not in line else [line]
        assert last in text, f"{line}: does not stand in {CONFIGURATIONS[0]}"


def shipped():
    """{place: KubeSchedulerConfiguration} of all files that ship."""
    found = {}
    for path in glob.glob("**/*.yaml", root_dir=os.path.join(ROOT, "manifests"), recursive=True):
        text = read("manifests", path)
        if "kind: KubeSchedulerConfiguration" in text:
            found[path] = yaml.safe_load(text)
    return found


def test_shipped_configurations_match_the_policy():
    ours = yaml.safe_load(run_to_end("--print-policy").stdout)
    policy = {"weight": ours["scheduler"]["weight"], "httpTimeout": f"{ours['scheduler']['httpTimeoutSeconds']}s", **ALWAYS}
    configurations = shipped()
    assert len(configurations) > 2
    for place, whole in configurations.items():
        (extender,) = whole["extenders"]
        expected = {**policy, **(OBSERVES if place == OBSERVE else {})}
        assert {key: extender.get(key) for key in policy} == expected, place
    for extender in yaml.safe_load(marked.block("docs/KUBE-SCHEDULER.md", "extender-tls"))["extenders"]:
        assert {key: extender.get(key, value) for key, value in policy.items()} == policy
    for documented in re.findall(r"`(?:httpTimeout|weight): ?(\w+)`", PROSE):
        assert documented in map(str, policy.values())


def test_the_configuration_for_observing_never_keeps_a_pod():
    """It differs only in what could keep or delay one."""
    usual, observing = configuration(CONFIGURATIONS[0]), configuration(OBSERVE)
    assert usual["extenders"][0].pop("bindVerb") == "bind"
    usual["extenders"][0].update(OBSERVES)
    assert observing == usual


def test_bind_timeout_is_below_the_timeout_of_kube_scheduler():
    whole = yaml.safe_load(run_to_end("--print-policy").stdout)
    defaults = whole["kubernetes"]
    assert whole["scheduler"]["httpTimeoutSeconds"] > defaults["bindTimeoutSeconds"]
    told = re.findall(r"`kubernetes\.(\w+)`[^`|(]*\((\d+)\)", PROSE)
    assert {key for key, _ in told} == set(defaults)
    assert all(defaults[key] == int(number) for key, number in told), told


def test_one_extender_point_outweighs_all_plugins():
    """One point counts weight x 10. control-plane/test_manifests.py compares the weight with kube-scheduler's own plugins."""
    policy = yaml.safe_load(read("config/scheduler-policy.yaml"))
    for name in CONFIGURATIONS:
        (extender,) = configuration(name)["extenders"]
        assert extender["weight"] == policy["scheduler"]["weight"], "the policy file says another weight"


def test_configured_verbs_are_served(start_over):
    service = start_over(node("a"))
    for name in CONFIGURATIONS:
        (extender,) = configuration(name)["extenders"]
        prefix = extender["urlPrefix"].split("/", 3)[3]
        verbs = [verb for key, verb in extender.items() if key.endswith("Verb")]
        arguments = {**filter_args(pod(), ["a"]), **preempt_args(pod(), {})}
        assert len(verbs) > 3 and [verb for verb in verbs if service.post(f"/{prefix}/{verb}", arguments).status != 200] == []


def managed():
    """Listed names but the marker of claims, and those in comments."""
    (extender,) = configuration(CONFIGURATIONS[0])["extenders"]
    return [item["name"] for item in extender["managedResources"] if item["name"] != "gpu-extender.io/claims"], COMMENTED_NAME.findall(read("manifests", CONFIGURATIONS[0]))


def policy_resources():
    """Resources of the policy file, and those in its comments."""
    text = read("config/scheduler-policy.yaml")
    return yaml.safe_load(text)["gpuResources"], re.findall(r"^  # - (\S+/\S+)$", text, re.MULTILINE)


def counts(pattern, name):
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


def test_every_resource_of_the_policy_is_managed():
    """Except the one that kube-scheduler's configuration cannot express."""
    (listed, commented), (resources, optional) = managed(), policy_resources()
    exact = {name for name in resources if not name.endswith("*")}
    assert set(listed) == exact - {LEGACY} and LEGACY in exact
    for pattern in set(resources) - exact | set(optional):
        assert any(counts(pattern, name) for name in commented), f"{pattern}: stands nowhere among the comments"


def test_every_managed_resource_is_counted():
    (listed, commented), (resources, optional) = managed(), policy_resources()
    assert len(set(listed + commented)) == len(listed + commented) > 30
    for name in listed:
        assert any(counts(pattern, name) for pattern in resources), f"{name}: the policy does not count it"
    for name in commented:
        assert any(counts(pattern, name) for pattern in resources + optional), f"{name}: the policy does not know it"


def test_resources_are_documented():
    told = set(quoted(PROSE))
    resources, optional = policy_resources()
    assert {name.replace("*", "...") for name in resources + optional} - told == set()


# ---- rights, and the API server ----


def granted():
    (role,) = [item for item in yaml.safe_load_all(read("manifests/rbac/rbac.yaml")) if item["kind"] == "ClusterRole"]
    return {(verb, resource) for rule in role["rules"] for resource in rule["resources"] for verb in rule["verbs"]}


def test_each_followed_kind_may_be_listed_and_watched(follower):
    kinds = {item["kind"] for item in follower.get("/v1/inventory").json()["freshness"]}
    assert {(verb, kind) for verb in ("list", "watch") for kind in kinds} <= granted()


def test_each_right_is_documented():
    told = set()
    for row in marked.table("docs/KUBE-SCHEDULER.md", "rights"):
        verbs, _, resources = row[0].partition(" of ")
        told |= {(verb, resource) for verb in quoted(verbs) for resource in quoted(resources)}
    assert told == granted()


@pytest.mark.parametrize("member", ["username", "password", "auth-provider", "as", "as-uid", "as-groups", "as-user-extra"])
def test_identities_rejected_by_name_are_documented(run_binary, write, member):
    config = yaml.safe_load(marked.block("docs/INSTALL.md", "kubeconfig"))
    del config["clusters"][0]["cluster"]["certificate-authority"]
    config["users"][0]["user"][member] = "x"
    done = run_binary("--kubeconfig", write("kubeconfig", yaml.safe_dump(config)), "--check")
    assert done.returncode == 2 and f"users[0].user.{member}: is not supported" in done.stderr
    assert member in quoted(PROSE)


# ---- names ----


def test_options_exist():
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", DOCUMENT)) - OF_OTHERS
    help_text = run_to_end("--help").stdout
    assert {option for option in named if f" {option}" not in help_text} == set() and "--kubeconfig" in named


# ---- on kube-scheduler's machine ----


def needed_libraries():
    """The paths of the libraries that the program names itself."""
    dynamic = subprocess.run(["readelf", "-d", BINARY], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic)
    found = dict(re.findall(r"^\s*(\S+) => (\S+)", subprocess.run(["ldd", BINARY], capture_output=True, text=True, check=True).stdout, re.MULTILINE))
    return [os.path.realpath(found[name]) for name in names if name in found and not OF_EVERY_SYSTEM.match(name)]


def packages_of(paths):
    owned = subprocess.run(["dpkg", "-S", *paths], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"^([^:]+):", owned, re.MULTILINE))


def test_runtime_packages_are_documented():
    if platform.freedesktop_os_release().get("VERSION_CODENAME") != "bookworm":
        pytest.skip("not here: the document names those of Debian 12")
    words = marked.block("docs/INSTALL.md", "libraries").split()
    assert set(words) - {"apt-get", "install", "--no-install-recommends"} == packages_of(needed_libraries())


def test_systemd_accepts_the_unit(write):
    text = read("manifests/gpu-extender.service")
    (command,) = re.findall(r"^ExecStart=(\S+) ", text, re.MULTILINE)
    assert f"install -m 755 gpu-extender {os.path.dirname(command)}/\n" in marked.block("docs/INSTALL.md", "systemd")
    analyze = shutil.which("systemd-analyze")
    if not analyze:
        pytest.skip("not here: there is no systemd-analyze")
    unit = write("gpu-extender.service", text.replace(command, BINARY))
    done = subprocess.run([analyze, "verify", unit], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_routes_exist():
    paths = [re.compile(re.sub(r"\{\w+\}", "[^/]+", path)) for path in openapi.load()["paths"]]
    named = set(ROUTE.findall(DOCUMENT))
    assert len(named) > 6
    assert {route for route in named if not any(path.fullmatch(route) for path in paths)} == set()


def test_keys_of_the_policy_exist():
    keys = keys_of(yaml.safe_load(run_to_end("--print-policy").stdout))
    named = {name for name in quoted(PROSE) if re.fullmatch(r"(?:kubernetes|limits|listen)\.(?!io)\w+|gpuResources", name)}
    assert named - keys == set() and len(named) > 3


ONCE_MORE = "retry once: the ledger may be behind kube-scheduler"


@pytest.mark.parametrize("text", ["the ledger is behind kube-scheduler: retry", "the free GPUs are kept for a nominated pod that", ONCE_MORE, "gpu-extender.io/bound-by"])
def test_quoted_messages_exist(text):
    assert text in DOCUMENT and text in SOURCES


# ---- metrics ----


def test_metrics_exist():
    named = set(re.findall(r"gpu_extender_\w+", DOCUMENT))
    assert named - set.union(*documented_metrics()) == set() and len(named) > 2
