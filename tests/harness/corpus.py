"""Feeds every file of each fuzz target's corpus to the target, in the sanitized build and without libFuzzer (tests/fuzz/corpus.c)."""

import concurrent.futures
import os

from harness import commands, unit

TARGETS = "build/test/tests/fuzz"
CORPUS = "tests/fuzz/corpus"


def names(wanted):
    folder = os.path.join(commands.ROOT, CORPUS)
    return sorted(name for name in os.listdir(folder) if name.startswith(tuple(wanted) or ""))


def run(results, step, wanted):
    chosen = names(wanted)
    if not chosen:
        results.fail(step, f"no corpus is called {' or '.join(wanted)}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        runs = {name: pool.submit(commands.run, [f"{TARGETS}/corpus_{name}", f"{CORPUS}/{name}"], unit.ENV) for name in chosen}
        for name, done in runs.items():
            commands.record(results, f"{step}/{name}", done.result())
