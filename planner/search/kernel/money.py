"""The profit of a placement, as `settle` gives it, kept up to date job by job.

The day is cut into pieces at the edges of segments and of demand intervals. ``energy`` holds the IT energy of the jobs
in each piece [mW s], in whole numbers: adding a job and taking it away again leaves it as it was.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from planner.compiled import by_address, part
from planner.compiled.edges import piece_at
from planner.domain.columns import Floats, Ints
from planner.domain.waits import DUE, LATE, RATE, READY, TWICE_H
from planner.units import MILLIWATT_SECONDS_PER_KWH, SECONDS_PER_HOUR


@by_address
class Money(NamedTuple):
    """What a placement earns and costs.

    Attributes
    ----------
    edges, segment_of, interval_of
        Bounds of the pieces [s], and the segment and demand interval of each.
    length
        Length of each segment [s].
    counts
        What the money of each segment counts.
    price
        Cost of a bought kWh in each segment, fees and carbon included, times what it counts [EUR].
    solar
        Energy of the site's photovoltaics in each segment that it uses itself [kWh].
    feed
        What a kWh of that earns when it is fed in instead, times what it counts [EUR].
    cooling
        Cooling energy per IT energy of each segment and table row.
    grid
        First power of the table and its step [mW].
    interval_length
        Length of each demand interval [s].
    demand
        Charge on the day's peak [EUR/kW], and the peak that is charged already [kW].
    earns
        What a unit of each group earns a second [EUR].
    idle
        What each node draws more while it is on and empty than in use, besides its jobs [mW].
    sleeps, rests
        What each node draws less asleep than idle [mW]; after how long without work it sleeps, and how long it takes to
        wake up [s].
    waits
        What waiting counts (`planner.domain.waits`), one row per job; no rows where it counts nothing.
    cuts, cut_count
        Costs that no battery goes below (`planner.accounting.battery_dispatch`), one in each row, and how many are
        known; no rows without a battery.
    room, spare
        Most that the battery takes or gives in each segment, and the sun there that the site leaves to it [kWh].
    """

    edges: Ints
    segment_of: Ints
    interval_of: Ints
    length: Ints
    counts: Floats
    price: Floats
    solar: Floats
    feed: Floats
    cooling: Floats
    grid: Ints
    interval_length: Ints
    demand: Floats
    earns: Floats
    idle: Ints
    sleeps: Ints
    rests: Ints
    waits: Floats
    cuts: Floats
    cut_count: Ints
    room: Floats
    spare: Floats


@by_address
class Tally(NamedTuple):
    """What a placement adds up to; the rest is scratch space.

    ``energy`` is that of the jobs by piece, ``revenue`` what they earn. ``rate`` is filled by `profit`: the cost of one
    more kWh of IT energy in each segment, at its present cooling. ``by_segment`` is the IT energy of each segment, with
    the idle energy that `profit` last found; ``asked`` is what a battery's cuts are about.
    """

    energy: Ints
    revenue: Floats
    idle: Ints
    by_segment: Ints
    by_interval: Floats
    rate: Floats
    asked: Floats


@part
def add_energy(money, energy, power, start, end):
    """Add the energy of a power from start to end to the pieces; a negative power takes it away."""
    last = money.edges.shape[0] - 1
    piece = piece_at(money.edges, start)
    while piece < last and money.edges[piece] < end:
        seconds = min(end, money.edges[piece + 1]) - max(start, money.edges[piece])
        energy[piece] += power * seconds
        piece += 1


@part
def add_job(money, tally, jobs, job, start, sign):
    """Add a job at a start to a tally, or take it away with a sign of -1."""
    end = min(start + jobs.duration[job], money.edges[-1])
    piece, last = piece_at(money.edges, start), money.edges.shape[0] - 1
    while piece < last and money.edges[piece] < end:
        seconds = min(end, money.edges[piece + 1]) - max(start, money.edges[piece])
        tally.energy[piece] += sign * jobs.power[job] * seconds
        tally.by_segment[money.segment_of[piece]] += sign * jobs.power[job] * seconds
        piece += 1
    tally.revenue[0] += sign * counted_seconds(money, start, end) * _earns_per_s(money, jobs, job)
    if money.waits.shape[0] > 0:
        # All jobs count as waiting until the end; one that is placed waits less.
        tally.revenue[0] += sign * (waiting_eur(money, job, money.edges[-1]) - waiting_eur(money, job, start))


@part
def waiting_eur(money, job, start):
    """What the wait of a job counts that starts at a moment [EUR]."""
    wait = max(0.0, (start - money.waits[job, READY]) / SECONDS_PER_HOUR)
    late = max(0.0, (start - money.waits[job, DUE]) / SECONDS_PER_HOUR)
    return money.waits[job, RATE] * wait * (1.0 + wait / (2.0 * TWICE_H)) + money.waits[job, LATE] * late


@part
def counted_seconds(money, start, end):
    """Seconds between a start and an end within the horizon, each as much as its segment counts."""
    counted = 0.0
    piece, last = piece_at(money.edges, start), money.edges.shape[0] - 1
    while piece < last and money.edges[piece] < end:
        seconds = min(end, money.edges[piece + 1]) - max(start, money.edges[piece])
        counted += seconds * money.counts[money.segment_of[piece]]
        piece += 1
    return counted


@part
def _earns_per_s(money, jobs, job):
    """What a job earns a second."""
    per_s = 0.0
    for group in range(jobs.group_ptr[job], jobs.group_ptr[job + 1]):
        for _ in range(jobs.group_count[group]):
            per_s += money.earns[group]
    return per_s


@part
def profit(money, tally, timelines):
    """The day's profit [EUR]; also fills the tally's rates."""
    pieces, segments = money.segment_of.shape[0], money.length.shape[0]
    _idle_energy(money, tally, timelines)
    for segment in range(segments):
        tally.by_segment[segment] = 0
    for piece in range(pieces):
        tally.by_segment[money.segment_of[piece]] += tally.energy[piece] + tally.idle[piece]
    total = tally.revenue[0]
    for segment in range(segments):
        share = cooling_share(money, segment, tally.by_segment[segment])
        bought = bought_kwh(money, segment, tally.by_segment[segment])
        total -= bought * money.price[segment]
        marginal = money.price[segment] if bought > 0 or money.solar[segment] == 0 else money.feed[segment]
        tally.rate[segment] = (1.0 + share) * marginal
        if money.feed[segment] > 0:
            total += fed_kwh(money, segment, tally.by_segment[segment]) * money.feed[segment]
    if money.demand[0] > 0:
        _fill_intervals(money, tally)
    if money.cuts.shape[0] > 0:
        total -= _least_battery_cost(money, tally) - money.demand[0] * money.demand[1]
    elif money.demand[0] > 0:
        total -= money.demand[0] * (_peak_kw(money, tally) - money.demand[1])
    return total


@part
def _least_battery_cost(money, tally):
    """The highest of the costs that no battery goes below, with the charge on the whole peak [EUR]."""
    asked, segments = tally.asked, money.length.shape[0]
    for segment in range(segments):
        energy = tally.by_segment[segment]
        asked[segment] = min(money.room[segment], money.spare[segment] + fed_kwh(money, segment, energy))
        asked[segments + segment] = min(money.room[segment], bought_kwh(money, segment, energy))
    for interval in range(asked.shape[0] - 2 * segments):
        asked[2 * segments + interval] = tally.by_interval[interval]
    least = -np.inf
    for row in range(money.cut_count[0]):
        cost = money.cuts[row, 0]
        for column in range(asked.shape[0]):
            cost += money.cuts[row, column + 1] * asked[column]
        least = max(least, cost)
    return least


@part
def bought_kwh(money, segment, energy):
    """What a segment with that IT energy buys, beyond its sun [kWh]."""
    site_kwh = energy / MILLIWATT_SECONDS_PER_KWH * (1.0 + cooling_share(money, segment, energy))
    return max(0.0, site_kwh - money.solar[segment])


@part
def fed_kwh(money, segment, energy):
    """What a segment with that IT energy leaves of its sun, to be fed in [kWh]."""
    site_kwh = energy / MILLIWATT_SECONDS_PER_KWH * (1.0 + cooling_share(money, segment, energy))
    return max(0.0, money.solar[segment] - site_kwh)


@part
def cooling_share(money, segment, energy):
    """Cooling energy per IT energy of a segment, at the table's row for its mean power."""
    if energy <= 0:
        return 0.0
    return money.cooling[segment, min(max(table_row(money, segment, energy), 0), money.cooling.shape[1] - 1)]


@part
def table_row(money, segment, energy):
    """The row of the table for the mean power of a segment with that IT energy, within the table or beyond it."""
    length, step = money.length[segment], money.grid[1]
    return (2 * (energy - money.grid[0] * length) + step * length) // (2 * step * length)


@part
def end_of_row(money, segment, row):
    """The least IT energy of a segment at which the next row of the table holds [mW s]."""
    length, step = money.length[segment], money.grid[1]
    return money.grid[0] * length + ((2 * row + 1) * step * length + 1) // 2


@part
def _fill_intervals(money, tally):
    """Fill ``by_interval`` with what is bought in each demand interval without a battery [kWh]."""
    for interval in range(money.interval_length.shape[0]):
        tally.by_interval[interval] = 0.0
    for piece in range(money.segment_of.shape[0]):
        segment = money.segment_of[piece]
        share = cooling_share(money, segment, tally.by_segment[segment])
        site = (tally.energy[piece] + tally.idle[piece]) / MILLIWATT_SECONDS_PER_KWH * (1.0 + share)
        sun = money.solar[segment] * (money.edges[piece + 1] - money.edges[piece]) / money.length[segment]
        tally.by_interval[money.interval_of[piece]] += max(0.0, site - sun)


@part
def _peak_kw(money, tally):
    """Highest mean bought power over the demand intervals, at least the peak so far [kW]."""
    peak = money.demand[1]
    for interval in range(money.interval_length.shape[0]):
        peak = max(peak, tally.by_interval[interval] * 3600.0 / money.interval_length[interval])
    return peak


@part
def _idle_energy(money, tally, timelines):
    """What nodes draw while nothing runs on them, by piece, less where they sleep."""
    for piece in range(tally.idle.shape[0]):
        tally.idle[piece] = 0
    for node in range(money.idle.shape[0]):
        if money.idle[node] == 0 and money.sleeps[node] == 0:
            continue
        since = np.int64(-1)
        for entry in range(timelines.length[node]):
            begin = timelines.times[node, entry]
            if begin >= money.edges[-1]:
                break
            empty = True
            for resource in range(timelines.free.shape[2]):
                empty &= timelines.free[node, entry, resource] == timelines.capacity[node, resource]
            if empty and since < 0:
                since = begin
            elif not empty and since >= 0:
                _add_rest(money, tally, node, since, begin)
                since = np.int64(-1)
        if since >= 0:
            _add_rest(money, tally, node, since, money.edges[-1])


@part
def _add_rest(money, tally, node, start, end):
    """Add a stretch in which nothing runs on a node, in whose middle it may sleep."""
    add_energy(money, tally.idle, money.idle[node], start, end)
    if money.sleeps[node] > 0:
        asleep, awake = start + money.rests[0], end
        if end < money.edges[-1]:
            awake -= money.rests[1]
        if asleep < awake:
            add_energy(money, tally.idle, -money.sleeps[node], asleep, awake)
