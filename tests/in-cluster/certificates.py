"""A certificate authority of a test's own, by openssl."""

import os
import subprocess

# Only what is asked for: openssl's own file would make everybody an authority.
CONFIGURATION = "[req]\ndistinguished_name = name\n[name]\n"
DAYS = "2"


class Authority:
    """Files in `folder`: NAME.crt and NAME.key of whoever it issued one to, and of itself."""

    def __init__(self, folder, name="ca"):
        self.folder, self.name = folder, name
        os.makedirs(folder, exist_ok=True)
        with open(self._path("openssl.cnf"), "w", encoding="utf-8") as file:
            file.write(CONFIGURATION)
        self.certificate = self._path(f"{name}.crt")
        self._request(name, f"/CN={name}", "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign")

    def _path(self, name):
        return os.path.join(self.folder, name)

    def _request(self, name, subject, *options):
        files = ["-keyout", self._path(f"{name}.key"), "-out", self._path(f"{name}.crt")]
        kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", DAYS]
        command = ["openssl", "req", "-x509", "-config", self._path("openssl.cnf"), *kind, "-subj", subject, *files, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def issue(self, name, common_name, organization=None, alternatives=()):
        """(certificate, key), as paths. alternatives: as openssl writes them, "DNS:example", "IP:127.0.0.1"."""
        subject = (f"/O={organization}" if organization else "") + f"/CN={common_name}"
        options = ["-CA", self.certificate, "-CAkey", self._path(f"{self.name}.key"), "-addext", "basicConstraints=critical,CA:FALSE"]
        if alternatives:
            options += ["-addext", f"subjectAltName={','.join(alternatives)}"]
        self._request(name, subject, *options)
        return self._path(f"{name}.crt"), self._path(f"{name}.key")
