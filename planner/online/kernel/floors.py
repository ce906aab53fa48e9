"""Moments before which a job of a plan cannot start, learned from the jobs that were placed before it.

Who asks at least as much as another job starts no earlier in a plan, since a plan only fills up.
"""

from __future__ import annotations

from planner.compiled import part

# Rows of the table of what was learned.
WHO, WHEN = range(2)

REMEMBERED_STARTS = 32
"""How many starts of a plan are kept to bound later ones."""


@part
def floor_of(state, job, earliest):
    """A moment before which a job cannot start."""
    floor = earliest
    for place in range(min(state.clock.learned, REMEMBERED_STARTS)):
        if state.learned[WHEN, place] > floor and _asks_no_more(state, state.learned[WHO, place], job):
            floor = state.learned[WHEN, place]
    return floor


@part
def learn(state, job, start):
    """Remember the start of a job that was free to take any nodes, if all its units are of one size."""
    if state.first[job + 1].group - state.first[job].group == 1:
        place = state.clock.learned % REMEMBERED_STARTS
        state.learned[WHO, place], state.learned[WHEN, place] = job, start
        state.clock.learned += 1


@part
def _asks_no_more(state, one, other):
    """Whether one job asks for no more than the first group of another, for no longer."""
    group, larger = state.first[one].group, state.first[other].group
    if state.jobs[one].estimate > state.jobs[other].estimate or state.group_count[group] > state.group_count[larger]:
        return False
    if state.clock.limited > 0 and state.jobs[one].power > state.jobs[other].power:
        return False
    for resource in range(state.group_amount.shape[1]):
        if state.group_amount[group, resource] > state.group_amount[larger, resource]:
            return False
    return True
