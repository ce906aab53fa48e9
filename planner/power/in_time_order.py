"""Predictions of finished jobs as they would have been made: each from what had ended before, never from later."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from planner.domain.horizon import Horizon
from planner.power.learned import DECAY, FinishedJob, LearnedPower, Prediction
from planner.power.limits import PowerLimits

Moment = Callable[[FinishedJob], int]
"""When a job's power has to be known [Unix seconds]; what ended before that second has been learned."""


def at_submission(job: FinishedJob) -> int:
    """On-line: when the job comes in."""
    return job.submit_unix


def at_midnight(zone: str) -> Moment:
    """Day-ahead: at the midnight before the job comes in."""
    return lambda job: Horizon.of_unix(job.submit_unix, zone).start_unix


def predictions(
    jobs: Sequence[FinishedJob], moment: Moment, limits: PowerLimits, decay: float = DECAY
) -> list[Prediction | None]:
    """A prediction for each job, in the order given; None where nothing was known of it.

    A job is predicted at its moment. It ends at that second or later, so it never learns from itself.
    """
    learned = LearnedPower(decay)
    ended = sorted(jobs, key=lambda job: job.end_key)
    found: list[Prediction | None] = [None] * len(jobs)
    moments = list(map(moment, jobs))
    known = 0
    for place in sorted(range(len(jobs)), key=moments.__getitem__):
        job = jobs[place]
        while known < len(ended) and ended[known].end_unix < moments[place]:
            learned.learn(ended[known])
            known += 1
        guess = learned.predict(job.asked)
        if guess is not None:
            found[place] = Prediction(limits.bounded(job.asked, guess.power_w), guess.level)
    return found
