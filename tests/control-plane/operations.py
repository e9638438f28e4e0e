"""What stands in docs/OPERATIONS.md to be run or written. Judges nothing."""

import os
import re

from service import ROOT

with open(os.path.join(ROOT, "docs/OPERATIONS.md"), encoding="utf-8") as document:
    DOCUMENT = document.read()
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def block(language, holds):
    """The one block of code that has this text in it."""
    (found,) = [(indent, text) for indent, of, text in BLOCK.findall(DOCUMENT) if of == language and holds in text]
    return re.sub(rf"^{found[0]}", "", found[1], flags=re.MULTILINE)


def command(beginning):
    """The one line of all commands that begins so."""
    lines = {line.strip() for _, language, text in BLOCK.findall(DOCUMENT) if language == "sh" for line in text.splitlines()}
    (found,) = [line for line in lines if line.startswith(beginning)]
    return found
