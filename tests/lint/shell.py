"""shellcheck over every shell script."""

import subprocess
import sys

import tree


def main():
    scripts = [
        path
        for path in tree.files(under=("scripts/", ".ci/", "tests/", "examples/", "manifests/"))
        if tree.read(tree.ROOT, path).startswith("#!") and "sh" in tree.read(tree.ROOT, path).split("\n")[0]
    ]
    return subprocess.run(["shellcheck", "--external-sources", *scripts], cwd=tree.ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
