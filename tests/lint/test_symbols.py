"""The check of the pure folders' object code, on a library made here: what only computes passes, a clock is named."""

import subprocess

import symbols

PURE = (
    "#include <string.h>\nint arena_x(void); int pure(const char *a) { return (int)strlen(a) + arena_x(); }\n"
)
CLOCK = "#include <time.h>\nint impure(void) { return (int)time(0); }\n"
OWN = "int pure(const char *); int user(void) { return pure(0); }\n"


def library(tmp_path, **sources):
    for name, text in sources.items():
        (tmp_path / f"{name}.c").write_text(text, encoding="utf-8")
        subprocess.run(["gcc", "-O1", "-fno-builtin", "-c", f"{name}.c"], cwd=tmp_path, check=True)
    subprocess.run(["ar", "rcs", "libpure.a", *(f"{name}.o" for name in sources)], cwd=tmp_path, check=True)
    return str(tmp_path / "libpure.a")


def test_pure_code_passes(tmp_path):
    assert symbols.faults_of([library(tmp_path, pure=PURE, own=OWN)]) == []


def test_a_clock_is_named(tmp_path):
    found = symbols.faults_of([library(tmp_path, pure=PURE, clock=CLOCK)])
    assert len(found) == 1 and found[0].startswith("clock.o: calls time,")
