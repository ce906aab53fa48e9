"""Days planned together: when later days are looked at, what they count, and that the day alone is kept."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from planner.accounting.audit import audit
from planner.accounting.settle import settle
from planner.domain.horizon import Horizon
from planner.domain.problem import Problem
from planner.domain.result import Result, Stop
from planner.domain.segment import Segment, stretch_segments
from planner.errors import CoverageError
from planner.inputs.build import Day, build_day, frame
from planner.methods import Params
from planner.planning.outlook import part_known, with_days_ahead
from planner.planning.plan_day import plan_day
from planner.scenario.load import load_scenario
from planner.scenario.schema import Scenario
from tests.days import small_table

FIRST = dt.date(2024, 6, 3)
MIDNIGHT = Horizon(FIRST, "UTC").start_unix
SITE = (
    "zone: UTC\nseed: 1\ncooling: {table: ../tables/small.csv}\nrevenue: {eur_per_core_hour: 0.05}\n"
    + "jobs: {source: ../jobs/queue.csv}\ncluster: {classes: {cpu: {count: 1, capacity: {cores: 8}}}}\n"
    + "weather: {source: constant, temperature_c: 12}\ntariff: {kind: flat, eur_per_kwh: 0.2}\n"
)


def site(folder: Path, jobs: list[tuple[int, float, int]], *settings: str) -> Scenario:
    """One node of eight cores; jobs are (hour of submission from midnight, hours, cores)."""
    rows = ["job_id,submit_unix,requested_s,units,cores_per_unit,power_w"]
    rows += [f"{n},{MIDNIGHT + 3600 * h},{round(3600 * d)},1,{c},{10 * c}" for n, (h, d, c) in enumerate(jobs)]
    texts = {"scenarios/one.yaml": SITE, "jobs/queue.csv": "\n".join(rows) + "\n", "tables/small.csv": small_table()}
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return load_scenario("one", folders=[folder / "scenarios"], overrides=list(settings))


def built(scenario: Scenario) -> Day:
    return with_days_ahead(build_day(scenario, FIRST))


TWO_DAYS_OF_WORK = [(-48, 20, 8), (-48, 20, 8), (-1, 2, 8)]


def test_later_days_count_as_much_as_the_queue_is_old(tmp_path: Path) -> None:
    """Two of three jobs came in more than a day before midnight: the second day counts two thirds of its money."""
    day = built(site(tmp_path, TWO_DAYS_OF_WORK))
    assert part_known(day) == pytest.approx(2 / 3)
    assert day.ahead is not None
    assert day.ahead.horizon.length_s == 2 * 86400
    counts = {segment.start_s >= 86400: segment.counts for segment in day.ahead.segments}
    assert counts == {False: 1.0, True: pytest.approx(2 / 3)}


def test_later_days_of_a_young_queue_count_half(tmp_path: Path) -> None:
    """All came in within the last day: others will have come tomorrow, and still what is left for it counts."""
    day = built(site(tmp_path, [(-3, 20, 8)] * 3))
    assert part_known(day) == 0
    assert day.ahead is not None
    assert [segment.counts for segment in day.ahead.segments if segment.start_s >= 86400] == [0.5]


@pytest.mark.parametrize(
    ("jobs", "settings"),
    [
        (TWO_DAYS_OF_WORK, ("search.lookahead_days=1",)),
        ([(-48, 4, 8), (-48, 4, 8)], ()),
        ([], ()),
    ],
    ids=["each day by itself", "all have room", "nobody"],
)
def test_days_that_are_planned_by_themselves(
    jobs: list[tuple[int, float, int]], settings: tuple[str, ...], tmp_path: Path
) -> None:
    """Nothing is looked at where the scenario says so, and where all have room."""
    assert built(site(tmp_path, jobs, *settings)).ahead is None


def test_money_of_a_later_day_counts_less(tmp_path: Path) -> None:
    """Settled with a second day that counts two thirds, a plan comes to today's profit and two thirds of tomorrow's."""
    day = built(site(tmp_path, TWO_DAYS_OF_WORK))
    assert day.ahead is not None
    planned = plan_day(day, Params("multisearch", workers=1, bound_time_s=0, baselines=False))
    assert not audit(day.problem, planned.result.plan, leaves_room=True)
    # Both long jobs and the short one: 0.32 EUR an hour less energy; 24 h today, 18 h tomorrow.
    hour = 8 * 0.05 - 0.08 * 0.2 * (1 + 0.104 + 0.12)
    assert planned.ledger.profit_eur == pytest.approx(24 * hour, rel=2e-2)
    trial = max(trial.profit_eur for trial in planned.result.trials)
    assert trial == pytest.approx((24 + 18 * 2 / 3) * hour, rel=2e-2)
    assert settle(day.problem, planned.result.plan).profit_eur == planned.ledger.profit_eur


def test_a_job_planned_for_tomorrow_waits_and_says_until_when(tmp_path: Path) -> None:
    """What the plan of both days starts tomorrow is deferred, with its planned start."""
    day = built(site(tmp_path, TWO_DAYS_OF_WORK))
    planned = plan_day(day, Params("multisearch", workers=1, bound_time_s=0, baselines=False))
    assert planned.deferrals or planned.result.plan.is_placed.all()
    for _, why in planned.deferrals:
        assert why.reason.startswith("planned to start at 2024-06-04")


def test_unknown_weather_of_later_days_is_that_of_the_day_before(tmp_path: Path) -> None:
    """A price file that ends with the day does for looking ahead, and not for planning two days in earnest."""
    prices = tmp_path / "jobs" / "prices.csv"
    scenario = site(tmp_path, TWO_DAYS_OF_WORK)
    lines = ["time,price"] + [f"2024-06-03T{hour:02d}:00:00+00:00,{0.1 + hour / 100:.2f}" for hour in range(24)]
    prices.write_text("\n".join(lines) + "\n", encoding="utf-8")
    priced = f"tariff={{kind: hourly, file: {prices}, unit: EUR/kWh, eur_per_kwh: null}}"
    scenario = site(tmp_path, TWO_DAYS_OF_WORK, priced)
    both = Horizon.from_moment(MIDNIGHT, 2 * 86400, "UTC")
    with pytest.raises(CoverageError):
        frame(scenario, both)
    problem, _ = frame(scenario, both, repeats=True)
    first = [(s.start_s, s.price_eur_per_kwh) for s in problem.segments if s.start_s < 86400]
    second = [(s.start_s - 86400, s.price_eur_per_kwh) for s in problem.segments if s.start_s >= 86400]
    assert first == second


@pytest.mark.parametrize("length_s", [80_000, 86_400, 90_000])
def test_segments_of_a_day_of_another_length(length_s: int) -> None:
    """The last segment ends with the day; what begins after it is cut."""
    day = (Segment(0, 40_000, 10, 0.1), Segment(40_000, 82_000, 10, 0.2), Segment(82_000, 86_400, 10, 0.3))
    found = stretch_segments(day, length_s)
    assert found[0].start_s == 0
    assert found[-1].end_s == length_s
    assert [one.start_s for one in found] == [one.start_s for one in day if one.start_s < length_s]


@pytest.mark.parametrize(("hours", "is_hastened"), [([10, 1, 20], True), ([10, 1, 20, 20], False)])
def test_jobs_start_sooner_only_where_every_job_starts(
    hours: list[float], is_hastened: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One node for one job at a time: the fourth would start after midnight, and waits."""
    asked: list[int] = []

    def watched(problem: Problem, result: Result, *, seed: int, steps: int, stop: Stop) -> Result:
        asked.append(steps)
        return result

    monkeypatch.setattr("planner.search.shorter_waits.sooner", watched)
    day = build_day(site(tmp_path, [(-1, each, 8) for each in hours]), FIRST)
    planned = plan_day(day, Params("harvest", workers=1, iterations=500, bound_time_s=0, baselines=False))
    assert planned.result.plan.is_placed.all() == is_hastened
    assert asked == ([125] if is_hastened else [])
