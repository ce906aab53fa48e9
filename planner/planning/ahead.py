"""Days planned together: where its queue reaches beyond a day, the days after it are looked at too, and it alone kept.

A day that is planned by itself takes whatever fills it best, and may leave the next one without the small jobs that
fill gaps. In a plan of several days those are kept for the gaps that later days will have.

Two days are harder to search than one, and each may come out with gaps. So the day is planned once more by itself, with
all jobs but those that the plan of both days keeps for later, and then the later days after it; the better of the two
plans is kept.

What comes in on later days is not known. So the money of a later day counts less: as much as the part of the queue that
is older than a day. A queue of which all came in within the last day is as good as gone tomorrow, and others will have
come; of one that has waited for a week, tomorrow's plan is made today.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.accounting.audit import audit
from planner.accounting.settle import settle
from planner.bounds import DAY_S
from planner.domain.closed_room import NodeOutage
from planner.domain.horizon import Horizon
from planner.domain.job_order import submission_rank
from planner.domain.later_begins import with_others, without_others
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem, Running
from planner.domain.result import Result
from planner.domain.segment import split_segments
from planner.inputs.build import Day, frame
from planner.methods import Method, Params
from planner.search.decode import decode, decode_after
from planner.search.stop import MaxRuntime


def with_days_ahead(day: Day) -> Day:
    """The day with the time after it that a search is to plan with it; as it is where there is nothing to look at.

    That is so where the scenario wants each day by itself, where all jobs have room on the day, and where the queue is
    of the last day alone.
    """
    days, problem = day.scenario.search.lookahead_days, day.problem
    if days == 1 or day.ahead is not None or not _reaches_beyond(problem):
        return day
    counts = part_known(day)
    if counts == 0:
        return day
    horizon = problem.horizon
    last = horizon
    for _ in range(days - 1):
        last = last.next_day()
    longer = Horizon.from_moment(horizon.start_unix, last.end_unix - horizon.start_unix, horizon.zone)
    empty, _ = frame(day.scenario, longer, repeats=True)
    segments = split_segments(empty.segments, [horizon.length_s])
    ahead = replace(
        problem,
        horizon=longer,
        segments=tuple(one if one.start_s < horizon.length_s else replace(one, counts=counts) for one in segments),
        outages=empty.outages,
    )
    return replace(day, ahead=ahead)


def part_known(day: Day) -> float:
    """The part of the jobs that are known now which came in more than a day ago."""
    horizon, jobs = day.problem.horizon, day.problem.jobs
    known_until = horizon.end_unix if day.scenario.jobs.visibility == "day" else horizon.start_unix
    old = sum(job.submit_unix < known_until - DAY_S for job in jobs)
    return old / len(jobs) if jobs else 0.0


def _reaches_beyond(problem: Problem) -> bool:
    """Whether some job that may start today has no room today, if all are placed in order of submission."""
    plan = decode(problem, np.argsort(submission_rank(problem)).astype(np.int64))
    return bool((~plan.is_placed & (problem.columns.release_s < problem.horizon.length_s)).any())


def planned_again(problem: Problem, ahead: Problem, together: Result, method: Method, params: Params) -> Result:
    """A result of several days with the first planned once more, and the others after it, if that counts more.

    The first may use all jobs but those that are kept for later; what is heard on the way is of it alone.
    """
    is_later = together.plan.is_placed & (together.plan.start_s >= problem.horizon.length_s)
    kept = {job.id for job, waits in zip(problem.jobs, is_later, strict=True) if waits}
    # Whatever waits for a job of a later day waits, too.
    seen = replace(without_others(problem, ~is_later), never=problem.never | kept)
    again = method(seen, params, MaxRuntime(params.time_limit_s))
    first = with_others(problem, ~is_later, again.plan)
    then = method(later_days(problem, ahead, first), replace(params, on_trial=None), MaxRuntime(params.time_limit_s))
    plan = joined(problem, first, then.plan)
    solve_s = together.solve_s + again.solve_s + then.solve_s
    cut_short = together.cut_short or again.cut_short or then.cut_short
    counted = ahead.counted
    is_less = settle(counted, plan).profit_eur <= settle(counted, together.plan).profit_eur
    if is_less or audit(ahead, plan, leaves_room=True):
        return replace(together, solve_s=solve_s, cut_short=cut_short)
    return replace(again, plan=plan, ledger=settle(ahead, plan), solve_s=solve_s, cut_short=cut_short)


def later_days(problem: Problem, ahead: Problem, plan: Plan) -> Problem:
    """The days after the first as a problem of their own, with what a plan of the first leaves running and waiting."""
    length_s, jobs = problem.horizon.length_s, {job.id: job for job in problem.jobs}
    started = [(jobs[placed.job_id], placed) for placed in plan.placements(problem)]
    begun = [Running(job, placed.start_s, placed.start_s + job.planned_s, placed.nodes) for job, placed in started]
    return replace(
        without_others(ahead, ~plan.is_placed),
        horizon=Horizon.from_moment(problem.horizon.end_unix, ahead.horizon.length_s - length_s, ahead.horizon.zone),
        segments=tuple(
            replace(one, start_s=one.start_s - length_s, end_s=one.end_s - length_s)
            for one in split_segments(ahead.segments, [length_s])
            if one.start_s >= length_s
        ),
        running=tuple(
            replace(work, start_s=work.start_s - length_s, end_s=work.end_s - length_s)
            for work in (*problem.running, *begun)
            if work.end_s > length_s
        ),
        outages=tuple(
            NodeOutage(one.node, max(0, one.start_s - length_s), one.end_s - length_s)
            for one in ahead.outages
            if one.end_s > length_s
        ),
        now_s=0,
    )


def joined(problem: Problem, first: Plan, then: Plan) -> Plan:
    """A plan of the first day and one of what it leaves to the days after it, as one."""
    later = with_others(problem, ~first.is_placed, then)
    unit_is_first = np.repeat(first.is_placed, np.diff(problem.columns.unit_ptr))
    begin_s = np.where(later.is_placed, later.start_s + problem.horizon.length_s, later.start_s)
    return Plan(
        np.where(first.is_placed, first.start_s, begin_s).astype(np.int64),
        np.where(unit_is_first, first.node_of_unit, later.node_of_unit).astype(np.int64),
    )


def first_day_of(problem: Problem, plan: Plan) -> Plan:
    """What a plan of several days starts on the first of them."""
    stays = plan.is_placed & (plan.start_s < problem.horizon.length_s)
    unit_stays = np.repeat(stays, np.diff(problem.columns.unit_ptr))
    return Plan(
        np.where(stays, plan.start_s, DEFERRED).astype(np.int64),
        np.where(unit_stays, plan.node_of_unit, DEFERRED).astype(np.int64),
    )


def after_the_day(problem: Problem, ahead: Problem, plan: Plan) -> Plan:
    """The plan with jobs of later days placed again in the order of their starts, each at its earliest.

    Under ``defer: full`` that may be today: nobody waits for tomorrow who has room today beside those who go before.
    """
    length_s = problem.horizon.length_s
    return decode_after(ahead, plan, length_s, from_s=0 if problem.defer == "full" else length_s)
