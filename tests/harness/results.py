"""Counts tests, shows failures, and writes the last line.

A test is skipped with a reason. In CI (CI=true) the reason must begin with "not here:", a property of this machine or checkout that
the tests cannot change; any other skip fails there.
"""

import contextlib
import os
import resource
import threading
import time

ACCEPTED_IN_CI = "not here:"


class Results:
    """Thread-safe."""

    def __init__(self, in_ci=os.environ.get("CI") == "true", show=print):
        self.passed, self.failed, self.skipped = 0, [], []
        self.in_ci, self.show = in_ci, show
        self.steps, self.lock = [], threading.RLock()
        self.started = time.monotonic()

    def ok(self, name, tests=1):
        with self.lock:
            self.passed += tests
            self._line("ok", name if tests == 1 else f"{name} ({tests})")

    def fail(self, name, output=""):
        with self.lock:
            self.failed.append(name)
            self._line("FAIL", name)
            for line in output.rstrip().split("\n") if output.strip() else []:
                self.show("    | " + line)

    def skip(self, name, reason):
        if not reason.strip():
            self.fail(name, "skipped without a reason")
        elif self.in_ci and not reason.startswith(ACCEPTED_IN_CI):
            self.fail(
                name,
                f'skipped, and CI=true accepts reasons that begin with "{ACCEPTED_IN_CI}" only: {reason}',
            )
        else:
            with self.lock:
                self.skipped.append((name, reason))
                self._line("skip", name)

    def tell(self, name, text):
        """Shows a finding that is of interest even if the test passed."""
        with self.lock:
            self.show(f"{'':14}{name}: {text}")

    @contextlib.contextmanager
    def timed(self, step):
        """Adds the duration of the step, or of a lane of steps, to the closing lines."""
        began = time.monotonic()
        yield
        with self.lock:
            self.steps.append((step, time.monotonic() - began))

    def _line(self, word, name):
        self.show(f"{time.monotonic() - self.started:6.1f} s  {word:4}  {name}")

    def finish(self):
        """Prints the closing lines; returns the exit status."""
        for name, seconds in sorted(self.steps, key=lambda step: -step[1]):
            self.show(f"took {seconds:6.1f} s: {name}")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.show(f"took {time.monotonic() - self.started:6.1f} s: all steps, with {used.ru_utime + used.ru_stime:.0f} s of processor time")
        for name, reason in self.skipped:
            self.show(f"skipped: {name}: {reason}")
        for name in self.failed:
            self.show(f"failed: {name}")
        self.show(f"{self.passed} passed, {len(self.failed)} failed")
        return 0 if self.passed and not self.failed else 1
