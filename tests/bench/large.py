"""The large cluster of the benchmarks, and the request that kube-scheduler sends about its nodes."""

import os
import subprocess
import sys

from servers import DATA, ROOT

RECORDED = os.path.join(ROOT, "tests/wire/recorded/filter-5000.json")
N_NODES, N_PODS = 5000, 30000


def large_cluster(form):
    """The path of the made cluster file; made when it is not there, or make_cluster.py is newer."""
    path = os.path.join(DATA, f"cluster-{N_NODES}-{N_PODS}.{form}")
    maker = os.path.join(ROOT, "tests/bench/make_cluster.py")
    if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(maker):
        os.makedirs(DATA, exist_ok=True)
        sizes = ["--nodes", str(N_NODES), "--pods", str(N_PODS)]
        subprocess.run([sys.executable, maker, *sizes, "--format", form, path + ".part"], check=True)
        os.rename(path + ".part", path)
    return path


def large_args():
    with open(RECORDED, "rb") as file:
        return file.read()
