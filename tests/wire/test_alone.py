"""A service that follows an unreachable API server: it decides nothing and gives the reason.

Port 1 of 127.0.0.1 refuses every connection.
"""

import pytest
from objects import BIND_ARGS, filter_args, pod

WAITING = "not ready: waiting for the first list of nodes"
INSECURE = "insecure-skip-tls-verify"


def readiness(service):
    """Waits until the first request has failed."""
    failure = service.log.wait_for({"mod": "inventory", "level": "warn", "kind": "nodes"})
    assert "GET /api/v1/nodes" in failure["why"], failure
    return service.get("/readyz")


def test_service_is_alive_and_names_what_it_waits_for(alone):
    answer = readiness(alone)
    assert (answer.status, alone.get("/livez").status) == (503, 200)
    assert answer.text.startswith("nodes: never listed: unreachable\n"), answer


@pytest.mark.parametrize("verb", ["filter", "bind"])
def test_kube_scheduler_gets_an_error(alone, verb):
    args = BIND_ARGS if verb == "bind" else filter_args(pod(), ["a"])
    answer = alone.post(f"/scheduler/{verb}", args)
    assert answer.status == 200 and answer.json()["Error"].startswith(f"gpu-extender: {WAITING}"), answer


@pytest.mark.parametrize("path", ["/v1/pending", "/v1/pods/ml/p/explain"])
def test_users_get_the_reason(alone, path):
    answer = alone.get(path)
    assert answer.status == 503 and answer.json()["error"].startswith(WAITING), answer


def warnings(service):
    """The warnings in the log of the start."""
    return [line["msg"] for line in service.log.fields() if line["mod"] == "main" and line["level"] == "warn"]


def test_unverified_server_causes_a_warning(start_alone):
    (warning,) = warnings(start_alone(**{INSECURE: True}))
    assert warning.startswith(INSECURE)


def test_verified_server_causes_no_warning(alone):
    assert warnings(alone) == []
