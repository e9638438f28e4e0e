"""The commands of docs/API.md, as they are written, against the sample cluster."""

import subprocess

import marked
import pytest
from service import ROOT

HEREDOC = "<<'EOF'"


def split(command, output):
    """A here-document belongs to the command."""
    if HEREDOC not in command:
        return command, output
    text, output = output.split("EOF\n", 1)
    return f"{command}\n{text}EOF\n", output


@pytest.mark.parametrize("command, output", [split(*each) for each in marked.commands("docs/API.md", "what-if")], ids=lambda text: text[:60])
def test_commands_of_the_document(service, command, output):
    asked = command.replace("127.0.0.1:8888", service.address)
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.rstrip("\n") + "\n" == output and asked != command
