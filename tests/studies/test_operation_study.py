"""Claims about ``plan study operation``, on a slice of a few seconds: one day of the sample site, two policies."""

from __future__ import annotations

import dataclasses
import datetime as dt
import re
from pathlib import Path

import numpy as np
import pytest

from planner.errors import InputError
from planner.inputs.traces import read_window
from planner.online.policies import policy_named
from planner.online.replay import replay
from planner.places import shipped_folder
from planner.planning.energy_costs import holding_of_trace
from planner.runs.replay_ledger import settle_window, sum_of_days
from planner.scenario.load import load_scenario
from planner.studies import kept
from planner.studies.operation.cells import (
    AS_IS,
    KNOWN,
    SAMPLE,
    STATIC,
    Cell,
    SiteGroup,
    baseline_of,
    cells_of,
    chosen,
    default_cells,
    every_cell,
    quick_cells,
)
from planner.studies.operation.replays import read_replay, replay_bytes
from planner.studies.operation.rows import Told, rows_of
from planner.studies.operation.run import OperationStudy
from planner.studies.operation.show import markdown_of, picture_of
from planner.studies.operation.sites import (
    SAMPLE_DAYS,
    Days,
    Ground,
    load_of,
    scenario_of_group,
    source_of,
    write_moved,
)
from planner.studies.operation.tables import days_table
from tests.days import plan
from tests.days import rows_of as csv_rows

DAY = Days(SAMPLE_DAYS.first, SAMPLE_DAYS.first)
GROUP = SiteGroup(SAMPLE, "bands")


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    """One day of the sample site."""
    return Ground(tmp_path / "tables", sample_days=DAY)


def quick(ground: Ground, folder: Path, bound_time_s: float = 0.0) -> OperationStudy:
    """The quick slice."""
    return OperationStudy(quick_cells(), ground, folder, bound_time_s)


def stamps(folder: Path) -> dict[str, int]:
    """When each piece was written."""
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.glob("pieces/*/*")}


def told(cost_eur: float, wait_s: float) -> Told:
    """A made-up settled cell."""
    totals = {"profit_eur": 1000 - cost_eur, "revenue_eur": 1000.0, "energy_cost_eur": cost_eur}
    totals |= {"it_kwh": 10.0, "cooling_kwh": 5.0, "carbon_kg": 0.0}
    waits = dict.fromkeys(("wait95", "max-wait", "awf", "p2sf"), wait_s)
    metrics = {"wait": wait_s, "bsld": 1.0, "held": None, "max-hold": None, "broken": None, **waits}
    own = {"jobs": 3, "days": 2, "load": 0.5, "cpu_s": 1.0, "utilisation_fraction": 0.5}
    by_day = [600 - cost_eur, 400.0]
    return {**own, "totals": totals, "submitted_totals": totals, "metrics": metrics, "profit_by_day_eur": by_day}


def test_what_is_saved_is_the_difference_of_two_settled_replays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command's table against replays that are made and settled here, without the study."""
    monkeypatch.chdir(tmp_path)
    plan("study", "operation", "--quick", "--bound-time", "20s", "-q")
    folder = tmp_path / "reports" / "studies" / "operation"
    easy_row, row = csv_rows(folder / "operation.csv")
    site = [shipped_folder() / "scenarios"]
    scenario = load_scenario("hourly-tariff", folders=site, overrides=["rules.max_delay=6h"])
    source = read_window(scenario, DAY.first, DAY.last)
    trace = source.trace
    easy = replay(trace, policy_named("easy"), trace.requested_s)
    other = replay(trace, policy_named("hold"), trace.requested_s, holding=holding_of_trace(scenario, trace))
    days = int(row["days"])
    costs = [
        sum_of_days(settle_window(scenario, source.jobs, each, first_day=DAY.first, days=days))["energy_cost_eur"]
        for each in (easy, other)
    ]
    assert float(row["saved_eur"]) == pytest.approx(costs[0] - costs[1], abs=1e-5)
    assert float(row["saved_percent"]) == pytest.approx(100 * (1 - costs[1] / costs[0]), abs=1e-3)
    assert float(row["saved_eur"]) != 0
    assert float(easy_row["saved_eur"]) == 0
    assert float(row["added_wait_s"]) == pytest.approx(np.mean(other.wait_s) - np.mean(easy.wait_s), abs=0.1)
    # Both run all jobs within the days, so revenue is the same and the saving is more profit.
    assert row["revenue_eur"] == easy_row["revenue_eur"]
    allowed = float(row["bound_eur"]) - float(easy_row["profit_eur"])
    assert float(row["share_of_bound"]) == pytest.approx(float(row["saved_eur"]) / allowed, abs=1e-4)
    assert float(row["broken_promises"]) == 0
    page, document = ((folder / f"operation.{kind}").read_text("utf-8") for kind in ("html", "md"))
    assert page.count('class="point"') == 3  # EASY, hold and its limit
    assert "hold, 6 h (requested)" in page
    assert "hold, 6 h (requested)" in document


def test_a_killed_study_goes_on_where_it_stopped(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is done is kept and not made again; when nothing is missing, nothing is made."""
    study, folder = quick(ground, tmp_path / "study"), tmp_path / "study"

    def killed(name: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.run(on_done=killed)
    first = stamps(folder)
    assert len(first) == 1
    made: list[str] = []
    keep = kept.put_piece
    monkeypatch.setattr(kept, "put_piece", lambda path, content: (made.append(path.name), keep(path, content)))
    rows = study.run()
    assert len(made) == 3  # the other replay, and both settled
    assert {name: stamps(folder)[name] for name in first} == first
    assert study.run() == rows
    assert len(made) == 3
    study.run(fresh=True)
    assert len(made) == 7


def test_a_piece_made_from_something_else_is_made_again(ground: Ground, tmp_path: Path) -> None:
    """Other days of submission give other pieces, in place of the earlier ones."""
    folder = tmp_path / "study"
    quick(ground, folder).run()
    first = set(stamps(folder))
    other = dataclasses.replace(ground, sample_days=Days(SAMPLE_DAYS.last, SAMPLE_DAYS.last))
    quick(other, folder).run()
    assert len(first) == 4
    assert len(stamps(folder)) == 4
    assert not first & set(stamps(folder))


def test_two_processes_give_the_same_rows(ground: Ground, tmp_path: Path) -> None:
    """The number of workers changes no number but the time."""
    alone = quick(ground, tmp_path / "alone").run()
    both = dataclasses.replace(quick(ground, tmp_path / "both"), workers=2).run()
    assert [{**row, "cpu_s": 0} for row in alone] == [{**row, "cpu_s": 0} for row in both]


def test_the_picture_has_a_point_for_every_policy() -> None:
    """Runtimes known ahead are in the tables only; day plans far away stand at the edge."""
    cells = cells_of(GROUP, full=True)
    settled = {cell: told(100.0 - k, 60.0 * k) for k, cell in enumerate(cells)}
    settled |= {cell: told(120.0, 400_000.0) for cell in cells if cell.policy in STATIC}
    hours = {cell.max_delay_h for cell in cells if cell.max_delay_h is not None}
    rows = rows_of(cells, settled, {(GROUP, each): {"profit_eur": 960.0 + each} for each in hours})
    drawing = picture_of(rows)
    shown = [cell for cell in cells if cell.estimate != KNOWN]
    assert drawing.count('class="point"') == len(shown) + len(hours)
    names = re.findall(r"<title>([^:<]+)", drawing)
    assert {"easy", "easy, last2", "list", "hold, 24 h", "hold, 24 h, last2", "day plans"} <= set(names)
    assert "day plans (+" in drawing  # its name says where it is
    assert "\u202f" not in markdown_of(rows)  # a terminal would not print it


def test_shares_are_of_what_the_bound_allows_over_easy() -> None:
    """EASY costs 100 and earns 900; hold costs 90; the bound of 930 allows 30, of which 10 is a third."""
    easy, cell = baseline_of(GROUP), Cell(GROUP, "hold", max_delay_h=6)
    settled = {easy: told(100.0, 60.0), cell: told(90.0, 90.0)}
    row = rows_of([easy, cell], settled, {(GROUP, 6): {"profit_eur": 930.0}})[1]
    assert (row["saved_eur"], row["saved_percent"], row["added_wait_s"]) == (10.0, 10.0, 30.0)
    assert row["share_of_bound"] == pytest.approx(1 / 3, abs=1e-4)
    nothing = rows_of([easy, cell], settled, {(GROUP, 6): {"profit_eur": 899.0}})[1]
    assert nothing["share_of_bound"] is None


def test_what_is_earned_by_each_day_is_shown_where_the_machine_is_overloaded() -> None:
    """EASY has earned 500 and 900 by the end of the days, hold 510 and 910: 2 % and 1.1 % more."""
    group = SiteGroup(SAMPLE, "bands", "1.45")
    easy, cell = baseline_of(group), Cell(group, "hold", max_delay_h=6)
    settled = {easy: {**told(100.0, 60.0), "load": 1.45}, cell: {**told(90.0, 90.0), "load": 1.45}}
    rows = rows_of([easy, cell], settled, {})
    table = days_table(rows)
    assert table is not None
    assert table.rows[1][1:] == ("+2.0\u202f%", "+1.1\u202f%")
    assert days_table([{**row, "load_fraction": 1.1} for row in rows]) is None
    assert table.title in markdown_of(rows)


def test_times_are_scaled_to_a_load(ground: Ground) -> None:
    """Real and requested times have the same factor; who was submitted when does not change."""
    scenario = scenario_of_group(ground, GROUP)
    usual, busy = (source_of(ground, SAMPLE, load) for load in (AS_IS, "0.7"))
    assert load_of(busy, scenario, DAY) == pytest.approx(0.7, rel=1e-3)
    factor = 0.7 / load_of(usual, scenario, DAY)
    assert np.array_equal(busy.trace.runtime_s, np.ceil(usual.trace.runtime_s * factor))
    assert np.array_equal(busy.trace.requested_s, np.ceil(usual.trace.requested_s * factor))
    assert np.array_equal(busy.trace.submit_s, usual.trace.submit_s)
    assert all(job.runtime_s == ran for job, ran in zip(busy.jobs, busy.trace.runtime_s.tolist(), strict=True))


@pytest.mark.parametrize("policy", STATIC)
def test_day_plans_know_what_was_submitted_by_midnight(ground: Ground, tmp_path: Path, policy: str) -> None:
    """Jobs of the first day start on the second, or on their own where the day is known ahead."""
    cell = Cell(GROUP, policy)
    path = tmp_path / "replay"
    path.write_bytes(replay_bytes(ground, cell))
    result, _ = read_replay(path, source_of(ground, SAMPLE, AS_IS), cell)
    first_day = result.start_s < 86_400
    assert first_day.any() == (policy == "static-ahead")
    assert np.all(result.start_s >= result.trace.submit_s)


def test_work_that_day_plans_leave_undone_is_no_saving(ground: Ground, tmp_path: Path) -> None:
    """Days are settled until the other policies are done; what a day plan has not run by then, it has not earned."""
    (easy,) = quick(ground, tmp_path / "easy", 0.0).run()[:1]
    cells = [baseline_of(GROUP), Cell(GROUP, "static")]
    both = OperationStudy(cells, ground, tmp_path / "both", 0.0).run()
    assert [row["days"] for row in both] == [easy["days"]] * 2
    cheaper = easy["energy_cost_eur"] - both[1]["energy_cost_eur"]
    missed = easy["revenue_eur"] - both[1]["revenue_eur"]
    assert missed > 1
    assert both[1]["saved_eur"] == pytest.approx(cheaper - missed, abs=1e-4)


def test_prices_of_another_year_keep_their_day_and_hour(tmp_path: Path) -> None:
    """29 February of the one year has no place in the other; the rate is on every price."""
    source, target = tmp_path / "prices.csv", tmp_path / "moved.csv"
    moments = ("2020-02-28 23:00:00", "2020-02-29 00:00:00", "2020-03-01 00:00:00", "2021-03-01 00:00:00")
    source.write_text("\n".join(["time (UTC),price", *(f"{m},{k + 1}" for k, m in enumerate(moments))]) + "\n")
    day = dt.date(2013, 3, 2)
    write_moved(source, target, column="price", first=day, last=day, years=7, factor=2.0)
    assert target.read_text() == "time (UTC),price\n2013-02-28 23:00:00,2.0\n2013-03-01 00:00:00,6.0\n"


def test_cells_are_chosen_by_name() -> None:
    """EASY of the same group always comes along; a pattern that fits nothing is an error with what there is."""
    found = chosen(default_cells(), ["curie/fr-2012/as-is/hold-?h/requested"])
    assert [cell.label for cell in found] == ["easy", "hold-0h", "hold-2h", "hold-6h"]
    with pytest.raises(InputError, match="sample/flat/as-is"):
        chosen(every_cell(), ["curie/fr-2013/*"])
    assert len(default_cells()) <= 80
    assert set(default_cells()) <= set(every_cell())
