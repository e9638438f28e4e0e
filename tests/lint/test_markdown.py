"""The Markdown lint names each line too wide and each link into nowhere, and leaves alone what may be wide."""

import markdown
import marked
import pytest

LONG = "word " * 20 + "word"
ADDRESS = "https://example.com/" + "x" * 100


def faults(tree_of, text, **files):
    return markdown.check(tree_of({"docs/a.md": text, "docs/b.md": "# B\n\n## Two words, `code` & more\n\n## Twice\n\n## Twice\n", **files}))


@pytest.mark.parametrize(
    "text",
    [
        "w" * 100,
        f"| {LONG} | {LONG} |",
        f"```sh\n{LONG}\n```",
        f"1. Run:\n\n   ```sh\n   {LONG}\n   ```",
        f"~~~\n{LONG}\n```\n{LONG}\n~~~",
        ADDRESS,
        f"* [a link]({ADDRESS}).",
        f"[a link]: {ADDRESS}",
        "See [b](b.md), [two words](b.md#two-words-code--more), [again](b.md#twice-1),\n[here](#here), [up](../docs).\n\n# Here",
        "[`code` in\na link](b.md), `[no](link)`, <!-- [no](comment) -->\n```\n[no](code)\n```",
        "A mark is `<!-- test: NAME -->`.",
        "docs/b.md, docs/NAME.md and https://kubernetes.io/docs/home are named.",
    ],
)
def test_good_documents_pass(tree_of, text):
    assert faults(tree_of, text) == []


@pytest.mark.parametrize(
    "text, says",
    [
        ("short\n" + "w" * 101, ":2: 101 columns"),
        (f"```\n```\n{LONG} {LONG}", ":3: 209 columns"),
        (f"{LONG}: {ADDRESS}", ":1: 226 columns"),
        ("See [c](c.md).", ":1: links to c.md, which does not exist"),
        ("\nSee [b\nagain](b.md#three).", ":3: links to b.md#three, but docs/b.md has no such heading"),
        ("See [b](b.md#twice-2).", "no such heading"),
        ("See [here](#here).\n\n```\n# Here\n```", "no such heading"),
        ("See [out](../../etc).", "which does not exist"),
        ("[c]: c.md", "which does not exist"),
        ("`docs/c.md` is named.", ":1: names docs/c.md, which does not exist"),
    ],
)
def test_bad_documents_are_named(tree_of, text, says):
    found = faults(tree_of, text)
    assert len(found) == 1 and says in found[0] and found[0].startswith("docs/a.md:")


def test_the_changelog_may_name_removed_files(tree_of):
    assert faults(tree_of, "", **{"CHANGELOG.md": "docs/gone.md was removed"}) == []


MARKED = "<!-- test: build -->\n```sh\nmake\nmake install\n```\n\n1. Then:\n\n   <!-- test: sizes -->\n   | a |\n   |---|\n   | 1 |\n"
USES = 'marked.line("docs/a.md", "build", "make")\nmarked.table("docs/a.md", "sizes")\n'


def test_marks_are_used_and_what_is_used_is_marked(tree_of):
    assert faults(tree_of, MARKED, **{"tests/test_a.py": USES}) == []


@pytest.mark.parametrize(
    "text, uses, says",
    [
        (MARKED, USES.replace("build", "run"), ["docs/a.md:1: no test uses what is marked build", "tests/test_a.py:1: docs/a.md has nothing marked run"]),
        (MARKED + "\n<!-- test: alone -->\n\n```sh\n```\n", USES, ["docs/a.md:1: 1 marks `<!-- test: NAME -->` without a block or a table below"]),
    ],
)
def test_bad_marks_are_named(tree_of, text, uses, says):
    assert faults(tree_of, text, **{"tests/test_a.py": uses}) == says


def test_marked_texts_are_read_without_their_indent(tree_of, monkeypatch):
    monkeypatch.setattr(marked.tree, "ROOT", tree_of({"a.md": MARKED + "<!-- test: said -->\n```console\n$ echo 1\n1\n$ true\n```\n"}))
    assert marked.block("a.md", "build") == "make\nmake install\n"
    assert marked.line("a.md", "build", "make i") == "make install"
    assert marked.table("a.md", "sizes") == [["1"]]
    assert marked.commands("a.md", "said") == [("echo 1", "1\n"), ("true", "")]
