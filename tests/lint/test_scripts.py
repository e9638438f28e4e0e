"""Each script answers --help with its usage and a mistyped option with an error, and does nothing else then."""

import os
import shutil
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
        ["scripts/run", "--config"],
        ["scripts/setup"],
        ["scripts/setup", "tests"],
    ],
)
def test_errors_are_named(arguments, tmp_path):
    done = run(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1 and "--help" in done.stderr


@pytest.mark.parametrize("name, shown", [("run", [f"built: {n}0 %" for n in range(1, 11)]), ("test", [])])
@pytest.mark.parametrize("status", [0, 1])
def test_a_build_to_run_shows_how_far_it_is(tmp_path, name, shown, status):
    """Without a terminal, too: it takes most of a minute. The log has only what ninja says beside it."""
    shutil.copytree(os.path.join(tree.ROOT, "scripts"), tmp_path / "scripts")
    programs = {"meson": 'mkdir -p "$2"', "ninja": f'[ "$1" = --quiet ] || seq -f "[%g/25] compiles" 25; echo said; exit {status}'}
    for program, text in programs.items():
        (tmp_path / program).write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        (tmp_path / program).chmod(0o755)
    command = [tmp_path / "scripts/build", name]
    done = subprocess.run(command, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"}, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()) == (status, shown)
    assert (tmp_path / f"build/{name}.log").read_text(encoding="utf-8") == "said\n" and ("said" in done.stderr) == bool(status)


def commit_of(folder, **env):
    """The output of scripts/commit in a copy of the scripts that is in no git checkout."""
    shutil.copytree(os.path.join(tree.ROOT, "scripts"), folder / "scripts", dirs_exist_ok=True)
    env = {**{key: value for key, value in os.environ.items() if key != "REVISION"}, "GIT_CEILING_DIRECTORIES": str(folder.parent), **env}
    return subprocess.run([folder / "scripts/commit"], env=env, capture_output=True, text=True, check=True).stdout.strip()


def test_the_commit_of_a_tree(tmp_path):
    assert commit_of(tmp_path) == "unknown"
    assert commit_of(tmp_path, REVISION="abc") == "abc"
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "all"], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    assert commit_of(tmp_path) == commit
    (tmp_path / "new").touch()
    assert commit_of(tmp_path) == commit + "-changed"
    inner = tmp_path / "unpacked"
    inner.mkdir()
    assert commit_of(inner) == "unknown", "the repository around it is another one"
