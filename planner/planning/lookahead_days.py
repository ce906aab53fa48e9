"""Days planned together: where its queue reaches beyond a day, the days after it are looked at too, and it alone kept.

A day that is planned by itself takes whatever fills it best, and may leave the next one without the small jobs that
fill gaps. In a plan of several days those are kept for the gaps that later days will have.

What comes in on later days is not known. So the money of a later day counts less: as much as the part of the queue that
is older than a day, and at least half. Of a queue that has waited for a week, tomorrow's plan is made today. A queue of
the last day alone will be another one tomorrow; but many plans of today earn the same but for some euros, and what they
leave for tomorrow is worth more than that.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.domain.horizon import Horizon
from planner.domain.plan import Plan
from planner.domain.problem import Problem
from planner.domain.segment import Segment, split_segments
from planner.domain.situation import node_outages
from planner.inputs.build import Day, frame
from planner.limits import DAY_S
from planner.search.decode import decode, decode_after

MOST_DAYS = 8
"""Days in which the whole runs of jobs that start on the first of them count."""

LEAST_COUNTS = 0.5
"""The least that money of a later day counts, as a part of today's."""


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
    """The problem of a day in which jobs start on the day alone, and count until they end, or for `MOST_DAYS`."""
    longest_s = max((job.planned_s for job in day.problem.jobs), default=0)
    days = min(MOST_DAYS, 1 + -(-longest_s // DAY_S))
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
