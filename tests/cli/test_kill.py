"""Claims about a run that is killed: the earlier result stands whole, and the next run cleans up."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from planner.cli.main import run
from tests.days import DAY, names, tree


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("after_s", [0.3, 0.9, 1.3, 1.7])
def test_kill_a_run(site: Path, after_s: float) -> None:
    """Killed at any moment, a run leaves the earlier result or the new one, whole; the next run cleans up."""
    before = tree(site / "reports" / "site" / DAY)
    process = subprocess.Popen(
        [sys.executable, "-m", "planner", "--day", DAY, "--set", "tariff.eur_per_kwh=0.4", "-q"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(after_s)
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=300)
    after = tree(site / "reports" / "site" / DAY)
    if after != before:
        assert after.keys() == before.keys()
        assert run(["audit", str(site / "reports" / "site" / DAY)]) == 0
    assert run(["--day", DAY, "-q"]) == 0
    assert names(site / "reports" / "site") == [DAY]
