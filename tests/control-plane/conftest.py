"""Fixtures for tests against the real kube-apiserver and kube-scheduler.

The programs are those that tests/control-plane/build builds or finds; where it cannot, the tests are skipped with its reason.
"""

import os
import subprocess

import cluster as clusters
import pytest
from plane import Plane

BUILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "build")
NOT_HERE = 77


@pytest.fixture(scope="session")
def plane(tmp_path_factory):
    """A running control plane, shared by all tests. pytest keeps its folder, with all logs, for three sessions."""
    done = subprocess.run([BUILD], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    last = (done.stdout.strip().split("\n") or [""])[-1]
    if done.returncode == NOT_HERE:
        pytest.skip(last)
    assert done.returncode == 0, done.stderr
    with Plane(last, tmp_path_factory.mktemp("control-plane")) as running:
        clusters.prepare(running.api)
        yield running


@pytest.fixture
def cluster(plane, request):
    """An empty cluster on the plane, the test's own."""
    name = "".join(letter if letter.isalnum() else "-" for letter in request.node.name).strip("-")
    with clusters.Cluster(plane, name) as running:
        yield running
