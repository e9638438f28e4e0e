"""clang-tidy with the model of uthash: right code passes, a freed pointer is found, and the memory knows what changed."""

import json
import os
import subprocess

import llvm
import pytest
import tidy
import tree

HEAD = """/* x */
#include <stdlib.h>
#include <uthash.h>
struct item { const char *name; int n; UT_hash_handle hh; };
int sum_and_free(struct item **table);
int sum_and_free(struct item **table)
{
    struct item *item, *next, *found;
    int sum = 0;
    HASH_FIND_STR(*table, "a", found);
    if (found)
        sum += found->n;
    HASH_ITER (hh, *table, item, next) {
        HASH_DEL(*table, item);
"""
RIGHT = HEAD + "        sum += item->n;\n        free(item);\n    }\n    return sum;\n}\n"
WRONG = HEAD + "        free(item);\n        sum += item->n;\n    }\n    return sum;\n}\n"


@pytest.fixture
def said_of(tmp_path):
    try:
        command = llvm.tool("clang-tidy")
    except SystemExit:
        pytest.skip("not here: clang-tidy of the version that the tree is judged by")

    def said(text):
        (tmp_path / "x.c").write_text(text, encoding="utf-8")
        (tmp_path / ".clang-tidy").write_text("Checks: '-*,clang-analyzer-*'\nWarningsAsErrors: '*'\n")
        entry = {"directory": str(tmp_path), "file": "x.c", "command": "clang -std=gnu17 -c x.c"}
        (tmp_path / "compile_commands.json").write_text(json.dumps([entry]))
        return tidy.tidy(command, str(tmp_path), str(tmp_path / "x.c"))

    return said


def test_uthash_is_understood(said_of):
    assert said_of(RIGHT)[0]


def test_a_freed_item_is_found(said_of):
    clean, said = said_of(WRONG)
    assert not clean
    found = tidy.findings(said)
    assert "Use of memory after it is freed" in found[0] and len(found) == 3


# ---- the memory of what was clean ----

NINJA = """rule cc
  command = cc -MD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
build x.o: cc ../x.c
"""


class Checkout:
    """A tree with one source and its header, built by ninja; the command `tidy.tidy` is replaced by a list of the files it was given."""

    def __init__(self, root, patch):
        self.root, self.patch, self.clean = root, patch, True
        (root / "build").mkdir(parents=True)
        self.write(".clang-tidy", "Checks: '*'\n")
        self.write("x.h", "int x(void);\n")
        self.write("x.c", '#include "x.h"\nint x(void) { return 1; }\n')
        self.write("build/build.ninja", NINJA)
        self.commands("cc -c")
        subprocess.run(["ninja", "-C", root / "build"], check=True, capture_output=True)

    def write(self, path, text):
        (self.root / path).write_text(text, encoding="utf-8")

    def commands(self, *commands):
        entry = {"directory": str(self.root / "build"), "file": "../x.c", "output": "x.o"}
        self.write("build/compile_commands.json", json.dumps([{**entry, "command": f"{command} ../x.c"} for command in commands]))

    def asked(self):
        """Runs the lint; returns the names of the files that clang-tidy was asked about."""
        asked = []
        self.patch.setattr(tree, "ROOT", str(self.root))
        self.patch.setattr(tidy, "LOG", str(self.root / "log"))
        self.patch.setattr(tidy, "tidy", lambda command, build, path, states: (asked.append(os.path.basename(path)), (self.clean, "x.c:1: error: no"))[1])
        assert tidy.main(str(self.root / "build"), []) == (0 if self.clean or not asked else 1)
        return asked


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    monkeypatch.setattr(tidy, "CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(llvm, "tool", lambda name: "cc")
    return lambda name: Checkout(tmp_path / name, monkeypatch)


@pytest.mark.parametrize(
    "change",
    [
        lambda tree: tree.write("x.c", '#include "x.h"\nint x(void) { return 2; }\n'),
        lambda tree: tree.write("x.h", "int x(void);\nint y(void);\n"),
        lambda tree: tree.write(".clang-tidy", "Checks: '-*'\n"),
        lambda tree: tree.commands("cc -DX -c"),
    ],
    ids=["source", "included header", ".clang-tidy", "command"],
)
def test_a_clean_file_is_checked_again_after_a_change(checkout, change):
    tree = checkout("here")
    assert tree.asked() == ["x.c"]
    assert tree.asked() == []
    change(tree)
    assert tree.asked() == ["x.c"]
    assert tree.asked() == []


def test_a_file_of_several_programs_is_checked_once(checkout):
    tree = checkout("here")
    tree.commands("cc -Ifirst -c", "cc -Isecond -c")
    assert tree.asked() == ["x.c"]
    assert [entry["command"] for entry in tidy.entries_of(str(tree.root / "build")).values()] == ["cc -Ifirst -c ../x.c"]


def test_a_finding_is_not_remembered(checkout):
    tree = checkout("here")
    tree.clean = False
    assert tree.asked() == ["x.c"] == tree.asked()


def test_another_checkout_shares_the_memory(checkout):
    assert checkout("here").asked() == ["x.c"]
    assert checkout("there").asked() == []


def test_a_file_of_unknown_includes_is_always_checked(checkout):
    tree = checkout("here")
    (tree.root / "build/.ninja_deps").unlink()
    assert tree.asked() == ["x.c"] == tree.asked()


def test_the_memory_is_bounded(checkout, monkeypatch):
    monkeypatch.setattr(tidy, "KEEP_N", 2)
    tree = checkout("here")
    for number in range(5):
        tree.commands(f"cc -DX={number} -c")
        assert tree.asked() == ["x.c"]
    assert len(os.listdir(tidy.CACHE)) <= 3, "two, and that of the last run"
    assert tree.asked() == [], "the newest are kept"
