"""Checks what every file must have and must not say: guards, first comments, lengths, names, leftovers.

Does not look at the C code itself (clang-tidy, size.py and clang-format do).
"""

import os
import re
import sys

import tree

MAX_LINES = 800  # "about 400" (CONTRIBUTING.md); this is the hard end
BANNED_NAMES = {"utils", "util", "common", "helpers", "misc"}
LEFTOVER = re.compile(r"\b(?:" + "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"]) + r")\b")

# A check of clang-tidy is silenced by name, and with the reason: NOLINTNEXTLINE(name): why it is wrong here.
SILENCED = re.compile(r"\bNO" + r"LINT(?!\w*\([a-z][\w.-]+\): \S)")

# Places on somebody's machine, and hosts of package registries, have no business in the tree. They are put together
# here so that this file passes its own check.
_PLACES = [
    "/".join(("", "work", "")),
    "/".join(("", "tmp", "wt")),
    "/".join(("", "root", "")),
    "/".join(("", "home", "")),
]
_HOSTS = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("deb", "debian", "org"),
        ("archive", "ubuntu", "com"),
        ("registry", "npmjs", "org"),
        ("crates", "io"),
        ("proxy", "golang", "org"),
        ("repo1", "maven", "org"),
    )
]
PLACE = re.compile(r"(?<![\w.)}-])(?:" + "|".join(map(re.escape, _PLACES)) + ")")
HOST = re.compile("|".join(map(re.escape, _HOSTS)))
PARSER_HOME = "src/formats/json_parse.c"
PARSER = re.compile(r"\bjson_load(?:s|b|f|fd|_file|_callback)\(")


def guard_of(path):
    """include/types/gpu_model.h -> TYPES_GPU_MODEL_H; a private header has its file's name only or its folder's too."""
    return re.sub(r"\W", "_", path.split("/", 1)[1]).upper()


def check_guard(path, text):
    wanted = guard_of(path)
    if f"#ifndef {wanted}\n#define {wanted}\n" in text and text.rstrip().endswith("#endif"):
        return []
    return [f"{path}:1: should have the guard {wanted}, as #ifndef, #define, and #endif at its very end"]


def check_head(path, text):
    """A file begins with a comment that says what it is for."""
    if path.endswith((".c", ".h")):
        good, shape = text.startswith("/*"), "a comment /* ... */"
    elif path.endswith(".py"):
        good, shape = text.startswith(('"""', "#!")) and '"""' in text[:200], "a docstring"
    elif text.startswith("#!"):
        good, shape = text.split("\n", 2)[1].startswith("# "), "a comment after its #! line"
    else:
        return []
    return [] if good else [f"{path}:1: should begin with {shape} that says what the file is for"]


def check_lines(path, text):
    faults = []
    for number, line in enumerate(text.split("\n"), 1):
        for pattern, what in (
            (LEFTOVER, "a leftover for later: do it, or file an issue"),
            (PLACE, "a path of somebody's machine"),
            (HOST, "the host of a package registry"),
            (SILENCED, "a check is silenced by its name and with the reason"),
        ):
            match = pattern.search(line)
            if match:
                faults.append(f"{path}:{number}: {match.group()}: {what}")
    return faults


def check_parser(path, text):
    """A budget comes before jansson's parser (include/formats/json_parse.h)."""
    if not path.startswith(("src/", "include/")) or path == PARSER_HOME:
        return []
    return [
        f"{path}:{number}: {match.group()}: only {PARSER_HOME} calls it; use json_parse()"
        for number, line in enumerate(text.split("\n"), 1)
        if (match := PARSER.search(line))
    ]


def check_file(root, path):
    text = tree.read(root, path)
    faults = check_head(path, text) + check_lines(path, text) + check_parser(path, text)
    if path.endswith(".h") and path.startswith(("include/", "src/")):
        faults += check_guard(path, text)
    if path.endswith((".c", ".h", ".py")) and text.count("\n") > MAX_LINES:
        faults.append(
            f"{path}:{MAX_LINES}: {text.count(chr(10))} lines, the end is {MAX_LINES}: split it by what it does"
        )
    if os.path.splitext(os.path.basename(path))[0] in BANNED_NAMES:
        faults.append(f"{path}:1: a file is named for what it does, not {os.path.basename(path)}")
    return faults


def is_text(path):
    return not path.startswith(("LICENSE", "tests/fuzz/corpus/", "examples/data/"))


def check(root):
    return [fault for path in tree.files(root) if is_text(path) for fault in check_file(root, path)]


if __name__ == "__main__":
    sys.exit(tree.report(check(tree.ROOT)))
