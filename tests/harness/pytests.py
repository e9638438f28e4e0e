"""Runs a folder of pytest files and counts its tests from pytest's JUnit report."""

import concurrent.futures
import os
import xml.etree.ElementTree as ElementTree

from harness import commands


def outcome(case):
    for kind in ("failure", "error", "skipped"):
        found = case.find(kind)
        if found is not None:
            return kind, found
    return "passed", None


def record(results, step, report):
    """Returns whether any test of the report failed. A file that cannot be loaded is a failed test there."""
    passed, failed = {}, False
    for case in ElementTree.parse(report).iter("testcase"):
        kind, detail = outcome(case)
        file = (case.get("classname") or case.get("name")).rpartition(".")[2]
        name = f"{step}/{file}: {case.get('name')}"
        for found in case.iter("property"):
            results.tell(found.get("name"), found.get("value"))
        if kind == "passed":
            passed[file] = passed.get(file, 0) + 1
        elif kind == "skipped":
            results.skip(name, detail.get("message", ""))
        else:
            failed = True
            results.fail(name, detail.text or detail.get("message", ""))
    for file, tests in passed.items():
        results.ok(f"{step}/{file}", tests)
    return failed


# Compiled tests are kept, whatever the shell says.
COMPILED = {"PYTHONPYCACHEPREFIX": os.path.join(commands.ROOT, "build/pycache"), "PYTHONDONTWRITEBYTECODE": ""}


# pytest's exit status if the marks leave none of the tests in its files.
NO_TESTS = 5


def run_files(results, step, number, files, env, within, marked):
    """Returns whether there was a test to run."""
    report = os.path.join(commands.ROOT, "build", f"{step.replace('/', '-')}-{number}.xml")
    if os.path.exists(report):
        os.remove(report)
    command = ["/usr/bin/python3", "-m", "pytest", "-c", "tests/pytest.ini", "--rootdir=tests", "-q", "-m", marked, f"--junitxml={report}"]
    status, output, cpu_s = commands.run([*within, *command, *files], {**COMPILED, **(env or {})})
    results.spend(step, cpu_s)
    explained = os.path.exists(report) and record(results, step, report)
    if status not in (0, NO_TESTS) and not explained:
        results.fail(step, f"{output}\npytest {' '.join(files)}: exit status {status}")
    return status != NO_TESTS


def run(results, step, folder, wanted, env=None, processes=1, shares=None, within=(), first=(), marked=""):
    """Runs all files of the folder, or those whose names begin with one of `wanted`, or the tests FILE::TEST that are in `wanted`.

    processes: pytests at once. shares: how many the files are shared out among; without it there is one pytest per file, or one in
    all if only one runs at once. Files whose names begin with one of `first` begin first, in that order. within: a command that runs pytest's command.
    marked: only tests whose marks (tests/pytest.ini) fit this expression of pytest.
    """
    names = sorted(
        name
        for name in os.listdir(os.path.join(commands.ROOT, folder))
        if name.startswith("test_") and name.endswith(".py")
    )
    tests = [f"{folder}/{name}" for name in wanted if "::" in name]
    files = tests or [f"{folder}/{name}" for name in names if name.startswith(tuple(wanted) or "")]
    if not files:
        results.fail(
            step,
            f"no file of {folder} is called {' or '.join(wanted)}" if wanted else f"{folder} has no tests",
        )
        return
    rank = {file: i for i, name in reversed(list(enumerate(first))) for file in files if os.path.basename(file).startswith(name)}
    ordered = sorted(files, key=lambda file: rank.get(file, len(first)))
    shares = min(shares or (1 if processes == 1 else len(ordered)), len(ordered))
    groups = [ordered[i::shares] for i in range(shares)]
    with concurrent.futures.ThreadPoolExecutor(processes) as pool:
        found = list(pool.map(lambda i: run_files(results, step, i, groups[i], env, within, marked), range(len(groups))))
    if not any(found):
        results.fail(step, "none of its files has such a test")
