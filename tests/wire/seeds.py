"""Cuts the Kubernetes manifests out of the founding documents in ../shared/seeds, byte for byte.

A block is what a reader would copy in one go: what stands between two fence lines (whatever language the fence names),
or, in a document without fences, a run of lines that begins at the left edge with `kind:` or `apiVersion:` (comments just
above belong to it) and ends before the first line that cannot be part of it: an empty one, a shell prompt, EOF. Manifests
are the documents of a block. Nothing is repaired, and nothing here knows what a manifest means.
"""

import dataclasses
import os
import re

FENCE = re.compile(r"\s*(>\s*)?```")
BEGINS = re.compile(r"(apiVersion|kind):")
GOES_ON = re.compile(r"[ \t]+\S|#|---$|- |[A-Za-z][\w.-]*:( |$)")
TELLS = re.compile(r"\s*(apiVersion|kind)\s*:")
NAME = re.compile(r"^metadata:(?:\n[ #].*)*?\n  name: *(\S+)", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Block:
    """Lines of a document: first is the number of the first one, counted from 1."""

    document: str
    first: int
    text: str


@dataclasses.dataclass(frozen=True)
class Manifest:
    """One YAML document of a block. The id is made of the document's number, kind and name: 003-job-nvidia-smi."""

    id: str
    document: str
    first: int
    text: str


def fenced(lines):
    """(first line, lines) of what stands between fences; None if there are no fences."""
    found, begin = [], None
    for number, line in enumerate(lines, 1):
        if FENCE.match(line):
            if begin is not None:
                found.append((begin, lines[begin - 1 : number - 1]))
            begin = number + 1 if begin is None else None
    return found


def unfenced(lines):
    """(first line, lines) of every run of lines that begins as a manifest does."""
    found, number = [], 0
    while number < len(lines):
        if not BEGINS.match(lines[number]):
            number += 1
            continue
        begin, end = number, number
        while begin > 0 and lines[begin - 1].startswith("#"):
            begin -= 1
        while end < len(lines) and GOES_ON.match(lines[end]):
            end += 1
        found.append((begin + 1, lines[begin:end]))
        number = end
    return found


def blocks_of(document, text):
    lines = text.splitlines(keepends=True)
    found = fenced(lines) if any(FENCE.match(line) for line in lines) else unfenced(lines)
    return [
        Block(document, first, "".join(block)) for first, block in found if any(BEGINS.match(line) for line in block)
    ]


def documents_of(block):
    """(first line, text) of each YAML document of the block; the lines `---` belong to none."""
    found, first, text = [], block.first, ""
    for number, line in enumerate(block.text.splitlines(keepends=True), block.first):
        if line.rstrip() == "---":
            found.append((first, text))
            first, text = number + 1, ""
        else:
            text += line
    return [*found, (first, text)]


def label_of(document, text):
    kind = re.search(r"^kind: *(\S+)", text, re.MULTILINE)
    name = NAME.search(text)
    return f"{document[:3]}-{kind[1].lower() if kind else 'unknown'}-{name[1] if name else 'unnamed'}"


def manifests_of(blocks):
    """All manifests of the blocks. Of those that are called alike in a document, the second gets "-2"."""
    found, seen = [], {}
    for block in blocks:
        for first, text in documents_of(block):
            label = label_of(block.document, text)
            seen[label] = seen.get(label, 0) + 1
            suffix = f"-{seen[label]}" if seen[label] > 1 else ""
            found.append(Manifest(label + suffix, block.document, first, text))
    return found


def read_documents(folder):
    """{file name: text} of every document, in the order of the names."""
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8", newline="") as file:
            found[name] = file.read()
    return found


def read_blocks(folder):
    return [block for name, text in read_documents(folder).items() for block in blocks_of(name, text)]


def lines_that_tell(text):
    """Numbers of the lines that say `kind:` or `apiVersion:`, at any depth: none may be missed."""
    return [number for number, line in enumerate(text.splitlines(), 1) if TELLS.match(line)]
