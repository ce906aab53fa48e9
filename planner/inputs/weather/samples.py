"""Samples of a quantity over time, with holes, and the step series that they make for a day."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planner.domain.series import StepSeries
from planner.errors import CoverageError
from planner.inputs.local_times import Stretch
from planner.units import SECONDS_PER_HOUR


@dataclass(frozen=True)
class Samples:
    """Values that hold from their start for one step at most; NaN and absent times are holes.

    Attributes
    ----------
    what
        What it is and where it came from: "price of FR.csv.gz".
    starts_unix
        Start of each value, increasing [Unix seconds].
    values
        The values, NaN where missing.
    """

    what: str
    starts_unix: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]

    @property
    def step_s(self) -> int:
        """The usual distance between starts [s]; an hour for a single value."""
        gaps, counts = np.unique(np.diff(self.starts_unix), return_counts=True)
        return int(gaps[np.argmax(counts)]) if gaps.size else SECONDS_PER_HOUR

    def on(self, stretches: Sequence[Stretch], *, fill_s: int = 0) -> tuple[StepSeries, int]:
        """The series over a day, stretch by stretch, and how many values were filled in.

        Holes of up to ``fill_s`` [s] are filled linearly between their neighbours; a longer one that touches
        the day, and a day that the samples do not reach, is a CoverageError.
        """
        edges, values, filled = [], [], 0
        for stretch in stretches:
            part, count = self._between(
                stretch.start_unix + stretch.shift_s, stretch.end_unix + stretch.shift_s, fill_s
            )
            edges.append(part.edges_unix[:-1] - stretch.shift_s)
            values.append(part.values)
            filled += count
        edges.append(np.array([stretches[-1].end_unix], dtype=np.int64))
        return StepSeries(self.what, np.concatenate(edges), np.concatenate(values)), filled

    def _between(self, start: int, end: int, fill_s: int) -> tuple[StepSeries, int]:
        step = self.step_s
        self._check_reach(start, end, step)
        # neighbours that a hole at the day's edge may be filled from
        margin = fill_s + 2 * step
        low = max(int(np.searchsorted(self.starts_unix, start - margin, side="right")) - 1, 0)
        high = int(np.searchsorted(self.starts_unix, end + margin, side="left"))
        starts, values = self.starts_unix[low:high], self.values[low:high]
        ends = np.append(starts[1:], starts[-1] + step if high == len(self.values) else self.starts_unix[high])
        starts, ends, values = _near(starts, ends, values, step, (start - margin, end + margin))
        starts, values = _holes_opened(starts, ends, values, step)
        edges = np.append(starts, ends[-1])
        missing = np.isnan(values)
        bounds = np.flatnonzero(np.diff(np.concatenate([[False], missing, [False]]).astype(np.int8)))
        filled = 0
        for first, after in zip(bounds[::2], bounds[1::2], strict=True):
            if edges[after] <= start or edges[first] >= end:
                values[first:after] = 0.0  # outside the day, cut off below
                continue
            if edges[after] - edges[first] > fill_s or first == 0 or after == len(values):
                raise CoverageError(
                    f"{self.what} has no value from {_utc(edges[first])} to {_utc(edges[after])}, which the"
                    " day needs; complete the file, or choose another day or source"
                )
            values[first:after] = np.interp(
                starts[first:after],
                [starts[first - 1], starts[after]],
                [values[first - 1], values[after]],
            )
            inside = (edges[first + 1 : after + 1] > start) & (edges[first:after] < end)
            filled += int(np.count_nonzero(inside))
        return StepSeries(self.what, edges, values).between(start, end), filled

    def _check_reach(self, start: int, end: int, step: int) -> None:
        if not len(self.values):
            raise CoverageError(f"{self.what} is empty; give a source with values")
        first, last = int(self.starts_unix[0]), int(self.starts_unix[-1]) + step
        if start < first or end > last:
            raise CoverageError(
                f"{self.what} covers {_utc(first)} to {_utc(last)}, but the day needs {_utc(start)} to"
                f" {_utc(end)}; choose a day inside it, or a source that covers the day"
            )


def _near(
    starts: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    values: npt.NDArray[np.float64],
    step: int,
    reach: tuple[int, int],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """The first value begun and the last one ended where they come into reach, however far away they stand."""
    starts, ends, values = starts.copy(), ends.copy(), values.copy()
    early = (reach[0] - int(starts[0])) // step
    if early > 0:
        # by whole steps, so that the holes before the next value keep their places
        starts[0] += early * step
        values[0] = np.nan
    late = (int(ends[-1]) - max(reach[1], int(starts[-1]))) // step
    if late > 1:
        ends[-1] -= (late - 1) * step
    return starts, ends, values


def _holes_opened(
    starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64], values: npt.NDArray[np.float64], step: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Give absent times rows of their own, without a value."""
    repeats = np.maximum(-(-(ends - starts) // step), 1)
    ordinal = np.arange(int(repeats.sum())) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    return np.repeat(starts, repeats) + step * ordinal, np.where(ordinal == 0, np.repeat(values, repeats), np.nan)


def _utc(unix: int) -> str:
    return dt.datetime.fromtimestamp(int(unix), tz=dt.UTC).strftime("%Y-%m-%d %H:%M UTC")
