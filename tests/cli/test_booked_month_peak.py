"""Claims about the month's demand charge of booked days, in whatever order they are booked, and booked again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.cli.main import run
from tests.days import SITE, plan, write_small_site

SITE_WITH_DEMAND = SITE + "demand: {eur_per_kw: 10, period: month}\n"
COOLING = "# cells: pue\nit_power_kw,-20,45\n0,1,1\n3,1,1\n"
"""Without cooling the peak is what the jobs draw."""


@pytest.fixture
def month(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site that pays 10 EUR for each kW of the month's peak to stand in, of which nothing is planned; its days."""
    write_small_site(tmp_path, SITE_WITH_DEMAND)
    (tmp_path / "tables" / "small.csv").write_text(COOLING)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "reports" / "site"


def book(day: int, kw: float, *options: str) -> int:
    """The exit code of booking a day of June on which one job drew so much for an hour."""
    head = "job_id,submit_time,requested_h,cores,power_w,state,start_time,end_time,nodes"
    date = f"2024-06-{day:02d}"
    cells = f"j{day},{date}T00:00:00,1,8,{kw * 1000},done,{date}T01:00:00,{date}T02:00:00,cpu1"
    Path("ran.csv").write_text(f"{head}\n{cells}\n")
    return run(["book", "--day", date, "--table", "ran.csv", "-q", *options])


def charges(days: Path) -> list[float]:
    return [json.loads(path.read_text())["totals"]["demand_cost_eur"] for path in sorted(days.glob("*/summary.json"))]


def told_by(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command that ends well says."""
    capsys.readouterr()
    plan(*words)
    return "".join(capsys.readouterr())


def test_a_day_that_is_booked_again_lower(month: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The days after it that had its peak before them are named until they are booked again, in order; a day whose
    charge is the same all the same is not."""
    for day, kw in ((3, 1.0), (4, 0.6), (5, 0.1), (6, 0.8)):
        assert book(day, kw) == 0
    assert charges(month) == pytest.approx([10, 0, 0, 0])
    assert capsys.readouterr().err == ""
    assert book(3, 0.2, "--rebook") == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert "the demand charge of 2024-06-04, 2024-06-06 is wrong" in line
    assert "book them, in this order, again with plan book --rebook" in line
    wrong = "the demand charge of 2024-06-04 is wrong"
    assert wrong in told_by(capsys, "audit", "reports/site/2024-06-04")
    assert json.loads(told_by(capsys, "audit", "reports/site/2024-06-04", "--json"))["wrong_demand_charge"] is True
    assert "is wrong" not in told_by(capsys, "audit", "reports/site/2024-06-05")
    assert line in told_by(capsys, "report", "--month", "2024-06", "-q")
    assert book(4, 0.6) == 3
    assert "nothing is changed; the demand charge of 2024-06-04 is wrong" in capsys.readouterr().err
    assert book(4, 0.6, "--rebook") == 0
    assert "the demand charge of 2024-06-06 is wrong" in capsys.readouterr().err
    assert book(6, 0.8, "--rebook") == 0
    assert charges(month) == pytest.approx([2, 4, 0, 2])
    assert capsys.readouterr().err == ""
    assert "is wrong" not in told_by(capsys, "report", "--month", "2024-06")
    assert "is wrong" not in told_by(capsys, "audit", "reports/site/2024-06-04")


def test_days_that_are_booked_out_of_order(month: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert book(4, 0.6) == 0
    assert book(3, 1.0) == 0
    assert charges(month) == pytest.approx([10, 6])
    assert "the demand charge of 2024-06-04 is wrong" in capsys.readouterr().err
    assert book(4, 0.6, "--rebook") == 0
    assert charges(month) == pytest.approx([10, 0])
    assert capsys.readouterr().err == ""


def test_days_between_that_are_not_there_forget_no_peak(month: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The charge of the days is that on the month's peak."""
    assert book(3, 1.0) == 0
    assert book(20, 1.2) == 0
    assert charges(month) == pytest.approx([10, 2])
    assert capsys.readouterr().err == ""


def test_a_day_that_begins_anew_has_the_peak_that_its_scenario_gives(
    month: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After a gap the meter says 2 kW, of which no day here knows; the charge of the day after heeds it, too."""
    assert book(3, 1.0) == 0
    plan("--day", "2024-06-20", "--set", "demand.peak_kw=2", "-m", "est", "--bound-time", "0", "-q", "--fresh")
    capsys.readouterr()
    assert book(20, 1.5, "--set", "demand.peak_kw=2") == 0
    assert book(21, 2.5) == 0
    assert charges(month) == pytest.approx([10, 0, 5])
    assert capsys.readouterr().err == ""


def test_a_damaged_day_of_the_month_is_passed_over(month: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert book(3, 1.0) == 0
    (month / "2024-06-03" / "summary.json").write_text("{}")
    (month / "2024-06-xx").mkdir()
    assert book(5, 0.6) == 0
    assert capsys.readouterr().err == ""
