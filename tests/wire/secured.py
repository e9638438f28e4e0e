"""A service behind TLS with the test's certificates, and clients with or without one."""

import contextlib
import http.client
import json
import ssl

from certificates import Authority, mount
from objects import filter_args, list_text, node, pod
from service import LIMIT_S, Answer

HEAD = {"apiVersion": "gpu-extender.io/v1alpha1", "kind": "SchedulerPolicy"}
FILTER = filter_args(pod(), ["a", "gone"])


class Secured:
    """The service, its authority, and what the files are that it reads (`files`, as a Secret is mounted). kubeconfig: of whom it
    follows, its text; else it is over a file with the node a and a pod on it."""

    def __init__(self, folder, start, probes="127.0.0.2:0", people="127.0.0.1:0", limits=None, kubeconfig=None, **tls):
        self.folder = folder
        self.authority = Authority(folder / "ca")
        self.files = mount(folder / "mounted", self.authority, *self.authority.server())
        self.client = self.authority.client("kube-scheduler")
        self.policy = folder / "policy.yaml"
        loopback = "127.0.0.1:0"
        listen = {"verbs": loopback, "people": people, "probes": probes}
        self.policy.write_text(json.dumps({**HEAD, "listen": listen, "limits": limits or {}, "tls": {**paths(self.files), **tls}}), encoding="utf-8")
        cluster = folder / "cluster"
        cluster.write_text(kubeconfig or list_text(node("a"), pod("held", on="a")), encoding="utf-8")
        over = "--kubeconfig" if kubeconfig else "--cluster-file"
        self.service = start("--config", self.policy, over, cluster, listen=None, ready=probes != loopback)
        self.address = self.service.addresses["verbs"]

    def connection(self, client=None, authority=None):
        return connected(authority or self.authority, client, self.address)

    def ask(self, client, method, path, body=None):
        return ask_with(self.authority, client, self.address, method, path, body)

    def verb(self, client):
        return self.ask(client, "POST", "/scheduler/filter", FILTER)

    def swap(self, authority, certificate, key):
        """Writes new files; returns when the service has read them."""
        seen = len(self.service.log.lines)
        mount(self.files, authority, certificate, key)
        return self.service.log.wait_for({"mod": "tls"}, after=seen)


def context(authority, client=None):
    """authority: the CA that the client trusts. client: its (certificate, key), or None."""
    made = ssl.create_default_context(cafile=str(authority.certificate))
    if client:
        made.load_cert_chain(*map(str, client))
    return made


@contextlib.contextmanager
def connected(authority, client, address):
    host, _, port = address.rpartition(":")
    connection = http.client.HTTPSConnection(host, int(port), timeout=LIMIT_S, context=context(authority, client))
    try:
        yield connection
    finally:
        connection.close()


def ask_with(authority, client, address, method, path, body=None):
    """One request on a connection of its own."""
    with connected(authority, client, address) as connection:
        return ask_on(connection, method, path, body)


def ask_on(connection, method, path, body=None):
    connection.request(method, path, body and json.dumps(body), {"Content-Type": "application/json"} if body else {})
    return Answer(connection.getresponse())



def paths(files):
    named = {"certificateFile": "tls.crt", "privateKeyFile": "tls.key", "clientCAFile": "ca.crt"}
    return {key: str(files / name) for key, name in named.items()}


def judged(answer):
    assert answer.status == 200, answer
    assert answer.json()["NodeNames"] == ["a"]


def refused(answer, fault):
    assert (answer.status, answer.json()) == (403, {"error": fault})
    assert answer.headers["connection"] == "close"
