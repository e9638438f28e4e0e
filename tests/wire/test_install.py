"""The commands of docs/INSTALL.md that need no cluster, run as written."""

import os
import re
import subprocess

import marked
import pytest
from service import BINARY, ENV, LIMIT_S, ROOT

COMMANDS = marked.commands("docs/INSTALL.md", "saved")


@pytest.mark.parametrize("command, output", COMMANDS, ids=[command[:60] for command, _ in COMMANDS])
def test_command(command, output):
    here = command.replace("build/run", os.path.dirname(BINARY))
    done = subprocess.run(["bash", "-c", here], cwd=ROOT, env={**os.environ, **ENV}, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert re.fullmatch(marked.pattern_of(output), done.stdout), f"$ {command}\nsays now:\n{done.stdout}{done.stderr}"
