"""A small client of kube-apiserver: one request, one watch, and waiting for an object to be as it should.

Waiting is a watch, so it ends with the event that was waited for. Knows paths and selectors only; no Kubernetes kind.
"""

import contextlib
import http.client
import json
import ssl
import urllib.parse

LIMIT_S = 60  # of anything that is waited for; reached only when something is wrong


class Api:
    """Every call has a connection of its own."""

    def __init__(self, host, port, token, certificate):
        self.host, self.port, self.token = host, port, token
        self.tls = ssl.create_default_context(cafile=certificate)

    def _send(self, connection, method, path, body, content_type):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": content_type}
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = connection.getresponse()
        if not 200 <= answer.status < 300:
            raise AssertionError(f"{method} {path}: {answer.status}: {answer.read().decode(errors='replace')}")
        return answer

    def _connection(self):
        connection = http.client.HTTPSConnection(self.host, self.port, timeout=LIMIT_S, context=self.tls)
        return contextlib.closing(connection)

    def ask(self, method, path, body=None, content_type="application/json"):
        with self._connection() as connection:
            return json.loads(self._send(connection, method, path, body, content_type).read())

    def get(self, path):
        return self.ask("GET", path)

    def create(self, path, thing):
        return self.ask("POST", path, thing)

    def merge(self, path, changes):
        """changes: a JSON merge patch."""
        return self.ask("PATCH", path, changes, "application/merge-patch+json")

    def delete_all(self, path):
        """Everything of a collection, at once, whoever holds it."""
        self.ask("DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0})

    def watch(self, path, selector, seconds):
        """(type, object) of each event: first of what is there, then of what changes, until `seconds` are over."""
        query = urllib.parse.urlencode({"watch": "true", "fieldSelector": selector, "timeoutSeconds": seconds})
        with self._connection() as connection:
            for line in self._send(connection, "GET", f"{path}?{query}", None, "application/json"):
                event = json.loads(line)
                yield event["type"], event["object"]

    def wait_for(self, path, selector, holds):
        """The first state of an object of which holds(object) is true."""
        last = None
        with contextlib.closing(self.watch(path, selector, LIMIT_S)) as events:
            for _, last in events:
                if holds(last):
                    return last
        shown = json.dumps((last or {}).get("status", last), indent=1)
        raise AssertionError(f"{path} {selector}: not seen in {LIMIT_S} s; the last was {shown}")
