"""Runs cmocka executables and counts their test cases.

A case that began but did not end well has failed, whatever else is printed: a crash counts as one. An executable fails once more if
its status is not 0 although all cases passed (a leak, a sanitizer's report).
"""

import concurrent.futures
import json
import os
import re
import subprocess

from harness import commands

LINE = re.compile(r"^\[ *(RUN|OK|SKIPPED) *\] (\S.*)$")
ENV = {
    "CMOCKA_MESSAGE_OUTPUT": "STDOUT",
    "ASAN_OPTIONS": "handle_sigill=1:detect_stack_use_after_return=1:strict_string_checks=1",
    "TSAN_OPTIONS": "halt_on_error=1",
}


def executables(build):
    """Maps folder/test to meson's record for every unit test of a configured build."""
    listed = subprocess.run(
        ["meson", "introspect", "--tests", build],
        cwd=commands.ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return {
        os.path.basename(os.path.dirname(test["cmd"][0])) + "/" + test["name"]: test
        for test in json.loads(listed.stdout)
    }


def is_long(test):
    return test["priority"] > 0


def chosen(tests, wanted):
    """Tests whose folder/test, or test alone, begins with one of `wanted`; all if `wanted` is empty."""
    beginnings = tuple(wanted) or ""
    return {
        name: test
        for name, test in sorted(tests.items())
        if name.startswith(beginnings) or name.split("/")[1].startswith(beginnings)
    }


def cases(output):
    """Maps each case to "OK", "SKIPPED" or "RUN" (it did not end well), and to its output."""
    states, texts, current = {}, {}, None
    for line in output.split("\n"):
        match = LINE.match(line)
        if match and (match.group(1) == "RUN" or match.group(2) in states):
            current = match.group(2)
            states[current] = match.group(1)
        if current:
            texts.setdefault(current, []).append(line)
    return states, {name: "\n".join(lines) for name, lines in texts.items()}


def skip_reason(text):
    """The last line that a case printed before its skip."""
    lines = [line.strip() for line in text.split("\n") if line.strip() and not line.startswith("[")]
    return lines[-1] if lines else ""


def record(results, name, status, output):
    states, texts = cases(output)
    passed = sum(state == "OK" for state in states.values())
    failed = [case for case, state in states.items() if state == "RUN"]
    if not states and status == 0:
        results.ok(name)  # not cmocka: the executable is the test
    if passed:
        results.ok(name, passed)
    for case, state in states.items():
        if state == "SKIPPED":
            results.skip(f"{name}: {case}", skip_reason(texts[case]))
    for case in failed:
        results.fail(f"{name}: {case}", texts[case])
    if status != 0 and not failed:
        results.fail(name, f"{output}\nexit status {status}")


def run_one(test, env):
    return commands.run(test["cmd"], {**ENV, **test["env"], **env}, folder=test["workdir"])


def run(results, step, build, wanted, env, keep=lambda test: True):
    tests = {name: test for name, test in chosen(executables(build), wanted).items() if keep(test)}
    if not tests:
        results.fail(
            step, f"no unit test is called {' or '.join(wanted)}" if wanted else "there are no unit tests"
        )
    # Twice as many as cores, as some tests wait.
    with concurrent.futures.ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        # Tests that meson marks as long start first.
        first = sorted(tests, key=lambda name: not is_long(tests[name]))
        runs = {name: pool.submit(run_one, tests[name], env) for name in first}
        for name in tests:
            status, output, cpu_s = runs[name].result()
            results.spend(f"{step}/{name}", cpu_s)
            record(results, f"{step}/{name}", status, output)
