"""kubectl gpu as a process, a stand-in for kubectl, and a server that gives one answer to everything. Checks nothing else."""

import contextlib
import http.server
import itertools
import json
import os
import re
import subprocess
import threading

import pytest
from objects import list_text
from service import BINARY, ENV, LIMIT_S, SAMPLE_CLUSTER, SANITIZERS, Log, Service, in_json

PLUGIN = os.environ.get("KUBECTL_GPU") or os.path.join(os.path.dirname(BINARY), "kubectl-gpu")
FILE = ("--cluster-file", in_json(SAMPLE_CLUSTER))
FITS, TOO_LARGE = {"nvidia.com/gpu": "1"}, {"nvidia.com/gpu": "1000"}
EVIL = "a\x1b]0;b\x07\x7f\u009b31m\r\nc\u202e\u200b\ufeff\u2066d\u061c\u00ad\u3164\ufe0f\U000e0041"


# Each start of the plugin takes time.
EVERY_FORM = pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.long)], ids=["some", "every"])


def combined(verbs, forms, every):
    """Each verb with each form of output; unless `every`, each verb with the next form."""
    return itertools.product(verbs, forms) if every else zip(verbs, itertools.cycle(forms))


def gpu(*words, env=None, text=None):
    done = subprocess.run(
        [PLUGIN, *map(str, words)],
        env={**os.environ, **ENV, **(env or {})},
        input=text,
        stdin=None if text is not None else subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT_S,
        check=False,
    )
    assert not SANITIZERS.search(done.stderr), done.stderr
    return done


def fit(write, manifest, *cluster):
    """Objects over saved objects -> exit status, the answer."""
    done = gpu("fit", "-f", write("manifest.json", list_text(*manifest)), "--cluster-file", write("c.json", list_text(*cluster)), "-o", "json")
    return done.returncode, json.loads(done.stdout)


def said(*words, status=0, **more):
    """Its output; it must end with that status, and complain in one line or not at all."""
    done = gpu(*words, **more)
    assert done.returncode == status, done
    assert done.stderr.count("\n") <= 1 and (not done.stderr or done.stderr.startswith("kubectl gpu: ")), done
    return done.stdout


def complaint(*words, status, **more):
    done = gpu(*words, **more)
    assert (done.returncode, done.stdout) == (status, ""), done
    return done.stderr.removeprefix("kubectl gpu: ").rstrip("\n")


class Ui(Service):
    """A running `kubectl gpu ui`, asked with the secret that it printed."""

    def __init__(self, *words, env=None, plugin=PLUGIN):
        self.command = [plugin, "ui", *map(str, words)]
        self.process = subprocess.Popen(
            self.command,
            env={**os.environ, **ENV, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.log = Log(self.process.stderr)
        self.url = self.process.stdout.readline().strip()
        found = re.fullmatch(r"http://(127\.0\.0\.1:\d+)/ui/#secret=([0-9a-f]{64})", self.url)
        assert found, (self.url, self.log.text())
        self.address, self.secret = found.groups()
        self.addresses = {"people": self.address}

    def ask(self, method, path, body=None, headers=None):
        return super().ask(method, path, body, {"Authorization": f"Bearer {self.secret}", **(headers or {})})

    def stop(self):
        super().stop()
        self.process.stdout.close()
        assert self.secret not in self.log.text()


@contextlib.contextmanager
def answering(body, status=200, content="text/plain; charset=utf-8"):
    """The URL of a server that gives this answer to everything."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            if content:
                self.send_header("Content-Type", content)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


FAKE = """#!/bin/sh
[ "$1" = config ] || [ "$3" = config ] && { printf '%s' "$FAKE_NAMESPACE"; exit 0; }
printf '%s\\n' "$@" > "$FAKE/words"
echo "$@" >> "$FAKE/all"
cat > "$FAKE/input"
cat "$FAKE/output"
cat "$FAKE/complaint" >&2
exit "$(cat "$FAKE/status")"
"""


class Kubectl:
    def __init__(self, folder):
        self.folder, self.env = folder, {"PATH": f"{folder}:{os.environ['PATH']}", "FAKE": str(folder), "FAKE_NAMESPACE": "here"}
        (folder / "kubectl").write_text(FAKE)
        (folder / "kubectl").chmod(0o755)
        self.answer()

    def answer(self, output="{}", complaint="", status=0):
        for name, text in (("output", output), ("complaint", complaint), ("status", str(status))):
            (self.folder / name).write_text(text)

    def words(self):
        return (self.folder / "words").read_text().splitlines()


def manifest(resources, **more):
    container = {"name": "main", "image": "example.com/none:1", "resources": {"limits": resources, "requests": {"cpu": "1", "memory": "1Gi"}}}
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "asked", **more}, "spec": {"containers": [container]}})


def has_control(text):
    return bool(re.search("[\x00-\x09\x0b-\x1f\x7f\u0080-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u00ad\u3164\ufe0f\U000e0041]", text))
