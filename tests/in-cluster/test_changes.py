"""Changes by operators during operation: certificates and the policy."""

import json
import pathlib

from api import wait_until
from callers import ASKED, FILTER
from ours import NAME, PODS

WRONG = "\nplacement:\n  policy: best\n"


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


def test_a_wrong_policy_is_not_rolled_out(ours):
    """The new replica exits and names the error; the existing ones keep answering."""
    before = {pod["metadata"]["name"] for pod in ours.replicas()}
    policy = pathlib.Path(ours.manifests, "base/scheduler-policy.yaml")
    right = policy.read_text(encoding="utf-8")
    policy.write_text(right + WRONG, encoding="utf-8")
    ours.apply()

    def has_ended(pod):
        return any(status["restartCount"] for status in pod["status"].get("containerStatuses", []))

    pods = ours.api.wait_for_all(PODS, lambda pods: any(map(has_ended, pods.values())))
    (new,) = [pod for pod in pods.values() if has_ended(pod)]
    said = ours.cluster.kubectl("logs", f"--namespace={NAME}", "--previous", new["metadata"]["name"])
    assert "scheduler-policy.yaml" in said and '"best"' in said, said
    assert before < {pod["metadata"]["name"] for pod in ours.replicas()} and ours.verbs().is_answered()
    policy.write_text(right, encoding="utf-8")
    ours.apply()
    ours.wait_until_rolled_out()
    assert {pod["metadata"]["name"] for pod in ours.replicas()} == before
