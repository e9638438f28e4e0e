"""Builds and runs all tests of this tree; scripts/test calls it after installing what it needs.

The table LANES below is the whole order of events: lanes run beside each other, the steps of a lane one after another. The last line
is "N passed, N failed"; the exit status is 0 when nothing failed.
"""

import argparse
import collections
import os
import shutil
import signal
import sys
import threading
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from harness import commands, fuzz, pytests, results, unit  # noqa: E402

PYTHON = "/usr/bin/python3"
LIZARDS_PYTHON = ".cache/venv/bin/python"
# Seeds; the long form is in CONTRIBUTING.md.
SIMULATED, QUICK_SIMULATED = "1..400", "1..40"
REPLAYED = "17"
# These run in several threads, so ThreadSanitizer tests them, too.
THREADED = ("base/", "http/", "auth/", "inventory/", "kube/", "record/", "extender/")
THREADED_WIRE = ("test_bind", "test_concurrency", "test_http", "test_live", "test_people", "test_slow", "test_tls")
THREADED_CONTROL_PLANE = ("test_burst", "test_crash")
# The longest files of tests/wire begin first, so that no core waits for one of them at the end.
WIRE_FIRST = ("test_live_binds", "test_people", "test_tls", "test_live_faults", "test_connecting", "test_live_lag", "test_slow")
# The answers to kube-scheduler and to users, and the documents; not TLS, faults of the API server, and what takes long.
QUICK_WIRE = ("test_bind", "test_cases", "test_decisions", "test_docs", "test_filter", "test_http", "test_live_rules", "test_openapi")
QUICK_WIRE += ("test_preempt", "test_prioritize", "test_protocol", "test_refusals")
# pytests at once: they mostly wait.
WIRE_PROCESSES = 2 * min(os.cpu_count() or 1, 4)
# Each shares one control plane among its files, and mostly waits.
CONTROL_PLANES = 2
# Fewer random events than the million that tests/unit/decide/prop_ledger.c, tests/unit/devices/prop_devices.c and
# tests/unit/claims/prop_world.c have alone; still fewer with --quick and under ThreadSanitizer.
EVENTS_ENV = {"LEDGER_EVENTS": "100000"}
QUICK_ENV = {"LEDGER_EVENTS": "20000"}
THREADED_BINARY = {"GPU_EXTENDER": os.path.join(commands.ROOT, "build/thread/gpu-extender")}
STATIC_PLUGIN = {"KUBECTL_GPU": os.path.join(commands.ROOT, "build/static/kubectl-gpu")}


class Run:
    """One run of the steps: where results go, and the builds made so far."""

    def __init__(self, given):
        self.quick, self.names = given.quick, given.names
        self.env = QUICK_ENV if given.quick else EVENTS_ENV
        self.results = results.Results()
        self.builds = commands.Builds(self.results)


def lint(run, name, script, *arguments, python=PYTHON):
    commands.command_test(run.results, name, [python, f"tests/lint/{script}.py", *arguments])


def lint_size(run, name, _):
    if os.path.exists(os.path.join(commands.ROOT, LIZARDS_PYTHON)):
        lint(run, name, "size", python=LIZARDS_PYTHON)
    else:
        run.results.skip(name, "lizard could not be installed from PyPI")


def lint_symbols(run, name, _):
    if run.builds.ready("release", name):
        lint(run, name, "symbols")


def lint_tidy(run, name, wanted):
    if run.builds.ready("thread", name):
        lint(run, name, "tidy", "build/thread", *wanted)


def unit_tests(run, name, wanted):
    if run.builds.ready("test", name):
        unit.run(run.results, name, "build/test", wanted, run.env, lambda test: run.names or not unit.is_long(test))


def long_unit_tests(run, name, wanted):
    if run.builds.ready("test", name):
        unit.run(run.results, name, "build/test", wanted, run.env, unit.is_long)


def thread_tests(run, name, wanted):
    if run.builds.ready("thread", name):
        unit.run(run.results, name, "build/thread", wanted or THREADED, QUICK_ENV)


def thread_wire_tests(run, name, wanted):
    if run.builds.ready("thread", name):
        pytests.run(run.results, name, "tests/wire", wanted or THREADED_WIRE, THREADED_BINARY, WIRE_PROCESSES, first=WIRE_FIRST)


def simulation(run, name, _):
    if not run.builds.ready("test", name):
        return
    seeds = QUICK_SIMULATED if run.quick else SIMULATED
    commands.command_test(run.results, name, ["build/test/tests/sim/sim", "--seeds", seeds])
    if not run.quick:
        commands.command_test(run.results, f"{name}/replay", ["tests/sim/replay", "build/test/tests/sim/sim", REPLAYED])
        commands.command_test(run.results, f"{name}/mistakes", ["tests/sim/mistakes", "--build", "build/test"])


def hostile_tests(run, name, wanted):
    if run.builds.ready("test", name):
        commands.command_test(run.results, name, ["build/test/tests/hostile/hostile", *wanted])


def selector_tests(run, name, wanted):
    if not run.builds.ready("test", name) or not commands.command_test(run.results, "build/selectors", ["tests/cel/build"]):
        return
    _, folder = commands.run(["tests/cel/build"])
    pytests.run(run.results, name, "tests/cel", wanted, {"SELECTORS_ORACLE": folder.strip()})


def allocation_tests(run, name, wanted):
    if not run.builds.ready("test", name) or not commands.command_test(run.results, "build/allocation", ["tests/allocate/build"]):
        return
    _, folder = commands.run(["tests/allocate/build"])
    pytests.run(run.results, name, "tests/allocate", wanted, {"ALLOCATION_ORACLE": folder.strip()})


def wire_tests(run, name, wanted):
    if run.builds.ready("test", name):
        files = wanted or (QUICK_WIRE if run.quick else [])
        pytests.run(run.results, name, "tests/wire", files, processes=WIRE_PROCESSES, first=WIRE_FIRST)


def static_wire_tests(run, name, wanted):
    if run.builds.ready("test", name) and run.builds.ready("static", name, ["kubectl-gpu"]):
        pytests.run(run.results, name, "tests/wire", wanted or ("test_kubectl_",), STATIC_PLUGIN, 2)


def bench_tests(run, name, wanted):
    if run.builds.ready("test", name):
        pytests.run(run.results, name, "tests/bench", wanted)


def has_control_plane(run):
    return commands.command_test(run.results, "build/control-plane", ["tests/control-plane/build"])


def control_plane_tests(run, name, wanted):
    if run.builds.ready("test", name) and has_control_plane(run):
        pytests.run(run.results, name, "tests/control-plane", wanted, processes=CONTROL_PLANES, shares=CONTROL_PLANES)


def thread_control_plane_tests(run, name, wanted):
    if run.builds.ready("thread", name) and has_control_plane(run):
        pytests.run(run.results, name, "tests/control-plane", wanted or THREADED_CONTROL_PLANE, THREADED_BINARY)


def ui_tests(run, name, wanted):
    if not os.path.exists(os.path.join(commands.ROOT, ".cache/venv-ui")) or not shutil.which("chromium"):
        run.results.skip(name, "chromium or playwright could not be installed")
    elif run.builds.ready("test", name):
        pytests.run(run.results, name, "tests/ui", wanted)


def image_tests(run, name, wanted):
    if run.builds.ready("release", name):
        pytests.run(run.results, name, "tests/image", wanted)


def has_image(run):
    return commands.command_test(run.results, "build/image", ["scripts/image"])


def in_cluster_tests(run, name, wanted):
    # scripts/image calls scripts/build release, which must not run twice at once.
    if not (run.builds.ready("test", name) and run.builds.ready("release", name)):
        return
    if commands.command_test(run.results, f"{name}/prepare", ["tests/in-cluster/prepare"]) and has_image(run):
        pytests.run(run.results, name, "tests/in-cluster", wanted, within=["setpriv", "--pdeathsig", "KILL", "tests/in-cluster/apart"])


def build(run, name, _):
    """The step build/NAME makes the build NAME."""
    made = name.removeprefix("build/")
    run.builds.ready(made, name, ["fuzz-targets"] if made == "fuzz" else [])


def fuzz_targets(run, name, wanted):
    if run.builds.ready("fuzz", name, ["fuzz-targets"]):
        fuzz.run(run.results, name, wanted)


# steps: (name, whether --quick runs it too, its function).
Lane = collections.namedtuple("Lane", "name give_way steps")


def be_nice():
    """For what keeps the processors busy: beside it, tests that mostly wait are as fast as alone."""
    os.nice(5)


def be_idle():
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


# give_way is called in the thread of the lane, and what this starts inherits its scheduling. No two lanes may write the same files:
# what needs a build calls Builds.ready(), and both steps that run scripts/image are in one lane.
LANES = [
    Lane(
        "tests",
        be_nice,
        [
            ("lint/includes", True, lambda run, name, _: lint(run, name, "includes")),
            ("lint/structs", True, lambda run, name, _: lint(run, name, "structs")),
            ("lint/texts", True, lambda run, name, _: lint(run, name, "texts")),
            ("lint/markdown", True, lambda run, name, _: lint(run, name, "markdown")),
            ("lint/commits", True, lambda run, name, _: lint(run, name, "commits")),
            ("lint/format", True, lambda run, name, _: lint(run, name, "format")),
            ("lint/shell", True, lambda run, name, _: lint(run, name, "shell")),
            ("lint/size", True, lint_size),
            ("lint/tests", False, lambda run, name, wanted: pytests.run(run.results, name, "tests/lint", wanted)),
            ("unit", True, unit_tests),
            ("hostile", False, hostile_tests),
            ("selectors", False, selector_tests),
            ("allocation", False, allocation_tests),
            ("wire", True, wire_tests),
            ("ui", False, ui_tests),
            ("bench", False, bench_tests),
            ("lint/symbols", False, lint_symbols),
            ("thread/unit", False, thread_tests),
            ("thread/wire", False, thread_wire_tests),
            ("fuzz", False, fuzz_targets),
        ],
    ),
    # Mostly waiting.
    Lane(
        "clusters",
        lambda: None,
        [
            ("control-plane", False, control_plane_tests),
            ("thread/control-plane", False, thread_control_plane_tests),
            # In the lane of the other steps that make this build.
            ("static/wire", False, static_wire_tests),
            ("image", False, image_tests),
            ("in-cluster", False, in_cluster_tests),
        ],
    ),
    # Measures no time and waits for nothing. Builds come in the order in which others need them.
    Lane(
        "aside",
        be_idle,
        [
            ("build/test", True, build),
            ("build/release", False, build),
            ("build/thread", False, build),
            ("long/unit", False, long_unit_tests),
            ("sim", True, simulation),
            ("lint/tidy", False, lint_tidy),
            ("build/fuzz", False, build),
        ],
    ),
]


def names():
    return [step for lane in LANES for step, _, _ in lane.steps]


def parts_of(step, names):
    """None: not chosen. Else the parts of the step that are named; none named is all of it."""
    if any(step == name or step.startswith(name + "/") for name in names):
        return []
    return [name[len(step) + 1 :] for name in names if name.startswith(step + "/")] or None


def unknown(given):
    return [name for name in given if not any(parts_of(step, [name]) is not None for step in names())]


def options():
    parser = argparse.ArgumentParser(prog="scripts/test", description="Builds and runs all tests.")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="before each commit: lints (without clang-tidy and symbols), unit tests (without the long ones), 40 seeds of the simulator, and a few files of tests/wire; nothing else",
    )
    parser.add_argument("--in-cluster", action="store_true", help="the step of that name: in a real cluster, as root")
    parser.add_argument("--list", action="store_true", help="the names of the steps, and end")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help='a step ("wire", "lint"), or a part of one: "unit/decide/test_fit", "wire/test_filter", "fuzz/quantity"',
    )
    given = parser.parse_args()
    if given.in_cluster:
        given.names.append("in-cluster")
    return given


def chosen(run, steps):
    """(step, its function, the parts named) of the steps to run."""
    for step, quick, do in steps:
        wanted = parts_of(step, run.names) if run.names else []
        if wanted is not None and (quick or not run.quick):
            yield step, do, wanted


def run_lane(run, lane):
    try:
        lane.give_way()
        with run.results.timed(f"lane {lane.name}"):
            for step, do, wanted in chosen(run, lane.steps):
                with run.results.timed(step):
                    do(run, step, wanted)
    except Exception:
        run.results.fail(f"lane {lane.name}", traceback.format_exc())


def run_lanes(run):
    lanes = [lane for lane in LANES if any(chosen(run, lane.steps))]
    threads = [threading.Thread(target=run_lane, args=(run, lane), daemon=True) for lane in lanes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    given = options()
    if unknown(given.names):
        print(
            f"no step is called {', '.join(unknown(given.names))}; scripts/test --list shows them",
            file=sys.stderr,
        )
        return 2
    if given.list:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # the reader may be head
        print("\n".join(names()))
        return 0
    sys.stdout.reconfigure(line_buffering=True)
    run = Run(given)
    run_lanes(run)
    return run.results.finish()


if __name__ == "__main__":
    sys.exit(main())
