"""Compares a DryRunResult with a file in tests/wire/expected, and describes every difference.

The files hold one entry a manifest. All keys are optional but `because` and one of `workloads` and `skipped`:

    because:        the words of the document or the issue that justify the answer
    workloads:      in the order of the answer
      - kind, name, namespace (where left out: default)
        part:         if an object has several templates: a word of this one's path
        replicas:     how many pods
        placedOn:     the node of each replica that is placed, in order
        placedOnEach: the same for a DaemonSet, in any order
        more:         how many more would fit after that
        fits:         exactly these nodes can take the pod now, before any is placed
        reasons:      {reason: its nodes}; unnamed nodes may have any
        lacks:        {node: {resource: how much is missing}}
        messages:     words that every unfit node's message has
        messagesOf:   {node: words that its message has}
        notEvaluated: words that must be found in what was not evaluated
    skipped:        [{kind, name}], in the order of the answer
"""

import os

import yaml

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected")
ENTRY_KEYS = {"because", "workloads", "skipped"}
WORKLOAD_KEYS = {
    *("kind", "name", "namespace", "part", "replicas", "placedOn", "placedOnEach", "more", "fits", "reasons", "lacks"),
    *("messages", "messagesOf", "notEvaluated"),
}
RESULT_KEYS = {"summary", "workloads", "skipped"}
ANSWER_KEYS = {
    *("kind", "name", "namespace", "replicas", "placed", "moreReplicas", "placements", "nodes", "notEvaluated"),
}


def load(name):
    """{manifest's id: its entry}. Keys that begin with "_" only hold anchors."""
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        entries = {key: entry for key, entry in yaml.load(file, yaml.CSafeLoader).items() if not key.startswith("_")}
    for key, entry in entries.items():
        strange = set(entry) - ENTRY_KEYS | {word for item in entry.get("workloads", []) for word in set(item) - WORKLOAD_KEYS}
        assert not strange and entry.get("because"), f"{name}: {key}: no `because`, or unknown keys: {strange}"
    return entries


def differences(entry, answer, node_names):
    """Returns one line for each difference."""
    missing = RESULT_KEYS - set(answer)
    if missing:
        return [f"the answer has no {', '.join(sorted(missing))}"]
    found = []
    if not (isinstance(answer["summary"], str) and answer["summary"].strip()):
        found.append(f"summary is {answer['summary']!r}, not a sentence")
    skipped = [{"kind": item.get("kind"), "name": item.get("name")} for item in answer["skipped"]]
    found += differs("skipped", entry.get("skipped", []), skipped)
    found += [f"skipped {item}: no why" for item in answer["skipped"] if not item.get("why")]
    wanted = entry.get("workloads", [])
    if len(wanted) != len(answer["workloads"]):
        names = [f"{item.get('kind')} {item.get('name')}" for item in answer["workloads"]]
        return [*found, f"{len(wanted)} workloads expected, the answer has {len(names)}: {names}"]
    for want, have in zip(wanted, answer["workloads"]):
        where = f"{want['kind']} {want.get('name', '')} {want.get('part', '')}".strip()
        found += [f"{where}: {line}" for line in workload_differences(want, have, node_names)]
    return found


def differs(what, want, have):
    return [] if want == have else [f"{what}: expected {want}, the answer says {have}"]


def workload_differences(want, have, node_names):
    missing = ANSWER_KEYS - set(have)
    if missing:
        return [f"no {', '.join(sorted(missing))}"]
    return [
        *identity(want, have),
        *counts(want, have),
        *placements(want, have),
        *verdicts(want, have, node_names),
        *not_evaluated(want, have),
    ]


def identity(want, have):
    found = differs("kind", want["kind"], have["kind"])
    found += differs("namespace", want.get("namespace", "default"), have["namespace"])
    name, part = have["name"] or "", want.get("part")
    if part is None:
        return found + differs("name", want.get("name", ""), name)
    if not name.startswith(want["name"]) or part not in name[len(want["name"]) :]:
        found.append(f"name: expected {want['name']} with {part} in the path after it, the answer says {name!r}")
    return found


def counts(want, have):
    found = differs("replicas", want["replicas"], have["replicas"]) if "replicas" in want else []
    if "more" in want:
        found += differs("moreReplicas", want["more"], have["moreReplicas"])
    return found


def placements(want, have):
    """Every replica has a node with the best score, or a reason."""
    ordered = sorted(have["placements"], key=lambda item: item["replica"])
    placed = [item for item in ordered if item.get("node")]
    found = differs("replicas in placements", have["replicas"], len(ordered))
    found += differs("placed, against placements with a node", len(placed), have["placed"])
    best = range(10, 11) if "placedOnEach" not in want else range(11)  # a DaemonSet takes every node, not the best
    found += [f"score of replica {item['replica']}: {item['score']!r}" for item in placed if item["score"] not in best]
    found += [f"no node and no reason: {item}" for item in ordered if not item.get("node") and not item.get("reason")]
    nodes = [item["node"] for item in placed]
    if "placedOn" in want:
        found += differs("placed on", want["placedOn"], nodes)
    if "placedOnEach" in want:
        found += differs("placed on each of", sorted(want["placedOnEach"]), sorted(nodes))
    return found


def verdicts(want, have, node_names):
    nodes = {item["node"]: item for item in have["nodes"]}
    found = differs("nodes in the answer", sorted(node_names), sorted(item["node"] for item in have["nodes"]))
    for item in have["nodes"]:
        if not item["fits"] and not (item.get("reason") and item.get("message")):
            found.append(f"{item['node']} does not fit, without reason or message: {item}")
    found += messages(want, have)
    if "fits" in want:
        found += fitting(set(want["fits"]), nodes)
    for reason, names in want.get("reasons", {}).items():
        for name in names:
            found += differs(f"reason of {name}", reason, nodes.get(name, {}).get("reason"))
    for name, lacks in want.get("lacks", {}).items():
        for resource, amount in lacks.items():
            lack = (nodes.get(name, {}).get("lacks") or {}).get(resource)
            found += differs(f"{resource} that {name} lacks", str(amount), str(lack))
    return found


def messages(want, have):
    """If all nodes lack a word, only the first is reported."""
    for item in have["nodes"]:
        words = want.get("messagesOf", {}).get(item["node"], [])
        words = words if item["fits"] else [*words, *want.get("messages", [])]
        for word in words:
            if word not in str(item.get("message")):
                return [f"{item['node']}: the message should have {word!r}: {item.get('message')!r}"]
    return []


def fitting(want, nodes):
    have = {name for name, item in nodes.items() if item["fits"]}
    wrong = [f"{name} should not fit, the answer says it does" for name in sorted(have - want)]
    return wrong + [
        f"{name} should fit, the answer says {nodes.get(name, {}).get('reason')}: {nodes.get(name, {}).get('message')}"
        for name in sorted(want - have)
    ]


def not_evaluated(want, have):
    return [
        f"{word!r} should be named as not evaluated, there is only {have['notEvaluated']}"
        for word in want.get("notEvaluated", [])
        if not any(word in line for line in have["notEvaluated"])
    ]
