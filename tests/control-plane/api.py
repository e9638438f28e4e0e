"""A small client of kube-apiserver: requests, watches, and waiting for a state of an object.

Waiting is a watch, so it ends with the expected event. Knows only paths and selectors, no Kubernetes kinds.
"""

import concurrent.futures
import contextlib
import copy
import http.client
import json
import ssl
import time
import urllib.parse

LIMIT_S = 300  # limit of every wait; reached only after a fault
AT_ONCE = 8  # parallel requests of one test
# A Job's pods would else stay.
DELETED_AT_ONCE = {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0, "propagationPolicy": "Background"}


def wait_until(holds, what):
    """Returns the first true value of holds(), by polling: for states without events. what(): for the message."""
    end = time.monotonic() + LIMIT_S
    while not (value := holds()):
        assert time.monotonic() < end, f"not so after {LIMIT_S} s: {what()}"
        time.sleep(0.05)
    return value


def key_of(item):
    return f"{item['metadata'].get('namespace', '')}/{item['metadata']['name']}"


class Api:
    """Each call has its own connection."""

    def __init__(self, host, port, token, certificate):
        self.host, self.port, self.token = host, port, token
        self.tls = ssl.create_default_context(cafile=certificate)

    def with_token(self, token):
        """The same API with another token."""
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
        """The answer's headers by lower-case name, whatever its status."""
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
        """create(path, thing): default is create()."""
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as threads:
            return list(threads.map(lambda thing: (create or self.create)(path, thing), things))

    def delete(self, path):
        """Deletes without a grace period, whatever references it; what it owns, too."""
        self.ask("DELETE", path, DELETED_AT_ONCE)

    def delete_all(self, path):
        """The same of a whole collection."""
        self.ask("DELETE", path, DELETED_AT_ONCE)

    def watch(self, path, selector, seconds, since=None):
        """Yields (type, object) of each event for `seconds`: first the present objects (unless it starts after `since`, a
        resourceVersion), then changes."""
        query = {"watch": "true", "fieldSelector": selector, "timeoutSeconds": seconds}
        query = urllib.parse.urlencode({**query, "resourceVersion": since} if since else query)
        with self._connection() as connection:
            for line in self._send(connection, "GET", f"{path}?{query}", None, "application/json"):
                event = json.loads(line)
                yield event["type"], event["object"]

    def wait_for(self, path, selector, holds):
        """The first state of an object for which holds(object) is true."""
        last = None
        with contextlib.closing(self.watch(path, selector, LIMIT_S)) as events:
            for _, last in events:
                if holds(last):
                    return last
        shown = json.dumps((last or {}).get("status", last), indent=1)
        raise AssertionError(f"{path} {selector}: not seen in {LIMIT_S} s; the last was {shown}")

    def states(self, path):
        """Yields a collection as {namespace/name: object}, now and after each change, until LIMIT_S is over. The API server may restart
        meanwhile."""
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
        """The first state of a collection for which holds({namespace/name: object}) is true. what(state): for the message."""
        items = {}
        with contextlib.closing(self.states(path)) as states:
            for items in states:
                if holds(items):
                    return items
        raise AssertionError(f"{path}: not so after {LIMIT_S} s: {what(items)}")
