"""Fixtures for tests through the wire, against the real binary built with AddressSanitizer.

The binary is build/test/gpu-extender, or what the environment variable GPU_EXTENDER names. HTTP is the standard library's.
"""

import functools
import json

import objects
import pytest
from fake_api import FakeApi
from follow import Follower
from prometheus import fetched
from raw import Raw
from service import PACKING, SAMPLE_CLUSTER, Service, in_json, run_to_end, stopping


@pytest.fixture
def start_service():
    """start_service("--cluster-file", path, "--config", path, ...) -> Service; stopped and judged after the test."""
    with stopping(Service) as start:
        yield start


@pytest.fixture
def write(tmp_path):
    """write("cluster.yaml", text or bytes) -> its path."""

    def put(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return put


@pytest.fixture
def start_over(start_service, write):
    """start_over(node, pod, ..., options=[...]) -> a Service over a cluster file of these objects."""

    def start(*items, options=()):
        return start_service("--cluster-file", write("cluster.json", objects.list_text(*items)), *options)

    return start


@pytest.fixture
def start_alone(start_service, write):
    """start_alone(cluster's field="value", ...) -> a Service that follows an unreachable API server."""

    def start(**cluster):
        there = {"server": "https://127.0.0.1:1", **cluster}
        whole = {
            "current-context": "test",
            "contexts": [{"name": "test", "context": {"cluster": "test"}}],
            "clusters": [{"name": "test", "cluster": there}],
        }
        return start_service("--kubeconfig", write("kubeconfig", json.dumps(whole)), ready=False)

    return start


@pytest.fixture
def alone(start_alone):
    """A service that follows an unreachable API server."""
    return start_alone()


@pytest.fixture(scope="module")
def service():
    """A service over examples/sample-cluster.yaml, shared by the read-only tests of one file."""
    running = Service("--cluster-file", in_json(SAMPLE_CLUSTER))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def packing_service():
    """The same with placement policy binpack."""
    running = Service("--cluster-file", in_json(SAMPLE_CLUSTER), *PACKING)
    yield running
    running.stop()


@pytest.fixture
def run_binary():
    """run_binary("--check", ...) -> the ended process, with returncode, stdout and stderr."""
    return run_to_end


@pytest.fixture(scope="session")
def promtool():
    """The path of promtool, for `promtool check metrics`."""
    return fetched("promtool")


@pytest.fixture(scope="session")
def prometheus_binary():
    return fetched("prometheus")


@pytest.fixture(scope="module")
def module_service(tmp_path_factory):
    """module_service(node, pod, ...) -> a Service shared by the read-only tests of one file."""

    def over(*items, options=()):
        path = tmp_path_factory.mktemp("cluster") / "cluster.json"
        path.write_text(objects.list_text(*items), encoding="utf-8")
        return Service("--cluster-file", path, *options)

    with stopping(over) as start:
        yield start


@pytest.fixture
def api(request, tmp_path):
    """A fake API server with nodes a (8 GPUs) and b (4), and three pods of one GPU on a. Indirect parameter "tls": with TLS."""
    with FakeApi(tls=str(tmp_path) if getattr(request, "param", None) == "tls" else None) as running:
        objects.fill(running.store)
        yield running


@pytest.fixture
def raw(service):
    """A connection of bytes to the test's service."""
    with Raw(service.address) as connection:
        yield connection


@pytest.fixture
def follow(api, tmp_path):
    """follow(...) -> a Follower of it."""
    with stopping(functools.partial(Follower, api, tmp_path)) as start:
        yield start


@pytest.fixture
def follower(follow):
    """A Follower whose ledger has caught up."""
    service = follow()
    service.settle()
    return service
