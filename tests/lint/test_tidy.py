"""clang-tidy with the model of uthash: right code passes, a freed pointer is found, and the memory knows what changed."""

import json

import llvm
import pytest
import tidy

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


def test_cache_key_covers_all_inputs(tmp_path):
    header = tmp_path / "x.h"
    keys = set()
    for config, command, text in (
        ("a", "b", "c"),
        ("a", "b", "d"),
        ("a", "x", "c"),
        ("x", "b", "c"),
        ("a", "b", "c"),
    ):
        header.write_text(text, encoding="utf-8")
        keys.add(tidy.key_of({"command": command}, [str(header)], config, tidy.Digests()))
    assert len(keys) == 4
