"""The command line and the policy file: output, its stream and the exit status.

0: success; 1: failed at run time (a port in use); 2: options, policy or cluster file are invalid, and nothing was started.
"""

import http.client
import json
import os
import re
import signal
import socket
import subprocess

import pytest
import yaml
from certificates import Authority
from objects import filter_args, list_text, node, pod
from service import BINARY, ENV, LIMIT_S, ROOT, SAMPLE_CLUSTER

POLICY_FILE = os.path.join(ROOT, "config/scheduler-policy.yaml")
HEAD = "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\n"
OPTIONS = ["--config", "--cluster-file", "--listen", "--check", "--print-policy", "--log-level", "--log-format", "--version", "--help"]


@pytest.fixture
def cluster(write):
    return write("cluster.json", list_text(node("a"), pod("one", 2, "a")))


def refusal(done):
    """Returns the one line of the error; nothing else was printed or started."""
    assert (done.returncode, done.stdout) == (2, ""), done
    (line,) = done.stderr.splitlines()
    assert line.startswith("gpu-extender: ")
    return line[len("gpu-extender: ") :]


# ---- options that only print ----


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_has_every_option(option, run_binary):
    done = run_binary(option)
    assert (done.returncode, done.stderr) == (0, "")
    assert [name for name in OPTIONS if f"  {name}" not in done.stdout] == []


def test_version(run_binary):
    done = run_binary("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"gpu-extender \d+\.\d+\.\d+ \(commit ([0-9a-f]{40}(-changed)?|unknown)\)\n", done.stdout)


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_ignore_other_options(option, run_binary):
    assert run_binary("--config", "/gone", option).returncode == 0


# ---- options that are wrong ----


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], ["--kubeconfig", "--cluster-file"]),
        (["--kubeconfig", "/gone/config"], ["/gone/config"]),
        (["--kubeconfig", "a", "--cluster-file", "b"], ["--kubeconfig", "--cluster-file"]),
        (["--clusterfile=x"], ["--clusterfile", "--cluster-file"]),
        (["--no-such-option"], ["--no-such-option"]),
        (["-x"], ["-x"]),
        (["cluster.yaml"], ["cluster.yaml", "--cluster-file"]),
        (["--config"], ["--config", "FILE"]),
        (["--config", ""], ["--config"]),
        (["--check=yes"], ["--check"]),
        (["--l", "x"], ["--l"]),
        (["--listen", "8888"], ["--listen", "8888"]),
        (["--listen", "localhost:x"], ["--listen", '"localhost:x"']),
        (["--listen", ":"], ["--listen", '":"']),
        (["--listen", "remotehost:8888"], ["--listen", "remotehost"]),
        (["--without-files"], ["--without-files", "--check"]),
        (["--listen", "127.0.0.1:65536"], ["--listen", "65536"]),
        (["--listen", "::1:8888"], ["--listen", "::1:8888"]),
        (["--log-level", "loud"], ["--log-level", "loud", "debug"]),
        (["--log-format", "xml"], ["--log-format", "xml", "json"]),
        (["--config", "/gone/policy.yaml"], ["/gone/policy.yaml"]),
        (["--cluster-file", "/gone/cluster.yaml"], ["/gone/cluster.yaml"]),
        (["--check", "--cluster-file", "/gone/cluster.yaml"], ["/gone/cluster.yaml"]),
        (["--print-policy", "--config", "/gone/policy.yaml"], ["/gone/policy.yaml"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_a_wrong_option_is_named_and_nothing_starts(options, words, run_binary):
    line = refusal(run_binary(*options))
    assert [word for word in words if word not in line] == [], line


# ---- the policy file ----

WRONG_POLICIES = {
    "an unknown key": (HEAD + "listen:\n  verb: '127.0.0.1:1'\n", "4:3: listen.verb", ["verbs"]),
    "an unknown section": (HEAD + "limit:\n  nodes: 1\n", "3:1: limit", ["limits"]),
    "a wrong type": (HEAD + "gpuResources: nvidia.com/gpu\n", "3:15: gpuResources", ["nvidia.com/gpu"]),
    "out of range": (HEAD + "limits:\n  nodes: 0\n", "4:10: limits.nodes", ["0", "1"]),
    "no such placement": (HEAD + "placement: {policy: binpak}\n", "3:21: placement.policy", ["binpak", "binpack"]),
    "no address": (HEAD + "listen: {verbs: localhost}\n", "3:17: listen.verbs", ["localhost"]),
    "another version": ("apiVersion: v1\nkind: SchedulerPolicy\n", "1:13: apiVersion", ["v1", "gpu-extender.io/v1alpha1"]),
    "another kind": ("apiVersion: gpu-extender.io/v1alpha1\nkind: Policy\n", "2:7: kind", ["Policy", "SchedulerPolicy"]),
    "no YAML": (HEAD + "listen: [\n", "4:1: ", []),
    "a key twice": (HEAD + "limits: {}\nlimits: {}\n", "4:1: ", ["limits"]),
    "two documents": (HEAD + "---\n" + HEAD, "4:1: ", ["second"]),
}


@pytest.mark.parametrize("what", WRONG_POLICIES)
@pytest.mark.parametrize("more", [["--check"], ["--print-policy"], []], ids=["check", "print", "start"])
def test_a_wrong_policy_is_reported_with_its_position(what, more, run_binary, write, cluster):
    text, place, words = WRONG_POLICIES[what]
    path = write("policy.yaml", text)
    line = refusal(run_binary("--config", path, "--cluster-file", cluster, *more))
    assert line.startswith(f"{path}:{place}"), line
    assert [word for word in words if word not in line] == [], line


def test_the_policy_in_force_reads_back(run_binary, write):
    aliases = '  aliases: {"rack 12: special": RTX-3090-Ti, "yes": A100, "1e3": H100}\ndeviceDrivers: {gpu.example.com: {model: m}}\n'
    changed = HEAD + "limits: {nodes: 7, requestBytes: 2Mi}\nlisten: {probes: '[::1]:9'}\ngpuResources: [example.com/gpu*]\nmodels:\n"
    first = run_binary("--config", write("changed.yaml", changed + aliases), "--print-policy")
    assert (first.returncode, first.stderr) == (0, "")
    again = run_binary("--config", write("printed.yaml", first.stdout), "--print-policy")
    assert again.stdout == first.stdout
    assert first.stdout != run_binary("--print-policy").stdout


def test_the_shipped_file_equals_no_file(run_binary):
    defaults, file = run_binary("--print-policy"), run_binary("--config", POLICY_FILE, "--print-policy")
    assert defaults.returncode == 0 and defaults.stdout == file.stdout
    assert defaults.stdout.startswith("apiVersion: gpu-extender.io/v1alpha1\n")


def keys_of(value, path=""):
    """The paths of all keys; what a map of the user's own names contains is none of them."""
    for key, below in value.items() if isinstance(value, dict) else ():
        yield f"{path}{key}"
        yield from keys_of(below, f"{path}{key}.")


def test_the_shipped_file_has_every_key(run_binary):
    """It is the reference of all keys."""
    printed = set(keys_of(yaml.safe_load(run_binary("--print-policy").stdout)))
    with open(POLICY_FILE, encoding="utf-8") as file:
        shipped = set(keys_of(yaml.safe_load(file)))
    assert shipped == printed


def test_the_policy_decides(start_service, write):
    """The service uses the policy's GPU resources, model labels and aliases."""
    policy = write("policy.yaml", HEAD + "gpuResources: [example.com/gpu]\nmodels: {labels: [gpu], aliases: {big: H100-SXM5-80GB}}\n")
    item = node("a", 4, None, "example.com/gpu", metadata={"labels": {"gpu": "big"}})
    service = start_service("--config", policy, "--cluster-file", write("c.json", list_text(item, node("b"))))
    (total,) = service.get("/v1/inventory").json()["models"]
    assert (total["model"], total["resource"], total["allocatable"]) == ("H100-SXM5-80GB", "example.com/gpu", 4)


# ---- check ----


def test_check_accepts_valid_files(run_binary, cluster):
    for options in ([], ["--config", POLICY_FILE], ["--cluster-file", cluster], ["--config", POLICY_FILE, "--cluster-file", cluster]):
        done = run_binary("--check", *options)
        assert done.returncode == 0, done


def warnings(done):
    start = "gpu-extender: warning: "
    return [line.removeprefix(start) for line in done.stderr.splitlines() if line.startswith(start)]


def test_all_pods_are_warned_of(run_binary, start_service, write, cluster):
    """While it is down, this mode locks out the cluster, and no request shows that. So --check warns."""
    policy = write("policy.yaml", HEAD + "scheduler: {allPods: true}\n")
    done = run_binary("--check", "--config", policy, "--cluster-file", cluster)
    assert done.returncode == 0
    (said,) = warnings(done)
    assert said.startswith(f"{policy}:3:22: scheduler.allPods: ") and "static pods" in said
    start_service("--config", policy, "--cluster-file", cluster).log.wait_for({"level": "warn", "msg": said})
    assert not warnings(run_binary("--check", "--config", POLICY_FILE, "--cluster-file", cluster))


@pytest.mark.parametrize("weight, is_old", [(120, False), (121, True), (140, True), (141, False)])
def test_a_weight_from_before_kubernetes_1_34_is_warned_of(weight, is_old, run_binary, write, cluster):
    """A weight of 121 to 140 decided before. A smaller one never did, so it is meant."""
    policy = write("policy.yaml", f"{HEAD}scheduler: {{weight: {weight}}}\n")
    said = warnings(run_binary("--check", "--config", policy, "--cluster-file", cluster))
    assert len(said) == is_old
    assert all(f"{policy}:3:" in line and f"scheduler.weight: is {weight}, should be at least 141" in line for line in said)


def test_check_warns_if_verbs_admit_every_certificate(run_binary, start_service, write, cluster, tmp_path):
    """If users have certificates, any of them could bind too."""
    authority = Authority(tmp_path / "ca")
    tls = dict(zip(("certificateFile", "privateKeyFile", "clientCAFile"), map(str, (*authority.server(), authority.certificate))))
    people = {"peopleClients": {"organizations": ["ops"]}}

    def check(**more):
        policy = write("policy.yaml", HEAD + "listen: {verbs: '127.0.0.1:0', people: '127.0.0.1:0', probes: '127.0.0.1:0'}\n" + f"tls: {json.dumps({**tls, **more})}\n")
        done = run_binary("--check", "--config", policy, "--cluster-file", cluster)
        assert done.returncode == 0
        return policy, warnings(done)

    policy, (said,) = check(verbClients={}, **people)
    assert re.match(re.escape(str(policy)) + r":4:\d+: tls\.verbClients: is empty: .* \{names: \[gpu-extender-client\]\}$", said), said
    started = start_service("--config", policy, "--cluster-file", cluster, listen=None, ready=False)
    started.log.wait_for({"level": "warn", "msg": said})
    assert len(check(**people)[1]) == 1
    assert not check()[1] and not check(verbClients={"names": ["kube-scheduler"]}, **people)[1]


def test_an_election_over_a_file_is_warned_of(run_binary, start_service, write, cluster):
    """Without an API server every instance decides and none is elected."""
    policy = write("policy.yaml", HEAD + "leaderElection: {enabled: true, namespace: gpus}\n")
    done = run_binary("--check", "--config", policy, "--cluster-file", cluster)
    assert done.returncode == 0
    (said,) = warnings(done)
    assert said.startswith(f"{policy}: leaderElection.enabled: has no effect with --cluster-file: ")
    start_service("--config", policy, "--cluster-file", cluster).log.wait_for({"level": "warn", "msg": said})
    assert not warnings(run_binary("--check", "--config", policy))


def test_conventions_of_groups_without_effect_are_warned_of(run_binary, write):
    done = run_binary("--check", "--config", write("policy.yaml", HEAD + "gangs: {conventions: [kueue]}\n"))
    assert [said.split(": ", 1)[1] for said in warnings(done)] == ["gangs.conventions: has no effect: gangs.mode is off"]
    assert not warnings(run_binary("--check", "--config", write("observe.yaml", HEAD + "gangs: {mode: observe, conventions: [kueue]}\n")))


def test_an_aggregated_api_without_effect_is_warned_of(run_binary, write, cluster):
    policy = write("policy.yaml", HEAD + "aggregatedAPI: {enabled: true}\n")
    (without_tls,) = warnings(run_binary("--check", "--config", policy))
    assert without_tls.startswith(f"{policy}:3:26: aggregatedAPI.enabled: has no effect without TLS, ")
    over_file = warnings(run_binary("--check", "--config", policy, "--cluster-file", cluster))
    assert over_file[0] == without_tls and over_file[1].startswith(f"{policy}: aggregatedAPI.enabled: has no effect with --cluster-file: ")
    assert len(over_file) == 2 and not warnings(run_binary("--check", "--config", write("off.yaml", HEAD + "aggregatedAPI: {enabled: false}\n")))


def test_check_prints_the_worst_case(run_binary, write):
    """With the shipped policy a vanished leader delays pods without GPUs by at most 10 s. The number is the sum of the policy's times."""

    def check(*options, sections=""):
        policy = write("policy.yaml", HEAD + "leaderElection: {enabled: true, namespace: gpus}\n" + sections)
        done = run_binary("--check", "--config", policy, *options)
        assert (done.returncode, done.stderr) == (0, "") or options, done
        return re.findall(r"by up to (\d+) s: (\d+) s leaderElection\.leaseDurationSeconds, (\d+) s takeover, (\d+) s scheduler\.httpTimeoutSeconds\n$", done.stdout)

    assert check() == [("10", "6", "1", "3")]
    assert check(sections="scheduler: {httpTimeoutSeconds: 10}\n") == [("17", "6", "1", "10")]
    cluster = write("cluster.yaml", list_text(node("a")))
    assert check("--cluster-file", cluster) == [], "over a file nobody is elected"


def test_check_opens_no_port(run_binary, cluster):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run_binary("--check", "--cluster-file", cluster, "--listen", f"127.0.0.1:{port}")
    assert done.returncode == 0


def kubeconfig(user):
    cluster = {"server": "https://127.0.0.1:1", "insecure-skip-tls-verify": True}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "here",
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
            "clusters": [{"name": "here", "cluster": cluster}],
            "users": [{"name": "me", "user": user}],
        }
    )


def plugin(command):
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": command, "interactiveMode": "Never"}}


@pytest.mark.parametrize(
    "user, words",
    [
        ({"tokenFile": "gone"}, ["gone: cannot be read: No such file"]),
        ({"tokenFile": "empty"}, ["empty: is empty, should be a token"]),
        (plugin("./gone"), ["gone: cannot be run: No such file"]),
        (plugin("empty-plugin-that-is-nowhere"), ["credential plugin empty-plugin-that-is-nowhere: cannot be run: No such file"]),
        (plugin("./empty"), ["empty: cannot be run: Permission denied"]),
        (plugin("./"), ["cannot be run: Permission denied"]),
    ],
    ids=["no token", "an empty token", "no plugin", "no plugin in PATH", "a plugin that may not be run", "a folder"],
)
def test_check_rejects_what_the_start_rejects(user, words, run_binary, write):
    """--check prints the same message as the start."""
    write("empty", "")
    options = ["--log-level", "error", "--listen", "127.0.0.1:0", "--kubeconfig", write("kubeconfig", kubeconfig(user))]
    checked, started = run_binary(*options, "--check"), run_binary(*options)
    assert (checked.returncode, checked.stdout) == (2, "")
    assert all(word in checked.stderr for word in words), checked.stderr
    assert checked.stderr == started.stderr


def test_check_runs_no_plugin(run_binary, write):
    script = write("plugin", f"#!/bin/sh\ntouch {write('ran', '')}.it\nexit 1\n")
    script.chmod(0o700)
    path = write("kubeconfig", kubeconfig(plugin("./plugin")))
    for _ in range(2):
        done = run_binary("--kubeconfig", path, "--check")
        assert (done.returncode, done.stderr) == (0, "")
    done = run_binary("--kubeconfig", write("in-path", kubeconfig(plugin("true"))), "--check")
    assert (done.returncode, done.stderr) == (0, "")
    assert not script.with_name("ran.it").exists()


# ---- where it listens ----


@pytest.mark.parametrize("by_policy", [False, True])
def test_a_port_in_use_is_an_error(run_binary, write, cluster, by_policy):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        policy = write("policy.yaml", f"{HEAD}listen: {{verbs: '{address}', people: '{address}', probes: '{address}'}}\n")
        told = ["--config", policy] if by_policy else ["--listen", address]
        done = run_binary("--cluster-file", cluster, *told)
    assert (done.returncode, done.stdout) == (1, "")
    assert "listening" not in done.stderr
    where = "listen in the policy file" if by_policy else "--listen ADDR:PORT"
    assert done.stderr.splitlines()[-1] == f"gpu-extender: listen on {address}: Address already in use; choose another address with {where}"


def test_an_address_of_another_machine_is_an_error(run_binary, write, cluster):
    policy = write("policy.yaml", HEAD + "listen: {insecureVerbs: true, insecurePeople: true}\n")
    done = run_binary("--config", policy, "--cluster-file", cluster, "--listen", "192.0.2.1:8888")
    assert done.returncode == 1 and "listen on 192.0.2.1:8888: " in done.stderr


@pytest.mark.skipif(not os.path.exists("/proc/net/if_inet6"), reason="not here: there is no IPv6")
def test_listen_on_ipv6(start_service, cluster):
    service = start_service("--cluster-file", cluster, listen="[::1]:0")
    assert service.address.startswith("[::1]:") and service.get("/livez").status == 200


PATHS = {"/scheduler/filter": "verbs", "/livez": "probes", "/readyz": "probes"}
PATHS.update(dict.fromkeys(["/v1/inventory", "/v1/dry-run", "/metrics"], "people"))


def test_each_address_serves_its_documented_routes(start_service, write, cluster):
    addresses = {"verbs": "127.0.0.1:0", "people": "127.0.0.2:0", "probes": "127.0.0.3:0"}
    listen = "".join(f"  {name}: '{address}'\n" for name, address in addresses.items())
    service = start_service("--config", write("policy.yaml", f"{HEAD}listen:\n{listen}"), "--cluster-file", cluster, listen=None)
    for name, address in service.addresses.items():
        service.address = address
        for path, owner in PATHS.items():
            assert (service.ask("GET", path).status == 404) == (owner != name), f"{path} on the address for {name}"


def test_listen_replaces_all_three(start_service, write, cluster):
    policy = write("policy.yaml", HEAD + "listen: {verbs: '192.0.2.1:1', people: '192.0.2.1:2', probes: '192.0.2.1:3'}\n")
    service = start_service("--config", policy, "--cluster-file", cluster)
    assert [path for path in PATHS if service.ask("GET", path).status == 404] == []


# ---- the log ----


def test_log_levels(start_service, cluster):
    quiet = start_service("--cluster-file", cluster, "--log-level", "info")
    quiet.get("/livez")
    assert "request" not in {line.get("msg") for line in quiet.log.fields()}
    loud = start_service("--cluster-file", cluster, "--log-level", "debug")
    loud.post("/scheduler/filter", filter_args(pod(), ["a"]))
    line = loud.log.wait_for({"msg": "request", "path": "/scheduler/filter"})
    assert (line["method"], line["status"]) == ("POST", "200") and int(line["id"]) > 0


@pytest.mark.parametrize("form", ["key-value", "json"])
def test_a_request_cannot_forge_lines_of_the_log(form, start_service, cluster):
    """Line breaks, quotes, terminal escapes and a long path stay one quoted value on one line."""
    service = start_service("--cluster-file", cluster, "--log-level", "debug", "--log-format", form)
    paths = ["/a%0Ats=2026%20level=error%20msg=forged", '/"%22\\%5c', "/%1b[2Jx", "/%ff%fe", "/" + "long%20" * 4000]
    for path in paths:
        assert service.get(path).status == 404
    service.get("/v1/inventory")
    service.log.wait_for({"path": "/v1/inventory", "status": "200"})
    lines = service.log.fields()
    assert [line for line in lines if not {"ts", "level", "mod", "msg"} <= set(line)] == []
    told = [line["path"] for line in lines if line.get("status") == "404"]
    assert told[:4] == ["/a\nts=2026 level=error msg=forged", '/""\\\\', "/\x1b[2Jx", "/\ufffd\ufffd"]
    assert told[4].startswith("/long long ") and len(told) == 5
    assert "\x1b" not in service.log.text()


def test_an_unread_log_does_not_block(write, cluster):
    """A dead log collector must not stop the service: it drops its log and goes on."""
    command = [BINARY, "--listen", "127.0.0.1:0", "--cluster-file", cluster, "--log-level", "debug"]
    process = subprocess.Popen(command, env={**os.environ, **ENV}, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        lines = iter(process.stderr.readline, "")
        port = next(int(line.rpartition(":")[2]) for line in lines if "for=probes" in line)
        process.stderr.close()
        cluster.write_text(list_text(node("new")), encoding="utf-8")
        process.send_signal(signal.SIGHUP)
        names = []
        while names != ["new"]:  # until it is read, or the connection is refused because the process is gone
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT_S)
            connection.request("GET", "/v1/inventory")
            names = [item["name"] for item in json.load(connection.getresponse())["nodes"]]
            connection.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT_S) == 0
    finally:
        process.kill()
        process.wait()


# ---- the end ----


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_both_signals_stop_the_service_cleanly(number, start_service, cluster):
    service = start_service("--cluster-file", cluster)
    service.signal(number)
    service.log.wait_for({"msg": "stopping", "signal": str(int(number))})
    assert service.process.wait(LIMIT_S) == 0


@pytest.mark.parametrize("listen", [":0", "localhost:0"])
def test_short_addresses_are_on_loopback(start_service, listen):
    service = start_service("--cluster-file", SAMPLE_CLUSTER, listen=listen)
    assert service.address.startswith("127.0.0.1:") and service.get("/livez").status == 200


def test_check_says_what_it_checked(run_binary, write):
    policy = write("policy.yaml", HEAD)
    done = run_binary("--check", "--config", policy, "--cluster-file", SAMPLE_CLUSTER)
    assert done.returncode == 0
    lines = done.stdout.split("\n")
    assert lines[0] == f"checked: {policy}"
    assert re.fullmatch(rf"checked: {SAMPLE_CLUSTER}: \d+ nodes, \d+ pods", lines[1])
    done = run_binary("--check")
    assert done.stdout.startswith("checked: the built-in policy\nnot checked: the cluster (neither --cluster-file nor --kubeconfig)\n")


def test_check_rejects_a_cluster_file_without_nodes(run_binary, write):
    path = write("cluster.json", '{"kind": "List", "items": []}')
    done = run_binary("--check", "--cluster-file", path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == f"gpu-extender: {path}: has no nodes, should be the output of 'kubectl get nodes,pods -A -o yaml'; it has no objects"


def test_check_can_leave_out_the_files_of_another_machine(run_binary, write):
    tls = "tls: {certificateFile: /gone/tls.crt, privateKeyFile: /gone/tls.key, clientCAFile: /gone/ca.crt, verbClients: {names: [kube-scheduler]}}\n"
    policy = write("policy.yaml", HEAD + tls)
    done = run_binary("--check", "--config", policy)
    assert done.returncode == 2 and "/gone/tls.crt" in done.stderr
    done = run_binary("--check", "--without-files", "--config", policy)
    assert (done.returncode, warnings(done)) == (0, [])
    assert "not checked (--without-files): the files of tls\n" in done.stdout
