"""Steps that are one command each: builds and lints. One command, one test."""

import os
import subprocess
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SKIPPED = 77
TIMEOUT_S = 4500  # only for what hangs; below the 90 minutes of CI, so that it is reported there


def run(command, env=None, timeout_s=TIMEOUT_S, folder=None):
    """Returns the exit status and all output."""
    try:
        done = subprocess.run(
            command,
            cwd=folder or ROOT,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            timeout=timeout_s,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except subprocess.TimeoutExpired as expired:
        said = expired.stdout or b""
        return 124, f"{said.decode(errors='replace')}\nended after {timeout_s} s"
    except OSError as error:
        return 127, f"{command[0]}: {error.strerror}"
    return done.returncode, done.stdout


def command_test(results, name, command):
    """Returns whether it passed."""
    status, output = run(command)
    if status == SKIPPED:
        results.skip(name, (output.strip().split("\n") or [""])[-1])
    elif status != 0:
        results.fail(name, f"{output}\n{' '.join(command)}: exit status {status}")
    else:
        results.ok(name)
    return status == 0


class Builds:
    """Makes each build once, when the first step needs it. A build counts as a test of its own."""

    def __init__(self, results):
        self.results, self.made = results, {}
        self.lock, self.locks = threading.Lock(), {}

    def ready(self, name, wanted_by, targets=()):
        """Brings build/NAME up to date. If that fails, returns False and fails the tests that need it."""
        with self.lock:
            lock = self.locks.setdefault(name, threading.Lock())
        with lock:
            if name not in self.made:
                self.made[name] = command_test(self.results, f"build/{name}", ["scripts/build", name, *targets])
        if not self.made[name] and wanted_by != f"build/{name}":
            self.results.fail(wanted_by, f"not run: build/{name} failed")
        return self.made[name]
