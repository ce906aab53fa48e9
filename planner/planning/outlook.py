"""The time after a day that is planned with it: its outlook, or some days more; what its money and waiting count.

The profit of a calendar day is a poor goal for a site: it pulls work forward from tomorrow and lets users wait. So a
day is decided on the time in which EASY would end all known jobs. What is earned after the day counts ``later``: all
of it where the queue empties by itself, since work pulled forward brings nothing then, and nothing where the machine is
overloaded, since an hour of it that is lost never comes back. Tomorrow counts half at least: its room is as scarce, so
what packs well there is not used up today, but who comes in is not known. Waiting has a price
(`planner.domain.waits`), and a job that starts much later than EASY would have started it has a higher one.

For other goals a day is planned together with some days after it where its queue reaches beyond it, and it alone is
kept. A day that is planned by itself takes whatever fills it best, and may leave the next one without the small jobs
that fill gaps. In a plan of several days those are kept for the gaps that later days will have. What comes in on later
days is not known. So the money of a later day counts less: as much as the part of the queue that is older than a day,
and at least half. Of a queue that has waited for a week, tomorrow's plan is made today. A queue of the last day alone
will be another one tomorrow; but many plans of today earn the same but for some euros, and what they leave for tomorrow
is worth more than that.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from planner.accounting.bound import profit_bound
from planner.accounting.settle import settle
from planner.domain.day_summary import AheadSummary, AheadTotals
from planner.domain.horizon import Horizon
from planner.domain.job import Job
from planner.domain.plan import Plan, cut_plan
from planner.domain.problem import Problem
from planner.domain.segment import Segment, split_segments
from planner.domain.situation import node_outages
from planner.domain.waits import tomorrow_counts
from planner.inputs.build import Day, TimeAhead, frame
from planner.limits import DAY_S
from planner.online.day_under_policy import easy_plan
from planner.planning.baselines import waits_of
from planner.planning.wait_and_late_prices import last_jobs, regime_of, wait_prices, waiting_price
from planner.search.decode import decode, decode_after
from planner.units import SECONDS_PER_HOUR, rounded

MOST_DAYS, FEW_DAYS = 7, 2
"""The longest outlook; and that of an overloaded machine, on which later money counts nothing."""

DEARER, MOST_RAISES = 3.0, 4
"""By how much waiting gets dearer where a plan lets jobs wait longer than EASY, and how often at most."""

BOUND_SLOT_S = 2 * SECONDS_PER_HOUR
"""Prices of the bounds are constant for so long."""

BOUND_STEPS = 15
"""Steps in which prices are looked for where waiting counts and the queue does not empty; where it does, the prices of
a queue that is worked off are as good."""

WHOLE_RUN_DAYS = 8
"""Days in which the whole runs of jobs that start on the first of them count."""

LEAST_COUNTS = 0.5
"""The least that money of a later day counts, as a part of today's."""


def with_time_ahead(day: Day) -> Day:
    """The day with the time after it that a search is to plan with it, by the goal of its scenario."""
    if day.ahead is not None:
        return day
    if day.scenario.goal.kind == "whole":
        return with_outlook(day)
    return with_days_ahead(day) if day.problem.now_s == 0 else day


def with_outlook(day: Day) -> Day:
    """The day with the time on which it is decided; as it is where it has no jobs to plan."""
    problem, horizon = day.problem, day.problem.horizon
    if not problem.jobs:
        return day
    goal = day.scenario.goal
    came = last_jobs(day.scenario, problem) if goal.later is None or goal.waiting is None else []
    regime = regime_of(day.scenario, problem, came)
    most_days = MOST_DAYS if regime.later > 0 else FEW_DAYS
    easy, ends_s = _easy_until_done(problem, most_days)
    days = 1
    last = horizon
    while days < most_days and last.end_unix - horizon.start_unix < ends_s:
        last, days = last.next_day(), days + 1
    longer = Horizon.from_moment(horizon.start_unix, last.end_unix - horizon.start_unix, horizon.zone)
    empty, _ = frame(day.scenario, longer, repeats=True)
    edges_s = [horizon.length_s, horizon.next_day().end_unix - horizon.start_unix]
    counts = [1.0, tomorrow_counts(regime.later), regime.later]
    # Where tomorrow counts as all later days do, segments go on over its end.
    segments = split_segments(empty.segments, edges_s if counts[1] != counts[2] else edges_s[:1])
    ahead = replace(
        problem,
        horizon=longer,
        segments=tuple(replace(one, counts=counts[bisect_right(edges_s, one.start_s)]) for one in segments),
        outages=node_outages(day.situation.outages, longer),
    )
    easy = cut_plan(ahead, easy, longer.length_s)
    jobs = tuple(_with_easy_start(job, horizon, start) for job, start in zip(ahead.jobs, easy.start_s, strict=True))
    day = replace(day, problem=replace(problem, jobs=jobs))
    hour_eur = waiting_price(day.scenario, problem, regime.later, came)
    ahead = replace(ahead, jobs=jobs)
    ahead = replace(ahead, waits=wait_prices(ahead, hour_eur, regime.later))
    return replace(day, ahead=ahead, outlook=TimeAhead(regime, hour_eur, easy, days))


def _easy_until_done(problem: Problem, most_days: int) -> tuple[Plan, int]:
    """EASY's plan of all known jobs, and when it has ended them all, or the longest outlook is over [s]."""
    length_s = most_days * DAY_S
    horizon = Horizon.from_moment(problem.horizon.start_unix, length_s, problem.horizon.zone)
    flat = replace(problem.segments[0], start_s=0, end_s=length_s)
    plan = easy_plan(*2 * (replace(problem, horizon=horizon, segments=(flat,)),))
    if not plan.is_placed.all():
        return plan, length_s
    return plan, int(max((plan.start_s + problem.columns.duration_s).max(), problem.running_end_s.max(initial=0)))


def _with_easy_start(job: Job, horizon: Horizon, start_s: int) -> Job:
    """The job with when EASY would start it, as the first night that knew it found."""
    if job.easy_unix is not None or start_s < 0:
        return job
    return replace(job, easy_unix=horizon.start_unix + int(start_s))


def in_money(ahead: Problem) -> Problem:
    """The outlook in money alone: all its days count in full, and waiting nothing."""
    return replace(ahead, segments=tuple(replace(one, counts=1.0) for one in ahead.segments), waits={})


def lets_wait(day: Day, plan: Plan) -> bool:
    """Whether jobs wait longer in a plan of the outlook than under EASY, on a machine that is full or overloaded.

    Only where the site has not said what waiting is worth: the default price may be too low for the jobs that are
    there.
    """
    outlook = day.outlook
    if outlook is None or outlook.regime.later >= 1 or day.scenario.goal.waiting is not None:
        return False
    return outlook.waiting_eur_per_h > 0 and mean_wait_s(day, plan) > mean_wait_s(day, outlook.easy)


def mean_wait_s(day: Day, plan: Plan) -> float:
    """How long jobs wait on average in a plan of the outlook, those that it leaves until its end [s]."""
    assert day.ahead is not None
    return waits_of(day.ahead, plan).mean_s or 0.0


def with_dearer_waits(day: Day) -> Day:
    """The day with a higher price of waiting."""
    assert day.ahead is not None
    assert day.outlook is not None
    hour_eur, dearer = DEARER * day.outlook.waiting_eur_per_h, DEARER * day.outlook.dearer
    waits = wait_prices(day.ahead, hour_eur, day.outlook.regime.later)
    outlook = replace(day.outlook, waiting_eur_per_h=hour_eur, dearer=dearer)
    return replace(day, ahead=replace(day.ahead, waits=waits), outlook=outlook)


def best_of(problem: Problem, plans: Sequence[Plan]) -> Plan:
    """The plan that is worth the most; of equals the first."""
    return max(plans, key=lambda plan: settle(problem, plan).worth_eur)


def ahead_summary(day: Day, plan: Plan, *, with_bounds: bool) -> AheadSummary:
    """What is said of the time on which a day was decided: its plan beside EASY's."""
    ahead, outlook = day.ahead, day.outlook
    assert ahead is not None
    assert outlook is not None
    money, easy, first = in_money(ahead), outlook.easy, day.problem
    ours, theirs = _totals(ahead, money, plan), _totals(ahead, money, easy)
    today, easy_today = (settle(first, cut_plan(first, each, first.horizon.length_s)) for each in (plan, easy))
    gained = today.profit_eur - easy_today.profit_eur
    account, more_s = _worst_account(ahead, plan, easy)
    bound = worth_bound = None
    if with_bounds:
        bound = profit_bound(money, slot_s=BOUND_SLOT_S, descent_steps=0)
        steps = BOUND_STEPS if ahead.waits and outlook.regime.later < 1 else 0
        worth_bound = profit_bound(ahead, slot_s=BOUND_SLOT_S, descent_steps=steps)
    gap = None if worth_bound is None else worth_bound.gap_fraction(ours.worth_eur)
    regime = outlook.regime
    return AheadSummary(
        days=outlook.days,
        until=ahead.horizon.to_datetime(ahead.horizon.length_s).isoformat(),
        regime=regime.name,
        later=rounded(regime.later),
        is_set=regime.is_set,
        load=None if regime.load is None else rounded(regime.load),
        backlog_days=rounded(regime.backlog_days),
        waiting_eur_per_h=rounded(outlook.waiting_eur_per_h),
        waiting_dearer=outlook.dearer,
        core_hours_after=rounded(_core_hours_after(ahead, plan) - _core_hours_after(ahead, easy)),
        left=int((~plan.is_placed).sum()),
        plan=ours,
        easy=theirs,
        pulled_forward_eur=rounded(gained - (ours.profit_eur - theirs.profit_eur)),
        more_core_hours=rounded(today.totals.core_hours - easy_today.totals.core_hours),
        worst_account=account,
        worst_more_s=more_s,
        bound_eur=None if bound is None else rounded(bound.profit_eur),
        worth_bound_eur=None if worth_bound is None else rounded(worth_bound.profit_eur),
        gap_fraction=None if gap is None else rounded(gap),
    )


def _core_hours_after(problem: Problem, plan: Plan) -> float:
    """Core-hours of jobs after the problem's end: of those that run on, and of all that do not start before."""
    start_s = np.where(plan.is_placed, plan.start_s, problem.horizon.length_s)
    after_s = np.maximum(0, start_s + problem.columns.duration_s - problem.horizon.length_s)
    cores = np.array([job.total("cores") for job in problem.jobs])
    return float(after_s @ cores) / SECONDS_PER_HOUR


def _totals(ahead: Problem, money: Problem, plan: Plan) -> AheadTotals:
    totals, counted = settle(money, plan).totals, settle(ahead, plan)
    return AheadTotals(
        profit_eur=rounded(totals.profit_eur),
        revenue_eur=rounded(totals.revenue_eur),
        energy_cost_eur=rounded(totals.energy_cost_eur),
        waiting_eur=rounded(counted.waiting_eur),
        worth_eur=rounded(counted.worth_eur),
        waits=waits_of(ahead, plan),
    )


def _worst_account(problem: Problem, plan: Plan, easy: Plan) -> tuple[str | None, float | None]:
    """The account whose jobs wait longest on average against EASY, and by how much [s]; None where there is one."""
    accounts = sorted({job.account for job in problem.jobs})
    if len(accounts) < 2:
        return None, None
    index = {name: number for number, name in enumerate(accounts)}
    place = np.array([index[job.account] for job in problem.jobs])
    ours, theirs = (np.where(each.is_placed, each.start_s, problem.horizon.length_s) for each in (plan, easy))
    more_s = np.bincount(place, ours - theirs) / np.bincount(place)
    worst = int(np.argmax(more_s))
    return accounts[worst], rounded(float(more_s[worst]))


def with_days_ahead(day: Day) -> Day:
    """The day with the time after it that a search is to plan with it; as it is where there is nothing to look at.

    That is so where the scenario wants each day by itself, and where all jobs have room on the day.
    """
    days, problem = day.scenario.search.lookahead_days, day.problem
    if days == 1 or day.ahead is not None or not _reaches_beyond(problem):
        return day
    return replace(day, ahead=_longer(day, days, max(LEAST_COUNTS, part_known(day))))


def _longer(day: Day, days: int, counts: float) -> Problem:
    """The problem of a day with the days after it, the money of which counts so much."""
    horizon = day.problem.horizon
    last = horizon
    for _ in range(days - 1):
        last = last.next_day()
    longer = Horizon.from_moment(horizon.start_unix, last.end_unix - horizon.start_unix, horizon.zone)
    empty, _ = frame(day.scenario, longer, repeats=True)
    segments = split_segments(empty.segments, [horizon.length_s])
    return replace(
        day.problem,
        horizon=longer,
        segments=tuple(one if one.start_s < horizon.length_s else replace(one, counts=counts) for one in segments),
        outages=node_outages(day.situation.outages, longer),
    )


def whole_runs(day: Day) -> Problem:
    """The problem of a day in which jobs start on the day alone, and count until they end, or for `WHOLE_RUN_DAYS`."""
    longest_s = max((job.planned_s for job in day.problem.jobs), default=0)
    days = min(WHOLE_RUN_DAYS, 1 + -(-longest_s // DAY_S))
    waits = (day.ahead or day.problem).waits
    return replace(_longer(day, days, 1.0), starts_before_s=day.problem.horizon.length_s, waits=waits)


def sooner_paid(whole: Problem) -> Problem:
    """The same with revenue after the day counting `LEAST_COUNTS` and all costs in full: so that jobs start early."""
    return replace(
        whole,
        segments=tuple(
            one if one.start_s < whole.starts_end_s else _with_revenue_of(one, LEAST_COUNTS) for one in whole.segments
        ),
    )


def _with_revenue_of(segment: Segment, counts: float) -> Segment:
    return replace(
        segment,
        counts=counts,
        price_eur_per_kwh=segment.price_eur_per_kwh / counts,
        fee_eur_per_kwh=segment.fee_eur_per_kwh / counts,
        feed_in_eur_per_kwh=segment.feed_in_eur_per_kwh / counts,
        carbon_g_per_kwh=segment.carbon_g_per_kwh / counts,
    )


def part_known(day: Day) -> float:
    """The part of the jobs that are known now which came in more than a day ago."""
    horizon, jobs = day.problem.horizon, day.problem.jobs
    known_until = horizon.end_unix if day.scenario.jobs.visibility == "day" else horizon.start_unix
    old = sum(job.submit_unix < known_until - DAY_S for job in jobs)
    return old / len(jobs) if jobs else 0.0


def _reaches_beyond(problem: Problem) -> bool:
    """Whether some job that may start today has no room today, if all are placed in order of submission."""
    plan = decode(problem, np.argsort(problem.submission_rank).astype(np.int64))
    return bool((~plan.is_placed & (problem.columns.release_s < problem.horizon.length_s)).any())


def after_the_day(problem: Problem, ahead: Problem, plan: Plan) -> Plan:
    """The plan with jobs of later days placed again in the order of their starts, each at its earliest.

    Under ``defer: full`` that may be today: nobody waits for tomorrow who has room today beside those who go before.
    """
    length_s = problem.horizon.length_s
    return decode_after(ahead, plan, length_s, from_s=0 if problem.defer == "full" else length_s)
