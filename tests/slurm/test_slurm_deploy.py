"""What a new site gets to run by the clock: units that systemd accepts, and a line that needs few rights in Slurm."""

from __future__ import annotations

import json
import pwd
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from planner.cli.main import run
from planner.places import shipped_folder
from planner.site.init import write_site
from planner.slurm.commands import Slurm
from planner.slurm.metrics import METRICS
from planner.slurm.snapshot import queue_now
from planner.slurm.wanted import JOURNAL
from tests.slurm.cluster import ACCOUNTING, SEARCH, Cluster, until, why_not
from tests.slurm.site import cheap_from, write_holding_site

USER = "nobody"
SOON = ("--partition=open", "--begin=now+20minutes", "--time=30")


@pytest.fixture
def deploy(tmp_path: Path) -> Path:
    """The folder of a new site in which its units stand."""
    write_site(tmp_path / "new", shipped=shipped_folder())
    return tmp_path / "new" / "deploy"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze here")
def test_systemd_accepts_the_units(deploy: Path) -> None:
    """Timers, services, and every key in them."""
    for path in deploy.glob("*.service"):
        path.write_text(path.read_text("utf-8").replace("/srv/planner/.venv/bin/plan", "/bin/true"), encoding="utf-8")
    units = sorted(str(path) for path in deploy.glob("planner*.[st]*e*r*") if path.suffix in (".service", ".timer"))
    assert len(units) == 4
    done = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_alerts_speak_of_metrics_that_are_there(deploy: Path) -> None:
    """By the names that a run writes."""
    import re

    found = set(re.findall(r"planner_([a-z_]+)", (deploy / "alerts.yml").read_text("utf-8")))
    assert found
    assert found <= METRICS.keys()


def command_of(text: str) -> list[str]:
    """The words of ExecStart."""
    (line,) = (line for line in text.splitlines() if line.startswith("ExecStart="))
    return shlex.split(line.removeprefix("ExecStart="))


def commands_of(user: str, folder: Path) -> str:
    """A PATH on which Slurm's commands are those of another user."""
    folder.mkdir()
    for name in ("scontrol", "squeue", "sinfo", "sacct"):
        words = f"setpriv --reuid={user} --regid={pwd.getpwnam(user).pw_gid} --clear-groups /usr/bin/{name}"
        (folder / name).write_text(f'#!/bin/sh\ncd /\nexec {words} "$@"\n', encoding="utf-8")
        (folder / name).chmod(0o755)
    return f"{folder}:{SEARCH}"


@pytest.mark.slow
@pytest.mark.skipif(bool(why_not(ACCOUNTING)), reason=f"no accounting: {why_not(ACCOUNTING)}")
def test_the_service_runs_with_the_narrowest_rights(
    cluster: Cluster, deploy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A coordinator of one account, no administrator or operator: holds jobs of that account, and of no other."""
    site = write_holding_site(deploy.parents[1] / "site", "slurm: {tell: comment, opt_in: {partitions: [open]}}\n")
    for folder in (cluster.folder, *cluster.folder.parents):
        if "pytest" in str(folder):
            folder.chmod(folder.stat().st_mode | 0o011)
    tell = ("sacctmgr", "--immediate")
    cluster.command(*tell, "add", "account", "chemistry", "cluster=ci", check=False)
    cluster.command(*tell, "add", "user", "root", "account=chemistry", check=False)
    cluster.command(*tell, "add", "user", USER, "account=physics", check=False)
    cluster.command(*tell, "add", "coordinator", "account=physics", f"names={USER}")
    held, other = cluster.submit("--account=physics", *SOON), cluster.submit("--account=chemistry", *SOON)
    words = command_of((deploy / "planner.service").read_text("utf-8").replace("/srv/planner", str(site)))
    monkeypatch.chdir(site)
    monkeypatch.setenv("PATH", commands_of(USER, deploy.parents[1] / "bin"))
    monkeypatch.setenv("SLURM_CONF", str(cluster.conf))
    slurm = Slurm()

    def begin(job: str) -> int | None:
        found = queue_now(slurm).find(job)
        return None if found is None else found.begin_unix

    before = begin(other)

    def has_held() -> bool:
        assert run(words[1:]) == 9
        assert "Invalid user id for job" in capsys.readouterr().err
        return begin(held) == cheap_from()

    until(has_held, "slurmctld to learn of the coordinator")
    assert begin(other) == before
    assert "held-until=" in cluster.command("squeue", "--noheader", f"--jobs={held}", "--format=%k")
    assert "planner_held_jobs 2" in (site / "metrics" / "planner.prom").read_text("ascii")
    lines = [json.loads(line) for line in (site / "reports" / "site" / JOURNAL).read_text("utf-8").splitlines()]
    assert {(each["job"], each["taken"]) for each in lines if each["kind"] == "result"} >= {
        (held, True),
        (other, False),
    }
