"""The limits of size.py go red, an `else if` is no deeper nesting, and a loop macro is a loop."""

import os
import subprocess

import pytest
import tree

PYTHON = os.path.join(tree.ROOT, ".cache/venv/bin/python")
RUN = "import size, sys; print('\\n'.join(size.faults_of(sys.argv[1], size.extensions())))"

LONG, LONGER = "a++;\n" * 50, "a++;\n" * 60
COMPLEX, MORE_COMPLEX = "if (a) a--;\n" * 14, "if (a) a--;\n" * 15
DEEP = "for (;;) { if (a) { while (a) { if (a) a--; } } }"
DEEP_BY_MACRO = "HASH_ITER(hh, a, b, c) { if (a) { DL_FOREACH(a, b) { if (a) a--; } } }"
CHAIN = "if (a) return 1; " + "else if (a > 2) return 2; " * 5 + "else return 3;"
CHAIN_WITH_BRACES = "if (a) { return 1; } " + "else if (a > 2) { return 2; } " * 5 + "else { return 3; }"
CHAIN_THEN_DEEP = CHAIN_WITH_BRACES + " for (;;) { if (a) { while (a) a--; } }"


def faults(tmp_path, body):
    if not os.path.exists(PYTHON):
        pytest.skip("lizard could not be installed from PyPI")
    (tmp_path / "x.c").write_text(f"int f(int a)\n{{\n{body}\nreturn 0;\n}}\n", encoding="utf-8")
    done = subprocess.run(
        [PYTHON, "-c", RUN, str(tmp_path / "x.c")],
        cwd=os.path.join(tree.ROOT, "tests/lint"),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.parametrize(
    "body",
    [LONG, COMPLEX, CHAIN, CHAIN_WITH_BRACES, CHAIN_THEN_DEEP],
    ids=["long", "complex", "chain", "chain with braces", "chain, then deep"],
)
def test_within_the_limits(tmp_path, body):
    assert faults(tmp_path, body) == ""


@pytest.mark.parametrize(
    "body, says",
    [
        (LONGER, "length is 65, at most 60"),
        (MORE_COMPLEX, "cyclomatic complexity is 16, at most 15"),
        (DEEP, "max nested structures is 4, at most 3"),
        (DEEP_BY_MACRO, "max nested structures is 4, at most 3"),
    ],
    ids=["long", "complex", "deep", "deep by macro"],
)
def test_beyond_the_limits(tmp_path, body, says):
    assert says in faults(tmp_path, body)
