"""Fixtures for tests through the wire, against the real binary built with AddressSanitizer.

The binary is build/test/gpu-extender, or what the environment variable GPU_EXTENDER names. HTTP is the standard library's.
"""

import contextlib
import os
import shutil

import pytest
from service import ROOT, SAMPLE_CLUSTER, Service, run_to_end


@pytest.fixture
def start_service():
    """start_service("--cluster-file", path, "--config", path, ...) -> Service; stopped and judged after the test."""
    with contextlib.ExitStack() as services:

        def start(*options):
            running = Service(*options)
            services.callback(running.stop)
            return running

        yield start


@pytest.fixture(scope="module")
def service():
    """A service over examples/sample-cluster.yaml, shared by the tests of one file: for tests that only ask."""
    running = Service("--cluster-file", SAMPLE_CLUSTER)
    yield running
    running.stop()


@pytest.fixture
def run_binary():
    """run_binary("--check", ...) -> the ended process, with returncode, stdout and stderr."""
    return run_to_end


@pytest.fixture(scope="session")
def promtool():
    """The path of promtool, for `promtool check metrics`."""
    fetched = os.path.join(ROOT, ".cache/promtool")
    found = shutil.which("promtool") or (fetched if os.path.exists(fetched) else None)
    if not found:
        pytest.skip("promtool could not be fetched by scripts/setup test")
    return found


@pytest.fixture(scope="session")
def shared():
    """The folder ../shared (documents and data that are no part of this repository)."""
    folder = os.path.join(os.path.dirname(ROOT), "shared")
    if not os.path.isdir(folder):
        pytest.skip("not here: ../shared is absent")
    return folder
