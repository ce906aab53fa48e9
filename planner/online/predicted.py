"""A replay whose estimates come from a predictor: the same steps, with questions and lessons between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from planner.domain.columns import Ints
from planner.online.kernel.state import (
    ARRIVED,
    ESTIMATE,
    FINISHED,
    FINISHED_JOB,
    QUEUE,
    QUEUED,
    START,
    STARTED,
    STARTED_AT,
    SUBMIT,
    State,
    widened,
)
from planner.online.kernel.steps import entries_needed, next_second, reorder, schedule, take_arrivals, take_completions
from planner.online.kernel.timeline import NEVER

if TYPE_CHECKING:
    from planner.online.replay import Predictor


def replay_predicted(
    state: State, predictor: Predictor, *, refresh: bool, on_progress: Callable[[int, int], None] | None
) -> tuple[State, Ints]:
    """Replay to the end; returns the state and the first estimate of each job.

    In each second, arriving jobs are predicted first, so they know only completions of earlier seconds; then the
    predictor learns from the jobs that complete in this second. With ``refresh`` waiting jobs are predicted anew after
    each lesson.
    """
    count = state.job.shape[1]
    first = np.zeros(count, dtype=np.int64)
    clock = state.clock
    told = 0
    seconds = 0
    while (now := int(next_second(state))) != NEVER:
        needed = int(entries_needed(state, now))
        if needed > state.line.shape[1]:
            state = widened(state, needed)
        arriving = int(clock[ARRIVED])
        while arriving < count and state.job[SUBMIT, arriving] == now:
            state.job[ESTIMATE, arriving] = first[arriving] = max(1, int(predictor.predict(arriving, now)))
            arriving += 1
        take_arrivals(state, now)
        take_completions(state, now)
        finished = int(clock[FINISHED])
        for job in state.job[FINISHED_JOB, told:finished].tolist():
            predictor.complete(job, now)
        if refresh and clock[QUEUED] and finished > told:
            for job in state.job[QUEUE, : clock[QUEUED]].tolist():
                state.job[ESTIMATE, job] = max(1, int(predictor.predict(job, now)))
            reorder(state)
        told = finished
        before = int(clock[STARTED])
        waiting = state.job[QUEUE, : clock[QUEUED]].tolist()
        schedule(state, now)
        if clock[STARTED] > before:
            running = [job for job in waiting if state.job[START, job] == now]
            running.sort(key=lambda job: int(state.job[STARTED_AT, job]))
            for job in running:
                predictor.begin(job, now)
        seconds += 1
        if on_progress is not None and seconds % 4096 == 0:
            on_progress(finished, count)
    if on_progress is not None:
        on_progress(count, count)
    return state, first
