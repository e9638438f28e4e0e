"""Writes the files of the page as a C table: embed.py OUTPUT FOLDER FILE..., with paths below the folder."""

import hashlib
import os
import sys

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def entry_of(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        content = file.read()
    kind = TYPES.get(os.path.splitext(name)[1], "text/plain; charset=utf-8")
    tag = hashlib.sha256(content).hexdigest()[:32]
    numbers = ",".join(map(str, content))
    return f'    {{"{name}", "{kind}", "\\"{tag}\\"", (const unsigned char[]){{{numbers}}}, {len(content)}}},\n'


def main():
    output, folder, *names = sys.argv[1:]
    with open(output, "w", encoding="ascii") as file:
        file.write('#include "files.h"\n\nconst struct ui_file UI_FILES[] = {\n')
        file.writelines(entry_of(folder, name) for name in names)
        file.write("    {0},\n};\n")


main()
