"""Commands and files in docs/OPERATIONS.md. Checks nothing."""

import os
import re

from service import ROOT

with open(os.path.join(ROOT, "docs/OPERATIONS.md"), encoding="utf-8") as document:
    DOCUMENT = document.read()
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def block(language, holds):
    """The only code block with this text."""
    (found,) = [(indent, text) for indent, of, text in BLOCK.findall(DOCUMENT) if of == language and holds in text]
    return re.sub(rf"^{found[0]}", "", found[1], flags=re.MULTILINE)


def command(beginning):
    """The only command line that begins with this text."""
    lines = {line.strip() for _, language, text in BLOCK.findall(DOCUMENT) if language == "sh" for line in text.splitlines()}
    (found,) = [line for line in lines if line.startswith(beginning)]
    return found
