"""The doctor says of a configuration that kube-scheduler does not start if and only if the real one rejects it."""

import base64
import json
import os
import re
import subprocess

import pytest
from certificates import Authority
from plane import KUBERNETES
from service import LIMIT_S, run_to_end

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
KUBECONFIG = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "a", "cluster": {"server": "http://127.0.0.1:1"}}],
    "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
    "current-context": "a",
}
OURS = {
    "urlPrefix": "http://127.0.0.1:8888/scheduler",
    "filterVerb": "filter",
    "prioritizeVerb": "prioritize",
    "preemptVerb": "preempt",
    "bindVerb": "bind",
    "weight": 141,
    "httpTimeout": "3s",
    "nodeCacheCapable": True,
    "managedResources": [{"name": "nvidia.com/gpu"}],
}
OTHER = {"urlPrefix": "https://10.0.0.1/x", "filterVerb": "filter"}


def ours(**changes):
    """None removes a member."""
    return {key: value for key, value in {**OURS, **changes}.items() if value is not None}


def other(**changes):
    return {**OTHER, **changes}


def managing(*names):
    return [{"name": name} for name in names]


def extenders(*items):
    return {"extenders": list(items)}


def profiles(*items):
    return {"profiles": list(items), **extenders(OURS)}


def tls(**config):
    return extenders(OURS, other(tlsConfig=config))


def plugins(**points):
    """{point: names, with "-" before those to disable}, for one profile."""
    return {point: plugin_set(names.split()) for point, names in points.items()}


def plugin_set(names):
    sets = {"enabled": [name for name in names if name[0] != "-"], "disabled": [name[1:] for name in names if name[0] == "-"]}
    return {key: [{"name": name} for name in listed] for key, listed in sets.items() if listed}


def running(**points):
    return profiles({"plugins": plugins(**points)})


def sorting(*sets):
    """A profile for each queueSort; None: without."""
    return profiles(*({"schedulerName": f"p{i}", "plugins": {} if one is None else {"queueSort": one}} for i, one in enumerate(sets)))


def configured(*configs, **profile):
    """Of one profile: the plugin and, if there are, its args."""
    return profiles({"pluginConfig": [{"name": name, **({"args": args[0]} if args else {})} for name, *args in configs], **profile})


def electing(**times):
    return {**extenders(OURS), "leaderElection": times}


def scored(kind, shape):
    return {"scoringStrategy": {"type": kind, "requestedToCapacityRatio": {"shape": [{"utilization": at, "score": score} for at, score in shape]}}}


def spreading(kind="List", n=1, **changes):
    constraint = {"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule", **changes}
    return {**({"defaultingType": kind} if kind else {}), "defaultConstraints": [{key: value for key, value in constraint.items() if value != "absent"}] * n}


def requiring(**requirement):
    term = {"matchExpressions": [{"key": "a", **requirement}]}
    return {"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


def preferring(**requirement):
    term = {"weight": 101, "preference": {"matchFields": [{"key": "a", **requirement}]}}
    return {"addedAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}


NAMES = """SchedulingGates PrioritySort NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions
    NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources DefaultPreemption ImageLocality DefaultBinder
    NodeResourcesBalancedAllocation NodeDeclaredFeatures GangScheduling TopologyPlacementGenerator PodGroupPodsCount"""
SORT = {"enabled": [{"name": "PrioritySort"}]}

# Args by plugin, right ones and wrong ones: which are which, kube-scheduler says.
ARGS = {
    "DefaultPreemption": [
        *({"minCandidateNodesPercentage": n} for n in (-1, 0, 100, 101)),
        *({"minCandidateNodesAbsolute": n} for n in (-1, 0, 2**31)),
        {"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 0},
    ],
    "InterPodAffinity": [{"hardPodAffinityWeight": n} for n in (-1, 0, 100, 101, "1")] + [{"ignorePreferredTermsOfExistingPods": "yes"}],
    "NodeAffinity": [
        {"addedAffinity": None},
        {"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {}}},
        {"addedAffinity": {"requiredDuringScheduling": {}}},
        requiring(operator="In", values=["b"]),
        requiring(operator="In"),
        requiring(operator="in", values=["b"]),
        requiring(values=["b"]),
        requiring(operator="NotIn", values=["b c"]),
        requiring(operator="Exists", key="a b"),
        requiring(operator="Exists", key=None),
        requiring(operator="DoesNotExist", values=["b"]),
        requiring(operator="Gt", values=["b"]),
        requiring(operator="Lt", values=["5"]),
        preferring(operator="In", values=["b"]),
        preferring(operator="In"),
        preferring(operator="NotIn", values=["b", "c"]),
        preferring(operator="Exists"),
    ],
    "NodeResourcesBalancedAllocation": [
        {"resources": []},
        *({"resources": [{"name": "cpu", "weight": n}]} for n in (-1, 0, 1, 2)),
        {"resources": [{"name": "cpu"}, {"name": "cpu"}]},
        {"resources": [{"name": "cpu"}, {}]},
    ],
    "NodeResourcesFit": [
        *({"ignoredResources": [name]} for name in ("a.b/c", "cpu", "a b", "", 1)),
        *({"ignoredResourceGroups": [name]} for name in ("a.b", "a.b/c", "a b")),
        *({"scoringStrategy": one} for one in (None, {}, {"type": "MostAllocated"}, {"type": "mostAllocated"})),
        *({"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": n}]}} for n in (-1, 0, 100, 101)),
        {"scoringStrategy": {"type": "LeastAllocated", "resources": [{"name": "cpu"}, {"name": "cpu"}]}},
        {"scoringStrategy": {"type": "RequestedToCapacityRatio"}},
        scored("RequestedToCapacityRatio", []),
        scored("RequestedToCapacityRatio", [(0, 0), (100, 10)]),
        scored("RequestedToCapacityRatio", [(0, 0), (100, 11)]),
        scored("RequestedToCapacityRatio", [(0, 0), (101, 10)]),
        scored("RequestedToCapacityRatio", [(100, 0), (0, 10)]),
        scored("RequestedToCapacityRatio", [(50, 0), (50, 10)]),
        scored("MostAllocated", [(0, 0)]),
    ],
    "PodTopologySpread": [
        *({"defaultingType": kind} for kind in ("", "List", "System", "list")),
        *(spreading(kind) for kind in ("", "List", "System", None)),
        *(spreading(maxSkew=n) for n in (-1, 0, "absent")),
        *(spreading(topologyKey=key) for key in ("", "a b", "a.b/c", "absent")),
        *(spreading(whenUnsatisfiable=what) for what in ("", "ScheduleAnyway", "scheduleAnyway", "absent")),
        *(spreading(labelSelector=selector) for selector in (None, {})),
        spreading(minDomains=0, nodeAffinityPolicy="a", nodeTaintsPolicy="b", matchLabelKeys=["a b"]),
        spreading(n=2),
    ],
    "VolumeBinding": [{"bindTimeoutSeconds": n} for n in (-1, 0, 600)] + [{"shape": shape} for shape in (None, [], [{"utilization": 0, "score": 0}])],
    "DynamicResources": [{"filterTimeout": time} for time in (None, "-1s", "0s", "1s", 5)] + [{"bindingTimeout": time} for time in ("999ms", "1s")],
}


# The rules of Kubernetes' pkg/scheduler/apis/config/validation, of its framework and of client-go that the doctor checks, from
# both sides.
CONFIGS = {
    "ours": extenders(OURS),
    "no weight without prioritizeVerb": extenders(ours(prioritizeVerb=None, weight=None)),
    "weight 0 without prioritizeVerb": extenders(ours(prioritizeVerb="", weight=0)),
    "no weight": extenders(ours(weight=None)),
    "null as a weight": extenders({**OURS, "weight": None}),
    "null as a timeout": extenders(OURS, other(httpTimeout=None)),
    "weight 0": extenders(ours(weight=0)),
    "a negative weight": extenders(ours(weight=-1)),
    "another's weight is missing": extenders(OURS, other(prioritizeVerb="p")),
    "another has no weight and no prioritizeVerb": extenders(OURS, OTHER),
    "another's weight is positive": extenders(OURS, other(prioritizeVerb="p", weight=1)),
    "two binders": extenders(OURS, other(bindVerb="b")),
    "two binders, both of others": extenders(ours(bindVerb=None), other(bindVerb="b"), other(bindVerb="c")),
    "an empty bindVerb": extenders(OURS, other(bindVerb="")),
    "one resource in two extenders": extenders(OURS, other(managedResources=managing("a.b/c", "nvidia.com/gpu"))),
    "one resource in two others": extenders(OURS, other(managedResources=managing("a.b/c")), other(managedResources=managing("a.b/c"))),
    "one resource twice": extenders(ours(managedResources=managing("nvidia.com/gpu", "nvidia.com/gpu"))),
    "other resources": extenders(OURS, other(managedResources=managing("nvidia.com/gpumem"))),
    "resources that differ in case": extenders(OURS, other(managedResources=managing("nvidia.com/GPU"))),
    **{
        f"the name {name!r}": extenders(OURS, other(managedResources=managing(name)))
        for name in (
            "",
            "cpu",
            "a/b",
            "a.b/c",
            "a.b/C_d.e-f",
            "a b/c",
            "A.b/c",
            "a.b/",
            "/c",
            "a.b/c/d",
            "a.b/-c",
            "a.b/c-",
            "a.b/*",
            "a..b/c",
            "-a.b/c",
            "requests.a.b/c",
            "requests/c",
            "limits.a.b/c",
            "kubernetes.io/c",
            "alpha.kubernetes.io/c",
            "xkubernetes.io/c",
            "kubernetes.io.a/c",
            f"a.b/{'c' * 63}",
            f"a.b/{'c' * 64}",
            f"{'a' * 63}.b/c",
            f"{'a' * 64}.b/c",
            "/".join(("a." * 126 + "a", "c")),
            "/".join(("a." * 121 + "a", "c")),
        )
    },
    "a name of another type": extenders(OURS, other(managedResources=[{"name": 1}])),
    "an item without a name": extenders(OURS, other(managedResources=[{}])),
    "one profile": profiles({"schedulerName": "a"}),
    "two profiles": profiles({"schedulerName": "a"}, {"schedulerName": "b"}),
    "two profiles of one name": profiles({"schedulerName": "a"}, {"schedulerName": "a"}),
    "the default name twice": profiles({}, {"schedulerName": "default-scheduler"}),
    "an unknown key of an extender": extenders(ours(wieght=1)),
    "a fraction": extenders(ours(weight=1.5)),
    "a timeout that is a number": extenders(ours(httpTimeout=3)),
    "a percentage": {**extenders(OURS), "percentageOfNodesToScore": 100},
    "a percentage above 100": {**extenders(OURS), "percentageOfNodesToScore": 101},
    "a profile's percentage above 100": profiles({"percentageOfNodesToScore": 101}),
    "no parallelism": {**extenders(OURS), "parallelism": 0},
    "little parallelism": {**extenders(OURS), "parallelism": 1},
    **{
        f"backoff {list(seconds.values())}": {**extenders(OURS), **seconds}
        for seconds in (
            {"podInitialBackoffSeconds": 0},
            {"podInitialBackoffSeconds": 5},
            {"podInitialBackoffSeconds": 11},
            {"podMaxBackoffSeconds": 0},
            {"podMaxBackoffSeconds": 1},
            {"podInitialBackoffSeconds": 5, "podMaxBackoffSeconds": 4},
            {"podInitialBackoffSeconds": 5, "podMaxBackoffSeconds": 5},
        )
    },
    "an empty schedulerName": profiles({"schedulerName": ""}),
    "no schedulerName beside another": profiles({}, {"schedulerName": "b"}),
    "no schedulerName twice": profiles({}, {}),
    "an empty profile": profiles(None),
    "an empty resource": extenders(OURS, other(managedResources=[None])),
    "a negative weight without prioritizeVerb": extenders(OURS, other(weight=-1)),
    "a large parallelism": {**extenders(OURS), "parallelism": 2**31},
    "an old version": {**extenders(OURS), "apiVersion": "kubescheduler.config.k8s.io/v1beta3"},
    "no version": {**extenders(OURS), "apiVersion": None},
    "no sorter": running(queueSort="-PrioritySort"),
    "no plugin to sort": running(queueSort="-*"),
    "another plugin may not sort": running(queueSort="-Other"),
    "the sorter once more": running(queueSort="PrioritySort"),
    "two sorters": running(queueSort="PrioritySort PrioritySort"),
    "no binder": running(bind="-DefaultBinder"),
    "no plugin to bind": running(bind="-*"),
    "the binder after all": running(bind="-* DefaultBinder"),
    "no binder anywhere": running(multiPoint="-DefaultBinder"),
    "no plugin anywhere": running(multiPoint="-*"),
    "the least plugins": running(multiPoint="-* PrioritySort DefaultBinder"),
    "no sorter among the least": running(multiPoint="-* DefaultBinder"),
    "the same sorters": sorting(SORT, SORT),
    "one sorter named": sorting(SORT, None),
    "another sorter's weight": sorting(SORT, {"enabled": [{"name": "PrioritySort", "weight": 1}]}),
    "other plugins that may not sort": sorting({"disabled": [{"name": "Other"}]}, None),
    "an empty list of these": sorting({"disabled": []}, None),
    "their weight": sorting({"disabled": [{"name": "Other", "weight": 1}]}, {"disabled": [{"name": "Other"}]}),
    "two sorters' plans": profiles({"schedulerName": "a", "pluginConfig": [{"name": "PrioritySort", "args": {"a": 1}}]}, {"schedulerName": "b"}),
    "the same plans": profiles(*({"schedulerName": name, "pluginConfig": [{"name": "PrioritySort", "args": {"a": 1}}]} for name in "ab")),
    "an unknown plugin": running(score="Other"),
    "an unknown plugin everywhere": running(multiPoint="Other"),
    "an unknown plugin disabled": running(score="-Other"),
    "a plugin without a name": profiles({"plugins": {"score": {"enabled": [{}]}}}),
    "a plugin twice": running(score="ImageLocality ImageLocality"),
    "a plugin twice everywhere": running(multiPoint="ImageLocality ImageLocality"),
    "a plugin twice everywhere but where it runs": running(multiPoint="ImageLocality ImageLocality", score="-ImageLocality"),
    "a plugin twice everywhere and once": running(multiPoint="ImageLocality ImageLocality", score="ImageLocality"),
    "a plugin everywhere and there": running(multiPoint="ImageLocality", score="ImageLocality"),
    "a large weight of a plugin": profiles({"plugins": {"score": {"enabled": [{"name": "ImageLocality", "weight": 2**31}]}}}),
    **{
        f"weights {names} at {point}": profiles({"plugins": {point: {"enabled": [{"name": name, "weight": weight} for name, weight in names.items()]}}})
        for point, names in (
            ("filter", {"NodePorts": -1}),
            ("filter", {"NodePorts": -(2**31) - 1}),
            ("preScore", {"NodeAffinity": -(2**31)}),
            ("score", {"ImageLocality": -1}),
            ("score", {"ImageLocality": 5, "NodeAffinity": -4}),
            ("score", {"ImageLocality": 5, "NodeAffinity": -6}),
            ("score", {"ImageLocality": 0}),
            ("score", {"VolumeBinding": -1}),
            ("multiPoint", {"NodePorts": -1}),
            ("multiPoint", {"ImageLocality": -1}),
            ("multiPoint", {"ImageLocality": -100}),
            ("multiPoint", {"TaintToleration": -1}),
            ("multiPoint", {"NodeAffinity": -3}),
            ("multiPoint", {"NodeAffinity": -4}),
            ("placementScore", {"NodeResourcesFit": -1}),
        )
    },
    "weights of a plugin that is off": profiles({"plugins": {"score": {"disabled": [{"name": "ImageLocality", "weight": -1}]}}}),
    "weights of the rest": profiles(
        {
            "plugins": {
                "multiPoint": {
                    "disabled": [{"name": "*"}],
                    "enabled": [{"name": "PrioritySort"}, {"name": "DefaultBinder"}, {"name": "ImageLocality", "weight": -1}, {"name": "NodeAffinity"}],
                }
            }
        }
    ),
    "args twice": configured(("Other", {}), ("Other", {})),
    "args of two": configured(("Other", {}), ("Another", 5)),
    "args of a plugin that is gone": configured(("EBSLimits", {})),
    "args of a plugin that reads none": configured(("ImageLocality", {"a": 1})),
    "args under the wrong name": configured(("NodeResourcesFitArgs", {})),
    "args of another version": configured(("VolumeBinding", {"apiVersion": "kubescheduler.config.k8s.io/v1beta3", "kind": "VolumeBindingArgs"})),
    "args of another plugin": configured(("VolumeBinding", {"kind": "NodeAffinityArgs"})),
    "an unknown arg": configured(("VolumeBinding", {"bindTimeout": 1})),
    **{f"no args of {name}": configured((name,)) for name in ARGS},
    **{f"list as args of {name}": configured((name, [])) for name in ARGS},
    **{f"kind of args of {name}": configured((name, {"apiVersion": HEAD["apiVersion"], "kind": f"{name}Args"})) for name in ARGS},
    **{f"{name} {json.dumps(args)}": configured((name, args)) for name, listed in ARGS.items() for args in listed},
    "an ignored resource": extenders(ours(managedResources=[{"name": "a.b/c", "ignoredByScheduler": True}])),
    "an ignored resource that nothing ignores": {
        **running(multiPoint="-NodeResourcesFit"),
        **extenders(ours(managedResources=[{"name": "a.b/c", "ignoredByScheduler": True}])),
    },
    "nothing ignored, nothing to ignore it": running(multiPoint="-NodeResourcesFit"),
    "insecure": tls(insecure=True),
    "insecure and a CA": tls(insecure=True, caFile="/dev/null"),
    "insecure and a CA's data": tls(insecure=True, caData="YWJj"),
    "a CA that is no base64": tls(caData="-----BEGIN CERTIFICATE-----"),
    "a CA that is no PEM": tls(caData="YWJj"),
    "an empty CA": tls(caData=""),
    "a certificate that is no base64": tls(certData="YW"),
    "a certificate without a key": tls(certData="YWJj"),
    "a key without a certificate": tls(keyData="YWJj"),
    "a certificate and a key that are none": tls(certData="YWJj", keyData="YWJj"),
    "a key that is a number": tls(keyData=5),
    "a negative timeout": extenders(OURS, other(httpTimeout="-3s")),
    "an empty timeout": extenders(OURS, other(httpTimeout="")),
    **{
        f"election {times}": electing(**times)
        for times in (
            {"leaseDuration": "10s"},
            {"leaseDuration": "10s", "leaderElect": False},
            {"leaseDuration": "10001ms"},
            {"leaseDuration": "0s"},
            {"leaseDuration": None},
            {"renewDeadline": "15s"},
            {"renewDeadline": "-1s"},
            {"retryPeriod": "-1s"},
            {"retryPeriod": "8s"},
            {"resourceLock": "endpoints"},
            {"resourceLock": "endpoints", "leaderElect": False},
            {"resourceLock": "leases", "leaderElect": None},
        )
    },
}


@pytest.fixture
def judge(programs, tmp_path):
    """judge(config, *options of kube-scheduler) -> (whether it starts, what it says, the doctor's findings that it does not)."""
    kubeconfig, path = tmp_path / "kubeconfig", tmp_path / "scheduler.yaml"
    kubeconfig.write_text(json.dumps(KUBECONFIG), encoding="utf-8")

    def run(config, *options):
        whole = {**HEAD, "clientConnection": {"kubeconfig": str(kubeconfig)}, **config}
        path.write_text(json.dumps(whole), encoding="utf-8")
        command = [os.path.join(programs, "kube-scheduler"), "--config", path, "--secure-port", "0", *options]
        really = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=LIMIT_S, check=False)
        done = run_to_end("--doctor", "--scheduler-config", path, "--output", "json")
        found = json.loads(done.stdout)["findings"]
        return really.returncode == 0, really.stderr, [one for one in found if "does not start" in one["seen"] + one["advice"]]

    return run


@pytest.fixture
def write_to(tmp_path):
    """Makes kube-scheduler exit where it would begin to run: after it has built its plugins and extenders."""
    return ("--write-config-to", tmp_path / "written.yaml")


AS_1_36 = pytest.mark.skipif(KUBERNETES != "1.36", reason="the doctor judges as kube-scheduler 1.36 does (docs/OPERATIONS.md)")


@AS_1_36
@pytest.mark.parametrize("config", CONFIGS)
def test_the_doctor_judges_as_kube_scheduler(config, judge, write_to):
    really, why, faults = judge(CONFIGS[config], *write_to)
    assert (not faults) == really, (why, faults)


def test_certificates_in_the_file(judge, write_to, tmp_path):
    authority = Authority(tmp_path / "ca")
    pairs = [authority.client(name) for name in ("one", "two")]
    (certificate, key), (_, other_key) = [[base64.b64encode(path.read_bytes()).decode() for path in pair[:2]] for pair in pairs]
    authorities = base64.b64encode(authority.certificate.read_bytes()).decode()
    for config, right in (
        ({"caData": authorities, "certData": certificate, "keyData": key}, True),
        ({"caData": authorities[:60] + "\n" + authorities[60:]}, True),
        ({"caData": key}, False),
        ({"certData": certificate, "keyData": other_key}, False),
    ):
        really, why, faults = judge(tls(**config), *write_to)
        assert (really, not faults) == (right, right), (config, why, faults)


@pytest.mark.parametrize("times", [{"renewDeadline": "12s", "retryPeriod": "10s"}, {"retryPeriod": "9s"}])
def test_a_retry_period_that_is_too_long(judge, times):
    """kube-scheduler stops where it would begin to elect; with a shorter one it waits for the API server (above)."""
    really, why, faults = judge({**electing(**times), "delayCacheUntilActive": True})
    assert "renewDeadline must be greater" in why and not really and len(faults) == 1, (why, faults)


@AS_1_36
def test_where_plugins_may_run(judge, write_to):
    """The doctor's table is that of kube-scheduler, which logs where each plugin runs that may run everywhere."""
    really, log, faults = judge(running(multiPoint=NAMES), "-v=2", *write_to)
    assert really and not faults, (log, faults)
    listed = json.loads(re.search(r"starts to work with those plugins\" Plugins=(.*)", log)[1])
    points = {point[0].lower() + point[1:]: {one["Name"] for one in of["Enabled"] or []} for point, of in listed.items() if point != "MultiPoint"}
    *_, faults = judge(running(**{point: NAMES for point in points}), *write_to)
    wrong = {match.groups() for match in (re.search(r": (\w+): is no plugin for (\w+)", one["seen"]) for one in faults) if match}
    assert wrong == {(name, point) for point in points for name in NAMES.split() if name not in points[point]}
