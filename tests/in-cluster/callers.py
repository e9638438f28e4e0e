"""Callers of our service in the cluster: by address of a Service or pod, with a certificate, a token or nothing.

Each call has its own connection.
"""

import collections
import contextlib
import http.client
import json
import os
import socket
import ssl
import threading
import time
import typing

from api import LIMIT_S
from service import ROOT, Answer

FILTER = "/scheduler/filter"
with open(os.path.join(ROOT, "examples/scheduler/filter.json"), encoding="utf-8") as example:
    ASKED = json.load(example)
PACE_S = 0.05


class Caller:
    """server: expected name in the server's certificate; authority: its issuer. certificate: (certificate, key)."""

    def __init__(self, address, server, authority, certificate=None, token=None, patience_s=LIMIT_S):
        self.address, self.server, self.token, self.patience_s = address, server, token, patience_s
        self.tls = ssl.create_default_context(cafile=authority)
        if certificate:
            self.tls.load_cert_chain(*certificate)

    def connected(self):
        """Returns a connection; the caller closes it. http.client's own HTTPS would require the address in the certificate."""
        connection = http.client.HTTPConnection(*self.address, timeout=self.patience_s)
        plain = socket.create_connection(self.address, self.patience_s)
        connection.sock = self.tls.wrap_socket(plain, server_hostname=self.server)
        return contextlib.closing(connection)

    def ask_on(self, connection, method, path, body=None):
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        connection.request(method, path, body, {**headers, "Content-Type": "application/json"})
        return Answer(connection.getresponse())

    def ask(self, method, path, body=None):
        with self.connected() as connection:
            return self.ask_on(connection, method, path, body)

    def get(self, path):
        return self.ask("GET", path)

    def post(self, path, thing):
        return self.ask("POST", path, json.dumps(thing))

    def is_reached(self):
        """Whether kube-proxy leads to a listening server."""
        with contextlib.suppress(OSError), self.connected():
            return True

    def meets(self):
        """Calls a verb; returns the status, or the name of an error."""
        try:
            return self.post(FILTER, ASKED).status
        except (OSError, http.client.HTTPException) as error:
            return type(error).__name__

    def is_answered(self):
        """Whether the verb is answered."""
        return self.meets() == 200


class Silence(typing.NamedTuple):
    """seconds: between two answers. until: time of the second in the logs' clock. met: results in between, counted."""

    seconds: float
    until: str
    met: dict


class Asking(threading.Thread):
    """A context manager: calls a verb all the time, and records each result with its time."""

    def __init__(self, caller):
        super().__init__(daemon=True)
        self.caller = caller
        self.ended = threading.Event()
        self.met = []

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()

    def run(self):
        while not self.ended.wait(PACE_S):
            what = self.caller.meets()
            self.met.append((time.monotonic(), time.strftime("%H:%M:%SZ", time.gmtime()), what))

    def longest_silence(self, since):
        """The first of the two answers may be older than `since`."""
        met = list(self.met)
        answered = [i for i, (_, _, what) in enumerate(met) if what == 200]
        silences = [
            Silence(met[after][0] - met[before][0], met[after][1], dict(collections.Counter(what for _, _, what in met[before + 1 : after])))
            for before, after in zip(answered, answered[1:])
            if met[after][0] > since
        ]
        return max(silences, key=lambda silence: silence.seconds)
