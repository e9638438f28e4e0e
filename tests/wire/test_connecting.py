"""Connections to the API server: address, identity and proxy from the kubeconfig.

tests/unit/kube/test_kubeconfig.c covers the format of a kubeconfig and its faults.
"""

import base64
import json
import os
import shlex
import shutil
import socket
import socketserver
import threading

import pytest
from fake_api import HOST, bookmark
from objects import pod

pytestmark = pytest.mark.parametrize("api", ["tls"], indirect=True)


def kubeconfig(api, user=None, **cluster):
    """The usual kubeconfig with these fields of the cluster; None removes one."""
    parts = json.loads(api.kubeconfig(user))
    there = parts["clusters"][0]["cluster"]
    there.update(cluster)
    parts["clusters"][0]["cluster"] = {field: value for field, value in there.items() if value is not None}
    return json.dumps(parts)


def data(path):
    with open(path, "rb") as file:
        return base64.b64encode(file.read()).decode()


def works(api, service, name="train-0"):
    """The service follows every kind and binds a pod."""
    service.settle()
    waiting = pod(name)
    api.store.put(waiting)
    service.wait("the pod is known", lambda: service.ledger() == service.truth())
    assert service.bind(waiting, "b") is None
    service.settle()


# ---- as whom ----


def test_no_certificate_is_sent_without_one(api, follow):
    works(api, follow())
    assert api.callers == {None}


def test_a_client_certificate_in_files_beside_the_kubeconfig(api, follow):
    works(api, follow(kubeconfig=kubeconfig(api, {"client-certificate": "client.crt", "client-key": "client.key"})))
    assert api.callers == {"client"}


def test_a_client_certificate_in_the_kubeconfig_itself(api, follow):
    certificate, key = map(data, api.certificates["client"])
    authority = {"certificate-authority": None, "certificate-authority-data": data(api.certificates["own"][0])}
    works(api, follow(kubeconfig=kubeconfig(api, {"client-certificate-data": certificate, "client-key-data": key}, **authority)))
    assert api.callers == {"client"}


def test_certificates_are_replaced(api, follow, tmp_path):
    """Replaces the files of the server's CA and of the client. Both apply from the next connection on."""

    def install(server, client):
        for name, source in zip(("ca", "own", "key"), (api.certificates[server][0], *api.certificates[client])):
            shutil.copy(source, tmp_path / f"new-{name}")
            os.replace(tmp_path / f"new-{name}", tmp_path / f"in-use.{name}")

    install("own", "client")
    user = {"client-certificate": "in-use.own", "client-key": "in-use.key"}
    service = follow(kubeconfig=kubeconfig(api, user, **{"certificate-authority": "in-use.ca"}))
    works(api, service, "before")
    install("stranger", "other-client")
    with api.changed:
        last = {stream.kind: stream for stream in api.streams}
        api.new_era(certificate="stranger")
    for kind, stream in last.items():  # one that ended just before may have met the old server with the new CA
        api.watch(kind, after=stream)
    works(api, service, "after")
    assert api.callers == {"client", "other-client"}


@pytest.fixture
def plugin(write):
    """plugin(token) -> a user whose credential plugin says that it is the token, from now on."""

    def say(token):
        credential = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": token}}
        script = write("plugin.new", f"#!/bin/sh\necho {shlex.quote(json.dumps(credential))}\n")
        script.chmod(0o700)
        script.rename(script.with_name("plugin"))
        return {"exec": {"apiVersion": credential["apiVersion"], "command": "./plugin", "interactiveMode": "Never"}}

    return say


def test_a_credential_plugin(api, follow, plugin):
    """The plugin lies beside the kubeconfig, and runs again after its credential is rejected."""
    api.token = "first"
    service = follow(kubeconfig=kubeconfig(api, plugin("first")))
    service.settle()
    plugin("second")
    api.token = "second"
    watch = api.watch("pods")
    watch.say(bookmark("pods", api.store.version))
    watch.end()
    works(api, service)
    assert api.faults.count("refused *") >= 1
    assert service.relists("pods") == 1


# ---- which server ----


def test_the_name_in_the_servers_certificate(api, follow):
    """The certificate does not contain the server's address."""
    api.tls.load_cert_chain(*api.certificates["named"])
    authority = {"certificate-authority": api.certificates["named"][0]}
    works(api, follow(kubeconfig=kubeconfig(api, **authority, **{"tls-server-name": "api.example"})))


@pytest.mark.parametrize("name", [None, "other.example"])
def test_certificate_of_another_name_is_rejected(api, follow, name):
    api.tls.load_cert_chain(*api.certificates["named"])
    authority = {"certificate-authority": api.certificates["named"][0]}
    service = follow(ready=False, kubeconfig=kubeconfig(api, **authority, **{"tls-server-name": name}))
    why = service.log.wait_for({"mod": "inventory", "level": "warn", "kind": "nodes"})["why"]
    assert "certificate" in why and service.get("/readyz").status == 503, why
    assert not api.faults.asked, "nothing is said to a stranger, least of all a token"


def test_unverified_server_is_accepted(api, follow):
    api.tls.load_cert_chain(*api.certificates["stranger"])
    works(api, follow(kubeconfig=kubeconfig(api, **{"certificate-authority": None, "insecure-skip-tls-verify": True})))


def test_another_context(api, follow):
    parts = json.loads(api.kubeconfig())
    parts["clusters"].append({"name": "away", "cluster": {"server": f"https://{HOST}:1"}})
    parts["contexts"].append({"name": "away", "context": {"cluster": "away"}})
    parts["current-context"] = "away"
    works(api, follow("--context", "fake", kubeconfig=json.dumps(parts)))


# ---- on which way ----


class Tunnel(socketserver.StreamRequestHandler):
    """An HTTP proxy for CONNECT and a SOCKS5 proxy, without authentication. It resolves every name to HOST."""

    def handle(self):
        version = self.connection.recv(1, socket.MSG_PEEK)
        name, port, granted = self.socks() if version == b"\5" else self.connect()
        self.server.names.add(name)
        with socket.create_connection((HOST, port)) as server:
            self.server.ends.add(server.getsockname())
            self.wfile.write(granted)
            back = threading.Thread(target=self.carry, args=(server, self.connection))
            back.start()
            self.carry(self.connection, server)
            back.join()

    def connect(self):
        name, _, port = self.rfile.readline().split()[1].decode().rpartition(":")
        while self.rfile.readline().strip():
            pass
        return name, int(port), b"HTTP/1.1 200 Connection established\r\n\r\n"

    def socks(self):
        """RFC 1928: the methods that there are, none is needed; then CONNECT to a name, or to an IPv4 address."""
        self.rfile.read(self.rfile.read(2)[1])
        self.wfile.write(b"\5\0")
        kind = self.rfile.read(4)[3]
        name = self.rfile.read(self.rfile.read(1)[0]).decode() if kind == 3 else socket.inet_ntoa(self.rfile.read(4))
        return name, int.from_bytes(self.rfile.read(2), "big"), b"\5\0\0\1" + bytes(6)

    def carry(self, source, sink):
        try:
            while piece := source.recv(65536):
                sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # one side disconnected


@pytest.fixture
def proxy():
    """On HOST. `ends`: the addresses from which it has called servers; `names`: what they were called by those who asked."""
    with socketserver.ThreadingTCPServer((HOST, 0), Tunnel) as server:
        server.daemon_threads, server.ends, server.names = True, set(), set()
        thread = threading.Thread(target=server.serve_forever, args=[0.02])
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("scheme", ["http", "socks5"])
def test_a_proxy(api, follow, proxy, scheme):
    """Every connection uses the proxy, and only the proxy resolves the server's name, as with kubectl."""
    api.tls.load_cert_chain(*api.certificates["named"])
    way = {"proxy-url": f"{scheme}://{HOST}:{proxy.server_address[1]}", "certificate-authority": api.certificates["named"][0]}
    works(api, follow(kubeconfig=kubeconfig(api, server=f"https://api.example:{api.server.server_port}", **way)))
    assert api.connected and api.connected <= proxy.ends
    assert proxy.names == {"api.example"}
