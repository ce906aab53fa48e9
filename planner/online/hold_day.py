"""A day under the policy ``hold``: as it is planned from now on, and as it is carried out with real runtimes.

Both are replays from what is true now. A plan lets every job run as long as planning thinks; carrying a day out, jobs
become known when they are submitted and end when they really do.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.domain.plan import Plan
from planner.domain.problem import Problem, executed
from planner.domain.result import Hold, Listener, Result
from planner.online.audit_replay import require_sound
from planner.online.day_replay import DayTrace
from planner.online.easy_and_rules import result_of
from planner.online.estimates import estimate_named
from planner.online.holding import Holding
from planner.online.policies import policy_named
from planner.online.replay import Replay
from planner.units import SECONDS_PER_HOUR

METHOD = "hold"


NEVER_AGAIN_S = 10**9
"""In a plan holds are decided once, with what is known now."""


def look_ahead(problem: Problem, holding: Holding, on_trial: Listener | None = None) -> Result:
    """The time ahead as the site's scheduler goes through it, with every job as long as planning thinks.

    Its holds are those of jobs that the scheduler would start before holds are decided anew, or would have started. How
    strongly to hold is decided no more often than when days are carried out: a plan of the same hour as the last
    decision keeps to that.
    """
    every_s, now_unix = holding.params.every_s, problem.horizon.start_unix + problem.now_s
    before = holding.strength
    is_decided = before is not None and before.decided_unix // every_s == now_unix // every_s
    params = replace(holding.params, every_s=NEVER_AGAIN_S)
    found = _play(problem, problem, replace(holding, params=params, is_decided=is_decided), None, on_trial)
    next_unix = now_unix + every_s
    return replace(found, holds=tuple(each for each in found.holds if each.reference_unix < next_unix))


def carry_out(
    problem: Problem, holding: Holding, *, estimate: str = "requested", on_trial: Listener | None = None
) -> Result:
    """The day with real runtimes; the plan is one of the day as it was carried out."""
    return _play(problem, executed(problem), holding, estimate, on_trial)


def _play(problem: Problem, real: Problem, holding: Holding, estimate: str | None, on_trial: Listener | None) -> Result:
    """The result of a replay of the problem, in which jobs are as long as in the real one."""
    plan = Plan.of(real, {})
    holds: tuple[Hold, ...] = ()
    strength = holding.strength
    if problem.jobs:
        day = DayTrace(problem, real, holding.history)
        thought = None if estimate is None else estimate_named(estimate).make_whole(day.trace)
        happened = day.play(policy_named(METHOD), thought, holding=holding)
        require_sound(happened)
        plan, holds = day.plan_of(happened), _holds_of(day, happened, problem.horizon.start_unix + problem.now_s)
        strength = strength if happened.strength is None else happened.strength
    return result_of(real, plan, METHOD, on_trial, holds=holds, strength=strength)


def _holds_of(day: DayTrace, happened: Replay, now_unix: int) -> tuple[Hold, ...]:
    """The jobs of a day that were held, or are at the end."""
    found = []
    for index in np.flatnonzero(happened.held_until_s >= 0).tolist():
        reference_s, until_s, latest_s = (
            int(each[index]) for each in (happened.reference_s, happened.held_until_s, happened.latest_s)
        )
        waiting_h = max(0, until_s - max(now_unix - day.origin_unix, reference_s)) / SECONDS_PER_HOUR
        found.append(
            Hold(
                job_id=day.trace.ids[index],
                reference_unix=day.origin_unix + reference_s,
                until_unix=day.origin_unix + until_s,
                latest_unix=day.origin_unix + latest_s,
                saved_eur=float(happened.saved_eur[index]),
                waiting_eur=happened.eur_per_waiting_hour * waiting_h,
            )
        )
    return tuple(found)
