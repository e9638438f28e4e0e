"""A copy of the tree in which faults are built and tested, so that the checkout keeps its files.

Judges one fault at a time: builds it, runs the tests whose executable it changes, the nearest first, and says what noticed. It neither
chooses faults nor records anything.
"""

import concurrent.futures
import contextlib
import glob
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "lint"))

import tree  # noqa: E402
from harness import unit  # noqa: E402

SIM = "sim"
PYTHON = "/usr/bin/python3"  # as tests/harness
PYTEST = [PYTHON, "-m", "pytest", "-c", "tests/pytest.ini", "--rootdir=tests", "-q", "-x"]
# It compares two sources of the tree, and asks no program.
NO_JUDGE = "--deselect=tests/wire/test_manifests.py::test_the_fields_are_those_of_kubernetes"


def wire(*names):
    """The command of these files of tests/wire."""
    return ["env", "GPU_EXTENDER=PROGRAM", *PYTEST, NO_JUDGE, *(f"tests/wire/test_{name}.py" for name in names)]


# Answers to users, over cluster files: those that take seconds.
ANSWERS = ["near_misses", "tables", "names", "parameters", "fragmentation", "quota", "explain_score", "evictions", "refusals"]
ANSWERS += ["what_if", "inventory", "what_if_drains", "devices", "pending", "selectors", "openapi", "claims_judged", "aggregated_objects", "snapshot"]
# What judges beside unit tests: name -> a file of it, the program that it runs, its command; PROGRAM there is that program's path.
JUDGES = {
    SIM: ("tests/sim/sim.c", "tests/sim/sim", ["PROGRAM", "--seeds", "1..40"]),
    "cel/recorded": ("tests/cel/recorded.py", "tests/cel/cel_answer", [PYTHON, "tests/cel/recorded.py", "--program", "PROGRAM"]),
    "allocate/recorded": (
        "tests/allocate/recorded.py",
        "tests/allocate/allocate_answer",
        [PYTHON, "tests/allocate/recorded.py", "--program", "PROGRAM"],
    ),
    "wire/cases": ("tests/wire/test_cases.py", "gpu-extender", wire("cases", "manifests")),
    "wire/answers": ("tests/wire/test_tables.py", "gpu-extender", wire(*ANSWERS)),
}
NOTICED = re.compile(r"^(?:FAILED|ERROR) \S*?::(.*?)(?: - .*)?$", re.MULTILINE)  # a test of pytest
ENV = {"LEDGER_EVENTS": "50000"}
# Without these a call with swapped arguments often compiles, with a warning.
C_ARGS = "-O1 -Werror=incompatible-pointer-types -Werror=int-conversion -Werror=implicit-function-declaration"
PLAIN = ["-Dtests=true", "-Dbuildtype=plain", "-Dwarning_level=0", f"-Dc_args={C_ARGS}"]
SANITIZED = ["-Dtests=true", "-Dbuildtype=plain", "-Dwarning_level=0", f"-Dc_args=-g1 {C_ARGS}", "-Db_lundef=false", "-Db_sanitize=address,undefined"]
BUILD_S = 600
# A test under a fault gets its own time so many times over, and this: it may loop, and the machine may be busy.
TIMES, SPARE_CPU_S, SPARE_S = 10, 10, 30
AT_ONCE = 8  # tests that run without a fault: many only wait
MEMORY_BYTES = 4 << 30
# Faults in code that kills processes must not reach those of the machine.
NAMESPACE = ["unshare", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"]

COMPILES_NOT, SAME_CODE, KILLED, SURVIVED = "does not compile", "same code", "killed", "survived"


class Trouble(Exception):
    """The tree does not build or pass without a fault."""


def has_namespaces():
    return subprocess.run([*NAMESPACE, "true"], check=False, capture_output=True).returncode == 0


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).digest()


def write(path, text):
    with open(path, "wb") as file:
        file.write(text)


class Build:
    """One build directory of a copy, as it is without a fault: what its tests and objects are, and how long each test takes."""

    def __init__(self, place, name, options, bare):
        self.place, self.folder, self.bare = place, os.path.join(place, name), bare
        self.is_sanitized = options is SANITIZED
        self.set_up(options)
        self.tests = {name: test["cmd"] for name, test in unit.executables(self.folder).items()}
        self.paths = {name: command[0] for name, command in self.tests.items()}
        self.add_judges()
        done = self.ninja()
        if done.returncode != 0:
            raise Trouble(done.stdout)
        self.pristine = self.programs(self.paths)
        self.pristine_objects = self.objects()
        self.seconds = {}

    def set_up(self, options):
        """As scripts/build does: a directory that was set up otherwise, or not to its end, is set up anew."""
        wanted = os.path.join(self.folder, ".wanted")
        command = ["ninja", "-C", self.folder, "build.ninja"]  # there may be other tests than before
        if not os.path.exists(wanted) or tree.read(self.place, wanted) != str(options):
            shutil.rmtree(self.folder, ignore_errors=True)
            command = ["meson", "setup", self.folder, *options]
        done = subprocess.run(command, cwd=self.place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise Trouble(f"{' '.join(command)}\n{done.stdout}")
        write(wanted, str(options).encode())

    def add_judges(self):
        for name, (file, program, command) in JUDGES.items():
            if os.path.exists(os.path.join(self.place, file)):
                path = self.paths[name] = os.path.join(self.folder, program)
                self.tests[name] = [word.replace("PROGRAM", path) for word in command]

    def ninja(self, names=None):
        targets = [os.path.relpath(self.paths[name], self.folder) for name in (self.paths if names is None else names)]
        command = ["ninja", "--quiet", "-j", "1" if self.has_built else str(os.cpu_count()), "-C", self.folder, *targets]
        return subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=BUILD_S * 10, check=False
        )

    @property
    def has_built(self):
        return hasattr(self, "pristine")

    def programs(self, names):
        return {name: digest(self.paths[name]) for name in names}

    def objects(self):
        return {path: digest(path) for path in glob.glob(os.path.join(self.folder, "src/**/*.o"), recursive=True)}

    def changed(self, names):
        return [name for name, seen in self.programs(names).items() if seen != self.pristine[name]]

    def measure(self, seconds=None):
        """Runs every test without a fault, unless that is done already."""
        self.seconds = seconds
        if not seconds:
            with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
                self.seconds = dict(zip(self.tests, pool.map(self.measure_one, self.tests), strict=True))

    def measure_one(self, name):
        begin = time.monotonic()
        how = self.run(name, SPARE_S * TIMES) and self.run(name, SPARE_S * TIMES)
        if how is not None:
            raise Trouble(f"{name} fails without a fault: {how}")
        return time.monotonic() - begin

    def run(self, name, limit_s=None):
        """None, or how it failed."""
        limit_s = limit_s or SPARE_S + TIMES * self.seconds[name]
        limits = ["prlimit", "--core=0", f"--cpu={int(SPARE_CPU_S + limit_s)}"]
        if not self.is_sanitized:
            limits.append(f"--as={MEMORY_BYTES}")
        command = [*limits, *([] if self.bare else NAMESPACE), *self.tests[name]]
        env = {**os.environ, **unit.ENV, **ENV}
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                command, cwd=self.place, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )
            try:
                status = process.wait(limit_s)
            except subprocess.TimeoutExpired:
                status = None
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if status == 0:
                return None
            output.seek(0)
            return "hangs" if status is None else self.case(output.read().decode(errors="replace"), status)

    def case(self, output, status):
        states, _ = unit.cases(output)
        failed = [name for name, state in states.items() if state == "RUN"] or NOTICED.findall(output)
        for what in ("AddressSanitizer", "LeakSanitizer", "runtime error"):
            if what in output:
                return f"{failed[0] if failed else 'at its end'} ({what})"
        return failed[0] if failed else f"exit status {status}"


def order(names, file, build, helpful):
    """Tests most likely to notice first: those that noticed faults of the file, then by name, by folder, through the wire, and the quick ones."""
    stem, folder = os.path.splitext(os.path.basename(file))[0], file.split("/")[1] + "/"

    def place(name):
        test = name.split("/")[-1].removeprefix("test_")
        alike = test == stem or stem.startswith(test + "_") or test.startswith(stem)
        near = (not alike, not name.startswith(folder), not name.startswith("wire/"))
        return (name == SIM, -helpful.get((file, name), 0), *near, build.seconds[name])

    return sorted(names, key=place)


def snapshot(root):
    """Path -> bytes and mode of every file of the tree: all copies are of the same moment."""
    files = {}
    for path in tree.files(root):
        with open(os.path.join(root, path), "rb") as file:
            files[path] = file.read(), os.stat(file.fileno()).st_mode
    return files


class Workplace:
    """One copy of the tree with its builds; for one thread."""

    def __init__(self, files, folder, sanitized=True, bare=False):
        self.folder = os.path.abspath(folder)
        self.sync(files)
        self.builds = [Build(self.folder, "b", PLAIN, bare)]
        if sanitized:
            self.builds.append(Build(self.folder, "bs", SANITIZED, bare))

    def sync(self, files):
        """Makes the copy equal to those files; ninja sees what is new."""
        for path in tree._walked(self.folder) if os.path.isdir(self.folder) else ():
            if path not in files and not path.startswith(("b/", "bs/")):
                os.unlink(os.path.join(self.folder, path))
        for path, (text, mode) in files.items():
            copy = os.path.join(self.folder, path)
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            if os.path.exists(copy):
                with open(copy, "rb") as file:
                    if file.read() == text:
                        continue
            write(copy, text)
            os.chmod(copy, mode)

    def measure(self, like=None):
        for index, build in enumerate(self.builds):
            build.measure(like.builds[index].seconds if like else None)

    def judge(self, fault, helpful):
        """(verdict, the test that noticed and how)"""
        path = os.path.join(self.folder, fault.file)
        with open(path, "rb") as file:
            source = file.read()
        write(path, fault.applied(source.decode()).encode())
        try:
            for build in self.builds:
                verdict, by = self.judge_build(build, fault, helpful)
                if verdict != SURVIVED:
                    return verdict, by
            return SURVIVED, by
        finally:
            write(path, source)

    def judge_build(self, build, fault, helpful):
        names, n_changed = order(build.tests, fault.file, build, helpful), 0
        # Linking takes longest, and the first tests notice most faults.
        for first, last in ((0, 4), (4, 20), (20, len(names))):
            if not names[first:last]:
                break
            done = build.ninja(names[first:last])
            if done.returncode != 0:
                errors = [line for line in done.stdout.splitlines() if "error: " in line]
                return COMPILES_NOT, (errors or ["ninja failed"])[0].split("error: ")[-1]
            changed = build.changed(names[first:last])
            n_changed += len(changed)
            for name in changed:
                how = build.run(name)
                # Once more, unless it hangs: a test that is not quite reliable on a busy machine shows nothing.
                if how is not None and (how == "hangs" or build.run(name) is not None):
                    return KILLED, f"{name}: {how}{', sanitized' if build.is_sanitized else ''}"
        if not n_changed and build.objects() == build.pristine_objects:
            return SAME_CODE, ""
        return SURVIVED, "" if n_changed else "no test links it"
