"""The rule by which a job is held that could start now: at which quarter of an hour it costs least.

Prices and room are told per quarter of an hour. ``paid`` is what a kW costs from the moment ``paid_from`` until each
quarter after it [EUR], so that what a stretch of time costs is a difference; ``room`` is the width that each quarter
from ``room_from`` on has left, and all that comes after them has room. The simulator uses the rule on the jobs of the
day, and the look ahead that decides how much is held on the jobs of tomorrow.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import part

QUARTER_S = np.int64(900)

SECONDS_PER_HOUR = 3600.0

LEAST_GAIN = 1e-9
"""What a later start must save at least, as a part of the cost of starting now: less is rounding."""


@part
def cheapest_start(
    paid, paid_from, least_eur_per_kwh, room, room_from, width, power_kw, lengths, count, now, last, eur_per_hour
):
    """When a job had best start from now to ``last``: now, or at a quarter of an hour with room for it.

    Its energy costs the mean over so many likely lengths; an hour of waiting counts for ``eur_per_hour``. A kWh costs
    at least ``least_eur_per_kwh`` at any time.
    """
    cost_now = mean_cost(paid, paid_from, power_kw, lengths, count, now)
    best, start = cost_now - LEAST_GAIN * abs(cost_now), now
    length = mean_length(lengths, count)
    least = power_kw * length / SECONDS_PER_HOUR * least_eur_per_kwh
    moment = paid_from + ((now - paid_from) // QUARTER_S + 1) * QUARTER_S
    while moment <= last:
        waiting = eur_per_hour * (moment - now) / SECONDS_PER_HOUR
        if waiting + least >= best:
            break
        cost = mean_cost(paid, paid_from, power_kw, lengths, count, moment) + waiting
        if cost < best and has_room(room, room_from, width, moment, moment + np.int64(length)):
            best, start = cost, moment
        moment += QUARTER_S
    return start


@part
def mean_cost(paid, paid_from, power_kw, lengths, count, start):
    """What the energy of a job costs from a start on, as the mean over so many likely lengths [EUR]."""
    before = paid_until(paid, paid_from, start)
    total = 0.0
    for k in range(count):
        total += paid_until(paid, paid_from, start + lengths[k]) - before
    return power_kw * total / count


@part
def mean_length(lengths, count):
    """The mean of so many likely lengths [s]."""
    total = 0.0
    for k in range(count):
        total += lengths[k]
    return max(1.0, total / count)


@part
def paid_until(paid, paid_from, moment):
    """What a kW costs until a moment [EUR]; beyond the last quarter as much as on average before."""
    quarters = paid.shape[0] - 1
    place = (moment - paid_from) / QUARTER_S
    if place >= quarters:
        return paid[quarters] + (place - quarters) * paid[quarters] / quarters
    if place <= 0.0:
        return 0.0
    entry = np.int64(place)
    return paid[entry] + (paid[entry + 1] - paid[entry]) * (place - entry)


@part
def has_room(room, room_from, width, start, end):
    """Whether every quarter of an hour from start to end has a width left."""
    first, last = (start - room_from) // QUARTER_S, (end - room_from - 1) // QUARTER_S
    quarter, end_quarter = max(np.int64(0), first), min(last + 1, room.shape[0])
    while quarter < end_quarter and room[quarter] >= width:
        quarter += 1
    return quarter >= end_quarter


@part
def take_room(room, room_from, width, start, end):
    """Take a width from every quarter of an hour from start to end; a negative width gives it back."""
    first, last = (start - room_from) // QUARTER_S, (end - room_from - 1) // QUARTER_S
    for quarter in range(max(np.int64(0), first), min(last + 1, room.shape[0])):
        room[quarter] -= width
