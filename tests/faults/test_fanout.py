"""Claims about runs side by side: processes that a killed comparison began end with it, and a rerun works."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faults.commands import COMMANDS, COMPARE, Stage, day_folders, ended, hidden
from tests.faults.verdict import audited

PATIENCE_S = 600.0


def children(process: int) -> list[int]:
    """Processes that another one began."""
    return [int(number) for number in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def is_alive(process: int) -> bool:
    """Whether a process runs; one that is dead and not yet buried does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
def test_kill_a_comparison_with_its_processes(stage: Stage) -> None:
    """Killed without a word, a comparison takes the searches of its processes with it, and leaves no lock held."""
    stage.reset(COMMANDS["run"])
    slow = ("-m", "harvest", "--iterations", "100000000", "--time-limit", "10m", "--processes", "2", "-q")
    words = [sys.executable, "-m", "planner", *COMPARE[:5], *slow]
    process = subprocess.Popen(words, cwd=stage.site, stderr=subprocess.PIPE)
    until = time.monotonic() + PATIENCE_S
    while len(list(stage.site.rglob(".2024-06-03.lock"))) < 2:
        assert time.monotonic() < until, "the searches did not begin"
        time.sleep(0.1)
    begun = children(process.pid)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    while any(is_alive(each) for each in begun):
        assert time.monotonic() < until, "processes of the comparison outlive it"
        time.sleep(0.1)
    code, told = ended(stage.site, (*COMPARE[:5], "-m", "harvest", "--iterations", "100", "--processes", "1", "-q"))
    assert code == 0, told
    for folder in day_folders(stage.site):
        audited(stage.site, folder)
    assert hidden(stage.site) == []
