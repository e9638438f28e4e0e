"""The SBOM beside the image lists all of its contents, in a form that the format's own tools accept."""

import hashlib
import os
import re
import subprocess

import oci
import pytest

VALIDATOR = os.path.join(oci.ROOT, ".cache/venv-image/bin/pyspdxtools")


def test_sbom_is_spdx(image):
    if not os.path.exists(VALIDATOR):
        pytest.skip("spdx-tools could not be installed from PyPI")
    path = image.path.replace(".oci.tar", ".spdx.json")
    done = subprocess.run([VALIDATOR, "--infile", path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_sbom_lists_every_file_of_the_image(image):
    told = {item["fileName"]: item["checksums"][1]["checksumValue"] for item in image.sbom()["files"]}
    assert told == {f"./{path}": hashlib.sha256(content).hexdigest() for path, content in image.files().items()}


def test_sbom_names_the_package_of_each_library(image):
    sbom = image.sbom()
    versions = {item["SPDXID"]: (item["name"], item["versionInfo"]) for item in sbom["packages"]}
    names = {item["SPDXID"]: item["fileName"] for item in sbom["files"]}
    package_of = {
        names[item["spdxElementId"]]: versions[item["relatedSpdxElement"]]
        for item in sbom["relationships"]
        if item["relationshipType"] == "GENERATED_FROM"
    }
    libraries = [name for name in names.values() if ".so" in name]
    assert len(libraries) > 10
    for library in libraries:
        name, version = package_of[library]
        installed = oci.output_of(["dpkg-query", "-W", "-f", "${Version}\n", name]).split("\n")
        assert version in installed and re.sub(r".*/", "", library) in oci.output_of(["dpkg-query", "-L", name]), library


def test_sbom_packages_have_locators(image):
    packages = {item["name"]: item for item in image.sbom()["packages"]}
    locators = {name: item["externalRefs"][0]["referenceLocator"] for name, item in packages.items() if "externalRefs" in item}
    assert set(locators) == set(packages) - {"gpu-extender"} and "libc6" in locators
    assert all(re.fullmatch(r"pkg:deb/\w+/[\w.+-]+@[^?]+\?arch=\w+&distro=[\w.-]+&upstream=\S+", text) for text in locators.values())
    libcurl = next(name for name in locators if name.startswith("libcurl4"))  # Debian 13's is libcurl4t64
    assert re.search(r"upstream=curl$", locators[libcurl])


def test_compiled_in_headers_are_listed(image):
    """No file of theirs is there to be found."""
    related = {(item["relationshipType"], item["relatedSpdxElement"]) for item in image.sbom()["relationships"]}
    assert ("STATIC_LINK", "SPDXRef-Package-uthash-dev") in related
    assert "usr/share/doc/uthash-dev/copyright" in image.files()
