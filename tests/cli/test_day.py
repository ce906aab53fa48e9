"""Claims about ``plan --day``: what it leaves, that it is the same every time, and that its sums hold."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from planner.cli.main import run
from planner.inputs.jobs.power_models import per_core
from planner.inputs.jobs.read import read_jobs
from planner.inputs.jobs.unit_groups import UnitShape
from planner.store.read_day import read_day
from tests.days import BRIEF, DAY, column_sum, plan, rows_of

CSVS = ("schedule.csv", "deferred.csv", "segments.csv")
EXTRAS = [
    "cluster.classes.cpu.idle_w=60",
    "demand.eur_per_kw=0.4",
    "carbon.eur_per_tonne=80",
    "carbon.g_per_kwh=300",
]


def settings(*pairs: str) -> list[str]:
    return [word for pair in pairs for word in ("--set", pair)]


def csvs(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in CSVS}


def assert_sums(folder: Path) -> dict[str, float]:
    """The columns of the CSVs sum to the totals, to the cent; returns the totals."""
    summary = json.loads((folder / "summary.json").read_text())
    totals: dict[str, float] = summary["totals"]
    demand, site_cost = totals["demand_cost_eur"], summary["site_cost_eur"]
    assert column_sum(folder / "schedule.csv", "profit_eur") - site_cost == pytest.approx(
        totals["profit_eur"], abs=0.005
    )
    assert column_sum(folder / "segments.csv", "profit_eur") - demand == pytest.approx(totals["profit_eur"], abs=0.005)
    for name in ("revenue_eur", "work_kwh", "core_hours"):
        assert column_sum(folder / "schedule.csv", name) == pytest.approx(totals[name], abs=0.005)
    same = [
        name for name in rows_of(folder / "segments.csv")[0] if name in totals and name not in ("pue", "profit_eur")
    ]
    assert len(same) in (12, 13)  # and the sun that is curtailed, where there is a roof
    for name in same:
        assert column_sum(folder / "segments.csv", name) == pytest.approx(totals[name], abs=0.005)
    return totals


def test_files(sample_day: Path) -> None:
    """A run leaves exactly its files, and nothing beside its folder."""
    extra = {"schedule.parquet", "deferred.parquet", "segments.parquet", "schedule.swf"}
    assert {path.name for path in sample_day.iterdir()} == {*CSVS, "summary.json", "run.json", "report.html"} | extra
    assert [path.name for path in sample_day.parent.iterdir()] == [DAY]


def test_summary_text(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The terminal shows profit, revenue, energies, PUE, utilisation, jobs, ordering, time and the folder."""
    plan("--day", DAY)
    shown = capsys.readouterr()
    summary = json.loads((site / "reports" / "site" / DAY / "summary.json").read_text())
    totals, jobs = summary["totals"], summary["jobs"]
    for word in (
        "until all known jobs have run",
        "profit",
        "against EASY",
        "mean wait",
        "against rules",
        "revenue",
        "IT energy",
        "cooling energy",
        "PUE",
        "utilisation",
        "tried",
    ):
        assert word in shown.out
    assert f"{totals['profit_eur']:,.2f} EUR" in shown.out
    assert f"{jobs['started']} started   {9 - jobs['started']} deferred, 1 rejected" in shown.out
    assert shown.out.splitlines()[-1].strip() == f"reports/site/{DAY}"
    assert shown.err == (
        "rejected: job giant asks for 5 units of 8 cores and 32 memory_gb, the machine takes 4 at once"
        " (all in deferred.csv)\n"
    )


def test_quiet_and_json(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``--json`` prints the summary as JSON and nothing else; ``-q`` says nothing on stderr."""
    plan("--day", DAY, "--json", "-q")
    shown = capsys.readouterr()
    assert json.loads(shown.out) == json.loads((site / "reports" / "site" / DAY / "summary.json").read_text())
    assert shown.err == ""


def test_same_again(sample_day: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_whole: bool) -> None:
    """The same command gives byte-identical CSVs, whatever the number of workers; another seed does not."""
    monkeypatch.chdir(tmp_path)
    words = ("--day", DAY, "--scenario", "sample", *BRIEF, "--bound-time", "0", "-q")
    for workers in ("1", "2") if is_whole else ("1",):
        plan(*words, "--workers", workers, "--out", workers)
        assert csvs(tmp_path / workers / "sample" / DAY) == csvs(sample_day)
    plan(*words, "--seed", "1", "--out", "other")
    other = tmp_path / "other" / "sample" / DAY
    assert (other / "schedule.csv").read_bytes() != (sample_day / "schedule.csv").read_bytes()
    assert json.loads((other / "run.json").read_text())["seed"] == 1


def test_sample_sums(sample_day: Path) -> None:
    """Every column of the sample day sums to its total."""
    totals = assert_sums(sample_day)
    assert totals["profit_eur"] > 0


def test_sums_with_everything(site: Path) -> None:
    """Idle power, a demand charge, sunlight and carbon leave no cent unaccounted for."""
    extras = [*EXTRAS, "weather.source=sample", "solar.peak_kw=1"]
    plan("--day", DAY, *settings(*extras), "--out", "extras", "-q")
    folder = site / "extras" / "site" / DAY
    totals = assert_sums(folder)
    for name in ("idle_kwh", "solar_kwh", "carbon_cost_eur", "demand_cost_eur"):
        assert totals[name] > 0
    assert run(["audit", str(folder)]) == 0


def test_text_with_everything(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The lines of money on the terminal add up to the profit: carbon and demand have their own."""
    plan("--day", DAY, *settings(*EXTRAS))
    words = [line.split() for line in capsys.readouterr().out.splitlines() if " EUR" in line]
    money = {line[0]: float(line[line.index("EUR") - 1].replace(",", "")) for line in words}
    costs = money["IT"] + money["cooling"] + money["carbon"] + money["demand"]
    assert money["revenue"] - costs == pytest.approx(money["profit"], abs=0.03)


def test_idle_site_without_jobs(site: Path) -> None:
    """A day without jobs still pays for idle nodes; its cost is the site's, and its audit is clean."""
    (site / "jobs" / "queue.csv").write_text("job_id,submit_time,requested_h,cores\n")
    plan("--day", DAY, *settings(*EXTRAS), "--also", "parquet", "--also", "swf")
    folder = site / "reports" / "site" / DAY
    assert_sums(folder)
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["site_cost_eur"] == pytest.approx(-summary["totals"]["profit_eur"])
    # 4 nodes x 60 W x 24 h.
    assert summary["totals"]["idle_kwh"] == pytest.approx(5.76)
    assert run(["audit", str(folder)]) == 0


def test_no_jobs_hint(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A queue whose jobs all come too late says so, and how to count those of the day."""
    late = "job_id,submit_time,requested_h,cores\na,2024-06-01T08:00:00+02:00,1,1\n"
    (site / "late.csv").write_text(late)
    plan("--day", DAY, "--jobs", "late.csv")
    told = capsys.readouterr().err
    assert "no jobs are known for this day" in told
    assert "0 of 1 jobs" in told
    assert "--set jobs.visibility=day" in told
    plan("--day", DAY, "--jobs", "late.csv", "--set", "jobs.visibility=day")
    (row,) = rows_of(site / "reports" / "site" / DAY / "schedule.csv")
    assert row["start_time"] == "2024-06-01T08:00:00+02:00"


def test_utilisation_is_of_cores(site: Path) -> None:
    """Utilisation is cores in use over cores there are: at most 1, even where memory makes a job count for more."""
    # 1 core for 12 of 24 h on 32 cores, though its memory fills a node.
    text = "job_id,submit_time,requested_h,units,cores_per_unit,memory_gb_per_unit\na,2024-05-01T00:00:00Z,12,1,1,32\n"
    (site / "one.csv").write_text(text)
    plan("--day", DAY, "--jobs", "one.csv", "-q")
    summary = json.loads((site / "reports" / "site" / DAY / "summary.json").read_text())
    assert summary["utilisation_fraction"] == pytest.approx(0.5 / 32, abs=1e-6)
    assert summary["totals"]["core_hours"] == pytest.approx(12 * 8)


@pytest.mark.slow(keep=3)
@pytest.mark.parametrize("scenario", ["sample", "site"])
@pytest.mark.parametrize(
    "day",
    [
        pytest.param("2024-02-29", id="leap day"),
        pytest.param("2024-12-31", id="last of the year"),
        pytest.param("2025-01-01", id="first of the year"),
        pytest.param("2024-03-10", id="23 h in New York"),
        pytest.param("2024-11-03", id="25 h in New York"),
        pytest.param("2024-03-31", id="23 h in Paris"),
        pytest.param("2024-10-27", id="25 h in Paris"),
    ],
)
def test_odd_days(site: Path, scenario: str, day: str) -> None:
    """Days of every length and at every edge of the calendar plan, add up and audit clean."""
    hours = {
        ("sample", "2024-03-10"): 23,
        ("sample", "2024-11-03"): 25,
        ("site", "2024-03-31"): 23,
        ("site", "2024-10-27"): 25,
    }
    fewer_jobs = ["--set", "jobs.load=0.1"] if scenario == "sample" else []
    plan("--day", day, "--scenario", scenario, *fewer_jobs, "--fresh", "-q")
    folder = site / "reports" / scenario / day
    assert_sums(folder)
    assert int(rows_of(folder / "segments.csv")[-1]["end_s"]) == 3600 * hours.get((scenario, day), 24)
    assert run(["audit", str(folder)]) == 0


def test_requests_read_back(site: Path) -> None:
    """Every job that was read comes back from the CSVs exactly: watts, weights, quotes and all; EASY's start is new."""
    plan("--day", DAY, "-q")
    shape = UnitShape(unit_cores=8, core_scale=1.0)
    wanted, _ = read_jobs(site / "jobs" / "queue.csv", shape=shape, power=per_core(9.0), cluster=None)
    written = read_day(site / "reports" / "site" / DAY)
    found = {job.id: replace(job, easy_unix=None) for job in written.problem.jobs}
    assert found == {job.id: job for job in wanted if job.id != "giant"}


def test_rejected_job(site: Path) -> None:
    """A job larger than the machine is no reason to stop: it is in deferred.csv with the reason."""
    folder = site / "reports" / "site" / DAY
    rows = {row["job_id"]: row for row in rows_of(folder / "deferred.csv")}
    assert rows["giant"]["kind"] == "rejected"
    assert rows["giant"]["reason"] == "asks for 5 units of 8 cores and 32 memory_gb, the machine takes 4 at once"
    assert {row["kind"] for name, row in rows.items() if name != "giant"} == {"deferred"}
    started = {row["job_id"] for row in rows_of(folder / "schedule.csv")}
    assert len(started) + len(rows) == 10
    assert not started & set(rows)


def test_provenance(site: Path) -> None:
    """``run.json`` holds the command line as it was given, the versions, and a hash of every input file."""
    command = ["--day", DAY, "--set", "tariff.eur_per_kwh=0.3", "-q"]
    plan(*command)
    told = json.loads((site / "reports" / "site" / DAY / "run.json").read_text())
    assert told["command"] == command
    assert {Path(path).name for path in told["inputs"]} == {"site.yaml", "queue.csv", "small.csv"}
    assert told["scenario"]["tariff"]["eur_per_kwh"] == 0.3
    assert told["versions"]["numpy"]


def test_swf_is_readable(sample_day: Path) -> None:
    """The SWF is read by our own reader: the same jobs, sizes, times and memory, nothing repaired or dropped."""
    jobs, intake = read_jobs(
        sample_day / "schedule.swf", shape=UnitShape(unit_cores=32, core_scale=1.0), power=per_core(9.0)
    )
    assert not intake.repaired
    assert not intake.dropped
    written = {job.id: job for job in read_day(sample_day).problem.jobs}
    names = {}
    for line in (sample_day / "schedule.swf").read_text().splitlines():
        if line.startswith("; Job: "):
            number, name = line.removeprefix("; Job: ").split()
            names[number] = name
    assert len(jobs) == len(names) == len(rows_of(sample_day / "schedule.csv"))
    for job in jobs:
        asked = written[names[job.id]]
        assert (job.submit_unix, job.requested_s, job.runtime_s) == (
            asked.submit_unix,
            asked.requested_s,
            asked.requested_s,
        )
        assert job.total("cores") == asked.total("cores")
        assert job.total("memory_gb") == pytest.approx(asked.total("memory_gb"), rel=1e-4)


def test_swf_can_be_planned(sample_day: Path, site: Path) -> None:
    """A written SWF is good input: the next command plans it."""
    plan("--day", DAY, "--scenario", "sample", "--jobs", str(sample_day / "schedule.swf"), *BRIEF, "-q")
    summary = json.loads((site / "reports" / "sample" / DAY / "summary.json").read_text())
    assert summary["jobs"]["known"] == len(rows_of(sample_day / "schedule.csv"))


def test_jobs_option_forgets_the_scenario_file(site: Path) -> None:
    """``--jobs`` reads a file by its own name, whatever format the scenario gave for its own file."""
    text = (site / "scenarios" / "site.yaml").read_text()
    (site / "scenarios" / "trace.yaml").write_text(text.replace("queue.csv}", "old.swf, format: swf, start_unix: 5}"))
    (site / "jobs" / "old.swf").write_text("")
    plan("--day", DAY, "--scenario", "trace", "--jobs", "jobs/queue.csv", "-q")
    plan("--day", DAY, "-q")
    assert csvs(site / "reports" / "trace" / DAY) == csvs(site / "reports" / "site" / DAY)


def test_time_limit_is_told(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A search that the limit ends still gives a plan, and says that it was cut short."""
    plan("--day", DAY, "--time-limit", "0s")
    assert "the time limit of 0.0 s ended the search after 2 candidates" in capsys.readouterr().err
