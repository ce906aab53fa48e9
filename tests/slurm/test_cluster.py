"""The cluster of the tests leaves nothing behind, however they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.slurm.cluster import ACCOUNTING, NEEDED, SEARCH, until, why_not

SCRIPT = """
import sys, time
from pathlib import Path
from tests.slurm.cluster import Cluster
cluster = Cluster(Path(sys.argv[1]), accounting=False)
(cluster.folder / "log").mkdir()
cluster._start("sleeper", "sleep", "600")
print(cluster.daemons["sleeper"].pid, flush=True)
time.sleep(600)
"""
CLUSTER = """
import sys, time
from pathlib import Path
from tests.slurm.cluster import running_cluster
with running_cluster(Path(sys.argv[1]), accounting=True) as cluster:
    print(*(each.pid for each in cluster.daemons.values()), flush=True)
    time.sleep(600)
"""


def is_there(pid: int) -> bool:
    """Whether a process lives; one that nobody has waited for yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(bool(why_not(("setpriv",))), reason="needs setpriv and root")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_daemons_end_with_the_tests(tmp_path: Path, how: signal.Signals) -> None:
    """Who is killed stops no daemon, and is not needed for it."""
    with started(SCRIPT, tmp_path) as tests:
        assert tests.stdout is not None
        daemon = int(tests.stdout.readline())
        until(lambda: Path(f"/proc/{daemon}/comm").read_text("utf-8").strip() == "sleep", "the daemon to run")
        tests.send_signal(how)
    until(lambda: not is_there(daemon), "the daemon to end")


@pytest.mark.slow
@pytest.mark.skipif(bool(why_not((*NEEDED, *ACCOUNTING))), reason="needs Slurm with accounting, and root")
def test_a_whole_cluster_ends_with_sigterm(tmp_path: Path) -> None:
    """Also the database and munge, which others need until the last."""
    with started(CLUSTER, tmp_path) as tests:
        assert tests.stdout is not None
        daemons = [int(pid) for pid in tests.stdout.readline().split()]
        assert len(daemons) == 12
        tests.send_signal(signal.SIGTERM)
    until(lambda: not any(map(is_there, daemons)), "the daemons to end")


def started(script: str, folder: Path) -> subprocess.Popen[str]:
    """A script that stands for tests, in a process of its own."""
    environment = {**os.environ, "PATH": SEARCH, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.Popen(
        (sys.executable, "-c", script, str(folder)), env=environment, stdout=subprocess.PIPE, text=True
    )
