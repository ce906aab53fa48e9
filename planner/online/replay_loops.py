"""The loops of a replay: from one node going down to the next, with given estimates, step by step, with a predictor.

With given estimates many seconds are one call of a kernel. Where estimates or rounds are made that the kernels do not
make, a replay goes second by second, with Python between the steps; with a predictor there are questions and lessons
between them.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np

from planner.domain.columns import Ints
from planner.domain.trace import Trace
from planner.errors import InputError
from planner.machine.timeline import NEVER
from planner.online.kernel import steps
from planner.online.kernel.event_loop import advance_simple
from planner.online.kernel.state import State, widened
from planner.online.kernel.steps import advance
from planner.online.outages import LostRun, Outages
from planner.online.predictors import Predictor

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


Schedule = Callable[[State, int], None]
"""Runs the scheduling rounds that are due at a second."""


def columns_of(found: Any) -> SimpleNamespace:
    """The fields of a record, or of many, as plain arrays of the same memory: Python reads these far quicker.

    A field of the one record of the clock is an array without a dimension; ``field.item()`` is its value.
    """
    plain = np.ndarray((), found.dtype, found) if isinstance(found, np.record) else found.view(np.ndarray)
    return SimpleNamespace(**{name: plain[name] for name in plain.dtype.names or ()})


class SteppedReplay:
    """A replay under way; what is derived from it may do more when a second opens, a job arrives, or a round is due."""

    def __init__(
        self, state: State, *, schedule: Schedule = steps.schedule, on_progress: OnProgress | None = None
    ) -> None:
        self.state = state
        self.jobs, self.clock, self._ends = (columns_of(each) for each in (state.jobs, state.clock, state.ends))
        self._schedule = schedule
        self._on_progress = on_progress
        self._every_event = bool(state.clock.every_event)

    def run_until(self, moment_s: int) -> None:
        """Replay all that happens before a moment."""
        self.state.clock.until = moment_s
        seconds, count = 0, self.state.jobs.shape[0]
        while (now := int(steps.next_second(self.state))) != NEVER:
            self.replay_second(now)
            seconds += 1
            if self._on_progress is not None and seconds % SECONDS_AT_A_TIME == 0:
                self._on_progress(int(self.state.clock.finished), count)
        if self._on_progress is not None:
            self._on_progress(int(self.state.clock.finished), count)

    def replay_second(self, now: int) -> None:
        """The arrivals and completions of a second, with a round after each or after all of them."""
        needed = int(steps.entries_needed(self.state, now))
        if needed > self.state.times.shape[1]:
            self.state = widened(self.state, needed)
        self.open(now)
        events = 0
        if self._every_event and self.clock.scan:
            self.run_rounds(now)
            events += 1
        while self._is_arriving(now):
            self.arrive(now)
            events += 1
            if self._every_event:
                self.run_rounds(now)
        while self.clock.running > 0 and self._ends.key[0] == now:
            steps.take_completion(self.state, now)
            events += 1
            if self._every_event:
                self.run_rounds(now)
        if not self._every_event or events == 0:
            self.run_rounds(now)

    def _is_arriving(self, now: int) -> bool:
        next_job = self.clock.arrived.item()
        return bool(next_job < len(self.jobs.submit) and self.jobs.submit[next_job] == now)

    def open(self, now: int) -> None:
        """Begin a second."""
        steps.open_second(self.state, now)

    def arrive(self, now: int) -> None:
        """Let the next job arrive."""
        steps.take_arrival(self.state)

    def run_rounds(self, now: int) -> None:
        """Run the rounds that are due."""
        self._schedule(self.state, now)


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
