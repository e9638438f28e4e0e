"""How many files may be open (ulimit -n): enough for the connections of clients and for those to the API server, whatever their limits."""

import os
import re
import subprocess

from objects import pod
from raw import Raw
from service import BINARY, ENV, LIMIT_S

TOO_FEW = re.compile(r"only 500 files may be open \(ulimit -n\), should be at least (\d+): 16 for clients")
API_FILES = 2 * (16 + 256)  # of the read and the write loop: retired connections beside as many new ones


def test_too_few_file_descriptors_prevent_the_start(api, tmp_path):
    """It could answer filter but then not bind."""
    (tmp_path / "kubeconfig").write_text(api.kubeconfig(), encoding="utf-8")
    command = ["prlimit", "--nofile=500:500", BINARY, "--listen", "127.0.0.1:0", "--kubeconfig", tmp_path / "kubeconfig"]
    done = subprocess.run(command, env={**os.environ, **ENV}, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 1
    assert int(TOO_FEW.search(done.stderr).group(1)) > API_FILES


def test_few_file_descriptors_are_left_for_the_api_server(api, follow):
    """Clients use up all their connections, and pods are still bound."""
    service = follow(under=["prlimit", "--nofile=1000:1000"])
    (warning,) = [line for line in service.log.fields() if "ulimit" in line.get("msg", "")]
    n = int(warning["connections"])
    assert warning["files"] == "1000" and 16 <= n <= 1000 - API_FILES
    service.settle()
    idle = [Raw(service.address) for _ in range(n + 50)]
    try:
        for number in range(5):
            api.store.put(pod(f"new-{number}", 1))
            uid = pod(f"new-{number}", 1)["metadata"]["uid"]
            idle.pop(0).socket.close()
            service.wait("the pod is known", lambda uid=uid: uid in service.ledger()[1])
            assert service.bind(pod(f"new-{number}", 1), "b" if number < 4 else "a") is None
    finally:
        for connection in idle:
            connection.socket.close()
