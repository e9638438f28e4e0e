"""The schema of the chart's values rejects what the reader of the policy rejects: unknown keys at every depth, and values of another type.

Helm itself is tried by tests/control-plane/test_helm.py.
"""

import copy
import json

import jsonschema
import yaml
from service import read, run_to_end
from test_docs import policies

SCHEMA = json.loads(read("charts/gpu-extender/values.schema.json"))
JUDGE = jsonschema.Draft7Validator(SCHEMA)
AMOUNT = {"limit": 4, "borrow": {"limit": 8, "maxPriority": 0}}
SELECTOR = {"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}
CLIENTS = {"names": ["a"], "organizations": ["b"]}
# What the reference shows empty.
FILLED = {
    "mode": "observe",
    "enforceNamespaces": SELECTOR,
    "models": {"aliases": {"GIANT": "H100"}, "units": [{"resource": "a.com/gpu", "label": "a.com/l", "says": "memory", "unit": "Mi"}]},
    "topology": {"levels": ["a.com/rack"]},
    "quotas": [
        {"name": "a", "namespaces": ["a"], "limits": [{"resource": "nvidia.com/gpu", "total": 9, "models": {"H100": AMOUNT}}]},
        {"name": "b", "namespaceSelector": SELECTOR, "limits": [{"total": AMOUNT}]},
    ],
}


def reference():
    """Every key of the policy, each with a value."""
    whole = yaml.safe_load(read("config/scheduler-policy.yaml"))
    for key, value in FILLED.items():
        whole[key] = {**whole[key], **value} if isinstance(whole[key], dict) else value
    whole["tls"].update(verbClients=CLIENTS, peopleClients=CLIENTS)
    return whole


WHOLE = reference()


def accepts(policy):
    return JUDGE.is_valid({"policy": policy})


def places(value, path=()):
    """The path of every key and item below."""
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in below:
        yield (*path, key)
        yield from places(item, (*path, key))


def changed(path, change):
    """A copy of the section in which change(container, key) was called for the path."""
    section = {path[0]: copy.deepcopy(WHOLE[path[0]])}
    at = section
    for key in path[:-1]:
        at = at[key]
    change(at, path[-1])
    return section


# Keys that the user chooses: names of drivers, labels, models and aliases.
FREE = ("deviceDrivers", "matchLabels", "aliases", "models")


def is_named(path):
    """Whether the key at the end is one of the reader's, and no place in a list."""
    chosen = path[-2:-1] and path[-2] in FREE and path[:-1] != ("models",)
    return isinstance(path[-1], str) and not chosen


def test_what_the_reader_accepts_is_accepted(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text(yaml.safe_dump({**{key: WHOLE[key] for key in ("apiVersion", "kind")}, **FILLED}), encoding="utf-8")
    done = run_to_end("--config", path, "--check")
    assert done.returncode == 0, done.stderr
    printed = yaml.safe_load(run_to_end("--config", path, "--print-policy").stdout)
    assert list(JUDGE.iter_errors({"policy": {key: value for key, value in printed.items() if value is not None}})) == []
    assert list(JUDGE.iter_errors({"policy": WHOLE})) == []
    for block in policies():
        assert accepts(yaml.safe_load(block.values[0]))


def test_schema_has_no_key_that_the_policy_lacks():
    """The sections; what is in lists and mappings of rows is compared the other way round, by the next test."""
    known = SCHEMA["properties"]["policy"]["properties"]
    assert set(known) == set(WHOLE)
    for section, below in known.items():
        if "properties" in below:
            assert set(below["properties"]) == set(WHOLE[section]), section


def test_a_misspelt_key_is_rejected_at_every_depth():
    def misspell(container, key):
        container[key + "x"] = container.pop(key)

    tried = [path for path in places(WHOLE) if is_named(path)]
    assert len(tried) >= 150
    assert [path for path in tried if accepts(changed(path, misspell))] == []


def test_a_value_of_another_type_is_rejected_at_every_depth():
    def retype(container, key):
        container[key] = {"a": {"b": [1]}}

    assert [path for path in places(WHOLE) if accepts(changed(path, retype))] == []
