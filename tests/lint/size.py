"""Length, complexity and nesting of every C function, over unexpanded source, with lizard.

Run by the Python that has lizard (scripts/setup makes it in .cache/venv). lizard's own count of nested structures takes
`else if` for one more level; here it is none, and the iteration macros of uthash and jansson are loops.
"""

import os
import re
import sys

import lizard
from lizard_ext.lizardns import LizardExtension as NestedStructures

import tree

LIMITS = {"length": 60, "cyclomatic_complexity": 15, "max_nested_structures": 3}
LOOP_MACRO = re.compile(r"(HASH_ITER|\w+_FOREACH\w*|\w+_foreach\w*)$")


class Nesting(NestedStructures):
    """Feeds the counter `else if` as one word and loop macros as `for`; hands all tokens on unchanged."""

    def __call__(self, tokens, reader=None):
        self.context = reader.context
        after_else = False
        for token in tokens:
            if not token.isspace() and not token.startswith(("/*", "//")):
                after_else = self._feed(token, after_else)
            yield token

    def _feed(self, token, after_else):
        if token == "else":
            return True
        if after_else:
            self._state("elif" if token == "if" else "else")
        if not (after_else and token == "if"):
            self._state("for" if LOOP_MACRO.match(token) else token)
        return False


def extensions():
    return lizard.get_extensions([]) + [Nesting()]


def faults_of(path, with_extensions):
    analysed = lizard.FileAnalyzer(with_extensions)(os.path.join(tree.ROOT, path))
    for function in analysed.function_list:
        for field, limit in LIMITS.items():
            value = getattr(function, field)
            if value > limit:
                what = field.replace("_", " ")
                yield f"{path}:{function.start_line}: {function.name}: {what} is {value}, at most {limit}"


def is_clean(paths):
    return tree.report([fault for path in paths for fault in faults_of(path, extensions())]) == 0


def main():
    return tree.judge_c_files("size", tree.read("", __file__), is_clean)


if __name__ == "__main__":
    sys.exit(main())
