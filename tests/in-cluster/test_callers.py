"""Access: verbs need an accepted certificate; everything else needs a right granted by the API server."""

import http.client
import pathlib

import people
import pytest
from callers import ASKED, FILTER
from certificates import Authority
from ours import PROBES_PORT

INVENTORY, DRY_RUN, METRICS = "/v1/inventory", "/v1/dry-run", "/metrics"


def test_verbs_accept_the_certificate(ours):
    answer = ours.verbs().post(FILTER, ASKED)
    assert answer.status == 200 and answer.json()["Error"] == "", answer


def test_verbs_reject_callers_without_certificate(ours, viewer):
    for caller in (ours.verbs(certificate=None), ours.verbs(certificate=None, token=viewer)):
        assert caller.post(FILTER, ASKED).status == 403


@pytest.mark.parametrize("whose", ["of an authority that nobody trusts", "of nobody who is named"])
def test_verbs_reject_a_wrong_certificate(ours, tmp_path, whose):
    folder = pathlib.Path(ours.certificates) if "named" in whose else tmp_path
    name = "somebody" if "named" in whose else "gpu-extender-client"
    assert ours.verbs(certificate=Authority(folder).client(name)).post(FILTER, ASKED).status == 403


def test_follower_rejects_the_verbs(ours):
    leader = ours.leader()["metadata"]["name"]
    (other,) = [pod for pod in ours.replicas() if pod["metadata"]["name"] != leader]
    answer = ours.verbs(address=other["status"]["podIP"]).post(FILTER, ASKED)
    assert (answer.status, answer.headers["connection"].lower(), answer.body) == (503, "close", b"")


def test_users_are_answered_by_their_rights(ours, viewer):
    may, stranger = ours.people(viewer), ours.people(people.token(ours.api, "stranger"))
    assert may.get(INVENTORY).status == 200
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "asked"}, "spec": {"containers": [{"name": "main"}]}}
    assert may.post(DRY_RUN, pod).status == 200
    assert may.get(METRICS).status == 403
    assert stranger.get(INVENTORY).status == 403 and stranger.post(DRY_RUN, pod).status == 403
    assert ours.people(people.token(ours.api, "prometheus", "gpu-extender-metrics")).get(METRICS).status == 200


@pytest.mark.parametrize("token", [None, "wrong"])
def test_users_without_a_valid_token_are_rejected(ours, token):
    caller = ours.people(token)
    assert [caller.get(path).status for path in (INVENTORY, METRICS, "/v1/snapshot")] == [401, 401, 401]


def test_verbs_certificate_does_not_admit_users(ours):
    assert ours.people(certificate="client").get(INVENTORY).status == 401


def test_probes_are_open(ours):
    for pod in ours.replicas():
        connection = http.client.HTTPConnection(pod["status"]["podIP"], PROBES_PORT, timeout=300)
        connection.request("GET", "/readyz")
        assert connection.getresponse().status == 200
