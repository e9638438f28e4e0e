"""Checks README.md and docs/ against the program.

The marked commands of README.md and docs/API.md are run, and their output compared ("..." stands for any lines). Of the scripts
that other blocks of the README call, the options must exist. The marked tables of docs/MODELS.md are asked of the service, row by row.
docs/KUBE-SCHEDULER.md has tests of its own (test_docs_scheduler.py). Each policy that a document shows is checked by the program.
"""

import glob
import json
import os
import re
import subprocess

import marked
import openapi
import pytest
import yaml
from certificates import Authority, mount
from service import BINARY, ENV, LIMIT_S, ROOT, read, run_to_end

ADDRESS = "127.0.0.1:8888"
OF_RUN = "build/run"


README = read("README.md")
COMMANDS = marked.commands("README.md", "commands") + marked.commands("docs/API.md", "commands")
CALLS = re.findall(r"^\./scripts/.*$", README, re.MULTILINE)


@pytest.mark.parametrize("command, output", COMMANDS, ids=[command[:60] for command, _ in COMMANDS])
def test_command(service, command, output):
    here = command.replace(ADDRESS, service.address).replace(OF_RUN, os.path.dirname(BINARY))
    done = subprocess.run(
        ["bash", "-c", here],
        cwd=ROOT,
        env={**os.environ, **ENV},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    said = done.stdout if done.stdout.endswith("\n") or not done.stdout else done.stdout + "\n"
    assert re.fullmatch(marked.pattern_of(output), said), f"$ {command}\nsays now:\n{said}"


def shape_of(text):
    """The parts that a translation keeps: levels of headings, code blocks, numbers, file names and links."""
    blocks = re.findall(r"^```.*?^```$", text, re.MULTILINE | re.DOTALL)
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return {
        "headings": [len(level) for level in re.findall(r"^(#+) ", prose, re.MULTILINE)],
        "blocks": blocks,
        "rows": len(re.findall(r"^\|", prose, re.MULTILINE)),
        "points": len(re.findall(r"^\* ", prose, re.MULTILINE)),
        "numbers": sorted(re.findall(r"\d[\d.,]*\d|\d", re.sub(r"\]\([^)]*\)", "", prose))),
        "code": sorted(re.findall(r"`[^`\n]+`", prose)),
        "links": sorted({link.removeprefix("README.md") for link in re.findall(r"\]\(([^)]*)\)", prose)} - {"README.zh-CN.md", ""}),
    }


def test_translation_is_in_step():
    """README.zh-CN.md has the first sections of the README."""
    first, _, _ = README.partition("\n## What it does not do\n")
    marks = re.compile(r"^<!-- test: .*\n", re.MULTILINE)
    assert shape_of(read("README.zh-CN.md").partition("\n[kube-scheduler extender]:")[0]) == shape_of(marks.sub("", first))


def test_what_stays_while_it_is_down_stands_once():
    texts = [read("docs", path) for path in os.listdir(os.path.join(ROOT, "docs")) if path.endswith(".md")] + [README]
    assert sum(" ".join(text.split()).lower().count("running pods are unaffected") for text in texts) == 1


def test_blocks_to_paste_have_no_placeholders():
    """INSTALL's "Ask it" and the block of RUNBOOKS that it leads to: the second uses what the first makes."""
    made, used = marked.block("docs/INSTALL.md", "viewer"), marked.block("docs/RUNBOOKS.md", "prepare")
    assert "create serviceaccount gpu-viewer" in made and "create token gpu-viewer" in used
    assert not re.search(r"\b(NAMESPACE|ACCOUNT|NAME|POD)\b", made + used)


def test_pages_for_users_are_few_and_begin_with_the_answer():
    pages = {path: read("docs", path) for path in os.listdir(os.path.join(ROOT, "docs")) if path.endswith(".md")}
    assert len(pages) <= 12 and README.count("\n") <= 200
    assert [path for path, text in pages.items() if not re.match(r"# .*\n\n\*\*", text)] == []


@pytest.mark.parametrize("line", CALLS)
def test_scripts_and_options_exist(line):
    words = line.split()
    assert os.access(os.path.join(ROOT, words[0]), os.X_OK)
    for option in words[1:]:
        assert not option.startswith("--") or option in read(words[0])


def test_options_named_in_the_text_exist():
    help_text = run_to_end("--help").stdout + read("scripts/run") + read("tests/run_all.py")
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", README)) - {"--data-binary", "--server-side"}
    assert {option for option in named if option not in help_text} == set()


def test_table_lists_exactly_the_routes():
    rows = re.findall(r"^\| `(GET|POST)` \| ([^|]+) \|", read("docs/API.md"), re.MULTILINE)
    told = {(method, path) for method, cell in rows for path in re.findall(r"`([^`]+)`", cell)}
    paths = openapi.load()["paths"]
    there = {(method.upper(), re.sub(r"\{(\w+)\}", lambda name: name[1].upper(), path)) for path in paths for method in paths[path]}
    assert told == there


def test_every_route_is_in_the_manual_of_the_policy_file():
    """The comment in the policy file lists the routes of each address."""
    manual = read("config/scheduler-policy.yaml")
    paths = [re.sub(r"\{(\w+)\}", lambda name: name[1].upper(), path) for path in openapi.load()["paths"]]
    assert [path for path in paths if not re.search(rf"{re.escape(path)}[,;.\n]", manual)] == []


@pytest.mark.parametrize("namespace, status", [("ml-training", 0), ("ml-trainig", 1)])
def test_a_warning_about_a_quota_can_fail_a_job(tmp_path, namespace, status):
    (tmp_path / "quota.yaml").write_text(read("examples/policy-quotas.yaml").replace("ml-training", namespace))
    block = marked.block("docs/QUOTA.md", "strict").replace(OF_RUN, os.path.dirname(BINARY)).replace("FILE", "quota.yaml")
    here = block.replace("cluster.yaml", os.path.join(ROOT, "examples/sample-cluster.yaml"))
    done = subprocess.run(["bash", "-ec", here], cwd=tmp_path, env={**os.environ, **ENV}, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert (done.returncode, "no namespace" in done.stdout) == (status, status == 1), done


# A block of YAML that no other test reads.
UNMARKED = re.compile(r"(?<!-->\n)^( *)```yaml\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


def policies():
    """The blocks of all documents that are policies: of that kind, or of none and with a key of the policy."""
    keys = set(yaml.safe_load(read("config/scheduler-policy.yaml"))) - {"apiVersion", "kind"}
    for path in sorted(path for where in ("*.md", "docs/**/*.md", "examples/**/*.md") for path in glob.glob(where, root_dir=ROOT, recursive=True)):
        for indent, text in UNMARKED.findall(read(path)):
            block = re.sub(f"^{indent}", "", text, flags=re.MULTILINE)
            value = yaml.safe_load(block)
            if isinstance(value, dict) and value.get("kind", "SchedulerPolicy") == "SchedulerPolicy" and keys & set(value):
                yield pytest.param(block, id=f"{os.path.basename(path)}:{'+'.join(sorted(keys & set(value)))}")


@pytest.mark.parametrize("block", list(policies()))
def test_policies_of_the_documents_are_accepted(tmp_path, block):
    authority = Authority(tmp_path / "authority")
    tls = mount(tmp_path / "tls", authority, *authority.server())
    path = tmp_path / "policy.yaml"
    path.write_text(block.replace("/etc/gpu-extender/tls", str(tls)), encoding="utf-8")
    done = run_to_end("--config", path, "--check")
    assert done.returncode == 0, done.stderr


# docs/MODELS.md


def unquoted(rows):
    return [[cell.strip("`") for cell in row] for row in rows]


READINGS = unquoted(marked.table("docs/MODELS.md", "names"))
MATCHES = unquoted(marked.table("docs/MODELS.md", "matches"))


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


def test_names_are_parsed_as_in_the_table(models_service):
    models = {item["name"]: item["model"] for item in models_service.get("/v1/inventory").json()["nodes"]}
    assert [[row[0], models[f"reading-{number}"]] for number, row in enumerate(READINGS)] == READINGS


def test_models_match_as_in_the_table(models_service):
    found = []
    for number, row in enumerate(MATCHES):
        workload = models_service.post("/v1/dry-run", pod(row[2])).json()["workloads"][0]
        verdict = next(item for item in workload["nodes"] if item["node"] == f"match-{number}")
        assert verdict["reason"] in ("fits", "model_not_wanted")
        found.append([*row[:3], "yes" if verdict["fits"] else "no"])
    assert found == MATCHES
