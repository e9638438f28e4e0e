"""Programs that die during a burst come back: nothing is lost, nothing is bound twice, and the ledger equals the API server.

The fault comes at the 40th of 120 bindings: others are in progress then, and most are to come.
"""

import threading

import pytest
from api import LIMIT_S
from between import Between
from cluster import PODS

MODEL = "NVIDIA-H100-80GB-HBM3"
GPUS = 120
MIDDLE = 40


class Middle:
    """before_bind of Between: acts once, during that bind and while others continue; the test then goes on."""

    def __init__(self):
        self.lock = threading.Lock()
        self.left = MIDDLE
        self.happens = None
        self.happened = threading.Event()

    def __call__(self, _):
        with self.lock:
            self.left -= 1
            is_now = self.left == 0
        if is_now:
            self.happens()
            self.happened.set()


@pytest.fixture
def burst(proxied):
    """burst(happens) -> after happens() has run. 120 pods for exactly 120 GPUs."""
    proxied.add_nodes("node", GPUS // 8, MODEL, 8)
    proxied.create_all("burst", GPUS, 1)
    proxied.start_service()
    middle = Middle()
    with Between(proxied.service, middle) as between:

        def run(happens):
            middle.happens = happens
            proxied.start_scheduler(between.address)
            assert middle.happened.wait(LIMIT_S)
            return between

        yield run


def all_is_well(cluster):
    pods = cluster.wait_until_bound(GPUS)
    assert not cluster.bound_by_others(pods)
    assert set(cluster.used().values()) == {8}
    cluster.api.delete_all(PODS)
    assert set(cluster.used().values()) == {0}


def test_our_service_is_killed(proxied, burst):
    burst(proxied.service.kill)
    proxied.start_service()
    all_is_well(proxied)


def test_kube_apiserver_is_killed(proxied, burst):
    burst(proxied.plane.kill_apiserver)
    proxied.plane.start_apiserver()
    all_is_well(proxied)


def test_the_network_between_us_and_kube_apiserver_is_cut(proxied, burst):
    burst(proxied.proxy.cut)
    proxied.proxy.mend()
    all_is_well(proxied)


def test_kube_scheduler_is_killed(proxied, burst):
    between = burst(proxied.end_scheduler)
    proxied.start_scheduler(between.address)
    all_is_well(proxied)
