"""The text checks go red on each thing they forbid."""

import pytest
import texts

HEADER = "/* a: says what. */\n#ifndef TYPES_A_H\n#define TYPES_A_H\nint a(void);\n#endif\n"


def faults(tree_of, path, text):
    return texts.check(tree_of({path: text}))


@pytest.mark.parametrize(
    "path, text",
    [
        ("include/types/a.h", HEADER),
        ("src/types/a.h", HEADER),
        ("src/types/a.c", "/* a: says what. */\nint a;\n"),
        ("scripts/a", "#!/bin/sh\n# Says what.\necho build/work/out and ../other/root/x\n"),
        ("src/types/a.c", "/* a */\n/* NO" + "LINTNEXTLINE(bugprone-x): why */\nint a;\n"),
        ("docs/a.md", "Any text: https://kubernetes.io/docs/home/setup\n"),
    ],
)
def test_good_files_pass(tree_of, path, text):
    assert faults(tree_of, path, text) == []


@pytest.mark.parametrize(
    "path, text, says",
    [
        ("include/types/a.h", HEADER.replace("TYPES_A_H", "A_H"), "should have the guard TYPES_A_H"),
        ("include/types/a.h", HEADER.replace("#endif", ""), "should have the guard"),
        ("src/types/a.c", "int a;\n", "should begin with a comment"),
        ("tests/a.py", "import os\n", "should begin with a docstring"),
        ("scripts/a", "#!/bin/sh\necho\n", "should begin with a comment after"),
        ("src/types/a.c", "/* a */\nint a; /* TO" + "DO: later */\n", "a leftover"),
        ("docs/a.md", "look in /" + "work/shared\n", "a path of somebody's machine"),
        ("docs/a.md", "see (/" + "home/jo/x)\n", "a path of somebody's machine"),
        ("docs/a.md", "from https://pypi" + ".org/simple\n", "the host of a package registry"),
        ("src/types/a.c", "/* a */\nint a = json_loads(b);\n", "only src/formats/json_parse.c calls it"),
        ("src/types/a.c", "/* a */\nint a; /* NO" + "LINT */\n", "silenced by its name and with the reason"),
        ("src/types/a.c", "/* a */\nint a; /* NO" + "LINT(bugprone-x) */\n", "silenced by its name"),
        ("src/types/utils.c", "/* utils */\n", "named for what it does"),
        ("src/types/a.c", "/* a */\n" + "int a;\n" * 800, "801 lines"),
    ],
)
def test_bad_files_are_named(tree_of, path, text, says):
    found = faults(tree_of, path, text)
    assert len(found) == 1 and says in found[0] and found[0].startswith(path + ":")
