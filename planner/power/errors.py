"""How far predicted power is from measured power: a few figures that people know."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class PowerErrors:
    """Errors of predictions over some jobs; None where a figure does not exist.

    Attributes
    ----------
    jobs
        How many.
    mae_w
        Mean absolute error [W].
    median_relative
        Median of the absolute error over the measured power, of the jobs that drew something.
    r2
        Part of the variance that is explained: 1 is perfect, 0 as good as the mean of all, below 0 worse.
    bias
        Predicted power of all jobs together over measured power, less 1.
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
