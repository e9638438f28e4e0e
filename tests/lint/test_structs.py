"""The lint of struct names finds a second definition, and nothing else."""

import pytest
import structs


@pytest.mark.parametrize(
    "text",
    [
        "struct entry {\n    int n;\n};\n",
        "union entry {\n    int n;\n};\n",
        "enum entry { A, B };\n",
        "static const struct entry {\n    int n;\n} ROWS[] = {{1}};\n",
    ],
)
def test_a_second_definition_is_a_fault(tree_of, text):
    root = tree_of({"include/base/a.h": "struct entry {\n    char *name;\n};\n", "src/kube/b.c": text})
    assert structs.check(root) == ["entry: is defined in include/base/a.h, src/kube/b.c; give each its own name"]


@pytest.mark.parametrize(
    "text",
    [
        "struct entry;\n",
        "struct entry *entry_new(void);\n",
        "static const struct entry NONE = {0};\n",
        "static struct entry entry_of(int n)\n{\n    return (struct entry){n};\n}\n",
        "struct other {\n    struct entry entry;\n};\n",
    ],
)
def test_a_use_is_no_definition(tree_of, text):
    root = tree_of({"include/base/a.h": "struct entry {\n    char *name;\n};\n", "src/kube/b.c": text})
    assert structs.check(root) == []


@pytest.mark.parametrize("use, is_used", [("n = from->wait_s * 1000;", True), ("settings->wait_s = 3;", False), ("AT(wait_s)", False)])
def test_a_setting_that_nothing_reads_is_a_fault(tree_of, use, is_used):
    settings = {structs.SETTINGS: "struct settings {\n    size_t wait_s; /* for it */\n};\n", structs.TABLE: "x = y.wait_s\n"}
    faults = structs.check(tree_of({**settings, "src/daemon/a.c": use}))
    assert [fault.split(": ")[1] for fault in faults] == ([] if is_used else ["wait_s"])
