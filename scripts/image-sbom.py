#!/usr/bin/python3
"""Writes an image's bill of materials as SPDX 2.3 (JSON): the program, the distribution's packages, and each file with its SHA-256.

    scripts/image-sbom.py FOLDER VERSION REVISION SECONDS > gpu-extender.spdx.json

FOLDER is the output of scripts/image-root; its var/lib/dpkg/status.d gives the package of each file. SECONDS (since 1970) is the
document's time. The same folder gives the same bytes.
"""

import argparse
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import urllib.parse


NAME = "gpu-extender"
IMAGE = f"SPDXRef-Package-{NAME}"
STATUS = "var/lib/dpkg/status.d"
# Its headers are in the program; no file of it is in the image.
COMPILED_IN = "uthash-dev"


def reference(kind, name):
    return f"SPDXRef-{kind}-{re.sub(r'[^A-Za-z0-9.]', '-', name)}"


def fields(text):
    """Of dpkg's description of a package: {name: first line of the value}."""
    return dict(line.split(": ", 1) for line in text.split("\n") if re.match(r"[A-Za-z-]+: ", line))


def distribution(folder):
    """("debian", "12"), by os-release."""
    with open(os.path.join(folder, "etc/os-release"), encoding="utf-8") as file:
        told = dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)
    return told["ID"].strip('"'), told["VERSION_ID"].strip('"')


def purl(told, system):
    """What vulnerability databases know the package by (github.com/package-url, type deb)."""
    name, number = system
    query = {"arch": told["Architecture"], "distro": f"{name}-{number}"}
    # "Source: name (version)" where these are not the binary package's own.
    source = re.fullmatch(r"(\S+)(?: \((\S+)\))?", told.get("Source", told["Package"]))
    query["upstream"] = f"{source[1]}@{source[2]}" if source[2] else source[1]
    version = urllib.parse.quote(told["Version"], safe="")
    return f"pkg:deb/{name}/{urllib.parse.quote(told['Package'])}@{version}?{urllib.parse.urlencode(query)}"


def package(told, system):
    return {
        "SPDXID": reference("Package", told["Package"]),
        "name": told["Package"],
        "versionInfo": told["Version"],
        "supplier": f"Organization: {told['Maintainer']}",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "licenseComments": f"usr/share/doc/{told['Package']}/copyright in the image",
        "copyrightText": "NOASSERTION",
        "primaryPackagePurpose": "LIBRARY" if told.get("Section", "").startswith("lib") else "OTHER",
        "externalRefs": [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl(told, system)}
        ],
    }


def verification_code(files):
    """Of all the image's files together, as SPDX reckons it."""
    sums = sorted(one["checksums"][0]["checksumValue"] for one in files)
    return hashlib.sha1("".join(sums).encode()).hexdigest()


def image(version, revision, files):
    return {
        "SPDXID": IMAGE,
        "name": NAME,
        "versionInfo": version,
        "sourceInfo": f"git commit {revision}",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": True,
        "packageVerificationCode": {"packageVerificationCodeValue": verification_code(files)},
        "licenseConcluded": "Apache-2.0",
        "licenseDeclared": "Apache-2.0",
        "copyrightText": "NOASSERTION",
        "primaryPackagePurpose": "CONTAINER",
    }


def packages(folder):
    """{name: what dpkg told of it}."""
    found = {}
    for name in sorted(os.listdir(os.path.join(folder, STATUS))):
        if not name.endswith(".md5sums"):
            with open(os.path.join(folder, STATUS, name), encoding="utf-8") as file:
                found[name] = fields(file.read())
    asked = subprocess.run(["dpkg-query", "-s", COMPILED_IN], check=True, capture_output=True, text=True)
    return {**found, COMPILED_IN: fields(asked.stdout)}


def owners(folder):
    """{path: name of the package that it is of}; what is not there is ours."""
    owner = {}
    for name in os.listdir(os.path.join(folder, STATUS)):
        if name.endswith(".md5sums"):
            with open(os.path.join(folder, STATUS, name), encoding="utf-8") as file:
                owner.update({line.split(maxsplit=1)[1].strip(): name.removesuffix(".md5sums") for line in file})
    return owner


def paths(folder):
    return sorted(
        os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names
    )


def file(folder, path):
    with open(os.path.join(folder, path), "rb") as opened:
        content = opened.read()
    sums = {"SHA1": hashlib.sha1(content), "SHA256": hashlib.sha256(content)}
    return {
        "SPDXID": reference("File", path),
        "fileName": f"./{path}",
        "checksums": [{"algorithm": name, "checksumValue": value.hexdigest()} for name, value in sums.items()],
        "licenseConcluded": "NOASSERTION",
        "copyrightText": "NOASSERTION",
    }


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def relations(folder, names):
    yield relation("SPDXRef-DOCUMENT", "DESCRIBES", IMAGE)
    for name in names:
        kind = "STATIC_LINK" if name == COMPILED_IN else "CONTAINS"
        yield relation(IMAGE, kind, reference("Package", name))
    owner = owners(folder)
    for path in paths(folder):
        yield relation(IMAGE, "CONTAINS", reference("File", path))
        if path in owner:
            yield relation(reference("File", path), "GENERATED_FROM", reference("Package", owner[path]))


def document(folder, version, revision, seconds):
    system, told = distribution(folder), packages(folder)
    files = [file(folder, path) for path in paths(folder)]
    # A document's name is its own for ever: another content, another name.
    content = hashlib.sha256(json.dumps([files, told, version, revision]).encode()).hexdigest()
    created = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{NAME}-{version}",
        "documentNamespace": f"https://gpu-extender.io/spdx/{NAME}-{version}-{content}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: gpu-extender-image-sbom"]},
        "packages": [image(version, revision, files), *[package(one, system) for one in told.values()]],
        "files": files,
        "relationships": list(relations(folder, told)),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("FOLDER", "VERSION", "REVISION"):
        parser.add_argument(name)
    parser.add_argument("SECONDS", type=int)
    given = parser.parse_args()
    print(json.dumps(document(given.FOLDER, given.VERSION, given.REVISION, given.SECONDS), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
