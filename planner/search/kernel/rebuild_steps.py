"""The main loop of RebuildSearch: take a few jobs out, put them back otherwise, keep what pays.

One step: choose jobs that lie near each other, neighbours of one that earns little (`ruin`), lift them off the
timelines, let some waiting jobs compete with them, and place them all again one by one in a new order (`recreate`). The
day's profit is that of `settle`. A worse plan is kept with a probability that falls with the loss and with the
temperature; otherwise everything goes back to where it was, as it does when a job would miss a deadline that it met.

With a battery the profit is what no use of it exceeds, by the cuts that are known
(`planner.accounting.battery_dispatch`). A plan that would be the best by these waits for its own cut, with which its
profit is exact.

The same steps bring jobs forward in a plan that earns enough (`Habits.sooner`): they are then kept if all jobs are
placed again and start no later in sum, and the day earns no less than its best plan.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import kernel, part
from planner.machine.node_timelines import BEFORE, FOLLOWERS
from planner.machine.rng import below, fraction
from planner.search.kernel.money import profit
from planner.search.kernel.recreate import recreate
from planner.search.kernel.search_state import ACCEPTED, BEST, CURRENT, IMPROVED, SHORT, STEPS, WIDE, put_on, take_off

MOST_FOLLOWERS = 24
"""Jobs that a step may take out beside its own on a day with dependencies, because they wait for one of those."""

WORTH_A_CUT = 1e-5
"""A plan waits for its own cut where it seems to earn more than the best by this part of it."""

ENTRIES_PER_JOB = 4
"""Entries that a timeline keeps free for each job of a step: where it begins and ends now, and where it did before."""

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


@kernel
def rebuild(timelines, jobs, money, tally, state, habits, temperature, steps):
    """Take a number of steps; returns how many were taken.

    It takes fewer when a timeline may run out of room, or when the last step waits for a cut (`pending`).
    """
    if state.pending[0] == 0:
        state.profits[CURRENT] = profit(money, tally, timelines)
    for step in range(steps):
        count = state.pending[0]
        is_exact = count > 0 or money.cuts.shape[0] == 0
        state.pending[0] = 0
        if count == 0:
            if _is_tight(timelines, state):
                return step
            count = ruin(jobs, state, habits)
            if count == 0:
                if state.members.shape[0] == 0:
                    return steps
                continue
            _lift(timelines, jobs, money, tally, state, count)
            recreate(timelines, jobs, money, tally, state, habits, count)
        found = profit(money, tally, timelines)
        if not is_exact and not habits.sooner and found > state.profits[BEST] + WORTH_A_CUT * abs(state.profits[BEST]):
            state.pending[0] = count
            return step
        state.counts[STEPS] += 1
        if not _keeps_deadlines(timelines, state, count):
            is_kept = False
        elif habits.sooner:
            is_kept = found >= state.profits[BEST] and _is_no_later(state, count)
        else:
            loss = state.profits[CURRENT] - found
            is_kept = loss <= 0 or (temperature > 0 and fraction(state.stream) < np.exp(-loss / temperature))
        if is_kept:
            state.profits[CURRENT] = found
            state.counts[ACCEPTED] += 1
            if found > state.profits[BEST] and is_exact and not habits.sooner:
                state.counts[IMPROVED] += 1
                state.profits[BEST] = found
                _note_best(state)
        else:
            _undo(timelines, jobs, money, tally, state, count)
    return steps


@part
def _is_tight(timelines, state):
    """Whether a timeline might run out of room within one step."""
    margin = ENTRIES_PER_JOB * (state.out.shape[0] - 1)
    longest = np.int64(0)
    for node in range(timelines.length.shape[0]):
        longest = max(longest, timelines.length[node])
    return longest + margin > timelines.times.shape[1]


@part
def _lift(timelines, jobs, money, tally, state, count):
    """Take the chosen jobs off the timelines, and note where they were."""
    base = np.int64(0)
    for index in range(count):
        job = state.out[index]
        state.old_start_of[index] = state.start_of[job]
        units = state.node_of_unit[jobs.unit_ptr[job] : jobs.unit_ptr[job + 1]]
        for unit in range(units.shape[0]):
            state.old_nodes[base + unit] = units[unit]
        base += units.shape[0]
        if state.start_of[job] >= 0:
            take_off(timelines, jobs, money, tally, state, job)


@part
def _is_no_later(state, count):
    """Whether all jobs of a step are placed again, and start no later than before in sum."""
    later = np.int64(0)
    for index in range(count):
        start = state.start_of[state.out[index]]
        if start < 0:
            return False
        later += start - state.old_start_of[index]
    return later <= 0


@part
def _keeps_deadlines(timelines, state, count):
    """Whether jobs of a step whose deadline falls on them today start in time if they did, or else no later."""
    for index in range(count):
        job = state.out[index]
        start, before, latest = state.start_of[job], state.old_start_of[index], state.latest[job]
        if latest < timelines.day_end_s and before >= 0 and (start < 0 or start > max(before, latest)):
            return False
    return True


@part
def _undo(timelines, jobs, money, tally, state, count):
    """Put the jobs of a step back to where they were."""
    for index in range(count):
        if state.start_of[state.out[index]] >= 0:
            take_off(timelines, jobs, money, tally, state, state.out[index])
    base = np.int64(0)
    for index in range(count):
        job = state.out[index]
        units = state.node_of_unit[jobs.unit_ptr[job] : jobs.unit_ptr[job + 1]]
        for unit in range(units.shape[0]):
            units[unit] = state.old_nodes[base + unit]
        base += units.shape[0]
        if state.old_start_of[index] >= 0:
            put_on(timelines, jobs, money, tally, state, job, state.old_start_of[index])


@part
def _note_best(state):
    """Copy the present placement to the best one."""
    for job in range(state.start_of.shape[0]):
        state.best_start_of[job] = state.start_of[job]
    for unit in range(state.node_of_unit.shape[0]):
        state.best_node_of_unit[unit] = state.node_of_unit[unit]


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
