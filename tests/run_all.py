"""Builds and runs the tests of this tree; scripts/test calls it after installing what it needs.

The table LANES below is the whole order of events: lanes run beside each other, the steps of a lane one after another. Each step says
which runs it is part of (QUICK, DEFAULT, ALL, NAMED). The last line is "N passed, N failed"; the exit status is 0 when nothing failed.
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

from harness import commands, corpus, fuzz, pytests, results, unit  # noqa: E402

PYTHON = "/usr/bin/python3"
# Targets of meson.build.
PROGRAMS = ("gpu-extender", "kubectl-gpu")
UNIT_TESTS = ("meson-test-prereq",)
LIZARDS_PYTHON = ".cache/venv/bin/python"
# The runs that a step is part of: a run has the steps of its own level and of those before it. NAMED steps run only by name.
QUICK, DEFAULT, ALL, NAMED = range(4)
RUNS = ("--quick", "default", "--all", "by name")
# Seeds.
QUICK_SIMULATED, SIMULATED, LONG_SIMULATED = "1..40", "1..100", "1..100000"
FLAPPING = "1000001..1000020"  # with nodes that flap
REPLAYED = "17"
SIMULATOR = "build/test/tests/sim/sim"
# These run in several threads, so ThreadSanitizer tests them, too.
THREADED = ("base/", "http/", "auth/", "inventory/", "kube/", "record/", "extender/")
THREADED_WIRE = ("test_bind", "test_concurrency", "test_http", "test_live", "test_people", "test_slow", "test_tls")
THREADED_CONTROL_PLANE = ("test_burst", "test_crash")
# The longest files of tests/wire begin first, so that nothing waits for one of them at the end.
WIRE_FIRST = ("test_live_binds", "test_kubectl_gpu", "test_slow", "test_doctor_live", "test_live_faults", "test_people", "test_snapshot", "test_tls", "test_hostile", "test_connecting", "test_field")
WIRE_FIRST += ("test_claims_judged", "test_pending", "test_gangs", "test_cluster_file", "test_aggregated_objects", "test_reload", "test_long_answers", "test_openapi", "test_manifests", "test_options")
# The answers to kube-scheduler and to users, and the documents; not TLS, faults of the API server, and what takes long.
QUICK_WIRE = ("test_bind", "test_cases", "test_decisions", "test_docs", "test_filter", "test_http", "test_live_rules", "test_openapi")
QUICK_WIRE += ("test_preempt", "test_prioritize", "test_protocol", "test_refusals")
# pytests at once: they mostly wait.
WIRE_PROCESSES = 10 * min(os.cpu_count() or 1, 4)
# Files of tests/wire share this many pytests, because starting one costs a second.
WIRE_SHARES = 2 * WIRE_PROCESSES
# Each shares one control plane among its files, and mostly waits.
CONTROL_PLANES = 2
# Each verb, a burst with a kill, a hand-over, quota, a claim, the aggregated API.
SMOKE = (
    "test_live_scheduling.py::test_pods_land_on_the_requested_model",
    "test_live_scheduling.py::test_binpack_counts_pods_bound_just_now",
    "test_live_scheduling.py::test_pods_from_before_the_start_count",
    "test_live_scheduling.py::test_pending_pod_shows_the_reason",
    "test_scheduler.py::test_our_score_decides_between_nodes_that_fit",
    "test_scheduler.py::test_invalid_request_is_rejected_with_its_fault",
    "test_preempt.py::test_the_dry_run_names_the_victim_that_kube_scheduler_evicts",
    "test_crash.py::test_our_service_is_killed",
    "test_replicas.py::test_one_leads_and_the_other_rejects",
    "test_replicas.py::test_the_leader_is_killed_in_a_burst",
    "test_quota.py::test_burst_gets_exactly_the_quota",
    "test_dra.py::test_bursts_are_counted_device_by_device",
    "test_dra.py::test_a_burst_of_claims_gets_exactly_the_quota",
    "test_aggregated_api.py::test_users_with_the_role_get_the_views",
    "test_aggregated_api.py::test_the_dry_run_is_a_view",
    "test_aggregated_api.py::test_others_learn_nothing",
    "test_aggregated_api.py::test_discovery_works_for_everybody",
)
# Programs of tests/control-plane/build that the step smoke needs.
SMOKE_PROGRAMS = ("etcd", "kube-apiserver", "kube-scheduler", "kwok", "kube-controller-manager", "kubectl")
SMOKE_ENV = {"CONTROL_PLANE_PROGRAMS": " ".join(SMOKE_PROGRAMS)}
# Releases of kube-apiserver and kube-scheduler that tests/control-plane/build makes; the first is the default.
KUBERNETES = ("1.36", "1.31", "1.37", "1.38")
# Fewer random events than the million that tests/unit/decide/prop_ledger.c, tests/unit/dra/prop_devices.c and
# tests/unit/dra/prop_device_copy.c have alone; still fewer with --quick and under ThreadSanitizer.
EVENTS_ENV = {"LEDGER_EVENTS": "100000"}
QUICK_ENV = {"LEDGER_EVENTS": "20000"}
THREADED_BINARY = {"GPU_EXTENDER": os.path.join(commands.ROOT, "build/thread/gpu-extender")}
# Upstream's code in tests/FOLDER: the targets that are compared with its answers, and the variable that names its live form. The dry
# run answers about sets of nodes.
Oracle = collections.namedtuple("Oracle", "folder targets variable")
SELECTORS = Oracle("tests/cel", ("tests/cel/cel_answer",), "SELECTORS_ORACLE")
ALLOCATION = Oracle("tests/allocate", ("tests/allocate/allocate_answer", *PROGRAMS), "ALLOCATION_ORACLE")
STATIC_PLUGIN = {"KUBECTL_GPU": os.path.join(commands.ROOT, "build/static/kubectl-gpu")}


class Run:
    """One run of the steps: where results go, and the builds made so far."""

    def __init__(self, given):
        self.level, self.names = given.level, given.names
        self.control_plane = {"KUBERNETES": given.kubernetes}
        self.env = QUICK_ENV if self.is_quick() else EVENTS_ENV
        self.results = results.Results()
        self.builds = commands.Builds(self.results)

    def is_quick(self):
        return self.level == QUICK


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
    if run.builds.ready("test", name, UNIT_TESTS):
        unit.run(run.results, name, "build/test", wanted, run.env, lambda test: wanted or not unit.is_long(test))


def long_unit_tests(run, name, wanted):
    if run.builds.ready("test", name, UNIT_TESTS):
        unit.run(run.results, name, "build/test", wanted, run.env, unit.is_long)


def thread_tests(run, name, wanted):
    if run.builds.ready("thread", name, UNIT_TESTS):
        unit.run(run.results, name, "build/thread", wanted or THREADED, QUICK_ENV)


def thread_wire_tests(run, name, wanted):
    if run.builds.ready("thread", name, PROGRAMS):
        pytests.run(run.results, name, "tests/wire", wanted or THREADED_WIRE, THREADED_BINARY, WIRE_PROCESSES, first=WIRE_FIRST)


def simulation(run, name, _):
    if run.builds.ready("test", name, ["tests/sim/sim"]):
        seeds = QUICK_SIMULATED if run.is_quick() else SIMULATED
        commands.command_test(run.results, name, [SIMULATOR, "--seeds", seeds])


def simulated_flapping(run, name, _):
    if run.builds.ready("test", name, ["tests/sim/sim"]):
        commands.command_test(run.results, name, [SIMULATOR, "--seeds", FLAPPING])


def simulated_scenes(run, name, _):
    if run.builds.ready("test", name, ["tests/sim/sim"]):
        commands.command_test(run.results, name, [SIMULATOR, "--scenes"])


def simulation_replayed(run, name, _):
    if run.builds.ready("test", name, ["tests/sim/sim"]):
        commands.command_test(run.results, name, ["tests/sim/replay", SIMULATOR, REPLAYED])


def simulation_modelled(run, name, _):
    if shutil.which("spin"):
        commands.command_test(run.results, name, ["tests/sim/check-model"])
    else:
        run.results.skip(name, "spin is not installed (Debian package spin)")


def simulated_mistakes(run, name, _):
    if run.builds.ready("test", name, ["tests/sim/sim"]):
        commands.command_test(run.results, name, ["tests/sim/mistakes", "--build", "build/test"])


def hunted_mistakes(run, name, _):
    if run.builds.ready("bench", name, ["tests/sim/sim"]):
        commands.command_test(run.results, name, ["tests/sim/mistakes", "--hunt"])


def long_simulation(run, name, _):
    if run.builds.ready("bench", name, ["tests/sim/sim"]):
        commands.command_test(run.results, name, ["build/bench/tests/sim/sim", "--seeds", LONG_SIMULATED])


def mutations(run, name, _):
    commands.command_test(run.results, name, ["tests/mutation/mutate"])


def corpus_tests(run, name, wanted):
    if run.builds.ready("test", name, ["corpus-tests"]):
        corpus.run(run.results, name, wanted)


def hostile_tests(run, name, wanted, build="test"):
    if run.builds.ready(build, name, ["tests/hostile/hostile"]):
        commands.command_test(run.results, name, [f"build/{build}/tests/hostile/hostile", *wanted])


def recorded_tests(run, name, wanted, oracle):
    if run.builds.ready("test", name, oracle.targets):
        pytests.run(run.results, name, oracle.folder, wanted or ["test_recorded"])


def live_tests(run, name, wanted, oracle):
    """Asks upstream's code again, which the folder's build makes."""
    build = [f"{oracle.folder}/build"]
    if run.builds.ready("test", name, oracle.targets) and commands.command_test(run.results, f"{name}/build", build):
        pytests.run(run.results, name, oracle.folder, wanted or ["test_live"], {oracle.variable: commands.run(build).output.strip()})


def wire_tests(run, name, wanted):
    if run.builds.ready("test", name, PROGRAMS):
        files = wanted or (QUICK_WIRE if run.is_quick() else [])
        marked = "" if wanted else "not long"
        pytests.run(run.results, name, "tests/wire", files, processes=WIRE_PROCESSES, shares=WIRE_SHARES, first=WIRE_FIRST, marked=marked)


def long_wire_tests(run, name, wanted):
    if run.builds.ready("test", name, PROGRAMS):
        pytests.run(run.results, name, "tests/wire", wanted, processes=WIRE_PROCESSES, shares=WIRE_PROCESSES, marked="long")


def static_wire_tests(run, name, wanted):
    if run.builds.ready("test", name, PROGRAMS) and run.builds.ready("static", name, ["kubectl-gpu"]):
        pytests.run(run.results, name, "tests/wire", wanted or ("test_kubectl_",), STATIC_PLUGIN, 2)


def bench_tests(run, name, wanted):
    if run.builds.ready("test", name, ["tests/bench/replay_run"]):
        pytests.run(run.results, name, "tests/bench", wanted)


def has_control_plane(run, programs=()):
    release = [f"{name}={value}" for name, value in run.control_plane.items()]
    return commands.command_test(run.results, "build/control-plane", ["env", *release, "tests/control-plane/build", *programs])


def smoke_tests(run, name, wanted):
    """Unlike control-plane it may not be skipped."""
    if not has_control_plane(run, SMOKE_PROGRAMS):
        run.results.fail(name, "not run: there is no control plane")
    elif run.builds.ready("test", name, PROGRAMS):
        pytests.run(run.results, name, "tests/control-plane", wanted or SMOKE, {**SMOKE_ENV, **run.control_plane}, CONTROL_PLANES, CONTROL_PLANES)


def control_plane_tests(run, name, wanted):
    # tests/control-plane/agreement asks our allocator beside the real one.
    if run.builds.ready("test", name, ALLOCATION.targets) and has_control_plane(run):
        pytests.run(run.results, name, "tests/control-plane", wanted, run.control_plane, CONTROL_PLANES, CONTROL_PLANES)


def thread_control_plane_tests(run, name, wanted):
    if run.builds.ready("thread", name, PROGRAMS) and has_control_plane(run):
        pytests.run(run.results, name, "tests/control-plane", wanted or THREADED_CONTROL_PLANE, {**THREADED_BINARY, **run.control_plane})


def ui_tests(run, name, wanted, marked="not long"):
    if not os.path.exists(os.path.join(commands.ROOT, ".cache/venv-ui")) or not shutil.which("chromium-headless-shell"):
        run.results.skip(name, "chromium-headless-shell or playwright could not be installed")
    elif run.builds.ready("test", name, PROGRAMS):
        pytests.run(run.results, name, "tests/ui", wanted, marked="" if wanted else marked)


def image_tests(run, name, wanted):
    if run.builds.ready("release", name):
        pytests.run(run.results, name, "tests/image", wanted)


def has_image(run):
    return commands.command_test(run.results, "build/image", ["scripts/image"])


def in_cluster_tests(run, name, wanted):
    # scripts/image calls scripts/build release, which must not run twice at once.
    if not (run.builds.ready("test", name, PROGRAMS) and run.builds.ready("release", name)):
        return
    if commands.command_test(run.results, f"{name}/prepare", ["tests/in-cluster/prepare"]) and has_image(run):
        pytests.run(run.results, name, "tests/in-cluster", wanted, within=["setpriv", "--pdeathsig", "KILL", "tests/in-cluster/apart"])


def fuzz_targets(run, name, wanted):
    if run.builds.ready("fuzz", name, ["fuzz-targets"]):
        fuzz.run(run.results, name, wanted)


# steps: (name, level, its function).
Lane = collections.namedtuple("Lane", "name steps")

# No two lanes may write the same files: what needs a build calls Builds.ready(), and both steps that run scripts/image are in one lane.
LANES = [
    # First, as it needs only the programs, and then the next lane compiles what else there is.
    Lane(
        "wire",
        [
            ("wire", QUICK, wire_tests),
            ("bench", DEFAULT, bench_tests),
            ("hostile", ALL, hostile_tests),
            ("release/hostile", ALL, lambda run, name, wanted: hostile_tests(run, name, wanted, "bench")),
            ("long/wire", ALL, long_wire_tests),
            ("thread/wire", ALL, thread_wire_tests),
        ],
    ),
    # Keeps the processors busy.
    Lane(
        "unit",
        [
            ("unit", QUICK, unit_tests),
            ("corpus", DEFAULT, corpus_tests),
            ("selectors", DEFAULT, lambda run, name, wanted: recorded_tests(run, name, wanted, SELECTORS)),
            ("allocation", DEFAULT, lambda run, name, wanted: recorded_tests(run, name, wanted, ALLOCATION)),
            ("live/selectors", ALL, lambda run, name, wanted: live_tests(run, name, wanted, SELECTORS)),
            ("live/allocation", ALL, lambda run, name, wanted: live_tests(run, name, wanted, ALLOCATION)),
            ("lint/symbols", ALL, lint_symbols),
            ("thread/unit", ALL, thread_tests),
            ("fuzz", ALL, fuzz_targets),
        ],
    ),
    # Mostly waiting: for a browser or a cluster.
    Lane(
        "waiting",
        [
            ("ui", DEFAULT, ui_tests),
            ("long/ui", ALL, lambda run, name, wanted: ui_tests(run, name, wanted, "long")),
            ("smoke", NAMED, smoke_tests),
            ("control-plane", ALL, control_plane_tests),
            ("thread/control-plane", ALL, thread_control_plane_tests),
            # In the lane of the other steps that make this build.
            ("static/wire", ALL, static_wire_tests),
            ("image", ALL, image_tests),
            ("in-cluster", ALL, in_cluster_tests),
        ],
    ),
    # Waits for nothing: one process beside the others, so that none of it is left when they end.
    Lane(
        "aside",
        [
            ("lint/includes", QUICK, lambda run, name, _: lint(run, name, "includes")),
            ("lint/structs", QUICK, lambda run, name, _: lint(run, name, "structs")),
            ("lint/texts", QUICK, lambda run, name, _: lint(run, name, "texts")),
            ("lint/markdown", QUICK, lambda run, name, _: lint(run, name, "markdown")),
            ("lint/commits", QUICK, lambda run, name, _: lint(run, name, "commits")),
            ("lint/format", QUICK, lambda run, name, _: lint(run, name, "format")),
            ("lint/shell", QUICK, lambda run, name, _: lint(run, name, "shell")),
            ("lint/size", QUICK, lint_size),
            ("lint/tests", ALL, lambda run, name, wanted: pytests.run(run.results, name, "tests/lint", wanted)),
            ("sim", QUICK, simulation),
            ("sim/scenes", QUICK, simulated_scenes),
            ("sim/flapping", DEFAULT, simulated_flapping),
            ("sim/replay", ALL, simulation_replayed),
            ("sim/model", ALL, simulation_modelled),
            ("sim/mistakes", ALL, simulated_mistakes),
            ("long/unit", ALL, long_unit_tests),
            ("lint/tidy", ALL, lint_tidy),
            ("long/sim", NAMED, long_simulation),
            ("hunt", NAMED, hunted_mistakes),
            ("mutation", NAMED, mutations),
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
    parser = argparse.ArgumentParser(prog="scripts/test", description="Builds and runs tests: without options the default run, of minutes.")
    runs = parser.add_mutually_exclusive_group()
    runs.add_argument(
        "--quick",
        dest="level",
        action="store_const",
        const=QUICK,
        help="before each commit: lints (without clang-tidy and symbols), unit tests (without the long ones), 40 seeds of the simulator, and a few files of tests/wire; nothing else",
    )
    runs.add_argument("--all", dest="level", action="store_const", const=ALL, help="also what needs a control plane, a cluster, an image, or long")
    parser.add_argument(
        "--kubernetes",
        choices=KUBERNETES,
        default=KUBERNETES[0],
        help="of the steps smoke and control-plane: the release of kube-apiserver and kube-scheduler; 1.38 has kube-apiserver 1.37",
    )
    parser.add_argument("--list", action="store_true", help="the names of all steps, the run that has each, and how long it took last, and end")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help='a step ("wire", "lint"), or a part of one: "unit/decide/test_fit", "wire/test_filter", "fuzz/quantity"',
    )
    given = parser.parse_args()
    given.level = DEFAULT if given.level is None else given.level
    return given


def chosen(run, steps):
    """(step, its function, the parts named) of the steps to run."""
    for step, level, do in steps:
        wanted = parts_of(step, run.names) if run.names else []
        if wanted is not None and (level <= run.level or (run.names and not run.is_quick())):
            yield step, do, wanted


def run_lane(run, lane):
    for step, do, wanted in chosen(run, lane.steps):
        with run.results.timed(step):
            try:
                do(run, step, wanted)
            except Exception:
                run.results.fail(step, traceback.format_exc())


def run_lanes(run, lanes):
    threads = [threading.Thread(target=run_lane, args=(run, lane), daemon=True) for lane in lanes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def show_list():
    took = results.last_times()
    for lane in LANES:
        for step, level, _ in lane.steps:
            last = "{:7.1f} s, {:7.1f} s of processor time".format(*took[step]) if step in took else "not run here yet"
            print(f"{step:22}{RUNS[level]:9}{last}")


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
        show_list()
        return 0
    sys.stdout.reconfigure(line_buffering=True)
    run = Run(given)
    lanes = [lane for lane in LANES if any(chosen(run, lane.steps))]
    if not lanes:
        print(f"--quick has nothing of {', '.join(run.names)}", file=sys.stderr)
        return 2
    run_lanes(run, lanes)
    if not run.is_quick() and not any("/" in name and name not in names() for name in run.names):
        run.results.keep_times()
    return run.results.finish()


if __name__ == "__main__":
    sys.exit(main())
