"""A day that is over, settled as it happened: nothing is decided, every job is accounted for."""

from __future__ import annotations

from planner.accounting.audit import require_clean
from planner.accounting.promises import promises_of
from planner.accounting.settle import settle
from planner.domain.books import Booked
from planner.domain.job import Job
from planner.domain.plan import Deferral, Plan
from planner.domain.result import Result
from planner.inputs.build import Day
from planner.planning.plan_day import PlannedDay

METHOD = "booked"
"""What stands where the name of a method would."""


def book_day(day: Day, booked: Booked) -> PlannedDay:
    """The ledger of what happened, and who waited when the day ended; InputError where it cannot be settled."""
    plan = Plan.of(day.problem, {})
    require_clean(day.problem, plan, leaves_room=True)
    ledger = settle(day.problem, plan)
    result = Result(plan, ledger, METHOD, "found", 0.0, METHOD, leaves_room=True)
    deferrals = (*(_waits(day, job) for job in day.problem.jobs), *day.rejected, *day.withdrawn)
    promises = promises_of(day.problem, plan, reason="as it happened")
    return PlannedDay(day, result, day.problem, ledger, deferrals, None, promises=promises, booked=booked)


def _waits(day: Day, job: Job) -> tuple[Job, Deferral]:
    """A job that had not started; a day on which it may not begin is none that deferred it."""
    horizon = day.problem.horizon
    is_held = job.release_unix >= horizon.end_unix
    reason = "had not started when the day ended"
    if is_held:
        reason = f"may not begin before {horizon.to_datetime(horizon.to_s(job.release_unix)).isoformat()}"
    return job, Deferral(job.id, "deferred", reason, day.situation.times_deferred.get(job.id, 0) + (not is_held))
