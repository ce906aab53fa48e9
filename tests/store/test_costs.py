"""Claims about cost reports: exact sums, damaged and foreign folders, and the files that are left."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet
import pytest

from planner.cli.main import run
from planner.store.costs import KEYS
from tests.days import plan, rows_of, write_small_site
from tests.made_once import made_once

EXACT = ("core_hours", "work_kwh", "idle_kwh", "it_kwh", "cooling_kwh", "revenue_eur", "it_cost_eur", "profit_eur")


def ledger_sums(folder: Path, month: str = "2024-06") -> dict[str, Decimal]:
    """Sums of the totals that the days of a month state."""
    sums: dict[str, Decimal] = {}
    for path in sorted(folder.glob(f"{month}-*/summary.json")):
        for name, value in json.loads(path.read_text())["totals"].items():
            sums[name] = sums.get(name, Decimal(0)) + Decimal(str(value))
    return sums


def summed(path: Path, column: str) -> Decimal:
    return sum((Decimal(row[column]) for row in rows_of(path)), Decimal(0))


@pytest.fixture(scope="session")
def month(tmp_path_factory: pytest.TempPathFactory, is_whole: bool) -> Path:
    """A week, or all thirty days, of the sample site with a fifth of its work; copy it, never change it."""
    last = "2024-06-30" if is_whole else "2024-06-07"
    settings = ("--set", "jobs.load=0.2", "--set", "cluster.classes.cpu.idle_w=50")
    words = ("--from", "2024-06-01", "--to", last, "-m", "multisearch", "--bound-time", "0", "-q", *settings)
    return made_once(tmp_path_factory, "month", lambda _: plan("run", "--scenario", "sample", *words)) / "reports"


@pytest.fixture(scope="session")
def planned_week(tmp_path_factory: pytest.TempPathFactory) -> Path:

    def make(base: Path) -> None:
        write_small_site(base)
        for day in ("2024-06-01", "2024-06-02", "2024-06-03"):
            plan("--day", day, "-m", "multisearch", "-q", "--set", "cluster.classes.cpu.idle_w=60")

    return made_once(tmp_path_factory, "week", make)


@pytest.fixture
def week(tmp_path: Path, planned_week: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of three planned days of the small site to stand in; its scenario's folder of reports."""
    shutil.copytree(planned_week, tmp_path / "week")
    monkeypatch.chdir(tmp_path / "week")
    return tmp_path / "week" / "reports" / "site"


@pytest.mark.slow(keep=3)
@pytest.mark.parametrize("by", KEYS)
def test_a_month_sums_to_its_ledgers(month: Path, by: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The lines of the month's CSV, the site's own among them, are the days' totals to the last digit."""
    plan("report", "--month", "2024-06", "--by", by, "--out", str(month))
    path = month / "sample" / "costs" / f"2024-06-by-{by}.csv"
    totals = ledger_sums(month / "sample")
    for name in EXACT:
        assert summed(path, name) == totals[name], name
    assert summed(path, "cost_eur") == totals["energy_cost_eur"]
    site = [row for row in rows_of(path) if row["kind"] == "site"]
    assert len(site) == 1
    assert f"{totals['profit_eur']:,.2f}" in capsys.readouterr().out


def test_site_line_is_what_no_job_carries(week: Path) -> None:
    """The site's line is the stated site cost; what is left of it is the rounding of the sixth digit."""
    plan("report", "--by", "job")
    stated = sum(json.loads(p.read_text())["site_cost_eur"] for p in week.glob("*/summary.json"))
    site = rows_of(week / "costs" / "all-days-by-job.csv")[-1]
    assert site["kind"] == "site"
    assert float(site["profit_eur"]) == pytest.approx(-stated, abs=1e-4)


def test_parquet_and_csv_agree(week: Path) -> None:
    """Parquet holds the same lines as the CSV, money as decimals."""
    plan("report", "--from", "2024-06-01", "--to", "2024-06-02", "--by", "user", "--also", "parquet")
    stem = week / "costs" / "2024-06-01_2024-06-02-by-user"
    table = pyarrow.parquet.read_table(f"{stem}.parquet").to_pylist()
    rows = rows_of(Path(f"{stem}.csv"))
    assert [row["user"] for row in table] == [row["user"] for row in rows]
    assert [row["profit_eur"] for row in table] == [Decimal(row["profit_eur"]) for row in rows]
    plan("report", "--from", "2024-06-01", "--to", "2024-06-02", "--by", "user")
    assert not Path(f"{stem}.parquet").exists()  # it would be that of an earlier report


@pytest.mark.parametrize(
    "words", [("report",), ("--day", "2024-06-04"), ("--day", "2024-06-04", "--fresh", "--jobs", "odd.parquet")]
)
def test_without_the_library_parquet_is_one_line(
    words: tuple[str, ...], week: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2 before anything is done; without Parquet all is as ever."""
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    Path("odd.parquet").write_bytes(b"PAR1")
    asked = () if "--jobs" in words else ("--also", "parquet")
    before = {path: path.stat().st_mtime_ns for path in week.rglob("*")}
    capsys.readouterr()
    assert run([*words, *asked]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "pip install 'hpc-day-planner[parquet]'" in told
    assert {path: path.stat().st_mtime_ns for path in week.rglob("*")} == before
    plan("report")


def test_waiting_is_from_submission_to_start(week: Path) -> None:
    """A job waits from its submission to its start, counted once however many days it runs."""
    plan("report", "--day", "2024-06-01", "--by", "job")
    rows = {row["job_id"]: row for row in rows_of(week / "costs" / "2024-06-01-by-job.csv")}
    job = next(row for row in rows_of(week / "2024-06-01" / "schedule.csv") if row["job_id"] == "deep")
    # Submitted 2024-02-01 08:01 in winter time: 121 days from midnight to the midnight of 2024-06-01 in summer time,
    # less the hour that the clocks took, less 8:01, and then until its start.
    until_midnight = 121 * 24 - 1 - 8 - 1 / 60
    assert float(rows["deep"]["mean_wait_h"]) == pytest.approx(until_midnight + int(job["start_s"]) / 3600, abs=1e-3)


def _cut(folder: Path) -> None:
    path = folder / "schedule.csv"
    path.write_bytes(path.read_bytes()[:-40])


def _change(folder: Path) -> None:
    path = folder / "schedule.csv"
    path.write_text(path.read_text().replace(",bio,", ",art,"))


def _change_totals(folder: Path) -> None:
    path = folder / "summary.json"
    summary = json.loads(path.read_text())
    summary["totals"]["profit_eur"] += 1
    path.write_text(json.dumps(summary))


def _lose(folder: Path) -> None:
    (folder / "summary.json").unlink()


def _garble(folder: Path) -> None:
    (folder / "run.json").write_text("{}")


def _swap(folder: Path) -> None:
    shutil.rmtree(folder)
    shutil.copytree(folder.parent / "2024-06-01", folder)


@pytest.mark.parametrize("damage", [_cut, _change, _change_totals, _lose, _garble, _swap])
def test_damaged_day_is_named_and_skipped(
    week: Path, damage: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """A damaged day, or one of another date, is named, the rest is reported, and the exit code is 7."""
    damage(week / "2024-06-02")
    assert run(["report", "--month", "2024-06"]) == 7
    shown = capsys.readouterr()
    assert "skipped reports/site/2024-06-02: " in shown.err
    assert "27 of 30 days have no result" in shown.err
    assert "2 days" in shown.out
    shutil.rmtree(week / "2024-06-02")
    assert summed(week / "costs" / "2024-06-by-account.csv", "profit_eur") == ledger_sums(week)["profit_eur"]
    assert "2024-06-02" in (week / "costs" / "2024-06-by-account.html").read_text()


def test_foreign_folder_is_named_and_skipped(week: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that is no day is named too; files and hidden folders are not."""
    (week / "old stuff").mkdir()
    (week / ".2024-06-09.new-1").mkdir()
    (week / "notes.txt").write_text("mine")
    assert run(["report"]) == 7
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["skipped reports/site/old stuff: not the folder of a day"]
    assert len({row["days"] for row in csv.DictReader((week / "costs" / "all-days-by-account.csv").open())}) >= 1


def test_nothing_to_report(week: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A range without days, an unknown scenario, way or format, and a bad range are errors of the user, a line each."""
    for words in (
        ["--month", "2023-01"],
        ["--scenario", "nowhere"],
        ["--by", "colour"],
        ["--also", "pdf"],
        ["--month", "2024-6"],
        ["--from", "2024-06-02", "--to", "2024-06-01"],
        ["--from", "2024-06-02"],
        ["--day", "2024-06-01", "--month", "2024-06"],
    ):
        assert run(["report", *words]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1


def test_missing_days_are_said(week: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Days of the range without a result are counted on stderr and on the page; that alone is no failure."""
    plan("report", "--month", "2024-06")
    assert "27 of 30 days have no result" in capsys.readouterr().err
    assert "27 days of 2024-06 not planned" in (week / "costs" / "2024-06-by-account.html").read_text()


def test_scenario_by_its_file(week: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file that a day was planned by stands for its name; one that is not there is told."""
    plan("report", "-s", "scenarios/site.yaml", "--by", "account", "--json", "-q")
    by_file = json.loads(capsys.readouterr().out)
    plan("report", "-s", "site", "--by", "account", "--json", "-q")
    assert by_file == json.loads(capsys.readouterr().out)
    assert run(["report", "-s", "scenarios/other.yaml"]) == 2
    assert "scenarios/other.yaml: no such scenario file" in capsys.readouterr().err


def test_json(week: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``--json`` prints the lines and nothing else."""
    plan("report", "--by", "account", "--json", "-q")
    told = json.loads(capsys.readouterr().out)
    assert {line["kind"] for line in told["lines"]} == {"account", "site"}
    assert sum(line["profit_eur"] for line in told["lines"]) == pytest.approx(float(ledger_sums(week)["profit_eur"]))


def test_gpu_hours_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two units of 2 GPUs for 3 h are 12 GPU-hours; a job that runs on after midnight counts where it runs."""
    monkeypatch.chdir(tmp_path)
    plan("init", ".")
    Path("jobs.csv").write_text(
        "job_id,submit_time,requested_h,units,cores_per_unit,gpus_per_unit,account,user\n"
        "a,2024-05-31T20:00Z,3,2,8,2,maths,ann\n"
        "b,2024-05-31T20:00Z,30,1,8,1,maths,bob\n"
        "c,2024-05-31T20:00Z,5,1,8,,maths,bob\n"
    )
    machine = "cluster.classes={gpu: {count: 4, capacity: {cores: 16, gpus: 4}}}"
    for day in ("2024-06-01", "2024-06-02"):
        plan("--day", day, "-s", "site", "--jobs", "jobs.csv", "--set", machine, "-m", "est", "--bound-time", "0", "-q")
    plan("report", "--by", "account-user", "-q")
    rows = {row["user"]: row for row in rows_of(Path("reports/site/costs/all-days-by-account-user.csv"))}
    assert Decimal(rows["ann"]["gpu_hours"]) == 12
    assert Decimal(rows["bob"]["gpu_hours"]) == 30
    assert Decimal(rows[""]["gpu_hours"]) == 0
    plan("report", "--day", "2024-06-01", "--by", "user", "-q")
    first = {row["user"]: row for row in rows_of(Path("reports/site/costs/2024-06-01-by-user.csv"))}
    assert Decimal(first["bob"]["gpu_hours"]) == 24


def test_what_feeding_in_and_the_battery_bring_is_a_credit_of_the_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Profit is revenue less costs with it, in every line of the report, on the terminal and on the page."""
    monkeypatch.chdir(write_small_site(tmp_path))
    sun = ("--set", "weather={source: sample}", "--set", "solar={peak_kw: 20}", "--set", "feed_in={eur_per_kwh: 0.08}")
    stored = ("--set", "battery={capacity_kwh: 5, power_kw: 2, start_fraction: 1.0, end_fraction: 0.0}")
    for day in ("2024-06-01", "2024-06-02"):
        plan("--day", day, "-m", "est", "--bound-time", "0", "-q", *sun, *stored)
    totals = ledger_sums(Path("reports/site"))
    credit = totals["feed_in_eur"] + totals["battery_eur"]
    assert totals["feed_in_eur"] > 1
    assert totals["battery_eur"] > 0
    capsys.readouterr()
    plan("report", "--by", "account")
    rows = rows_of(Path("reports/site/costs/all-days-by-account.csv"))
    assert {row["kind"]: Decimal(row["credit_eur"]) for row in rows} == {"account": 0, "site": credit}
    for row in rows:
        profit = Decimal(row["revenue_eur"]) - Decimal(row["cost_eur"]) + Decimal(row["credit_eur"])
        assert abs(Decimal(row["profit_eur"]) - profit) < Decimal("0.0001")
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    head = next(line for line in lines if line[:1] == ["account"])
    last = next(line for line in lines if line[:1] == ["all"])
    assert last[-1 - head[::-1].index("credit") + 1] == f"{credit:.2f}"
    page = Path("reports/site/costs/all-days-by-account.html").read_text("utf-8")
    assert ", with a credit of" in page
