"""The image of scripts/image: the same bytes whenever and wherever it is built, nothing in it that is not needed, and it runs."""

import contextlib
import http.client
import json
import os
import re
import shutil
import ssl
import subprocess

import certificates
import oci
import pytest
import tree

# The loader and libraries, what they read, and what says where they are from.
WANTED = re.compile(
    r"etc/(passwd|group|nsswitch\.conf|os-release|ssl/certs/ca-certificates\.crt)"
    r"|(usr/)?lib(64)?/(\w+-linux-gnu/)?(ld-linux-[\w-]+|lib[\w.-]+)\.so(\.\d+)*"
    r"|usr/bin/gpu-extender|usr/share/doc/[\w.+-]+/copyright|var/lib/dpkg/status\.d/[\w.+-]+"
)
# Of chroot. It is all that the program is given, too.
PATH = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


def test_image_labels_describe_it(built):
    image, printed = built
    version = oci.version()
    assert image.entry["annotations"]["org.opencontainers.image.ref.name"] == f"docker.io/library/gpu-extender:{version}"
    labels = image.config["config"]["Labels"]
    revision = oci.output_of(["git", "rev-parse", "HEAD"]).strip()
    if oci.output_of(["git", "status", "--porcelain"]):
        revision += "-changed"
    assert labels["org.opencontainers.image.version"] == version
    assert labels["org.opencontainers.image.revision"] == revision
    assert labels["org.opencontainers.image.licenses"] == "Apache-2.0"
    assert image.entry["digest"] in printed and re.search(r" \d+ KiB, \d+ KiB unpacked", printed)


def test_image_runs_the_program_as_nobody(image):
    config = image.config["config"]
    assert (config["User"], config["Entrypoint"], config.get("Cmd")) == ("65534:65534", ["/usr/bin/gpu-extender"], None)
    assert image.config["os"] == "linux"
    names = {name: image.files()[f"etc/{name}"].decode() for name in ("passwd", "group")}
    assert names["passwd"].startswith("nobody:x:65534:65534:") and names["group"] == "nogroup:x:65534:\n"


def test_image_has_no_needless_files(image):
    members = image.layer.getmembers()
    assert not [item.name for item in members if not (item.isreg() or item.isdir())]
    assert not [item.name for item in members if item.isreg() and not WANTED.fullmatch(item.name)]
    runnable = [item.name for item in members if item.isreg() and item.mode & 0o111 and not re.search(r"\.so(\.\d+)*$", item.name)]
    assert runnable == ["usr/bin/gpu-extender"]


def test_all_files_are_owned_by_root_and_read_only(image):
    members = image.layer.getmembers()
    assert {(item.uid, item.gid) for item in members} == {(0, 0)}
    assert not [item.name for item in members if item.mode & 0o7022]
    assert [item.name for item in members] == sorted(item.name for item in members)


def copy_of_the_tree(folder):
    """Without git, and without what was built."""
    for path in tree.files():
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(os.path.join(oci.ROOT, path), target)
    return folder


def test_build_is_reproducible_in_another_place_and_time(image, tmp_path):
    labels = image.config["config"]["Labels"]
    env = {
        "SOURCE_DATE_EPOCH": oci.output_of(["git", "log", "-1", "--format=%ct"]).strip(),
        "REVISION": labels["org.opencontainers.image.revision"],
        # git finds no checkout above.
        "GIT_CEILING_DIRECTORIES": str(tmp_path),
        # Else nothing is compiled again.
        "CCACHE_DISABLE": "1",
    }
    umask = os.umask(0o077)
    try:
        again, _ = oci.build(tmp_path / "out", copy_of_the_tree(str(tmp_path / "elsewhere")), **env)
    finally:
        os.umask(umask)
    assert (again.entry["digest"], again.sha256) == (image.entry["digest"], image.sha256)
    assert again.sbom() == image.sbom()


def test_build_without_git_names_what_is_missing(tmp_path):
    os.makedirs(tmp_path / "scripts")
    for name in ("scripts/image", "scripts/commit", "scripts/usage", "meson.build"):
        shutil.copy(os.path.join(oci.ROOT, name), tmp_path / name)
    env = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    done = subprocess.run([tmp_path / "scripts/image"], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "set SOURCE_DATE_EPOCH and REVISION" in done.stderr


@pytest.fixture
def folder(image, tmp_path):
    """The image's file system, unpacked."""
    root = tmp_path / "image"
    image.layer.extractall(root)
    os.chmod(root, 0o755)
    return root


@contextlib.contextmanager
def started(folder, *options):
    """The program, run in that file system as the image's user."""
    enter = ["chroot", "--userspec=65534:65534"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "chroot"]
    command = [*enter, folder, "/usr/bin/gpu-extender", *options]
    with subprocess.Popen(command, env=PATH, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def test_image_runs(image, folder):
    commit = image.config["config"]["Labels"]["org.opencontainers.image.revision"]
    with started(folder, "--version") as process:
        assert process.communicate(timeout=60)[0] == f"gpu-extender {oci.version()} (commit {commit})\n"
    for name in ("examples/sample-cluster.yaml", "config/scheduler-policy.yaml"):
        shutil.copy(os.path.join(oci.ROOT, name), folder)
    files = ["--config", "/scheduler-policy.yaml", "--cluster-file", "/sample-cluster.yaml"]
    with started(folder, "--check", *files) as process:
        said = process.communicate(timeout=60)[0]
        assert process.returncode == 0, said


KUBECONFIG = """{"current-context": "test", "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
"clusters": [{"name": "test", "cluster": {"server": "https://api.test:1"}}], "users": [{"name": "test", "user": {"token": "none"}}]}"""


def test_image_resolves_names_and_has_ca_certificates(folder):
    """A library or a file that only this takes would be missed here, and nowhere before."""
    (folder / "kubeconfig").write_text(KUBECONFIG)
    (folder / "etc/hosts").write_text("127.0.0.1 api.test\n")
    with started(folder, "--kubeconfig", "/kubeconfig", "--listen", "127.0.0.1:0") as process:
        failed = next((line for line in process.stdout if "trying again" in line), "")
    assert "Failed to connect" in failed, failed
    context = ssl.create_default_context(cafile=str(folder / "etc/ssl/certs/ca-certificates.crt"))
    assert context.cert_store_stats()["x509_ca"] > 100


POLICY = """apiVersion: gpu-extender.io/v1alpha1
kind: SchedulerPolicy
listen: {verbs: "127.0.0.1:0", people: "127.0.0.1:0", probes: "127.0.0.1:0"}
tls: {certificateFile: /tls/tls.crt, privateKeyFile: /tls/tls.key, clientCAFile: /tls/ca.crt}
"""


def test_image_serves_tls(folder):
    authority = certificates.Authority(folder.parent / "authority")
    mounted = certificates.mount(folder / "tls", authority, *authority.server())
    for at, _, names in os.walk(mounted):
        for path in (at, *(os.path.join(at, name) for name in names)):
            os.chmod(path, 0o755)
    shutil.copy(os.path.join(oci.ROOT, "examples/sample-cluster.yaml"), folder)
    (folder / "policy.yaml").write_text(POLICY)
    context = ssl.create_default_context(cafile=authority.certificate)
    context.load_cert_chain(*authority.client("scheduler"))
    with open(os.path.join(oci.ROOT, "examples/scheduler/filter.json"), encoding="utf-8") as file:
        asked = file.read()
    with started(folder, "--config", "/policy.yaml", "--cluster-file", "/sample-cluster.yaml") as process:
        port = next(re.search(r"for=verbs addr=127\.0\.0\.1:(\d+)", line)[1] for line in process.stdout if "for=verbs" in line)
        connection = http.client.HTTPSConnection("127.0.0.1", int(port), context=context, timeout=60)
        connection.request("POST", "/scheduler/filter", asked, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read())["Error"]) == (200, "")
