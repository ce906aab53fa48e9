"""A day booked from a real Slurm with accounting: its core-hours are those that sreport counts."""

from __future__ import annotations

import datetime as dt
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planner.cli.main import run
from tests.days import rows_of
from tests.slurm.cluster import ACCOUNTING, NEEDED, SEARCH, Cluster, running_cluster, until, why_not
from tests.slurm.site import write_slurm_site

DAY_S = 86400
SECTIONS = """\
slurm: {idle_w: 0}
power: {w_per_core: 5}
"""
FORMAT = (
    "JobID,JobName,User,Account,Partition,QOS,State,Submit,Start,End,Elapsed,Timelimit,NodeList,AllocCPUS,AllocTRES,"
    "ConsumedEnergyRaw"
)


@pytest.fixture(scope="module")
def accounted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, str]]:
    """A cluster on which some jobs have run, moved to the day before yesterday, and that day.

    sreport counts whole hours that are over, so that jobs of this moment are not in it: the times of the jobs are moved
    in the database. One runs over the midnight before the day, one over that after it.
    """
    reason = why_not((*NEEDED, *ACCOUNTING, "sreport", "sacct"))
    if reason:
        pytest.skip(f"no Slurm with accounting: {reason}")
    with running_cluster(tmp_path_factory.mktemp("accounted"), accounting=True) as cluster:
        jobs = [
            cluster.submit("--ntasks=3", sleep_s=2),
            cluster.submit("--nodes=2", "--ntasks=5", sleep_s=4),
            cluster.submit("--exclusive", sleep_s=1),
            cluster.submit("--array=1-2", sleep_s=2),
            cluster.submit("--ntasks=7", sleep_s=600),
            cluster.submit("--ntasks=2", sleep_s=1),
            cluster.submit("--ntasks=4", sleep_s=1),
        ]
        cluster.wait_for(jobs[4], "RUNNING")
        time.sleep(1)
        cluster.command("scancel", jobs[4])
        until(lambda: not cluster.command("squeue", "--noheader").strip(), "all jobs to end")
        until(lambda: "COMPLETED" in _states(cluster, jobs[-1]), "the last job in the accounts")
        midnight = (int(time.time()) // DAY_S - 2) * DAY_S
        times = ("time_submit", "time_eligible", "time_start", "time_end")
        cluster.sql(f"update ci_job_table set {', '.join(f'{each}={each}-{2 * DAY_S}' for each in times)}")
        for job, start, end in (
            (jobs[5], midnight - 3600, midnight + 1800),
            (jobs[6], midnight + DAY_S - 600, midnight + DAY_S + 600),
        ):
            moments = f"time_submit={start - 60}, time_eligible={start - 60}, time_start={start}, time_end={end}"
            cluster.sql(f"update ci_job_table set {moments} where id_job={job}")
        cluster.sql(f"update ci_event_table set time_start=time_start-{4 * DAY_S}")
        yield cluster, time.strftime("%Y-%m-%d", time.gmtime(midnight))


def _states(cluster: Cluster, job: str) -> str:
    return cluster.command("sacct", "--allusers", "--noheader", "-X", f"--jobs={job}", "--format=State")


def _next(day: str) -> str:
    return (dt.date.fromisoformat(day) + dt.timedelta(days=1)).isoformat()


@pytest.fixture
def site(accounted: tuple[Cluster, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site to stand in whose jobs are those of the cluster."""
    write_slurm_site(tmp_path, SECTIONS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", SEARCH)
    monkeypatch.setenv("SLURM_CONF", str(accounted[0].conf))
    return tmp_path


def summary_of(site: Path, day: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((site / "reports" / "site" / day / "summary.json").read_text())
    return found


def test_the_core_hours_are_those_of_sreport(accounted: tuple[Cluster, str], site: Path) -> None:
    """Of the cluster, and of the account; jobs over midnight count with their part of the day in both."""
    cluster, day = accounted
    assert run(["book", "--day", day]) == 0
    allocated = cluster.allocated_s(day)
    summary = summary_of(site, day)
    assert allocated > 2 * 1800 + 4 * 600
    assert summary["booked"]["cpu_hours"] * 3600 == pytest.approx(allocated, abs=0.01)
    # No job asks for more memory per core than nodes have: core-equivalents are cores.
    assert summary["totals"]["core_hours"] * 3600 == pytest.approx(allocated, abs=0.01)
    sizes = cluster.reported_s(day, "job", "SizesByAccount")
    by_account: dict[str, float] = {}
    for each in rows_of(site / "reports" / "site" / day / "schedule.csv"):
        by_account[each["account"]] = by_account.get(each["account"], 0) + float(each["core_hours"])
    for _, account, *used, _ in sizes:
        assert by_account[account] * 3600 == pytest.approx(sum(map(int, used)), abs=0.05)
    assert run(["audit", str(site / "reports" / "site" / day)]) == 0


def test_text_and_json_of_sacct_say_the_same(
    accounted: tuple[Cluster, str], site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Booked live, then from the text that sacct writes: the same data, so nothing is changed."""
    cluster, day = accounted
    window = (f"--starttime={day}T00:00:00", f"--endtime={_next(day)}T00:00:00")
    (site / "sacct.txt").write_text(cluster.command("sacct", "--allusers", "-P", *window, f"--format={FORMAT}"))
    assert run(["book", "--day", day, "-q"]) == 0
    assert len(rows_of(site / "reports" / "site" / day / "schedule.csv")) == 8
    capsys.readouterr()
    assert run(["book", "--day", day, "--sacct", "sacct.txt"]) == 0
    assert "is booked from the same data already" in capsys.readouterr().err
