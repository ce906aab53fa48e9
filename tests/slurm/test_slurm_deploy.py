"""What a new site gets to run by the clock: units that systemd accepts, and a line that needs few rights in Slurm."""

from __future__ import annotations

import json
import os
import pwd
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import planner
from planner.places import kept_folder, shipped_folder
from planner.site.init import write_site
from planner.slurm.commands import Slurm, queue_now
from planner.slurm.journal import JOURNAL
from planner.slurm.monitoring import METRICS
from tests.slurm.cluster import ACCOUNTING, SEARCH, Cluster, until, why_not
from tests.slurm.site import cheap_from, write_holding_site

ROOT = Path(__file__).parents[2]
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


def line_of(text: str, start: str) -> str:
    """The one line that begins so, without its begin."""
    (line,) = (line for line in text.splitlines() if line.startswith(start))
    return line.removeprefix(start).strip()


def interpreter() -> str:
    """A Python of this version that everybody may run; skips without one."""
    for path in (Path(sys.executable).resolve(), Path(f"/usr/bin/python3.{sys.version_info.minor}")):
        if path.is_file() and all(each.stat().st_mode & 0o001 for each in (path, *path.parents)):
            return str(path)
    pytest.skip("no Python here that other users may run")


@pytest.fixture
def site(cluster: Cluster, tmp_path: Path) -> Path:
    """A site of the user that runs the service, with a `plan` of its own; compiled code is a copy of ours."""
    place = write_holding_site(tmp_path / "site", "slurm: {tell: comment, opt_in: {partitions: [open]}}\n")
    for folder in (cluster.folder, *cluster.folder.parents, *place.parents):
        if "pytest" in str(folder):
            folder.chmod(folder.stat().st_mode | 0o011)
    program = place / ".venv" / "bin" / "plan"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {interpreter()} -P -m planner "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    kept = place / "cache" / "hpc-day-planner"
    kept.mkdir(parents=True)
    package = Path(planner.__file__).parent
    for folder in sorted({path.parent for path in package.rglob("*.py")}):
        found = kept_folder(folder, package / "machine", package / "compiled")
        if found is not None and any(found.iterdir()):
            shutil.copytree(found, kept / found.name)
    owner = pwd.getpwnam(USER)
    for path in (place, *place.rglob("*")):
        os.chown(path, owner.pw_uid, owner.pw_gid, follow_symlinks=False)
        path.chmod(path.stat().st_mode & ~0o022)
    (place / "cache").chmod(0o700)
    kept.chmod(0o700)
    return place


def by_the_clock(command: str, site: Path, cluster: Cluster) -> subprocess.CompletedProcess[str]:
    """A line of the service or of cron, run by a shell as the user that it names, in the place of /srv/planner."""
    owner, code = pwd.getpwnam(USER), [each for each in sys.path if each]
    environment = {
        "PATH": f"{site / 'bin'}:{SEARCH}",
        "SLURM_CONF": str(cluster.conf),
        "NUMBA_CACHE_DIR": str(site / "cache"),
        "PYTHONPATH": ":".join([str(ROOT), *(each for each in code if "site-packages" in each)]),
    }
    drop = ("setpriv", f"--reuid={owner.pw_uid}", f"--regid={owner.pw_gid}", "--clear-groups", "--no-new-privs")
    words = (*drop, "/bin/bash", "-c", command.replace("/srv/planner", str(site)))
    return subprocess.run(words, cwd=site, env=environment, capture_output=True, text=True, check=False, timeout=600)


@pytest.mark.slow
@pytest.mark.skipif(bool(why_not(ACCOUNTING)), reason=f"no accounting: {why_not(ACCOUNTING)}")
def test_the_service_runs_with_the_narrowest_rights(cluster: Cluster, deploy: Path, site: Path) -> None:
    """All of it as a plain user of the machine who is coordinator of one account, and neither administrator nor
    operator: it holds jobs of that account, and of no other; by the service and by the line for cron."""
    tell = ("sacctmgr", "--immediate")
    cluster.command(*tell, "add", "account", "chemistry", "cluster=ci", check=False)
    cluster.command(*tell, "add", "user", "root", "account=chemistry", check=False)
    cluster.command(*tell, "add", "user", USER, "account=physics", check=False)
    cluster.command(*tell, "add", "coordinator", "account=physics", f"names={USER}")
    held, other = cluster.submit("--account=physics", *SOON), cluster.submit("--account=chemistry", *SOON)
    slurm = Slurm(conf=cluster.conf)

    def begin(job: str) -> int | None:
        found = queue_now(slurm).find(job)
        return None if found is None else found.begin_unix

    before = begin(other)
    service = line_of((deploy / "planner.service").read_text("utf-8"), "ExecStart=")

    def has_held() -> bool:
        done = by_the_clock(service, site, cluster)
        assert done.returncode == 9, done.stderr
        assert "Invalid user id for job" in done.stderr
        return begin(held) == cheap_from()

    until(has_held, "slurmctld to learn of the coordinator")
    assert begin(other) == before
    assert "held-until=" in cluster.command("squeue", "--noheader", f"--jobs={held}", "--format=%k")
    assert "planner_held_jobs 1" in (site / "metrics" / "planner.prom").read_text("ascii")
    journal = site / "reports" / "site" / JOURNAL
    lines = [json.loads(line) for line in journal.read_text("utf-8").splitlines()]
    assert {(each["job"], each["taken"]) for each in lines if each["kind"] == "result"} >= {
        (held, True),
        (other, False),
    }
    assert journal.stat().st_uid == pwd.getpwnam(USER).pw_uid
    cluster.command("scancel", other)
    history = line_of((deploy / "planner-book.service").read_text("utf-8"), "ExecStartPre=")
    assert history.partition(" -c ")[2].strip("'") in (deploy / "planner.cron").read_text("utf-8")
    assert by_the_clock(history, site, cluster).returncode == 0
    service = f"{service} --set hold.history={site}/history.json"
    assert by_the_clock(service, site, cluster).returncode == 0
    assert (begin(held) or 0) >= cheap_from()  # waiting counts less than without; later hours may be cooler
    (site / "bin").mkdir()
    (site / "bin" / "logger").write_text('#!/bin/sh\necho "$@" >> log; cat >> log\n', encoding="utf-8")
    (site / "bin" / "logger").chmod(0o755)
    cron = line_of((deploy / "planner.cron").read_text("utf-8"), "*/10 * * * *  planner")
    done = by_the_clock(cron, site, cluster)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    told = r"-t planner\n1 held, [01] new or moved, 0 released, 0 left alone\n"
    assert re.fullmatch(told, (site / "log").read_text("utf-8"))
    assert (begin(held) or 0) >= cheap_from()
