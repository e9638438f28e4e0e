"""Certificate authorities made with openssl. The certificates are valid unless a test requests a fault."""

import os
import subprocess

CONFIGURATION = "[req]\ndistinguished_name = name\n[name]\n"
CURVE = ("ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")
SERVER_NAMES = "DNS:localhost,IP:127.0.0.1,IP:::1"


def openssl(*command):
    done = subprocess.run(["openssl", *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"openssl {' '.join(command)}: {done.stderr}"


# What was asked for: the certificate and its key. To make a pair takes a start of openssl, so tests share what they ask for first.
MADE = {}


class Authority:
    """Creates `folder`, a pathlib.Path, and stores NAME.crt and NAME.key there, for itself and for each certificate it signs. An
    existing authority is reused."""

    def __init__(self, folder, name="ca"):
        self.folder, self.name = folder, name
        folder.mkdir(parents=True, exist_ok=True)
        self.certificate, self.key = self.path(f"{name}.crt"), self.path(f"{name}.key")
        self.path("openssl.cnf").write_text(CONFIGURATION, encoding="utf-8")
        if self.key.exists():
            return
        self._once(name, (folder.name,), self._make_authority)

    def _make_authority(self, name):
        extensions = ["-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign"]
        self._with_new_key("req", "-x509", "-days", "2", "-subj", f"/CN={name}", *extensions, name=name)

    def _once(self, name, asked, make):
        """make(NAME), unless a test did so for what is asked: then the same files. A pair that takes another's place is made anew."""
        pair = self.path(f"{name}.crt"), self.path(f"{name}.key")
        known = () if pair[0].exists() else MADE.get((name, *asked), ())
        for path, text in zip(pair, known):
            path.write_bytes(text)
        if not known:
            make(name)
            MADE.setdefault((name, *asked), [path.read_bytes() for path in pair])
        return pair

    def path(self, name):
        return self.folder / name

    def _with_new_key(self, *command, name, out="crt", kind=CURVE):
        files = ["-keyout", str(self.path(f"{name}.key")), "-out", str(self.path(f"{name}.{out}"))]
        openssl(*command, "-config", str(self.path("openssl.cnf")), "-newkey", *kind, "-nodes", *files)

    def sign(self, name, subject, *extensions, expired=False, until=None, kind=CURVE):
        """Returns the paths (certificate, key). until: the last day of a certificate from the year 2025. kind: type of key."""
        asked = (self.certificate.read_bytes(), subject, extensions, expired, until, kind)
        return self._once(name, asked, lambda _: self._sign(name, subject, *extensions, expired=expired, until=until, kind=kind))

    def _sign(self, name, subject, *extensions, expired, until, kind):
        end = f"{until:%Y%m%d}000000Z" if until else "20250102000000Z"
        extensions = ("basicConstraints=critical,CA:FALSE", *extensions)
        certificate = self.path(f"{name}.crt")
        if expired or until:  # `openssl req` of OpenSSL 3.0 has no dates, that of 3.5 no negative days
            self._with_new_key("req", "-new", "-subj", subject, name=name, out="csr", kind=kind)
            extended = self.path(f"{name}.ext")
            extended.write_text("\n".join(extensions), encoding="utf-8")
            files = ["-in", str(self.path(f"{name}.csr")), "-extfile", str(extended), "-out", str(certificate)]
            self._ca("-batch", "-notext", "-preserveDN", "-startdate", "20250101000000Z", "-enddate", end, *files)
        else:
            added = [word for extension in extensions for word in ("-addext", extension)]
            by = ("-CA", str(self.certificate), "-CAkey", str(self.key), "-days", "2")
            self._with_new_key("req", "-x509", *by, "-subj", subject, *added, name=name, kind=kind)

    def _ca(self, *command):
        database, configuration = self.path("index.txt"), self.path("openssl-ca.cnf")
        database.touch()
        text = f"[ca]\ndefault_ca = it\n[it]\ndatabase = {database}\ndefault_md = sha256\ndefault_crl_days = 1\nunique_subject = no\n"
        text += f"new_certs_dir = {self.folder}\nrand_serial = yes\npolicy = any\n[any]\ncommonName = supplied\n"
        configuration.write_text(text, encoding="utf-8")
        openssl("ca", "-config", str(configuration), "-cert", str(self.certificate), "-keyfile", str(self.key), *command)

    def revoke(self, *certificates, out="revoked.pem", over=False):
        """Revokes these certificates. Returns the path of a CRL of all revoked so far. over: its next update is overdue."""
        for certificate in certificates:
            self._ca("-revoke", str(certificate))
        when = ["-crl_lastupdate", "20250101000000Z", "-crl_nextupdate", "20250102000000Z"] if over else []
        self._ca("-gencrl", *when, "-out", str(self.path(out)))
        return self.path(out)

    def server(self, name="server", **more):
        return self.sign(name, f"/CN={name}", f"subjectAltName={SERVER_NAMES}", "extendedKeyUsage=serverAuth", **more)

    def client(self, name, subject=None, **more):
        return self.sign(name, subject or f"/CN={name}", "extendedKeyUsage=clientAuth", **more)


def mount(folder, authority, certificate, key):
    """Writes the three files like the kubelet mounts a Secret: one symbolic link switches all of them at once."""
    number = sum(1 for each in os.listdir(folder) if each.startswith("..v")) if folder.is_dir() else 0
    version = folder / f"..v{number}"
    version.mkdir(parents=True)
    for name, source in (("tls.crt", certificate), ("tls.key", key), ("ca.crt", authority.certificate)):
        (version / name).write_bytes(source.read_bytes())
        if not number:
            (folder / name).symlink_to(f"..data/{name}")
    (folder / "..next").symlink_to(version.name)
    os.rename(folder / "..next", folder / "..data")
    return folder
