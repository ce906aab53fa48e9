"""Jobs that wait for others through whole commands: a day, the days after it, a snapshot, and bad input."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from planner.cli.main import run
from tests.days import plan, rows_of, write_small_site

JOBS = """\
job_id,submit_time,requested_h,units,cores_per_unit,power_w,dependency
long,2024-06-02T08:00:00+02:00,40,1,8,90,
next,2024-06-02T08:01:00+02:00,2,1,8,90,afterok:long
with,2024-06-02T08:02:00+02:00,2,1,8,90,after:long
last,2024-06-02T08:03:00+02:00,1,1,8,90,"afterany:next,afterok:forgotten"
giant,2024-06-02T08:04:00+02:00,1,5,8,400,
doomed,2024-06-02T08:05:00+02:00,1,1,8,90,afterok:giant
too,2024-06-02T08:06:00+02:00,1,1,8,90,after:doomed
free,2024-06-02T08:07:00+02:00,3,1,8,90,
"""
"""``long`` ends at 16:00 on the second day, ``giant`` needs more nodes than there are."""

QUICK = ("--bound-time", "0", "-q")
DAYS = ("2024-06-03", "2024-06-04", "2024-06-05")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small site with jobs that wait for each other; commands run there."""
    write_small_site(tmp_path)
    (tmp_path / "jobs/queue.csv").write_text(JOBS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def started(site: Path, day: str) -> dict[str, str]:
    """Start of every job in the schedule of a day."""
    return {row["job_id"]: row["start_time"] for row in rows_of(site / f"reports/site/{day}/schedule.csv")}


def deferred(site: Path, day: str) -> dict[str, tuple[str, str]]:
    """Kind and reason of every job that does not start on a day."""
    rows = rows_of(site / f"reports/site/{day}/deferred.csv")
    return {row["job_id"]: (row["kind"], row["reason"]) for row in rows}


@pytest.mark.parametrize("method", ["multisearch", "harvest", "est", "hold"])
def test_days_continue_with_what_waits_and_nothing_is_lost(site: Path, method: str) -> None:
    """What waits for a job that runs over midnight starts when it ends; what waits for ``giant`` waits every day."""
    plan("run", "--from", DAYS[0], "--to", DAYS[2], "--method", method, "--iterations", "500", *QUICK)
    first, second, third = (started(site, day) for day in DAYS)
    assert first == dict.fromkeys(("long", "with", "free"), "2024-06-03T00:00:00+02:00")
    assert second == {
        "long": "2024-06-03T00:00:00+02:00",
        "next": "2024-06-04T16:00:00+02:00",
        "last": "2024-06-04T18:00:00+02:00",
    }
    assert third == {}
    giant = ("rejected", "asks for 5 units of 8 cores, the machine takes 4 at once")
    stuck = {
        "giant": giant,
        "doomed": ("deferred", "waits for job giant, which can never run here"),
        "too": ("deferred", "waits for job doomed, which does not start today"),
    }
    later = {
        "next": ("deferred", "waits for job long, which is to end at 2024-06-04T16:00:00+02:00"),
        "last": ("deferred", "waits for job next, which does not start today"),
    }
    if method in ("multisearch", "harvest"):  # they plan until all known jobs have run
        stuck["too"] = ("deferred", "waits for job doomed, which does not start until")
        later = {
            "next": ("deferred", "planned to start at 2024-06-04T16:00:00+02:00"),
            "last": ("deferred", "planned to start at 2024-06-04T18:00:00+02:00"),
        }
    for day, expected in zip(DAYS, (stuck | later, stuck, stuck), strict=True):
        found = deferred(site, day)
        assert found.keys() == expected.keys()
        for name, (kind, reason) in expected.items():
            assert found[name][0] == kind
            assert found[name][1].startswith(reason)
    for day in DAYS:
        plan("audit", f"reports/site/{day}")


def test_waits_count_from_when_a_job_could_start(site: Path) -> None:
    """Reports and comparisons count no time in which a job waits for others: Slurm would not call it eligible.

    ``long`` waits 16 h from 8:00 to midnight and ``free`` 15 h 53 min. ``with`` may start when ``long`` does, ``next``
    when it ends and ``last`` after that, and so they do: at once. Under EASY it is the same.
    """
    plan("run", "--from", DAYS[0], "--to", DAYS[2], "--method", "est", *QUICK)
    plan("report", "--by", "job", "-q")
    rows = rows_of(site / "reports/site/costs/all-days-by-job.csv")
    assert {row["job_id"]: float(row["mean_wait_h"]) for row in rows[:-1]} == {
        **dict.fromkeys(("with", "next", "last"), 0),
        "long": 16,
        "free": pytest.approx(15 + 53 / 60, abs=1e-4),
    }
    plan("compare", "site", "--from", DAYS[0], "--to", DAYS[2], "-m", "est", *QUICK)
    runs = rows_of(next(site.glob("reports/compare/*/*/runs.csv")))
    assert {row["kind"]: float(row["mean_wait_s"]) for row in runs} == dict.fromkeys(
        ("plan", "policy"), pytest.approx((16 * 3600 + 15 * 3600 + 53 * 60) / 5)
    )


def test_a_queue_that_waits_for_a_job_that_never_runs_does_not_become_empty(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``--until-empty`` ends with a line that says so."""
    code = run(["run", "--from", DAYS[0], "--to", DAYS[0], "--until-empty", "--method", "multisearch", *QUICK])
    assert code == 2
    assert "what waits for a job that never runs" in capsys.readouterr().err


def test_the_audit_of_a_written_day_sees_a_job_that_starts_too_soon(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The schedule says for whom each job waits; a dependency that is added to it is broken."""
    plan("--day", DAYS[0], "--method", "multisearch", *QUICK)
    path = site / f"reports/site/{DAYS[0]}/schedule.csv"
    rows = rows_of(path)
    waits = {row["job_id"]: row["dependency"] for row in rows}
    assert waits == {"long": "", "with": "after:long", "free": ""}
    for row in rows:
        row["dependency"] = "afterok:long" if row["job_id"] == "free" else row["dependency"]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    assert run(["audit", str(path.parent)]) == 5
    assert "dependency: job free: starts at 0 s, allowed from 144000 s" in capsys.readouterr().err


def test_a_circle_is_one_line_with_its_jobs(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, and nothing is planned."""
    text = JOBS.replace("40,1,8,90,\n", "40,1,8,90,afterok:last\n")
    (site / "jobs/queue.csv").write_text(text, encoding="utf-8")
    assert run(["--day", DAYS[0], *QUICK]) == 2
    told = capsys.readouterr().err
    assert "jobs wait for each other in a circle: long -> last -> next -> long; remove" in told
    assert len(told.strip().splitlines()) == 1


STATES = """\
job_id,submit_time,requested_h,units,cores_per_unit,power_w,state,start_time,end_time,nodes,dependency
long,2024-06-03T01:00:00+02:00,10,1,8,90,running,2024-06-03T02:00:00+02:00,,cpu1,
ended,2024-06-03T01:00:00+02:00,10,1,8,90,done,2024-06-03T02:00:00+02:00,2024-06-03T03:00:00+02:00,cpu2,
next,2024-06-03T01:01:00+02:00,2,1,8,90,pending,,,,"afterok:long,afterok:ended"
last,2024-06-03T01:02:00+02:00,13,1,8,90,pending,,,,after:next
far,2024-06-03T01:03:00+02:00,1,1,8,90,pending,,,,afterok:last
gone,2024-06-03T01:04:00+02:00,1,1,8,90,cancelled,,,,
free,2024-06-03T01:05:00+02:00,1,1,8,90,pending,,,,afterok:gone
"""
"""At six: ``long`` is expected to end at twelve."""


@pytest.mark.parametrize("method", ["multisearch", "harvest", "hold"])
def test_a_plan_from_now_on_waits_for_what_runs(site: Path, method: str) -> None:
    """``far`` comes at one on the next day: with 24 hours ahead it has a start, and waits with it."""
    (site / "now.csv").write_text(STATES, encoding="utf-8")
    now = ("now", "--at", "2024-06-03T06:00:00+02:00", "--snapshot", "now.csv", "--method", method)
    plan(*now, "--hours", "12", "--iterations", "500", *QUICK)
    starts = started(site, DAYS[0])
    assert {name: starts[name][11:16] for name in ("next", "last", "free")} == {
        **{"next": "12:00", "last": "12:00", "free": "06:00"}
    }
    waits = "waits for job last, which is to end at 2024-06-04T01:00:00+02:00"
    planned = "planned to start at 2024-06-04T01:00:00+02:00"  # by methods that plan until all known jobs have run
    reason = planned if method in ("multisearch", "harvest") else waits
    assert deferred(site, DAYS[0])["far"] == ("deferred", reason)
    plan(*now, "--hours", "24", "--iterations", "500", *QUICK)
    assert deferred(site, DAYS[0])["far"] == ("deferred", "planned to start at 2024-06-04T01:00:00+02:00")
    plan("audit", f"reports/site/{DAYS[0]}")


def test_a_replay_of_a_table_lets_jobs_wait_on_a_pool_and_on_nodes(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``next`` joins at 40 h and ``last`` at 42 h, and nobody ever waits; who waits for ``giant`` is dropped."""
    wanted = ("-p", "easy,list", "--metrics", "wait,max-wait", "--json")
    plan("simulate", "jobs/queue.csv", *wanted, "--processors", "32")
    plan("simulate", "jobs/queue.csv", *wanted, "--scenario", "site")
    told = capsys.readouterr()
    assert told.out.count('"wait": 0.0') == told.out.count('"max-wait": 0.0') == 4
    assert told.err.count("2 dropped: waits for a job that cannot run") == 2
