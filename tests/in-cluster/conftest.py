"""Fixtures for tests in a real cluster. tests/run_all.py runs them inside tests/in-cluster/apart."""

import functools
import glob

import gpus
import people
import pytest
from cluster import prepare
from ours import Ours
from plane import built
from real import RealCluster

LOG = pytest.StashKey()
LINES = 40


@pytest.fixture(scope="session")
def cluster(request, tmp_path_factory):
    """A running cluster with one real node. pytest keeps its folder, with all logs, for three sessions."""
    folder = tmp_path_factory.mktemp("in-cluster")
    request.config.stash[LOG] = str(folder)
    with RealCluster(built(), folder) as running:
        yield running


@pytest.fixture(scope="session")
def ours(cluster):
    """Two ready replicas, GPU nodes, and a kube-scheduler that calls the leader."""
    prepare(cluster.api)
    cluster.start_kwok()
    running = Ours(cluster)
    gpus.make_nodes(cluster.api)
    running.install()
    running.configure_scheduler()
    return running


@pytest.fixture
def make(ours):
    """make(numbers): pods with one GPU each, deleted afterwards."""
    yield functools.partial(gpus.make_pods, ours.api)
    gpus.delete_pods(ours.api)


@pytest.fixture(scope="session")
def viewer(ours):
    """A token of an account with the viewer role."""
    return people.token(ours.api, "viewer", "gpu-extender-viewer")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """Shows the last lines of every log after a failure."""
    report = (yield).get_result()
    folder = item.config.stash.get(LOG, None)
    if not report.failed or not folder or not hasattr(report.longrepr, "addsection"):
        return
    for log in sorted(glob.glob(f"{folder}/**/*.log", recursive=True)):
        with open(log, encoding="utf-8", errors="replace") as file:
            report.longrepr.addsection(log, "".join(file.readlines()[-LINES:]))
