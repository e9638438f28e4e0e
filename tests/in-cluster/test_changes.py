"""Changes by operators during operation: certificates and the policy."""

import json
import pathlib

from api import wait_until
from callers import ASKED, FILTER
from ours import NAME, PODS

FAULTY = "\nplacement:\n  policy: best\n"
CHANGED = "\nplacement:\n  policy: spread\n"


def serial(caller):
    """Serial number of the server's certificate."""
    with caller.connected() as connection:
        return connection.sock.getpeercert()["serialNumber"]


def test_new_certificates_are_loaded_without_dropping_connections(ours):
    """The kubelet updates the Secret's files; kube-scheduler's certificate changes too."""
    callers = [ours.verbs(address=pod["status"]["podIP"]) for pod in ours.replicas()]
    old = {serial(caller) for caller in callers}
    verbs = ours.verbs()
    with verbs.connected() as connection:
        assert verbs.ask_on(connection, "POST", FILTER, json.dumps(ASKED)).status == 200
        begun_on = connection.sock
        ours.make_certificates()
        ours.apply()
        wait_until(lambda: not old & {serial(caller) for caller in callers}, lambda: f"other certificates than {old}")
        assert verbs.ask_on(connection, "POST", FILTER, json.dumps(ASKED)).status == 200
        assert connection.sock is begun_on
    assert ours.verbs().is_answered()


def identities(ours):
    """{replica: restarts}."""
    return {pod["metadata"]["uid"]: pod["status"]["containerStatuses"][0]["restartCount"] for pod in ours.replicas()}


def test_policies_are_reloaded_without_a_restart(ours, viewer):
    """A faulty policy changes nothing, and each replica names the fault; a valid one is then in force everywhere."""
    replicas = [ours.people(viewer, pod["status"]["podIP"]) for pod in ours.replicas()]
    before = identities(ours)
    path = pathlib.Path(ours.manifests, "base/scheduler-policy.yaml")
    shipped = path.read_text(encoding="utf-8")

    def policies():
        return [replica.get("/v1/policy").json() for replica in replicas]

    def apply(text, is_seen):
        path.write_text(text, encoding="utf-8")
        ours.apply()
        wait_until(lambda: all(map(is_seen, policies())), lambda: json.dumps([{**policy, "values": {}} for policy in policies()]))
        return {policy["digest"] for policy in policies()}

    (original,) = {policy["digest"] for policy in policies()}
    try:
        assert apply(shipped + FAULTY, lambda policy: '"best"' in (policy["fault"] or "")) == {original}
        assert ours.verbs().is_answered()
        (changed,) = apply(shipped + CHANGED, lambda policy: policy["digest"] != original)
        assert changed != original
    finally:
        (restored,) = apply(shipped, lambda policy: policy["digest"] == original)
    assert restored == original and {policy["fault"] for policy in policies()} == {None}
    assert identities(ours) == before and ours.verbs().is_answered()
