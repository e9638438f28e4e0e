"""Soft claims: pods that kube-scheduler has assumed and not bound yet count against their quotas, in filter."""

import concurrent.futures
import time

import pytest
from objects import GPU, filter_args, merged, node, pod

NODES = ["h1", "h2", "h3", "h4"]
CLAIMED = "the rest of the quota is claimed by pods that are being bound: retry"


def policy(seconds):
    limits = [{"resource": GPU, "total": 16}]
    return {"quotas": [{"name": "team-a", "namespaces": ["gang"], "limits": limits}], "filter": {"quotaClaimSeconds": seconds}}


def member(i):
    return merged(pod(f"gang-{i}", 8), {"metadata": {"namespace": "gang"}})


@pytest.fixture
def start(api, follow):
    """start(seconds) -> a service over four nodes of 8 GPUs and a gang of four pods of 8, whose namespace may use 16."""
    api.store.put(*[node(name, 8) for name in NODES], *[member(i) for i in range(4)])

    def begin(seconds=600):
        service = follow(more=policy(seconds))
        service.settle()
        return service

    return begin


def ask(service, i, nodes=None):
    """The names of the nodes, or the error, or the rejections."""
    answer = service.post("/scheduler/filter", filter_args(member(i), nodes or NODES)).json()
    return answer["Error"] or answer["NodeNames"] or answer["FailedAndUnresolvableNodes"]


def test_a_gang_over_its_quota_is_not_admitted_whole(start):
    service = start()
    assert ask(service, 0) == ask(service, 1) == NODES
    assert CLAIMED in ask(service, 2) and CLAIMED in ask(service, 3)
    assert ask(service, 1) == NODES, "its own claim is no obstacle: the next call of the cycle replaces it"
    assert service.bind(member(0), "h1") is None and service.bind(member(1), "h2") is None
    assert "quota team-a leaves too few GPUs in total" in str(ask(service, 2))
    assert service.metric("gpu_extender_filter_quota_claimed_total") == 2


def test_errors_are_few(start):
    """Five errors at once for all pods together, then rejections, which kube-scheduler does not retry by itself."""
    service = start()
    ask(service, 0), ask(service, 1)
    began, errors = time.monotonic(), []
    while isinstance(answer := ask(service, 2), str):
        errors.append(answer)
        assert len(errors) <= 5 + (time.monotonic() - began), "five, and one a second"
    assert set(answer.values()) == {"gpu-extender: the rest of the quota is claimed by pods that are being bound"}


def test_a_claim_of_a_failed_gang_lapses(start):
    service = start(seconds=1)
    service.wait("others hold the quota", lambda: (ask(service, 0), ask(service, 1), ask(service, 2))[2] != NODES)
    service.wait("the claims have lapsed", lambda: ask(service, 2) == NODES)


def test_a_deleted_pod_claims_nothing(api, start):
    service = start()
    ask(service, 0), ask(service, 1)
    api.store.remove(member(0))
    service.wait("its claim has ended", lambda: ask(service, 2) == NODES)


def test_a_call_without_fitting_nodes_ends_the_claim(start):
    service = start()
    ask(service, 0), ask(service, 1)
    ask(service, 0, ["unknown"])
    assert ask(service, 2) == NODES


def test_a_new_leader_has_no_claims(start):
    service = start()
    ask(service, 0), ask(service, 1)
    service.stop()
    assert ask(start(), 2) == NODES


def test_bind_ignores_the_claims_of_others(start):
    service = start()
    ask(service, 0), ask(service, 1)
    assert service.bind(member(2), "h3") is None


def test_one_of_two_kube_schedulers_gets_the_rest(start):
    """A claim needs unchanged claims since its verdict; the slower call is judged again."""
    service = start()
    assert ask(service, 0) == NODES
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        for _ in range(20):
            said = list(threads.map(lambda i: ask(service, i), (1, 2)))
            assert said.count(NODES) == 1
            for i in (1, 2):
                ask(service, i, ["unknown"])


def test_the_policy_may_disable_claims(start):
    service = start(seconds=0)
    assert [ask(service, i) for i in range(4)] == [NODES] * 4
