"""tests/control-plane/toolchain.py: what it fetches is what was pinned, or it is not used. The proxy here is a folder."""

import os
import stat
import subprocess
import sys
import zipfile

import pytest

CONTROL_PLANE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "control-plane")
sys.path.insert(0, CONTROL_PLANE)

import toolchain  # noqa: E402

VERSION = "v0.0.1-go1.99.0.linux-amd64"
# Made by `go mod download` from the same three files.
DIGEST = "h1:1TkKD4PYlShuImmtJ2TIWJUmKw1VbkjiRNEsWNBXI+s="
FILES = {"VERSION": "go1.99.0\n", "bin/go": "#!/bin/sh\necho go1.99.0\n", "pkg/tool/linux_amd64/link": "#!/bin/sh\n"}


@pytest.fixture
def proxy(tmp_path):
    """A Go module proxy: a folder, as GOPROXY may name one."""
    folder = tmp_path / "proxy" / toolchain.MODULE / "@v"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / f"{VERSION}.zip", "w") as archive:
        for name, text in FILES.items():
            archive.writestr(f"{toolchain.MODULE}@{VERSION}/{name}", text)
    return (tmp_path / "proxy").as_uri()


@pytest.fixture
def fetch(tmp_path):
    """fetch(GOPROXY, digest) -> the Go root."""

    def run(proxies, digest=DIGEST, machine="x86_64"):
        sums = tmp_path / "toolchain.sum"
        sums.write_text(f"{toolchain.MODULE} {VERSION} {digest}\n", encoding="utf-8")
        return toolchain.toolchain(str(tmp_path / "go"), str(sums), machine, {"GOPROXY": proxies, "HOME": str(tmp_path)})

    return run


def test_go_is_fetched_and_can_be_run(fetch, proxy):
    root = fetch(f"{proxy},direct")
    assert subprocess.check_output([f"{root}/bin/go"], text=True) == "go1.99.0\n"
    assert os.stat(f"{root}/pkg/tool/linux_amd64/link").st_mode & stat.S_IXUSR
    assert fetch("off") == root, "fetched again, though it is there"


def test_next_proxy_is_used_if_one_lacks_the_file(fetch, proxy, tmp_path):
    assert fetch(f"{(tmp_path / 'empty').as_uri()}|{proxy}/,off")


def test_unpinned_file_is_not_used(fetch, proxy, tmp_path):
    with pytest.raises(toolchain.Wrong, match="should have h1:AAAA"):
        fetch(proxy, "h1:AAAA")
    assert os.listdir(tmp_path / "go") == []


@pytest.mark.parametrize("proxies", ["off", "direct", "file:///nowhere/at/all"])
def test_missing_proxy_is_reported(fetch, proxies):
    with pytest.raises(toolchain.NotHere, match="proxy"):
        fetch(proxies)


def test_another_architecture_has_no_toolchain(fetch, proxy):
    with pytest.raises(toolchain.NotHere, match="riscv64"):
        fetch(proxy, machine="riscv64")


@pytest.mark.parametrize(("wanted", "version"), [("go1.9", "go1.26.8"), ("go1.26.8", "go1.26.8"), ("go1.27.0", "go1.27.4")])
def test_the_first_pinned_that_is_new_enough_is_taken(wanted, version):
    assert toolchain.pinned(toolchain.SUMS, "x86_64", wanted)[0] == f"v0.0.1-{version}.linux-amd64"


def test_a_newer_go_than_any_pinned_is_not_there():
    with pytest.raises(toolchain.NotHere, match="go1.99"):
        toolchain.pinned(toolchain.SUMS, "x86_64", "go1.99")


def test_proxy_is_read_from_go_env(tmp_path):
    config = tmp_path / "env"
    config.write_text("GOFLAGS=-x\nGOPROXY=https://a.example/,direct\n", encoding="utf-8")
    assert toolchain.proxies({"GOENV": str(config)}) == ["https://a.example"]
    assert toolchain.proxies({"GOENV": str(config), "GOPROXY": "https://b.example"}) == ["https://b.example"]
    assert toolchain.proxies({"HOME": str(tmp_path)}) == []
