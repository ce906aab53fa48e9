"""A replay whose estimates come from a predictor: the same steps, with questions and lessons between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from planner.domain.columns import Ints
from planner.machine.timeline import NEVER
from planner.online.kernel.state import (
    ARRIVED,
    ESTIMATE,
    EVERY_EVENT,
    FINISHED,
    FINISHED_JOB,
    QUEUE,
    QUEUED,
    START,
    STARTED,
    STARTED_AT,
    State,
    widened,
)
from planner.online.kernel.steps import (
    entries_needed,
    is_arriving,
    is_ending,
    next_second,
    open_second,
    reorder,
    schedule,
    take_arrival,
    take_completion,
)

if TYPE_CHECKING:
    from planner.online.predictor import Predictor


def replay_predicted(
    state: State, predictor: Predictor, *, refresh: bool, on_progress: Callable[[int, int], None] | None
) -> tuple[State, Ints]:
    """Replay to the end; returns the state and the first estimate of each job.

    In each second, arriving jobs are predicted first, so they know only completions of earlier seconds; then the
    predictor learns from the jobs that complete in this second. With ``refresh`` waiting jobs are predicted anew after
    the lessons of a round.
    """
    count = state.job.shape[1]
    taught = TaughtReplay(state, predictor, refresh=refresh)
    seconds = 0
    while (now := int(next_second(taught.state))) != NEVER:
        taught.replay_second(now)
        seconds += 1
        if on_progress is not None and seconds % 4096 == 0:
            on_progress(int(taught.state.clock[FINISHED]), count)
    if on_progress is not None:
        on_progress(count, count)
    return taught.state, taught.first


class TaughtReplay:
    """A replay together with the predictor that it asks and teaches."""

    def __init__(self, state: State, predictor: Predictor, *, refresh: bool) -> None:
        self.state = state
        self.first: Ints = np.zeros(state.job.shape[1], dtype=np.int64)
        self._predictor = predictor
        self._refresh = refresh
        self._every_event = bool(state.clock[EVERY_EVENT])
        self._told = 0
        self._begun: list[int] = []

    def replay_second(self, now: int) -> None:
        """The arrivals and completions of a second, with a round after each or after all of them; then the starts."""
        needed = int(entries_needed(self.state, now))
        if needed > self.state.times.shape[1]:
            self.state = widened(self.state, needed)
        open_second(self.state, now)
        events = 0
        while is_arriving(self.state, now):
            self._arrive(now)
            events += 1
            if self._every_event:
                self._round(now)
        while is_ending(self.state, now):
            take_completion(self.state, now)
            events += 1
            if self._every_event:
                self._round(now)
        if not self._every_event or events == 0:
            self._round(now)
        for job in self._begun:
            self._predictor.begin(job, now)
        self._begun.clear()

    def _arrive(self, now: int) -> None:
        """Let the next job arrive with a prediction."""
        job = int(self.state.clock[ARRIVED])
        self.state.job[ESTIMATE, job] = self.first[job] = max(1, int(self._predictor.predict(job, now)))
        take_arrival(self.state)

    def _round(self, now: int) -> None:
        """Teach what has completed since the last round, then run one, and note which jobs begin."""
        self._teach(now)
        job, clock = self.state.job, self.state.clock
        before = int(clock[STARTED])
        waiting = job[QUEUE, : clock[QUEUED]].tolist()
        schedule(self.state, now)
        if clock[STARTED] > before:
            begun = [one for one in waiting if job[START, one] == now]
            self._begun += sorted(begun, key=lambda one: int(job[STARTED_AT, one]))

    def _teach(self, now: int) -> None:
        """Let the predictor learn from jobs that have completed, and predict anew for those that wait."""
        job, clock = self.state.job, self.state.clock
        finished = int(clock[FINISHED])
        if finished == self._told:
            return
        for one in job[FINISHED_JOB, self._told : finished].tolist():
            self._predictor.complete(one, now)
        self._told = finished
        if self._refresh and clock[QUEUED]:
            for one in job[QUEUE, : clock[QUEUED]].tolist():
                job[ESTIMATE, one] = max(1, int(self._predictor.predict(one, now)))
            reorder(self.state)
