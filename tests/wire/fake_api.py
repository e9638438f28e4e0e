"""A fake API server that fails on demand: HTTP/1.1, with or without TLS, threads, on loopback.

fake_store.py holds its objects, fake_faults.py the faults of requests. This module has the connections, and the watches that a
test controls while they are open: end(), cut_in_line(), say(bytes), tell(event), go_silent().
"""

import functools
import http.server
import json
import os
import ssl
import subprocess
import threading
import time
import urllib.parse

from fake_faults import LIMIT_S, Faults
from fake_store import GONE, KINDS, Store, status

HOST = "127.0.0.1"
NAMESPACED = "/api/v1/namespaces/"
COLLECTIONS = {
    "/api/v1/nodes": "nodes",
    "/api/v1/pods": "pods",
    "/api/v1/namespaces": "namespaces",
    "/apis/scheduling.k8s.io/v1/priorityclasses": "priorityclasses",
    "/apis/policy/v1/poddisruptionbudgets": "poddisruptionbudgets",
    "/apis/scheduling.k8s.io/v1beta1/podgroups": "podgroups",
}
CONFIG_MAPS = "/api/v1/namespaces/kube-system/configmaps"
RESOURCE_GROUP = "/apis/resource.k8s.io/"
# The version of DeviceTaintRules that a server has beside one of the other kinds.
RULES = {"v1": "v1beta2", "v1beta1": "v1alpha3"}
TOKEN_REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
# Before its end a real server sends a bookmark, too.
BOOKMARK_BEFORE_END_S = 2
# Larger parts of a watch are written piece by piece.
CHUNK_BYTES = 1 << 20


def kind_at(path, version):
    """The kind of a collection. version: of the group resource.k8s.io, the one that is served."""
    if path == CONFIG_MAPS:
        return "configmaps"
    within = f"{RESOURCE_GROUP}{RULES[version] if path.endswith('/devicetaintrules') else version}/"
    return path[len(within) :] if path.startswith(within) else COLLECTIONS.get(path)


def user_spec(user):
    """The user of a TokenReview in the form of a SubjectAccessReview."""
    return {"user" if key == "username" else key: value for key, value in user.items()}


def event_bytes(type_, item):
    return json.dumps({"type": type_, "object": item}).encode() + b"\n"


def bookmark(kind, version):
    return event_bytes("BOOKMARK", {"kind": KINDS[kind], "apiVersion": "v1", "metadata": {"resourceVersion": str(version)}})


class Stream:
    """An open watch. Tests control it; its own thread writes."""

    def __init__(self, api, kind, name):
        self.api, self.kind, self.name = api, kind, name
        self.commands, self.silent = [], False
        self.bookmark_at = 0

    def _do(self, *command):
        with self.api.changed:
            self.commands.append(command)
            self.api.changed.notify_all()

    def end(self):
        """The server ends the watch normally."""
        self._do("end")

    def cut_in_line(self):
        """Closes the connection in the middle of an event."""
        self._do("say", event_bytes("ADDED", {"kind": KINDS[self.kind], "metadata": {"name": "half"}})[:-20])
        self._do("cut")

    def say(self, text):
        self._do("say", text)

    def tell(self, type_, item):
        self.say(event_bytes(type_, item))

    def go_silent(self):
        """From now on the watch sends only what a test passes to say() and tell()."""
        with self.api.changed:
            self.silent = True


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def setup(self):
        super().setup()
        self.era = self.api.era
        self.api.connected.add(self.client_address)

    def log_message(self, *_):
        pass

    @property
    def api(self):
        return self.server.api

    def answer(self, reply, content_type="application/json"):
        """reply: (code, JSON value or bytes, more headers)."""
        code, value, headers = reply
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_head(code, len(body), headers, content_type)
        self.wfile.write(body)
        self.wfile.flush()

    def send_head(self, code, length=None, headers=(), content_type="application/json"):
        self.send_response(code)
        self.send_header("Content-Type", content_type)
        self.send_header(*(("Transfer-Encoding", "chunked") if length is None else ("Content-Length", str(length))))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()

    def hang_up(self):
        self.wfile.flush()
        self.close_connection = True

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        kind = kind_at(url.path, self.api.resource_version)
        # The pods that failed are listed and watched apart.
        name = "failedpods" if query.get("fieldSelector") == "status.phase=Failed" else kind
        if kind and query.get("watch") == "true":
            self.meet(f"watch {name}", lambda: None, lambda: self.watch(kind, name, query))
        elif kind:
            self.meet(f"{'page' if 'continue' in query else 'list'} {name}", lambda: self.api.listed(kind, query))
        elif url.path.startswith(NAMESPACED):
            namespace, kind, name = url.path[len(NAMESPACED) :].split("/")
            self.meet(f"get {kind}", lambda: self.api.found(kind, name, namespace))
        else:
            self.meet(url.path, lambda: (404, status(404, "NotFound", url.path), ()))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = urllib.parse.urlsplit(self.path).path
        if path == TOKEN_REVIEWS:
            return self.meet("review token", lambda: self.api.reviewed_token(body))
        if path == ACCESS_REVIEWS:
            return self.meet("review access", lambda: self.api.reviewed_access(body))
        if not path.startswith(NAMESPACED) or not path.endswith("/binding"):
            return self.meet(path, lambda: (404, status(404, "NotFound", path), ()))
        namespace, _, name, _ = path[len(NAMESPACED) :].split("/")
        return self.meet("bind", lambda: self.api.bound(namespace, name, body))

    def do_other(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.meet(f"{self.command} {self.path}", lambda: (405, status(405, "MethodNotAllowed", self.path), ()))

    do_DELETE = do_PATCH = do_PUT = do_other

    def certificate_name(self):
        """The client's certificate; None: it sent none."""
        certificate = self.api.tls and self.connection.getpeercert()
        return certificate["subject"][0][0][1] if certificate else None

    def meet(self, name, make, go=None):
        """make: the right answer; go: does without."""
        if self.era != self.api.era:
            return self.hang_up()
        self.api.callers.add(self.certificate_name())
        self.api.ways.setdefault(name, set()).add(self.client_address)
        if self.api.token and self.headers.get("Authorization") != f"Bearer {self.api.token}":
            self.api.faults.note(f"refused {name}")
            return self.answer((401, status(401, "Unauthorized", "Unauthorized"), ()))
        fault = self.api.faults.note(name)
        if fault:
            return fault(self, make)
        return go() if go else self.answer(make())

    def chunk(self, text):
        for begin in range(0, len(text) or 1, CHUNK_BYTES):
            part = text[begin : begin + CHUNK_BYTES]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        self.wfile.flush()

    def watch(self, kind, name, query):
        version, end = int(query["resourceVersion"]), time.monotonic() + int(query["timeoutSeconds"])
        stream = self.api.opened(kind, name)
        stream.bookmark_at = end - BOOKMARK_BEFORE_END_S
        self.send_head(200)
        self.wfile.flush()
        if self.api.has_forgotten(kind, version):
            self.chunk(event_bytes("ERROR", GONE))
            return self.chunk(b"")
        last = None
        while last is None and (time.monotonic() < end or stream.silent):
            version, parts, last = self.api.next_of(stream, version, query.get("fieldSelector"))
            for part in parts:
                self.chunk(part)
        return self.hang_up() if last == "cut" else self.chunk(b"")


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 512
    daemon_threads = True

    def finish_request(self, request, client_address):
        if not self.api.is_deaf:
            super().finish_request(request, client_address)

    def handle_error(self, request, client_address):
        """A disconnected client is no error."""


# Whose they are, and for which server: "named" is not for its address.
CERTIFICATES = {"own": f"IP:{HOST}", "stranger": f"IP:{HOST}", "named": "DNS:api.example"}
CERTIFICATES.update({"client": "DNS:client", "other-client": "DNS:client"})


@functools.cache
def certificate_of(name):
    """A self-signed certificate and its key, made once. openssl writes the certificate behind the key."""
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    command += ["-subj", f"/CN={name}", "-addext", f"subjectAltName={CERTIFICATES[name]}", "-keyout", "/dev/stdout"]
    key, begin, certificate = subprocess.run(command, check=True, capture_output=True, text=True).stdout.partition("-----BEGIN CERTIFICATE")
    return begin + certificate, key


def make_certificate(folder, name):
    """Writes the certificate and its key; returns their paths."""
    paths = os.path.join(folder, f"{name}.crt"), os.path.join(folder, f"{name}.key")
    for path, text in zip(paths, certificate_of(name)):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    return paths


class FakeApi:
    """The server, a context manager. tls: a folder for its certificates, or None."""

    def __init__(self, tls=None):
        self.store = Store()
        self.changed = self.store.changed
        self.faults = Faults(self.changed)
        self.streams = []
        self.token = None  # the required Authorization header, if not None
        self.people = {}  # token: its user, as in a TokenReview
        self.rights = set()  # (user's name, verb, path or name of a view)
        self.resource_rights = set()  # (user's name, verb, resource or resource/subresource, namespace; "": all)
        self.resource_reviews = []  # the spec of each SubjectAccessReview with resource attributes
        self.resource_version = "v1"  # the one version of resource.k8s.io that is served
        self.is_deaf = False  # connections are closed before anything is read
        self.era = 0  # connections of an earlier one are closed at their next request
        self.ways = {}  # what was asked ("bind"): the other ends of the connections that it came by
        self.callers = set()  # with TLS: subjects of the client certificates; None: without one
        self.connected = set()  # the addresses of all connections' other ends
        self.closing = False
        self.server = Server((HOST, 0), Handler)
        self.server.api = self
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) if tls else None
        if tls:
            self.certificates = {name: make_certificate(tls, name) for name in CERTIFICATES}
            self.tls.load_cert_chain(*self.certificates["own"])
            # Like kube-apiserver it accepts HTTP/2 if offered, but speaks only HTTP/1.1.
            self.tls.set_alpn_protocols(["h2", "http/1.1"])
            self.tls.verify_mode = ssl.CERT_OPTIONAL
            for name in ("client", "other-client"):
                self.tls.load_verify_locations(self.certificates[name][0])
            # The connection's own thread does the handshake.
            self.server.socket = self.tls.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)

    def __enter__(self):
        self.thread = threading.Thread(target=self.server.serve_forever, args=[0.02], daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        with self.changed:
            self.closing = True
            self.faults.release_all()
            self.changed.notify_all()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def kubeconfig(self, user=None):
        """Its text."""
        cluster = {"server": f"{'https' if self.tls else 'http'}://{HOST}:{self.server.server_port}"}
        if self.tls:
            cluster["certificate-authority"] = self.certificates["own"][0]
        parts = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "fake",
            "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "fake"}}],
            "clusters": [{"name": "fake", "cluster": cluster}],
            "users": [{"name": "fake", "user": user or {"token": "no-secret"}}],
        }
        return json.dumps(parts)

    # What the handlers ask.

    def listed(self, kind, query):
        found = self.store.list(kind, int(query.get("limit", 0)), query.get("continue"), query.get("fieldSelector"))
        return (200, found, ()) if found else (410, GONE, ())

    def found(self, kind, name, namespace):
        item = self.store.get(kind, name, namespace)
        return (200, item, ()) if item else (404, status(404, "NotFound", f'{kind} "{name}" not found'), ())

    def bound(self, namespace, name, binding):
        result = self.store.bind(namespace, name, binding)
        return result["code"], result, ()

    def reviewed_token(self, review):
        """The answer repeats the request, with the token."""
        user = self.people.get(review["spec"]["token"])
        said = {"authenticated": True, "user": user} if user else {"error": "invalid bearer token " + review["spec"]["token"]}
        return 201, {**review, "status": said}, ()

    def reviewed_access(self, review):
        spec = review["spec"]
        if "resourceAttributes" in spec:
            self.resource_reviews.append(spec)
            asked = spec["resourceAttributes"]
            resource = "/".join(filter(None, (asked["resource"], asked.get("subresource"))))
            allowed = (spec["user"], asked["verb"], asked.get("name")) in self.rights
            allowed = allowed or (spec["user"], asked["verb"], resource, asked.get("namespace", "")) in self.resource_rights
            return 201, {**review, "status": {"allowed": allowed}}, ()
        asked = spec["nonResourceAttributes"]
        allowed = spec in [{**user_spec(user), "nonResourceAttributes": asked} for user in self.people.values()]
        allowed = allowed and (spec["user"], asked["verb"], asked["path"]) in self.rights
        return 201, {**review, "status": {"allowed": allowed, "reason": "so it is"}}, ()

    def has_forgotten(self, kind, version):
        with self.changed:
            return version < self.store.oldest[kind]

    def opened(self, kind, name):
        with self.changed:
            self.streams.append(Stream(self, kind, name))
            self.changed.notify_all()
            return self.streams[-1]

    def next_of(self, stream, version, selector):
        """Waits, at most until a bookmark is due. (the version reached, what to send, "end", "cut" or None)."""

        def ready():
            if self.closing or stream.commands:
                return True
            return not stream.silent and any(self.store.events_after(stream.kind, version, selector))

        with self.changed:
            is_told = self.changed.wait_for(ready, None if stream.silent else max(0.05, stream.bookmark_at - time.monotonic()))
            if self.closing:
                return version, [], "cut"
            parts = []
            for number, type_, item in [] if stream.silent else self.store.events_after(stream.kind, version, selector):
                version = number
                parts.append(event_bytes(type_, item))
            while stream.commands:
                command, *text = stream.commands.pop(0)
                if command != "say":
                    return version, parts, command
                parts += text
            if not is_told and not stream.silent and time.monotonic() >= stream.bookmark_at:
                version, stream.bookmark_at = self.store.version, stream.bookmark_at + BOOKMARK_BEFORE_END_S
                parts.append(bookmark(stream.kind, version))
            return version, parts, None

    # What tests do and ask, beside the faults.

    def new_era(self, deaf=False, certificate="own"):
        """Watches are ended, and all connections are closed at their next request."""
        with self.changed:
            self.era += 1
            self.is_deaf = deaf
            if self.tls:
                self.tls.load_cert_chain(*self.certificates[certificate])
            for stream in self.streams:
                stream.commands += [["say", bookmark(stream.kind, self.store.version)], ["end"]]
            self.changed.notify_all()

    def watch(self, kind, after=None):
        """The newest watch of the kind, once there is one; after: one that came later than this."""

        def newest():
            found = [stream for stream in self.streams if stream.name == kind]
            return found[-1] if found and found[-1] is not after else None

        with self.changed:
            self.changed.wait_for(newest, LIMIT_S)
            stream = newest()
        assert stream, f"no watch of {kind} came"
        return stream
