"""CSV tables with a time in each row: the common part of price, carbon and weather files."""

from __future__ import annotations

import datetime as dt
import difflib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from planner.bounds import VALUE_IN_FILE, Bounds
from planner.domain.horizon import zone_named
from planner.errors import FileFormatError
from planner.inputs.csv_lines import SIGNS, numbered_rows, separator_of, with_point
from planner.inputs.local_times import Moments, unix_moments
from planner.inputs.weather.samples import Samples
from planner.printable import shortened
from planner.text_files import open_text

TIME_NAMES = ("time", "timestamp", "datetime", "date")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def read_timed_csv(path: Path | str, *, zone: str | None = None) -> TimedCsv:
    """Read a CSV (plain, .gz or .xz) whose rows carry a time, its cells parted by commas or by semicolons.

    Parameters
    ----------
    path
        The file. Its time column is called time, timestamp, datetime or date, whatever the case and whatever
        follows in brackets; where there are several, the one marked ``(UTC)``.
    zone
        Zone of times that are written without one. A column marked ``(UTC)`` needs none.
    """
    path = Path(path)
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
    def moments(self) -> Moments:
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
            remedy=f"did you mean {near[0]!r}?" if near else "name one of them",
        )

    def column_starting(self, word: str, prefer: str = "") -> str:
        """The value column whose name starts with a word, or the only one besides the times.

        Of several, the one that contains ``prefer``.
        """
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
        numbers = np.array([_number(with_point(text, self.separator)) for text in texts], dtype=np.float64)
        empty = np.array([text.lower() in ("", "nan", "na") for text in texts], dtype=np.bool_)
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

    def _texts(self, name: str) -> tuple[str, ...]:
        return self.columns[self.names.index(name)]


def _number(text: str) -> float:
    return float(text) if _NUMBER.fullmatch(text) else float("nan")
