"""Asks the program that GPU_EXTENDER names every question of the twin, and writes the answers as lines of JSON.

    GPU_EXTENDER=BINARY tests/twin/answers.py OUT

The questions depend only on the tree: each cluster file of it, and one cluster of a fake API server that changes while it is watched.
"""

import glob
import json
import os
import pathlib
import random
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/wire"))

import objects
import yaml
from fake_api import FakeApi
from follow import Follower
from service import Service

# Each with every form of output that it has.
LISTS = ("inventory", "pending", "fragmentation", "quota", "policy", "node-groups")
FORMS = ("", "?output=table", "?output=table&wide=true")
# Manifests are judged over these.
EXAMPLES = ("examples/sample-cluster.yaml", "examples/dra-cluster.yaml", "examples/openb-cluster.json")
MANIFESTS = ("tests/cases/*/*.yaml", "examples/workloads/*", "examples/claims/*")
QUOTAS = os.path.join(ROOT, "examples/policy-quotas.yaml")
PODS_MAX = 12
NODES_MAX = 400


def items_of(text):
    """The objects of a cluster file."""
    found = []
    for document in yaml.safe_load_all(text):
        found += document["items"] if document and "items" in document else [document] if document else []
    return found


def of_kind(items, kind):
    return [item for item in items if isinstance(item, dict) and item.get("kind") == kind]


def manifest_of(path):
    """The manifest of a case, or the whole file."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    case = next(yaml.safe_load_all(text), None)
    return case["manifest"] if isinstance(case, dict) and "manifest" in case else text


class Asker:
    """Writes what `service` answers, each line with the name of the case and of the question."""

    def __init__(self, service, case, out):
        self.service, self.case, self.out = service, case, out

    def ask(self, method, path, body=None, name=""):
        answer = self.service.ask(method, path, body)
        line = {"case": self.case, "question": f"{method} {path} {name}".strip(), "status": answer.status, "body": answer.text}
        self.out.write(json.dumps(line) + "\n")
        return answer

    def verbs(self, asking, names, nodes, name):
        """What kube-scheduler asks: by names, and (of few nodes) with whole nodes."""
        for args in [objects.filter_args(asking, names)] + ([objects.filter_args(asking, nodes=nodes)] if len(nodes) <= 40 else []):
            for verb in ("filter", "prioritize"):
                self.ask("POST", f"/scheduler/{verb}", args, name)

    def preempt(self, asking, pods, name):
        dice = random.Random(name)
        on = {}
        for each in pods:
            if each.get("spec", {}).get("nodeName"):
                on.setdefault(each["spec"]["nodeName"], []).append(each["metadata"].get("uid") or each["metadata"]["name"])
        victims = {where: dice.sample(uids, dice.randint(1, len(uids))) for where, uids in sorted(on.items())[:40]}
        self.ask("POST", "/scheduler/preempt", objects.preempt_args(asking, victims), name)

    def all_lists(self):
        for path in LISTS:
            for form in FORMS:
                self.ask("GET", f"/v1/{path}{form}")
        for path in ("/v1/snapshot", "/v1/decisions", "/v1/observed", "/metrics", "/readyz?verbose=true", "/livez"):
            self.ask("GET", path)


def ask_about_cluster(asker, items):
    pods, nodes = of_kind(items, "Pod"), of_kind(items, "Node")[:NODES_MAX]
    names = [each["metadata"]["name"] for each in nodes] + ["not-there"]
    waiting = [each for each in pods if not each.get("spec", {}).get("nodeName")]
    asker.all_lists()
    for each in (waiting + [each for each in pods if each not in waiting])[:PODS_MAX]:
        metadata = each["metadata"]
        title = f"{metadata.get('namespace', 'default')}/{metadata['name']}"
        asker.verbs(each, names, nodes, title)
        asker.preempt(each, pods, title)
        for form in FORMS:
            asker.ask("GET", f"/v1/pods/{title}/explain{form}")
    for changes in ([], [{"drain": [names[0]]}], [{"addNodes": {"like": names[0], "count": 2}}], [{"cordon": names[:1]}]):
        for form in FORMS:
            asker.ask("POST", f"/v1/what-if{form}", {"changes": changes}, json.dumps(changes))
    asker.all_lists()


def ask_about_manifests(asker):
    for pattern in MANIFESTS:
        for path in sorted(glob.glob(os.path.join(ROOT, pattern))):
            text = manifest_of(path)
            for form in ("", "?output=table", "?explain=true"):
                asker.ask("POST", f"/v1/dry-run{form}", text, os.path.relpath(path, ROOT))


def ask_over_file(path, out):
    """The cluster as it is, and under quotas; and with the pod of a case, as kube-scheduler would ask for it."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        items = items_of(file)
    beside = os.path.join(ROOT, os.path.dirname(path), "pod.yaml")
    if os.path.exists(beside):
        with open(beside, encoding="utf-8") as file:
            items = items_of(file) + items
    policies = sorted(glob.glob(os.path.join(ROOT, os.path.dirname(path), "policy.yaml"))) or [None]
    if path in EXAMPLES:
        policies.append(QUOTAS)
    for policy in policies:
        service = Service("--cluster-file", os.path.join(ROOT, path), *(["--config", policy] if policy else []))
        asker = Asker(service, f"{path} {os.path.basename(policy or '')}".strip(), out)
        ask_about_cluster(asker, items)
        if path in EXAMPLES:
            ask_about_manifests(asker)
        service.stop()


def ask_while_it_changes(out):
    """One replica over a fake API server: lists, events of each kind, bindings, and the same questions after each."""
    with FakeApi() as api, tempfile.TemporaryDirectory() as folder:
        objects.fill(api.store)
        service = Follower(api, pathlib.Path(folder))
        service.wait_until_it_binds()
        service.settle()
        asker = Asker(service, "watched", out)
        ask_about_cluster(asker, api.store.all("nodes") + api.store.all("pods"))
        waiting, added = objects.pod("twin", 1), objects.node("twin-node", 4)
        steps = {
            "a node": lambda: api.store.put(added),
            "a waiting pod": lambda: api.store.put(waiting),
            "a binding": lambda: service.bind(waiting, "twin-node"),
            "a deleted pod": lambda: api.store.remove(waiting),
        }
        for name, step in steps.items():
            step()
            service.settle()
            asker.case = f"watched, after {name}"
            asker.all_lists()
            asker.verbs(objects.pod("asks", 2), ["a", "b", "twin-node"], [added], "asks")
        service.stop()


def main():
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        for path in (*EXAMPLES, *sorted(glob.glob("tests/cases/*/*/cluster.yaml", root_dir=ROOT))):
            ask_over_file(path, out)
        ask_while_it_changes(out)


if __name__ == "__main__":
    main()
