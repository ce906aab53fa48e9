"""Claims about promises, the month's peak and deadlines from one `plan now` to the next, with tables of the queue."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.days import plan, write_small_site

AFTERNOON = '{from: "14:00", to: "18:00", eur_per_kwh: 0.05}'
AT_NIGHT = '{from: "02:00", to: "06:00", eur_per_kwh: 0.10}, {from: "06:00", to: "07:00", eur_per_kwh: 0.05}'
SITE = """\
description: Nine nodes that hold jobs
zone: Europe/Paris
jobs: {{source: ../jobs/queue.csv}}
cluster: {{classes: {{cpu: {{count: 9, capacity: {{cores: 32}}}}}}}}
weather: {{source: constant, temperature_c: 12}}
tariff: {{kind: bands, eur_per_kwh: 0.40, bands: [{bands}]}}
cooling: {{table: ../tables/small.csv}}
revenue: {{eur_per_core_hour: 0.05}}
rules: {{max_delay: 6h}}
"""
QUEUE = "job_id,submit_time,requested_h,cores,power_w,state,begin_time,deadline,dependency\n"
DAY, NEXT = "2024-03-26", "2024-03-27"
EARLY = f"{DAY}T09:30:00+01:00"


class Site:
    """The site in a folder, at which the planner is run by hand."""

    def __init__(self, folder: Path, bands: str) -> None:
        write_small_site(folder, SITE.format(bands=bands), "job_id,submit_time,requested_h,cores,power_w\n")
        self.days = folder / "reports" / "site"

    def now(self, moment: str, *jobs: str, settings: tuple[str, ...] = ()) -> None:
        """Plan a moment at which the queue has these jobs."""
        Path("now.csv").write_text(QUEUE + "".join(f"{job}\n" for job in jobs), encoding="utf-8")
        more = [word for each in settings for word in ("--set", each)]
        plan("now", "--at", f"{moment}:00+01:00", "--snapshot", "now.csv", "--bound-time", "0", *more)

    def job(self, day: str, name: str = "a") -> dict[str, str]:
        """What the tables of a day say of a job."""
        for table in ("schedule", "deferred"):
            rows = csv.DictReader((self.days / day / f"{table}.csv").open(encoding="utf-8"))
            if row := next((row for row in rows if row["job_id"] == name), None):
                return row
        raise KeyError(name)

    def summary(self, day: str) -> dict[str, Any]:
        """The day in short."""
        found: dict[str, Any] = json.loads((self.days / day / "summary.json").read_text("utf-8"))
        return found


@pytest.fixture
def site(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """The site with cheap afternoons, or with the bands that a test asks for."""
    monkeypatch.chdir(tmp_path)
    return Site(tmp_path, getattr(request, "param", AFTERNOON))


def job(
    name: str = "a", submit: str = EARLY, cores: int = 32, *, begin: str = "", due: str = "", after: str = ""
) -> str:
    """A waiting job of an hour."""
    return f"{name},{submit},1,{cores},{100 * cores / 32:g},pending,{begin},{due},{after}"


@pytest.mark.parametrize("site", [AT_NIGHT], indirect=True)
def test_a_promise_that_reaches_over_midnight_is_written_and_kept(site: Site) -> None:
    """At 22:00 the job may be held for 6 h, until 4:00; at midnight it still may until 4:00, not until 6:00."""
    waiting = job(submit=f"{DAY}T21:30:00+01:00")
    site.now(f"{DAY}T22:00", waiting)
    assert site.job(DAY)["latest_start"] == f"{NEXT}T04:00:00+01:00"
    plan("audit", str(site.days / DAY))
    site.now(f"{NEXT}T00:00", waiting)
    assert site.job(NEXT)["latest_start"] == f"{NEXT}T04:00:00+01:00"
    assert site.job(NEXT)["start_time"] <= f"{NEXT}T04:00:00+01:00"
    plan("audit", str(site.days / NEXT))


def test_a_begin_that_moves_costs_no_plan(site: Site) -> None:
    """Held since 10:00 until 14:00, at most until 16:00; then its user wants it to begin no sooner than at 12:00."""
    site.now(f"{DAY}T10:00", job())
    assert site.job(DAY)["latest_start"] == f"{DAY}T16:00:00+01:00"
    moved = job(begin=f"{DAY}T12:00:00+01:00")
    site.now(f"{DAY}T12:30", moved, job("b"))
    assert site.job(DAY)["latest_start"] == f"{DAY}T16:00:00+01:00"
    site.now(f"{DAY}T13:00", job(begin=f"{DAY}T20:00:00+01:00"), job("b"))
    assert site.job(DAY)["start_time"] >= f"{DAY}T20:00:00+01:00"
    assert not site.summary(DAY)["promises"]["broken"]


def test_a_begin_that_moves_back_finds_the_promise_as_it_was(site: Site) -> None:
    """Begin at 20:00 instead of 16:00 at the latest, and then no begin at all: still until 16:00, and no error."""
    site.now(f"{DAY}T10:00", job())
    site.now(f"{DAY}T11:00", job(begin=f"{DAY}T20:00:00+01:00"))
    assert site.summary(DAY)["promises"]["broken"] == []
    site.now(f"{DAY}T11:30", job())
    assert site.job(DAY)["reference_start"] == f"{DAY}T10:00:00+01:00"
    assert site.job(DAY)["latest_start"] == f"{DAY}T16:00:00+01:00"
    assert site.job(DAY)["start_time"] <= f"{DAY}T16:00:00+01:00"


def test_a_deadline_beyond_the_planned_time_counts_as_well(site: Site) -> None:
    """A job of 24 h and one after it, due at 10:30 of the next day but one: there is no time to wait for 14:00."""
    long = f"long,{EARLY},24,32,100,pending,,,"
    site.now(f"{DAY}T10:00", long, job("after", due=f"{NEXT}T12:30:00+01:00", after="afterok:long"))
    assert site.job(DAY, "long")["start_time"] == f"{DAY}T10:00:00+01:00"


def test_another_power_limit_hides_no_conflict(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    """A job that is gone is told as long as the nodes are the same; of other nodes a line says so."""
    site.now(f"{DAY}T10:00", job(), job("b"))
    site.now(f"{DAY}T10:30", job("b"), settings=("cluster.power_limit_kw=500",))
    assert site.summary(DAY)["conflicts"] == 1
    capsys.readouterr()
    site.now(f"{DAY}T11:00", job("c"), settings=("cluster.classes.cpu.count=10",))
    assert "which is of other nodes" in capsys.readouterr().err


def test_a_job_that_is_submitted_again_has_no_promise_yet(site: Site) -> None:
    """Another job of the same name, of 11:00: nobody promised it at 10:00 to start by 16:00."""
    site.now(f"{DAY}T10:00", job())
    assert site.job(DAY)["latest_start"] == f"{DAY}T16:00:00+01:00"
    site.now(f"{DAY}T11:00", job(submit=f"{DAY}T11:00:00+01:00"))
    assert site.job(DAY)["latest_start"] in ("", f"{DAY}T17:00:00+01:00")


def test_no_job_is_held_until_it_misses_its_deadline(site: Site) -> None:
    """Cheap hours begin at 14:00: a job due at 12:30 starts at once, and so does one that another of 13:30 waits for.

    One that is due at 18:00 has the time to wait for them.
    """
    first, second = job("first"), job("second", due=f"{DAY}T13:30:00+01:00", after="afterok:first")
    due, late = job("due", due=f"{DAY}T12:30:00+01:00"), job("late", due=f"{DAY}T18:00:00+01:00")
    site.now(f"{DAY}T10:00", due, late, first, second, job("free"))
    starts = {name: site.job(DAY, name)["start_time"] for name in ("due", "late", "first", "second", "free")}
    assert (starts["due"], starts["first"]) == (f"{DAY}T10:00:00+01:00",) * 2
    assert (starts["late"], starts["free"]) == (f"{DAY}T14:00:00+01:00",) * 2
    assert starts["second"] <= f"{DAY}T12:30:00+01:00"
    assert site.summary(DAY)["jobs"]["missed_deadlines"] == 0


def test_a_deadline_that_comes_later_ends_a_hold(site: Site) -> None:
    site.now(f"{DAY}T10:00", job())
    assert site.job(DAY)["start_time"] == f"{DAY}T14:00:00+01:00"
    site.now(f"{DAY}T11:00", job(due=f"{DAY}T13:00:00+01:00"))
    assert site.job(DAY)["start_time"] == f"{DAY}T11:00:00+01:00"


CHARGED = ("demand.eur_per_kw=10", "demand.period=month")


def test_another_machine_forgets_neither_promise_nor_peak(site: Site) -> None:
    """The month's peak was on the 25th; on the 26th a node is added, and job a may still be held until 16:00 alone."""
    site.now("2024-03-25T10:00", job("b", "2024-03-25T05:30:00+01:00", 256), settings=CHARGED)
    charge = site.summary("2024-03-25")["totals"]["demand_cost_eur"]
    assert charge > 0
    site.now(f"{DAY}T10:00", job(), settings=CHARGED)
    site.now(f"{DAY}T12:00", job(), settings=(*CHARGED, "cluster.classes.cpu.count=10"))
    assert site.job(DAY)["latest_start"] == f"{DAY}T16:00:00+01:00"
    assert site.summary(DAY)["totals"]["demand_cost_eur"] == 0


def test_a_day_without_a_plan_does_not_charge_the_peak_again(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    """The same load on the 26th and on the 28th is one peak of the month."""
    charges = []
    for day in (DAY, "2024-03-28"):
        site.now(f"{day}T10:00", job("b", f"{day}T05:30:00+01:00", 256), settings=(*CHARGED, "rules.max_delay=0h"))
        charges.append(site.summary(day)["totals"]["demand_cost_eur"])
    assert charges[0] > 0
    assert charges[1] == 0
    assert f"the last plan is that of {DAY}" in capsys.readouterr().err


def test_a_moment_at_which_nothing_waits_is_told_as_such(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.now(f"{DAY}T10:00", job())
    header = "job_id,submit_time,requested_h,cores,power_w,state,start_time,nodes\n"
    Path("now.csv").write_text(f"{header}a,{EARLY},4,32,100,running,{EARLY},cpu1\n")
    capsys.readouterr()
    plan("now", "--at", f"{DAY}T11:00:00+01:00", "--snapshot", "now.csv", "--bound-time", "0")
    err = capsys.readouterr().err
    assert "no jobs wait" in err
    assert "no jobs are known" not in err


def test_what_is_carried_out_is_held_against_rules_with_real_runtimes(site: Site) -> None:
    """Three wide jobs that ask for 20 h and run for one: no rule earns more than the proven limit."""
    rows = [f"a{k},2024-03-25T2{k}:00:00+01:00,20,288,3600,900\n" for k in range(3)]
    Path("jobs.csv").write_text("job_id,submit_time,requested_h,cores,runtime_s,power_w\n" + "".join(rows))
    plan("--day", DAY, "--jobs", "jobs.csv", "--set", "rules.execute=actual", "--bound-time", "1")
    told = site.summary(DAY)
    assert told["bound_eur"] is None
    assert told["easy"]["saved_eur"] == 0  # nothing can be held from midnight to the cheap hours: it is EASY itself
    assert told["planned_profit_eur"] == told["totals"]["profit_eur"]
    assert max(each["profit_eur"] for each in told["baselines"]) <= told["real_bound_eur"] + 1e-6
    plan("audit", str(site.days / DAY))


def test_a_promise_counts_from_when_the_scheduler_could_really_start_the_job(site: Site) -> None:
    """Room is foreseen for 13:50, and cheap hours begin at 14:00; the job before ends at 13:05, so 13:40 is last."""
    head = "job_id,submit_time,requested_h,cores,power_w,state,start_time,end_time,nodes\n"
    begun = f"{DAY}T11:50:00+01:00"
    nodes = "cpu[1-9]"
    waits = f"a,{EARLY},1,288,900,pending,,,\n"

    def now(moment: str, before: str) -> None:
        Path("now.csv").write_text(f"{head}r,{EARLY},2,288,900,{before},{nodes}\n{waits}", encoding="utf-8")
        options = ("--snapshot", "now.csv", "--bound-time", "0", "--set", "rules.max_delay=30m")
        plan("now", "--at", f"{DAY}T{moment}:00+01:00", *options)

    now("13:00", f"running,{begun},")
    assert site.job(DAY)["reference_start"] == f"{DAY}T13:50:00+01:00"
    now("13:10", f"done,{begun},{DAY}T13:05:00+01:00")
    assert site.job(DAY)["latest_start"] == f"{DAY}T13:40:00+01:00"
    assert site.job(DAY)["start_time"] <= f"{DAY}T13:40:00+01:00"
