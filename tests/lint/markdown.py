"""Markdown that can be read in a terminal and whose links lead somewhere: widths, links, anchors, files named in the text, and the
marks of what tests run.

Tables and code blocks may be wider. It fetches nothing: addresses with a scheme are not followed.
"""

import os
import re
import sys
import urllib.parse

import marked
import tree

WIDTH = 100
FENCE = re.compile(r"^ *(```+|~~~+)")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
MARK = re.compile(r"^ *<!-- *test:", re.MULTILINE)
HEADING = re.compile(r"^(#{1,6}) +(.*?)(?: +#+)?$")
CODE = re.compile(r"(`+)(?!`)(?:(?!\n\n).)*?(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^ *\[[^\]]+\]: +<?([^\s>]+)", re.MULTILINE)
# One link or address, with what a list or a sentence puts around it: there is no place to break it.
ONE_LINK = re.compile(r"[\s>*\d.+-]*(?:!?\[[^\]]*\]\(\S+\)|\[[^\]]+\]: \S+|[(<]?\w+://\S+)[.,;:)]*")
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
# Files of the tree, as the text names them; placeholders such as examples/NAME.yaml name none.
NAMED = re.compile(r"(?<![\w/.-])(?:\.ci|config|docs|examples|include|manifests|scripts|src|tests)/[\w./-]*\w")
PLACEHOLDER = re.compile("FOLDER|NAME")
HISTORY = "CHANGELOG.md"  # names what is gone


def prose_of(text):
    """[(line number, line)] outside of code blocks."""
    found, fence = [], None
    for number, line in enumerate(text.split("\n"), 1):
        mark = FENCE.match(line)
        if fence is None and mark:
            fence = mark[1]
        elif fence is None:
            found.append((number, line))
        elif mark and mark[1].startswith(fence) and not line.strip(" `~"):
            fence = None
    return found


def anchors(text):
    """The anchors that a link can name: the headings, as GitHub names them."""
    found = set()
    for _, line in prose_of(text):
        heading = HEADING.match(line)
        if heading:
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[2]).lower()
            name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            numbered = (f"{name}-{i}" for i in range(1, len(found) + 2))
            found.add(name if name not in found else next(each for each in numbered if each not in found))
    return found


def check_width(path, text):
    return [
        f"{path}:{number}: {len(line)} columns, at most {WIDTH} outside of tables and code blocks"
        for number, line in prose_of(text)
        if len(line) > WIDTH and not line.lstrip().startswith("|") and not ONE_LINK.fullmatch(line)
    ]


def check_link(root, path, target):
    """The fault of the link, or None."""
    if SCHEME.match(target):
        return None
    file, _, anchor = urllib.parse.unquote(target).partition("#")
    there = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
    if there.startswith("..") or not os.path.exists(os.path.join(root, there)):
        return f"links to {target}, which does not exist"
    if anchor and there.endswith(".md") and anchor not in anchors(tree.read(root, there)):
        return f"links to {target}, but {there} has no such heading"
    return None


def without_code(text):
    """The prose alone, line for line: without code blocks, code spans and comments."""
    lines = [""] * (text.count("\n") + 1)
    for number, line in prose_of(text):
        lines[number - 1] = line
    return COMMENT.sub(blank, CODE.sub(blank, "\n".join(lines)))


def blank(match):
    return "\n" * match[0].count("\n")


def check_links(root, path, text):
    prose, faults = without_code(text), []
    for match in LINK.finditer(prose):
        wrong = check_link(root, path, match[1] or match[2])
        if wrong:
            faults.append(f"{path}:{prose.count(chr(10), 0, match.start()) + 1}: {wrong}")
    return faults


def check_named(root, path, text):
    if path == HISTORY:
        return []
    return [
        f"{path}:{number}: names {name}, which does not exist"
        for number, line in prose_of(text)
        for name in NAMED.findall(re.sub(r"\w+://\S+|\]\([^)]*\)", "", line))
        if not PLACEHOLDER.search(name) and not os.path.exists(os.path.join(root, name))
    ]


def check_file(root, path):
    text = tree.read(root, path)
    return check_width(path, text) + check_links(root, path, text) + check_named(root, path, text)


def check_marks(root, documents):
    """Each mark stands before a block or a table, a test uses it, and what a test uses is there."""
    tests = [path for path in tree.files(root, ("tests/",), (".py",)) if not path.startswith("tests/lint/")]
    used = {use: path for path in tests for use in marked.uses(tree.read(root, path))}
    there, faults = set(), []
    for path in documents:
        text = tree.read(root, path)
        there |= {(path, name) for name in marked.names(text)}
        alone = len(MARK.findall(text)) - len(marked.names(text))
        faults += [f"{path}:1: {alone} marks `<!-- test: NAME -->` without a block or a table below"] if alone else []
    faults += [f"{path}:1: no test uses what is marked {name}" for path, name in sorted(there - set(used))]
    return faults + [f"{used[use]}:1: {use[0]} has nothing marked {use[1]}" for use in sorted(set(used) - there)]


def check(root):
    documents = tree.files(root, endings=(".md",))
    return [fault for path in documents for fault in check_file(root, path)] + check_marks(root, documents)


if __name__ == "__main__":
    sys.exit(tree.report(check(tree.ROOT)))
