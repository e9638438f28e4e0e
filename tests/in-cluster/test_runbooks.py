"""The commands of docs/RUNBOOKS.md, and the read-only ones of docs/INSTALL.md and docs/OPERATIONS.md, run as written in a real cluster."""

import re

import marked
from ours import NAME

DOCUMENT = marked.read("docs/RUNBOOKS.md")
ASKED = sorted(set(re.findall(r"`(ask [^`|>]*[^`|> ])", DOCUMENT)))
IN_TEXT = re.findall(r"`(kubectl [^`\n]*)`", DOCUMENT + marked.read("docs/OPERATIONS.md") + marked.read("docs/INSTALL.md"))
# Commands that change something, need a name, or ask the plugin (tests/wire/test_kubectl_gpu.py); and that about the Lease of
# kube-scheduler, which elects no leader here.
LEFT_OUT = re.compile(r"\b(POD|NODE|NAMESPACE|certificates|apply|edit|logs|drain|restart|delete|kubectl gpu|lease kube-scheduler)\b")
LOOKED_AT = [command for command in IN_TEXT if not LEFT_OUT.search(command)]
LOOKED_AT += [marked.block("docs/INSTALL.md", "wait-until-ready"), marked.block("docs/OPERATIONS.md", "who-leads")]
LOOKED_AT += [marked.block("docs/RUNBOOKS.md", "certificate-dates")]


def test_runbook_commands_work(ours):
    for command in LOOKED_AT:
        ours.shell(command)


def test_users_send_requests_as_documented(ours):
    """The tunnel takes a moment, unnoticeable at a terminal."""
    ours.shell("kubectl create namespace operators; kubectl --namespace operators create serviceaccount anna")
    ours.shell(f"kubectl create clusterrolebinding anna --clusterrole {NAME}-viewer --serviceaccount operators:anna")
    preparing = marked.block("docs/RUNBOOKS.md", "prepare").replace("NAMESPACE", "operators").replace("ACCOUNT", "anna")
    assert preparing.count("anna") == 1 and ASKED
    patient = preparing.replace("curl -sS", "curl -sS --fail --retry 100 --retry-delay 1 --retry-all-errors")
    assert patient != preparing
    for command in ASKED:
        assert len(ours.shell(f"{patient}\n{command}")) > 100, command
