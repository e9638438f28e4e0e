"""A pod that only we reject, though there is room, and lower priority to preempt: its reason is shown, and kube-scheduler does not
retry."""

import pytest
from cluster import NOT_WANTED
from quiet import NODES


@pytest.fixture
def observed(quiet_minute):
    return quiet_minute.result()


def test_rejected_pod_shows_the_reason(observed):
    assert f"0/12 nodes are available: 12 {NOT_WANTED}." in observed.condition["message"]
    assert f"12 {NOT_WANTED}." in observed.event


def test_rejected_pod_is_not_retried(observed):
    assert 1 <= observed.filter_requests <= 3
    assert len(observed.states) <= 2, "the pod's status is written again and again"
    assert observed.other_is_on in NODES


def test_rejected_pod_evicts_no_pod(observed):
    assert len(observed.pods) == 14
    assert not [pod["metadata"]["name"] for pod in observed.pods if "deletionTimestamp" in pod["metadata"]]
    assert [pod["metadata"]["name"] for pod in observed.pods if not pod["spec"].get("nodeName")] == ["refused"]
