"""The include checker goes red on every kind of wrong include, and stays green on right ones."""

import os
import re

import includes
import pytest
import tree

PUBLIC = {
    f"include/{header}": "/* a header */\n"
    for header in (
        "base/err.h",
        "base/log.h",
        "base/table.h",
        "types/policy.h",
        "ledger/cluster.h",
        "decide/fit.h",
        "formats/json_values.h",
        "http/exchange.h",
    )
}
PUBLIC["include/http/server.h"] = "/* a header */\n"
PUBLIC["src/ledger/ledger.h"] = PUBLIC["src/kube/watch/reflector_priv.h"] = "/* private */\n"
PUBLIC["src/api/pods/pod.h"] = "/* private, in a subfolder */\n"


def faults(tree_of, path, *lines):
    text = "".join(f"#include {line}\n" for line in lines)
    return includes.check(tree_of({**PUBLIC, path: text}))


@pytest.mark.parametrize(
    "path, line",
    [
        ("src/types/x.c", '"base/err.h"'),
        ("src/decide/x.c", '"decide/fit.h"'),
        ("src/decide/x.c", '"ledger/cluster.h"'),
        ("src/ledger/x.c", '"ledger.h"'),
        ("src/ledger/x.c", '"ledger/ledger.h"'),
        ("src/ledger/x.c", '"base/table.h"'),
        ("include/base/table.h", "<uthash.h>"),
        ("src/types/x.c", "<stdio.h>"),
        ("src/config/x.c", '"types/policy.h"'),
        ("src/extender/x.c", '"http/exchange.h"'),
        ("src/objects/x.c", "<jansson.h>"),
        ("src/http/x.c", "<microhttpd.h>"),
        ("src/http/x.c", "<pthread.h>"),
        ("src/main.c", '"http/server.h"'),
        ("src/api/dry_run/x.c", '"api/pods/pod.h"'),
        ("src/kube/watch/x.c", '"reflector_priv.h"'),
        ("src/kube/leadership/x.c", '"kube/watch/reflector_priv.h"'),
    ],
)
def test_right_includes_pass(tree_of, path, line):
    assert faults(tree_of, path, line) == []


@pytest.mark.parametrize(
    "path, line, says",
    [
        ("src/types/x.c", '"formats/json_values.h"', "types/ must not include formats/json_values.h"),
        ("src/types/x.c", '"ledger/cluster.h"', "types/ must not include ledger/cluster.h"),
        ("src/ledger/x.c", '"decide/fit.h"', "ledger/ must not include decide/fit.h"),
        ("src/decide/x.c", '"ledger/ledger.h"', "is private to src/ledger/"),
        ("src/decide/x.c", '"base/log.h"', "decide/ must not include base/log.h"),
        ("src/ledger/x.c", "<uthash.h>", "unkeyed hashes"),
        ("src/decide/x.c", "<jansson.h>", "is not allowed in decide/"),
        ("src/types/x.c", "<time.h>", "types/ is pure"),
        ("src/ledger/x.c", "<pthread.h>", "ledger/ is pure"),
        ("src/decide/x.c", "<sys/socket.h>", "decide/ is pure"),
        ("include/decide/x.h", "<time.h>", "decide/ is pure"),
        ("src/formats/x.c", '"decide/fit.h"', "formats/ must not include decide/fit.h"),
        ("src/config/x.c", '"decide/fit.h"', "config/ must not include decide/fit.h"),
        ("src/extender/x.c", '"http/server.h"', "extender/ must not include http/server.h"),
        ("src/http/x.c", "<jansson.h>", "is not allowed in http/"),
        ("src/main.c", "<microhttpd.h>", "is not allowed here"),
        ("include/http/x.h", "<microhttpd.h>", "belongs in one .c file"),
        ("src/base/x.c", "<zlib.h>", "is in no row"),
        ("src/objects/x.c", '"ledger/ledger.h"', "is private to src/ledger/"),
        ("src/objects/x.c", '"../ledger/ledger.h"', "is neither in include/ nor in src/objects/"),
        ("include/ledger/x.h", '"ledger/ledger.h"', "public headers only"),
        ("src/ledger/x.c", '"ledger/nothing.h"', "is neither in include/ nor in src/ledger/"),
        ("src/extender/x.c", '"api/pods/pod.h"', "is private to src/api/pods/"),
        ("src/kube/transport/x.c", '"kube/watch/reflector_priv.h"', "is in a later subfolder"),
        ("src/kube/transport/x.c", '"reflector_priv.h"', "is neither in include/ nor in src/kube/"),
        ("src/novel/x.c", '"base/err.h"', "has no row"),
    ],
)
def test_wrong_includes_are_named(tree_of, path, line, says):
    found = faults(tree_of, path, "<stddef.h>", line)
    assert len(found) == 1 and says in found[0]
    assert found[0].startswith(f"{path}:{1 if 'row' in says and 'folder' in found[0] else 2}: ")


def test_a_library_confined_to_one_file_is_not_in_two(tree_of):
    root = tree_of({"src/formats/a.c": "#include <yaml.h>\n", "src/formats/b.c": "#include <yaml.h>\n"})
    assert includes.check(root) == [
        "src/formats/b.c:1: <yaml.h> is already in src/formats/a.c: one file only"
    ]


def test_every_folder_of_the_tree_has_a_row():
    folders = {
        includes.folder_of(path)
        for path in includes.tree.files(under=("src/", "include/"), endings=(".c", ".h"))
    }
    assert folders <= set(includes.MAY_INCLUDE) | {""}


# docs/dev/ARCHITECTURE.md, docs/dev/LEDGER.md


def rows(document, heading):
    """The rows of the document's table with this first heading, cell by cell."""
    text = tree.read(tree.ROOT, document)
    lines = text[text.index(f"\n| {heading} |") + 1 :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_documented_table_equals_the_checked_one():
    """Compares the rows of existing folders. Third-party headers: those that have one file, and jansson's."""
    told = {row[0].strip("`/"): row for row in rows("docs/dev/ARCHITECTURE.md", "folder") if "/" in row[0]}
    folders = {name for name in os.listdir(os.path.join(tree.ROOT, "src")) if os.path.isdir(os.path.join(tree.ROOT, "src", name))}
    assert set(told) == folders
    for folder, (_, _, allowed, homes) in told.items():
        assert set(allowed.replace("`", "").split(", ")) - {"nothing of ours"} == set(includes.MAY_INCLUDE[folder]), folder
        for header, (where, in_one_file) in includes.THIRD_PARTY.items():
            if in_one_file and not header.startswith("gnutls") or header == "jansson.h":
                assert (f"`{header}`" in homes) == (folder in where), f"{folder}: {header}"
                assert not in_one_file or folder not in where or f"`{header}` (one file)" in homes


def test_every_file_of_the_pure_folders_is_documented():
    told = {name.removesuffix(".h") for row in rows("docs/dev/LEDGER.md", "file") for name in re.findall(r"`([\w*.]+)`", row[0])}
    folders = [os.path.join(tree.ROOT, "src", folder) for folder in includes.PURE]
    files = {name.removesuffix(".c") for folder in folders for name in os.listdir(folder) if name.endswith(".c")}
    patterns = tuple(name[:-1] for name in told if name.endswith("*"))
    assert {name for name in files - told if not name.startswith(patterns)} == set()
