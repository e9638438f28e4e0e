"""ETag and If-None-Match: an answer that the client has is a 304, and never one that may have changed otherwise than by time."""

import signal

import pytest
from follow import SILENCE_S, policy
from objects import list_text, node, pod

PATHS = ["/v1/inventory", "/v1/pending", "/v1/fragmentation", "/v1/quota", "/v1/snapshot", "/v1/pods/ml/waits/explain"]
CLUSTER = [node("a", 8), node("b", 4, "Tesla-T4"), pod("runs", 2, "a"), pod("waits", 16)]


def ask(service, path, tag=None):
    return service.ask("GET", path, headers={"If-None-Match": tag} if tag else {})


def tag_of(service, path):
    answer = ask(service, path)
    assert answer.status == 200 and answer.headers["etag"].startswith('W/"'), answer
    return answer.headers["etag"]


def has_changed(service, path, tag):
    answer = ask(service, path, tag)
    assert answer.status in (200, 304)
    return answer.status == 200


@pytest.mark.parametrize("path", PATHS)
def test_an_unchanged_answer_is_a_304(start_over, path):
    service = start_over(*CLUSTER)
    tag = tag_of(service, path)
    answer = ask(service, path, tag)
    assert (answer.status, answer.text, answer.headers["etag"]) == (304, "", tag)
    assert ask(service, path, tag).status == 304, "the connection goes on"


@pytest.mark.parametrize(("given", "status"), [("{}", 304), ('"a", {}', 304), ("*", 304), ('W/"a"', 200), ("a", 200), ("", 200)])
def test_what_if_none_match_may_have(start_over, given, status):
    service = start_over(*CLUSTER)
    tag = tag_of(service, "/v1/inventory")
    assert ask(service, "/v1/inventory", given.format(tag)).status == status
    assert ask(service, "/v1/inventory", given.format(tag[2:])).status == status, "the weak comparison"


def test_each_question_has_its_own_tag(start_over):
    service = start_over(*CLUSTER)
    questions = [*PATHS, "/v1/inventory?node=a", "/v1/inventory?node=b", "/v1/inventory?state=ready", "/v1/pending?namespace=ml"]
    assert len({tag_of(service, question) for question in questions}) == len(questions)


def test_tables_and_errors_have_no_tag(start_over):
    service = start_over(*CLUSTER)
    for path in ("/v1/inventory?output=table", "/v1/inventory?node=none", "/v1/pods/ml/none/explain"):
        assert "etag" not in ask(service, path).headers
        assert ask(service, path, "*").status != 304 or "none" in path


def test_a_file_read_again_changes_the_tag(start_service, write):
    path = write("c.json", list_text(*CLUSTER))
    service = start_service("--cluster-file", path)
    tags = {each: tag_of(service, each) for each in PATHS}
    n_lines = len(service.log.lines)
    service.signal(signal.SIGHUP)
    service.log.wait_for({"msg": "reloaded"}, after=n_lines)
    assert all(has_changed(service, each, tag) for each, tag in tags.items())


def test_another_process_has_other_tags(start_over):
    assert tag_of(start_over(*CLUSTER), "/v1/inventory") != tag_of(start_over(*CLUSTER), "/v1/inventory")


MESSAGE = {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/2 nodes"}]}


@pytest.mark.parametrize(
    "changed",
    [
        pod("waits", 15),
        pod("waits", 16, status=MESSAGE),
        pod("waits", 16, metadata={"ownerReferences": [{"kind": "Job", "name": "train", "uid": "j", "controller": True}]}),
        pod("runs", 2, "a", status={"startTime": "2026-11-24T10:00:00Z"}),
        pod("more", None),
        node("a", 7),
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new", "uid": "new"}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bad", "namespace": "ml", "uid": "bad"}, "spec": {"containers": 5}},
    ],
    ids=["request", "message", "owner", "start", "pod", "node", "namespace", "problem"],
)
def test_any_change_of_a_live_cluster_changes_the_tag(api, follow, changed):
    api.store.put(pod("waits", 16), pod("runs", 2, "a"))
    follower = follow()
    follower.settle()
    tag = tag_of(follower, "/v1/inventory")
    assert not has_changed(follower, "/v1/inventory", tag)
    api.store.put(changed)
    follower.wait("another tag", lambda: has_changed(follower, "/v1/inventory", tag))


def test_stale_data_change_the_tag(api, follow):
    follower = follow(watchSilenceSeconds=SILENCE_S)
    follower.settle()
    tag = tag_of(follower, "/v1/inventory")
    api.faults.hold("*")
    api.new_era(deaf=True)
    follower.wait("stale data", lambda: not follower.get("/v1/inventory").json()["usable"])
    assert has_changed(follower, "/v1/inventory", tag)


def test_a_policy_that_changes_the_answer_changes_the_tag(start_service, write):
    """The models of an inventory and the limits of quotas come from the policy."""
    path = write("c.json", list_text(*CLUSTER, node("c", 4, "big")))
    file = write("policy.yaml", policy({"quotas": [{"name": "q", "namespaces": ["ml"], "limits": [{"total": 8}]}]}))
    service = start_service("--cluster-file", path, "--config", file)
    tags = {each: tag_of(service, each) for each in PATHS}
    n_lines = len(service.log.lines)
    write("policy.yaml", policy({"models": {"aliases": {"big": "H100"}}}))
    service.signal(signal.SIGHUP)
    service.log.wait_for({"msg": "reloaded"}, after=n_lines)
    assert all(has_changed(service, each, tag) for each, tag in tags.items())


def test_a_policy_of_a_live_cluster_that_changes_the_answer_changes_the_tag(api, follow, tmp_path):
    api.store.put(node("c", 4, "big"))
    follower = follow()
    follower.settle()
    tag = tag_of(follower, "/v1/inventory")
    (file,) = tmp_path.rglob("policy.yaml")
    file.write_text(policy({"models": {"aliases": {"big": "H100"}}}), encoding="utf-8")
    follower.signal(signal.SIGHUP)
    follower.wait("the model is read anew", lambda: "H100" in ask(follower, "/v1/inventory", tag).text)
