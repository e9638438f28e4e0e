"""Who is let in: the verbs are for who has an accepted certificate, probes for everybody."""

import http.client
import pathlib

import pytest
from callers import ASKED, FILTER
from certificates import Authority
from ours import PROBES_PORT


def test_the_verbs_answer_who_has_the_certificate(ours):
    answer = ours.verbs().post(FILTER, ASKED)
    assert answer.status == 200 and answer.json()["Error"] == "", answer


def test_the_verbs_answer_nobody_without_a_certificate(ours):
    assert ours.verbs(certificate=None).post(FILTER, ASKED).status == 403


@pytest.mark.parametrize("whose", ["of an authority that nobody trusts", "of nobody who is named"])
def test_the_verbs_answer_nobody_with_a_wrong_certificate(ours, tmp_path, whose):
    folder = pathlib.Path(ours.certificates) if "named" in whose else tmp_path
    name = "somebody" if "named" in whose else "gpu-extender-client"
    assert ours.verbs(certificate=Authority(folder).client(name)).post(FILTER, ASKED).status == 403


def test_probes_are_open(ours):
    for pod in ours.replicas():
        connection = http.client.HTTPConnection(pod["status"]["podIP"], PROBES_PORT, timeout=10)
        connection.request("GET", "/readyz")
        assert connection.getresponse().status == 200
