"""kubectl gpu as a process, a stand-in for kubectl, and a server that gives one answer to everything. Checks nothing else."""

import contextlib
import http.server
import os
import subprocess
import threading

from service import BINARY, ENV, LIMIT_S, SAMPLE_CLUSTER, SANITIZERS

PLUGIN = os.path.join(os.path.dirname(BINARY), "kubectl-gpu")
FILE = ("--cluster-file", SAMPLE_CLUSTER)


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
