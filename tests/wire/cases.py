"""Reads tests/cases: each folder is a case with a cluster, a pod, the expected answers and the reason.

    cluster.yaml    a cluster file
    pod.yaml        the pod of the requests
    policy.yaml     the policy file; without one the built-in policy applies
    expected.yaml   because: one sentence
                    filter:     {fits: [node], refuses: {node: its message}}: the request has these nodes, in this order
                    prioritize: {node: score}, the best first: the request has these nodes; {}: it has all, and none gets a score
                    preempt:    {helps: {node: [UIDs]}, inVain: {node: [UIDs]}}: nodes where evicting these pods makes room
                    dryRun:     a workload's answer, in the format of expectations.py; a node absent from `reasons` fits

A folder with an expected.yaml is a case. It inherits other missing files from the folders above it, up to tests/cases, so that
cases can share a cluster. This module sends no request.
"""

import os

import expectations
import yaml
from service import ROOT

FOLDER = os.path.join(ROOT, "tests/cases")
QUESTIONS = {"filter", "prioritize", "preempt", "dryRun"}


class Case:
    """One folder. name: its path below tests/cases."""

    def __init__(self, folder):
        self.name = os.path.relpath(folder, FOLDER)
        self.folder = folder
        self.expected = self.read("expected.yaml")
        self.pod = self.read("pod.yaml")
        strange = set(self.expected) - QUESTIONS - {"because"}
        assert not strange and self.expected["because"] and set(self.expected) & QUESTIONS, f"{self.name}: {sorted(self.expected)}"

    def path(self, name):
        """The text of this folder's file, or of the nearest folder above; None if absent."""
        folder = self.folder
        while folder.startswith(FOLDER):
            path = os.path.join(folder, name)
            if os.path.exists(path):
                return path
            folder = os.path.dirname(folder)
        return None

    def text(self, name):
        """"" where there is none."""
        path = self.path(name)
        if not path:
            return ""
        with open(path, encoding="utf-8") as file:
            return file.read()

    def read(self, name):
        assert self.path(name), f"{self.name}: no {name}"
        return yaml.load(self.text(name), yaml.CSafeLoader)

    def reasons(self):
        """Names of the reasons that the dry run must give."""
        return set(self.expected.get("dryRun", {}).get("reasons", {}))

    def messages(self):
        """Names of the reasons that filter must give."""
        return set(self.expected.get("filter", {}).get("refuses", {}).values())

    def dry_run_entry(self, node_names):
        """The entry for expectations.differences(), with the nodes that fit."""
        want = self.expected["dryRun"]
        refused = {name for names in want.get("reasons", {}).values() for name in names}
        named = {key: self.pod["metadata"][key] for key in ("name", "namespace")}
        workload = {"kind": "Pod", "replicas": 1, **named, "fits": sorted(set(node_names) - refused), **want}
        strange = set(workload) - expectations.WORKLOAD_KEYS
        assert not strange, f"{self.name}: dryRun: unknown keys: {strange}"
        return {"because": self.expected["because"], "workloads": [workload]}


def load(part):
    """All cases of tests/cases/PART, by name."""
    folders = [folder for folder, _, files in os.walk(os.path.join(FOLDER, part)) if "expected.yaml" in files]
    return [Case(folder) for folder in sorted(folders)]
