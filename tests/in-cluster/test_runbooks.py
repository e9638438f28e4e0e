"""The commands of docs/RUNBOOKS.md, and those of docs/OPERATIONS.md that look, run in a real cluster as they stand there."""

import os
import re
import subprocess

from api import LIMIT_S
from ours import NAME
from service import ROOT


def read(name):
    with open(os.path.join(ROOT, "docs", name), encoding="utf-8") as file:
        return file.read()


DOCUMENT, OPERATIONS = read("RUNBOOKS.md"), read("OPERATIONS.md")
PREPARING = re.search(r"^```sh\n(.*?ask\(\) .*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)[1]
ASKED = sorted(set(re.findall(r"`(ask [^`|>]*[^`|> ])", DOCUMENT)))
IN_TEXT = re.findall(r"`(kubectl [^`\n]*)`", DOCUMENT + OPERATIONS)
LOOKED_AT = [command for command in IN_TEXT if not re.search(r"\b(POD|NODE|NAMESPACE|certificates|edit|logs)\b", command)]
# In blocks of their own.
LOOKED_AT += re.findall(r"^ *(kubectl --namespace gpu-extender (?:rollout status|get lease) .*)$", OPERATIONS, re.MULTILINE)


def shell(ours, folder, commands):
    env = {"PATH": f"{ours.cluster.binaries}:{os.environ['PATH']}", "HOME": str(folder), "KUBECONFIG": ours.cluster.kubeconfig()}
    command = ["bash", "-euo", "pipefail", "-c", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n" + commands]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_what_is_looked_at_can_be(ours, tmp_path):
    assert len(LOOKED_AT) > 8 and LOOKED_AT[-2:] == [
        "kubectl --namespace gpu-extender rollout status deployment/gpu-extender",
        "kubectl --namespace gpu-extender get lease gpu-extender",
    ]
    for command in LOOKED_AT:
        shell(ours, tmp_path, command)


def test_people_ask_as_told(ours, tmp_path):
    """The tunnel takes a moment, which nobody at a terminal notices."""
    shell(ours, tmp_path, "kubectl create namespace operators; kubectl --namespace operators create serviceaccount anna")
    shell(ours, tmp_path, f"kubectl create clusterrolebinding anna --clusterrole {NAME}-viewer --serviceaccount operators:anna")
    preparing = PREPARING.replace("NAMESPACE", "operators").replace("ACCOUNT", "anna")
    assert preparing.count("anna") == 1 and len(ASKED) > 1
    patient = preparing.replace("curl -sS", "curl -sS --fail --retry 100 --retry-delay 1 --retry-all-errors")
    assert patient != preparing
    for command in ASKED:
        assert len(shell(ours, tmp_path, f"{patient}\n{command}")) > 100, command
