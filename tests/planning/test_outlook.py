"""Claims about the time on which a day is decided: its length, what counts there, and that no plan is below EASY."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from planner.accounting.settle import settle
from planner.domain.day_summary import AheadSummary
from planner.domain.plan import Plan, cut_plan
from planner.domain.problem import Problem
from planner.domain.result import Result, Stop
from planner.inputs.build import Day, build, build_day
from planner.inputs.jobs.read import submitted_jobs
from planner.limits import DAY_S
from planner.methods import Params
from planner.online.day_under_policy import easy_plan
from planner.places import shipped_folder
from planner.planning import plan_day as plan_module
from planner.planning.outlook import DEARER, ahead_summary, in_money, lets_wait, with_outlook, with_time_ahead
from planner.planning.plan_day import plan_day
from planner.planning.wait_and_late_prices import LATE_AFTER_S, LATE_TIMES, LOAD_DAYS, last_jobs
from planner.scenario.load import load_scenario
from planner.scenario.schema import Scenario

FIRST = dt.date(2024, 6, 1)
NODES = "cluster.classes={cpu: {count: 4, capacity: {cores: 32, memory_gb: 128}}, gpu: null}"
"""A machine of four nodes: the sample makes its jobs to fit."""


def scenario_of(*settings: str) -> Scenario:
    return load_scenario("sample", folders=[shipped_folder() / "scenarios"], overrides=(NODES, *settings))


@pytest.fixture(scope="module")
def looked() -> Day:
    """A day of the small sample with its outlook."""
    return with_time_ahead(build_day(scenario_of(), FIRST))


def test_the_outlook_ends_when_easy_has_ended_all_jobs(looked: Day) -> None:
    """Its last day is the one on which EASY ends the last of them, and EASY starts them all."""
    assert looked.ahead is not None
    assert looked.outlook is not None
    ends_s = looked.outlook.easy.start_s + looked.ahead.columns.duration_s
    assert looked.outlook.easy.is_placed.all()
    assert 0 <= looked.ahead.horizon.length_s - int(ends_s.max()) < 86_400
    assert looked.ahead.horizon.length_s == looked.outlook.days * 86_400


def test_easy_of_the_day_is_the_first_day_of_easy_of_the_outlook() -> None:
    """EASY decides today without a look at tomorrow: the plan of the day need not be made twice."""
    for settings in ((), ("jobs.load=2", "jobs.lookback=2d")):
        day = with_outlook(build_day(scenario_of(*settings), FIRST))
        assert day.outlook is not None
        first = cut_plan(day.problem, day.outlook.easy, day.problem.horizon.length_s)
        alone = easy_plan(day.problem, day.problem)
        assert first.start_s.tolist() == alone.start_s.tolist()
        assert first.node_of_unit.tolist() == alone.node_of_unit.tolist()


def test_later_money_counts_by_regime_and_as_the_site_says() -> None:
    """The sample asks for about what the machine can do; twice as much never empties; a site may say it."""
    found = {}
    for name, settings in (("usual", ()), ("twice", ("jobs.load=2",)), ("said", ("jobs.load=2", "goal.later=0.25"))):
        day = with_outlook(build_day(scenario_of(*settings), FIRST))
        assert day.outlook is not None
        assert day.ahead is not None
        regime = day.outlook.regime
        found[name] = regime.later, regime.is_set
        days: dict[int, set[float]] = {}
        for one in day.ahead.segments:
            days.setdefault(one.start_s // DAY_S, set()).add(one.counts)
        assert days.pop(0) == {1.0}
        assert days.pop(1) == {max(0.5, regime.later)}, "tomorrow's room is as scarce as today's, and half known"
        assert all(counts == {regime.later} for counts in days.values())
    assert found == {"usual": (1.0, False), "twice": (0.0, False), "said": (0.25, True)}


def test_jobs_are_late_some_hours_after_easy_and_sooner_where_they_wait_long(looked: Day) -> None:
    """A job of the quarter with the longest waits under EASY is late after EASY's start; others before they join it."""
    assert looked.ahead is not None
    assert looked.outlook is not None
    start_unix = looked.problem.horizon.start_unix
    rows = []
    for job, start in zip(looked.ahead.jobs, looked.outlook.easy.start_s.tolist(), strict=True):
        assert job.easy_unix == start_unix + start
        rows.append((start - (job.submit_unix - start_unix), looked.ahead.waits[job.id].due_s - start))
    rows.sort()
    long_s = rows[round(0.75 * (len(rows) - 1))][0]
    slacks = {
        "long": [s for w, s in rows if w > long_s + 60],
        "short": [s for w, s in rows if w < long_s - LATE_AFTER_S],
    }
    assert set(slacks["long"]) == {0}
    assert set(slacks["short"]) == {LATE_AFTER_S}
    assert all(slack <= long_s - wait + 60 for wait, slack in rows if long_s - LATE_AFTER_S <= wait < long_s)


def test_an_hour_of_being_late_counts_with_the_hour_of_waiting(looked: Day) -> None:
    """A job with twice the price of waiting has twice that of being late: large jobs are not crowded out by small."""
    assert looked.ahead is not None
    for price in looked.ahead.waits.values():
        assert price.late_eur_per_h == pytest.approx(LATE_TIMES * price.eur_per_h)


def test_on_an_overloaded_machine_waiting_counts_the_same_for_all_and_nobody_is_late(looked: Day) -> None:
    """Somebody must start later than under EASY there. Half way, margin and lateness count half."""
    prices = {}
    for later in (0.0, 0.5):
        ahead = with_time_ahead(build_day(scenario_of("goal.waiting=0.01", f"goal.later={later}"), FIRST)).ahead
        assert ahead is not None
        prices[later] = list(ahead.waits.values())
    assert {price.eur_per_h for price in prices[0.0]} == {0.01}
    assert {price.late_eur_per_h for price in prices[0.0]} == {0.0}
    assert len({price.eur_per_h for price in prices[0.5]}) > 10
    assert all(price.late_eur_per_h in (0.0, pytest.approx(50 * price.eur_per_h)) for price in prices[0.5])
    assert any(price.late_eur_per_h for price in prices[0.5])
    free, full = (with_time_ahead(build_day(scenario_of(f"goal.later={later}"), FIRST)).outlook for later in (1.0, 0.0))
    assert free is not None
    assert full is not None
    queue = with_outlook(build_day(scenario_of(), FIRST)).problem.jobs
    start_unix = looked.problem.horizon.start_unix
    week, _ = submitted_jobs(scenario_of(), (start_unix - 7 * DAY_S, start_unix))
    energy_of = [sum(job.power_w * job.planned_s for job in jobs) / len(jobs) for jobs in (queue, week)]
    assert full.waiting_eur_per_h == pytest.approx(0.5 * free.waiting_eur_per_h * energy_of[1] / energy_of[0])


@pytest.mark.parametrize(("later", "counts_days"), [(1.0, 7.0), (0.5, 3.5), (0.25, 1.75), (0.0, 0.0)])
def test_old_jobs_count_more_unless_the_machine_is_overloaded(later: float, counts_days: float) -> None:
    """Of a wait of nine days before tonight at most seven count, and the less the fuller the machine is."""
    day = build_day(scenario_of("goal.waiting=0.01", f"goal.later={later}"), FIRST)
    nine, one = (replace(job, submit_unix=day.situation.moment_unix - days * 86_400)
                 for job, days in zip(day.problem.jobs, (9, 1), strict=False))  # fmt: skip
    situation = replace(day.situation, pending=(nine, one))
    ahead = with_time_ahead(build(day.scenario, day.problem.horizon, situation, day.intakes[0])).ahead
    assert ahead is not None
    assert ahead.waits[nine.id].ready_s == -86_400 * counts_days
    assert ahead.waits[one.id].ready_s == -86_400 * min(1.0, counts_days)


def test_a_job_that_easy_would_have_started_a_day_ago_is_overdue(looked: Day) -> None:
    """At the midnight after, the first job of EASY goes before all others; with a limit of its own, that counts."""
    day = build_day(scenario_of(), FIRST)
    first, second = day.problem.jobs[:2]
    moment = day.situation.moment_unix
    waiting = (replace(first, easy_unix=moment - 86_400), replace(second, easy_unix=moment - 86_399))
    situation = replace(day.situation, pending=waiting)
    for settings, overdue in (((), {first.id}), (("rules.max_deferral_days=3",), set())):
        assert build(scenario_of(*settings), day.problem.horizon, situation, day.intakes[0]).problem.overdue == overdue


def test_no_plan_is_worth_less_than_easy(looked: Day) -> None:
    """Even with no steps at all: EASY is among what is tried."""
    planned = plan_day(looked, Params(iterations=1, bound_time_s=1.0, baselines=False).under(looked.scenario))
    told = planned.ahead
    assert told is not None
    assert told.plan.worth_eur >= told.easy.worth_eur
    assert told.worth_bound_eur is not None
    assert told.bound_eur is not None
    assert told.plan.worth_eur <= told.worth_bound_eur
    assert told.plan.profit_eur <= told.bound_eur
    assert told.plan.worth_eur == pytest.approx(told.plan.profit_eur - told.plan.waiting_eur, abs=1e-5)
    assert looked.ahead is not None
    assert looked.outlook is not None
    easy = settle(in_money(looked.ahead), looked.outlook.easy)
    assert told.easy.profit_eur == pytest.approx(easy.profit_eur, abs=1e-6)
    assert easy.waiting_eur == 0


def test_a_plan_of_easy_is_called_so_and_co2_counts_in_the_choice(looked: Day, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that finds nothing better than starting nobody: EASY's plan is taken, and told as one more candidate."""
    assert looked.outlook is not None
    params = Params(iterations=1, bound_time_s=0.0, baselines=False).under(looked.scenario)
    nobody = Plan.of(looked.ahead or looked.problem, {})

    def idle(problem: Problem, params: Params, stop: Stop) -> Result:
        return Result(nobody, settle(problem, nobody), "harvest", "found", 0.0, "nobody", leaves_room=True)

    monkeypatch.setattr(plan_module, "method_named", lambda name: idle)
    planned = plan_day(looked, params)
    assert planned.result.best_trial == "easy"
    assert [trial.name for trial in planned.result.trials] == ["easy"]
    first = cut_plan(looked.problem, looked.outlook.easy, looked.problem.horizon.length_s)
    assert planned.result.plan.start_s.tolist() == first.start_s.tolist()
    # At a price of CO2 that no revenue pays for, starting nobody is better.
    dear = with_time_ahead(
        build_day(scenario_of("goal.carbon_weight=9000", "goal.waiting=0", "carbon.g_per_kwh=500"), FIRST)
    )
    assert plan_day(dear, params).result.best_trial == "nobody"


def test_work_after_the_outlook_is_told_where_it_is_not_easys(looked: Day) -> None:
    """By hand: a job that starts an hour before the end of the outlook, its other hours times its cores."""
    ahead = looked.ahead
    assert ahead is not None
    assert looked.outlook is not None
    long = int(np.argmax(ahead.columns.duration_s))
    starts = looked.outlook.easy.start_s.copy()
    starts[long] = ahead.horizon.length_s - 3600
    hours = ahead.columns.duration_s[long] / 3600 - 1
    told = ahead_summary(looked, replace(looked.outlook.easy, start_s=starts), with_bounds=False)
    assert told.core_hours_after == pytest.approx(hours * ahead.jobs[long].total("cores"))
    assert f"{told.core_hours_after:,.0f} core-hours more than under EASY" in told.after_words
    starts = starts.copy()
    starts[long] = -1
    nowhere = ahead_summary(looked, replace(looked.outlook.easy, start_s=starts), with_bounds=False)
    assert nowhere.core_hours_after == pytest.approx((hours + 1) * ahead.jobs[long].total("cores"))
    same = ahead_summary(looked, looked.outlook.easy, with_bounds=False)
    assert (same.core_hours_after, same.after_words) == (0.0, "")


def test_waiting_gets_dearer_where_jobs_would_wait_longer_than_under_easy() -> None:
    """Only on a full machine, and only where the site has not said what an hour of waiting counts."""
    full = ("jobs.load=1.3", "goal.later=0")
    day = with_time_ahead(build_day(scenario_of(*full), FIRST))
    assert day.outlook is not None
    default = day.outlook.waiting_eur_per_h
    params = Params(iterations=1000, bound_time_s=0.0, baselines=False)

    def told_of(day: Day) -> AheadSummary:
        told = plan_day(day, params.under(day.scenario)).ahead
        assert told is not None
        assert told.plan.waits.mean_s is not None
        assert told.easy.waits.mean_s is not None
        return told

    raised = told_of(day)
    times = round(raised.waiting_eur_per_h / default)
    assert times in (DEARER, DEARER**2, DEARER**3)
    assert raised.waiting_dearer == times
    assert raised.dearer_words.startswith(f", {times} times the default")
    assert raised.plan.waits.mean_s <= raised.easy.waits.mean_s
    said = told_of(with_time_ahead(build_day(scenario_of(*full, f"goal.waiting={default}"), FIRST)))
    assert said.waiting_eur_per_h == pytest.approx(default, abs=1e-6)
    assert not said.dearer_words
    assert said.plan.waits.mean_s > said.easy.waits.mean_s, "the guard has nothing to do"
    empties = with_time_ahead(build_day(scenario_of("jobs.load=1.3", "goal.later=1"), FIRST))
    assert empties.outlook is not None
    assert not lets_wait(empties, replace(empties.outlook.easy, start_s=empties.outlook.easy.start_s + 1))


def test_waiting_gets_no_dearer_once_a_search_was_cut_short_or_where_it_does_not_help(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After Ctrl-C no search begins; a plan whose jobs wait no shorter than in the one before is not taken."""
    day = with_time_ahead(build_day(scenario_of("jobs.load=1.3", "goal.later=0"), FIRST))
    assert day.outlook is not None
    params = Params(iterations=1000, bound_time_s=0.0, baselines=False).under(day.scenario)
    first = plan_module._decided(day, params)
    assert lets_wait(day, first[-1])
    for cut_short, searches in ((True, 1), (False, 2)):
        decided = (replace(first[0], cut_short=cut_short, solve_s=1.0), *first[1:])
        search = Mock(return_value=decided)
        monkeypatch.setattr(plan_module, "_decided", search)
        kept, (result, *_) = plan_module._kept_short(day, params)
        limits_s = [call.args[1].time_limit_s for call in search.call_args_list]
        assert len(limits_s) == searches
        assert limits_s == sorted(limits_s, reverse=True), "all searches have the time of one"
        assert kept is day
        assert (result.cut_short, result.solve_s) == (cut_short, searches)


def test_the_published_goal_has_no_outlook(tmp_path: Path) -> None:
    """With ``goal.kind: published`` jobs know nothing of EASY, and waiting counts nothing."""
    day = with_time_ahead(build_day(scenario_of("goal.kind=published"), FIRST))
    assert day.outlook is None
    assert all(job.easy_unix is None for job in day.problem.jobs)
    assert not (day.ahead or day.problem).waits


@pytest.mark.parametrize(("eldest_days", "count"), [(LOAD_DAYS - 0.5, 2), (LOAD_DAYS - 1.5, 0)])
def test_who_does_not_know_a_week_knows_nothing_of_it(tmp_path: Path, eldest_days: float, count: int) -> None:
    """Of jobs of the last days alone, the work of a week is not known; one for too many cores never counts."""
    day = build_day(scenario_of(), FIRST)
    lines = ["job_id,submit_unix,requested_s,units,cores_per_unit,power_w"]
    for name, days_ago, units in (("a", eldest_days, 1), ("b", 2.0, 1), ("big", 1.0, 33)):
        submit_unix = day.problem.horizon.start_unix - round(days_ago * DAY_S)
        lines.append(f"{name},{submit_unix},3600,{units},4,100")
    (tmp_path / "jobs.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    scenario = scenario_of(f"jobs={{source: {tmp_path / 'jobs.csv'}}}")
    assert len(last_jobs(scenario, day.problem)) == count
