"""tests/mutation: faults are put where they belong, and one that a weak test misses is reported."""

import importlib
import os
import subprocess
import sys

import pytest
import tree

sys.path.insert(0, os.path.join(tree.ROOT, "tests/mutation"))
candidates = importlib.import_module("candidates")

SOURCE = """/* if (a < b) in a comment */
#define LIMIT 7
static int limit(int a, int b)
{
    const char *text = "a < b"; /* a < b */
    assert(a < b);
    LOG(LOG_INFO, 3);
    for (int i = 0; i < a; i++)
        note(text, b);
    if (a < 10 && b)
        return b - a;
    total += a;
    return 0;
}
"""

MESON = """project('small', 'c')
subdir('src')
if get_option('tests')
  subdir('tests/unit/small')
endif
"""
SMALL = "int clamp(int a);\nint clamp(int a)\n{\n    if (a < 9)\n        return a;\n    return 9;\n}\n"
WEAK_TEST = "#include <assert.h>\nint clamp(int a);\nint main(void)\n{\n    assert(clamp(5) == 5);\n    assert(clamp(100) == 9);\n    return 0;\n}\n"
TREE = {
    "meson.build": MESON,
    "meson_options.txt": "option('tests', type: 'boolean', value: false)\n",
    "src/meson.build": "small = static_library('small', 'small/small.c')\n",
    "src/small/small.c": SMALL,
    "tests/unit/small/meson.build": "test('test_small', executable('test_small', 'test_small.c', link_with: small))\n",
    "tests/unit/small/test_small.c": WEAK_TEST,
}


def changes(source):
    return {(fault.kind, fault.line, fault.changed) for fault in candidates.find("x.c", source)}


@pytest.mark.parametrize(
    "kind, line, changed",
    [
        ("comparison", "for (int i = 0; i < a; i++)", "for (int i = 0; i <= a; i++)"),
        ("constant", "if (a < 10 && b)", "if (a < 11 && b)"),
        ("constant", "if (a < 10 && b)", "if (a < 9 && b)"),
        ("condition", "if (a < 10 && b)", "if (!(a < 10 && b))"),
        ("and-or", "if (a < 10 && b)", "if (a < 10 || b)"),
        ("statement", "note(text, b);", ";"),
        ("statement", "total += a;", ";"),
        ("arguments", "note(text, b);", "note(b, text);"),
        ("arithmetic", "return b - a;", "return b + a;"),
        ("return", "return b - a;", "return 0;"),
        ("return", "return 0;", "return 1;"),
    ],
)
def test_a_fault_of_each_kind(kind, line, changed):
    assert (kind, line, changed) in changes(SOURCE)


@pytest.mark.parametrize("spared", ["comment", "#define", "assert", "LOG", "const char", "static int"])
def test_no_fault_in(spared):
    assert not [line for _, line, _ in changes(SOURCE) if spared in line]


def test_a_fault_keeps_the_lines_below_in_place():
    source = SOURCE.replace("note(text, b);", "note(text,\n             b);")
    assert {fault.applied(source).count("\n") for fault in candidates.find("x.c", source)} == {source.count("\n")}


def test_the_choice_depends_on_the_seed_only():
    faults = candidates.find("x.c", SOURCE)
    moved = candidates.find("x.c", "\n\n" + SOURCE)
    few, more = candidates.choose(faults, 7, 3), candidates.choose(faults, 7, 6)
    assert more[:3] == few and [fault.key for fault in candidates.choose(moved, 7, 3)] == [fault.key for fault in few]
    assert candidates.choose(faults, 8, 6) != more


# It notices clamp(8) == 9, which the weak test does not.
ASKS = "import os, subprocess, sys\n\n\ndef test_case():\n    assert subprocess.run([{}], check=False).returncode == 8\n"
ANSWERS = "int clamp(int a);\nint main(void)\n{\n    return clamp(8);\n}\n"
# What else judges: name -> what it says of a fault, and its files in the small tree.
JUDGES = {
    "cel/recorded": (
        "exit status 1",
        {
            "meson.build": MESON + "subdir('tests/cel')\n",
            "tests/cel/meson.build": "executable('cel_answer', 'answer.c', link_with: small)\n",
            "tests/cel/answer.c": ANSWERS,
            "tests/cel/recorded.py": ASKS.format("sys.argv[2]") + "\n\ntest_case()\n",
        },
    ),
    "wire/cases": (
        "test_case",
        {
            "meson.build": MESON + "executable('gpu-extender', 'main.c', link_with: small)\n",
            "main.c": ANSWERS,
            "tests/pytest.ini": "[pytest]\naddopts = -p no:cacheprovider\n",
            "tests/wire/test_cases.py": ASKS.format('os.environ["GPU_EXTENDER"]'),
            "tests/wire/test_manifests.py": "",
        },
    ),
}


def mutate(root, equivalent, *options):
    command = [os.path.join(tree.ROOT, "tests/mutation/mutate"), "--root", root, "--equivalent", equivalent]
    command += ["--jobs", "1", "--bare", "--no-sanitizers", *options, "src/small"]
    done = subprocess.run([sys.executable, *command], cwd=root, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_mutants_missed_by_a_weak_test_are_reported(tree_of, tmp_path):
    root, equivalent = tree_of(TREE), tmp_path / "equivalent.tsv"
    first = mutate(root, str(equivalent))
    assert "killed: src/small/small.c:6 clamp: return 9;  =>  return 8; -- small/test_small: exit status -6" in first
    assert "\nsurvived: src/small/small.c:4 clamp: if (a < 9)  =>  if (a < 8)" in first
    assert tree.read(root, "src/small/small.c") == SMALL

    # The second run judges nothing again, and counts the survivor as listed.
    equivalent.write_text("# a head\nsrc/small/small.c\tclamp\tif (a < 9)\tif (a < 8)\tno caller asks for 8\n", encoding="utf-8")
    second = mutate(root, str(equivalent))
    assert second.startswith("| folder |") and "a < 8" not in second


def test_survivors_are_judged_again_with_a_new_test(tree_of):
    root = tree_of(TREE)
    mutate(root, os.devnull)
    meson = TREE["tests/unit/small/meson.build"]
    strict = {"meson.build": meson + meson.replace("test_small", "test_eight"), "test_eight.c": WEAK_TEST.replace("5", "8")}
    tree_of({f"tests/unit/small/{name}": text for name, text in strict.items()})
    again = mutate(root, os.devnull, "--again", "survived")
    assert "killed: src/small/small.c:4 clamp: if (a < 9)  =>  if (a < 8) -- small/test_eight: exit status -6" in again


@pytest.mark.parametrize("judge", JUDGES)
def test_a_mutant_that_no_unit_test_notices_is_judged_by(judge, tree_of):
    says, files = JUDGES[judge]
    root = tree_of({**TREE, **files})
    assert f"killed: src/small/small.c:4 clamp: if (a < 9)  =>  if (a < 8) -- {judge}: {says}\n" in mutate(root, os.devnull)


def test_as_many_faults_of_each_folder(tree_of):
    root = tree_of({"src/small/small.c": SMALL, "src/other/small.c": SMALL})
    listed = mutate(root, os.devnull, "--list", "--per-folder", "2", "src/other").splitlines()
    assert [line.split(" ")[1].split(":")[0] for line in listed] == 2 * ["src/other/small.c"] + 2 * ["src/small/small.c"]
