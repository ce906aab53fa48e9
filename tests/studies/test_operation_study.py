"""Claims about ``plan study operation``, on a week of the sample site that needs no data, and on figures made up."""

from __future__ import annotations

import datetime as dt
import gzip
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from planner.domain.trace import Machine
from planner.errors import AuditError, InputError
from planner.online.holding import NO_HOLDING
from planner.runs.compare_results import Row
from planner.studies.operation import KNOWN, TUNED, UNSEEN, OperationStudy, all_cells, picture, rows_of
from planner.studies.operation_replays import (
    PARTS,
    SAMPLE,
    TRACES,
    _submitted,
    decided_without,
    limit_figures,
    moved_prices,
    require_conserved,
    week_figures,
    week_of,
    write_moved,
)
from planner.studies.study import StudyCell

WEEK = dt.date(2024, 6, 3)


def told(cell: StudyCell, place: int) -> Row:
    """Made-up figures of a cell."""
    if cell.kind == "limits":
        return {"limit_eur": 20.0, "limit_slack_eur": 0.1, "easy_eur": 100.0, "limit_cpu_s": 1.0}
    hours = cell.given["hours"]
    saved = 0.0 if hours == 0 or "flat" in cell.name else 4.0 + hours / 4 + place % 3
    waits = {"easy_wait_s": 600.0, "wait_s": 600.0 + 60 * hours, "easy_wait95_s": 3000.0, "wait95_s": 4000.0}
    late = {"late_of": 100, "later_than_allowed": 1, "late_mean_s": 60.0 * hours, "late95_s": 900.0, "latest_s": 9000}
    money = {"easy_eur": 100.0, "energy_eur": 100.0 - saved, "load": cell.given["load"] or 0.6, "jobs": 100}
    held = {"same_starts": 100, "held": 20, "longest_hold_s": 3600 * hours, "longest_wait_s": 20_000, "cpu_s": 1.5}
    return {**money, **waits, **late, **held}


def found_of(study: OperationStudy) -> list[Row]:
    """Made-up figures of all cells, with their labels."""
    return [{**cell.labels, **told(cell, place)} for place, cell in enumerate(study.cells())]


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """A folder in which every trace and price file is, with hardly anything in it."""
    for each in TRACES.values():
        (tmp_path / each.file).parent.mkdir(exist_ok=True)
        (tmp_path / each.file).touch()
    (tmp_path / "prices").mkdir()
    for name in ("FR", "DE-LU_electricity_prices_2021", "DE-LU_electricity_prices_2022"):
        # Files are opened as packed ones by their names.
        with gzip.open(tmp_path / "prices" / f"{name}.csv.gz", "wt") as stream:
            stream.write("time (UTC),price\n2012-05-01 00:00:00,30\n2021-05-01 00:00:00,30\n2022-05-01 00:00:00,30\n")
    return tmp_path


def test_weeks_tuned_on_and_never_tuned_on_differ() -> None:
    cells = all_cells(5)
    assert not set(TUNED) & set(UNSEEN)
    assert len({(cell.site, cell.first) for cell in cells if cell.site == "curie"}) >= 8
    assert len(UNSEEN) >= len(TUNED)
    for first in UNSEEN:
        for hours in (6, 24):
            own = [cell for cell in cells if (cell.first, cell.hours, cell.load, cell.tariff, cell.without) ==
                   (first, hours, None, "fr-2012", "") and cell.estimate != KNOWN]  # fmt: skip
            assert {cell.repeat for cell in own} == set(range(5))
    assert len({cell.name for cell in cells}) == len(cells)
    with pytest.raises(InputError, match="curie-2012-04-02/fr-2012/as-is"):
        OperationStudy(only=("nothing",)).cells()
    with pytest.raises(InputError, match="unknown site"):
        OperationStudy(sites=("elsewhere",))


def test_rows_are_means_over_repeats_with_their_spread(traces: Path, tmp_path: Path) -> None:
    """Share, spread and every table, on made-up figures of all cells."""
    study = OperationStudy(data=traces, out=tmp_path / "out")
    found = found_of(study)
    rows = rows_of(found)
    five = next(row for row in rows if row["repeats"] == 5)
    own = [r for r in found if "held" in r and all(r[name] == five[name] for name in (
        "week", "tariff", "load_asked", "max_delay_h", "estimate", "without"))]  # fmt: skip
    saved = [100 - row["energy_eur"] for row in own]
    assert len(saved) == 5
    assert five["saved_percent"] == pytest.approx(np.mean(saved))
    assert five["saved_spread"] == pytest.approx(np.std(saved, ddof=1), abs=1e-4)
    assert five["share"] == pytest.approx(np.mean(saved) / 20, abs=1e-4)
    report = study.report(found)
    page = study.page(report)
    document = report.markdown("operation")
    for part in PARTS.values():
        assert part in document
    assert "\u202f" not in document  # a terminal would not print it
    assert f"{len([row for row in found if 'held' in row])} replays audited" in document
    shown = [row for row in rows if not row["without"] and row["max_delay_h"] and row["tariff"] != "flat"]
    weeks = [row for row in shown if row["estimate"] != KNOWN and row["load_asked"] == "as it is"]
    weeks = [row for row in weeks if row["tariff"] == "fr-2012"]
    assert page.count('class="point"') == len(weeks)
    assert len(re.findall("<polyline", picture(weeks))) == len({row["week"] for row in weeks})


@pytest.fixture(scope="module")
def figures() -> Row:
    """A week of the sample site with three fifths of its work, held for up to 6 h."""
    return week_figures(SAMPLE, None, None, WEEK.isoformat(), 0.3, 0, "requested", 6)


@pytest.mark.slow
def test_a_week_of_the_sample_site_is_cheaper_held(figures: Row) -> None:
    """And it is within what the limit allows."""
    saved = figures["easy_eur"] - figures["energy_eur"]
    assert saved > 0
    assert 0 < figures["longest_hold_s"] <= 6 * 3600
    assert figures["wait_s"] > figures["easy_wait_s"]
    limit = limit_figures(SAMPLE, None, None, WEEK.isoformat(), 0.3, 6, 2.0)
    assert saved < limit["limit_eur"]
    assert limit["easy_eur"] == pytest.approx(figures["easy_eur"], rel=1e-9)


@pytest.mark.slow
def test_nothing_changes_at_no_promise_or_where_all_hours_are_alike(figures: Row) -> None:
    """Every job starts as under EASY; in a repeat submissions differ, and so do EASY's waits."""
    same = week_figures(SAMPLE, None, None, WEEK.isoformat(), 0.3, 0, "requested", 0)
    assert same["same_starts"] == same["jobs"] == figures["jobs"]
    assert same["energy_eur"] == same["easy_eur"] == figures["easy_eur"]
    flat = week_figures(SAMPLE, None, None, WEEK.isoformat(), 0.3, 0, "requested", 24, is_flat=True)
    assert flat["same_starts"] == flat["jobs"] == figures["jobs"]
    assert flat["energy_eur"] == flat["easy_eur"] != figures["easy_eur"]
    assert figures["same_starts"] < figures["jobs"]
    usual, moved = (week_of(SAMPLE, None, WEEK, 0.3, repeat, "requested").source.trace for repeat in (0, 1))
    by_id = dict(zip(usual.ids, usual.submit_s.tolist(), strict=True))
    moves = [abs(now - by_id[name]) for name, now in zip(moved.ids, moved.submit_s.tolist(), strict=True)]
    assert 0 < max(moves) <= 60


def test_jobs_that_ask_for_memory_are_not_left_out(planner_data: Path) -> None:
    """Nearly all jobs of HPC2N do; the machine that stands for it is a pool of cores with memory for all."""
    source = _submitted("hpc2n", planner_data / TRACES["hpc2n"].file, dt.date(2003, 3, 10))
    assert not source.intake.dropped["cannot run even on the empty machine"]
    assert len(source.jobs) > 500


def test_conservation_is_checked_by_counting() -> None:
    """A job that has not run, one that runs too early, and an over-full machine are found."""
    week = week_of(SAMPLE, None, WEEK, 0.3, 0, "requested")
    require_conserved(week, week.easy)
    late = week.easy.start_s.copy()
    late[-1] = -1
    with pytest.raises(AuditError, match="has not run"):
        require_conserved(week, replace(week.easy, start_s=late))
    again = week.easy.start_s.copy()
    again[0] += 1
    with pytest.raises(AuditError, match="started anew"):
        require_conserved(week, replace(week.easy, start_s=again))
    at_once = np.where(week.is_counted, int(week.easy.start_s.max()), week.easy.start_s)
    with pytest.raises(AuditError, match="are busy"):
        require_conserved(week, replace(week.easy, start_s=at_once))
    trace = week.source.trace
    small = replace(trace, machine=Machine(trace.machine.capacity[:1], scale=trace.machine.scale))
    with pytest.raises(AuditError, match="are busy"):
        require_conserved(replace(week, source=replace(week.source, trace=small)), week.easy)


def test_a_part_left_out_changes_what_is_decided() -> None:
    for part in PARTS:
        changed = decided_without(part, NO_HOLDING)
        assert (changed.params != NO_HOLDING.params) == (part in ("look ahead", "arrivals", "hysteresis"))


def test_prices_of_another_year_keep_their_day_and_hour(tmp_path: Path) -> None:
    """29 February of the one year has no place in the other; the rate is on every price."""
    source, target = tmp_path / "prices.csv", tmp_path / "moved.csv"
    moments = ("2020-02-28 23:00:00", "2020-02-29 00:00:00", "2020-03-01 00:00:00", "2021-07-01 00:00:00")
    source.write_text("\n".join(["time (UTC),price", *(f"{m},{k + 1}" for k, m in enumerate(moments))]) + "\n")
    day = dt.date(2013, 3, 2)
    write_moved(source, target, column="price", first=day, last=day, years=7, factor=2.0)
    assert target.read_text() == "time (UTC),price\n2013-02-28 23:00:00,2.0\n2013-03-01 00:00:00,6.0\n"


@pytest.mark.parametrize(("year", "usd"), [(2021, 118.27), (2022, 105.30)])
def test_german_prices_are_in_euros_from_31_days_before_a_week_to_60_after_it(
    tmp_path: Path, year: int, usd: float
) -> None:
    """The file has dollars, of which the European Central Bank gave 1.1827 and 1.0530 for a euro: 100 EUR/MWh each."""
    week = dt.date(2012, 5, 7)
    moments = [f"{year}-{each}:00:00" for each in ("04-05 23", "04-06 00", "07-12 23", "07-13 00")]
    _write_prices(tmp_path, f"DE-LU_electricity_prices_{year}", "time (UTC)", moments, usd)
    made = moved_prices(tmp_path, f"de-{year}", week, tmp_path / "out")
    assert made is not None
    assert made.read_text() == "time (UTC),price\n2012-04-06 00:00:00,100.0\n2012-07-12 23:00:00,100.0\n"


def test_french_prices_are_in_euros_by_the_clock_of_paris(tmp_path: Path) -> None:
    """Midnight in May is 22 o'clock in UTC; a site with one price, or with bands, has no file."""
    week = dt.date(2012, 5, 7)
    _write_prices(tmp_path, "FR", "time", ["2012-05-07 00:00:00"], 50.0)
    made = moved_prices(tmp_path, "fr-2012", week, tmp_path / "out")
    assert made is not None
    assert made.read_text() == "time (UTC),price\n2012-05-06 22:00:00,50.0\n"
    assert moved_prices(tmp_path, "flat", week, tmp_path) is None
    assert moved_prices(tmp_path, "bands", week, tmp_path) is None


def _write_prices(folder: Path, name: str, head: str, moments: list[str], price: float) -> None:
    """A packed file of prices, as the folder of data has them."""
    (folder / "prices").mkdir()
    lines = [f"{head},price", *(f"{moment},{price}" for moment in moments)]
    with gzip.open(folder / "prices" / f"{name}.csv.gz", "wt") as stream:
        stream.write("\n".join(lines) + "\n")
