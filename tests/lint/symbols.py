"""Core is pure, checked on its object code: every symbol that core's library takes from elsewhere must be one of
base's, or a libc function that only computes.

Usage: symbols.py [BUILD-DIRECTORY], which must be built; build/release where nothing is said.
"""

import os
import subprocess
import sys

import tree

PURE_LIBC = set("""
abort bsearch calloc free malloc qsort qsort_r realloc reallocarray
memchr memcmp memcpy memmem memmove memrchr memset
strcasecmp strcasestr strchr strchrnul strcmp strcpy strcspn strdup strlen strncasecmp strncmp strncpy strndup
strnlen strpbrk strrchr strsep strspn strstr strtok_r stpcpy
snprintf vsnprintf strtol strtoll strtoul strtoull
""".split())
# What the compiler and the C library's headers put in by themselves.
COMPILER = set("""
_GLOBAL_OFFSET_TABLE_ __assert_fail __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __errno_location
__stack_chk_fail __isoc23_strtol __isoc23_strtoll __isoc23_strtoul __isoc23_strtoull
__memcpy_chk __memmove_chk __memset_chk __snprintf_chk __vsnprintf_chk __strcpy_chk __strncpy_chk
""".split())
# hash_: by a key that main sets before there is any table.
BASE_PREFIXES = ("arena_", "buf_", "err_", "hash_", "mem_")


def nm(library, option):
    """Pairs (member of the library, symbol)."""
    listed = subprocess.run(
        ["nm", "-A", option, "--format=posix", library], capture_output=True, text=True, check=True
    )
    for line in listed.stdout.splitlines():
        place, _, rest = line.partition(": ")
        yield place.rstrip("]").rpartition("[")[2], rest.split()[0]


def faults_of(library):
    own = {symbol for _, symbol in nm(library, "--defined-only")}
    known = own | PURE_LIBC | COMPILER
    return [
        f"{member}: calls {symbol}, which is not in tests/lint/symbols.py's list: core does no I/O, asks no clock, "
        "starts no thread, logs nothing"
        for member, symbol in nm(library, "--undefined-only")
        if symbol not in known and not symbol.startswith(BASE_PREFIXES)
    ]


def main(build):
    library = os.path.join(tree.ROOT, build, "src", "core", "libcore.a")
    if not os.path.exists(library):
        return tree.report([f"{library} is not there: build it with scripts/build release"])
    return tree.report(faults_of(library))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "build/release"))
