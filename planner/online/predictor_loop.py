"""A replay whose estimates come from a predictor: the same steps, with questions and lessons between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from planner.domain.columns import Ints
from planner.machine.timeline import NEVER
from planner.online.kernel.state import (
    ARRIVED,
    CANCEL_S,
    CHANGES,
    ESTIMATE,
    EVERY_EVENT,
    FINISHED,
    FINISHED_JOB,
    HELD,
    HELD_JOB,
    QUEUE,
    QUEUED,
    RESTARTS,
    RUNTIME,
    SCAN,
    START,
    STARTED,
    STARTED_AT,
    SUBMIT,
    UNTIL,
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
from planner.online.stretches import SECONDS_AT_A_TIME, OnProgress

if TYPE_CHECKING:
    from planner.online.predictor import Predictor


class TaughtReplay:
    """A replay together with the predictor that it asks and teaches.

    In each second, arriving jobs are predicted first, so they know only completions of earlier seconds; then the
    predictor learns from the jobs that complete in this second. With ``refresh`` waiting jobs are predicted anew after
    the lessons of a round.
    """

    def __init__(
        self, state: State, predictor: Predictor, *, refresh: bool, on_progress: OnProgress | None = None
    ) -> None:
        self.state = state
        self._on_progress = on_progress
        self.first: Ints = np.zeros(state.job.shape[1], dtype=np.int64)
        self._predictor = predictor
        self._refresh = refresh
        self._every_event = bool(state.clock[EVERY_EVENT])
        self._told = 0
        self._begun: list[int] = []
        self._restarts: Ints = np.zeros(state.job.shape[1], dtype=np.int64)

    def learn_past(self, moment_s: int) -> None:
        """Teach the predictor what happened before a moment, and predict the jobs that were submitted until then.

        A job that has started keeps the last prediction before its start.
        """
        job = self.state.job
        start = job[START]
        end = np.minimum(start + job[RUNTIME], job[CANCEL_S])
        events = [(int(job[SUBMIT, one]), 0, one) for one in range(int(self.state.clock[ARRIVED]))]
        events += [(int(end[one]), 1, one) for one in np.flatnonzero((start >= 0) & (end < moment_s)).tolist()]
        events += [(int(start[one]), 2, one) for one in np.flatnonzero(start >= 0).tolist()]
        for second, what, one in sorted(events):
            if what == 1:
                self._end(one, second)
                continue
            if what == 0 or self._refresh:
                job[ESTIMATE, one] = max(1, int(self._predictor.predict(one, second)))
            if what == 0:
                self.first[one] = job[ESTIMATE, one]
            else:
                self._predictor.begin(one, second)

    def run_until(self, moment_s: int) -> None:
        """Replay all that happens before a moment."""
        self.state.clock[UNTIL] = moment_s
        seconds, count = 0, self.state.job.shape[1]
        while (now := int(next_second(self.state))) != NEVER:
            self.replay_second(now)
            seconds += 1
            if self._on_progress is not None and seconds % SECONDS_AT_A_TIME == 0:
                self._on_progress(int(self.state.clock[FINISHED]), count)
        if self._on_progress is not None:
            self._on_progress(int(self.state.clock[FINISHED]), count)

    def replay_second(self, now: int) -> None:
        """The arrivals and completions of a second, with a round after each or after all of them; then the starts."""
        needed = int(entries_needed(self.state, now))
        if needed > self.state.times.shape[1]:
            self.state = widened(self.state, needed)
        changes = int(self.state.clock[CHANGES])
        open_second(self.state, now)
        if self.state.clock[CHANGES] > changes:
            self._note_lost(now)
        events = 0
        if self._every_event and self.state.clock[SCAN]:
            self._round(now)
            events += 1
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
        waiting = job[QUEUE, : clock[QUEUED]].tolist() + job[HELD_JOB, : clock[HELD]].tolist()
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
            self._end(one, now)
        self._told = finished
        if self._refresh and clock[QUEUED]:
            for one in job[QUEUE, : clock[QUEUED]].tolist():
                job[ESTIMATE, one] = max(1, int(self._predictor.predict(one, now)))
            reorder(self.state)

    def _end(self, job: int, now: int) -> None:
        """Let the predictor learn from a job that is done; one that was cancelled teaches nothing."""
        table = self.state.job
        if table[CANCEL_S, job] < table[START, job] + table[RUNTIME, job]:
            self._predictor.stop(job, now)
        else:
            self._predictor.complete(job, now)

    def _note_lost(self, now: int) -> None:
        """Let the predictor know which runs were lost with a node."""
        restarts = self.state.job[RESTARTS]
        for job in np.flatnonzero(restarts > self._restarts).tolist():
            self._predictor.stop(job, now)
        self._restarts = restarts.copy()
