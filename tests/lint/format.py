"""clang-format over every C file, without changing any (clang-format -i FILE does).

Only with the version the tree is formatted with: others format differently.
"""

import subprocess
import sys

import llvm
import tree


def main():
    clang_format = [llvm.tool("clang-format"), "--dry-run", "--Werror", "--ferror-limit=3"]

    def is_clean(paths):
        return subprocess.run([*clang_format, *paths], cwd=tree.ROOT, check=False).returncode == 0

    return tree.judge_c_files("clang-format", tree.read(tree.ROOT, ".clang-format"), is_clean)


if __name__ == "__main__":
    sys.exit(main())
