"""An instance beside each of two kube-schedulers, without a Lease of ours: whichever kube-scheduler leads, nothing is bound twice and nothing
is lost.

There are more pods than GPUs, so a binding too many would show on a node.
"""

import time

import pytest
from api import LIMIT_S, wait_until
from live import BOUND_BY, bound
from pairs import Pairs

MODEL = "NVIDIA-H100-80GB-HBM3"
GPUS = 160
EARLY, MIDDLE, TOO_MANY = 120, 40, 30


@pytest.fixture
def pairs(live):
    live.add_nodes("node", GPUS // 8, MODEL, 8)
    return Pairs(live)


def begin(live, pairs):
    """The pair whose kube-scheduler leads, another one, and a burst in progress."""
    leading = pairs.start()
    live.service = leading.service
    holder, _ = pairs.holder()
    other = pairs.start()
    live.create_all("early", EARLY, 1)
    live.wait_until_bound(MIDDLE)
    return leading, other, holder


def all_is_well(live, pair):
    """All GPUs are used once, by pods that we bound, and the pair's ledger agrees. Returns the names of the binders."""
    live.create_all("late", GPUS + TOO_MANY - EARLY, 1)
    live.service = pair.service
    pods = live.wait_until_bound(GPUS)
    assert not live.bound_by_others(pods)
    assert set(live.used().values()) == {8}
    return {item["metadata"]["annotations"][BOUND_BY] for item in bound(pods)}


def tell(capsys, what, since):
    with capsys.disabled():
        print(f"\nanother kube-scheduler led after {what}: {time.monotonic() - since:.2f} s")


def test_a_pair_is_killed_in_a_burst(live, pairs, capsys):
    leading, other, holder = begin(live, pairs)
    since = time.monotonic()
    leading.kill()
    pairs.wait_for_another(holder)
    tell(capsys, "SIGKILL of a pair", since)
    assert len(all_is_well(live, other)) == 2
    assert other.pauses("caught_up") >= 1


def test_a_pair_is_frozen_in_a_burst_and_goes_on(live, pairs, capsys):
    """When it wakes, another kube-scheduler leads; earlier requests are not bound any more."""
    leading, other, holder = begin(live, pairs)
    since = time.monotonic()
    leading.freeze()
    pairs.wait_for_another(holder)
    tell(capsys, "SIGSTOP of a pair", since)
    live.service = other.service
    live.wait_until_bound(EARLY)
    leading.thaw()
    assert leading.scheduler.process.wait(LIMIT_S) != 0, "a kube-scheduler that lost its Lease ends"
    all_is_well(live, other)
    live.service = leading.service
    live.wait_until_told()
    wait_until(lambda: live.metric("gpu_extender_bind_attempts_open") == 0, leading.service.log.text)
    assert set(live.used().values()) == {8}


def test_our_instance_alone_is_killed_in_a_burst(live, pairs):
    """Its kube-scheduler stays leader and waits for it."""
    leading, _, holder = begin(live, pairs)
    leading.service.kill()
    assert pairs.holder()[0] == holder
    leading.start_service()
    all_is_well(live, leading)
    assert pairs.holder()[0] == holder


def test_an_unchanged_lease_is_enough_after_a_pause(live, pairs):
    """No other led: it reads kube-scheduler's Lease, but not the pods."""
    leading = pairs.start()
    live.service = leading.service
    live.create_all("first", 1, 1)
    live.wait_until_bound(1)
    caught_up = leading.pauses("caught_up")
    assert caught_up == 1
    current = leading.pauses("current")
    # This test is about the pause.
    time.sleep(5)
    live.create_all("second", 1, 1)
    live.wait_until_bound(2)
    assert leading.pauses("current") > current, "one, and more if the machine stalls"
    assert leading.pauses("caught_up") == caught_up
