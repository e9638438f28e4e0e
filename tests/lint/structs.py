"""One name, one struct: a struct, union or enum name has one definition in src/ and include/ together.

A reader who looks a name up finds one definition, whatever file he came from. And each setting has a user: a member of
include/config/settings.h that only the table of keys names is a key of the policy file without effect.
"""

import collections
import re
import sys

import tree

DEFINITION = re.compile(r"^(?:(?:static|const|typedef|extern) )*(?:struct|union|enum)(?: [A-Z_]+\([^)\n]*\)+)? (\w+) \{", re.M)
SETTINGS, TABLE = "include/config/settings.h", "src/config/setting.c"
MEMBER = re.compile(r"^    [\w ]+[ *](\w+);", re.M)
READ = re.compile(r"(?:\.|->)(\w+)\b(?! = )")


def check_names(root):
    places = collections.defaultdict(list)
    for path in tree.files(root, ("src/", "include/"), (".c", ".h")):
        for name in DEFINITION.findall(tree.read(root, path)):
            places[name].append(path)
    return [
        f"{name}: is defined in {', '.join(paths)}; give each its own name"
        for name, paths in sorted(places.items())
        if len(paths) > 1
    ]


def check_settings(root):
    sources = [path for path in tree.files(root, ("src/",), (".c",)) if path != TABLE]
    used = {name for path in sources for name in READ.findall(tree.read(root, path))}
    members = [name for path in tree.files(root, (SETTINGS,), (".h",)) for name in MEMBER.findall(tree.read(root, path))]
    return [f"{SETTINGS}: {name}: nothing reads it but {TABLE}; hand it to its user" for name in members if name not in used]


def check(root):
    return check_names(root) + check_settings(root)


if __name__ == "__main__":
    sys.exit(tree.report(check(tree.ROOT)))
