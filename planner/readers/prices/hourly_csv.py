"""CSV tables with a time in each row: the common part of price, carbon and weather files."""

from __future__ import annotations

import datetime as dt
import difflib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from planner.domain.horizon import zone_named
from planner.errors import FileFormatError
from planner.readers.files import open_text
from planner.readers.local_times import Moments, unix_moments
from planner.readers.weather.samples import Samples

if TYPE_CHECKING:
    import pandas as pd

TIME_NAMES = ("time", "timestamp", "datetime", "date")
FIRST_LINE = 2


def read_timed_csv(path: Path | str, *, zone: str | None = None) -> TimedCsv:
    """Read a CSV (plain, .gz or .xz) whose rows carry a time.

    Parameters
    ----------
    path
        The file. Its time column is called time, timestamp, datetime or date, whatever the case and whatever
        follows in brackets; where there are several, the one marked ``(UTC)``.
    zone
        Zone of times that are written without one. A column marked ``(UTC)`` needs none.
    """
    import pandas as pd

    try:
        with open_text(path) as stream:
            frame = pd.read_csv(
                stream,
                dtype=str,
                skipinitialspace=True,
                skip_blank_lines=False,
                keep_default_na=False,
                na_values=[""],
            )
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        problem = str(error).strip().splitlines()[0]
        raise FileFormatError(
            path, f"cannot be read as CSV ({problem})", remedy="give a comma-separated file"
        ) from error
    frame.columns = frame.columns.str.strip()
    frame = frame.dropna(how="all")
    if frame.empty:
        raise FileFormatError(path, "has no rows", remedy="give a file with a header and values")
    return TimedCsv(Path(path), frame, zone)


@dataclass(frozen=True)
class TimedCsv:
    """The text of a table, its times read on demand."""

    path: Path
    frame: pd.DataFrame
    zone: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(str(name) for name in self.frame.columns)

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
        texts = self.frame[self.time_name].fillna("").tolist()
        lines = (self.frame.index.to_numpy(np.int64) + FIRST_LINE).tolist()
        return unix_moments(texts, zone, path=self.path, lines=lines)

    def column(self, name: str) -> str:
        """That column, or an error that lists those there are."""
        if name in self.names:
            return name
        near = difflib.get_close_matches(name, self.names, n=1)
        raise FileFormatError(
            self.path,
            f"has no column {name!r}; its columns are {', '.join(self.names)}",
            line=1,
            remedy=f"did you mean {near[0]!r}?" if near else "name one of them",
        )

    def column_starting(self, word: str, prefer: str = "") -> str:
        """The value column whose name starts with a word, or the only one beside the times.

        Of several, the one that contains ``prefer``.
        """
        values = [name for name in self.names if name.lower().split("(")[0].strip() not in TIME_NAMES]
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

    def samples(self, name: str, what: str) -> Samples:
        """One column as samples; empty cells are holes, anything else that is no number is an error."""
        import pandas as pd

        text = self.frame[name].str.strip()
        numbers = pd.to_numeric(text, errors="coerce").to_numpy(np.float64)
        bad = np.flatnonzero((~np.isfinite(numbers)) & ~text.str.lower().isin(["", "nan", "na"]) & text.notna())
        if bad.size:
            row = int(bad[0])
            raise FileFormatError(
                self.path,
                f"{name} is {text.iloc[row]!r}, not a number",
                line=int(self.frame.index[row]) + FIRST_LINE,
                remedy="write a number, or leave the cell empty",
            )
        return Samples(what, self.moments.unix, numbers[self.moments.rows])
