"""Code blocks and tables of documents that tests run or compare: those with a mark in the line before, <!-- test: NAME -->.

Tests choose by mark, never by place or content, so a document can be rewritten around them. lint/markdown compares the marks
with the tests: each call of these functions has to name the document and the mark as texts. Several blocks may share a mark.
"""

import os
import re
import textwrap

import tree

NAME = r"^( *)<!-- test: ([\w-]+) -->\n"
BLOCK = re.compile(NAME + r"\1```\w+\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
TABLE = re.compile(NAME + r"((?:\1\|.*\n)+)", re.MULTILINE)
USE = re.compile(r"\bmarked\.\w+\(\s*\"([^\"]+)\",\s*\"([^\"]+)\"")


def names(text):
    """The marks of a document, as often as they stand before a block or a table."""
    return [match[1] for form in (BLOCK, TABLE) for match in form.findall(text)]


def uses(text):
    """[(document, mark)] that the source of a test names."""
    return USE.findall(text)


def read(document):
    with open(os.path.join(tree.ROOT, document), encoding="utf-8") as file:
        return file.read()


def blocks(document, name):
    """The texts of the blocks with this mark."""
    found = [textwrap.dedent(text) for _, mark, text in BLOCK.findall(read(document)) if mark == name]
    assert found, f"{document} has no block after <!-- test: {name} -->"
    return found


def block(document, name):
    """The text of the only one."""
    (text,) = blocks(document, name)
    return text


def line(document, name, beginning):
    """The only line of that block which begins so."""
    (found,) = [each for each in block(document, name).splitlines() if each.startswith(beginning)]
    return found


def commands(document, name):
    """[(command, the output that follows it)] of console blocks. A here-document up to EOF belongs to the command."""
    parts = [part for text in blocks(document, name) for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]]
    return [tuple(re.split(r"(?<=\nEOF)\n" if "<<'EOF'" in part.split("\n", 1)[0] else r"\n", part, maxsplit=1)) for part in parts]


def pattern_of_line(line):
    if line == "...\n":
        return "(?:.*\n)*"
    return re.escape(line.removesuffix(" ...\n")) + ".*\n" if line.endswith(" ...\n") else re.escape(line)


def pattern_of(output):
    """The documented output; a line of three dots matches any number of lines, and " ..." at the end of a line its rest."""
    return "".join(map(pattern_of_line, output.splitlines(keepends=True)))


def table(document, name):
    """The rows below the headings, cell by cell."""
    (text,) = [text for _, mark, text in TABLE.findall(read(document)) if mark == name]
    return [[cell.strip() for cell in row.strip().strip("|").split("|")] for row in text.splitlines()[2:]]
