"""What a start of a waiting job counts for under a local objective (`planner.online.objectives`)."""

from __future__ import annotations

import numpy as np

from planner.compiled import part

MILLIWATTS_PER_KW = 1e6

SECONDS_PER_HOUR = 3600.0


@part
def earned(state, job, start, end):
    """What a job earns from start to end, less its energy [EUR]."""
    revenue = state.clock.eur_per_width_hour * state.jobs[job].width * (end - start) / SECONDS_PER_HOUR
    return revenue - energy_cost(state, job, start, end)


@part
def energy_cost(state, job, start, end):
    """What a job's energy costs from start to end [EUR]."""
    return state.jobs[job].power / MILLIWATTS_PER_KW * (_paid(state, end) - _paid(state, start))


@part
def _paid(state, moment):
    """What a kW costs from the first moment of the prices until a given one [EUR]."""
    edges, sums = state.price_s, state.price_sum
    entry = entry_after(state, moment)
    if entry == 0:
        return 0.0
    if entry == edges.shape[0]:
        return sums[entry - 1]
    span = edges[entry] - edges[entry - 1]
    return sums[entry - 1] + (sums[entry] - sums[entry - 1]) * (moment - edges[entry - 1]) / span


@part
def entry_after(state, moment):
    """The first change of price after a moment; the number of changes if there is none."""
    low, high = 0, state.price_s.shape[0]
    while low < high:
        middle = (low + high) // 2
        if state.price_s[middle] <= moment:
            low = middle + 1
        else:
            high = middle
    return low


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
