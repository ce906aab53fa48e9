"""What a job earns, and what its energy costs by the prices of the hours in which it runs."""

from __future__ import annotations

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
