"""What the energy of a job costs, by the prices of the hours in which it runs."""

from __future__ import annotations

from planner.compiled import part
from planner.online.kernel.state import POWER

MILLIWATTS_PER_KW = 1e6


@part
def energy_cost(state, job, start, end):
    """What a job's energy costs from start to end, no price being below the level [EUR]."""
    return state.job[POWER, job] / MILLIWATTS_PER_KW * (_paid(state, end) - _paid(state, start))


@part
def _paid(state, moment):
    """What a kW costs from the first moment of the prices until a given one [EUR]."""
    edges, sums = state.price_s, state.price_sum
    low, high = 0, edges.shape[0] - 1
    if moment <= edges[0]:
        return 0.0
    if moment >= edges[high]:
        return sums[high]
    while high - low > 1:
        middle = (low + high) // 2
        if edges[middle] <= moment:
            low = middle
        else:
            high = middle
    return sums[low] + (sums[high] - sums[low]) * (moment - edges[low]) / (edges[high] - edges[low])
