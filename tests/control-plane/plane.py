"""A control plane of its own: etcd, kube-apiserver and kube-scheduler as processes on free loopback ports.

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

    def __init__(self, command, log):
        self.name, self.log = os.path.basename(command[0]), log
        with open(log, "wb") as out:
            self.process = subprocess.Popen(
                [*STOPS_WITH_US, *command], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT
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
    """etcd and kube-apiserver, from the programs in `binaries`; everything else lies in `folder`. A context manager."""

    def __init__(self, binaries, folder):
        self.binaries, self.folder = binaries, str(folder)
        self.etcd_port, self.port = free_port(), free_port()
        self.token = secrets.token_hex(16)
        self.certificate = self.path("kube-apiserver", "apiserver.crt")
        self.programs = contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as started:
            started.callback(self.programs.close)
            self._start_etcd()
            self._start_apiserver()
            self.api = Api(HOST, self.port, self.token, self.certificate)
            started.pop_all()
        return self

    def __exit__(self, *_):
        self.programs.close()

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def start(self, name, *options, log=None):
        """The caller's to end: with Program.kill, or by giving it to an ExitStack."""
        return Program([os.path.join(self.binaries, name), *options], self.path(log or f"{name}.log"))

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

    def _start_apiserver(self):
        key = self.path("service-account.key")
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        tokens = self.write("tokens.csv", f'{self.token},tester,tester,"system:masters"\n')
        apiserver = self.start(
            "kube-apiserver",
            f"--etcd-servers=http://{HOST}:{self.etcd_port}",
            f"--cert-dir={os.path.dirname(self.certificate)}",
            f"--bind-address={HOST}",
            f"--advertise-address={ADVERTISED}",
            f"--secure-port={self.port}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            f"--token-auth-file={tokens}",
            "--authorization-mode=RBAC",
            # The first needs a controller that makes accounts, the second one that takes the taint of new nodes away.
            "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
        )
        self.programs.callback(apiserver.kill)
        apiserver.wait_until(lambda: says_ready(self.port, self.certificate))

    def kubeconfig(self):
        """The path of a kubeconfig that may do everything."""
        parts = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
            "clusters": [
                {
                    "name": "test",
                    "cluster": {
                        "server": f"https://{HOST}:{self.port}",
                        "certificate-authority": self.certificate,
                    },
                }
            ],
            "users": [{"name": "test", "user": {"token": self.token}}],
        }
        return self.write("kubeconfig", json.dumps(parts))

    def start_scheduler(self, name, configuration):
        """A ready kube-scheduler, the caller's to end. `name` is that of its files; the API server's address is filled in."""
        kubeconfig, port = self.kubeconfig(), free_port()
        whole = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "leaderElection": {"leaderElect": False},
            "clientConnection": {"kubeconfig": kubeconfig},
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
            log=f"{name}.log",
        )
        certificate = self.path(name, "kube-scheduler.crt")
        try:
            scheduler.wait_until(lambda: says_ready(port, certificate))
        except BaseException:
            scheduler.kill()
            raise
        return scheduler
