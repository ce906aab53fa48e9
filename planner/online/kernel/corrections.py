"""Corrections of estimates that jobs outlive."""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.heap import pop
from planner.online.kernel.nodes import hold_job
from planner.online.kernel.outages_and_cancels import void_reservations
from planner.online.kernel.queue_order import note_due, real_end
from planner.online.kernel.state import MACHINE

TO_REQUEST, STEPWISE, DOUBLING = range(3)
"""What happens to an estimate that a job outlives: it becomes the requested time, grows in steps, or doubles."""

STEPS_S = (60, 300, 900, 1800, 3600, 7200, 18000, 36000, 72000, 180000, 360000)
"""How far beyond the first estimate the first, second, ... correction goes (Tsafrir, Etsion and Feitelson 2007)."""


@part
def correct(state, now):
    """Give every running job that outlived its estimate a new expected end, at least one second from now.

    A job that ends in this second needs none, unless rounds run before its completion is known.
    """
    while state.clock.expected > 0 and state.dues[0].key <= now:
        job = pop(state.dues.key, state.dues.job, state.jobs.started_at, state.clock.expected)
        state.clock.expected -= 1
        end = real_end(state, job)
        due = state.jobs[job].expected_end
        while due < end and due <= now:
            due = max(_corrected(state, job, due), due + 1)
            state.jobs[job].corrections += 1
        if due <= now or (end <= now and state.clock.every_event == 0):
            continue
        void_reservations(state)
        hold_job(state, MACHINE, job, np.int64(1), now, due)
        state.jobs[job].expected_end = due
        if due < end:
            note_due(state, job)


@part
def _corrected(state, job, due):
    """The next expected end of a job by the rule of correction."""
    start = state.jobs[job].start
    limit = start + state.jobs[job].requested
    if state.clock.correction == STEPWISE:
        step = state.jobs[job].corrections
        first = start + state.jobs[job].estimate
        return min(limit, first + STEPS_S[step] * state.clock.per_second) if step < len(STEPS_S) else limit
    if state.clock.correction == DOUBLING:
        return start + 2 * (due - start)
    return limit
