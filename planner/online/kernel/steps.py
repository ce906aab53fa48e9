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
def open_second(state, now):
    """See `clock.open_second`."""
    clock.open_second(state, now)


@kernel
def is_arriving(state, now):
    """See `clock.is_arriving`."""
    return clock.is_arriving(state, now)


@kernel
def take_arrival(state):
    """See `clock.take_arrival`."""
    clock.take_arrival(state)


@kernel
def is_ending(state, now):
    """See `clock.is_ending`."""
    return clock.is_ending(state, now)


@kernel
def take_completion(state, now):
    """See `clock.take_completion`."""
    clock.take_completion(state, now)


@kernel
def reorder(state):
    """See `queue.reorder`."""
    queue.reorder(state)


@kernel
def schedule(state, now):
    """See `clock.schedule`."""
    clock.schedule(state, now)
