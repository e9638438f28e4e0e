"""`apart` leaves nothing behind of what it ran, however it ended."""

import os
import signal
import subprocess

import pytest

APART = os.path.join(os.path.dirname(os.path.abspath(__file__)), "apart")
# A process that would stay, in a control group below the run's; and a mount that must be invisible outside.
STAYS = """
mkdir "$1/$CGROUP/inner"
sleep 1000 &
echo $! >"$1/$CGROUP/inner/cgroup.procs"
mkdir /run/here && mount -t tmpfs tmpfs /run/here
echo "$CGROUP"
wait
"""


def hierarchy():
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        kinds = [line.split()[1:3] for line in mounts]
    return next(path for path, kind in kinds if kind in ("cgroup", "cgroup2"))


@pytest.mark.parametrize("end", ["killed", "interrupted"])
def test_apart_leaves_no_process_behind(end):
    where = hierarchy()
    # A shell makes background processes ignore SIGINT, and perhaps the tests themselves do too.
    command = ["env", "--default-signal=INT", APART, "bash", "-c", STAYS, "-", where]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    group = running.stdout.readline().strip()
    assert os.path.isdir(f"{where}/{group}/inner")
    if end == "killed":
        running.kill()
    else:
        os.killpg(running.pid, signal.SIGINT)
    # Ends when all possible writers have exited.
    assert running.stdout.read() == ""
    running.wait()
    assert not os.path.exists(f"{where}/{group}") and not os.path.exists("/run/here")


def test_apart_returns_the_status_of_its_command():
    assert subprocess.run([APART, "bash", "-c", "exit 3"], check=False).returncode == 3
