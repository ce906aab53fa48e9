"""How well learned power would have done: every job predicted before it is learned from, beside the constants that it
replaces."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from planner.domain.horizon import Horizon
from planner.power.learned import (
    LEVELS,
    FinishedJob,
    LearnedPower,
    PowerLimits,
    PowerModel,
    Prediction,
    level_name,
)

Moment = Callable[[FinishedJob], int]
"""When a job's power has to be known [Unix seconds]; what ended before that second has been learned."""
CONSTANT = "the constant: nothing known"


def at_submission(job: FinishedJob) -> int:
    """On-line: when the job comes in."""
    return job.submit_unix


def at_midnight(zone: str) -> Moment:
    """Day-ahead: at the midnight before the job comes in."""
    return lambda job: Horizon.of_unix(job.submit_unix, zone).start_unix


def predictions(jobs: Sequence[FinishedJob], moment: Moment, limits: PowerLimits) -> list[Prediction | None]:
    """A prediction for each job, in the order given; None where nothing was known of it.

    A job is predicted at its moment. It ends at that second or later, so it never learns from itself.
    """
    learned = LearnedPower()
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


@dataclass(frozen=True)
class PowerErrors:
    """Errors of predictions over some jobs; None where a figure does not exist.

    ``mae_w`` is the mean absolute error [W], ``median_relative`` the median of that over the measured power, of the
    jobs that drew something; ``r2`` the part of the variance that is explained: 1 is perfect, 0 as good as the mean of
    all, below 0 worse; ``bias`` predicted power of all jobs together over measured power, less 1.
    """

    jobs: int
    mae_w: float | None
    median_relative: float | None
    r2: float | None
    bias: float | None


def power_errors(predicted_w: Sequence[float], measured_w: Sequence[float]) -> PowerErrors:
    """The figures of predictions beside what was measured, job by job."""
    if not measured_w:
        return PowerErrors(0, None, None, None, None)
    errors = [guess - real for guess, real in zip(predicted_w, measured_w, strict=True)]
    mean = statistics.fmean(measured_w)
    spread = sum((real - mean) ** 2 for real in measured_w)
    relative = [abs(error) / real for error, real in zip(errors, measured_w, strict=True) if real > 0]
    return PowerErrors(
        jobs=len(errors),
        mae_w=statistics.fmean(map(abs, errors)),
        median_relative=statistics.median(relative) if relative else None,
        r2=1 - sum(error**2 for error in errors) / spread if spread > 0 else None,
        bias=sum(errors) / sum(measured_w) if sum(measured_w) > 0 else None,
    )


@dataclass(frozen=True)
class ErrorLine:
    """The errors of one predictor, over all counted jobs or over those that one level of the hierarchy predicted."""

    predictor: str
    level: str
    errors: PowerErrors

    def as_dict(self) -> dict[str, Any]:
        """The line as plain data."""
        return {"predictor": self.predictor, "level": self.level, **asdict(self.errors)}


def compared(
    jobs: Sequence[FinishedJob],
    *,
    zone: str,
    limits: PowerLimits,
    constant: PowerModel,
    others: Mapping[str, PowerModel],
    skip_days: int,
) -> list[ErrorLine]:
    """Errors of learned power, on-line and day-ahead, in all and by level, and those of constants.

    Jobs submitted on the first ``skip_days`` days are learned from but not counted; ``constant`` is what jobs draw of
    which nothing is known, ``others`` are further predictors by name.
    """
    counted = _counted(jobs, zone, skip_days)
    measured = [jobs[k].power_w for k in counted]
    lines, by_level = [], []
    for name, moment in (("learned, on-line", at_submission), ("learned, day-ahead", at_midnight(zone))):
        found = predictions(jobs, moment, limits)
        watts = [
            constant(job.asked) if guess is None else guess.power_w for job, guess in zip(jobs, found, strict=True)
        ]
        lines.append(ErrorLine(name, "", power_errors([watts[k] for k in counted], measured)))
        for level in (*range(len(LEVELS)), None):
            members = [k for k in counted if (None if (guess := found[k]) is None else guess.level) == level]
            if members:
                errors = power_errors([watts[k] for k in members], [jobs[k].power_w for k in members])
                by_level.append(ErrorLine(name, CONSTANT if level is None else level_name(level), errors))
    for name, model in others.items():
        lines.append(ErrorLine(name, "", power_errors([model(jobs[k].asked) for k in counted], measured)))
    return [*lines, *by_level]


def _counted(jobs: Sequence[FinishedJob], zone: str, skip_days: int) -> list[int]:
    """Places of the jobs that were submitted after the days to skip."""
    if not jobs:
        return []
    begin = Horizon.of_unix(min(job.submit_unix for job in jobs), zone)
    for _ in range(skip_days):
        begin = begin.next_day()
    return [k for k, job in enumerate(jobs) if job.submit_unix >= begin.start_unix]
