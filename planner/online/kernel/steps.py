"""The steps of the clock one by one, for a replay that asks and teaches a predictor between them."""

from __future__ import annotations

from planner.compiled import kernel
from planner.online.kernel import clock, queue


@kernel
def next_second(state):
    """See `clock.next_second`."""
    return clock.next_second(state)


@kernel
def entries_needed(state, now):
    """See `clock.entries_needed`."""
    return clock.entries_needed(state, now)


@kernel
def take_arrivals(state, now):
    """See `clock.take_arrivals`."""
    clock.take_arrivals(state, now)


@kernel
def take_completions(state, now):
    """See `clock.take_completions`."""
    clock.take_completions(state, now)


@kernel
def reorder(state):
    """See `queue.reorder`."""
    queue.reorder(state)


@kernel
def schedule(state, now):
    """See `clock.schedule`."""
    clock.schedule(state, now)
