"""clang-format over every C file, without changing any (clang-format -i FILE does).

Only with the version the tree is formatted with: others format differently.
"""

import subprocess
import sys

import llvm
import tree


def main():
    command = llvm.tool("clang-format")
    paths = tree.c_files()
    return subprocess.run(
        [command, "--dry-run", "--Werror", "--ferror-limit=3", *paths], cwd=tree.ROOT, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
