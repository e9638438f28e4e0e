"""Citations of docs/dev/PROTOCOL.md: each "PROTOCOL 1.4" in the tree names a section that exists, and no other numbering is cited."""

import re

import tree

DOCUMENT = "docs/dev/PROTOCOL.md"
SECTION = re.compile(r"^### (\d+\.\d+) \S", re.MULTILINE)
# "PROTOCOL 1.4", "PROTOCOL 8.1 to 8.5", "PROTOCOL 2.5, 2.7 and 3.6"; a comment's line may end in between.
GAP = r"(?:\s|[*#/])+"
CITATION = re.compile(rf"\bPROTOCOL{GAP}(\d+(?:\.\d+)*(?:(?:,|{GAP}(?:to|and)){GAP}\d+(?:\.\d+)+)*)")
OTHER_NUMBERS = re.compile(rf"\bcontract,?{GAP}\d+(?:\.\d+)?", re.IGNORECASE)


def is_text(path):
    return path.endswith((".c", ".h", ".py", ".md", ".yaml", ".build")) or "." not in path.rsplit("/", 1)[-1]


def citations(text):
    """The section numbers that the text cites."""
    return [number for match in CITATION.finditer(text) for number in re.findall(r"\d+(?:\.\d+)*", match[1])]


def faults(root=tree.ROOT):
    sections = SECTION.findall(tree.read(root, DOCUMENT))
    found = [f"{DOCUMENT}: section {number} is there twice" for number in sorted(set(sections)) if sections.count(number) > 1]
    for path in tree.files(root):
        if not is_text(path) or path.startswith(("tests/fuzz/corpus/", "tests/lint/test_citations.py", "LICENSE")):
            continue
        text = tree.read(root, path)
        found += [f"{path}: PROTOCOL {number}: there is no such section" for number in citations(text) if number not in sections]
        found += [f"{path}: {match[0]}: cite docs/dev/PROTOCOL.md instead" for match in OTHER_NUMBERS.finditer(text)]
    return found


def test_the_tree_cites_sections_that_exist():
    assert faults() == []


def test_every_section_of_protocol_has_a_source():
    sections = re.split(r"^### ", tree.read(tree.ROOT, DOCUMENT), flags=re.MULTILINE)[1:]
    assert len(sections) > 30
    assert [section.split("\n")[0] for section in sections if not re.search(r"\bSource:\s", section)] == []


def test_every_citation_form_is_read(tree_of):
    text = "/* (PROTOCOL 1.1), PROTOCOL 1.2 to 1.4, PROTOCOL 2.5, 2.7 and 3.6,\n * PROTOCOL\n * 4.1. And PROTOCOL 9 */\n"
    assert citations(text) == ["1.1", "1.2", "1.4", "2.5", "2.7", "3.6", "4.1", "9"]
    assert faults(tree_of({DOCUMENT: "### 1.1 A\n", "src/a.c": "/* a: PROTOCOL 1.1 */\n"})) == []


def test_missing_section_is_named(tree_of):
    files = {DOCUMENT: "### 1.1 A\n### 1.1 B\n", "src/a.c": "/* PROTOCOL 1.1 and 1.2 */\n", "tests/b.py": '"""contract 3.3"""\n'}
    assert faults(tree_of(files)) == [
        "docs/dev/PROTOCOL.md: section 1.1 is there twice",
        "src/a.c: PROTOCOL 1.2: there is no such section",
        "tests/b.py: contract 3.3: cite docs/dev/PROTOCOL.md instead",
    ]
