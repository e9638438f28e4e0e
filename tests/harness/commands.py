"""Steps that are one command each: builds and lints. One command, one test."""

import collections
import os
import subprocess
import tempfile
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SKIPPED = 77
TIMEOUT_S = 4500  # only for what hangs; below the 90 minutes of CI, so that it is reported there

Done = collections.namedtuple("Done", "status output cpu_s")


def run(command, env=None, timeout_s=TIMEOUT_S, folder=None):
    """Returns the exit status, all output, and the processor time of the command with the children that it waited for."""
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                command,
                cwd=folder or ROOT,
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        except OSError as error:
            return Done(127, f"{command[0]}: {error.strerror}", 0)
        hung = []
        late = threading.Timer(timeout_s, lambda: (hung.append(True), process.kill()))
        late.daemon = True
        late.start()
        # Popen.wait() would not tell what the process used.
        _, ended, used = os.wait4(process.pid, 0)
        late.cancel()
        process.returncode = os.waitstatus_to_exitcode(ended)
        output.seek(0)
        said = output.read().decode(errors="replace")
    if hung:
        said += f"\nended after {timeout_s} s"
    return Done(124 if hung else process.returncode, said, used.ru_utime + used.ru_stime)


def record(results, name, done):
    """Counts a command that is one test. Returns whether it passed."""
    results.spend(name, done.cpu_s)
    if done.status == 0:
        results.ok(name)
    else:
        results.fail(name, f"{done.output}\nexit status {done.status}")
    return done.status == 0


def command_test(results, name, command):
    """Returns whether it passed."""
    done = run(command)
    if done.status != SKIPPED:
        return record(results, name, done._replace(output=f"{done.output}\n{' '.join(command)}"))
    results.spend(name, done.cpu_s)
    results.skip(name, (done.output.strip().split("\n") or [""])[-1])
    return False


class Builds:
    """Makes each target of a build once, when the first step needs it. That counts as a test of its own."""

    def __init__(self, results):
        self.results, self.made = results, {}
        self.lock, self.locks = threading.Lock(), {}

    def ready(self, name, wanted_by, targets=()):
        """Brings these targets of build/NAME up to date, or all of it. If that fails, returns False and fails the tests that need it."""
        with self.lock:
            lock = self.locks.setdefault(name, threading.Lock())
        with lock:
            made = f"build/{name}" + (f" {' '.join(targets)}" if targets else "")
            if made not in self.made:
                self.made[made] = command_test(self.results, made, ["scripts/build", name, *targets])
        if not self.made[made]:
            self.results.fail(wanted_by, f"not run: {made} failed")
        return self.made[made]
