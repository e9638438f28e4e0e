"""Bodies that people send to the dry run by mistake, and UTF-16: the answer, or the error with what to do."""

import json
import os

import pytest
from objects import list_text, node, pod
from service import ROOT, read

POD = read(os.path.join(ROOT, "examples/workloads"), "pod-a10.yaml")
CONTAINER = "name: main\nimage: a\nresources: {limits: {nvidia.com/gpu: 1}}\n"
SPEC = "containers:\n- name: main\n  resources: {limits: {nvidia.com/gpu: 1}}\n"
FORM = '--x1\r\nContent-Disposition: form-data; name="f"; filename="pod.yaml"\r\n\r\n' + POD + "\r\n--x1--\r\n"
FILE_HINT = "; the body is the name of a file: send the file with curl --data-binary @FILE"
LINES_HINT = "; the body has no line ends, as curl -d @FILE removes them: send the file with curl --data-binary @FILE"
FORM_HINT = "; the body is a form, as curl -F sends it: send the file with curl --data-binary @FILE"
TAB_HINT = "; a line is indented with a tab: indent with spaces"
SPEC_HINT = '; this is the spec of a pod: send a manifest, as "kind: Pod" with this below "spec:"'
CONTAINER_HINT = '; this is a container: send a manifest, as "kind: Pod" with this below "spec:" and "containers:"'


@pytest.mark.parametrize(
    "body, hint",
    [
        ("pod.yaml", FILE_HINT),
        ("examples/workloads/pod-a10.yaml\n", FILE_HINT),
        ("@list.json", FILE_HINT),
        (POD.replace("\n", ""), LINES_HINT),
        (POD.partition("\n")[2].replace("\n", ""), LINES_HINT),
        (POD.replace("\n  ", "\n\t"), TAB_HINT),
        (FORM, FORM_HINT),
        (SPEC, SPEC_HINT),
        (json.dumps({"containers": [{"name": "main"}]}), SPEC_HINT),
        (f"spec:\n  {SPEC}".replace("\n-", "\n  -").replace("\n  resources", "\n    resources"), '; add "kind: Pod"'),
        (CONTAINER, CONTAINER_HINT),
        ("- " + CONTAINER.replace("\n", "\n  "), CONTAINER_HINT),
        ("a: [", ""),
        ("hello", ""),
        ("a: |\n  b\n  \tc\n", ""),
        ("{", ""),
    ],
)
def test_mistakes_have_a_hint(service, body, hint):
    answer = service.post("/v1/dry-run", body)
    assert answer.status == 400, answer
    error = answer.json()["error"]
    assert error.startswith("manifest: ") and error.endswith(hint)
    assert hint or "; " not in error


def test_a_put_is_told_to_post(service):
    answer = service.ask("PUT", "/v1/dry-run", POD)
    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert answer.json()["error"] == "the method must be one of: POST; send a file with curl --data-binary @FILE, not with -T"


ENCODINGS = ["utf-16-le", "utf-16-be", "utf-8-sig", "with-mark-le", "with-mark-be"]


def encode(text, encoding):
    if encoding.startswith("with-mark"):
        return ("\ufeff" + text).encode("utf-16-" + encoding[-2:])
    return text.encode(encoding)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("text", [POD + "# \u00e9 \u20ac \U0001f600\n", json.dumps(pod("p\u00e9", 1), ensure_ascii=False)], ids=["yaml", "json"])
def test_utf_16_is_read(service, encoding, text):
    wanted = service.post("/v1/dry-run", text.encode())
    answer = service.post("/v1/dry-run", encode(text, encoding))
    assert wanted.status == 200 and answer.json()["workloads"] == wanted.json()["workloads"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_utf_16_is_read_in_cluster_files(start_service, tmp_path, encoding):
    path = tmp_path / "cluster"
    path.write_bytes(encode(list_text(node("a"), pod("held", 2, "a")), encoding))
    nodes = start_service("--cluster-file", path).get("/v1/inventory").json()["nodes"]
    assert [(each["name"], len(each["holders"])) for each in nodes] == [("a", 1)]


@pytest.mark.parametrize("body", [b"\xff\xfe", b"\xff", b"k\0", b"\0k\xd8", b"\xff\xfe" + b"\x00\xd8" * 5, b"k\0:\0 \0\x00\xdc\x00", b"\0\0", b"\0"])
def test_broken_utf_16_is_an_error(service, body):
    answer = service.post("/v1/dry-run", body)
    assert answer.status == 400 and answer.json()["error"].startswith("manifest: ")


def test_a_list_of_texts(service):
    """As of a what-if: the placements are those of one manifest of all."""
    both = service.post("/v1/dry-run", {"workloads": [POD, json.dumps(pod("b", 2)), pod("c", 1)]}).json()
    one = service.post("/v1/dry-run", POD + "---\n" + "".join(f"{json.dumps(item)}\n---\n" for item in (pod("b", 2), pod("c", 1)))).json()
    assert [item["name"] for item in both["workloads"]][1:] == ["b", "c"]
    assert both["workloads"] == one["workloads"] and both["summary"] == one["summary"]


@pytest.mark.parametrize(
    "body, status, message",
    [
        ({"workloads": []}, 400, "workloads: is empty, should have one or more manifests"),
        ({"workloads": {}}, 400, "workloads: is an object, should be an array"),
        ({"workloads": [POD], "explain": True}, 400, "workloads: should be the only member of the body"),
        ({"workloads": [POD, "a: ["]}, 400, "workloads[1]: 2:1: "),
        ({"workloads": [POD] * 1001}, 413, "workloads: are 1001, with texts should be at most 1000"),
        (' \n{ "workloads": [', 400, "2:17: "),
    ],
)
def test_lists_that_are_wrong(service, body, status, message):
    answer = service.post("/v1/dry-run", body)
    assert answer.status == status and answer.json()["error"].startswith(message), answer
