"""clang-tidy over every C file of a build, on all cores, remembering what was clean.

Usage: tidy.py [--deep] [BUILD-DIRECTORY [PATH-PART...]], built with clang; build/thread by default. --deep explores each function
as far as the analyzer does by itself, in three times the time. A file is looked at again when it, a header that it includes, its
compile command, .clang-tidy or clang-tidy itself changed: the key of all that is the name of an empty file in .cache/clang-tidy.
The key holds no path of this checkout, so another checkout may use the same folder. A finding is never remembered.
"""

import argparse
import concurrent.futures
import contextlib
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import llvm
import tree

CACHE = os.path.join(tree.ROOT, ".cache", "clang-tidy")
LOG = os.path.join(tree.ROOT, "build", "clang-tidy.log")
MODEL = os.path.join(tree.ROOT, "tests", "lint", "model")
# The analyzer gives a function up after so many states of the program; 225,000 is its own number.
STATES, DEEP_STATES = 75_000, 225_000
FINDING = re.compile(r": (error|warning): ")
# A run needs one key per C file. Keys that no run has used for this long are dropped, and the oldest if there are too many.
KEEP_S, KEEP_N = 30 * 24 * 3600, 20_000


def dependencies(build):
    """Object file -> the files it was made of, from ninja's own record."""
    listed = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True)
    found, current = {}, []
    for line in listed.stdout.splitlines():
        if line.startswith(" "):
            current.append(os.path.normpath(os.path.join(build, line.strip())))
        elif ": #deps" in line:
            current = found[line.split(": #deps")[0]] = []
    return found


class Digests:
    """SHA-256 of files, each read once."""

    def __init__(self):
        self.known = {}

    def of(self, path):
        if path not in self.known:
            with open(path, "rb") as file:
                self.known[path] = hashlib.sha256(file.read()).hexdigest()
        return self.known[path]


def key_of(root, entry, depends, config, digests):
    files = sorted(f"{os.path.relpath(path, root)} {digests.of(path)}" for path in depends)
    parts = [config, entry["command"], *files]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def tidy(command, database, path, states=STATES):
    """Whether it is clean, and what was said. `database`: a folder with compile_commands.json."""
    extra = [f"--extra-arg-before=-isystem{MODEL}"]
    extra += [f"--extra-arg={arg}" for arg in ("-Xclang", "-analyzer-config", "-Xclang", f"max-nodes={states}")]
    done = subprocess.run([command, "--quiet", *extra, "-p", database, path], capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout + (done.stderr if done.returncode else "")


def findings(said):
    """Only the findings, with the line of code; how the analyzer came to them is in LOG."""
    lines = said.split("\n")
    return [
        line
        for number, line in enumerate(lines)
        if any(FINDING.search(lines[near]) for near in (number, number - 1, number - 2) if near >= 0)
    ]


def entries_of(build):
    """Path -> a file's first compile command. Programs that share the file differ in the folders for included files only; clang-tidy
    by itself would repeat its work for each."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    found = {}
    for entry in entries:
        found.setdefault(os.path.normpath(os.path.join(build, entry["file"])), entry)
    return found


def jobs_of(build, entries, parts, config):
    """The files that were not found clean before: (path, key). The key is None if ninja does not know what the file includes."""
    depends, digests = dependencies(build), Digests()
    for path, entry in entries.items():
        if parts and not any(part in path for part in parts):
            continue
        known = depends.get(entry["output"])
        key = key_of(tree.ROOT, entry, known, config, digests) if known else None
        if not is_remembered(key):
            yield path, key


def is_remembered(key):
    if not key or not os.path.exists(os.path.join(CACHE, key)):
        return False
    os.utime(os.path.join(CACHE, key))
    return True


def remember(key):
    if key:
        open(os.path.join(CACHE, key), "w", encoding="utf-8").close()


def forget_old():
    """Another run may do the same at the same time."""
    paths = [os.path.join(CACHE, name) for name in os.listdir(CACHE)]
    with contextlib.suppress(FileNotFoundError):
        newest = sorted(paths, key=os.path.getmtime, reverse=True)
        for number, path in enumerate(newest):
            if number >= KEEP_N or os.path.getmtime(path) < time.time() - KEEP_S:
                os.remove(path)


def configuration(command, states):
    """All that decides besides the sources."""
    version = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    model = [tree.read(MODEL, name) for name in sorted(os.listdir(MODEL))]
    return "\n".join([version, tree.read(tree.ROOT, ".clang-tidy"), str(states), *model])


def main(build, parts, states=STATES):
    command = llvm.tool("clang-tidy")
    os.makedirs(CACHE, exist_ok=True)
    forget_old()
    entries = entries_of(build)
    jobs = list(jobs_of(build, entries, parts, configuration(command, states)))
    all_said = []
    with tempfile.TemporaryDirectory() as database, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        with open(os.path.join(database, "compile_commands.json"), "w", encoding="utf-8") as file:
            json.dump(list(entries.values()), file)
        done = pool.map(lambda job: tidy(command, database, job[0], states), jobs)
        for (_, key), (clean, said) in zip(jobs, done):
            if clean:
                remember(key)
            else:
                all_said.append(said)
                print("\n".join(findings(said)))
    if all_said:
        with open(LOG, "w", encoding="utf-8") as log:
            log.write("\n".join(all_said))
        print(f"All that clang-tidy said is in {os.path.relpath(LOG, tree.ROOT)}")
    return 1 if all_said else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Runs clang-tidy over every C file of a build.")
    parser.add_argument("--deep", action="store_true")
    parser.add_argument("build", nargs="?", default="build/thread")
    parser.add_argument("parts", nargs="*")
    given = parser.parse_args()
    sys.exit(main(os.path.join(tree.ROOT, given.build), given.parts, DEEP_STATES if given.deep else STATES))
