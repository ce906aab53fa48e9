"""Claims about the figures of a run: what adds up over days, what stands at the end, and what is a mean."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from planner.domain.day_summary import DaySummary
from planner.runs.compare_results import JOBS, STANDING, day_rows, run_row, with_difference
from tests.factories import day_summary


def summary(day: str, *, it_kwh: float, cooling_kwh: float, used: float, last_end_s: int, jobs: int) -> DaySummary:
    """A day's summary in which every other total is 1."""
    plain = day_summary(day=dt.date.fromisoformat(day), zone="Europe/Paris", bound_eur=10.0, gap_fraction=0.5)
    pue = 1 + cooling_kwh / it_kwh if it_kwh else 1.0
    return replace(
        plain,
        totals=replace(plain.totals, it_kwh=it_kwh, cooling_kwh=cooling_kwh, pue=pue),
        jobs=replace(plain.jobs, **dict.fromkeys((*JOBS, *STANDING), jobs)),
        utilisation_fraction=used,
        last_end_s=last_end_s,
    )


TWO_DAYS = (
    # the day on which clocks go forward has 23 hours
    summary("2024-03-31", it_kwh=100, cooling_kwh=20, used=0.48, last_end_s=90_000, jobs=5),
    summary("2024-04-01", it_kwh=300, cooling_kwh=30, used=0.24, last_end_s=3600, jobs=2),
)


def test_the_pue_of_a_run_is_that_of_its_energy() -> None:
    """400 kWh of IT and 50 kWh of cooling are a PUE of 1.125: not the mean of 1.2 and 1.1, and not 1 + 400 / 50."""
    assert run_row({}, TWO_DAYS)["pue"] == 1.125


def test_the_pue_of_a_run_without_energy_is_one() -> None:
    """Nothing ran, nothing was cooled."""
    idle = summary("2024-03-31", it_kwh=0, cooling_kwh=0, used=0.0, last_end_s=0, jobs=0)
    assert run_row({}, [idle])["pue"] == 1.0


def test_totals_and_counts_of_a_run() -> None:
    """Money, energy and what became of jobs add up; who runs and who waits is what the last day left."""
    row = run_row({"method": "m"}, TWO_DAYS)
    assert (row["method"], row["days"], row["profit_eur"], row["it_kwh"], row["bound_eur"]) == ("m", 2, 2.0, 400, 20.0)
    assert [row[name] for name in JOBS] == [7] * len(JOBS)
    assert [row[name] for name in STANDING] == [2] * len(STANDING)


def test_the_utilisation_of_a_run_weighs_days_by_their_length() -> None:
    """0.48 for 23 h and 0.24 for 24 h are (11.04 + 5.76) / 47 = 0.357447."""
    assert run_row({}, TWO_DAYS)["utilisation_fraction"] == 0.357447


def test_the_makespan_of_a_run_ends_with_its_last_job() -> None:
    """90,000 s after the first midnight are 25 h; the next day begins after 23 h and its last job ends an hour later.

    So the first day's job is the last one, at 25 h. With 2.5 h in place of the hour it is the other, at 25.5 h.
    """
    assert run_row({}, TWO_DAYS)["makespan_h"] == 25.0
    later = (TWO_DAYS[0], replace(TWO_DAYS[1], last_end_s=9000))
    assert run_row({}, later)["makespan_h"] == 25.5


def test_days_on_which_nothing_runs_make_no_run_longer() -> None:
    """The job of the first day ends at 10 h, a day with nothing to do follows; of such days alone it is 0 h."""
    idle = replace(TWO_DAYS[1], last_end_s=0)
    assert run_row({}, (replace(TWO_DAYS[0], last_end_s=36_000), idle))["makespan_h"] == 10.0
    assert run_row({}, (replace(TWO_DAYS[0], last_end_s=0), idle))["makespan_h"] == 0.0


def test_a_run_has_no_bound_when_a_day_has_none() -> None:
    """A sum of some bounds bounds nothing."""
    assert run_row({}, (TWO_DAYS[0], replace(TWO_DAYS[1], bound_eur=None)))["bound_eur"] is None


def test_a_row_per_day() -> None:
    """The day's own PUE, bound and gap stand in its row."""
    rows = day_rows({"method": "m"}, TWO_DAYS)
    assert [row["day"] for row in rows] == ["2024-03-31", "2024-04-01"]
    assert [row["pue"] for row in rows] == pytest.approx([1.2, 1.1])
    assert [row["gap_fraction"] for row in rows] == [0.5, 0.5]


@pytest.mark.parametrize(
    ("base", "difference", "percent"), [(8.0, 2.0, 25.0), (-8.0, 18.0, 225.0), (0.0, 10.0, None), (20.0, -10.0, -50.0)]
)
def test_the_difference_to_a_baseline(base: float, difference: float, percent: float | None) -> None:
    """10 EUR against 8 are 2 more, a quarter of 8; against a loss of 8 they are 18 more, whatever its sign."""
    row = with_difference({"profit_eur": 10.0}, {"profit_eur": base})
    assert (row["profit_difference_eur"], row["profit_difference_percent"]) == (difference, percent)
