"""Claims about ``plan study curie23``: hand-worked rows of each table, and a small trace run end to end."""

from __future__ import annotations

import datetime as dt
import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner.cli.main import run
from planner.domain.day_summary import DaySummary
from planner.domain.result import Trial
from planner.runs.compare_results import Row
from planner.studies import curie23_setup
from planner.studies.curie23 import DAYS, Curie23Study
from planner.studies.curie23_numbers import curve_rows, days_improved, days_without_solution, published_rows, run_rows
from planner.studies.curie23_setup import StudyRun
from tests.curie23_days import IMPROVED, NOTHING, HandMadeStudy, days_of, shown, told, whole_study
from tests.days import rows_of as csv_rows
from tests.factories import day_summary


def row_of(rows: list[Row], name: str) -> Row:
    """The row of a run."""
    (row,) = [row for row in rows if row["run"] == name]
    return row


def beside(rows: list[Row], place: str, figure: str) -> tuple[Any, ...]:
    """Our figure, the published ones and whether they are derived."""
    (row,) = [row for row in rows if (row["place"], row["figure"]) == (place, figure)]
    return row["ours"], row["published"], row["published_most"], row["derived"]


def test_rows_of_runs() -> None:
    """Profit of 23 days, the whole for makespan and PUE, and what a run is over the best rule and over cp."""
    rows = run_rows(whole_study(), DAYS)
    best = row_of(rows, "harvest")
    assert (best["profit_eur"], best["profit_in_the_end_eur"], best["kind"]) == (2530.0, 2560.0, "search")
    assert (best["makespan_days"], best["days"], best["pue"], best["emptied"]) == (53.0, 53, 1.1, "yes")
    assert best["over_best_rule_percent"] == 10.0  # 110 over the 100 of est, not over the 90 of wt
    assert best["over_cp_percent"] == 11.111  # 110 over 99
    assert best["shorter_than_best_rule_percent"] == 1.852  # 53 days for 54
    assert (best["search_s"], best["search_s_per_day"], best["found_s_per_day"]) == (46.0, 2.0, 1.5)
    assert best["gain_eur_per_day"] == 10.0
    assert best["gain_eur_per_search_s"] == 5.0  # 230 EUR over est in 46 s
    assert best["gain_over_cp_eur_per_search_s"] == 5.5  # 253 EUR over cp in 46 s
    rule, default = row_of(rows, "est"), row_of(rows, "cp")
    assert (rule["kind"], rule["gain_eur_per_search_s"], rule["gain_eur_per_day"]) == ("rule", None, 0.0)
    assert (default["gain_over_cp_eur_per_search_s"], default["gain_eur_per_search_s"]) == (None, -0.25)
    assert (default["days_without_solution"], best["days_without_solution"]) == (53, 0)
    assert row_of(rows, "delay")["days_improved"] == 50


def test_groups_are_compared_within_themselves() -> None:
    """The other calibration's est earns twice as much, which changes nothing here."""
    other = told("est", days_of([200.0] * 23), calibration="fitted")
    rows = run_rows([*whole_study(), other], DAYS)
    assert [row["over_best_rule_percent"] for row in rows if row["run"] == "est"] == [0.0, 0.0]
    assert row_of(rows, "harvest")["over_best_rule_percent"] == 10.0


def test_days_of_use() -> None:
    """A day without a plan of the engine; a day on which the seed's plan is the best is none of improvement."""
    improved, plain = days_of([1.0], trial=IMPROVED), days_of([1.0])
    assert days_without_solution(plain + days_of([1.0, 1.0], trial=NOTHING)) == 2
    assert days_improved(improved + plain + plain) == 1
    idle = [replace(day, jobs=replace(day.jobs, started=0)) for day in improved]
    assert days_improved(idle + plain) == 0
    unseeded: list[DaySummary] = [day_summary(best_trial="cpsat, pooled", trials=(Trial("cpsat, pooled", 1.0, 1),))]
    assert days_improved(unseeded) is None


def test_the_papers_figures_stand_beside_ours() -> None:
    """Each of Tables 1 to 3, figures 1 to 8 and of the searches; what is worked out from others is said to be."""
    rows = published_rows(run_rows(whole_study(), DAYS), has_all_days=True)
    assert beside(rows, "Table 1", "PUE, best search") == (1.1, 1.11, 1.11, "no")
    assert beside(rows, "Table 1", "PUE, best rule") == (1.12, 1.11, 1.11, "no")
    assert beside(rows, "Table 1", "queue empty after, best rule") == (54.0, 54, 54, "no")
    assert beside(rows, "Table 1", "queue empty after, best search") == (53.0, 53, 53, "yes")
    assert beside(rows, "Table 1", "shorter than the best rule") == (1.852, 1.85, 1.85, "no")
    assert beside(rows, "Table 2", "best search over best rule, a day") == (10.0, 20_144.28, 20_144.28, "no")
    assert beside(rows, "Table 3", "delay: improvement by its time") == (None, 1e-7, 1e-7, "no")  # no MultiSearch here
    assert beside(rows, "Figures 1 to 4", "best search over best rule") == (10.0, 7.71, 7.71, "no")
    assert beside(rows, "Figures 5 to 8", "best search over default search") == (11.111, 10.4, 10.8, "no")
    assert beside(rows, "Figures 5 to 8", "delay over default search")[:2] == (6.061, None)  # 105 over 99
    assert beside(rows, "Searches", "delay: time to its plan, a day") == (3.0, 601, 601, "no")
    assert beside(rows, "Searches", "delay: days on which it improves its seed") == (100.0, 48, 48, "no")
    assert beside(rows, "Searches", "cp: days without a plan of the engine")[0] == 53
    assert not [row for row in rows if row["figure"] == "cp over default search"]


def test_improvement_by_time() -> None:
    """MultiSearch has 10 % over est by its 2 s a day; delay 5 % over MultiSearch by the 1.5 s to its plan."""
    earned = {"est": 100.0, "multisearch": 110.0, "delay": 115.5}
    days = {name: days_of([each] * 23, search_s=2.0, found_s=1.5) for name, each in earned.items()}
    rows = published_rows(run_rows([told(name, each) for name, each in days.items()], DAYS), has_all_days=True)
    assert beside(rows, "Table 3", "multisearch: improvement by its time") == (5.0, 0.0030658, 0.0030658, "no")
    assert beside(rows, "Table 3", "delay: improvement by its time")[0] == pytest.approx(5 / 1.5, rel=1e-5)


def test_a_slice_has_no_published_figures_beside_it() -> None:
    """Three days, even until the queue is empty, are not the paper's 23."""
    rows = published_rows(run_rows(whole_study(), 3), has_all_days=False)
    assert beside(rows, "Figures 1 to 4", "best search over best rule")[:2] == (10.0, None)
    assert {row["published"] for row in rows} == {None}
    assert {row["derived"] for row in rows} == {""}


def test_makespan_needs_an_empty_queue() -> None:
    """23 days that leave a job: no makespan, and the PUE is not that of the whole."""
    found = [told(name, days_of([1.0] * 23, waiting=1), "air-summer") for name in ("est", "harvest")]
    runs = run_rows(found, DAYS)
    assert [(row["emptied"], row["makespan_days"]) for row in runs] == [("no", None)] * 2
    rows = published_rows(runs, has_all_days=True)
    assert beside(rows, "Table 1", "PUE, best search") == (1.1, None, None, "")
    assert {row["figure"] for row in rows if row["place"] == "Table 1"} == {"PUE, best search", "PUE, best rule"}
    assert beside(rows, "Figures 1 to 4", "best search over best rule")[1] == 7.66


def test_curves() -> None:
    """Sums day by day, over the best rule and over cp; a run that has ended stays where it is."""
    found = [
        told("est", days_of([10.0, 10.0, 1.0])),
        told("wt", days_of([12.0, 6.0])),
        told("cp", days_of([8.0, 8.0])),
        told("harvest", days_of([11.0, 13.0, 1.0])),
    ]
    rows = [row for row in curve_rows(found, 2) if row["run"] == "harvest"]
    assert [row["cumulative_profit_eur"] for row in rows] == [11.0, 24.0, 25.0]
    assert [row["over_best_rule_eur"] for row in rows] == [1.0, 4.0, 4.0]  # est has 20 by day 2, wt 18
    assert [row["over_cp_eur"] for row in rows] == [3.0, 8.0, 9.0]
    assert [row["over_cp_percent"] for row in rows] == [37.5, 50.0, 56.25]


def test_the_page_has_every_table_and_figure() -> None:
    """Twice, for the two calibrations; with our choices, and the days on which the engine found nothing."""
    study = HandMadeStudy()
    page = study.page(shown(study))
    for number, scenario in enumerate(("air-summer", "hybrid-summer", "air-winter", "hybrid-winter"), start=1):
        assert page.count(f"<figcaption>Figure {number}: profit, {scenario}") == 2
        assert page.count(f"<figcaption>Figure {number + 4}: over the engine&#x27;s default search, {scenario}") == 2
        assert page.count(f"<figcaption>Ahead of the best rule, {scenario}") == 2
    for number in (1, 2, 3):
        assert page.count(f"<caption><span>Table {number}: ") == 2
    assert "cp, air-winter: 53 of 53 days" in page
    assert "harvest 11.0 at the end" in page  # figure 5: 2,560 over the 2,307 of cp
    assert "not named" in page
    assert "are left out of this one" not in page


def test_tables_for_documents_and_terminals() -> None:
    """The paper's line is below ours; a terminal has what each run earned and the tables with few lines."""
    report = shown(HandMadeStudy())
    text = report.markdown("curie23")
    assert "| PUE, best search | ours | 1.100 (harvest) | 1.100 (harvest) |" in text
    assert "|  | paper | 1.11 | 1.43 | 1.00 | 1.09 |" in text
    assert "|  | paper | 20,144.3 EUR | 20,222.9 EUR | 20,227.9 EUR | 20,249.7 EUR |" in text
    assert "|  | paper | 0.0000001 %/s | 0.0000005 %/s | 0.0000001 %/s |" in text
    assert "| harvest | 2,530, +10.00 % |" in text
    assert "limit on any run" not in text
    tables = report.terminal()
    profit = tables["Profit at the end of day 23"]
    assert [row["run"] for row in profit] == ["est", "wt", "cp", "delay", "harvest"]
    assert [row["engine without a plan"] for row in profit] == ["0", "0", "53", "0", "0"]
    assert "Calibration: fitted: Table 1: PUE of the whole, and days until the queue is empty" in tables
    assert not [title for title in tables if "Table 3" in title or "searches" in title]


def test_a_limit_on_the_whole_run_is_shown_with_the_gap_to_it() -> None:
    """2,530 of 2,750 EUR leave 8 %."""
    text = shown(HandMadeStudy(), bound_eur=2750.0).markdown("curie23")
    assert "| limit on any run of these days | 2,750 | 2,750 |" in text
    assert "| best search's gap to it | 8.00 % | 8.00 % |" in text


def test_a_page_of_a_slice_says_what_is_left_out() -> None:
    study = HandMadeStudy(days=3, until_empty=False)
    report = shown(study)
    for text in (study.page(report), report.markdown("curie23")):
        assert "are left out of this one" in text
        assert "before queues are empty" in text
        assert "7.71" not in text
        assert "20,144" not in text
    assert "The published study: 3 days of CEA Curie" in study.page(report)


def test_what_the_user_sets_goes_over_what_makes_a_run(tmp_path: Path) -> None:
    """Waiting has the price of the run, or the one that is given."""
    trace = tmp_path / curie23_setup.TRACE
    trace.parent.mkdir()
    trace.touch()
    prices = [
        Curie23Study(data=tmp_path, settings=settings).scenario_of("ours", "air-winter", "harvest-whole").goal.waiting
        for settings in ((), ("goal.waiting=0.002",))
    ]
    assert prices == [0.005, 0.002]


def test_runs_of_other_days_and_settings_have_folders_of_their_own() -> None:
    """So that a trial does not take the place of a study of hours."""
    whole, part = Curie23Study(), Curie23Study(days=3)
    one, other = Curie23Study(settings=("seed=1",)), Curie23Study(settings=("seed=2",))
    grounds = [study.ground("ours") for study in (whole, part, one, other)]
    assert grounds[:2] == ["ours", "ours-3-days"]
    assert len({*grounds, whole.ground("fitted")}) == 5


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with a trace of ten jobs on each of the first two days, in place of Curie's: 4,096 cores for 5 hours."""
    start = int(dt.datetime(2012, 8, 7, tzinfo=dt.UTC).timestamp())
    lines = ["; Version: 2.2", f"; UnixStartTime: {start}", "; MaxProcs: 93312"]
    for number in range(20):
        submit = 86_400 * (number // 10) + 600 * number
        lines.append(f"{number + 1} {submit} 0 15000 {4096 + number} -1 -1 {4096 + number} 18000 -1 1 1 1 1 1 1 -1 -1")
    path = tmp_path / "data" / "swf" / "CEA-Curie-2011-2.1-cln.swf.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    return tmp_path / "data"


def run_times(folder: Path) -> dict[str, int]:
    """When each day was written, by its folder."""
    return {str(path.parent.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("run.json")}


def test_a_small_trace_end_to_end(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both calibrations leave all files; days are kept; other settings, and a run with its own, have their own days."""
    run_of = StudyRun("harvest-brief", "harvest", ("search.harvest.rebuilds=false",), "harvest, tiers alone")
    monkeypatch.setitem(curie23_setup.RUNS, run_of.name, run_of)
    command = ["study", "curie23", "--data", str(data), "--out", str(tmp_path), "--days", "2", "--processes", "1", "-q"]
    command += ["--scenarios", "air-winter", "--methods", "est,multisearch,harvest-brief", "--iterations", "600"]
    command += ["--bound-time", "0"]
    assert run(command) == 0
    first = capsys.readouterr().out
    folder = tmp_path / "studies" / "curie23"
    rows = csv_rows(folder / "runs.csv")
    assert [row["label"] for row in rows] == ["est", "multisearch", "harvest, tiers alone"] * 2
    assert {row["jobs"] for row in rows} == {"20"}
    profits = {(row["calibration"], row["run"]): float(row["profit_eur"]) for row in rows}
    assert profits["fitted", "est"] > 50 * profits["ours", "est"]  # 2.14 EUR per core-hour for 0.02
    assert all(0 <= float(row["found_s_per_day"]) <= float(row["search_s_per_day"]) + 0.001 for row in rows)
    assert all(float(row["profit_eur"]) <= float(row["run_bound_eur"]) for row in rows)
    bounds = {path.name: path.stat().st_mtime_ns for path in (folder / "pieces" / "bounds").iterdir()}
    assert len(bounds) == 2
    assert {row["published"] for row in csv_rows(folder / "published.csv")} == {""}
    total = sum(float(row["profit_eur"]) for row in csv_rows(folder / "curves.csv"))
    assert total == pytest.approx(sum(float(row["profit_in_the_end_eur"]) for row in rows), abs=1e-3)
    told = (folder / "curie23.html").read_text("utf-8")
    assert "Figure 3: profit, air-winter" in told  # the paper begins with the summer
    assert "9,600 / 93,312" in told
    assert "9,600 / 80,640" in told
    assert "Figures 5 to 8 need a run of cp" in told
    days = run_times(folder)
    kept = folder / "runs" / "ours-2-days" / "air-winter" / "harvest-brief" / "2012-08-07" / "run.json"
    assert json.loads(kept.read_text())["scenario"]["search"]["harvest"]["rebuilds"] is False
    assert run(command) == 0
    assert (capsys.readouterr().out, run_times(folder)) == (first, days)
    assert {path.name: path.stat().st_mtime_ns for path in (folder / "pieces" / "bounds").iterdir()} == bounds
    more = ["--calibrations", "ours", "--set", "revenue.eur_per_core_hour=0.04", "--days-only", "--json"]
    assert run([*command, *more]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["choices"][-1]["ours"] == "revenue.eur_per_core_hour=0.04"
    assert "Set over it: revenue.eur_per_core_hour=0.04." in (folder / "curie23.html").read_text("utf-8")
    assert content["runs"][0]["profit_eur"] > 2 * profits["ours", "est"]
    assert json.loads((folder / "study.json").read_text())["settings"] == ["revenue.eur_per_core_hour=0.04"]
    both = run_times(folder)
    assert {name: both[name] for name in days} == days
    assert len(both) == len(days) + 3 * 2


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--set", "revenue.eur=1"], "--set revenue.eur=1: revenue.eur: unknown key"),
        (["--set", "revenue.eur_per_core_hour=much"], "revenue.eur_per_core_hour"),
        (["--calibrations", "theirs"], "unknown calibration 'theirs'; known: ours, fitted"),
        (["--methods", "magic"], "unknown method 'magic'; known: est"),
        (["--scenarios", ","], "no scenario is named; known: air-winter"),
        (["--time-limit", "soon"], "cannot read 'soon' as a duration"),
    ],
)
def test_bad_input_is_one_line(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], says: str
) -> None:
    """And nothing is run."""
    assert run(["study", "curie23", "--data", str(data), "--out", str(tmp_path / "out"), *more, "-q"]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert len(error.splitlines()) == 1
    assert not (tmp_path / "out").exists()
