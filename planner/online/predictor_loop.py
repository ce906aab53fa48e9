"""A replay whose estimates come from a predictor: the same steps, with questions and lessons between them."""

from __future__ import annotations

import numpy as np

from planner.domain.columns import Ints
from planner.online.kernel import steps
from planner.online.kernel.state import State
from planner.online.predictors import Predictor
from planner.online.stepped_replay import Schedule, SteppedReplay, columns_of
from planner.online.stretches import OnProgress


class TaughtReplay(SteppedReplay):
    """A replay together with the predictor that it asks and teaches.

    In each second, arriving jobs are predicted first, so they know only completions of earlier seconds; then the
    predictor learns from the jobs that complete in this second. With ``refresh`` waiting jobs are predicted anew after
    the lessons of a round.
    """

    def __init__(
        self,
        state: State,
        predictor: Predictor,
        *,
        refresh: bool,
        schedule: Schedule = steps.schedule,
        on_progress: OnProgress | None = None,
    ) -> None:
        super().__init__(state, schedule=schedule, on_progress=on_progress)
        self.first: Ints = np.zeros(state.jobs.shape[0], dtype=np.int64)
        lists = columns_of(state.lists)
        self._finished, self._held = lists.finished, lists.held
        self._predictor = predictor
        self._refresh = refresh
        self._told = 0
        self._begun: list[int] = []
        self._restarts: Ints = np.zeros(state.jobs.shape[0], dtype=np.int64)

    def learn_past(self, moment_s: int) -> None:
        """Teach the predictor what happened before a moment, and predict the jobs that were submitted until then.

        A job that has started keeps the last prediction before its start.
        """
        jobs, start = self.jobs, self.jobs.start
        end = np.minimum(start + jobs.runtime, jobs.cancel_s)
        events = [(int(jobs.submit[one]), 0, 0, one) for one in range(self.clock.arrived.item())]
        ended = np.flatnonzero((start >= 0) & (end < moment_s)).tolist()
        events += [(int(end[one]), 1, int(start[one]), one) for one in ended]  # in one second, those that began first
        events += [(int(start[one]), 2, 0, one) for one in np.flatnonzero(start >= 0).tolist()]
        for second, what, _, one in sorted(events):
            if what == 1:
                self._end(one, second)
                continue
            if what == 0 or self._refresh:
                jobs.estimate[one] = max(1, int(self._predictor.predict(one, second)))
            if what == 0:
                self.first[one] = jobs.estimate[one]
            else:
                self._predictor.begin(one, second)

    def replay_second(self, now: int) -> None:
        """A second as in every replay; then the predictor notes the starts."""
        super().replay_second(now)
        for job in self._begun:
            self._predictor.begin(job, now)
        self._begun.clear()

    def open(self, now: int) -> None:
        """Begin a second, and note which runs are lost in it."""
        changes = self.clock.changes.item()
        super().open(now)
        if self.clock.changes > changes:
            self._note_lost(now)

    def arrive(self, now: int) -> None:
        """Let the next job arrive with a prediction."""
        job = self.clock.arrived.item()
        self.jobs.estimate[job] = self.first[job] = max(1, int(self._predictor.predict(job, now)))
        super().arrive(now)

    def run_rounds(self, now: int) -> None:
        """Teach what has completed since the last round, then run those that are due, and note which jobs begin."""
        self._teach(now)
        before, waiting = self.clock.started.item(), self._waiting()
        super().run_rounds(now)
        if self.clock.started > before:
            begun = waiting[self.jobs.start[waiting] == now]
            self._begun += begun[np.argsort(self.jobs.started_at[begun], kind="stable")].tolist()

    def _waiting(self) -> Ints:
        """Who waits before a round: what it may start."""
        queue = self.state.queue[: self.clock.queued.item()]
        held = self.clock.held.item()
        return np.concatenate([queue, self._held[:held]]) if held else queue.copy()

    def _teach(self, now: int) -> None:
        """Let the predictor learn from jobs that have completed, and predict anew for those that wait."""
        finished = self.clock.finished.item()
        if finished == self._told:
            return
        for one in self._finished[self._told : finished].tolist():
            self._end(one, now)
        self._told = finished
        if self._refresh and self.clock.queued:
            for one in self.state.queue[: self.clock.queued.item()].tolist():
                self.jobs.estimate[one] = max(1, int(self._predictor.predict(one, now)))
            steps.reorder(self.state)

    def _end(self, job: int, now: int) -> None:
        """Let the predictor learn from a job that is done; one that was cancelled teaches nothing."""
        jobs = self.jobs
        if jobs.cancel_s[job] < jobs.start[job] + jobs.runtime[job]:
            self._predictor.stop(job, now)
        else:
            self._predictor.complete(job, now)

    def _note_lost(self, now: int) -> None:
        """Let the predictor know which runs were lost with a node."""
        restarts = self.jobs.restarts
        for job in np.flatnonzero(restarts > self._restarts).tolist():
            self._predictor.stop(job, now)
        self._restarts = restarts.copy()
