"""The layering of src/ and include/, checked include by include.

The table is that of docs/dev/ARCHITECTURE.md: which folder may include which, and where each third-party
header is at home. It reads the text only (symbols.py looks at what the objects of pure folders really call), and does not
look at tests/, where linking enforces the same.
"""

import os
import re
import sys

import tree

# Folders that are pure: no I/O, clock, thread, signal, and this of base alone.
PURE = ("types", "cel", "dra", "ledger", "decide")
PURE_BASE = ["base/arena.h", "base/buf.h", "base/err.h", "base/hash.h", "base/mem.h", "base/nearest.h", "base/table.h"]
# Entries are folders, or single headers of a folder.
MAY_INCLUDE = {
    "base": [],
    "types": PURE_BASE,
    "cel": PURE_BASE,
    "dra": PURE_BASE + ["types", "cel"],
    "ledger": PURE_BASE + ["types", "dra"],
    "formats": ["base"],
    "config": ["base", "formats", "types/policy.h", "types/quantity.h", "types/gpu_model.h"],
    "objects": ["base", "types", "cel", "dra", "ledger", "formats"],
    "decide": PURE_BASE + ["types", "dra", "ledger"],
    "kube": ["base", "formats"],
    "inventory": ["base", "types", "dra", "ledger", "decide", "formats", "objects", "kube"],
    "record": ["base", "types/reason.h"],
    "http": ["base"],
    "auth": ["base", "formats", "http/exchange.h", "http/tls.h", "kube/request.h", "kube/reflector.h"],
    "extender": ["base", "types", "ledger", "decide", "inventory", "objects", "formats", "record", "http/exchange.h", "kube/request.h"],
    "api": ["base", "types", "cel", "dra", "ledger", "decide", "inventory", "objects", "formats", "record", "http/exchange.h", "http/server.h"],
    "daemon": ["base", "api", "config", "extender", "inventory", "kube", "http", "auth"],
    "ui": ["base", "http/exchange.h"],
    "doctor": ["base", "types", "ledger", "decide", "formats", "config", "kube", "inventory", "http/tls.h", "http/exchange.h"],
    "kubectl": ["base", "api", "config", "doctor/findings.h", "formats", "inventory", "http/exchange.h", "http/local.h", "http/server.h", "ui"],
}
ALL_FOLDERS = list(MAY_INCLUDE)

# Subfolders in their order: each includes private headers of its own and of those before it.
SUBFOLDERS = {"kube": ["config", "credentials", "transport", "watch", "leadership"]}

# Third-party header -> the folders it may be included in, and whether in one .c file of each only.
EVERYWHERE = ALL_FOLDERS
THIRD_PARTY = {
    "utarray.h": (EVERYWHERE, False),
    "utlist.h": (EVERYWHERE, False),
    "utstring.h": (EVERYWHERE, False),
    "jansson.h": (["formats", "config", "objects", "kube", "inventory", "auth", "extender", "api", "doctor", "kubectl"], False),
    "yaml.h": (["formats"], True),
    "microhttpd.h": (["http"], True),
    "gnutls/gnutls.h": (["http"], True),
    "gnutls/abstract.h": (["http"], True),
    "gnutls/crypto.h": (["auth"], True),
    "curl/curl.h": (["kube"], True),
}

# stdio.h is there for snprintf (symbols.py refuses the rest).
PURE_LIBC = set(
    """assert.h ctype.h errno.h inttypes.h limits.h stdalign.h stdarg.h stdbool.h stddef.h stdint.h
stdio.h stdlib.h string.h strings.h""".split()
)
LIBC = PURE_LIBC | set(
    """argp.h arpa/inet.h dirent.h endian.h fcntl.h float.h getopt.h linux/tcp.h locale.h malloc.h math.h netdb.h netinet/in.h
netinet/tcp.h poll.h pthread.h sched.h semaphore.h signal.h spawn.h stdatomic.h sys/epoll.h sys/eventfd.h sys/mman.h
sys/ioctl.h sys/pidfd.h sys/prctl.h sys/random.h sys/resource.h sys/signalfd.h sys/socket.h sys/stat.h sys/time.h sys/timerfd.h sys/types.h sys/uio.h
sys/un.h sys/wait.h sysexits.h threads.h time.h unistd.h""".split()
)

# Only there: with uthash's own hash functions, tenants could choose keys that collide.
UTHASH, UTHASH_HOME = "uthash.h", "include/base/table.h"

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def folder_of(path):
    """include/decide/fit.h and src/decide/fit.c are decide; src/main.c is "", and may use all."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else ""


def is_allowed(folder, header):
    other = header.split("/")[0]
    if folder in ("", other):
        return True
    return other in MAY_INCLUDE[folder] or header in MAY_INCLUDE[folder]


def is_upward(folder, path, header):
    order = SUBFOLDERS.get(folder)
    if not order:
        return False
    here, there = path.split("/")[2], header.split("/")[2]
    return here in order and there in order and order.index(there) > order.index(here)


def fault_of_own(root, path, folder, header):
    """The fault of #include "header" in path, or None."""
    if os.path.isfile(os.path.join(root, "include", header)):
        if is_allowed(folder, header):
            return None
        return f"{folder}/ must not include {header}: allowed are {', '.join(MAY_INCLUDE[folder]) or 'none'}"
    if path.startswith("include/"):
        return f"{header} is not in include/, and a public header includes public headers only"
    private = header if "/" in header else os.path.join(os.path.dirname(path)[4:], header)
    if not os.path.isfile(os.path.join(root, "src", private)):
        return f"{header} is neither in include/ nor in src/{folder}/"
    if os.path.dirname(private).split("/")[0] != folder:
        return f"{header} is private to src/{os.path.dirname(private)}/"
    if is_upward(folder, path, f"src/{private}"):
        return f"{header} is in a later subfolder; their order in {folder}/: {', '.join(SUBFOLDERS[folder])}"
    return None


def fault_of_third_party(path, folder, header):
    homes, in_one_file = THIRD_PARTY[header]
    if folder not in homes:
        return f"<{header}> is not allowed {f'in {folder}/' if folder else 'here'}: its home is {', '.join(homes)}"
    if in_one_file and path.endswith(".h"):
        return f"<{header}> belongs in one .c file, not in a header"
    return None


def fault_of_system(path, folder, header):
    if header == UTHASH:
        return None if path == UTHASH_HOME else f'<{UTHASH}> has unkeyed hashes: include "base/table.h" instead'
    if header in THIRD_PARTY:
        return fault_of_third_party(path, folder, header)
    if folder in PURE and header not in PURE_LIBC:
        return f"<{header}>: {folder}/ is pure, it may include {', '.join(sorted(PURE_LIBC))}"
    if header not in LIBC:
        return f"<{header}> is in no row of tests/lint/includes.py: give a new library its one home there"
    return None


def check_file(root, path):
    """The faults of one file, and the third-party headers it includes."""
    folder, text, faults, used = folder_of(path), tree.read(root, path), [], set()
    if folder not in MAY_INCLUDE and folder != "":
        return [f"{path}:1: the folder {folder}/ has no row in tests/lint/includes.py"], used
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        quote, header = match.groups()
        if quote == "<":
            fault = fault_of_system(path, folder, header)
            used.add(header)
        else:
            fault = fault_of_own(root, path, folder, header)
        if fault:
            faults.append(f"{path}:{line}: {fault}")
    return faults, used


def check(root):
    faults, users = [], {}
    for path in tree.files(root, ("src/", "include/"), (".c", ".h")):
        found, used = check_file(root, path)
        faults += found
        for header in used:
            users.setdefault((header, folder_of(path)), []).append(path)
    for (header, _), paths in users.items():
        if THIRD_PARTY.get(header, (None, False))[1] and len(paths) > 1:
            faults.append(f"{paths[1]}:1: <{header}> is already in {paths[0]}: one file only")
    return faults


if __name__ == "__main__":
    sys.exit(tree.report(check(tree.ROOT)))
