"""Quantities over time: CSV tables with a time in each row, samples with holes, and the step series of a day."""

from __future__ import annotations

import datetime as dt
import difflib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from planner.domain.horizon import zone_named
from planner.domain.segment import StepSeries
from planner.errors import CoverageError, FileFormatError
from planner.inputs.csv_lines import (
    ONE_SIGN,
    SIGNS,
    decimal_sign,
    number_of_text,
    numbered_rows,
    separator_of,
    with_point,
)
from planner.inputs.local_times import NEIGHBOURS, LocalMoments, Stretch, unix_moments, usual_steps_s
from planner.limits import DAY_S, VALUE_IN_FILE, Bounds
from planner.printable import shortened
from planner.text_files import open_text
from planner.units import SECONDS_PER_HOUR, utc_minute

LONGEST_STEP_S = DAY_S + SECONDS_PER_HOUR
TIME_NAMES = ("time", "timestamp", "datetime", "date")


@dataclass(frozen=True)
class Samples:
    """Values that hold from their start for one step at most; NaN and absent times are holes.

    ``what`` says what it is and where it came from: "price of FR.csv.gz". The starts increase [Unix seconds].
    """

    what: str
    starts_unix: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]

    def steps_s(self, low: int, high: int) -> npt.NDArray[np.int64]:
        """How long each of some values holds [s]: as far as the next one stands where a part of the file has no holes.

        No value holds for more than a day, which has 25 hours where clocks are put back.
        """
        first = max(low - NEIGHBOURS, 0)
        steps = usual_steps_s(self.starts_unix[first : high + NEIGHBOURS])[low - first : high - first]
        return np.where(steps < LONGEST_STEP_S - 2 * SECONDS_PER_HOUR, steps, LONGEST_STEP_S)

    def on(self, stretches: Sequence[Stretch], *, fill_s: int = 0) -> tuple[StepSeries, int]:
        """The series over a day, stretch by stretch, and how many values were filled in.

        Holes of up to ``fill_s`` [s] are filled linearly between their neighbours; a longer one that touches
        the day, and a day that the samples do not reach, is a CoverageError.
        """
        edges, values, filled = [], [], 0
        for stretch in stretches:
            try:
                part, count = self._between(
                    stretch.start_unix + stretch.shift_s, stretch.end_unix + stretch.shift_s, fill_s
                )
            except CoverageError as error:
                if error.until_unix is not None:
                    error.until_unix -= stretch.shift_s
                raise
            edges.append(part.edges_unix[:-1] - stretch.shift_s)
            values.append(part.values)
            filled += count
        edges.append(np.array([stretches[-1].end_unix], dtype=np.int64))
        return StepSeries(self.what, np.concatenate(edges), np.concatenate(values)), filled

    def _between(self, start: int, end: int, fill_s: int) -> tuple[StepSeries, int]:
        self._check_reach(start, end)
        # neighbours that a hole at the day's edge may be filled from
        margin = fill_s + 2 * LONGEST_STEP_S
        low = max(int(np.searchsorted(self.starts_unix, start - margin, side="right")) - 1, 0)
        high = int(np.searchsorted(self.starts_unix, end + margin, side="left"))
        starts, values, steps = self.starts_unix[low:high], self.values[low:high], self.steps_s(low, high)
        ends = np.append(starts[1:], starts[-1] + steps[-1] if high == len(self.values) else self.starts_unix[high])
        starts, ends, values = _near(starts, ends, values, steps, (start - margin, end + margin))
        starts, values = _holes_opened(starts, ends, values, steps)
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
                    f"{self.what} has no value from {utc_minute(edges[first])} to {utc_minute(edges[after])}, which the"
                    " day needs; complete the file, or choose another day or source",
                    until_unix=int(edges[first]),
                    what=self.what,
                    is_end=bool(np.isnan(self.values[self.starts_unix >= edges[first]]).all()),
                )
            values[first:after] = np.interp(
                starts[first:after],
                [starts[first - 1], starts[after]],
                [values[first - 1], values[after]],
            )
            inside = (edges[first + 1 : after + 1] > start) & (edges[first:after] < end)
            filled += int(np.count_nonzero(inside))
        return StepSeries(self.what, edges, values).between(start, end), filled

    def _check_reach(self, start: int, end: int) -> None:
        if not len(self.values):
            raise CoverageError(f"{self.what} is empty; give a source with values")
        count = len(self.values)
        first, last = int(self.starts_unix[0]), int(self.starts_unix[-1] + self.steps_s(count - 1, count)[0])
        if start < first or end > last:
            raise CoverageError(
                f"{self.what} covers {utc_minute(first)} to {utc_minute(last)}, but the day needs {utc_minute(start)}"
                f" to {utc_minute(end)}; choose a day inside it, or a source that covers the day",
                until_unix=last if start >= first else None,
                what=self.what,
                is_end=start >= first,
            )


def _near(
    starts: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    values: npt.NDArray[np.float64],
    steps: npt.NDArray[np.int64],
    reach: tuple[int, int],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """The first value begun and the last one ended where they come into reach, however far away they stand."""
    starts, ends, values = starts.copy(), ends.copy(), values.copy()
    early = (reach[0] - int(starts[0])) // int(steps[0])
    if early > 0:
        # by whole steps, so that the holes before the next value keep their places
        starts[0] += early * steps[0]
        values[0] = np.nan
    late = (int(ends[-1]) - max(reach[1], int(starts[-1]))) // int(steps[-1])
    if late > 1:
        ends[-1] -= (late - 1) * steps[-1]
    return starts, ends, values


def _holes_opened(
    starts: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    values: npt.NDArray[np.float64],
    steps: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Give absent times rows of their own, without a value.

    Where clocks are put back, a value of several hours holds for one more.
    """
    lasting = ends - starts
    lasting = np.where((steps > SECONDS_PER_HOUR) & (lasting == steps + SECONDS_PER_HOUR), steps, lasting)
    repeats = np.maximum(-(-lasting // steps), 1)
    ordinal = np.arange(int(repeats.sum())) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    times = np.repeat(starts, repeats) + np.repeat(steps, repeats) * ordinal
    return times, np.where(ordinal == 0, np.repeat(values, repeats), np.nan)


def read_timed_csv(path: Path | str, *, zone: str | None = None) -> TimedCsv:
    """Read a CSV (plain, .gz or .xz) whose rows carry a time, its cells parted by commas or by semicolons.

    Its time column is called time, timestamp, datetime or date, whatever the case and whatever follows in brackets;
    where there are several, the one marked ``(UTC)``. Other times that are written without a zone are of ``zone``.
    """
    path = Path(path)
    state = path.stat() if path.is_file() else None
    return _read(path, zone, None if state is None else (state.st_mtime_ns, state.st_size, state.st_ino))


@lru_cache(maxsize=4)
def _read(path: Path, zone: str | None, state: tuple[int, ...] | None) -> TimedCsv:
    """The table as its file is now; days one after the other read the same."""
    with open_text(path, newline="") as stream:
        separator = separator_of(stream)
        rows = numbered_rows(path, stream, separator)
        _, head = next(rows, (1, []))
        names = _distinct([name.strip() for name in head])
        lines: list[int] = []
        cells: list[list[str]] = []
        for line, values in rows:
            if any(value.strip() for value in values[len(names) :]):
                raise FileFormatError(
                    path,
                    f"expected {len(names)} fields, found {len(values)}",
                    line=line,
                    remedy=f"give as many as the first line has; quote text with {SIGNS[separator]}",
                )
            lines.append(line)
            cells.append([value.strip() for value in values[: len(names)]] + [""] * (len(names) - len(values)))
    if not cells:
        raise FileFormatError(path, "has no rows", remedy="give a file with a header and values")
    return TimedCsv(path, names, tuple(zip(*cells, strict=True)), tuple(lines), zone, separator)


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """The names, each later one of a kind with a number: price, price.1."""
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        found.append(f"{name}.{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return tuple(found)


@dataclass(frozen=True)
class TimedCsv:
    """The text of a table, column by column, its times read on demand; ``lines`` are those of its rows.

    ``separator`` is what stood between the cells: with semicolons numbers may have a decimal comma.
    """

    path: Path
    names: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    zone: str | None = None
    separator: str = ","

    @cached_property
    def time_name(self) -> str:
        """Name of the time column."""
        times = [name for name in self.names if name.lower().split("(")[0].strip() in TIME_NAMES]
        if not times:
            raise FileFormatError(
                self.path,
                f"has no time column among {', '.join(self.names)}",
                line=1,
                remedy="name it time",
            )
        return next((name for name in times if "(utc)" in name.lower()), times[0])

    @cached_property
    def moments(self) -> LocalMoments:
        """Unix times of the rows."""
        zone: dt.tzinfo | None = zone_named(self.zone) if self.zone else None
        if "(utc)" in self.time_name.lower():
            zone = dt.UTC
        return unix_moments(self._texts(self.time_name), zone, path=self.path, lines=self.lines)

    @property
    def value_names(self) -> tuple[str, ...]:
        """Names of the columns besides times."""
        return tuple(name for name in self.names if name.lower().split("(")[0].strip() not in TIME_NAMES)

    def column(self, name: str) -> str:
        """That column, or an error that lists those there are."""
        if name in self.names:
            return name
        near = difflib.get_close_matches(name[:100], [each[:100] for each in self.names], n=1)
        raise FileFormatError(
            self.path,
            f"has no column {name!r}; its columns are {', '.join(self.names)}",
            line=1,
            remedy=f"did you mean {near[0]!r}?" if near else "name one of them, or rename it in the file",
        )

    def value_column(self, name: str | None, word: str, prefer: str = "") -> str:
        """The column of a name; without one that whose name starts with a word, or the only one besides the times.

        Of several, the one that contains ``prefer``.
        """
        if name is not None:
            return self.column(name)
        values = list(self.value_names)
        found = [name for name in values if name.lower().startswith(word)]
        if prefer and len(found) > 1:
            found = [name for name in found if prefer in name.lower()]
        if not found and len(values) == 1:
            found = values
        if len(found) != 1:
            raise FileFormatError(
                self.path,
                f"cannot tell which column holds the {word} among {', '.join(self.names)}",
                line=1,
                remedy="name the column",
            )
        return found[0]

    def samples(self, name: str, what: str, bounds: Bounds = VALUE_IN_FILE) -> Samples:
        """One column as samples; empty cells are holes, anything else must be a number within bounds."""
        texts = self._texts(name)
        if name not in self._numbers:
            self._require_one_sign(name, texts)
            read = [number_of_text(with_point(text, self.separator)) for text in texts]
            holes = [text.lower() in ("", "nan", "na") for text in texts]
            self._numbers[name] = np.array(read, dtype=np.float64), np.array(holes, dtype=np.bool_)
        numbers, empty = self._numbers[name]
        inside = (numbers >= bounds.low) & (numbers <= bounds.high)
        bad = np.flatnonzero(~inside & ~empty)
        if bad.size:
            row = int(bad[0])
            problem = f"not a number {bounds}" if np.isfinite(numbers[row]) else "not a number"
            raise FileFormatError(
                self.path,
                f"{name} is {shortened(texts[row], 60)!r}, {problem}",
                line=self.lines[row],
                remedy="write a number, or leave the cell empty",
            )
        return Samples(what, self.moments.unix, numbers[self.moments.rows])

    def _require_one_sign(self, name: str, texts: Sequence[str]) -> None:
        """FileFormatError where a column has a number with a decimal comma and another with a point."""
        signs = [decimal_sign(text, self.separator) for text in texts]
        first = next((sign for sign in signs if sign), "")
        odd = next((row for row, sign in enumerate(signs) if sign not in ("", first)), None)
        if odd is not None:
            problem = f"{name} is {shortened(texts[odd], 60)!r}, where a row before it has the other decimal sign"
            raise FileFormatError(self.path, problem, line=self.lines[odd], remedy=ONE_SIGN)

    @cached_property
    def _numbers(self) -> dict[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]]:
        """The columns that were read so far, and where they are empty: every day asks for the same."""
        return {}

    def _texts(self, name: str) -> tuple[str, ...]:
        return self.columns[self.names.index(name)]
