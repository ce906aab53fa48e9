"""Weather, before any of it is used; and quantities over time that are constant between edges."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planner import limits
from planner.errors import CoverageError, InputError


@dataclass(frozen=True)
class StepSeries:
    """A piecewise-constant quantity: ``values[k]`` holds on [``edges_unix[k]``, ``edges_unix[k + 1]``).

    ``what`` says in words what it is and where it came from, for messages: "temperature of lyon.epw".
    """

    what: str
    edges_unix: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]

    def __post_init__(self) -> None:
        if len(self.edges_unix) != len(self.values) + 1 or not len(self.values):
            raise InputError(f"{self.what}: {len(self.values)} values need {len(self.values) + 1} edges")
        if not np.all(np.diff(self.edges_unix) > 0):
            raise InputError(f"{self.what}: times are not increasing; sort them and remove repeats")
        if not np.all(np.isfinite(self.values)):
            raise InputError(f"{self.what}: a value is missing or not a number")
        self.edges_unix.setflags(write=False)
        self.values.setflags(write=False)

    @classmethod
    def constant(cls, what: str, value: float, start_unix: int, end_unix: int) -> StepSeries:
        """One value from start to end."""
        return cls(what, np.array([start_unix, end_unix], dtype=np.int64), np.array([float(value)]))

    def between(self, start_unix: int, end_unix: int) -> StepSeries:
        """The part from start to end; CoverageError when the series does not cover it."""
        first, last = int(self.edges_unix[0]), int(self.edges_unix[-1])
        if start_unix < first or end_unix > last:
            raise CoverageError(
                f"{self.what} covers {utc_text(first)} to {utc_text(last)}, not all of {utc_text(start_unix)} to"
                f" {utc_text(end_unix)}; choose another day or a source that covers it"
            )
        low = int(np.searchsorted(self.edges_unix, start_unix, side="right")) - 1
        high = int(np.searchsorted(self.edges_unix, end_unix, side="left"))
        edges = self.edges_unix[low : high + 1].copy()
        edges[0], edges[-1] = start_unix, end_unix
        return StepSeries(self.what, edges, self.values[low:high].copy())

    def at(self, unix: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Values at moments that the series covers."""
        return self.values[np.searchsorted(self.edges_unix, unix, side="right") - 1]


def mean_series(what: str, series: Sequence[StepSeries]) -> StepSeries:
    """The mean of series over the same time, at every moment."""
    edges = np.unique(np.concatenate([one.edges_unix for one in series]))
    return StepSeries(what, edges, np.mean([one.at(edges[:-1]) for one in series], axis=0))


def utc_text(unix: int) -> str:
    """A moment as messages tell it."""
    return dt.datetime.fromtimestamp(int(unix), tz=dt.UTC).strftime("%Y-%m-%d %H:%M UTC")


@dataclass(frozen=True)
class Weather:
    """The outside of one planning day, and where it was observed.

    Series and places are there where the source has them: temperature is dry-bulb, ``ghi``, ``dni`` and ``dhi`` are
    global horizontal, direct normal and diffuse horizontal irradiance, humidity is over water, pressure at the place;
    latitude is positive north, longitude east, altitude above sea level. ``members`` are those of a forecast whose mean
    the temperature is. ``taken_day`` is another date whose weather stands in for the planning day; the sun of that date
    goes with it.
    """

    source: str
    temperature_c: StepSeries
    ghi_w_per_m2: StepSeries | None = None
    dni_w_per_m2: StepSeries | None = None
    dhi_w_per_m2: StepSeries | None = None
    wind_m_per_s: StepSeries | None = None
    cloud_percent: StepSeries | None = None
    humidity_percent: StepSeries | None = None
    pressure_hpa: StepSeries | None = None
    latitude_deg: float | None = None
    longitude_deg: float | None = None
    altitude_m: float | None = None
    members: tuple[str, ...] = ()
    taken_day: dt.date | None = None

    def __post_init__(self) -> None:
        for what, value, within in (
            ("latitude", self.latitude_deg, limits.LATITUDE_DEG),
            ("longitude", self.longitude_deg, limits.LONGITUDE_DEG),
            ("altitude", self.altitude_m, limits.ALTITUDE_M),
        ):
            if value is not None:
                within.require(f"{self.source}: {what}", value)
