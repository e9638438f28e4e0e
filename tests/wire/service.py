"""The service as a process: started on a free port, called over HTTP, stopped; then its log is checked.

After every test it must exit with status 0 and without a sanitizer report. This module does not interpret answers.
"""

import contextlib
import functools
import http.client
import json
import os
import re
import shlex
import signal
import subprocess
import tempfile
import threading
import time

import yaml
from limit import LIMIT_S

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BINARY = os.environ.get("GPU_EXTENDER") or os.path.join(ROOT, "build/test/gpu-extender")
SAMPLE_CLUSTER = os.path.join(ROOT, "examples/sample-cluster.yaml")
# Options: placement by packing.
PACKING = ("--config", os.path.join(ROOT, "tests/wire/packing.yaml"))

SANITIZERS = re.compile(r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer")
FIELD = re.compile(r'(?:^|(?<= ))([a-z_]+)=("(?:[^"\\]|\\.)*"|[^ "]\S*|)(?= |$)')
CHECKED = "handle_sigill=1:strict_string_checks=1"
# The searches for leaks at the end and for uses of a stack after its return, and the stacks of all allocations, would cost a command
# half as much again: they are for services (below). A command's memory ends with the command, and unit tests search its functions for both.
ENV = {"ASAN_OPTIONS": f"{CHECKED}:detect_leaks=0:malloc_context_size=1"}


class Answer:
    """Status, headers (by lower-case name) and body of one answer."""

    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    @property
    def text(self):
        return self.body.decode("utf-8")

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<Answer {self.status} {self.body[:2000]!r}>"


class Log:
    """The process's standard error, read line by line."""

    def __init__(self, stream):
        self.lines = []
        self.changed = threading.Condition()
        self.ended = False
        self.reader = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self.reader.start()

    def _read(self, stream):
        for line in stream:
            with self.changed:
                self.lines.append(line.rstrip("\n"))
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def fields(self):
        """Every line so far as a dictionary of its key=value pairs."""
        with self.changed:
            lines = list(self.lines)
        return [fields_of(line) for line in lines]

    def wait_for(self, *wanted, after=0):
        """The first line (as a dictionary) from number `after` on with all pairs of one of `wanted`."""

        def found():
            for line in self.lines[after:]:
                fields = fields_of(line)
                if any(pairs.items() <= fields.items() for pairs in wanted):
                    return fields
            return None

        with self.changed:
            self.changed.wait_for(lambda: found() or self.ended, LIMIT_S)
            line = found()
        assert line, f"no line with {wanted} in the log:\n{self.text()}"
        return line

    def wait_for_text(self, wanted):
        with self.changed:
            self.changed.wait_for(lambda: self.ended or any(wanted in line for line in self.lines), LIMIT_S)
        assert wanted in self.text(), f"no {wanted} in the log:\n{self.text()}"

    def text(self):
        with self.changed:
            return "\n".join(self.lines)


def fields_of(line):
    """A log line, key=value or JSON, with all values as text; {} for other lines (a sanitizer's report)."""
    if line.startswith("{"):
        return {key: str(value) for key, value in json.loads(line).items()}
    return {key: json.loads(value) if value.startswith('"') else value for key, value in FIELD.findall(line)}


# Callers that are recorded of each allocation: with more, a service costs a quarter more. ALLOCATION_FRAMES=30 shows where leaked memory was allocated.
FRAMES = os.environ.get("ALLOCATION_FRAMES", "1")
# Stacks of up to 64 KiB are kept to find uses after return; larger ones cost a service more than all else of its start.
LEAKS = {"ASAN_OPTIONS": f"{CHECKED}:detect_leaks=1:detect_stack_use_after_return=1:max_uar_stack_size_log=16:malloc_context_size={FRAMES}"}
# AddressSanitizer's quarantine of freed memory would hide how much the program uses.
LITTLE_QUARANTINE = {"ASAN_OPTIONS": LEAKS["ASAN_OPTIONS"] + ":quarantine_size_mb=1:thread_local_quarantine_size_kb=64"}


class Service:
    """One running gpu-extender. Made by the fixtures of conftest.py. listen None: where the policy says. under: a command that runs it.
    ready: whether it is to be ready before anything else; it may stay not so for good."""

    def __init__(self, *options, listen="127.0.0.1:0", env=None, under=(), ready=True):
        listening = ["--listen", listen] if listen else []
        self.command = [*under, BINARY, *listening, *map(str, options)]
        self.process = subprocess.Popen(
            self.command,
            env={**os.environ, **LEAKS, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        self.log = Log(self.process.stderr)
        try:
            self.addresses = {name: self._address(name) for name in ("verbs", "people", "probes")}
            self.address = self.addresses["probes"]
            if ready:
                self._wait_until_ready()
            self.address = self.addresses["verbs"]
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise

    def _address(self, name):
        return self.log.wait_for({"msg": "listening", "for": name})["addr"]

    def _wait_until_ready(self):
        end = time.monotonic() + LIMIT_S
        while (answer := self.get("/readyz")).status != 200:
            assert time.monotonic() < end, f"not ready: {answer}\n{self.log.text()}"
            time.sleep(0.02)

    def connection(self):
        """A new connection; the caller closes it."""
        host, _, port = self.address.rpartition(":")
        return http.client.HTTPConnection(host.strip("[]"), int(port), timeout=LIMIT_S)

    def ask(self, method, path, body=None, headers=None):
        """One request on a connection of its own. A body other than text or bytes is sent as JSON."""
        headers = dict(headers or {})
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        connection = self.connection()
        try:
            connection.request(method, path, body.encode() if isinstance(body, str) else body, headers)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def wait(self, what, done, shown=lambda: ""):
        """Waits until done() returns a true value; returns it. It asks less often what takes longer: each question costs processor time."""
        end, pause_s = time.monotonic() + LIMIT_S, 0.02
        while not (said := done()):
            assert time.monotonic() < end, f"waited in vain until {what}:\n{shown()}\n{self.get('/readyz')}\n{self.log.text()}"
            time.sleep(pause_s)
            pause_s = min(1.3 * pause_s, 0.1)
        return said

    def get(self, path, headers=None):
        return self.ask("GET", path, None, headers)

    def post(self, path, body, headers=None):
        return self.ask("POST", path, body, headers)

    def memory(self, field):
        """VmRSS or VmHWM (its highest so far) of the process, in bytes."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            (kilobytes,) = re.findall(rf"^{field}:\s+(\d+) kB$", status.read(), re.MULTILINE)
        return int(kilobytes) * 1024

    def signal(self, number):
        """After SIGSTOP, all threads have stopped."""
        self.process.send_signal(number)
        if number == signal.SIGSTOP:
            os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)

    def kill(self):
        """Sends SIGKILL. Earlier sanitizer reports still count."""
        self.process.kill()
        self.process.wait()
        self.log.reader.join(LIMIT_S)
        assert not SANITIZERS.search(self.log.text()), f"a sanitizer's report:\n{self.log.text()}"

    def stop(self):
        """Sends SIGTERM and checks the whole run. A second call does nothing."""
        if self.process.returncode is not None:
            return
        self.signal(signal.SIGTERM)
        try:
            status = self.process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            status = f"none {LIMIT_S} s after SIGTERM"
        self.log.reader.join(LIMIT_S)
        said = self.log.text()
        assert not SANITIZERS.search(said), f"a sanitizer's report:\n{said}"
        assert status == 0, f"{shlex.join(self.command)}: exit status {status}:\n{said}"


def inventory_of(service):
    answer = service.get("/v1/inventory")
    assert answer.status == 200 and answer.headers["content-type"] == "application/json", answer
    return answer.json()


@contextlib.contextmanager
def stopping(start):
    """A function that calls start(...); every service that it started is stopped and judged at the end."""
    with contextlib.ExitStack() as services:

        def started(*options, **more):
            running = start(*options, **more)
            services.callback(running.stop)
            return running

        yield started


def read(*path):
    """The text of a file of the repository."""
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


@functools.cache
def in_json(path):
    """The path of the same cluster in JSON, for what starts often and is not about the file: reading that takes half the time."""
    written = os.path.join(ROOT, "build", os.path.basename(path) + ".json")
    with open(path, encoding="utf-8") as file, tempfile.NamedTemporaryFile("w", dir=os.path.dirname(written), delete=False) as new:
        json.dump(yaml.load(file, yaml.CSafeLoader), new)
    os.replace(new.name, written)
    return written


def run_to_end(*options):
    """Runs the binary with options that make it exit (--check, --version, invalid ones). A sanitizer report is a failure."""
    done = subprocess.run(
        [BINARY, *map(str, options)],
        env={**os.environ, **ENV, "HOME": "/nowhere", "KUBECONFIG": ""},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert not SANITIZERS.search(done.stderr), done.stderr
    return done
