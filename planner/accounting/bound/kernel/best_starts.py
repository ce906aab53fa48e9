"""What each job earns above given prices with its best start; exactly, and in a smooth form for the search of prices.

Prices are constant within slots, so what a job earns is straight in its start between the moments at which its start or
its end passes an edge of a slot. So it is greatest at one of these moments, or at the first or the last at which the
job may start.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from planner.compiled import by_address, kernel, part
from planner.compiled.edges import piece_at
from planner.domain.columns import Floats, Ints
from planner.domain.waits import DUE, LATE, RATE, READY, TWICE_H
from planner.units import SECONDS_PER_HOUR

HARDLY = -30.0
"""A start that is this many times the smoothing below the best has no part in the smooth form."""


@by_address
class OfferTable(NamedTuple):
    """The offers of all jobs, those of job i from ``first[i]`` on; ``is_owed`` are the jobs that must start.

    ``edges`` are the bounds of the slots [s], ``counts`` is what the money of each counts. ``waits`` is what waiting
    counts (`planner.domain.waits`), one row per offer; no rows where it counts nothing.
    """

    first: Ints
    release: Ints
    latest: Ints
    duration: Ints
    eur_per_h: Floats
    uses: Floats
    is_owed: npt.NDArray[np.bool_]
    edges: Ints
    counts: Floats
    waits: Floats


@by_address
class StartList(NamedTuple):
    """The starts of one offer: when, in which slots they begin and end, and what they earn; and scratch space.

    ``saved`` is what each saves of the wait until the end, which no price changes, and ``value`` all that it earns.
    ``before`` is what is earned from the release to each edge, ``per_s`` what is earned a second in each slot. ``part``
    and ``change`` add up how long the starts of an offer run in each slot.
    """

    start: Ints
    begins: Ints
    ends: Ints
    saved: Floats
    value: Floats
    before: Floats
    per_s: Floats
    part: Floats
    change: Floats


def start_list(slots: int) -> StartList:
    """Room for the starts of one offer."""
    most = 2 * slots + 4
    whole, real = (lambda: np.zeros(most, np.int64)), (lambda: np.zeros(most))
    return StartList(whole(), whole(), whole(), real(), real(), real(), real(), real(), real())


@kernel
def best_values(offers, prices, found, most):
    """Write the most that each job earns above its price to ``most``, with each of some prices; what it has if it stays
    away is there already.
    """
    for job in range(most.shape[1]):
        for offer in range(offers.first[job], offers.first[job + 1]):
            count = _list_starts(offers, offer, found)
            for row in range(prices.shape[0]):
                _price_starts(offers, offer, prices[row], found, count)
                for place in range(count):
                    most[row, job] = max(most[row, job], found.value[place])


@kernel
def smooth_values(offers, price, found, first, last, smoothing, used, sums):
    """Add up the smooth form of some jobs, from ``first`` to before ``last``, and what they use by quantity and slot.

    The smooth form of the greatest of some values is m log of the sum of exp(value / m), with the job's smoothing m;
    it is no less than the greatest. ``sums`` gets the sum of it, and that of the greatest values.
    """
    for job in range(first, last):
        m, best, count = smoothing[job], -np.inf if offers.is_owed[job] else 0.0, 0
        has_many = offers.first[job + 1] - offers.first[job] > 1
        for offer in range(offers.first[job], offers.first[job + 1]):
            count = _list_priced(offers, offer, price, found)
            for place in range(count):
                best = max(best, found.value[place])
        weight = 0.0 if offers.is_owed[job] else np.exp(-best / m)
        for offer in range(offers.first[job], offers.first[job + 1]):
            if has_many:
                count = _list_priced(offers, offer, price, found)
            for place in range(count):
                below = (found.value[place] - best) / m
                weight += np.exp(below) if below > HARDLY else 0.0
        for offer in range(offers.first[job], offers.first[job + 1]):
            if has_many:
                count = _list_priced(offers, offer, price, found)
            _add_use(offers, offer, found, count, best, m, weight, used)
        sums[0] += best + m * np.log(weight)
        sums[1] += best


@part
def _list_priced(offers, offer, price, found):
    """List the starts at which an offer may earn the most, with what each earns; returns how many there are."""
    count = _list_starts(offers, offer, found)
    _price_starts(offers, offer, price, found, count)
    return count


@part
def _list_starts(offers, offer, found):
    """List the starts at which an offer may earn the most, whatever the prices; returns how many there are."""
    edges, slots = offers.edges, offers.edges.shape[0] - 1
    release, duration = offers.release[offer], offers.duration[offer]
    latest = min(offers.latest[offer], edges[slots] - 1)
    own = piece_at(edges, release)
    count, ends = np.int64(0), own
    for slot in range(own, slots):
        start = max(release, edges[slot])
        if start > latest:
            break
        ends = _note(offers, offer, found, count, start, slot, ends)
        count += 1
    _note(offers, offer, found, count, latest, piece_at(edges, latest), own)
    count += 1
    if offers.waits.shape[0] > 0 and release < offers.waits[offer, DUE] < latest:
        due = np.int64(offers.waits[offer, DUE])
        _note(offers, offer, found, count, due, piece_at(edges, due), own)
        count += 1
    begins = own
    for edge in range(piece_at(edges, min(release + duration, edges[slots] - 1)) + 1, slots + 1):
        start = edges[edge] - duration
        if start > latest:
            break
        if start < release:
            continue
        while edges[begins + 1] <= start:
            begins += 1
        _note(offers, offer, found, count, start, begins, edge - 1)
        count += 1
    return count


@part
def _note(offers, offer, found, place, start, begins, ends):
    """Note a start that begins in a slot, and what it saves; it ends in the given slot or later: returns which."""
    edges = offers.edges
    slots = edges.shape[0] - 1
    end = min(start + offers.duration[offer], edges[slots])
    while edges[ends + 1] < end:
        ends += 1
    found.start[place], found.begins[place], found.ends[place] = start, begins, ends
    if offers.waits.shape[0] > 0:
        wait = _wait_below(offers, offer, begins, start)
        if start == edges[begins] and begins > 0:
            wait = min(wait, _wait_below(offers, offer, begins - 1, start))
        found.saved[place] = _waiting(offers, offer, edges[slots]) - wait
    return ends


@part
def _price_starts(offers, offer, price, found, count):
    """Work out what each of the starts that are listed earns above a price."""
    edges, slots = offers.edges, price.shape[1]
    own = piece_at(edges, offers.release[offer])
    found.before[own] = 0.0
    for slot in range(own, slots):
        per_h = offers.eur_per_h[offer] * offers.counts[slot]
        for quantity in range(price.shape[0]):
            per_h -= offers.uses[offer, quantity] * price[quantity, slot]
        found.per_s[slot] = per_h / SECONDS_PER_HOUR
        found.before[slot + 1] = found.before[slot] + found.per_s[slot] * (edges[slot + 1] - edges[slot])
    for place in range(count):
        start, begins, ends = found.start[place], found.begins[place], found.ends[place]
        end = min(start + offers.duration[offer], edges[slots])
        until_end = found.before[ends] + found.per_s[ends] * (end - edges[ends])
        until_start = found.before[begins] + found.per_s[begins] * (start - edges[begins])
        found.value[place] = until_end - until_start
        if offers.waits.shape[0] > 0:
            found.value[place] += found.saved[place]


@part
def _wait_below(offers, offer, slot, start):
    """What the wait of a job counts at least that starts at a moment of a slot: by the tangent in its middle.

    Without being late, what waiting counts is convex, so that no tangent is above it, and straight within a slot, as
    prices are. Being late is straight before and after it begins, which is one of the moments that are looked at.
    """
    middle = (offers.edges[slot] + offers.edges[slot + 1]) / 2.0
    wait = max(0.0, (middle - offers.waits[offer, READY]) / SECONDS_PER_HOUR)
    slope = offers.waits[offer, RATE] * (1.0 + wait / TWICE_H) if wait > 0 else 0.0
    late = max(0.0, (start - offers.waits[offer, DUE]) / SECONDS_PER_HOUR)
    below = offers.waits[offer, RATE] * wait * (1.0 + wait / (2.0 * TWICE_H))
    return below + slope * (start - middle) / SECONDS_PER_HOUR + offers.waits[offer, LATE] * late


@part
def _waiting(offers, offer, moment):
    """What the wait of a job counts that starts at a moment."""
    wait = max(0.0, (moment - offers.waits[offer, READY]) / SECONDS_PER_HOUR)
    late = max(0.0, (moment - offers.waits[offer, DUE]) / SECONDS_PER_HOUR)
    rate = offers.waits[offer, RATE]
    return rate * wait * (1.0 + wait / (2.0 * TWICE_H)) + offers.waits[offer, LATE] * late


@part
def _add_use(offers, offer, found, count, best, m, weight, used):
    """Add what an offer uses, its starts mixed by their weights in the smooth form."""
    edges = offers.edges
    slots = edges.shape[0] - 1
    first, last = slots, np.int64(-1)
    for place in range(count):
        below = (found.value[place] - best) / m
        if below <= HARDLY:
            continue
        share = np.exp(below) / weight
        start, begins, ends = found.start[place], found.begins[place], found.ends[place]
        end = min(start + offers.duration[offer], edges[slots])
        first, last = min(first, begins), max(last, ends)
        if begins == ends:
            found.part[begins] += share * (end - start)
            continue
        found.part[begins] += share * (edges[begins + 1] - start)
        found.part[ends] += share * (end - edges[ends])
        found.change[begins + 1] += share
        found.change[ends] -= share
    running = 0.0
    for slot in range(first, last + 1):
        running += found.change[slot]
        hours = (found.part[slot] + running * (edges[slot + 1] - edges[slot])) / SECONDS_PER_HOUR
        found.change[slot], found.part[slot] = 0.0, 0.0
        for quantity in range(used.shape[0]):
            used[quantity, slot] += offers.uses[offer, quantity] * hours
