"""The faults that a test injects into a fake API server. fake_api.py has the connections.

Every request has a name: "list pods", "page pods" (one with a continue token), "watch pods", "get pods", "bind". Patterns of
names select the fault of the next `times` matching requests (None: until heal()):

    fail("list pods", 500)          a Status with this code, maybe with Retry-After
    garble("list pods", b"[1")      200 with this body instead of the right one
    mislabel("list pods", "x/y")    the right answer with a wrong Content-Type
    redirect("list pods")           to "/elsewhere"
    truncate("list pods")           the first half of the right body and a regular end: only the JSON is cut
    cut("list pods")                the first half of the right body, then the connection is closed
    lose_answer("bind")             it takes effect, and the connection is closed without an answer
    lose("bind")                    it takes no effect, and the connection is closed without an answer
    hold("bind")                    waits for release()
    drip("list pods")               the right answer byte by byte; the last byte waits for release()
    delay("bind", 4)                waits 4 s
"""

import fnmatch
import json
import threading
import time

from fake_store import status
from limit import LIMIT_S


class Hold:
    """Requests that wait until they are released."""

    def __init__(self, changed):
        self.changed, self.waiting, self.released = changed, 0, False

    def wait(self):
        with self.changed:
            self.waiting += 1
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.released)

    def __call__(self, handler, make):
        self.wait()
        handler.answer(make())

    def release(self):
        with self.changed:
            self.released = True
            self.changed.notify_all()

    def wait_for(self, n):
        with self.changed:
            assert self.changed.wait_for(lambda: self.waiting >= n, LIMIT_S), f"{self.waiting} of {n} came"


class Drip(Hold):
    """Answers sent byte by byte that end when released."""

    def __call__(self, handler, make):
        code, value, _ = make()
        body = json.dumps(value).encode()
        handler.send_head(code, len(body))
        for i in range(len(body) - 1):
            handler.wfile.write(body[i : i + 1])
            handler.wfile.flush()
        self.wait()
        handler.wfile.write(body[-1:])
        handler.wfile.flush()


class Faults:
    """The rules and the requests so far. changed: notified after every event that a thread may wait for."""

    def __init__(self, changed):
        self.changed = changed
        self.rules = []  # [pattern, how many more or None, fault]
        self.asked = []  # (name, when) of all requests

    def note(self, name):
        """Records a request; returns its fault or None."""
        with self.changed:
            self.asked.append((name, time.monotonic()))
            self.changed.notify_all()
            for rule in self.rules:
                if not fnmatch.fnmatchcase(name, rule[0]) or rule[1] == 0:
                    continue
                if rule[1] is not None:
                    rule[1] -= 1
                return rule[2]
            return None

    def _add(self, name, fault, times):
        with self.changed:
            self.rules.append([name, times, fault])
        return fault

    def heal(self):
        with self.changed:
            self.rules.clear()

    def release_all(self):
        with self.changed:
            for _, _, fault in self.rules:
                if isinstance(fault, Hold):
                    fault.release()

    def fail(self, name, code, reason="InternalError", retry_after=None, times=1):
        headers = [] if retry_after is None else [("Retry-After", str(retry_after))]
        answer = code, status(code, reason, f"told to fail with {code}"), headers
        self._add(name, lambda handler, make: handler.answer(answer), times)

    def garble(self, name, body, times=1):
        self._add(name, lambda handler, make: handler.answer((200, body, ())), times)

    def mislabel(self, name, content_type, times=1):
        self._add(name, lambda handler, make: handler.answer(make(), content_type), times)

    def redirect(self, name, times=1):
        self._add(name, lambda handler, make: handler.answer((307, b"", [("Location", "/elsewhere")])), times)

    def truncate(self, name, times=1):
        def fault(handler, make):
            code, value, headers = make()
            body = json.dumps(value).encode()
            handler.answer((code, body[: len(body) // 2], headers))

        self._add(name, fault, times)

    def cut(self, name, times=1):
        def fault(handler, make):
            body = json.dumps(make()[1]).encode()
            handler.send_head(200, len(body))
            handler.wfile.write(body[: len(body) // 2])
            handler.hang_up()

        self._add(name, fault, times)

    def lose_answer(self, name, times=1):
        def fault(handler, make):
            make()
            handler.hang_up()

        self._add(name, fault, times)

    def lose(self, name, times=1):
        self._add(name, lambda handler, make: handler.hang_up(), times)

    def hold(self, name, times=None):
        return self._add(name, Hold(self.changed), times)

    def drip(self, name, times=1):
        return self._add(name, Drip(self.changed), times)

    def delay(self, name, seconds, times=None):
        def fault(handler, make):
            time.sleep(seconds)
            handler.answer(make())

        self._add(name, fault, times)

    def times_of(self, name):
        """The times of the matching requests."""
        with self.changed:
            return [at for asked, at in self.asked if fnmatch.fnmatchcase(asked, name)]

    def count(self, name):
        return len(self.times_of(name))

    def wait_asked(self, name, n):
        with self.changed:
            assert self.changed.wait_for(lambda: self.count(name) >= n, LIMIT_S), f"{name}: {self.count(name)} requests of {n} came"
