"""Subjects of commits: `area: imperative summary`, at most 72 characters.

Only commits made after this rule are judged, and of those only what is certain: not merges, not reverts, not what another
branch or remote already publishes, and not a commit on top that some other tool made. Where git does not show that history,
the lint is skipped.
"""

import re
import subprocess
import sys

import tree

# The last commit before the rule.
BEFORE = "bdf0efd8c10c50eb79ddef205e2cd5e99284f199"
MAX_LENGTH = 72
FORM = re.compile(r"[a-z0-9][\w./, +-]*: (\S+)(?: .*)?", re.DOTALL)
GITS_OWN = re.compile(r"Revert \"|Merge ")
# "added", "fixing"; not "need" or "bring", whose stems have no such ending.
NOT_IMPERATIVE = re.compile(r"[a-z]*[aeiouy][a-z]*[^e\W\d_](?:ed|ing)")
IMPERATIVES = {"embed"}


class Unknown(Exception):
    """git does not say; the text is why."""


def git(root, *arguments, accepts=(0,)):
    """(exit status, what it printed)."""
    try:
        done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise Unknown(f"git: {error.strerror}") from error
    if done.returncode not in accepts:
        said = done.stderr.strip().split("\n")[0]
        raise Unknown(f"git {arguments[0]}: {said or f'exit status {done.returncode}'}")
    return done.returncode, done.stdout.strip()


def new_commits(root, before):
    """[(hash, subject)], the newest first. Raises Unknown."""
    if git(root, "rev-parse", "--show-prefix")[1]:
        raise Unknown("the tree is a folder of another repository")
    if git(root, "rev-parse", "--is-shallow-repository")[1] != "false":
        raise Unknown("the clone is shallow")
    git(root, "cat-file", "-e", f"{before}^{{commit}}")
    if git(root, "merge-base", "--is-ancestor", before, "HEAD", accepts=(0, 1))[0] == 1:
        raise Unknown(f"HEAD does not descend from {before[:7]}")
    listed = git(root, "log", "-z", "--no-merges", "--format=%H%x01%s", f"{before}..HEAD", "--not", "--remotes")[1]
    return [tuple(line.split("\x01", 1)) for line in listed.split("\0") if line]


def fault_of(subject):
    """The fault of the subject, or None."""
    if GITS_OWN.match(subject):
        return None
    form = FORM.fullmatch(subject)
    if not form:
        return "should be `area: imperative summary`"
    if len(subject) > MAX_LENGTH:
        return f"{len(subject)} characters, at most {MAX_LENGTH}"
    if NOT_IMPERATIVE.fullmatch(form[1]) and form[1] not in IMPERATIVES:
        return f'the summary should be imperative ("add", not "added" or "adding"), and begins with "{form[1]}"'
    return None


def check(root, before=BEFORE):
    """Faults, one a commit. Raises Unknown."""
    commits = new_commits(root, before)
    head = git(root, "rev-parse", "HEAD")[1]
    odd = [subject for commit, subject in commits if commit == head and not FORM.fullmatch(subject)]
    faults = [
        f"{commit[:7]}: {fault_of(subject)}: {subject}"
        for commit, subject in commits
        if fault_of(subject) and subject not in odd
    ]
    if odd and not faults:
        raise Unknown(f"HEAD may be another tool's, as it is not `area: imperative summary`: {odd[0]}")
    return faults


def main():
    try:
        sys.exit(tree.report(check(tree.ROOT)))
    except Unknown as why:
        tree.not_here(f"not here: {why}")


if __name__ == "__main__":
    main()
