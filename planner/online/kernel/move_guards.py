"""Make room now for a job by moving the guards of others, as far as their promises allow."""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.kth_smallest import smallest
from planner.machine.timeline import room_until
from planner.online.kernel.nodes import has_room, latest_start
from planner.online.kernel.reservation_rounds import bring_back, cancel, keep, note
from planner.online.kernel.state import (
    ESTIMATE,
    GROUPS,
    LATEST,
    MACHINE,
    MOVED,
    NODE,
    NODES,
    QUEUE,
    QUEUED,
    RESERVED,
    UNITS,
)

MOST_MOVED = 32
"""A job that stands against the guards of more jobs than this stays where it is."""

CHOSEN = np.int64(-2)
"""Marks a node that the job is to have."""


@part
def make_room(state, job, now):
    """Give a job room now where only guards are in its way, if each of them has another place within its promise.

    If so the job holds its nodes from now on; else everything stays as it was.
    """
    note(state, job)
    cancel(state, job)
    if _choose_idle_nodes(state, job, now):
        moved = _lift_guards(state, job, now)
        if moved <= MOST_MOVED and has_room(state, MACHINE, job, now):
            keep(state, job, now)
            if _guard_again(state, moved, now):
                return True
            cancel(state, job)
        for place in range(moved):
            bring_back(state, state.job[MOVED, place])
    bring_back(state, job)
    return False


@part
def _choose_idle_nodes(state, job, now):
    """Give each unit a node of its own that is idle now, those first whose next guard is the latest; False if too few.

    The chosen nodes are marked.
    """
    end = now + max(np.int64(1), state.job[ESTIMATE, job])
    nodes, until, ranked = state.clock[NODES], state.known, state.ready
    for node in range(nodes):
        until[node] = 0
    unit = state.ptr[UNITS, job]
    for group in range(state.ptr[GROUPS, job], state.ptr[GROUPS, job + 1]):
        amount, count = state.group_amount[group], state.group_count[group]
        found = np.int64(0)
        for node in range(nodes):
            if until[node] != CHOSEN:
                until[node] = room_until(state.times, state.free, state.length, node, amount, now, end)
                if until[node] > now:
                    ranked[found] = -until[node]
                    found += 1
        if found < count:
            return False
        latest = -smallest(ranked, found, count)
        wanted = count
        for equal in range(2):
            for node in range(nodes):
                if wanted > 0 and (until[node] > latest if equal == 0 else until[node] == latest):
                    state.unit[NODE, unit] = node
                    until[node] = CHOSEN
                    unit += 1
                    wanted -= 1
    return True


@part
def _lift_guards(state, job, now):
    """Take away the guards on the marked nodes that overlap the run of a job; returns how many are listed as moved."""
    end = now + max(np.int64(1), state.job[ESTIMATE, job])
    moved = np.int64(0)
    for place in range(state.clock[QUEUED]):
        other = state.job[QUEUE, place]
        guard = state.job[RESERVED, other]
        if guard <= now or guard >= end:
            continue
        for unit in range(state.ptr[UNITS, other], state.ptr[UNITS, other + 1]):
            if state.known[state.unit[NODE, unit]] == CHOSEN:
                note(state, other)
                cancel(state, other)
                state.job[MOVED, moved] = other
                moved += 1
                break
        if moved > MOST_MOVED:
            break
    return moved


@part
def _guard_again(state, moved, now):
    """Guard the moved jobs as late as promised, the latest promise first; if one has no place, none keeps any."""
    for place in range(moved):
        job = state.job[MOVED, place]
        other = place
        while other > 0 and state.job[LATEST, state.job[MOVED, other - 1]] < state.job[LATEST, job]:
            state.job[MOVED, other] = state.job[MOVED, other - 1]
            other -= 1
        state.job[MOVED, other] = job
    for place in range(moved):
        job = state.job[MOVED, place]
        guard = latest_start(state, MACHINE, job, now, state.job[LATEST, job])
        if guard < 0:
            for before in range(place):
                cancel(state, state.job[MOVED, before])
            return False
        keep(state, job, guard)
    return True
