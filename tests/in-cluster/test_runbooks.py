"""The commands of docs/RUNBOOKS.md, and the read-only ones of docs/INSTALL.md and docs/OPERATIONS.md, run as written in a real cluster."""

import os
import re

import marked
from service import BINARY, ROOT

DOCUMENT = marked.read("docs/RUNBOOKS.md")
ASKED = sorted(set(re.findall(r"`(ask [^`|>]*[^`|> ])", DOCUMENT)))
IN_TEXT = re.findall(r"`(kubectl [^`\n]*)`", DOCUMENT + marked.read("docs/OPERATIONS.md") + marked.read("docs/INSTALL.md"))
# Commands that change something, need a name, or ask the plugin (tests/wire/test_kubectl_gpu.py); and those about the Lease of
# kube-scheduler, which elects no leader here, and about the second scheduler.
LEFT_OUT = re.compile(r"\b(POD|NODE|NAMESPACE|certificates|apply|edit|logs|drain|restart|delete|kubectl gpu|lease kube-scheduler|gpu-scheduler)\b")
LOOKED_AT = [command for command in IN_TEXT if not LEFT_OUT.search(command)]
LOOKED_AT += [marked.block("docs/INSTALL.md", "wait-until-ready"), marked.block("docs/OPERATIONS.md", "who-leads")]
LOOKED_AT += [marked.block("docs/RUNBOOKS.md", "certificate-dates")]


def test_runbook_commands_work(ours):
    for command in LOOKED_AT:
        ours.shell(command)


def test_users_send_requests_as_documented(ours):
    """The tunnel takes a moment, unnoticeable at a terminal."""
    ours.shell(marked.block("docs/INSTALL.md", "viewer"))
    preparing = marked.block("docs/RUNBOOKS.md", "prepare")
    assert preparing.count("gpu-viewer") == 1 and ASKED
    patient = preparing.replace("curl -sS", "curl -sS --fail --retry 100 --retry-delay 1 --retry-all-errors")
    assert patient != preparing
    for command in ASKED:
        assert len(ours.shell(f"{patient}\n{command}")) > 100, command
    build, *plugin = marked.block("docs/INSTALL.md", "ask-by-plugin").replace("build/run/", f"{os.path.dirname(BINARY)}/").replace("examples/", f"{ROOT}/examples/").splitlines()
    (fit,) = [line for line in plugin if "gpu fit " in line]
    told = ours.shell("\n".join([patient, ASKED[0], *plugin]).replace(fit, f"{fit} || test $? = 1  # the nodes of KWOK have a taint"))
    assert build.startswith("./scripts/build") and "GPUs are usable" in told and "Pod default/gpu-test: 0 of 1 pod" in told and "0 fail" in told
