"""Removal by docs/OPERATIONS.md. Its name sorts behind the others that need ours, because afterwards nothing of it is left."""

import gpus
import marked
from cluster import PODS, is_undecided
from live import BOUND_BY, bound
from ours import OVERLAY

RUNNING, WAITING = 8, 4


def seen(item):
    return item["metadata"]["uid"], item["spec"], item["status"]


def test_removal_affects_no_running_pod(ours, make):
    """GPU pods wait while kube-scheduler is configured to call us, and are bound without us as soon as it is not; other pods never wait."""
    make(range(RUNNING))
    before = ours.api.wait_for_all(PODS, lambda items: [item["status"]["phase"] for item in items.values()] == ["Running"] * RUNNING)
    ours.shell(marked.block("docs/INSTALL.md", "take-out").replace("overlays/cert-manager", OVERLAY))
    make(range(RUNNING, RUNNING + WAITING))
    ours.api.wait_for_all(PODS, lambda items: sum(map(is_undecided, items.values())) == WAITING)
    ours.cluster.configure_scheduler({})
    after = gpus.wait_until_bound(ours.api, RUNNING + WAITING)
    assert {key: seen(item) for key, item in after.items() if key in before} == {key: seen(item) for key, item in before.items()}
    assert [BOUND_BY in item["metadata"].get("annotations", {}) for item in bound(after)].count(False) == WAITING
