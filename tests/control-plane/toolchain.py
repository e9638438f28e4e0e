"""Fetches Go, as pinned in toolchain.sum beside it, from the configured Go module proxy, on machines without Go, or
with an older one.

    toolchain.py FOLDER [WANTED]

Go's releases are modules too (golang.org/toolchain), so Go does the same if go.mod requires a newer Go. Prints the Go root below
FOLDER; fetches nothing if it exists. Exits with 77 and the reason as last line if Go is unavailable. Sources: Go Modules Reference,
"GOPROXY protocol"; golang.org/x/mod/sumdb/dirhash for the sum ("h1:").
"""

import base64
import hashlib
import os
import platform
import re
import shutil
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile

SUMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "toolchain.sum")
MODULE = "golang.org/toolchain"
MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
LIMIT_S = 120  # for one missing answer
NOT_HERE = 77
OLDEST = "go1.21"


class NotHere(Exception):
    """Go is unavailable, through no fault of ours."""


class Wrong(Exception):
    """The download differs from the pinned sum."""


def numbers(version):
    return [int(number) for number in re.search(r"go([0-9.]+[0-9])", version).group(1).split(".")]


def pinned(sums, machine, wanted):
    """(version, sum) for this kind of machine: the first that is not older than wanted."""
    kind = f".linux-{MACHINES.get(machine, machine)}"
    with open(sums, encoding="utf-8") as file:
        for line in file:
            module, version, digest = line.split()
            if module == MODULE and version.endswith(kind) and numbers(version) >= numbers(wanted):
                return version, digest
    raise NotHere(f"no Go as new as {wanted} is pinned for a machine of kind {machine}")


def setting(name, env, config):
    """A setting of Go: from the environment, else from the file that `go env -w` writes."""
    if env.get(name):
        return env[name]
    try:
        with open(config, encoding="utf-8") as file:
            found = dict(line.strip().split("=", 1) for line in file if "=" in line)
    except OSError:
        return None
    return found.get(name)


def proxies(env):
    """The proxies in GOPROXY. `direct` and `off` are skipped: a toolchain comes from a proxy only."""
    home = env.get("XDG_CONFIG_HOME") or os.path.join(env.get("HOME", "/"), ".config")
    config = env.get("GOENV") or os.path.join(home, "go/env")
    listed = setting("GOPROXY", env, config) or ""
    return [proxy.rstrip("/") for proxy in listed.replace("|", ",").split(",") if proxy not in ("", "direct", "off")]


def download(asked, version, path):
    said = "GOPROXY names no proxy to fetch it from"
    for proxy in asked:
        try:
            with urllib.request.urlopen(f"{proxy}/{MODULE}/@v/{version}.zip", timeout=LIMIT_S) as answer:
                with open(path, "wb") as file:
                    shutil.copyfileobj(answer, file)
            return
        except (urllib.error.URLError, OSError, ValueError) as error:
            said = f"the Go module proxy did not give it: {error}"
    raise NotHere(said)


def digest_of(archive):
    """The sum "h1:" of a module's archive: SHA-256 over the sorted lines `SHA-256, two spaces, name`."""
    lines = hashlib.sha256()
    for name in sorted(archive.namelist()):
        with archive.open(name) as file:
            content = hashlib.sha256()
            while chunk := file.read(1 << 20):
                content.update(chunk)
        lines.update(f"{content.hexdigest()}  {name}\n".encode())
    return "h1:" + base64.b64encode(lines.digest()).decode()


def unpack(path, version, digest, folder):
    """Unpacks into `folder` like `go` itself: a module's archive does not mark executables."""
    try:
        with zipfile.ZipFile(path) as archive:
            found = digest_of(archive)
            if found != digest:
                raise Wrong(f"{MODULE} {version} has the sum {found}, should have {digest}")
            archive.extractall(folder)
    except zipfile.BadZipFile as error:
        raise Wrong(f"{MODULE} {version}: {error}") from error
    root = os.path.join(folder, f"{MODULE}@{version}")
    for below in ("bin", "pkg/tool"):
        for parent, _, names in os.walk(os.path.join(root, below)):
            for name in names:
                os.chmod(os.path.join(parent, name), 0o755)
    return root


def toolchain(folder, sums, machine, env, wanted=OLDEST):
    """The Go root, fetched if needed: completely or not at all."""
    version, digest = pinned(sums, machine, wanted)
    root = os.path.join(folder, version)
    if os.path.isdir(root):
        return root
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        archive = os.path.join(work, "archive.zip")
        download(proxies(env), version, archive)
        os.rename(unpack(archive, version, digest, work), root)
    return root


def main():
    folder, *wanted = sys.argv[1:]
    try:
        print(toolchain(os.path.abspath(folder), SUMS, platform.machine(), os.environ, *wanted))
    except NotHere as error:
        print(error)
        return NOT_HERE
    except Wrong as error:
        print(f"tests/control-plane/toolchain.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
