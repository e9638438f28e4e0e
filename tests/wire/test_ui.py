"""The files of the page: open to all, without data, and confined by their headers. tests/ui has the page in a browser."""

import hashlib
import os
import re

import pytest
from service import ROOT

CONFINED = ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'")


@pytest.mark.parametrize(
    "name, kind",
    [("", "text/html"), ("index.html", "text/html"), ("main.js", "text/javascript"), ("style.css", "text/css"), ("icon.svg", "image/svg+xml"),
     ("vendor/LICENSE.preact", "text/plain")],
)  # fmt: skip
def test_a_file_is_served_confined(service, name, kind):
    answer = service.get(f"/ui/{name}")
    assert answer.status == 200 and answer.body
    assert answer.headers["content-type"].startswith(kind)
    assert all(part in answer.headers["content-security-policy"] for part in CONFINED)
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["/ui", "/", "/?x=y"])
def test_the_root_and_the_path_without_the_slash_move(service, path):
    """Relative, so that it holds behind a proxy with a path of its own. Nothing is below the root."""
    answer = service.get(path)
    if "x" in path:
        assert answer.status == 400
        return
    assert (answer.status, answer.headers["location"], answer.body) == (301, "ui/", b"")
    assert service.get("/x").status == 404 and service.post("/", "x").status == 405
    assert service.get("/ui/x").status == service.get("/uix").status == 404


def test_a_known_file_is_not_sent_again(service):
    tag = service.get("/ui/main.js").headers["etag"]
    again = service.get("/ui/main.js", {"If-None-Match": tag})
    assert again.status == 304 and not again.body
    assert service.get("/ui/style.css").headers["etag"] != tag


@pytest.mark.parametrize("path", ["/ui/nothing.js", "/ui/../etc/passwd", "/ui/main.js/", "/ui/%2e%2e/main.c"])
def test_there_is_nothing_else(service, path):
    assert service.get(path).status == 404


def test_a_post_is_refused(service):
    assert service.post("/ui/", "x").status == 405


def test_third_party_code_is_what_its_readme_names(service):
    with open(os.path.join(ROOT, "src/ui/page/vendor/README.md"), encoding="utf-8") as file:
        (stated,) = re.findall(r"SHA-256: `([0-9a-f]{64})`", file.read())
    assert hashlib.sha256(service.get("/ui/vendor/preact-htm.js").body).hexdigest() == stated
