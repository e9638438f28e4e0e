"""gpu-extender --doctor: findings over kube-scheduler's configuration; the exit status.

0: no fail; 1: a fail; 2: unusable input. tests/control-plane/test_doctor.py asks a real API server.
"""

import base64
import datetime
import json
import os
import re
import subprocess

import marked
import pytest
from certificates import Authority
from objects import list_text, node, pod
from service import BINARY, ENV, LIMIT_S, ROOT, read

SHIPPED = read("manifests/kube-scheduler-config.yaml")
HEAD = "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\n"
# Each shipped configuration of kube-scheduler with the policy that belongs to it.
TOGETHER = [
    ("manifests/kube-scheduler-config.yaml", "config/scheduler-policy.yaml"),
    ("manifests/kube-scheduler-config.yaml", "manifests/overlays/control-plane/scheduler-policy.yaml"),
    ("manifests/kube-scheduler-config-gpu-profile.yaml", "config/scheduler-policy.yaml"),
    ("manifests/overlays/second-scheduler/kube-scheduler-config.yaml", "manifests/base/scheduler-policy.yaml"),
]


class Diagnosis:
    def __init__(self, done):
        assert done.stderr == "", done
        self.status, self.answer = done.returncode, json.loads(done.stdout)

    def of(self, check):
        return [found for found in self.answer["findings"] if found["check"] == check]

    def one(self, check):
        """(level, seen) of the only finding of that check."""
        (found,) = self.of(check)
        return found["level"], found["seen"]

    def bad(self):
        """The findings that are not ok, without checks that were not requested."""
        return [
            (found["check"], found["seen"])
            for found in self.answer["findings"]
            if found["level"] != "ok" and not found["seen"].startswith("not checked: ")
        ]


@pytest.fixture
def diagnose(run_binary, write):
    """diagnose(text of kube-scheduler's file, text of the policy) -> Diagnosis."""

    def run(scheduler, policy=HEAD):
        files = ["--config", write("policy.yaml", policy), "--scheduler-config", write("scheduler.yaml", scheduler)]
        return Diagnosis(run_binary("--doctor", *files, "--output", "json"))

    return run


# ---- what is right ----


@pytest.mark.parametrize(("scheduler", "policy"), TOGETHER)
def test_shipped_files_agree(diagnose, scheduler, policy):
    found = diagnose(read(scheduler), read(policy))
    assert (found.bad(), found.status) == ([], 0)


def test_the_file_for_all_pods_needs_only_the_warning_of_its_policy(diagnose):
    found = diagnose(read("manifests/kube-scheduler-config-all-pods.yaml"), HEAD + "scheduler: {allPods: true}\n")
    assert ([check for check, _ in found.bad()], found.status) == (["policy"], 0)


def test_the_file_for_observing_needs_only_the_warning_of_its_policy(diagnose):
    found = diagnose(read("manifests/kube-scheduler-config-observe.yaml"), HEAD + "mode: observe\n")
    assert ([check for check, _ in found.bad()], found.status) == (["policy"], 0)
    assert diagnose(read("manifests/kube-scheduler-config-observe.yaml")).status == 1


def test_text(run_binary, write):
    done = run_binary("--doctor", "--scheduler-config", write("s.yaml", SHIPPED.replace("weight: 141", "weight: 7")))
    assert (done.returncode, done.stderr) == (1, "")
    *lines, sums = done.stdout.splitlines()
    assert all(re.match(r"(ok|warn|fail) +[a-zA-Z.]+: .", line) for line in lines)
    (line,) = [line for line in lines if line.startswith("fail")]
    assert re.fullmatch(r"fail  scheduler\.weight: .*/s\.yaml:21:13: extenders\[0\]\.weight: is 7, .* 141; set the same .*", line)
    assert re.fullmatch(r"\d+ ok, \d+ warn \(\d+ of them not checked\), 1 fail", sums)


def test_without_the_file_nothing_is_said_to_be_right(run_binary):
    done = run_binary("--doctor")
    assert done.returncode == 0
    assert "warn  scheduler: not checked: " in done.stdout


# ---- what is wrong: a line of the shipped file, its replacement, the check, the level, words of the finding ----

PREFIX = "urlPrefix: http://127.0.0.1:8888/scheduler"
FAULTS = [
    ("    weight: 141", "    wieght: 141", "scheduler.fields", "fail", [":21:5:", "did you mean weight?"]),
    ("    weight: 141", '    weight: "141"', "scheduler.fields", "fail", [":21:13:", "extenders[0].weight", "a whole number"]),
    ("percentageOfNodesToScore: 100", "percentageOfNodesToScore: 101", "scheduler.fields", "fail", [":11:27:", "0 to 100"]),
    ("percentageOfNodesToScore: 100", "percentageOfNodesToScore: 100\nnew: 1", "scheduler.fields", "warn", ["unknown key"]),
    ("httpTimeout: 3s", "httpTimeout: 3", "scheduler.fields", "fail", ["a duration"]),
    ("    weight: 141\n", "", "scheduler.weight", "fail", [":13:5:", "does not start"]),
    ("weight: 141", "weight: 140", "scheduler.weight", "fail", ["is 140", "is 141"]),
    ("httpTimeout: 3s", "httpTimeout: 2s", "scheduler.httpTimeout", "fail", ["bindTimeoutSeconds"]),
    ("httpTimeout: 3s", "httpTimeout: 1m30s", "scheduler.httpTimeout", "warn", ["90000 ms"]),
    ("    httpTimeout: 3s\n", "", "scheduler.httpTimeout", "warn", ["5000 ms"]),
    ("nodeCacheCapable: true", "nodeCacheCapable: false", "scheduler.nodeCacheCapable", "fail", [":25:23:"]),
    ("ignorable: false", "ignorable: true", "scheduler.ignorable", "fail", [":27:16:"]),
    ("    filterVerb: filter\n", "", "scheduler.filterVerb", "fail", ["is missing"]),
    ("bindVerb: bind", "bindVerb: Bind", "scheduler.bindVerb", "fail", ['"Bind"']),
    ("preemptVerb: preempt", "preemptVerb: ''", "scheduler.preemptVerb", "fail", ["is missing"]),
    (PREFIX, "urlPrefix: 127.0.0.1:8888", "scheduler.urlPrefix", "fail", ["should be a URL"]),
    (PREFIX, "urlPrefix: http://127.0.0.1:8888", "scheduler.urlPrefix", "fail", ["/scheduler"]),
    (PREFIX, "urlPrefix: http://127.0.0.1:9999/scheduler", "scheduler.urlPrefix", "warn", ["9999", "8888"]),
    (PREFIX, "urlPrefix: http://gpu-extender:8888/scheduler", "scheduler.urlPrefix", "fail", ["gpu-extender", "127.0.0.1:8888"]),
    (PREFIX, "urlPrefix: https://127.0.0.1:8888/scheduler", "scheduler.urlPrefix", "fail", ["no certificate"]),
    (PREFIX, PREFIX + "\n    tlsConfig: {caFile: a}", "scheduler.tlsConfig", "warn", ["no effect"]),
    ("name: amd.com/gpu\n", "name: amd.com/gqu\n", "scheduler.managedResources", "warn", ["amd.com/gqu", "not in gpuResources"]),
    ("name: amd.com/gpu\n", "name: nvidia.com/gpu\n", "scheduler.managedResources", "fail", ["listed twice"]),
    ("name: amd.com/gpu\n", "name: nvidia.com/mig-*\n", "scheduler.managedResources", "fail", ["nvidia.com/mig-*"]),
    ("name: amd.com/gpu\n", "name: alpha.kubernetes.io/nvidia-gpu\n", "scheduler.managedResources", "fail", ["kubernetes.io"]),
    ("ByScheduler: false\n      - name: amd", "ByScheduler: true\n      - name: amd", "scheduler.managedResources", "fail", ["nvidia.com/gpu"]),
    ("percentageOfNodesToScore: 100", "", "scheduler.percentageOfNodesToScore", "warn", ["sample"]),
    ("extenders:\n", "profiles: [{schedulerName: a}, {schedulerName: a}]\nextenders:\n", "scheduler.profiles", "fail", ["twice"]),
    ("extenders:\n", "extenders:\n  - {urlPrefix: 'http://a/x', bindVerb: b}\n", "scheduler.binders", "fail", ["2 extenders"]),
    ("extenders:\n", "extenders:\n  - {urlPrefix: 'http://a/x', filterVerb: b}\n", "scheduler.otherExtenders", "fail", ["1 other"]),
    ("extenders:\n", "none: []\nextenders: []\nrest:\n", "scheduler.extenders", "fail", ["should be one"]),
    (
        "extenders:\n",
        "profiles: [{plugins: {score: {enabled: [{name: Mine, weight: 3}, {name: ImageLocality, weight: 2}]}}}]\nextenders:\n",
        "scheduler.plugins",
        "warn",
        ["from weight 181"],
    ),
    ("extenders:\n", "profiles: [{}, {schedulerName: a}]\nextenders:\n", "scheduler.profiles", "fail", ["profiles[0]", "missing"]),
    *(
        ("extenders:\n", f"profiles: [{{{profile}}}]\nextenders:\n", f"scheduler.{check}", level, words)
        for profile, check, level, words in (
            ("plugins: {bind: {disabled: [{name: '*'}]}}", "plugins", "fail", ["profiles[0]", "no plugin for bind"]),
            ("plugins: {queueSort: {disabled: [{name: PrioritySort}]}}", "plugins", "fail", ["0 plugins for queueSort"]),
            ("plugins: {filter: {enabled: [{name: ImageLocality}]}}", "plugins", "fail", ["plugins.filter.enabled[0]: ImageLocality: is no plugin for filter"]),
            ("plugins: {score: {enabled: [{name: Mine}]}, multiPoint: {enabled: [{name: Mine}]}}", "plugins", "warn", ["plugins.score.enabled[0]: Mine: is no plugin"]),
            ("pluginConfig: [{name: Mine}, {name: Mine}]", "pluginConfig", "fail", ["pluginConfig[1]: Mine: is there twice"]),
            ("pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: 101}}]", "fields", "fail", ["hardPodAffinityWeight", "0 to 100"]),
            ("pluginConfig: [{name: VolumeBinding, args: {shape: []}}]", "fields", "warn", ["args.shape: is set"]),
            ("pluginConfig: [{name: VolumeBinding, args: {bindTimeoutSecond: 1}}]", "fields", "warn", ["did you mean bindTimeoutSeconds?"]),
        )
    ),
    ("extenders:\n", "leaderElection: {leaseDuration: 10s}\nextenders:\n", "scheduler.leaderElection", "fail", ["leaseDuration: is 10000 ms", "renewDeadline"]),
    ("scheduler.config.k8s.io/v1\n", "scheduler.config.k8s.io/v1beta3\n", "scheduler.apiVersion", "fail", ["v1beta3"]),
]


@pytest.mark.parametrize(("line", "other", "check", "level", "words"), FAULTS, ids=[f"{row[2]}-{row[1][:30]}" for row in FAULTS])
def test_faults(diagnose, line, other, check, level, words):
    assert line in SHIPPED
    found = diagnose(SHIPPED.replace(line, other, 1))
    levels = [one["level"] for one in found.of(check) if all(word in one["seen"] for word in words)]
    assert levels == [level], found.answer
    assert found.status == (1 if found.answer["fail"] else 0)


@pytest.mark.parametrize(
    ("policy", "check", "level"),
    [
        ("scheduler: {otherExtenders: true}", "scheduler.otherExtenders", "warn"),
        ("scheduler: {allPods: true}", "scheduler.managedResources", "fail"),
        ("scheduler: {beside: true, leaseDurationSeconds: 20}", "scheduler.leaderElection", "fail"),
        ("gpuResources: [nvidia.com/gpu, amd.com/gpu, gpu.intel.com/i915, gpu.intel.com/xe, a.b/c]", "scheduler.managedResources", "warn"),
        ("scheduler: {weight: 125}", "scheduler.weight", "fail"),
    ],
)
def test_a_policy_that_disagrees(diagnose, policy, check, level):
    assert level in [one["level"] for one in diagnose(SHIPPED, HEAD + policy + "\n").of(check)]


@pytest.mark.parametrize("prefix", ["http://me:s3cret@127.0.0.1:8888/scheduler", "http://127.0.0.1:8888/scheduler?token=s3cret"])
def test_no_finding_has_a_secret_of_the_address(diagnose, prefix):
    found = diagnose(SHIPPED.replace(PREFIX, f"urlPrefix: {prefix}"))
    assert found.one("scheduler.urlPrefix")[0] == "fail" and "s3cret" not in json.dumps(found.answer)


def test_a_key_is_not_shown(diagnose):
    for key in ("s3cret", "czNjcmV0"):
        found = diagnose(SHIPPED.replace(PREFIX, PREFIX + f"\n    tlsConfig: {{certData: czNjcmV0, keyData: {key}}}"))
        assert "does not start" in json.dumps(found.answer) and "s3cret" not in json.dumps(found.answer) and "czNjcmV0" not in json.dumps(found.answer)


TLS_POLICY = read("manifests/base/scheduler-policy.yaml")
TLS_PREFIX = "urlPrefix: https://gpu-extender:8443/scheduler"


@pytest.mark.parametrize(
    ("tls", "words"),
    [
        ("", ["trusts every CA"]),
        ("\n    enableHTTPS: true", ["trusts any server"]),
        ("\n    tlsConfig: {insecure: true, certFile: a, keyFile: b}", ["trusts any server"]),
        ("\n    tlsConfig: {insecure: true, caFile: c, certFile: a, keyFile: b}", ["insecure beside a CA"]),
        ("\n    tlsConfig: {caFile: c}", ["certFile"]),
        ("\n    tlsConfig: {caFile: c, certFile: a}", ["keyFile"]),
    ],
)
def test_tls_fields(diagnose, tls, words):
    found = diagnose(SHIPPED.replace(PREFIX, TLS_PREFIX + tls), TLS_POLICY)
    texts = [one["seen"] for one in found.of("scheduler.tlsConfig") if one["level"] == "fail"]
    assert [word for word in words if not any(word in text for text in texts)] == []


def test_http_to_an_address_with_tls(diagnose):
    level, seen = diagnose(SHIPPED.replace(PREFIX, "urlPrefix: http://gpu-extender:8443/scheduler"), TLS_POLICY).one("scheduler.urlPrefix")
    assert level == "fail" and "serves TLS" in seen


def test_our_extender_is_found_among_others_by_its_path_and_port(diagnose):
    other = "extenders:\n  - {urlPrefix: 'http://a:1/scheduler', weight: 1}\n  - {urlPrefix: 'http://a/other', weight: 2}\n"
    level, seen = diagnose(SHIPPED.replace("extenders:\n", other)).one("scheduler.weight")
    assert level == "ok" and "extenders[2].weight" in seen


# Extenders before ours, the check, words of its findings.
OTHERS = [
    ("{urlPrefix: 'http://a/x', filterVerb: f, managedResources: [{name: nvidia.com/gpu}]}", "scheduler.managedResources", ["extenders[1].managedResources[0]: nvidia.com/gpu: extenders[0] manages it, too"]),
    ("{urlPrefix: 'http://a/x', filterVerb: f, managedResources: [{name: kubernetes.io/x}]}", "scheduler.managedResources", ["extenders[0].managedResources[0]: kubernetes.io/x: should be"]),
    ("{urlPrefix: 'http://a/x', prioritizeVerb: p}", "scheduler.weight", ["extenders[0].weight: is 0, should be positive"]),
    ("{urlPrefix: 'http://a/x', bindVerb: b}", "scheduler.binders", ["2 extenders have a bindVerb"]),
    ("{urlPrefix: 'http://a/x', filterVerb: f}", "scheduler.weight", []),
    ("{urlPrefix: 'http://a/x', filterVerb: f, managedResources: [{name: nvidia.com/gpumem}]}", "scheduler.managedResources", []),
]


@pytest.mark.parametrize(("other", "check", "words"), OTHERS, ids=[f"{row[1]}-{len(row[2])}-{i}" for i, row in enumerate(OTHERS)])
def test_other_extenders_are_validated_too(diagnose, other, check, words):
    found = diagnose(SHIPPED.replace("extenders:\n", f"extenders:\n  - {other}\n"), HEAD + "scheduler: {otherExtenders: true}\n")
    fails = [one["seen"] for one in found.of(check) if one["level"] == "fail"]
    assert len(fails) == len(words) and all(word in seen for word, seen in zip(words, fails)), found.answer


def test_a_weight_without_prioritize_has_no_effect(diagnose):
    found = diagnose(SHIPPED.replace("    prioritizeVerb: prioritize\n", "").replace("    weight: 141\n", ""))
    assert found.of("scheduler.weight") == [] and "does not start" not in str(found.answer)
    assert found.one("scheduler.prioritizeVerb")[0] == "fail"


def tls_policy(authority, **server):
    authority.server(**server)
    files = {"certificateFile": "server.crt", "privateKeyFile": "server.key", "clientCAFile": "ca.crt"}
    tls = {key: str(authority.path(name)) for key, name in files.items()}
    return HEAD + json.dumps({"tls": tls})[1:-1] + "\n"


@pytest.mark.parametrize(("server", "level", "words"), [({}, "ok", "server.crt"), ({"expired": True}, "fail", "expired")])
def test_certificates(diagnose, tmp_path, server, level, words):
    found = diagnose(SHIPPED, tls_policy(Authority(tmp_path / "ca"), **server))
    is_level, seen = found.one("certificates")
    assert is_level == level and words in seen


def test_a_certificate_that_expires_soon_is_a_warning(diagnose, tmp_path):
    """After two thirds of its lifetime; the others here have two days and are new."""
    until = datetime.date.today() + datetime.timedelta(days=9)
    level, seen = diagnose(SHIPPED, tls_policy(Authority(tmp_path / "ca"), until=until)).one("certificates")
    assert level == "warn" and f"expires soon: it is valid until {until}" in seen


def tls_lines(url, **tls):
    """kube-scheduler's file with this address and tlsConfig."""
    return SHIPPED.replace(PREFIX, f"urlPrefix: {url}/scheduler\n    tlsConfig: {json.dumps({'caFile': 'ca.crt', 'keyFile': 'k', **tls})}")


@pytest.mark.parametrize(
    ("url", "tls", "level"),
    [
        ("https://localhost:8443", {}, "ok"),
        ("https://127.0.0.1:8443", {}, "ok"),
        ("https://[::1]:8443", {}, "ok"),
        ("https://gpu-extender:8443", {}, "fail"),
        ("https://10.0.0.1:8443", {}, "fail"),
        ("https://gpu-extender:8443", {"serverName": "localhost"}, "ok"),
        ("https://localhost:8443", {"serverName": "gpu-extender"}, "fail"),
    ],
)
def test_names_of_the_certificate(diagnose, tmp_path, url, tls, level):
    is_level, seen = diagnose(tls_lines(url, certFile="c", **tls), tls_policy(Authority(tmp_path / "ca"))).one("certificates.names")
    host = tls.get("serverName", url.removeprefix("https://").removesuffix(":8443").strip("[]"))
    assert is_level == level and host in seen


def test_a_common_name_is_no_name(diagnose, tmp_path):
    authority = Authority(tmp_path / "ca")
    policy = tls_policy(authority)
    authority.sign("server", "/CN=localhost", "extendedKeyUsage=serverAuth")
    level, seen = diagnose(tls_lines("https://localhost:8443", certFile="c"), policy).one("certificates.names")
    assert level == "fail" and "no subject alternative names" in seen


def client_of(authority, case):
    if case == "of another authority":
        authority = Authority(authority.folder.parent / "other")
    if case == "for servers":
        return authority.server("as-client")[0]
    more = {"subject": "/O=team/CN=kube-scheduler"} if case == "listed" else {}
    return authority.client("scheduler", expired=case == "expired", **more)[0]


@pytest.mark.parametrize(
    ("case", "level", "words"),
    [
        ("listed", "ok", "may call the verbs"),
        ("not listed", "fail", "not in tls.verbClients"),
        ("of another authority", "fail", "signed by none"),
        ("for servers", "fail", "no clientAuth"),
        ("expired", "fail", "expired"),
    ],
)
def test_the_certificate_of_kube_scheduler(diagnose, tmp_path, case, level, words):
    authority = Authority(tmp_path / "ca")
    policy = tls_policy(authority).replace('"clientCAFile"', '"verbClients": {"organizations": ["team"]}, "clientCAFile"')
    file = tls_lines("https://localhost:8443", certFile=str(client_of(authority, case)))
    is_level, seen = diagnose(file, policy).one("certificates.scheduler")
    assert is_level == level and words in seen


def test_a_certificate_of_kube_scheduler_that_cannot_be_read(diagnose, tmp_path):
    policy = tls_policy(Authority(tmp_path / "ca"))
    level, seen = diagnose(tls_lines("https://localhost:8443", certFile="/nowhere/c.crt"), policy).one("certificates.scheduler")
    assert level == "warn" and seen.startswith("not checked: /nowhere/c.crt")
    (tmp_path / "c.crt").write_text("no PEM", encoding="utf-8")
    level, seen = diagnose(tls_lines("https://localhost:8443", certFile=str(tmp_path / "c.crt")), policy).one("certificates.scheduler")
    assert level == "fail" and "c.crt: holds no certificate" in seen


def base64_of(path):
    return base64.b64encode(path.read_bytes()).decode()


def test_the_certificate_of_kube_scheduler_inline(diagnose, tmp_path):
    """As for client-go, the data win over the file."""
    authority = Authority(tmp_path / "ca")
    certificate, key = authority.client("scheduler")
    tls = {"certFile": "/nowhere", "certData": base64_of(certificate), "keyData": base64_of(key), "caData": base64_of(authority.certificate)}
    found = diagnose(tls_lines("https://localhost:8443", **tls), tls_policy(authority))
    assert found.one("certificates.scheduler") == ("ok", found.one("certificates.scheduler")[1])
    assert "certData: is valid now" in found.one("certificates.scheduler")[1]
    assert found.one("certificates.schedulerKey") == ("ok", "keyData: is the key of certData")
    assert found.one("certificates.authority")[0] == "ok"


@pytest.mark.parametrize(
    ("tls", "check", "words"),
    [
        ({"certData": "???"}, "scheduler.fields", "certData: is not base64"),
        ({"certData": "bm8gUEVN"}, "certificates.scheduler", "certData: holds no certificate"),
        ({"keyData": "bm8gUEVN"}, "certificates.schedulerKey", "keyData, for the certificate"),
        ({"caData": "bm8gUEVN"}, "certificates.authority", "caData: holds no certificate"),
    ],
)
def test_inline_data_that_cannot_be_read(diagnose, tmp_path, tls, check, words):
    authority = Authority(tmp_path / "ca")
    policy = tls_policy(authority)
    certificate = str(authority.client("scheduler")[0])
    level, seen = diagnose(tls_lines("https://localhost:8443", **{"certFile": certificate, **tls}), policy).one(check)
    assert level == "fail" and words in seen


def test_a_key_of_another_certificate(diagnose, tmp_path):
    authority = Authority(tmp_path / "ca")
    policy = tls_policy(authority)
    certificate, key = authority.client("scheduler")[0], authority.client("other")[1]
    level, seen = diagnose(tls_lines("https://localhost:8443", certFile=str(certificate), keyFile=str(key)), policy).one("certificates.schedulerKey")
    assert level == "fail" and "is not the private key" in seen


def test_an_authority_that_did_not_sign_our_certificate(diagnose, tmp_path):
    authority, other = Authority(tmp_path / "ca"), Authority(tmp_path / "other")
    policy = tls_policy(authority)
    for each, level in ((authority, "ok"), (other, "fail")):
        assert diagnose(tls_lines("https://localhost:8443", caFile=str(each.certificate)), policy).one("certificates.authority")[0] == level


def test_enforced_namespaces_beside_a_configuration_for_observing(diagnose):
    """While the service is down, kube-scheduler binds their pods, too."""
    observing = read("manifests/kube-scheduler-config-observe.yaml")
    policy = HEAD + "mode: observe\n"
    assert not [one for one in diagnose(observing, policy).of("scheduler.ignorable") if one["level"] != "ok"]
    found = diagnose(observing, policy + "enforceNamespaces: {matchLabels: {team: a}}\n")
    assert [found.one(check)[0] for check in ("scheduler.ignorable", "scheduler.bindVerb")] == ["warn", "warn"]
    assert "enforceNamespaces selects are bound without it" in found.one("scheduler.ignorable")[1]


def test_certificates_of_another_machine_are_not_checked(diagnose):
    level, seen = diagnose(SHIPPED, TLS_POLICY).one("certificates")
    assert level == "warn" and seen.startswith("not checked: /etc/gpu-extender/tls/tls.crt")


# ---- unusable or hostile input ----


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["nothing", "KubeSchedulerConfiguration"]),
        ("[]", ["an array"]),
        ("kind: Pod\n", [":1:7:", '"Pod"', "KubeSchedulerConfiguration"]),
        ("kind: KubeSchedulerConfiguration\nkind: x\n", [":2:"]),
        ("kind: KubeSchedulerConfiguration\n---\na: b\n", ["second document"]),
        ("a: &a [x, x]\nb: [" + "*a, " * 20000 + "]\nkind: KubeSchedulerConfiguration\n", ["20000"]),
        ("[" * 10000, ["nested"]),
        ("x" * (1024 * 1024 + 1), ["larger than 1Mi"]),
    ],
    ids=["empty", "list", "pod", "twice", "two", "aliases", "deep", "large"],
)
def test_unusable_input(run_binary, write, text, words):
    done = run_binary("--doctor", "--scheduler-config", write("s.yaml", text))
    assert (done.returncode, done.stdout) == (2, "")
    assert [word for word in words if word not in done.stderr] == []


def test_a_missing_file_and_an_invalid_policy(run_binary, write):
    assert run_binary("--doctor", "--scheduler-config", "/gone/s.yaml").returncode == 2
    assert run_binary("--doctor", "--config", write("p.yaml", "kind: x\n")).returncode == 2


def test_output_is_bounded_and_without_control_characters(run_binary, write):
    names = "".join(f'      - name: "evil\\e[31m{i}\\n"\n' for i in range(4000))
    text = SHIPPED[: SHIPPED.index("      # ignoredByScheduler false")] + names
    done = run_binary("--doctor", "--scheduler-config", write("s.yaml", text))
    assert done.returncode == 1
    assert "more findings are left out" in done.stdout
    assert len(done.stdout) < 300000 and "\x1b" not in done.stdout


@pytest.mark.long
def test_types_are_wrong_everywhere(diagnose):
    """No check may trust a type."""
    for value in ["1", "x", "[]", "{}", "[1]", "[[]]", "null", "true", "-1", "99999999999999999999", "1.5"]:
        keys = ["urlPrefix", "filterVerb", "weight", "httpTimeout", "nodeCacheCapable", "ignorable", "managedResources", "tlsConfig"]
        ours = "".join(f"    {key}: {value}\n" for key in keys)
        for text in [
            f"kind: KubeSchedulerConfiguration\nprofiles: {value}\nextenders: {value}\nleaderElection: {value}\napiVersion: {value}\n",
            f"kind: KubeSchedulerConfiguration\nextenders:\n  - {ours.strip()}\n",
            f"kind: KubeSchedulerConfiguration\nprofiles: [{value}, {{plugins: {{score: {value}}}, schedulerName: {value}}}]\nextenders: [{value}]\n",
        ]:
            assert diagnose(text, HEAD + "scheduler: {beside: true}\n").status == 1


# ---- a cluster file ----

NAMESPACE = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "ml", "uid": "ns-ml", "labels": {"team": "ml"}}}


@pytest.fixture
def diagnose_cluster(run_binary, write):
    """diagnose_cluster(node, pod, ..., policy=text, scheduler=text) -> Diagnosis."""

    def run(*items, policy="", scheduler=SHIPPED):
        files = ["--config", write("policy.yaml", HEAD + policy), "--scheduler-config", write("scheduler.yaml", scheduler)]
        return Diagnosis(run_binary("--doctor", *files, "--cluster-file", write("c.json", list_text(*items)), "--output", "json"))

    return run


def test_a_healthy_cluster(diagnose_cluster):
    quota = "quotas: [{name: q, namespaces: [ml], limits: [{resource: nvidia.com/gpu, total: 8, models: {A100: 8}}]}]\n"
    found = diagnose_cluster(NAMESPACE, node("a"), pod("p", 8, on="a"), policy=quota)
    assert (found.bad(), found.status) == ([], 0)
    assert found.one("cluster.objects")[1].endswith("c.json: 1 nodes, 1 pods")


TERM = {"matchExpressions": [{"key": "x", "operator": "Exists"}]}
AFFINITY = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [TERM]}}}
LEGACY = {"scheduler.alpha.kubernetes.io/affinity": json.dumps(AFFINITY)}
QUOTA = "quotas: [{{name: q, {}, limits: [{}]}}]\n"
ODD = [
    ([node("a"), node("b", model=None)], "", "nodes.model", "warn", ["1 of 2", ": b"]),
    ([node(f"n{i}", model=None) for i in range(9)], "", "nodes.model", "warn", ["9 of 9", "n0, n1, n2 and 6 more"]),
    ([node("a", metadata={"labels": {"accelerator": "nvidia-tesla-t4"}})], "", "nodes.labels", "warn", ["a (nvidia.com/gpu.product, accelerator)"]),
    ([node("a", status={"allocatable": {"nvidia.com/gpu": "0"}})], "", "nodes.allocatable", "warn", ["a (8 of 8 nvidia.com/gpu)"]),
    ([node("a"), node("b", status={"allocatable": {"nvidia.com/gpu": "7"}})], "", "nodes.allocatable", "warn", [": b (1 of 8 nvidia.com/gpu)"]),
    ([node("a", resource="nvidia.com/mig-1g.5gb")], "", "nodes.managedResources", "fail", ["nvidia.com/mig-1g.5gb (on a)"]),
    ([node("a"), node("a")], "", "cluster.objects", "warn", ["objects could not be read", "Node a"]),
    ([NAMESPACE, node("a")], QUOTA.format("namespaces: [gone]", "{total: 1}"), "quotas.matches", "warn", ["q", "no namespace"]),
    ([NAMESPACE, node("a")], QUOTA.format("namespaceSelector: {matchLabels: {team: x}}", "{total: 1}"), "quotas.matches", "warn", ["no namespace"]),
    ([NAMESPACE, node("a")], QUOTA.format("namespaces: [ml]", "{models: {H100: 1}}"), "quotas.matches", "warn", ["the model H100"]),
    ([NAMESPACE, node("a")], QUOTA.format("namespaces: [ml]", "{resource: amd.com/gpu, total: 1}"), "quotas.matches", "warn", ["amd.com/gpu"]),
    ([NAMESPACE, node("a"), pod("p", 3, on="a")], QUOTA.format("namespaces: [ml]", "{total: 2}"), "quotas.use", "warn", ["use 3 GPUs", "limit is 2"]),
    ([node("a"), pod("p", 3, on="a")], QUOTA.format("namespaces: [ml]", "{total: 3}"), "quotas.matches", "warn", ["not checked"]),
    ([NAMESPACE, node("a")], QUOTA.format("namespaces: [ml]", "{models: {A100: {limit: 9, borrow: {limit: 1, maxPriority: 0}}}}"), "quotas.matches", "warn", ["guarantee 9 GPUs of A100", "have 8"]),
    ([NAMESPACE, node("a"), pod("p", 3, on="a")], QUOTA.format("namespaces: [ml]", "{total: {limit: 8, borrow: {limit: 2, maxPriority: 0}}}"), "quotas.use", "warn", ["borrow 3 GPUs", "limit is 2"]),
    ([NAMESPACE, node("a")], QUOTA.format("namespaces: [ml]", "{total: {limit: 8, borrow: {limit: 2, maxPriority: 0}}}"), "scheduler.preemption", "warn", ["sample of the nodes"]),
    ([node("a"), pod("p", 1, on="a", metadata={"annotations": {"gpu-extender.io/models": "T4"}})], "", "pods.refused", "warn", ["1 running", "ml/p on a"]),
    ([node("a", model="T4-SHARED"), pod("p", 1, on="a")], "", "pods.refused", "warn", ["shares its GPUs", "ml/p on a"]),
    ([node("a"), pod("p", 1, on="a", metadata={"annotations": {"gpu-extender.io/models": ","}})], "", "pods.refused", "warn", ["invalid", "ml/p"]),
    ([node("a"), pod("p", 1, spec={"schedulingGroup": {"podGroupName": "g"}})], "", "pods.groups", "warn", ["1 pods name a PodGroup that is not known"]),
    ([node("a"), pod("p", 1, on="a", metadata={"annotations": LEGACY})], "", "pods.refused", "warn", ["alpha.kubernetes.io/affinity", "ml/p"]),
]


@pytest.mark.parametrize(("items", "policy", "check", "level", "words"), ODD, ids=[f"{row[2]}-{row[4][0]}" for row in ODD])
def test_odd_clusters(diagnose_cluster, items, policy, check, level, words):
    found = diagnose_cluster(*items, policy=policy)
    levels = [one["level"] for one in found.of(check) if all(word in one["seen"] for word in words)]
    assert levels == [level], found.answer


def test_all_nodes_are_candidates(diagnose_cluster):
    quota = QUOTA.format("namespaces: [ml]", "{total: {limit: 8, borrow: {limit: 2, maxPriority: 0}}}")
    everywhere = "profiles: [{pluginConfig: [{name: DefaultPreemption, args: {minCandidateNodesPercentage: 100}}]}]\nextenders:\n"
    found = diagnose_cluster(NAMESPACE, node("a"), policy=quota, scheduler=SHIPPED.replace("extenders:\n", everywhere, 1))
    assert not found.of("scheduler.preemption"), found.answer


@pytest.mark.parametrize(
    "items",
    [
        [node("a", model="T4-SHARED"), pod("p", 1, on="a", metadata={"annotations": {"gpu-extender.io/allow-shared": "true"}})],
        [node("a", metadata={"labels": {"accelerator": "nvidia-tesla-a100"}})],
        [node("a", metadata={"labels": {"accelerator": "nvidia"}})],
        [node("a"), pod("p", 1, on="a", metadata={"annotations": {"gpu-extender.io/models": "T4"}}, status={"phase": "Succeeded"})],
        [node("a"), pod("p", None, on="a", metadata={"annotations": {"gpu-extender.io/models": "T4"}})],
        [node("a"), pod("p", 8, on="a"), pod("q", 8, on="a")],
    ],
)
def test_nothing_is_wrong_here(diagnose_cluster, items):
    assert diagnose_cluster(*items).bad() == []


def test_all_pods_come_without_a_list(diagnose_cluster):
    text = read("manifests/kube-scheduler-config-all-pods.yaml")
    found = diagnose_cluster(node("a", resource="nvidia.com/mig-1g.5gb"), policy="scheduler: {allPods: true}\n", scheduler=text)
    assert found.one("nodes.managedResources")[0] == "ok"


def test_a_broken_cluster_file_is_unusable(run_binary, write):
    done = run_binary("--doctor", "--cluster-file", write("c.json", "{"))
    assert (done.returncode, done.stdout) == (2, "")


# ---- the document ----


def test_commands_of_the_document():
    for command, output in marked.commands("docs/OPERATIONS.md", "doctor"):
        here = command.replace("gpu-extender --", f"{BINARY} --")
        done = subprocess.run(["bash", "-c", here], cwd=ROOT, env={**os.environ, **ENV}, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        assert (done.stdout, done.stderr) == (output, "")


# ---- options ----


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--scheduler-config", "x"], ["--scheduler-config", "--doctor"]),
        (["--account", "a/b"], ["--account", "--doctor"]),
        (["--output", "json"], ["--output", "--doctor"]),
        (["--doctor", "--check"], ["--doctor", "--check"]),
        (["--doctor", "--print-policy"], ["--doctor", "--print-policy"]),
        (["--doctor", "--output", "yaml"], ["--output", "yaml", "text or json"]),
        (["--doctor", "--account", "b"], ["--account", "NAMESPACE/NAME"]),
        (["--doctor", "--account", "a/b/c"], ["--account", "NAMESPACE/NAME"]),
        (["--doctor", "--scheduler-config", ""], ["--scheduler-config"]),
    ],
)
def test_options(run_binary, options, words):
    done = run_binary(*options)
    assert (done.returncode, done.stdout) == (2, "")
    assert [word for word in words if word not in done.stderr] == []
