"""A small client of kube-apiserver: one request, one watch, and waiting for an object to be as it should.

Waiting is a watch, so it ends with the event that was waited for. Knows paths and selectors only; no Kubernetes kind.
"""

import concurrent.futures
import contextlib
import copy
import http.client
import json
import ssl
import time
import urllib.parse

LIMIT_S = 60  # of anything that is waited for; reached only when something is wrong
AT_ONCE = 8  # requests of one test


def wait_until(holds, what):
    """The first of holds()'s values that is true: for what nobody sends a word about. what(): for the message."""
    end = time.monotonic() + LIMIT_S
    while not (value := holds()):
        assert time.monotonic() < end, f"not so after {LIMIT_S} s: {what()}"
        time.sleep(0.05)
    return value


def key_of(item):
    return f"{item['metadata'].get('namespace', '')}/{item['metadata']['name']}"


class Api:
    """Every call has a connection of its own."""

    def __init__(self, host, port, token, certificate):
        self.host, self.port, self.token = host, port, token
        self.tls = ssl.create_default_context(cafile=certificate)

    def with_token(self, token):
        """As somebody else."""
        other = copy.copy(self)
        other.token = token
        return other

    def _send(self, connection, method, path, body, content_type):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": content_type}
        connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = connection.getresponse()
        if not 200 <= answer.status < 300:
            raise AssertionError(f"{method} {path}: {answer.status}: {answer.read().decode(errors='replace')}")
        return answer

    def _connection(self):
        connection = http.client.HTTPSConnection(self.host, self.port, timeout=2 * LIMIT_S, context=self.tls)
        return contextlib.closing(connection)

    def ask(self, method, path, body=None, content_type="application/json"):
        with self._connection() as connection:
            return json.loads(self._send(connection, method, path, body, content_type).read())

    def status_of(self, method, path, body=None):
        with self._connection() as connection:
            headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            return connection.getresponse().status

    def headers_of(self, method, path, body=None):
        """Of the answer, by lower-case name, whatever it is."""
        with self._connection() as connection:
            headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
            connection.request(method, path, json.dumps(body) if body is not None else None, headers)
            return {name.lower(): value for name, value in connection.getresponse().getheaders()}

    def get(self, path):
        return self.ask("GET", path)

    def create(self, path, thing):
        return self.ask("POST", path, thing)

    def merge(self, path, changes):
        """changes: a JSON merge patch."""
        return self.ask("PATCH", path, changes, "application/merge-patch+json")

    def create_all(self, path, things, create=None):
        """create(path, thing): if not create()."""
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as threads:
            return list(threads.map(lambda thing: (create or self.create)(path, thing), things))

    def delete(self, path):
        """At once, whoever holds it."""
        self.ask("DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0})

    def delete_all(self, path):
        """Everything of a collection, at once, whoever holds it."""
        self.ask("DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0})

    def watch(self, path, selector, seconds, since=None):
        """(type, object) of each event: first of what is there (not where it begins after `since`, a resourceVersion), then of what
        changes, until `seconds` are over."""
        query = {"watch": "true", "fieldSelector": selector, "timeoutSeconds": seconds}
        query = urllib.parse.urlencode({**query, "resourceVersion": since} if since else query)
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

    def states(self, path):
        """A collection as {namespace/name: object}: as it is, and again after each change, until LIMIT_S are over. The API server
        may go away and come back meanwhile."""
        end = time.monotonic() + LIMIT_S
        while (left := end - time.monotonic()) > 0:
            try:
                listed = self.get(path)
                items = {key_of(item): item for item in listed["items"]}
                yield items
                for event, item in self.watch(path, "", int(left) + 1, listed["metadata"]["resourceVersion"]):
                    if event == "DELETED":
                        items.pop(key_of(item), None)
                    elif event in ("ADDED", "MODIFIED"):
                        items[key_of(item)] = item
                    yield items
            except (OSError, http.client.HTTPException, AssertionError):
                time.sleep(0.05)

    def wait_for_all(self, path, holds, what=lambda items: sorted(items)):
        """The first state of a collection of which holds({namespace/name: object}) is true. what: of a state, for the message."""
        items = {}
        with contextlib.closing(self.states(path)) as states:
            for items in states:
                if holds(items):
                    return items
        raise AssertionError(f"{path}: not so after {LIMIT_S} s: {what(items)}")
