"""What a start of a waiting job counts for under a local objective (`planner.online.objectives`)."""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.online.kernel.energy import SECONDS_PER_HOUR, earned

RESPONSE, WORK, SLOWDOWN, POWER_SUM, POWER_RATIO, SHORT, PROFIT, AGED = np.arange(8, dtype=np.int64)
"""The forms of objectives, in the order of `planner.online.objectives.FORMS`."""

LEAST_RUNTIME_S = 10.0
"""A slowdown counts a shorter job as one of this length."""

DAY_S = 86400.0
"""Times are raised to powers in days, so that the sums of long waits are numbers of an ordinary size."""

MILLI = 1000.0


@part
def cost(state, job, start):
    """What a start adds to the objective."""
    length = float(max(np.int64(1), state.jobs[job].estimate))
    wait = float(start - state.jobs[job].ready)
    if state.clock.objective == PROFIT:
        return _profit_missed(state, job, start, start + max(np.int64(1), state.jobs[job].estimate))
    found = cost_of(state.clock.objective, state.clock.exponent, state.jobs[job].width, length, wait)
    if state.jobs[job].rank_first < 0:
        found *= -state.jobs[job].rank_first / MILLI
    return found


@part
def _profit_missed(state, job, start, end):
    """What the waiting of a job counts for, less what it earns in the time ahead [EUR]; a priority changes neither."""
    until = state.clock.now + state.clock.ahead_s
    missed = state.clock.eur_per_waiting_hour * (start - state.jobs[job].ready) / SECONDS_PER_HOUR
    return missed - earned(state, job, start, min(end, until)) if start < until else missed


@part
def power_term(state, job, start, more):
    """Width times the difference of response and wait, each raised to the exponent and so much more."""
    length = float(max(np.int64(1), state.jobs[job].estimate))
    wait = float(start - state.jobs[job].ready)
    return _powers_apart(state.jobs[job].width, length, wait, state.clock.exponent + more)


@part
def cost_of(form, exponent, width, length, wait):
    """What a job of a width and a length adds to a sum after a wait [s]; the form is none of quotients."""
    if form == RESPONSE:
        return wait + length
    if form == WORK:
        return width * length * (wait + length)
    if form == SLOWDOWN:
        return max(1.0, (wait + length) / max(length, LEAST_RUNTIME_S))
    if form == SHORT:
        return (wait + length) * length**exponent
    if form == AGED:
        response = (wait + length) / DAY_S
        return response * (response * response * DAY_S / length) ** exponent
    return _powers_apart(width, length, wait, exponent + 2.0)


@part
def _powers_apart(width, length, wait, power):
    """Width times the difference of response and wait, each in days and raised to a power."""
    before = wait / DAY_S
    response = before + length / DAY_S
    if power == 4.0:  # faster than raising to a power
        return width * (response * response - before * before) * (response * response + before * before)
    return width * (response**power - before**power)
