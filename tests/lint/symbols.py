"""The folders in includes.PURE are pure, checked on their object code: every symbol that their libraries take from
elsewhere must be one of theirs, one of base's, or a libc function that only computes.

Usage: symbols.py [BUILD-DIRECTORY], which must be built; build/release where nothing is said.
"""

import os
import subprocess
import sys

import includes
import tree

PURE_LIBC = set("""
abort bsearch calloc free malloc qsort qsort_r realloc reallocarray
memchr memcmp memcpy memmem memmove memrchr memset
strcasecmp strcasestr strchr strchrnul strcmp strcpy strcspn strdup strlen strncasecmp strncmp strncpy strndup
strnlen strpbrk strrchr strsep strspn strstr strtok_r stpcpy
snprintf vsnprintf strtod strtol strtoll strtoul strtoull
""".split())
# Symbols that the compiler and the C library's headers add.
COMPILER = set("""
_GLOBAL_OFFSET_TABLE_ __assert_fail __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __errno_location
__stack_chk_fail __isoc23_strtol __isoc23_strtoll __isoc23_strtoul __isoc23_strtoull
__memcpy_chk __memmove_chk __memset_chk __snprintf_chk __vsnprintf_chk __strcpy_chk __strncpy_chk
""".split())
# hash_: by a key that main sets before there is any table.
BASE_PREFIXES = ("arena_", "buf_", "err_", "hash_", "mem_", "nearest_")


def nm(library, option):
    """Pairs (member of the library, symbol)."""
    listed = subprocess.run(
        ["nm", "-A", option, "--format=posix", library], capture_output=True, text=True, check=True
    )
    for line in listed.stdout.splitlines():
        place, _, rest = line.partition(": ")
        yield place.rstrip("]").rpartition("[")[2], rest.split()[0]


def faults_of(libraries):
    own = {symbol for library in libraries for _, symbol in nm(library, "--defined-only")}
    known = own | PURE_LIBC | COMPILER
    return [
        f"{member}: calls {symbol}, which is not in tests/lint/symbols.py's list: this folder does no I/O, asks no clock, "
        "starts no thread, logs nothing"
        for library in libraries
        for member, symbol in nm(library, "--undefined-only")
        if symbol not in known and not symbol.startswith(BASE_PREFIXES)
    ]


def main(build):
    libraries = [os.path.join(tree.ROOT, build, "src", folder, f"lib{folder}.a") for folder in includes.PURE]
    missing = [library for library in libraries if not os.path.exists(library)]
    if missing:
        return tree.report([f"{missing[0]} is not there: build it with scripts/build release"])
    return tree.report(faults_of(libraries))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "build/release"))
