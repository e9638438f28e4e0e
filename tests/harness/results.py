"""Counts what was tested, shows what failed, and writes the last line.

A test is skipped with a reason. In CI (CI=true) the reason must begin with "not here:", a fact about this machine or
checkout that the tests cannot change; any other skip counts as failed there.
"""

import os
import time

ACCEPTED_IN_CI = "not here:"


class Results:
    def __init__(self, in_ci=os.environ.get("CI") == "true", show=print):
        self.passed, self.failed, self.skipped = 0, [], []
        self.in_ci, self.show = in_ci, show
        self.started = time.monotonic()

    def ok(self, name, tests=1):
        self.passed += tests
        self._line("ok", name if tests == 1 else f"{name} ({tests})")

    def fail(self, name, output=""):
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
            self.skipped.append((name, reason))
            self._line("skip", name)

    def tell(self, name, text):
        """What a test found out that is of interest where it passes, too."""
        self.show(f"{'':14}{name}: {text}")

    def _line(self, word, name):
        self.show(f"{time.monotonic() - self.started:6.1f} s  {word:4}  {name}")

    def finish(self):
        """The closing lines; the exit status."""
        for name, reason in self.skipped:
            self.show(f"skipped: {name}: {reason}")
        for name in self.failed:
            self.show(f"failed: {name}")
        self.show(f"{self.passed} passed, {len(self.failed)} failed")
        return 0 if self.passed and not self.failed else 1
