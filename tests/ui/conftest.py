"""A browser, and the services that its pages are of."""

import contextlib
import os

import pytest
from browsing import SHOTS, Pages
from playwright.sync_api import sync_playwright
from service import LIMIT_S, SAMPLE_CLUSTER, Service


@pytest.fixture(scope="session")
def browser():
    os.makedirs(SHOTS, exist_ok=True)
    with sync_playwright() as playwright:
        # Chromium's sandbox refuses to run as root, which tests do in containers.
        started = playwright.chromium.launch(executable_path="/usr/bin/chromium-headless-shell", timeout=LIMIT_S * 1000, args=["--no-sandbox", "--in-process-gpu", "--enable-features=NetworkServiceInProcess2"])
        yield started
        started.close()


@pytest.fixture
def ends():
    """What ends after the pages: an open page asks its service again every few seconds."""
    with contextlib.ExitStack() as stack:
        yield stack


@pytest.fixture
def pages(browser, ends):
    made = Pages(browser)
    yield made
    made.check()


@pytest.fixture(scope="session")
def services():
    """services(PATH) -> a Service over that cluster file, shared by all tests."""
    running = {}

    def over(path):
        if path not in running:
            running[path] = Service("--cluster-file", path)
        return running[path]

    yield over
    for service in running.values():
        service.stop()


@pytest.fixture
def sample(services):
    return services(SAMPLE_CLUSTER)
