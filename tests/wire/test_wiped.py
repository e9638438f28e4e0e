"""Replaced private keys are absent from the process's memory, freed memory included, in the form in which we read them.

AddressSanitizer keeps what was freed for a while as it is, so that nothing but wiping can have taken a key out. GnuTLS gives a copy back
that it has not wiped (3.7), without the ends of the lines, by which ours are told from it.
"""

import re

from secured import Secured

MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw")
# Larger mappings are address space reserved by a sanitizer.
MAPPING_MAX = 1 << 31


def memory(process):
    """The bytes of all writable mappings, piece by piece."""
    with open(f"/proc/{process.pid}/maps", encoding="ascii") as maps, open(f"/proc/{process.pid}/mem", "rb") as content:
        for line in maps:
            if not (found := MAPPING.match(line)):
                continue
            begin, end = (int(each, 16) for each in found.groups())
            if end - begin < MAPPING_MAX:
                content.seek(begin)
                yield content.read(end - begin)


def count(process, text):
    return sum(piece.count(text.encode()) for piece in memory(process))


def counts(process, keys):
    return [count(process, key) for key in keys]


def make_long(file):
    """Makes the file so long that its buffer must grow, and returns the part that identifies it, with an end of a line in it."""
    text = file.read_text("ascii")
    file.write_text(text + "# and more\n" * 1000, encoding="ascii")
    return "\n".join(text.splitlines()[1:3])


def test_a_replaced_key_is_wiped(tmp_path, start_service):
    secured = Secured(tmp_path, start_service)
    keys = []
    for name in ("first", "second"):
        certificate, file = secured.authority.server(name)
        keys.append(make_long(file))
        assert secured.swap(secured.authority, certificate, file)["level"] == "info"
    # The watch of the files may be reading them once more.
    secured.service.wait("only the new key is there, once", lambda: counts(secured.service.process, keys) == [0, 1])
