"""A compressed week of a real Slurm with faults: whatever happens, no job is lost, run twice or held for ever."""

from __future__ import annotations

import datetime as dt
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from planner.slurm.commands import Slurm
from planner.slurm.journal import read_ours
from planner.slurm.snapshot import queue_now
from planner.slurm.wanted import JOURNAL
from tests.slurm.cluster import SEARCH, Cluster, until
from tests.slurm.site import day_zone, write_holding_site

ROOT = Path(__file__).parents[2]
DAYS = 7
SHAPES = (
    ("--ntasks=16",),
    ("--nodes=2", "--ntasks-per-node=8"),
    ("--array=1-4", "--ntasks=2"),
    ("--mem=50000",),
    ("--deadline=now+1hour",),
    ("--comment=flexible", "--ntasks=4"),
)


@pytest.fixture
def site(empty_cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A site to stand in on which all jobs may be held."""
    base = write_holding_site(tmp_path / "site")
    monkeypatch.chdir(base)
    monkeypatch.setenv("PATH", SEARCH)
    monkeypatch.setenv("SLURM_CONF", str(empty_cluster.conf))
    yield base
    for number in range(1, 9):
        empty_cluster.command("scontrol", "update", f"NodeName=n{number}", "State=RESUME", check=False)


def planning(*more: str, limit: str = "") -> subprocess.Popen[str]:
    """A run of `plan now --apply` in a process of its own, with a limit of the shell before it."""
    words = f"{limit} exec {sys.executable} -m planner now --apply --brief --bound-time 0 {' '.join(more)}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        ["sh", "-c", words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def midnight() -> str:
    """When today ends in the zone of the site, as the file of prices writes it."""
    zone = ZoneInfo(day_zone())
    tomorrow = dt.datetime.now(zone).date() + dt.timedelta(days=1)
    return f"{dt.datetime.combine(tomorrow, dt.time(), zone).astimezone(dt.UTC):%Y-%m-%dT%H:%M:%SZ}"


def code_of(run: subprocess.Popen[str]) -> tuple[int, str]:
    """How a run ends, and what it says of that: one line at most."""
    _, said = run.communicate(timeout=300)
    assert "Traceback" not in said, said
    return run.returncode, said


@pytest.mark.long
def test_a_week_of_faults(site: Path, empty_cluster: Cluster) -> None:
    """Jobs come every day; each day something else goes wrong, and runs are killed at any step."""
    rng, cluster = random.Random(7), empty_cluster
    jobs: list[str] = []
    gone: set[str] = set()
    told = code_of(planning())  # the first run takes longest
    assert told[0] == 0, told
    for day in range(DAYS):
        for _ in range(8):
            jobs.append(cluster.submit("--time=1", "--begin=now+20minutes", *rng.choice(SHAPES), sleep_s=2))
        jobs.append(cluster.submit("--time=1", "--ntasks=32", sleep_s=3))
        run = planning()
        time.sleep(rng.uniform(0.2, 4.0))
        run.send_signal(signal.SIGKILL)
        run.communicate()
        if day == 1:
            cluster.restart_controller()
        elif day == 2:
            cluster._stop(["slurmctld"])
            code, said = code_of(planning())
            assert (code, "slurmctld is down" in said) == (8, True), said
            cluster.start_controller()
        elif day == 3:
            cluster.command("scontrol", "update", "NodeName=n[1-3]", "State=DRAIN", "Reason=fans")
            cluster.command("scontrol", "update", "NodeName=n4", "State=DOWN", "Reason=lost")
        elif day == 4:
            prices = site / "prices.csv"
            lines = prices.read_text("utf-8").splitlines()
            known = [line for line in lines if line < midnight() or line.startswith("time")]
            prices.write_text("\n".join(known) + "\n", encoding="utf-8")
            assert len(known) < len(lines) - 20
        elif day == 5:
            code, said = code_of(planning(limit="ulimit -f 1; trap '' XFSZ;"))
            assert code != 0
            assert said.count("\n") <= 2, said
        elif day == 6:
            cluster.command("scontrol", "update", "NodeName=n[1-4]", "State=RESUME")
            both = planning(), planning()
            assert {code_of(each)[0] for each in both} <= {0, 6}
        waiting = [job for job in jobs if cluster.state(job) == "PENDING"]
        cancelled, moved = rng.sample(waiting, 2)
        cluster.command("scancel", cancelled)
        gone.add(cancelled)
        cluster.command("scontrol", "update", f"JobId={moved}", "StartTime=now+25minutes", check=False)
        code, said = code_of(planning())
        assert code == 0, said
    held = [line for line in Path("reports/site", JOURNAL).read_text("utf-8").splitlines() if '"set"' in line]
    assert len(held) > 20
    ours = read_ours(Path("reports/site", JOURNAL))
    assert all(json.loads(line)["new"] <= json.loads(line)["latest"] for line in held), (
        "a hold beyond what was promised"
    )
    code, said = code_of(planning("--set", "'slurm.opt_in.partitions=[]'"))
    assert code == 0, said
    now, slurm = time.time(), Slurm()
    left = [job for job in queue_now(slurm).records if job.is_pending and (job.begin_unix or 0) > now + 26 * 60]
    assert not left
    assert not [job for job in queue_now(slurm).records if "held-until" in job.admin_comment and job.is_pending]
    assert ours.entries
    for job in queue_now(slurm).records:
        if job.is_pending:
            cluster.command("scontrol", "update", f"JobId={job.record}", "StartTime=now", check=False)
    until(lambda: not cluster.command("squeue", "--noheader", "--format=%i").split(), "all jobs to end", patience_s=300)
    ended = {job: seen.state for job, seen in cluster.history().items() if job.partition("_")[0] in jobs}
    assert {job.partition("_")[0] for job in ended} == set(jobs)
    assert set(ended.values()) <= {"COMPLETED", "CANCELLED"}
    assert {job.partition("_")[0] for job, state in ended.items() if state == "CANCELLED"} == gone
    restarts = cluster.command("squeue", "--noheader", "--states=all", "--Format=restartcnt").split()
    assert set(restarts) == {"0"}
