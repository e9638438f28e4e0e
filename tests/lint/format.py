"""clang-format over every C file, without changing any (clang-format -i FILE does).

Only with the version the tree is formatted with: others format differently. What was clean and has not changed is not looked at again.
"""

import hashlib
import os
import subprocess
import sys

import llvm
import tree

# A line for each file that was clean: a digest of its path, its text and the rules.
CLEAN = os.path.join(tree.ROOT, "build", "clang-format-clean")


def digest_of(path, rules):
    return hashlib.sha256("\0".join((rules, path, tree.read(tree.ROOT, path))).encode()).hexdigest()


def remembered():
    return set(tree.read("", CLEAN).split()) if os.path.exists(CLEAN) else set()


def main():
    command = llvm.tool("clang-format")
    rules, known = tree.read(tree.ROOT, ".clang-format"), remembered()
    digests = {path: digest_of(path, rules) for path in tree.c_files()}
    paths = [path for path, digest in digests.items() if digest not in known]
    clang_format = [command, "--dry-run", "--Werror", "--ferror-limit=3", *paths]
    if paths and subprocess.run(clang_format, cwd=tree.ROOT, check=False).returncode:
        return 1
    os.makedirs(os.path.dirname(CLEAN), exist_ok=True)
    with open(CLEAN, "w", encoding="ascii") as file:
        file.writelines(f"{digest}\n" for digest in digests.values())
    return 0


if __name__ == "__main__":
    sys.exit(main())
