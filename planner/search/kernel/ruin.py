"""Which jobs a step of RebuildSearch takes out."""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.node_timelines import BEFORE, FOLLOWERS
from planner.machine.rng import below, fraction
from planner.search.kernel.search_state import SHORT, WIDE

DRAWS = 9
"""A step begins with the poorest of 1 to this many placed jobs drawn at random."""

REACH = 3
"""Neighbours lie at most 1 to this many times the wanted number of jobs away, in the order that is looked at."""

TRIES_PER_JOB = 4
"""Places looked at for each wanted neighbour, before a step does with fewer."""

GUEST_DRAWS = 24
"""A guest is the best-paying of 1 to this many waiting jobs drawn at random."""

FITTING_CHANCE = 0.8
"""Chance that guests are looked for among jobs that fit into what the jobs taken out leave."""


@part
def ruin(jobs, state, habits):
    """Choose the jobs of a step: some placed ones near each other in time or on the machine, and some waiting ones.

    With a placed job go those that wait for it, with a waiting one those that it waits for.
    """
    stream, out, placed = state.stream, state.out, state.placed[0]
    waiting = state.members.shape[0] - placed
    count = np.int64(0)
    if placed > 0:
        wanted = min(placed, 1 + below(stream, habits.largest))
        seed = state.members[below(stream, placed)]
        for _ in range(below(stream, DRAWS)):
            rival = state.members[below(stream, placed)]
            if state.worth[rival] < state.worth[seed]:
                seed = rival
        count = _add(jobs, state, count, seed, FOLLOWERS)
        row = below(stream, state.near.shape[0])
        reach = 1 + wanted * (1 + below(stream, REACH))
        for _ in range(TRIES_PER_JOB * wanted):
            if count >= wanted:
                break
            place = state.near_at[row, seed] + below(stream, 2 * reach + 1) - reach
            if 0 <= place < state.near.shape[1]:
                other = state.near[row, place]
                if state.start_of[other] >= 0 and state.slot[other] >= 0 and not _is_out(out, count, other):
                    count = _add(jobs, state, count, other, FOLLOWERS)
    if waiting > 0:
        guests = min(waiting, 1 + below(stream, habits.guests))
        tries = 1 + below(stream, GUEST_DRAWS)
        longest, widest = np.inf, np.inf
        if count > 0 and fraction(stream) < FITTING_CHANCE:
            longest, widest = 0.0, 0.0
            for index in range(count):
                longest = max(longest, state.keys[SHORT, out[index]])
                widest -= state.keys[WIDE, out[index]]
        for _ in range(guests):
            other, best_worth = state.members[placed + below(stream, waiting)], -np.inf
            for _ in range(tries):
                rival = state.members[placed + below(stream, waiting)]
                fits = state.keys[SHORT, rival] <= longest and -state.keys[WIDE, rival] <= widest
                if fits and state.worth[rival] > best_worth:
                    other, best_worth = rival, state.worth[rival]
            if not _is_out(out, count, other):
                count = _add(jobs, state, count, other, BEFORE)
    return count


@part
def _add(jobs, state, count, job, links):
    """Add a job and those tied to it, or nobody if they are too many or cannot come; returns the new number.

    With FOLLOWERS: a placed job and the placed ones that wait for it. With BEFORE: a waiting job and the waiting ones
    that it waits for.
    """
    if count == state.out.shape[0]:
        return count
    out, of_placed = state.out, links == FOLLOWERS
    out[count] = job
    place, taken = count, count + 1
    while place < taken:
        for row in range(jobs.link_ptr[links, out[place]], jobs.link_ptr[links, out[place] + 1]):
            other = jobs.link[links, row, 0]
            if (state.start_of[other] >= 0) == of_placed and not _is_out(out, taken, other):
                if taken == out.shape[0] or (not of_placed and state.slot[other] < 0):
                    return count
                out[taken] = other
                taken += 1
        place += 1
    return taken


@part
def _is_out(out, count, job):
    """Whether a job is among the chosen ones."""
    found = False
    for index in range(count):
        found |= out[index] == job
    return found
