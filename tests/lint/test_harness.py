"""The test runner itself: what it counts as failed, and what it may skip."""

import argparse
import os
import subprocess
import sys
import threading
import types

import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import run_all  # noqa: E402
from harness import commands, corpus, pytests, results, unit  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GOOD = "[ RUN      ] a\n[       OK ] a\n"
BAD = "[ RUN      ] b\n1 != 2\n[  ERROR   ] --- here\n[  FAILED  ] b\n"
CRASHED = "[ RUN      ] c\nAddressSanitizer: heap-use-after-free\n"
SKIPPED = "[ RUN      ] d\nnot here: no trace\n[  SKIPPED ] d\n"


@pytest.fixture
def counted():
    return lambda in_ci=False: results.Results(in_ci=in_ci, show=lambda _: None)


@pytest.mark.parametrize(
    "status, output, passed, failed, skipped",
    [
        (0, GOOD, 1, [], 0),
        (0, "not cmocka\n", 1, [], 0),
        (1, GOOD + BAD, 1, ["u: b"], 0),
        (1, GOOD + CRASHED, 1, ["u: c"], 0),
        (1, GOOD, 1, ["u"], 0),
        (1, "", 0, ["u"], 0),
        (-11, "", 0, ["u"], 0),
        (0, GOOD + SKIPPED, 1, [], 1),
    ],
)
def test_unit_cases_are_counted(counted, status, output, passed, failed, skipped):
    found = counted()
    unit.record(found, "u", status, output)
    assert (found.passed, found.failed, len(found.skipped)) == (passed, failed, skipped)


def test_a_failed_case_shows_what_it_printed():
    _, texts = unit.cases(GOOD + BAD)
    assert "1 != 2" in texts["b"]


@pytest.mark.parametrize(
    "in_ci, reason, failed",
    [
        (False, "no compiler", 0),
        (False, "", 1),
        (True, "no compiler", 1),
        (True, "not here: no trace", 0),
    ],
)
def test_skips_need_a_reason(counted, in_ci, reason, failed):
    found = counted(in_ci)
    found.skip("s", reason)
    assert (len(found.failed), len(found.skipped)) == (failed, 1 - failed)


def test_no_tests_is_a_failure(counted):
    assert counted().finish() == 1


def test_the_time_of_each_step_and_of_all_is_shown():
    shown = []
    found = results.Results(show=shown.append)
    with found.timed("short"):
        pass
    found.ok("a")
    assert found.finish() == 0
    took = [line.split(": ")[1].split(",")[0] for line in shown if line.startswith("took ")]
    assert took == ["short", "all steps"]
    assert shown[-1] == "1 passed, 0 failed"


@pytest.fixture
def lanes(monkeypatch, counted):
    """lanes({lane: [step's function]}, level, names=[]) -> the Run, when all lanes have ended. The first step is of level 0, and so on."""

    def run_all_of(table, level=run_all.ALL, names=()):
        made = [run_all.Lane(lane, [(f"{lane}{i}", i, do) for i, do in enumerate(steps)]) for lane, steps in table.items()]
        monkeypatch.setattr(run_all, "LANES", made)
        run = run_all.Run(argparse.Namespace(level=level, names=list(names), kubernetes=run_all.KUBERNETES[0]))
        run.results = counted()
        run_all.run_lanes(run, made)
        return run

    return run_all_of


def test_lanes_run_beside_each_other_and_their_steps_in_turn(lanes):
    meet, seen = threading.Barrier(2, timeout=600), []

    def both(run, name, _):
        meet.wait()
        run.results.ok(name)

    def after(run, name, _):
        seen.append(list(run.results.steps))
        run.results.ok(name)

    run = lanes({"a": [both, after], "b": [both]})
    assert (run.results.passed, run.results.failed) == (3, [])
    assert "a0" in [name for name, _ in seen[0]]
    assert {name for name, _ in run.results.steps} == {"a0", "a1", "b0"}


def test_a_fault_of_the_runner_fails_its_step_and_no_other(lanes):
    def breaks(run, name, _):
        raise KeyError(name)

    def passes(run, name, _):
        run.results.ok(name)

    run = lanes({"a": [breaks, passes], "b": [passes, passes]})
    assert (run.results.passed, run.results.failed) == (3, ["a0"])


@pytest.mark.parametrize(
    "chosen, expected",
    [
        ({}, ["a0", "a1", "a2", "b0"]),
        ({"level": run_all.QUICK}, ["a0", "b0"]),
        ({"level": run_all.DEFAULT}, ["a0", "a1", "b0"]),
        ({"names": ["a3"], "level": run_all.DEFAULT}, ["a3"]),
        ({"names": ["b0/part"]}, ["b0"]),
    ],
)
def test_steps_are_chosen_in_every_lane(lanes, chosen, expected):
    ran = []
    lanes({"a": [lambda _, name, __: ran.append(name)] * 4, "b": [lambda _, name, __: ran.append(name)]}, **chosen)
    assert sorted(ran) == expected


def test_quick_says_that_it_has_nothing_of_a_name(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["test", "--quick", "hostile"])
    assert run_all.main() == 2
    assert capsys.readouterr().err == "--quick has nothing of hostile\n"


def test_a_test_that_hangs_fails_and_shows_where_and_the_next_one_runs(tmp_path):
    (tmp_path / "test_a.py").write_text("""import pytest, threading
@pytest.mark.timeout(0.1)
def test_hangs(): threading.Event().wait(600)
def test_passes(): pass
""")
    command = [sys.executable, "-m", "pytest", "-c", os.path.join(ROOT, "tests/pytest.ini"), f"--rootdir={tmp_path}", str(tmp_path)]
    said = subprocess.run(command, check=False, capture_output=True, text=True).stdout
    assert "1 failed, 1 passed" in said and "def test_hangs(): threading.Event().wait(600)" in said


def test_processor_time_is_counted_and_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "TIMES", str(tmp_path / "build/times.json"))
    assert results.last_times() == {}
    found = results.Results(show=lambda _: None)
    with found.timed("wire"):
        done = commands.run([sys.executable, "-c", "import os\nwhile os.times().user < 0.3: pass\nprint('out')"])
    assert done[:2] == (0, "out\n") and done.cpu_s >= 0.3
    found.spend("wire/test_a", done.cpu_s)
    found.spend("wires", 100)
    found.keep_times()
    assert results.last_times()["wire"] == [found.steps[0][1], done.cpu_s]


def test_what_hangs_is_ended_and_said():
    status, output, _ = commands.run([sys.executable, "-c", "import time; print('begun', flush=True); time.sleep(600)"], timeout_s=30)
    assert status == 124 and output.startswith("begun\n") and "ended after 30 s" in output
    assert commands.run(["/no/such/program"]).status == 127


def test_failed_tests_come_last_with_their_output_and_how_to_run_them():
    shown = []
    found = results.Results(show=shown.append)
    found.fail("wire/test_a: test_b[1]", "why")
    found.ok("late")
    assert found.finish() == 1
    end = shown[shown.index("\nfailed: wire/test_a: test_b[1]; alone: scripts/test wire/test_a") :]
    assert end[1:] == ["    | why", "1 passed, 1 failed"]


def test_every_fuzz_target_has_a_corpus():
    folder = os.path.join(ROOT, "tests/fuzz")
    targets = {name[len("fuzz_") : -2] for name in os.listdir(folder) if name.startswith("fuzz_") and name.endswith(".c")}
    assert set(corpus.names([])) == targets and corpus.names(["pod"]) == ["pod"]


def test_the_smoke_tests_exist():
    for test in run_all.SMOKE:
        file, _, name = test.partition("::")
        with open(os.path.join(ROOT, "tests/control-plane", file), encoding="utf-8") as text:
            assert f"\ndef {name}(" in text.read(), test


def test_the_smoke_tests_are_never_skipped(monkeypatch):
    found = results.Results(in_ci=True, show=lambda _: None)
    monkeypatch.setattr(commands, "run", lambda *_: commands.Done(commands.SKIPPED, "not here: no Go", 0))
    run_all.smoke_tests(types.SimpleNamespace(results=found, control_plane={}), "smoke", [])
    assert found.failed == ["smoke"]


def test_the_table_of_lanes():
    """scripts/image writes build/image and build/release, so no two steps may run it at once."""
    assert len(set(run_all.names())) == len(run_all.names())
    homes = {step: lane.name for lane in run_all.LANES for step, _, _ in lane.steps}
    assert homes["image"] == homes["in-cluster"]
    assert all(os.path.exists(os.path.join(ROOT, "tests/wire", f"{name}.py")) for name in run_all.QUICK_WIRE + run_all.WIRE_FIRST)


def test_pytest_reports_are_counted(counted, tmp_path):
    report = tmp_path / "r.xml"
    report.write_text(
        "<testsuites><testsuite>"
        '<testcase classname="wire.test_a" name="one"/>'
        '<testcase classname="wire.test_a" name="two"><failure message="m">text</failure></testcase>'
        '<testcase classname="wire.test_a" name="three"><error message="m">text</error></testcase>'
        '<testcase classname="wire.test_a" name="four"><skipped message="not here: x"/></testcase>'
        "</testsuite></testsuites>",
        encoding="utf-8",
    )
    found = counted()
    pytests.record(found, "wire", str(report))
    assert found.passed == 1 and found.failed == ["wire/test_a: two", "wire/test_a: three"]
    assert found.skipped == [("wire/test_a: four", "not here: x")]


def test_single_tests_may_be_wanted(counted, tmp_path, monkeypatch):
    monkeypatch.setattr(pytests.commands, "ROOT", str(tmp_path))
    for folder in ("build", "tests/some"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "tests/pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n", encoding="utf-8")
    (tmp_path / "tests/some/test_a.py").write_text("def test_it():\n    pass\n\n\ndef test_other():\n    assert False\n", encoding="utf-8")
    found = counted()
    pytests.run(found, "some", "tests/some", ["test_a.py::test_it"])
    assert (found.passed, found.failed) == (1, [])


@pytest.mark.parametrize("processes, shares, reports", [(1, None, 1), (2, None, 3), (9, None, 3), (2, 2, 2), (2, 9, 3)])
def test_files_are_shared_out_and_all_counted(processes, shares, reports, counted, tmp_path, monkeypatch):
    monkeypatch.setattr(pytests.commands, "ROOT", str(tmp_path))
    for folder in ("build", "tests/some"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "tests/pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n", encoding="utf-8")
    for name in "abc":
        (tmp_path / f"tests/some/test_{name}.py").write_text(f"def test_it():\n    assert '{name}' != 'b'\n", encoding="utf-8")
    found = counted()
    pytests.run(found, "some", "tests/some", [], processes=processes, shares=shares, first=("test_c",))
    assert (found.passed, found.failed) == (2, ["some/test_b: test_it"])
    assert len(list((tmp_path / "build").iterdir())) == reports


def test_recorded_properties_are_shown(tmp_path):
    report = tmp_path / "r.xml"
    report.write_text(
        '<testsuite><testcase classname="a.b" name="c"><properties><property name="took" value="3 s"/></properties></testcase></testsuite>',
        encoding="utf-8",
    )
    shown = []
    pytests.record(results.Results(show=shown.append), "wire", str(report))
    assert [line.strip() for line in shown if "took" in line] == ["took: 3 s"]


def test_files_may_run_within_a_wrapper_command(counted, tmp_path, monkeypatch):
    monkeypatch.setattr(pytests.commands, "ROOT", str(tmp_path))
    (tmp_path / "tests/some").mkdir(parents=True)
    (tmp_path / "tests/pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (tmp_path / "tests/some/test_a.py").write_text("import os\n\ndef test_it():\n    assert os.environ['INSIDE']\n", encoding="utf-8")
    found = counted()
    pytests.run(found, "some", "tests/some", [], within=["env", "INSIDE=1"])
    assert (found.passed, found.failed) == (1, [])
    found = counted()
    pytests.run(found, "some", "tests/some", [], within=["false"])
    assert (found.passed, found.failed) == (0, ["some"])


def test_listing_installs_nothing(tmp_path):
    """Listing does not even look for what is installed."""
    trace = tmp_path / "trace"
    for tool in ("dpkg-query", "apt-get", "sudo", "pip"):
        stub = tmp_path / tool
        stub.write_text(f"#!/bin/sh\necho {tool} >> {trace}\nexit 1\n", encoding="utf-8")
        stub.chmod(0o700)
    listed = subprocess.run(
        [os.path.join(ROOT, "scripts/test"), "--list"],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (listed.returncode, listed.stderr) == (0, "")
    assert {line.split()[0] for line in listed.stdout.splitlines()} == set(run_all.names())
    assert not trace.exists(), trace.read_text(encoding="utf-8")


def test_listing_ends_quietly_when_nobody_reads():
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        listed = subprocess.run([os.path.join(ROOT, "scripts/test"), "--list"], stdout=closed, stderr=subprocess.PIPE, text=True, check=False)
    assert listed.stderr == ""
