"""A control plane of its own: etcd, kube-apiserver, kube-scheduler and KWOK as processes on free loopback ports.

Starts them in a folder that also has their data, keys and logs, waits until each says that it is ready, and ends only what it
started. What runs on it (nodes, pods, extenders) is for others to say. Made for tests: nothing is kept safe on disk, and
whoever knows the token may do everything.
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
# Where the endpoints of the Service "kubernetes" would be. Nothing goes there; loopback is not allowed, and looking for
# another address of this machine fails where there is no network.
ADVERTISED = "192.0.2.1"
STOPS_WITH_US = ["setpriv", "--pdeathsig", "KILL"]
BUILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "build")
NOT_HERE = 77


class NotHere(Exception):
    """The programs cannot be had on this machine, and nobody of us is to blame."""


def built():
    """The folder with the programs that tests/control-plane/build builds or finds."""
    done = subprocess.run([BUILD], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    last = done.stdout.strip().rpartition("\n")[2]
    if done.returncode == NOT_HERE:
        raise NotHere(last)
    assert done.returncode == 0, done.stderr
    return last


def free_port():
    """A port that nobody else is given for a minute: it was used, and is left in TIME_WAIT, in which a server may bind it."""
    with socket.socket() as server, socket.socket() as client:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((HOST, 0))
        server.listen(1)
        client.connect(server.getsockname())
        accepted, _ = server.accept()
        accepted.close()
        return server.getsockname()[1]


class Program:
    """A running program. Its output is in `log`."""

    def __init__(self, command, log, env=None):
        self.name, self.log = os.path.basename(command[0]), log
        with open(log, "wb") as out:
            self.process = subprocess.Popen(
                [*STOPS_WITH_US, *command],
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                # ^C is for who started it, and may need it to tidy up.
                start_new_session=True,
            )

    def says(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return "".join(file.readlines()[-20:])

    def wait_until(self, ready):
        """Asks again and again: before it listens there is nothing to wait on."""
        end = time.monotonic() + LIMIT_S
        while not ready():
            status = self.process.poll()
            assert status is None, f"{self.name} ended with {status}; {self.log}:\n{self.says()}"
            assert time.monotonic() < end, f"{self.name} was not ready in {LIMIT_S} s; {self.log}:\n{self.says()}"
            time.sleep(0.02)

    def kill(self):
        """The hard way: kube-apiserver takes many seconds to end well, and nothing of its is kept."""
        self.process.kill()
        self.process.wait()


def says_ready(port, certificate=None):
    """Whether GET /readyz is answered with 200. `certificate`: the file that the program makes for itself at its start."""
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
    """etcd and kube-apiserver, from the programs in `binaries`; everything else lies in `folder`. A context manager.

    watch_cache: whether watches are served from kube-apiserver's memory, as they are unless somebody says otherwise."""

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
        """The caller's to end: with Program.kill, or by giving it to an ExitStack."""
        return Program([os.path.join(self.binaries, name), *options], self.path(log or f"{name}.log"), env)

    def _start_etcd(self):
        clients, peers = f"http://{HOST}:{self.etcd_port}", f"http://{HOST}:{free_port()}"
        etcd = self.start(
            "etcd",
            "--unsafe-no-fsync",
            f"--data-dir={self.path('etcd')}",
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
        """On the same port, over the same etcd, with the same keys each time. Ready."""
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
        """Those of a control plane without a controller-manager and without a kubelet."""
        return (
            f"--cert-dir={os.path.dirname(self.certificate)}",
            f"--bind-address={HOST}",
            f"--advertise-address={ADVERTISED}",
            "--authorization-mode=RBAC",
            # The first needs a controller that makes accounts, the second one that takes the taint of new nodes away.
            "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
        )

    def kill_apiserver(self):
        if self.apiserver:
            self.apiserver.kill()
            self.apiserver = None

    def start_kwok(self):
        """KWOK, which keeps the nodes that have its annotation ready, runs the pods that are bound to them, and ends those that are
        being deleted. It ends with the plane."""
        stages = sorted(os.listdir(os.path.join(self.binaries, "kwok-stages")))
        kwok = self.start(
            "kwok",
            f"--kubeconfig={self.kubeconfig()}",
            "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
            "--node-lease-duration-seconds=40",
            *[f"--config={os.path.join(self.binaries, 'kwok-stages', stage)}" for stage in stages],
            env={"HOME": self.folder, "KWOK_WORKDIR": self.path("kwok")},
        )
        self.programs.callback(kwok.kill)

    def compact_etcd(self, revision):
        """What was before `revision` is forgotten. etcd speaks JSON, too."""
        connection = http.client.HTTPConnection(HOST, self.etcd_port, timeout=LIMIT_S)
        with contextlib.closing(connection):
            connection.request("POST", "/v3/kv/compaction", json.dumps({"revision": str(revision), "physical": True}))
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()

    def kubeconfig(self):
        """The path of a kubeconfig that may do everything."""
        return self.write_kubeconfig("kubeconfig", {"token": self.token}, self.port)

    def write_kubeconfig(self, name, user, port):
        """The path of a kubeconfig for who has these credentials. port: where kube-apiserver is reached."""
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
        """A ready kube-scheduler, the caller's to end. `name` is that of its files; the API server's address is filled in.
        kubeconfig: if not one that may do everything. options: more of its command line."""
        kubeconfig, port = kubeconfig or self.kubeconfig(), free_port()
        whole = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "leaderElection": {"leaderElect": False},
            # Many pods at once are what some tests are about; by itself it would hold them back.
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
