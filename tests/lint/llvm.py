"""Finds clang-format and clang-tidy in the version that this tree's rules were written for.

Another version formats otherwise and has other checks, so its word is not asked for.
"""

import re
import shutil
import subprocess

import tree

VERSION = "14"


def tool(name):
    """The command, or the end of the lint with a reason why it cannot run here."""
    path = shutil.which(f"{name}-{VERSION}") or shutil.which(name)
    if not path:
        tree.not_here(f"{name} is missing; scripts/setup test installs it")
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"version (\d+)", said).group(1)
    if found != VERSION:
        tree.not_here(f"not here: the tree is judged by {name} {VERSION}, this system has {found}")
    return path
