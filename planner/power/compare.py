"""Learned power beside the constants that it replaces, on the same finished jobs, in time order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from planner.domain.horizon import Horizon
from planner.power.asked import PowerModel
from planner.power.errors import PowerErrors, power_errors
from planner.power.in_time_order import at_midnight, at_submission, predictions
from planner.power.learned import FinishedJob
from planner.power.limits import PowerLimits
from planner.power.profiles import LEVELS, level_name

CONSTANT = "the constant: nothing known"


@dataclass(frozen=True)
class Line:
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
) -> list[Line]:
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
        lines.append(Line(name, "", power_errors([watts[k] for k in counted], measured)))
        for level in (*range(len(LEVELS)), None):
            members = [k for k in counted if (None if (guess := found[k]) is None else guess.level) == level]
            if members:
                errors = power_errors([watts[k] for k in members], [jobs[k].power_w for k in members])
                by_level.append(Line(name, CONSTANT if level is None else level_name(level), errors))
    for name, model in others.items():
        lines.append(Line(name, "", power_errors([model(jobs[k].asked) for k in counted], measured)))
    return [*lines, *by_level]


def _counted(jobs: Sequence[FinishedJob], zone: str, skip_days: int) -> list[int]:
    """Places of the jobs that were submitted after the days to skip."""
    if not jobs:
        return []
    begin = Horizon.of_unix(min(job.submit_unix for job in jobs), zone)
    for _ in range(skip_days):
        begin = begin.next_day()
    return [k for k, job in enumerate(jobs) if job.submit_unix >= begin.start_unix]
