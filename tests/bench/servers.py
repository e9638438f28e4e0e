"""Servers under measurement, and connections to them."""

import contextlib
import os
import re
import select
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(ROOT, "build/bench-data")  # generated inputs, and logs
LIMIT_S = 60
COUNT_LIMIT_S = 600  # under valgrind
N_COUNTED = 4
# What answers a request, of src/http/transport_mhd.c.
COUNTED = "on_request"
POLICY = f"apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\nlimits: {{requestSeconds: {COUNT_LIMIT_S}, nodes: 100000}}\n"


class Process:
    """A server that prints the address it listens on, with its CPU time."""

    def __init__(self, *command):
        self.log = open(os.path.join(DATA, os.path.basename(command[0]) + ".log"), "w+", encoding="utf-8")
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.host, self.port = self._address()

    def _address(self):
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end and self.process.poll() is None:
            self.log.seek(0)
            found = re.search(r"addr=([0-9.]+):(\d+)", self.log.read())
            if found:
                return found.group(1), int(found.group(2))
            time.sleep(0.05)
        self.log.seek(0)
        sys.exit(f"{self.process.args[0]} does not listen:\n{self.log.read()}")

    def cpu_s(self):
        """CPU time of all its threads, to the nanosecond."""
        folder, total_ns = f"/proc/{self.process.pid}/task", 0
        for task in os.listdir(folder):
            with open(f"{folder}/{task}/schedstat", encoding="ascii") as file:
                total_ns += int(file.read().split()[0])
        return total_ns / 1e9

    def rss_mb(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmHWM:\s+(\d+)", file.read()).group(1)) / 1024

    def stop(self):
        self.process.terminate()
        self.process.wait(LIMIT_S)
        self.log.close()


class Counted(Process):
    """Our service over a cluster file, whose instructions callgrind counts."""

    def __init__(self, binary, path):
        global LIMIT_S
        LIMIT_S = COUNT_LIMIT_S
        policy, out = os.path.join(DATA, "counted-policy.yaml"), os.path.join(DATA, "callgrind.out")
        with open(policy, "w", encoding="utf-8") as file:
            file.write(POLICY)
        for name in self._dumps():
            os.remove(name)
        counting = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--toggle-collect={COUNTED}", f"--callgrind-out-file={out}"]
        super().__init__(*counting, binary, "--config", policy, "--cluster-file", path, "--listen", "127.0.0.1:0")

    @staticmethod
    def _dumps():
        return [os.path.join(DATA, name) for name in os.listdir(DATA) if name.startswith("callgrind.")]

    def _control(self, *command):
        subprocess.run(["callgrind_control", *command, str(self.process.pid)], check=True, capture_output=True)

    def count(self, connection, asked):
        """Instructions of one call; the first ones warm up."""
        connection.ask(asked)
        self._control("--instr=on")
        connection.ask(asked)
        self._control("--zero")
        for _ in range(N_COUNTED):
            connection.ask(asked)
        self._control("--dump")
        self._control("--instr=off")
        with open(max(self._dumps(), key=os.path.getmtime), encoding="utf-8") as file:
            return int(re.search(r"(?m)^(?:summary|totals): (\d+)", file.read()).group(1)) / N_COUNTED


def wait_ready(server, limit_s=LIMIT_S):
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        with contextlib.suppress(urllib.error.HTTPError):
            urllib.request.urlopen(f"http://{server.host}:{server.port}/readyz", timeout=LIMIT_S).close()
            return
        time.sleep(0.1)
    sys.exit("the service does not get ready")


class Connection:
    """One kept-alive connection. A request costs only sending it and reading the whole answer."""

    def __init__(self, server, source="127.0.0.1"):
        self.socket = socket.create_connection((server.host, server.port), LIMIT_S, (source, 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, request):
        self.socket.sendall(request)

    def has_answer(self):
        """Whether the beginning of an answer has arrived."""
        return bool(select.select([self.socket], [], [], 0)[0])

    def answer(self):
        """Reads the answer, which is a 200, and returns its body."""
        head, body = self.any_answer()
        if b" 200 " not in head[:20]:
            sys.exit(f"{head!r} {body[:500]!r}")
        return body

    def any_answer(self):
        answer = self._receive(b"")
        while b"\r\n\r\n" not in answer:
            answer = self._receive(answer)
        head, _, body = answer.partition(b"\r\n\r\n")
        length = int(re.search(rb"(?i)\ncontent-length: *(\d+)", head).group(1))
        parts, missing = [body], length - len(body)
        while missing > 0:
            parts.append(self._receive(b""))
            missing -= len(parts[-1])
        return head, b"".join(parts)

    def ask(self, request):
        """Returns the duration in seconds, and the body of the answer."""
        begin = time.perf_counter()
        self.send(request)
        body = self.answer()
        return time.perf_counter() - begin, body

    def _receive(self, before):
        more = self.socket.recv(1 << 20)
        if not more:
            sys.exit("the connection was closed")
        return before + more

    def close(self):
        self.socket.close()


def medians(server, connection, asked, runs):
    """Medians over that many requests: seconds, CPU seconds of the server; and the last answer."""
    walls, cpus = [], []
    for _ in range(runs):
        before = server.cpu_s()
        wall, answer = connection.ask(asked)[:2]
        cpus.append(server.cpu_s() - before)
        walls.append(wall)
    return statistics.median(walls), statistics.median(cpus), answer


def request(method, path, body=b""):
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body
