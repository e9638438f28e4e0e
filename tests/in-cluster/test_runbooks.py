"""The commands of docs/RUNBOOKS.md, and the read-only ones of docs/OPERATIONS.md, run as written in a real cluster."""

import os
import re

from operations import DOCUMENT as OPERATIONS
from ours import NAME
from service import ROOT


with open(os.path.join(ROOT, "docs/RUNBOOKS.md"), encoding="utf-8") as file:
    DOCUMENT = file.read()
PREPARING = re.search(r"^```sh\n(.*?ask\(\) .*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)[1]
ASKED = sorted(set(re.findall(r"`(ask [^`|>]*[^`|> ])", DOCUMENT)))
IN_TEXT = re.findall(r"`(kubectl [^`\n]*)`", DOCUMENT + OPERATIONS)
LOOKED_AT = [command for command in IN_TEXT if not re.search(r"\b(POD|NODE|NAMESPACE|certificates|edit|logs|drain)\b", command)]
# In separate blocks.
LOOKED_AT += re.findall(r"^ *(kubectl --namespace gpu-extender get secret gpu-extender-client .*)$", DOCUMENT, re.MULTILINE)
LOOKED_AT += re.findall(r"^ *(kubectl --namespace gpu-extender (?:rollout status|get lease) .*)$", OPERATIONS, re.MULTILINE)


def test_what_is_looked_at_can_be(ours):
    assert len(LOOKED_AT) > 8 and LOOKED_AT[-2:] == [
        "kubectl --namespace gpu-extender rollout status deployment/gpu-extender",
        "kubectl --namespace gpu-extender get lease gpu-extender",
    ]
    for command in LOOKED_AT:
        ours.shell(command)


def test_people_ask_as_told(ours):
    """The tunnel takes a moment, unnoticeable at a terminal."""
    ours.shell("kubectl create namespace operators; kubectl --namespace operators create serviceaccount anna")
    ours.shell(f"kubectl create clusterrolebinding anna --clusterrole {NAME}-viewer --serviceaccount operators:anna")
    preparing = PREPARING.replace("NAMESPACE", "operators").replace("ACCOUNT", "anna")
    assert preparing.count("anna") == 1 and len(ASKED) > 1
    patient = preparing.replace("curl -sS", "curl -sS --fail --retry 100 --retry-delay 1 --retry-all-errors")
    assert patient != preparing
    for command in ASKED:
        assert len(ours.shell(f"{patient}\n{command}")) > 100, command
