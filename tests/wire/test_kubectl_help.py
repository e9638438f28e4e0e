"""kubectl gpu: help of each verb, whose example runs over the sample cluster, the manual page, and versions."""

import json
import os
import re

import pytest
from kubectl_gpu import FILE, Kubectl, Ui, answering, complaint, gpu, said
from service import ROOT, read

TABLE = read("src/kubectl/verb_table.c")
VERBS = re.findall(r'^    \[VERB_\w+\] = \{"([a-z-]+)"', TABLE, re.MULTILINE)
OPTIONS = re.findall(r'^    \{"([a-z-]+)", (?:"|NULL)', TABLE, re.MULTILINE)
PAGE = read("man/kubectl-gpu.1").replace("\\-", "-")


def test_help_has_all_verbs_and_options():
    shown = said("--help")
    assert shown == said("help") == said("-h") and len(VERBS) == 16 and len(OPTIONS) == 36
    assert VERBS == re.findall(r"^  ([a-z-]+) ", shown.partition("Where to ask")[0], re.MULTILINE)
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert set(re.findall(r"--[a-z-]+", shown)) <= {f"--{name}" for name in OPTIONS}


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb(verb):
    shown = said("help", verb)
    assert shown == said(verb, "--help") == said("--help", verb) and shown.startswith(f"Usage: kubectl gpu {verb} ")
    assert all(len(line) <= 80 for line in shown.splitlines())
    taken = re.findall(r"^  (?:-\w, )?--([a-z-]+)", shown, re.MULTILINE)
    for name in taken:
        assert f"--{name}: is not for" not in gpu(verb, f"--{name}", "x", "--cluster-file", "none").stderr
    assert "--drain" in shown if verb == "what-if" else "--drain" not in shown


# What they hold is in their names.
OBJECTS = {"NODE", "NODES", "NAMESPACE", "POD", "CLAIM", "QUOTA", "PROBLEM", "NAME", "WHAT", "REPORTED"}
TABLES = [
    ("nodes",),
    ("nodes", "-o", "wide"),
    ("fit", "-f", os.path.join(ROOT, "examples/workloads/statefulset.yaml")),
    ("pending",),
    ("quota", "--config", os.path.join(ROOT, "examples/policy-quotas.yaml"), "-o", "wide"),
    ("why", "big-train-0"),
    ("why", "big-train-0", "-o", "wide"),
    ("pods", "-o", "wide"),
    ("frag", "-o", "wide"),
    ("claims", "--cluster-file", os.path.join(ROOT, "examples/dra-cluster.yaml")),
    ("what-if", "--drain", "v100-1,k80-1", "--add-nodes", "h100-1=2", "-o", "wide"),
    ("node-groups", "-o", "wide"),
]


@pytest.mark.parametrize("words", TABLES, ids="-".join)
def test_help_has_each_column(words):
    where = () if words[0] == "claims" else FILE
    lines = gpu(*words, *where).stdout.splitlines()
    shown = {name for line in lines if re.fullmatch(r"[A-Z]+( ?[A-Z,0-9]+)*(  +[A-Z]+( ?[A-Z(),0-9]+)*)+", line) for name in re.split(r"  +", line)}
    helped = said("help", words[0]).partition("\nColumns:\n")[2].partition("\n\n")[0]
    known = {name for line in helped.splitlines() for name in re.split(r", (?!EACH)", line[2:].split("  ")[0])}
    assert shown and shown - OBJECTS - known == set()


@pytest.mark.parametrize("verb", ["nodes", "fit", "pending", "quota", "groups", "why", "pods", "frag", "claims", "decisions", "doctor", "what-if", "node-groups"])
def test_help_has_columns(verb):
    assert "\nColumns:\n" in said("help", verb)


@pytest.mark.parametrize("verb", VERBS)
def test_the_example_of_a_verb(service, verb):
    (example,) = re.findall(r"^Example:\n  kubectl gpu (.*)\n", said("help", verb), re.MULTILINE)
    words = [os.path.join(ROOT, word) if word.startswith("examples/") else word for word in example.split()]
    url = f"http://{service.address}"
    assert words[0] == verb
    if verb == "ui":
        Ui(*words[1:], "--url", url).stop()
    else:
        assert said(*words, "--url", url) or verb in ("claims", "decisions", "quota")


def test_the_manual_page_has_all_verbs_and_options():
    assert [name for name in OPTIONS if f"--{name}" not in PAGE and name not in ("help", "version")] == []
    assert [verb for verb in VERBS if not re.search(rf'^\.[A-Z]+ "?{verb}\b', PAGE, re.MULTILINE)] == []
    helps = re.findall(r"^  (?=[a-z]).{12}.{17}(.*)$", said("--help").partition("Where to ask")[0], re.MULTILINE)
    assert len(helps) == len(VERBS) and [text for text in helps if text.lower() not in PAGE.replace("\n", " ").lower()] == []


# ---- versions ----


def test_versions(service, tmp_path):
    (ours,) = re.findall("kubectl-gpu (.*)\n", said("--version"))
    url = ("--url", f"http://{service.address}")
    assert said("version", *url) == f"kubectl-gpu   {ours}\ngpu-extender  {ours}\n"
    assert json.loads(said("version", *url, "-o", "json")) == {"client": ours, "service": ours}
    assert said("version", *FILE) == f"kubectl-gpu   {ours}\n"
    kubectl = Kubectl(tmp_path)
    kubectl.answer('{"values": {}, "version": "7"}')
    assert json.loads(said("version", "-o", "json", env=kubectl.env)) == {"client": ours, "service": "7"}
    with answering(b'{"values": {}}') as there:
        assert said("version", "--url", there).endswith("gpu-extender  unknown\n"), "before it had this member"


def test_a_service_that_does_not_answer_has_no_version():
    done = gpu("version", "--url", "http://127.0.0.1:1")
    assert done.returncode == 3 and done.stdout.startswith("kubectl-gpu ") and done.stdout.count("\n") == 1 and "127.0.0.1:1" in done.stderr
    assert complaint("version", "x", status=2)
