"""The commands of docs/API.md, as they are written, against the sample cluster."""

import subprocess

import marked
import pytest
from service import ROOT


@pytest.mark.parametrize("command, output", marked.commands("docs/API.md", "what-if"), ids=lambda text: text[:60])
def test_commands_of_the_document(service, command, output):
    asked = command.replace("127.0.0.1:8888", service.address)
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.rstrip("\n") + "\n" == output and asked != command
