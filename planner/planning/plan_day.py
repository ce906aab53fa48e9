"""One day planned: a method run on its problem, the plan audited and carried out, and every job accounted for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from planner.accounting.audit import audit
from planner.accounting.bound import Bound, profit_bound
from planner.accounting.broken import why_broken
from planner.accounting.settle import settle
from planner.defaults import BOUND_TIME_S
from planner.domain.executed import executed
from planner.domain.job import Job
from planner.domain.ledger import Ledger
from planner.domain.plan import Deferral
from planner.domain.problem import Problem
from planner.domain.result import Result
from planner.errors import AuditError
from planner.inputs.build import Day
from planner.methods import Params, method_named
from planner.planning.ready import make_ready
from planner.search.stop import MaxRuntime

BOUND_TOLERANCE = 5e-4
"""The bound is at most this part above the best one: 0.05 % in a gap of a percent is near enough, and quick."""


@dataclass(frozen=True)
class PlannedDay:
    """A day with its audited result and its bound; every known job is placed, deferred or rejected.

    Attributes
    ----------
    result
        The plan, with the ledger that it promises.
    happened, ledger
        The day as it was carried out, and its ledger. With ``execute: actual`` jobs end at their real runtime; else
        these are the problem itself and the ledger of the result.
    deferrals
        Jobs that do not start today, with reasons.
    bound
        Limit on the profit of any plan; None when it was not asked for.
    """

    day: Day
    result: Result
    happened: Problem
    ledger: Ledger
    deferrals: tuple[tuple[Job, Deferral], ...]
    bound: Bound | None


def plan_day(
    day: Day,
    method: str,
    params: Params,
    *,
    bound_time_s: float = BOUND_TIME_S,
    on_bound: Callable[[float], None] | None = None,
) -> PlannedDay:
    """Plan a day, audit the plan and bound the profit of all plans.

    A plan that breaks a rule is a bug of its method; the best simple plan that breaks none then stands in for it, and
    the result says so.

    The bound is worked out beside the search, which has its own time limit: ``on_bound`` is called with it while the
    search goes on. ``bound_time_s`` 0 leaves the bound out.
    """
    given_up = threading.Event()
    with ThreadPoolExecutor(max_workers=1) as pool:
        bounding = pool.submit(_bound, day.problem, bound_time_s, on_bound, given_up)
        try:
            make_ready(method, day.problem)
            result = method_named(method)(day.problem, params, MaxRuntime(params.time_limit_s))
            result = accepted(day.problem, result)
            bound = bounding.result()
        except BaseException:
            given_up.set()
            raise
    happened, ledger = day.problem, result.ledger
    if day.scenario.rules.execute == "actual":
        happened = executed(day.problem)
        ledger = settle(happened, result.plan)
    deferrals = (*_deferred(day, result), *day.rejected)
    _require_all_told(day, result, deferrals)
    return PlannedDay(day, result, happened, ledger, deferrals, bound)


def accepted(problem: Problem, result: Result) -> Result:
    """The result if the audit accepts its plan; else the best plan of one ordering that it accepts, else a rule's.

    A site must not be left without a plan. AuditError when not even these keep the rules.
    """
    why = why_broken(result.method, audit(problem, result.plan, leaves_room=result.leaves_room))
    if not why:
        return result
    for other in _simple_results(problem):
        if not audit(problem, other.plan, leaves_room=other.leaves_room):
            return replace(other, stands_in_for=why)
    raise AuditError(why)


def _simple_results(problem: Problem) -> Iterator[Result]:
    """Results without any search: one for each ordering, the best first, then the oldest rule's."""
    from planner.online.day_rules import walk_rule
    from planner.search.multisearch import multisearch
    from planner.search.orderings import ORDERINGS

    single = [multisearch(problem, orderings=(ordering,)) for ordering in ORDERINGS]
    yield from sorted(single, key=lambda result: -result.ledger.profit_eur)
    yield walk_rule(problem, "est")


def _bound(
    problem: Problem, time_s: float, on_bound: Callable[[float], None] | None, given_up: threading.Event
) -> Bound | None:
    if time_s <= 0:
        return None
    bound = profit_bound(
        problem, time_limit_s=time_s, tolerance=BOUND_TOLERANCE, is_wanted=lambda: not given_up.is_set()
    )
    if on_bound is not None:
        on_bound(bound.profit_eur)
    return bound


def _require_all_told(day: Day, result: Result, deferrals: tuple[tuple[Job, Deferral], ...]) -> None:
    """AuditError unless every job that is known to the day is accounted for exactly once."""
    placed = [placement.job_id for placement in result.plan.placements(day.problem)]
    told = sorted([*placed, *(why.job_id for _, why in deferrals)])
    known = sorted([*(job.id for job in day.problem.jobs), *(job.id for job, _ in day.rejected)])
    if told != known:
        raise AuditError(f"of {len(known)} jobs known to {day.problem.horizon.day}, {len(told)} are accounted for")


def _deferred(day: Day, result: Result) -> list[tuple[Job, Deferral]]:
    problem, before = day.problem, day.times_deferred
    late = problem.columns.latest_start_s < problem.horizon.length_s
    deferred = []
    for index in np.flatnonzero(~result.plan.is_placed):
        job = problem.jobs[index]
        asked = " and ".join(f"{group.count} x {_words(group.amounts)}" for group in job.units)
        reason = f"no room today for {asked} during {job.requested_s / 3600:.2f} h"
        if result.leaves_room:
            reason = f"its turn did not come today under the rule {result.method}"
        elif problem.defer == "free":
            reason = "not started today: another plan without it earns more, or there is no room"
        if late[index]:
            reason += "; misses its deadline"
        deferred.append((job, Deferral(job.id, "deferred", reason, before.get(job.id, 0) + 1)))
    return deferred


def _words(amounts: tuple[tuple[str, float], ...]) -> str:
    return ", ".join(f"{amount:g} {name}" for name, amount in amounts)
