"""-f of kubectl gpu, as kubectl's: files, folders, standard input, several of them."""

import json

import pytest
import yaml
from kubectl_gpu import FILE, FITS, TOO_LARGE, complaint, said


def named(name, resources=FITS):
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [{"name": "c", "resources": {"limits": resources}}]}}
    return json.dumps(pod, indent="\t")


def in_yaml(text):
    return yaml.safe_dump(json.loads(text))


@pytest.fixture
def folder(tmp_path):
    """b.yaml, a.json, inner/c.yml; and files that are no manifests."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "a.json").write_text(named("a"), encoding="utf-8")
    (tmp_path / "b.yaml").write_text(in_yaml(named("b")), encoding="utf-8")
    (tmp_path / "inner/c.yml").write_text(in_yaml(named("c")), encoding="utf-8")
    (tmp_path / "README").write_text("a: [", encoding="utf-8")
    (tmp_path / "values.yaml.orig").write_text("a: [", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "words, names",
    [
        (["-f", "{}"], "ab"),
        (["-f", "{}/"], "ab"),
        (["-f", "{}", "-R"], "abc"),
        (["--recursive", "--filename={}"], "abc"),
        (["-f", "{}/inner", "-f", "{}/a.json"], "ca"),
        (["-f", "{0}/b.yaml,{0}/inner"], "bc"),
        (["-f", "{}/b.yaml", "-f", "-"], "bx"),
    ],
)
def test_all_that_is_named_is_judged_in_its_order(folder, words, names):
    shown = said("fit", *(word.format(folder) for word in words), *FILE, "-o", "name", text=named("x"))
    assert shown == "".join(f"pod/{name}\n" for name in names)


def test_each_takes_room_from_the_next(folder):
    """One of twelve fits, not all."""
    much = {"nvidia.com/gpu": "8"}
    alone = [named(f"p{i}", much) for i in range(12)]
    for i, text in enumerate(alone):
        (folder / f"p{i:02}.yaml").write_text(text, encoding="utf-8")
    assert said("fit", "-f", folder / "p00.yaml", *FILE, "-o", "name") == "pod/p0\n"
    said("fit", "-f", folder, *FILE, "-o", "name", status=1)


def test_a_second_file_is_not_overlooked(folder):
    """The exit status is that of all files, whatever their order."""
    large = folder / "large.yaml"
    large.write_text(named("large", TOO_LARGE), encoding="utf-8")
    for files in ((large, folder / "b.yaml"), (folder / "b.yaml", large)):
        said("fit", *(word for file in files for word in ("-f", file)), *FILE, status=1)
        said("what-if", *(word for file in files for word in ("-f", file)), *FILE, status=1)


def test_what_if_judges_all_that_is_named(folder):
    shown = said("what-if", "-f", folder, "-R", "-f", "-", *FILE, "-o", "json", text=named("x"))
    assert [each["name"] for each in json.loads(shown)["workloads"]] == list("abcx")


@pytest.mark.parametrize("verb", ["fit", "what-if"])
def test_what_is_wrong_is_told_with_the_file(folder, verb):
    (folder / "d.yaml").write_text("kind: Pod\nspec:\n a: b\n  c: d\n", encoding="utf-8")
    for files in (folder / "d.yaml", folder):
        said_of_it = complaint(verb, "-f", files, *FILE, status=2)
        assert said_of_it.startswith("MISTAKE  ") and said_of_it.endswith("\n         Nothing was judged.")
        assert f"{folder}/d.yaml, line 4: mapping values are not allowed" in " ".join(said_of_it.split())
    (folder / "d.yaml").write_text("metadata: {}\n", encoding="utf-8")
    skipped = json.loads(said(verb, "-f", folder, *FILE, "-o", "json", status=2))["skipped"]
    assert [item["why"] for item in skipped] == [f"unreadable: {folder}/d.yaml: 1:1: kind: is missing"]


@pytest.mark.parametrize(
    "words, message",
    [
        (["-f", "https://example.com/pod.yaml"], "https://example.com/pod.yaml: is not fetched"),
        (["-f", "HTTP://example.com/pod.yaml"], "HTTP://example.com/pod.yaml: is not fetched"),
        (["-f", "{}/none.yaml"], "{}/none.yaml: cannot be read: No such file"),
        (["-f", "{}/empty"], "{}/empty: has no file that ends in .json, .yaml or .yml; -R"),
        (["-f", "{}/empty", "-R"], "{}/empty: has no file that ends in"),
        (["-f", "{}/b.yaml,"], "-f: a name is empty"),
        (["-f", "{}/b.yaml", "-f", "{}/bytes.yaml"], "{}/bytes.yaml: is no UTF-8"),
        (["-f", "-", "-f", "-"], "-: standard input can be read once only"),
        (["-R"], "--recursive: needs -f with a folder"),
    ],
)
def test_names_that_are_refused(folder, words, message):
    (folder / "empty").mkdir()
    (folder / "bytes.yaml").write_bytes(b"\xff")
    for verb in ("fit", "what-if"):
        assert complaint(verb, *(word.format(folder) for word in words), *FILE, status=2).startswith(message.format(folder))


def test_links_to_folders_are_not_followed(folder):
    """As with kubectl; so a link to a folder above ends nothing."""
    (folder / "inner/up").symlink_to(folder)
    assert said("fit", "-f", folder, "-R", *FILE, "-o", "name") == "pod/a\npod/b\npod/c\n"


def test_one_file_may_have_any_encoding(folder):
    (folder / "wide.yaml").write_bytes(named("wide").encode("utf-16"))
    assert said("fit", "-f", folder / "wide.yaml", *FILE, "-o", "name") == "pod/wide\n"
