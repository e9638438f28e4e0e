"""Answers of filter when no node fits and the ledger is behind kube-scheduler: an Error, a rejection, or a wait first."""

import concurrent.futures

import pytest
from objects import GPU, filter_args, merged, pod

QUOTA = {"name": "team-a", "namespaces": ["ml"], "limits": [{"resource": GPU, "total": 7}]}
OVER_QUOTA = "gpu-extender: quota team-a leaves too few GPUs in total"
IS_KEPT = "gpu-extender: the node's free GPUs are kept for a nominated pod"
ENDING = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}


def waits(service, result):
    return service.metric("gpu_extender_filter_waits_total", result=result)


def ask(service, asking, names):
    return service.post("/scheduler/filter", filter_args(asking, names)).json()


# ---- a quota that counts the victims (7 GPUs: three are used on node a) ----


@pytest.fixture
def limited(follow):
    service = follow(more={"quotas": [QUOTA]})
    service.settle()
    return service


@pytest.fixture
def first(api, limited):
    """A pod requests all of b, where its victim of the same quota still terminates in our ledger. From now on the watch of pods is silent."""
    api.store.put(pod("victim", 4, on="b", spec={"priority": 0}, **ENDING), pod("other", 1))
    limited.settle()
    api.watch("pods").go_silent()
    return pod("first", 4, spec={"priority": 10}, status={"nominatedNodeName": "b"})


def test_filter_waits_for_a_quota_that_victims_free(api, limited, first):
    """If rejected at once, the pod would preempt a second victim and abandon the room on b. If the machine stalls for as long as a call
    waits, the victim comes back, and another pod waits for its end."""
    victim, stalls, answer = api.store.get("pods", "victim", "ml"), [], {}

    def helped():
        asks = merged(first, {"metadata": {"uid": f"first-{len(stalls)}"}})
        with concurrent.futures.ThreadPoolExecutor(1) as thread:
            asked = thread.submit(ask, limited, asks, ["b"])
            limited.wait("it waits", lambda: asked.done() or limited.metric("gpu_extender_http_body_bytes", **{"for": "verbs"}) > 0)
            watch = api.watch("pods")  # after a silence of five seconds there is a new one
            watch.go_silent()
            watch.tell("DELETED", victim)
            answer.update(asked.result())
        if waits(limited, "helped"):
            return True
        stalls.append(answer)
        watch.tell("ADDED", victim)
        limited.wait("the victim is back", lambda: victim["metadata"]["uid"] in limited.ledger()[0]["b"][1])
        return False

    limited.wait("a call was helped", helped)
    assert (answer["Error"], answer["NodeNames"]) == ("", ["b"])


def test_filter_waits_once_per_nomination_then_rejects(limited, first):
    """The node is in FailedNodes: kube-scheduler waits for the victims. An Error would clear the nomination."""
    for _ in range(3):
        answer = ask(limited, first, ["b"])
        assert (answer["Error"], answer["NodeNames"], answer["FailedNodes"]) == ("", [], {"b": OVER_QUOTA})
    assert (waits(limited, "in_vain"), waits(limited, "helped")) == (1, 0)


def test_filter_does_not_wait_for_a_quota_that_victims_do_not_free(api, limited):
    """Other pods use the quota up, or the terminating pods are on another node than the nominated one."""
    api.store.put(pod("victim", 4, on="b", spec={"priority": 0}, **ENDING), pod("runs", 1, on="a"))
    limited.settle()
    for node in ("a", "b"):
        answer = ask(limited, pod("first", 4, spec={"priority": 10}, status={"nominatedNodeName": node}), [node])
        assert (answer["Error"], {**answer["FailedNodes"], **answer["FailedAndUnresolvableNodes"]}) == ("", {node: OVER_QUOTA})
    api.store.remove(pod("runs", 1, on="a"))
    limited.settle()
    assert ask(limited, pod("next", 4, spec={"priority": 10}, status={"nominatedNodeName": "a"}), ["a"])["Error"] == ""
    assert waits(limited, "in_vain") == waits(limited, "helped") == 0


# ---- without a quota ----


def test_room_kept_for_another_schedulers_pod_is_an_error_twice(api, follower):
    """kube-scheduler does not know that nomination. An endless Error would keep the pod from preempting elsewhere."""
    api.store.put(pod("theirs", 4, status={"nominatedNodeName": "b"}))
    follower.wait("the nomination is known", lambda: "kept" in ask(follower, pod("looks", 1), ["b"])["Error"])
    answers = [ask(follower, pod("asks", 1), ["b"]) for _ in range(4)]
    assert [bool(answer["Error"]) for answer in answers] == [True, True, False, False]
    assert answers[3]["FailedAndUnresolvableNodes"] == {"b": IS_KEPT}


def test_victims_that_end_elsewhere_are_left_to_kube_scheduler(api, follower):
    """kube-scheduler offers only a, which is full in our ledger. An Error would clear the nomination to b and waste the eviction."""
    api.store.put(pod("full", 5, on="a"), pod("victim", 4, on="b", spec={"priority": 0}, **ENDING))
    follower.settle()
    answer = ask(follower, pod("first", 4, spec={"priority": 10}, status={"nominatedNodeName": "b"}), ["a"])
    assert (answer.get("Error"), answer.get("NodeNames")) == ("", [])
    assert waits(follower, "in_vain") == waits(follower, "helped") == 0
