"""The cases of tests/cases, a folder each: this cluster, this pod, this answer, for this reason. cases.py says what is in a folder.

Each reason for refusing a node and each placement policy has one; tests/unit has the corners.
"""

import contextlib
import json
import os
import re
import signal

import cases
import expectations
import openapi
import pytest
from objects import filter_args, kindless
from service import Service

CASES = {case.name: case for part in ("reasons", "policies", "preempt") for case in cases.load(part)}
REASONS = openapi.load()["components"]["schemas"]["Reason"]
PREFIX = "gpu-extender: "


def reason_of(message):
    """The reason of a message to kube-scheduler, by the document's table; None: the message names more than the reason."""
    rows = re.findall(r"^\| `(\w+)` \| ([^|(]*?) (?:\([^)]*\) )?\|", REASONS["description"], re.MULTILINE)
    return {text: name for name, text in rows}.get(message.removeprefix(PREFIX))


class Desk:
    """One service per policy; it reloads its cluster file for each case."""

    def __init__(self, folder, policy):
        self.cluster = os.path.join(folder, "cluster.yaml")
        self.now = "kind: List\napiVersion: v1\nitems: []\n"
        self.write("cluster.yaml", self.now, folder)
        options = ["--config", self.write("policy.yaml", policy, folder)] if policy else []
        self.service = Service("--cluster-file", self.cluster, *options)

    @staticmethod
    def write(name, text, folder):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def over(self, text):
        """The service, over this cluster."""
        if text != self.now:
            n_lines = len(self.service.log.lines)
            self.write("cluster.yaml", text, os.path.dirname(self.cluster))
            self.service.signal(signal.SIGHUP)
            self.service.log.wait_for({"msg": "reloaded"}, {"level": "error"}, after=n_lines)
            self.now = text
        return self.service


@pytest.fixture(scope="module")
def service_for(tmp_path_factory):
    """service_for(case) -> a Service with its policy, over its cluster."""
    desks = {}
    with contextlib.ExitStack() as running:

        def find(case):
            policy = case.text("policy.yaml")
            if policy not in desks:
                desks[policy] = Desk(tmp_path_factory.mktemp("case"), policy)
                running.callback(desks[policy].service.stop)
            return desks[policy].over(case.text("cluster.yaml"))

        yield find


# Each returns one line for each difference from the case.


def filter_differs(case, service, node_names):
    want = case.expected["filter"]
    fits, refuses = want.get("fits", []), want.get("refuses", {})
    unsaid = set(node_names) - {*fits, *refuses}
    answer = service.post("/scheduler/filter", filter_args(case.pod, [*fits, *refuses])).json()
    right = {"Nodes": None, "NodeNames": fits, "FailedNodes": {}, "FailedAndUnresolvableNodes": refuses, "Error": ""}
    return expectations.differs("the answer", right, answer) + [f"nothing is expected of {name}" for name in sorted(unsaid)]


def prioritize_differs(case, service, node_names):
    want = case.expected["prioritize"]
    answer = service.post("/scheduler/prioritize", filter_args(case.pod, sorted(want) or node_names)).json()
    return expectations.differs("the answer", [{"Host": host, "Score": score} for host, score in want.items()], answer)


def preempt_differs(case, service, _):
    want = case.expected["preempt"]
    offered = {**want["helps"], **want["inVain"]}
    meta = {node: {"Pods": [{"UID": uid} for uid in uids], "NumPDBViolations": len(uids)} for node, uids in offered.items()}
    asked = {"Pod": kindless(case.pod), "NodeNameToVictims": None, "NodeNameToMetaVictims": meta}
    answer = service.post("/scheduler/preempt", asked).json()
    right = {"NodeNameToMetaVictims": {node: meta[node] for node in want["helps"]}}
    return expectations.differs("the answer", right, answer)


def dry_run_differs(case, service, node_names):
    answer = service.post("/v1/dry-run", json.dumps(case.pod)).json()
    return expectations.differences(case.dry_run_entry(node_names), answer, node_names)


DIFFERS = {"filter": filter_differs, "prioritize": prioritize_differs, "preempt": preempt_differs, "dryRun": dry_run_differs}


@pytest.mark.parametrize("name", CASES)
def test_case(name, service_for):
    case = CASES[name]
    service = service_for(case)
    inventory = service.get("/v1/inventory").json()
    assert inventory["problems"] == []
    node_names = [node["name"] for node in inventory["nodes"]]
    for question in cases.QUESTIONS & set(case.expected):
        found = DIFFERS[question](case, service, node_names)
        assert not found, "\n".join([f"tests/cases/{name}: {question}", *found, f"because: {case.expected['because']}"])


# These never occur over a file: tests/wire/test_quota_live.py and test_quota_claims.py show them.
LIVE_ONLY = {"namespace_unknown", "quota_claimed", "quarantine", "shape_trap", "gang_forming", "gang_waiting", "gang_place", "gpu_kept"}
USERS_ONLY = {name for name in REASONS["enum"] if name.startswith("claim_")}


def test_every_reason_has_a_case_that_shows_it():
    assert LIVE_ONLY | USERS_ONLY | {name.split("/")[1] for name in CASES if name.startswith("reasons/")} == set(REASONS["enum"])
    for name, case in CASES.items():
        kind, shown = name.split("/")[:2]
        if kind == "reasons" and shown != "fits":
            assert shown in case.reasons() | {reason_of(message) for message in case.messages()}, f"tests/cases/{name} does not show it"


def test_every_placement_policy_has_a_case(run_binary, write):
    """The policies are those in the program's message about an unknown policy."""
    wrong = write("policy.yaml", "apiVersion: gpu-extender.io/v1alpha1\nkind: SchedulerPolicy\nplacement: {policy: none-of-them}\n")
    said = run_binary("--config", wrong, "--check").stderr
    shown = {case.read("policy.yaml")["placement"]["policy"] for name, case in CASES.items() if name.startswith("policies/")}
    listed = set(re.findall(r"[a-z-]+", re.search(r"should be (?:one of )?(.*)", said)[1])) - {"or"}
    assert shown == listed, said


def test_every_case_has_its_own_sentence_of_explanation():
    sentences = [case.expected["because"] for case in CASES.values()]
    assert len(set(sentences)) == len(sentences)
    assert [text for text in sentences if len(text.split()) < 6] == []
