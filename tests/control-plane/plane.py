"""A control plane of its own: etcd, kube-apiserver, kube-scheduler and KWOK as processes on free loopback ports.

Starts them in a folder with their data, keys and logs, waits until each is ready, and ends only what it started. The tests decide
what runs on it (nodes, pods, extenders). For tests only: data is not durable, and the token allows everything.
"""

import contextlib
import http.client
import json
import os
import secrets
import socket
import ssl
import subprocess
import time

from api import LIMIT_S, Api

HOST = "127.0.0.1"
# Address for endpoints of the Service "kubernetes". Unused: loopback is not allowed, and finding another address of this machine fails
# without a network.
ADVERTISED = "192.0.2.1"
STOPS_WITH_US = ["setpriv", "--pdeathsig", "KILL"]
HERE = os.path.dirname(os.path.abspath(__file__))
BUILD, TOOL = os.path.join(HERE, "build"), os.path.join(HERE, "tool")
POD_DELETE = os.path.join(HERE, "pod-delete.yaml")
NOT_HERE = 77
# The release that the script builds. The programs themselves do not know it: they are not built by Kubernetes' own scripts.
KUBERNETES = os.environ.get("KUBERNETES") or "1.36"


def is_since(release):
    """Whether this is that release of Kubernetes or a later one."""

    def numbers(text):
        return [int(number) for number in text.split(".")]

    return numbers(KUBERNETES) >= numbers(release)


class NotHere(Exception):
    """The programs are unavailable on this machine, through no fault of ours."""


def built(script=BUILD, *arguments):
    """The folder that the script names in its last line, with what it builds, fetches or finds."""
    done = subprocess.run([script, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    last = done.stdout.strip().rpartition("\n")[2]
    if done.returncode == NOT_HERE:
        raise NotHere(last)
    assert done.returncode == 0, done.stderr
    return last


def free_port():
    """A port that no other process gets for a minute: it was used and is in TIME_WAIT, where a server may still bind it."""
    with socket.socket() as server, socket.socket() as client:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((HOST, 0))
        server.listen(1)
        client.connect(server.getsockname())
        accepted, _ = server.accept()
        accepted.close()
        return server.getsockname()[1]


class Program:
    """A running program with its output in `log`."""

    def __init__(self, command, log, env=None):
        self.name, self.log = os.path.basename(command[0]), log
        with open(log, "wb") as out:
            self.process = subprocess.Popen(
                [*STOPS_WITH_US, *command],
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                # ^C is for the starting program, which may need it to clean up.
                start_new_session=True,
            )

    def says(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return "".join(file.readlines()[-20:])

    def wait_until(self, ready):
        """Polls, because before the program listens there are no events."""
        end = time.monotonic() + LIMIT_S
        while not ready():
            status = self.process.poll()
            assert status is None, f"{self.name} ended with {status}; {self.log}:\n{self.says()}"
            assert time.monotonic() < end, f"{self.name} was not ready in {LIMIT_S} s; {self.log}:\n{self.says()}"
            time.sleep(0.02)

    def kill(self):
        """Kills it: kube-apiserver needs many seconds to stop gracefully, and nothing of it is kept."""
        self.process.kill()
        self.process.wait()


def says_ready(port, certificate=None):
    """Whether GET /readyz returns 200. `certificate`: the file that the program generates at its start."""
    try:
        if certificate:
            context = ssl.create_default_context(cafile=certificate)
            connection = http.client.HTTPSConnection(HOST, port, timeout=LIMIT_S, context=context)
        else:
            connection = http.client.HTTPConnection(HOST, port, timeout=LIMIT_S)
        with contextlib.closing(connection):
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False


class Plane:
    """etcd and kube-apiserver from the programs in `binaries`; all other files are in `folder`. A context manager.

    watch_cache: whether kube-apiserver serves watches from memory, the default.
    """

    def __init__(self, binaries, folder, watch_cache=True):
        self.binaries, self.folder, self.watch_cache = binaries, str(folder), watch_cache
        self.etcd_port, self.port = free_port(), free_port()
        self.token = secrets.token_hex(16)
        self.certificate = self.path("kube-apiserver", "apiserver.crt")
        self.programs = contextlib.ExitStack()
        self.apiserver, self.n_apiservers = None, 0

    def __enter__(self):
        with contextlib.ExitStack() as started:
            started.callback(self.programs.close)
            self._start_etcd()
            self._make_keys()
            started.callback(self.kill_apiserver)
            self.start_apiserver()
            self.api = Api(HOST, self.port, self.token, self.certificate)
            started.pop_all()
        return self

    def __exit__(self, *_):
        self.kill_apiserver()
        self.programs.close()

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def start(self, name, *options, log=None, env=None):
        """The caller ends it: with Program.kill, or through an ExitStack."""
        return Program([os.path.join(self.binaries, name), *options], self.path(log or f"{name}.log"), env)

    def start_controllers(self, *names):
        """kube-controller-manager with these controllers only. The caller kills it."""
        return self.start(
            "kube-controller-manager",
            f"--kubeconfig={self.kubeconfig()}",
            f"--controllers={','.join(names)}",
            "--leader-elect=false",
            "--secure-port=0",
        )

    def _start_etcd(self):
        clients, peers = f"http://{HOST}:{self.etcd_port}", f"http://{HOST}:{free_port()}"
        etcd = self.start(
            "etcd",
            "--unsafe-no-fsync",
            f"--data-dir={self.path('etcd')}",
            "--quota-backend-bytes=8589934592",  # tests/bench/live ready with 500,000 pods
            f"--listen-client-urls={clients}",
            f"--advertise-client-urls={clients}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=default={peers}",
        )
        self.programs.callback(etcd.kill)
        etcd.wait_until(lambda: says_ready(self.etcd_port))

    def _make_keys(self):
        key = ["openssl", "genrsa", "-out", self.path("service-account.key"), "2048"]
        subprocess.run(key, check=True, capture_output=True)
        self.write("tokens.csv", f'{self.token},tester,tester,"system:masters"\n')

    def start_apiserver(self):
        """Always on the same port, with the same etcd and keys. Returns when ready."""
        key = self.path("service-account.key")
        self.n_apiservers += 1
        self.apiserver = self.start(
            "kube-apiserver",
            f"--etcd-servers=http://{HOST}:{self.etcd_port}",
            f"--secure-port={self.port}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            f"--token-auth-file={self.path('tokens.csv')}",
            f"--watch-cache={str(self.watch_cache).lower()}",
            *self.apiserver_options(),
            log=f"kube-apiserver-{self.n_apiservers}.log",
        )
        self.apiserver.wait_until(lambda: says_ready(self.port, self.certificate))

    def apiserver_options(self):
        """Options of a control plane without controller-manager and kubelet."""
        return (
            f"--cert-dir={os.path.dirname(self.certificate)}",
            f"--bind-address={HOST}",
            f"--advertise-address={ADVERTISED}",
            "--authorization-mode=RBAC",
            # The first needs a controller that creates accounts, the second one that removes new nodes' taint.
            "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
        )

    def kill_apiserver(self):
        if self.apiserver:
            self.apiserver.kill()
            self.apiserver = None

    def start_kwok(self):
        """Starts KWOK, which keeps nodes with its annotation ready, runs the pods bound to them, and ends deleted ones. It ends with the
        plane."""
        folder = os.path.join(self.binaries, "kwok-stages")
        stages = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name != os.path.basename(POD_DELETE)]
        kwok = self.start(
            "kwok",
            f"--kubeconfig={self.kubeconfig()}",
            "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
            "--node-lease-duration-seconds=40",
            *[f"--config={stage}" for stage in (*stages, POD_DELETE)],
            env={"HOME": self.folder, "KWOK_WORKDIR": self.path("kwok")},
        )
        self.programs.callback(kwok.kill)

    def compact_etcd(self, revision):
        """Compacts history before `revision`. etcd speaks JSON too."""
        connection = http.client.HTTPConnection(HOST, self.etcd_port, timeout=LIMIT_S)
        with contextlib.closing(connection):
            connection.request("POST", "/v3/kv/compaction", json.dumps({"revision": str(revision), "physical": True}))
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()

    def kubeconfig(self):
        """The path of a kubeconfig with all rights."""
        return self.write_kubeconfig("kubeconfig", {"token": self.token}, self.port)

    def write_kubeconfig(self, name, user, port):
        """The path of a kubeconfig with these credentials. port: of kube-apiserver."""
        server = {"server": f"https://{HOST}:{port}", "certificate-authority": self.certificate}
        parts = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
            "clusters": [{"name": "test", "cluster": server}],
            "users": [{"name": "test", "user": user}],
        }
        return self.write(name, json.dumps(parts))

    def start_scheduler(self, name, configuration, kubeconfig=None, options=()):
        """A ready kube-scheduler; the caller ends it. `name` names its files; the API server's address is filled in. kubeconfig: default
        has all rights. options: more of its command line."""
        kubeconfig, port = kubeconfig or self.kubeconfig(), free_port()
        whole = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "leaderElection": {"leaderElect": False},
            # Some tests create many pods at once, which the default limits would throttle.
            "clientConnection": {"kubeconfig": kubeconfig, "qps": 1000, "burst": 1000},
            **configuration,
        }
        scheduler = self.start(
            "kube-scheduler",
            f"--config={self.write(name + '.json', json.dumps(whole, indent=1))}",
            f"--authentication-kubeconfig={kubeconfig}",
            f"--authorization-kubeconfig={kubeconfig}",
            f"--bind-address={HOST}",
            f"--secure-port={port}",
            f"--cert-dir={self.path(name)}",
            *options,
            log=f"{name}.log",
        )
        certificate = self.path(name, "kube-scheduler.crt")
        try:
            scheduler.wait_until(lambda: says_ready(port, certificate))
        except BaseException:
            scheduler.kill()
            raise
        return scheduler
