"""The dry run of every manifest in founding/: the examples of published guides on scheduling GPU pods, as a reader would copy them.

The expected answers and the reasons for them are in expected/founding.yaml. founding/README.md names the guides.
"""

import dataclasses
import glob
import os
import re

import expectations
import pytest

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "founding")
EXPECTED = expectations.load("founding.yaml")
NAME = re.compile(r"^metadata:(?:\n[ #].*)*?\n  name: *(\S+)", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Manifest:
    """One YAML document of a file. The id has the number of the guide, kind and name: 003-job-nvidia-smi."""

    id: str
    file: str
    text: str


def read_files():
    """{file name: text}, in the order of the guides and of their examples."""
    found = {}
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.yaml"))):
        with open(path, encoding="utf-8", newline="") as file:
            found[os.path.basename(path)] = file.read()
    return found


def label_of(file, text):
    kind = re.search(r"^kind: *(\S+)", text, re.MULTILINE)
    name = NAME.search(text)
    return f"{file[:3]}-{kind[1].lower() if kind else 'unknown'}-{name[1] if name else 'unnamed'}"


def manifests_of(files):
    """{id: Manifest}. Of two with the same label in one guide, the second gets "-2"."""
    found, seen = {}, {}
    for file, whole in files.items():
        for text in re.split(r"^---\n", whole, flags=re.MULTILINE):
            label = label_of(file, text)
            seen[label] = seen.get(label, 0) + 1
            suffix = f"-{seen[label]}" if seen[label] > 1 else ""
            found[label + suffix] = Manifest(label + suffix, file, text)
    return found


FILES = read_files()
MANIFESTS = manifests_of(FILES)


@pytest.fixture(scope="module")
def service(packing_service):
    return packing_service


@pytest.fixture(scope="module")
def node_names(service):
    return [node["name"] for node in service.get("/v1/inventory").json()["nodes"]]


def ask(service, text):
    answer = service.post("/v1/dry-run", text.encode())
    assert answer.status == 200, f"{answer}\nto:\n{text}"
    return answer.json()


def test_every_manifest_has_an_expectation():
    assert sorted(MANIFESTS) == sorted(EXPECTED) and len(MANIFESTS) == 28


def test_each_manifest_is_one_object():
    for manifest in MANIFESTS.values():
        for key in ("kind:", "apiVersion:"):
            assert sum(line.startswith(key) for line in manifest.text.splitlines()) == 1, manifest


def test_handbook_gives_no_comments():
    """Its text has a licence of its own: the files hold its fields and values only (founding/README.md)."""
    comments = [line for file, text in FILES.items() if file.startswith("003-") for line in text.splitlines() if "#" in line]
    assert comments and all(line.partition("#")[2] == " 注" for line in comments), comments


@pytest.mark.parametrize("name", EXPECTED)
def test_manifest(name, service, node_names):
    manifest = MANIFESTS[name]
    answer = ask(service, manifest.text)
    found = expectations.differences(EXPECTED[name], answer, node_names)
    assert not found, "\n".join(
        [
            f"{name} ({manifest.file})",
            *found,
            f"because: {EXPECTED[name]['because']}",
            f"the answer's summary: {answer.get('summary')}",
            manifest.text,
        ]
    )


@pytest.mark.parametrize("file", FILES)
def test_whole_file_gives_all_workloads_in_order(file, service):
    """A file with several documents and comments gives the same workloads and skipped kinds, in their order."""
    entries = [EXPECTED[manifest.id] for manifest in MANIFESTS.values() if manifest.file == file]
    answer = ask(service, FILES[file])
    for key in ("workloads", "skipped"):
        wanted = [(item["kind"], item["name"]) for entry in entries for item in entry.get(key, [])]
        assert [(item["kind"], item["name"]) for item in answer[key]] == wanted, key
