"""The files of this tree, as the lints see them: what git knows or would add, else what lies there.

Only lists, prints and remembers; it judges nothing.
"""

import hashlib
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NOT_OURS = {".git", ".cache", "build", "__pycache__"}


def _listed_by_git(root):
    """None: it is no checkout, or git refuses to read it."""
    command = ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return [path for path in found.stdout.split("\0") if path] if found.returncode == 0 else None


def _walked(root):
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in NOT_OURS]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), root)


def files(root=ROOT, under=("",), endings=("",)):
    """Paths relative to root, sorted, that begin with one of `under` and end with one of `endings`."""
    listed = _listed_by_git(root) if os.path.exists(os.path.join(root, ".git")) else None
    return sorted(
        path
        for path in set(_walked(root) if listed is None else listed)
        if path.startswith(tuple(under))
        and path.endswith(tuple(endings))
        and os.path.isfile(os.path.join(root, path))
    )


def c_files(root=ROOT):
    return files(root, ("src/", "include/", "tests/"), (".c", ".h"))


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def judge_c_files(name, rules, is_clean):
    """Exit status of a lint of single C files. What was clean under these rules and has not changed is not looked at again: build/NAME-clean
    has a line for each such file, a digest of its path, its text and the rules. is_clean(paths) prints faults."""
    memory = os.path.join(ROOT, "build", f"{name}-clean")
    known = set(read("", memory).split()) if os.path.exists(memory) else set()
    digests = {path: hashlib.sha256("\0".join((rules, path, read(ROOT, path))).encode()).hexdigest() for path in c_files()}
    paths = [path for path, digest in digests.items() if digest not in known]
    if paths and not is_clean(paths):
        return 1
    os.makedirs(os.path.dirname(memory), exist_ok=True)
    with open(memory, "w", encoding="ascii") as file:
        file.writelines(f"{digest}\n" for digest in digests.values())
    return 0


def report(faults):
    """Prints the faults, one a line, and gives the exit status."""
    for fault in faults:
        print(fault)
    return 1 if faults else 0


def not_here(reason):
    """Ends a lint that this machine cannot run: status 77 and the reason, which run_all.py lists."""
    print(reason)
    sys.exit(77)
