"""Runs every libFuzzer target for its share of half a minute, starting from the corpus in the tree.

A finding is shown with its input in base64, as libFuzzer prints it; the input stays in build/fuzz/found/. New corpus entries are
discarded: each run starts from the tree's corpus.
"""

import concurrent.futures
import os
import re
import shutil

from harness import commands

SECONDS = 30
# Of one input: only a hang reaches it, however slow the machine is. Slow inputs are the subject of `hostile --times`.
HANG_S = 300
TARGETS = "build/fuzz/tests/fuzz"
PROGRESS = re.compile(r"#\d+\t(NEW|REDUCE|pulse) ")
CORPUS = "tests/fuzz/corpus"
ENV = {
    "ASAN_OPTIONS": "detect_leaks=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
}


def without_progress(output):
    """libFuzzer's output without its lines about new inputs."""
    return "\n".join(line for line in output.split("\n") if not PROGRESS.match(line))


def targets(wanted):
    folder = os.path.join(commands.ROOT, TARGETS)
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return sorted(
        name
        for name in names
        if name.startswith("fuzz_")
        and os.path.isfile(os.path.join(folder, name))
        and name[len("fuzz_") :].startswith(tuple(wanted) or "")
    )


def fuzz(name, seconds):
    fresh = os.path.join(commands.ROOT, "build/fuzz/new", name)
    found = os.path.join(commands.ROOT, "build/fuzz/found", name)
    shutil.rmtree(fresh, ignore_errors=True)
    os.makedirs(fresh)
    os.makedirs(found, exist_ok=True)
    corpus = os.path.join(CORPUS, name[len("fuzz_") :])
    return commands.run(
        [
            os.path.join(TARGETS, name),
            f"-max_total_time={seconds}",
            f"-timeout={HANG_S}",
            "-rss_limit_mb=2048",
            "-print_final_stats=1",
            f"-artifact_prefix={found}/",
            fresh,
            corpus,
        ],
        ENV,
    )


def run(results, step, wanted):
    chosen, cores = targets(wanted), os.cpu_count() or 1
    if not chosen:
        results.fail(step, "there is no such fuzz target")
        return
    seconds = max(1, SECONDS * cores // len(chosen))
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        runs = {name: pool.submit(fuzz, name, min(seconds, SECONDS)) for name in chosen}
        for name, done in runs.items():
            found = done.result()
            commands.record(results, f"{step}/{name[len('fuzz_'):]}", found._replace(output=without_progress(found.output)))
