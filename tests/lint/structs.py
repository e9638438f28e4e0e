"""One name, one struct: a struct, union or enum name has one definition in src/ and include/ together.

A reader who looks a name up finds one definition, whatever file he came from.
"""

import collections
import re
import sys

import tree

DEFINITION = re.compile(r"^(?:(?:static|const|typedef|extern) )*(?:struct|union|enum)(?: [A-Z_]+\([^)\n]*\)+)? (\w+) \{", re.M)


def check(root):
    places = collections.defaultdict(list)
    for path in tree.files(root, ("src/", "include/"), (".c", ".h")):
        for name in DEFINITION.findall(tree.read(root, path)):
            places[name].append(path)
    return [
        f"{name}: is defined in {', '.join(paths)}; give each its own name"
        for name, paths in sorted(places.items())
        if len(paths) > 1
    ]


if __name__ == "__main__":
    sys.exit(tree.report(check(tree.ROOT)))
