"""A replay in stretches, from one node going down to the next, so that the runs that this costs are noted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from planner.domain.trace import Trace
from planner.errors import InputError
from planner.online.kernel.event_loop import advance_simple
from planner.online.kernel.state import State, widened
from planner.online.kernel.steps import advance
from planner.online.outages import LostRun, Outages

SECONDS_AT_A_TIME = 4096
"""Event seconds between two reports of progress."""

OnProgress = Callable[[int, int], None]
"""Hears how many jobs have finished, and of how many."""


class Playing(Protocol):
    """A replay under way."""

    state: State

    def run_until(self, moment_s: int) -> None:
        """Replay all that happens before a moment."""


class FixedReplay:
    """A replay whose estimates are given."""

    def __init__(self, state: State, on_progress: OnProgress | None, *, is_simple: bool = False) -> None:
        self.state = state
        self._on_progress = on_progress
        self._is_simple = is_simple

    def run_until(self, moment_s: int) -> None:
        """Replay all that happens before a moment."""
        go_on = advance_simple if self._is_simple else advance
        self.state.clock.until = moment_s
        status = -1
        while status != 0:
            status = int(go_on(self.state, SECONDS_AT_A_TIME))
            if status > 0:
                self.state = widened(self.state, status)
            if self._on_progress is not None:
                self._on_progress(int(self.state.clock.finished), self.state.jobs.shape[0])


def play(playing: Playing, outages: Outages, first_s: int, until_s: int) -> tuple[LostRun, ...]:
    """Replay all that happens from the first second until a moment; returns the runs that were lost."""
    lost: list[LostRun] = []
    for moment in outages.losses_s(first_s):
        if moment < until_s:
            playing.run_until(moment)
            before = _running(playing.state, moment)
            restarts = playing.state.jobs["restarts"].copy()
            playing.run_until(moment + 1)
            after = playing.state.jobs["restarts"]
            lost += [run for run in before if after[run.job] > restarts[run.job]]
    playing.run_until(until_s)
    return tuple(lost)


def require_started(trace: Trace, state: State) -> None:
    """InputError when jobs wait for which nothing can happen any more."""
    waiting = state.queue[: state.clock.queued]
    if len(waiting):
        raise InputError(
            f"{trace.source}: {len(waiting)} jobs can never start, {trace.ids[int(waiting.min())]} the first of them:"
            " they have no room on the nodes that are not down until further notice; end the outages or stop the replay"
        )


def _running(state: State, moment_s: int) -> list[LostRun]:
    """The jobs that run on through a moment, as runs that end there."""
    start = state.jobs["start"]
    end = np.minimum(start + state.jobs["runtime"], state.jobs["cancel_s"])
    running = np.flatnonzero((start >= 0) & (start < moment_s) & (end > moment_s)).tolist()
    first, last = state.first["unit"][:-1], state.first["unit"][1:]
    return [
        LostRun(each, int(start[each]), moment_s, tuple(state.units["node"][first[each] : last[each]].tolist()))
        for each in running
    ]
