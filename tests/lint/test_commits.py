"""The lint of subjects rejects what is certain, and skips history that it cannot judge."""

import os
import subprocess

import commits
import pytest

GOOD = "docs: name the actor"


@pytest.fixture
def history(tmp_path):
    """history(subject...): a repository of a first commit and of these; returns (its folder, the first commit)."""
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "HOME": str(tmp_path)}

    def git(*arguments):
        who = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main")
        done = subprocess.run(["git", *who, "-C", tmp_path, *arguments], env=env, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def make(*subjects):
        git("init", "--quiet")
        for subject in ("The rule is made", *subjects):
            git("commit", "--quiet", "--allow-empty", "--message", subject)
        return str(tmp_path), git("rev-list", "--max-parents=0", "HEAD")

    make.git = git
    return make


@pytest.mark.parametrize(
    "subject",
    [
        GOOD,
        "tests/wire, docs: ask for `x` twice",
        "kube: " + "x" * 66,
        "kube: embed a list",
        "kube: need less; bring, feed and string more",
        'Revert "The thing was done"',
    ],
)
def test_good_subjects_pass(subject):
    assert commits.fault_of(subject) is None


@pytest.mark.parametrize(
    "subject, says",
    [
        ("The thing was done", "should be"),
        ("Docs: name the actor", "should be"),
        ("docs:name the actor", "should be"),
        ("docs: " + "x" * 67, "73 characters"),
        ("docs: added a page", '"added"'),
        ("docs: fixing a page", '"fixing"'),
    ],
)
def test_bad_subjects_are_named(history, subject, says):
    found = commits.check(*history(GOOD, subject, GOOD))
    assert len(found) == 1 and says in found[0] and found[0].endswith(subject)


@pytest.mark.parametrize("subjects", [[], [GOOD]])
def test_commits_before_the_rule_are_not_checked(history, subjects):
    assert commits.check(*history(*subjects)) == []


def test_merges_and_published_commits_are_not_checked(history):
    root, first = history(GOOD)
    history.git("checkout", "--quiet", "-b", "other", first)
    history.git("commit", "--quiet", "--allow-empty", "--message", GOOD)
    history.git("merge", "--quiet", "--message", "Both of them", "main")
    assert commits.check(root, first) == []
    history.git("commit", "--quiet", "--allow-empty", "--message", "Published already")
    history.git("update-ref", "refs/remotes/origin/main", "HEAD")
    history.git("commit", "--quiet", "--allow-empty", "--message", GOOD)
    assert commits.check(root, first) == []


def test_commit_of_another_tool_at_head_is_no_fault(history):
    root, first = history(GOOD, "Snapshot 1")
    with pytest.raises(commits.Unknown, match="HEAD may be another tool's"):
        commits.check(root, first)


def test_fault_below_a_commit_of_another_tool_counts(history):
    assert len(commits.check(*history("docs: added a page", "Snapshot 1"))) == 1


def test_unknown_history_is_not_checked(history, tmp_path_factory, monkeypatch):
    def why(root, before):
        with pytest.raises(commits.Unknown) as raised:
            commits.check(root, before)
        return str(raised.value)

    root, first = history(GOOD, "Snapshot 1", GOOD)
    beside = tmp_path_factory.mktemp("beside")
    shallow = str(beside / "shallow")
    history.git("clone", "--quiet", "--depth", "1", f"file://{root}", shallow)
    assert "shallow" in why(shallow, first)
    assert "rev-parse" in why(str(beside), first)
    assert "cat-file" in why(root, "0123456789" * 4)
    os.mkdir(os.path.join(root, "inner"))
    assert "another repository" in why(os.path.join(root, "inner"), first)
    history.git("checkout", "--quiet", "--orphan", "alone")
    history.git("commit", "--quiet", "--allow-empty", "--message", "Alone")
    assert "does not descend" in why(root, first)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    assert "dubious ownership" in why(root, first)
    monkeypatch.setenv("PATH", str(beside))
    assert "No such file" in why(root, first)


def test_unknown_history_is_skipped_with_status_77(monkeypatch, capsys):
    monkeypatch.setattr(commits, "check", lambda _: (_ for _ in ()).throw(commits.Unknown("no git")))
    with pytest.raises(SystemExit) as ended:
        commits.main()
    assert ended.value.code == 77 and capsys.readouterr().out == "not here: no git\n"
