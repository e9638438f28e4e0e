"""Counts tests, shows failures, and writes the last line.

A test is skipped with a reason. In CI (CI=true) the reason must begin with "not here:", a property of this machine or checkout that
the tests cannot change; any other skip fails there.
"""

import contextlib
import json
import os
import resource
import threading
import time

ACCEPTED_IN_CI = "not here:"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Step -> [seconds, processor seconds] of its last whole run.
TIMES = os.path.join(ROOT, "build", "step-times.json")


def last_times():
    try:
        with open(TIMES, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


# Of a failed test's output, how many lines are repeated at the end.
LINES_AGAIN = 40


# Of builds that scripts/build does not make.
BUILT_BY = {"build/control-plane": "tests/control-plane/build", "build/image": "scripts/image"}


def alone(name):
    """The command that runs the file of that test alone, or makes that build."""
    if name in BUILT_BY:
        return BUILT_BY[name]
    return f"scripts/{name.replace('/', ' ', 1)}" if name.startswith("build/") else f"scripts/test {name.split(':')[0]}"


class Results:
    """Thread-safe."""

    def __init__(self, in_ci=os.environ.get("CI") == "true", show=print):
        self.passed, self.failed, self.skipped = 0, [], []
        self.in_ci, self.show = in_ci, show
        self.steps, self.lock = [], threading.RLock()
        self.cpu_s, self.failed_output = {}, []
        self.started = time.monotonic()

    def spend(self, name, cpu_s):
        """Counts processor time for the test and for the step that it belongs to."""
        with self.lock:
            self.cpu_s[name] = self.cpu_s.get(name, 0) + cpu_s

    def ok(self, name, tests=1):
        with self.lock:
            self.passed += tests
            self._line("ok", name if tests == 1 else f"{name} ({tests})")

    def fail(self, name, output=""):
        with self.lock:
            self.failed.append(name)
            self.failed_output.append((name, output))
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
        """Adds the duration of the step to the closing lines."""
        began = time.monotonic()
        yield
        with self.lock:
            self.steps.append((step, time.monotonic() - began))

    def _line(self, word, name):
        self.show(f"{time.monotonic() - self.started:6.1f} s  {word:4}  {name}")

    def cpu_s_of(self, step):
        return sum(spent for test, spent in self.cpu_s.items() if test == step or test.startswith(f"{step}/"))

    def keep_times(self):
        """For scripts/test --list."""
        times = last_times() | {step: [seconds, self.cpu_s_of(step)] for step, seconds in self.steps}
        os.makedirs(os.path.dirname(TIMES), exist_ok=True)
        with open(f"{TIMES}.new", "w", encoding="utf-8") as file:
            json.dump(times, file)
        os.replace(f"{TIMES}.new", TIMES)

    def finish(self):
        """Prints the closing lines; returns the exit status."""
        for name, seconds in sorted(self.steps, key=lambda step: -step[1]):
            self.show(f"took {seconds:6.1f} s, {self.cpu_s_of(name):6.1f} s of processor time: {name}")
        for name in sorted(name for name in self.cpu_s if name.startswith("build/")):
            self.show(f"{'':16}{self.cpu_s[name]:6.1f} s of processor time: {name}")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.show(f"took {time.monotonic() - self.started:6.1f} s: all steps, with {used.ru_utime + used.ru_stime:.0f} s of processor time")
        for name, reason in self.skipped:
            self.show(f"skipped: {name}: {reason}")
        for name, output in self.failed_output:
            self.show(f"\nfailed: {name}; alone: {alone(name)}")
            for line in output.rstrip().split("\n")[-LINES_AGAIN:] if output.strip() else []:
                self.show("    | " + line)
        self.show(f"{self.passed} passed, {len(self.failed)} failed")
        return 0 if self.passed and not self.failed else 1
