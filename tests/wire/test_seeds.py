"""Every manifest of the founding documents (../shared/seeds) goes through the dry run, unchanged.

The answers expected are in expected/seeds.yaml, with the words of the documents that make them right. Where ../shared is
absent all of this is skipped; test_examples.py asks about the same situations everywhere.
"""

import os

import expectations
import pytest
import seeds

EXPECTED = expectations.load("seeds.yaml")


@pytest.fixture(scope="session")
def folder(shared):
    return os.path.join(shared, "seeds")


@pytest.fixture(scope="session")
def blocks(folder):
    return seeds.read_blocks(folder)


@pytest.fixture(scope="session")
def manifests(blocks):
    return {manifest.id: manifest for manifest in seeds.manifests_of(blocks)}


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


def test_manifests_and_expectations_are_the_same_ones(manifests):
    assert sorted(manifests) == sorted(EXPECTED)


def test_no_manifest_is_missed(folder, manifests):
    """Every line of the documents that says kind: or apiVersion: is in a manifest, and each manifest says both once."""
    for document, text in seeds.read_documents(folder).items():
        cut = [manifest for manifest in manifests.values() if manifest.document == document]
        lines = [
            number + manifest.first - 1 for manifest in cut for number in seeds.lines_that_tell(manifest.text)
        ]
        assert sorted(lines) == seeds.lines_that_tell(text), document
    for manifest in manifests.values():
        for key in ("kind:", "apiVersion:"):
            assert sum(line.startswith(key) for line in manifest.text.splitlines()) == 1, manifest


def test_nothing_is_repaired(folder, manifests):
    """A manifest is lines of its document, byte for byte."""
    documents = seeds.read_documents(folder)
    for manifest in manifests.values():
        lines = documents[manifest.document].splitlines(keepends=True)[manifest.first - 1 :]
        assert "".join(lines).startswith(manifest.text), manifest.id


@pytest.mark.parametrize("name", EXPECTED)
def test_manifest(name, manifests, service, node_names):
    manifest = manifests[name]
    answer = ask(service, manifest.text)
    found = expectations.differences(EXPECTED[name], answer, node_names)
    assert not found, "\n".join(
        [
            f"{name} ({manifest.document}, line {manifest.first})",
            *found,
            f"because: {EXPECTED[name]['because']}",
            f"the answer's summary: {answer.get('summary')}",
            manifest.text,
        ]
    )


def test_blocks_as_a_reader_would_copy_them(blocks, service):
    """Whole blocks, with several documents and comments: the same workloads and skipped kinds, in their order."""
    for block in blocks:
        names = [EXPECTED[manifest.id] for manifest in seeds.manifests_of(blocks) if within(manifest, block)]
        answer = ask(service, block.text)
        for key in ("workloads", "skipped"):
            wanted = [(item["kind"], item["name"]) for entry in names for item in entry.get(key, [])]
            have = [(item["kind"], item["name"]) for item in answer[key]]
            assert have == wanted, f"{block.document}, line {block.first}: {key}"


def within(manifest, block):
    last = block.first + block.text.count("\n")
    return manifest.document == block.document and block.first <= manifest.first <= last
