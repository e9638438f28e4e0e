"""The package of scripts/package: its contents, its unit, and its programs, unpacked. tests/image/package-check installs it on a bare
Debian."""

import os
import re
import shutil
import subprocess

import oci
import pytest

UNIT = "usr/lib/systemd/system/gpu-extender.service"
EXAMPLES = "usr/share/doc/gpu-extender/examples"
WANTED = re.compile(
    r"usr/bin/(gpu-extender|kubectl-gpu|kubectl_complete-gpu)|usr/share/man/man(8/gpu-extender\.8|1/kubectl-gpu\.1)\.gz"
    rf"|{re.escape(UNIT)}|usr/share/doc/gpu-extender/copyright|{EXAMPLES}/[\w-]+\.yaml"
)


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    if not shutil.which("dpkg-shlibdeps"):
        pytest.skip("there is no dpkg-shlibdeps")
    out = tmp_path_factory.mktemp("package")
    subprocess.run([os.path.join(oci.ROOT, "scripts/package"), out], check=True, capture_output=True, stdin=subprocess.DEVNULL)
    (archive,) = os.listdir(out)
    return out / archive


@pytest.fixture(scope="module")
def unpacked(package, tmp_path_factory):
    root = tmp_path_factory.mktemp("unpacked")
    subprocess.run(["dpkg-deb", "--raw-extract", package, root], check=True)
    return root


def test_package_is_of_this_version(package):
    fields = dict(line.split(": ", 1) for line in oci.output_of(["dpkg-deb", "--field", package]).splitlines() if ": " in line)
    assert (fields["Package"], fields["Version"]) == ("gpu-extender", oci.version())
    assert {"libcurl4", "libmicrohttpd12", "libjansson4"} <= {re.sub(r"t64| .*", "", name) for name in fields["Depends"].split(", ")}


def test_package_has_what_it_needs_and_root_owns_it(package):
    lines = [line.split(None, 5) for line in oci.output_of(["dpkg-deb", "--contents", package]).splitlines()]
    assert {line[1] for line in lines} == {"root/root"}
    files = [line[5].removeprefix("./").partition(" -> ")[0] for line in lines if not line[0].startswith("d")]
    assert [path for path in files if not WANTED.fullmatch(path)] == [] and {UNIT, "usr/bin/gpu-extender", "usr/bin/kubectl-gpu"} <= set(files)
    assert not [line for line in lines if not line[0].startswith("l") and re.match(r".{8}w|.....w|...[sS]|......[sS]", line[0])]


def test_unit_is_that_of_manifests_and_disabled(unpacked):
    with open(os.path.join(oci.ROOT, "manifests/gpu-extender.service"), encoding="utf-8") as file:
        assert (unpacked / UNIT).read_text(encoding="utf-8") == file.read().replace("/usr/local/bin/", "/usr/bin/")
    scripts = sorted(os.listdir(unpacked / "DEBIAN"))
    assert scripts == ["control", "postinst", "postrm", "prerm"]
    assert not [name for name in scripts if re.search(r"systemctl (enable|start|restart)|deb-systemd", (unpacked / "DEBIAN" / name).read_text())]


def test_systemd_accepts_the_unit(unpacked):
    if not shutil.which("systemd-analyze"):
        pytest.skip("not here: there is no systemd-analyze")
    text = (unpacked / UNIT).read_text(encoding="utf-8")
    (unpacked / "gpu-extender.service").write_text(text.replace("ExecStart=", f"ExecStart={unpacked}"), encoding="utf-8")
    done = subprocess.run(["systemd-analyze", "verify", unpacked / "gpu-extender.service"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_programs_read_the_packaged_cluster(unpacked):
    cluster = unpacked / EXAMPLES / "sample-cluster.yaml"
    (program,) = re.findall(r"^ExecStart=/(\S+) ", (unpacked / UNIT).read_text(encoding="utf-8"), re.MULTILINE)
    said = oci.output_of([unpacked / program, "--check", "--cluster-file", cluster, "--config", unpacked / EXAMPLES / "scheduler-policy.yaml"])
    assert "25 nodes" in said
    assert "h100-1" in oci.output_of([unpacked / "usr/bin/kubectl-gpu", "nodes", "--cluster-file", cluster])


def test_package_is_reproducible(package, tmp_path):
    umask = os.umask(0o077)
    try:
        subprocess.run([os.path.join(oci.ROOT, "scripts/package"), tmp_path], check=True, capture_output=True, stdin=subprocess.DEVNULL)
    finally:
        os.umask(umask)
    assert (tmp_path / package.name).read_bytes() == package.read_bytes()
