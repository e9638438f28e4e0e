"""README.md and what lies in docs/ say what is so.

Every `console` block of the README is run, and its output compared ("..." stands for any lines). Of `sh` blocks, which install or
need a cluster, the scripts, files and options must exist. The tables of docs/MODELS.md are asked of the service, row by row.
docs/KUBE-SCHEDULER.md has tests of its own (test_docs_scheduler.py).
"""

import json
import os
import re
import subprocess

import openapi
import pytest
from service import BINARY, ENV, ROOT, run_to_end

LINKED = re.compile(r"\]\(([^)#]+)\)")
PATH = re.compile(r"(?<![\w/])(?:examples|config|docs|include|manifests|tests|src|scripts)/[\w./-]*\w")
PLACEHOLDER = re.compile(r"/FOLDER|NAME")
ADDRESS = "127.0.0.1:8888"
RELEASE = "build/release/gpu-extender"


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


README = read("README.md")
MODELS = read("docs/MODELS.md")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def commands():
    """[(command, the output that follows it)] of all console blocks."""
    found = []
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


def pattern_of(output):
    """Literally the output, but a line of three dots is any number of lines."""
    return "".join("(?:.*\n)*" if line == "...\n" else re.escape(line) for line in output.splitlines(keepends=True))


@pytest.mark.parametrize("command, output", commands(), ids=[command[:60] for command, _ in commands()])
def test_command(service, command, output):
    here = command.replace(ADDRESS, service.address).replace(RELEASE, BINARY)
    done = subprocess.run(
        ["bash", "-c", here],
        cwd=ROOT,
        env={**os.environ, **ENV},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    said = done.stdout if done.stdout.endswith("\n") or not done.stdout else done.stdout + "\n"
    assert re.fullmatch(pattern_of(output), said), f"$ {command}\nsays now:\n{said}"


def test_there_are_commands():
    assert len(commands()) > 5 and len(blocks("sh")) == 4


@pytest.mark.parametrize("line", [line for block in blocks("sh") for line in block.splitlines() if line.startswith("./")])
def test_scripts_and_options_exist(line):
    words = line.split()
    assert os.access(os.path.join(ROOT, words[0]), os.X_OK)
    for option in words[1:]:
        assert not option.startswith("--") or option in read(words[0])


def test_options_named_in_the_text_exist():
    help_text = run_to_end("--help").stdout + read("scripts/run") + read("tests/run_all.py")
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", README)) - {"--data-binary", "--server-side"}
    assert {option for option in named if option not in help_text} == set()


def test_every_route_is_in_the_table_and_no_other():
    rows = re.findall(r"^\| `(GET|POST)` \| ([^|]+) \|", README, re.MULTILINE)
    told = {(method, path) for method, cell in rows for path in re.findall(r"`([^`]+)`", cell)}
    paths = openapi.load()["paths"]
    there = {(method.upper(), re.sub(r"\{(\w+)\}", lambda name: name[1].upper(), path)) for path in paths for method in paths[path]}
    assert told == there


def test_every_route_is_in_the_policy_files_manual():
    """It says which address serves what."""
    manual = read("config/scheduler-policy.yaml")
    paths = [re.sub(r"\{(\w+)\}", lambda name: name[1].upper(), path) for path in openapi.load()["paths"]]
    assert [path for path in paths if not re.search(rf"{re.escape(path)}[,;.\n]", manual)] == []


DOCUMENTS = ["README.md", "docs/ARCHITECTURE.md", "docs/BENCHMARKS.md", "docs/KUBE-SCHEDULER.md", "docs/MODELS.md"]
DOCUMENTS += ["docs/PLACEMENT.md", "docs/PREEMPTION.md", "docs/QUOTA.md", "docs/MISTAKES.md"]
DOCUMENTS += ["CONTRIBUTING.md", "docs/DECISIONS.md", "docs/LEDGER.md"]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_files_named_exist(document):
    text, folder = read(document), os.path.dirname(document)
    links = {os.path.join(folder, link) for link in LINKED.findall(text) if "://" not in link}
    named = {path for path in PATH.findall(text) if not path.startswith("docs/concepts") and not PLACEHOLDER.search(path)}
    assert {path for path in links | named if not os.path.exists(os.path.join(ROOT, path))} == set()


# docs/MODELS.md


def table(*headings):
    """The rows of the table with these headings; without the backquotes."""
    lines = [[cell.strip().strip("`") for cell in line.strip().strip("|").split("|")] for line in MODELS.split("\n")]
    begin = lines.index(list(headings)) + 2
    end = next(number for number in range(begin, len(lines)) if len(lines[number]) != len(headings))
    return lines[begin:end]


READINGS = table("name on the node", "model in the inventory")
MATCHES = table("on the node", "it reports", "the pod asks for", "")


def node(name, model, memory=""):
    labels = {"nvidia.com/gpu.product": model, **({"nvidia.com/gpu.memory": memory} if memory else {})}
    amounts = {"nvidia.com/gpu": "1", "pods": "10", "cpu": "1", "memory": "1Gi"}
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, "status": {"allocatable": amounts, "capacity": amounts}}


def pod(models):
    return {
        "kind": "Pod",
        "metadata": {"name": "asks", "annotations": {"gpu-extender.io/models": models, "gpu-extender.io/allow-shared": "true"}},
        "spec": {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": 1}}}]},
    }


@pytest.fixture
def models_service(start_service, tmp_path):
    """One node for each row of both tables: reading-N and match-N."""
    nodes = [node(f"reading-{number}", row[0]) for number, row in enumerate(READINGS)]
    nodes += [node(f"match-{number}", row[0], row[1]) for number, row in enumerate(MATCHES)]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"kind": "List", "items": nodes}), encoding="utf-8")
    return start_service("--cluster-file", path)


def test_names_are_read_as_the_table_says(models_service):
    models = {item["name"]: item["model"] for item in models_service.get("/v1/inventory").json()["nodes"]}
    assert [[row[0], models[f"reading-{number}"]] for number, row in enumerate(READINGS)] == READINGS


def test_models_match_as_the_table_says(models_service):
    found = []
    for number, row in enumerate(MATCHES):
        workload = models_service.post("/v1/dry-run", pod(row[2])).json()["workloads"][0]
        verdict = next(item for item in workload["nodes"] if item["node"] == f"match-{number}")
        assert verdict["reason"] in ("fits", "model_not_wanted")
        found.append([*row[:3], "yes" if verdict["fits"] else "no"])
    assert found == MATCHES
