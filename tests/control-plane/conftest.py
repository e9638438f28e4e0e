"""Fixtures for tests against the real kube-apiserver and kube-scheduler.

tests/control-plane/build builds or finds the programs; if it cannot, the tests are skipped with its reason.
"""

import concurrent.futures
import os

import cluster as clusters
import kustomize
import pytest
import quiet
from api import wait_until
from kustomize import Kubectl
from live import LiveCluster
from plane import BUILD, KUBERNETES, NotHere, Plane, built, is_since


@pytest.fixture(scope="session")
def programs():
    """The folder with etcd, kube-apiserver, kube-scheduler and KWOK. CONTROL_PLANE_PROGRAMS: only these are built."""
    try:
        return built(BUILD, *os.environ.get("CONTROL_PLANE_PROGRAMS", "").split())
    except NotHere as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def plane(programs, tmp_path_factory):
    """A running control plane, shared by all tests. pytest keeps its folder, with all logs, for three sessions."""
    with Plane(programs, tmp_path_factory.mktemp("control-plane")) as running:
        clusters.prepare(running.api)
        running.start_kwok()
        yield running


def pytest_collection_modifyitems(items):
    """Tests that need a minute without events come last. A test that needs a later release of Kubernetes is skipped."""
    items.sort(key=lambda item: "quiet_minute" in item.fixturenames)
    for item in items:
        for mark in item.iter_markers("since"):
            release, reason = mark.args
            if not is_since(release):
                item.add_marker(pytest.mark.skip(f"{reason}: from {release} on, and this is {KUBERNETES}"))


@pytest.fixture(scope="session")
def quiet_minute(programs, tmp_path_factory):
    """The future of quiet.observe()'s result, on a separate control plane, because other tests run meanwhile."""
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        yield thread.submit(quiet.observe, programs, tmp_path_factory.mktemp("quiet"))


@pytest.fixture(scope="session", autouse=True)
def begin_quiet_minute(request):
    """Starts before the first test if any selected test needs it."""
    if any("quiet_minute" in item.fixturenames for item in request.session.items):
        request.getfixturevalue("quiet_minute")


@pytest.fixture
def name(request):
    """The test's name, usable in file names."""
    return "".join(letter if letter.isalnum() else "-" for letter in request.node.name).strip("-")


@pytest.fixture
def cluster(plane, name):
    """An empty cluster for one test on the shared plane; our service reads it from a file."""
    with clusters.Cluster(plane, name) as running:
        yield running


@pytest.fixture
def live(plane, name):
    """An empty cluster for one test on the shared plane, followed by our service."""
    with LiveCluster(plane, name) as running:
        yield running


@pytest.fixture
def proxied(plane, name):
    """The same with a proxy between our service and the API server."""
    with LiveCluster(plane, name, proxied=True) as running:
        yield running


@pytest.fixture(scope="session")
def own_plane(programs, tmp_path_factory):
    """A separate plane: cluster-scoped objects would collide with those of other tests."""
    with Plane(programs, tmp_path_factory.mktemp("installed")) as running:
        yield running


@pytest.fixture(scope="session")
def kubectl(own_plane, programs):
    return Kubectl(programs, own_plane.folder, own_plane.kubeconfig())


@pytest.fixture(scope="session")
def installed(own_plane, kubectl):
    """The API server with everything applied, and kubectl's output for each overlay."""
    try:
        definitions = kustomize.definitions()
    except NotHere as error:
        pytest.skip(str(error))
    status, said = kubectl.run("apply", "--server-side", "--filename", definitions)
    assert status == 0, said
    status, said = kubectl.run("wait", "--for=condition=Established", "--timeout=300s", "--output=name", "--filename", definitions)
    assert status == 0, said
    # The API server knows their kinds a moment later.
    names = {line.rpartition("/")[2] for line in said.split()}
    wait_until(lambda: names <= set(kubectl.run("api-resources", "--output=name")[1].split()), lambda: f"not all of {names} are served")
    told = {overlay: kubectl.apply(overlay) for overlay in kustomize.OVERLAYS}
    # There is no controller-manager to count pods.
    hard = own_plane.api.get(kustomize.QUOTA)["spec"]["hard"]
    own_plane.api.merge(f"{kustomize.QUOTA}/status", {"status": {"hard": hard, "used": {"pods": "0"}}})
    return own_plane.api, told
