"""Each script answers --help with its usage and a mistyped option with an error, and does nothing else then."""

import os
import subprocess

import pytest
import tree

SCRIPTS = [path for path in tree.files(under=("scripts/",)) if os.access(os.path.join(tree.ROOT, path), os.X_OK)]
# Arguments that these scripts need beside options.
ARGUMENTS = {"scripts/image-sbom.py": ["folder", "1.0", "0", "0"], "scripts/openb-cluster.py": ["folder"], "scripts/image-root": ["program", "folder"]}


def run(folder, script, *arguments):
    command = [os.path.join(tree.ROOT, script), *arguments]
    return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)


def test_there_are_scripts():
    assert {"scripts/build", "scripts/image", "scripts/run", "scripts/setup", "scripts/test"} < set(SCRIPTS)


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_is_given(script, option, tmp_path):
    done = run(tmp_path, script, option)
    assert (done.returncode, done.stderr) == (0, "")
    assert os.path.basename(script) in done.stdout and len(done.stdout.splitlines()) > 2


@pytest.mark.parametrize("script", SCRIPTS)
def test_an_unknown_option_is_named(script, tmp_path):
    done = run(tmp_path, script, "--no-such-option", *ARGUMENTS.get(script, []))
    assert (done.returncode, done.stdout) == (2, "")
    assert "--no-such-option" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "arguments",
    [
        ["scripts/build"],
        ["scripts/build", "relase"],
        ["scripts/image", "one", "two"],
        ["scripts/image-root", "program"],
        ["scripts/run", "file"],
        ["scripts/run", "--listen"],
        ["scripts/setup"],
        ["scripts/setup", "tests"],
    ],
)
def test_errors_are_named(arguments, tmp_path):
    done = run(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1 and "--help" in done.stderr
