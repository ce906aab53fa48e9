"""Segments: the day cut where its temperature, price, sunlight or carbon intensity changes; the same as flat arrays.

They are made of weather, before any of it is used, and of quantities over time that are constant between edges.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from planner import limits
from planner.domain.columns import Floats, Ints
from planner.domain.horizon import Horizon
from planner.domain.pue_table import PueTable
from planner.errors import CoverageError, InputError
from planner.units import GRAMS_PER_TONNE, utc_minute


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
                f"{self.what} covers {utc_minute(first)} to {utc_minute(last)}, not all of {utc_minute(start_unix)} to"
                f" {utc_minute(end_unix)}; choose another day or a source that covers it"
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


@dataclass(frozen=True, slots=True)
class Segment:
    """A half-open stretch of the day with one temperature and one price.

    Bounds are in seconds from the start of the day. ``temperature_c`` is that outside, a step of the PUE table unless
    cooling is linear between steps. ``solar_w`` is the mean power of the site's own photovoltaics. A bought kWh costs
    its price and ``fee_eur_per_kwh``: grid fees, levies, taxes. ``feed_in_eur_per_kwh`` is what a kWh of own sun earns
    in the grid; below zero it is not fed in. ``counts`` is what money counts when plans are compared: below 1 for days
    that are looked at, and not kept.
    """

    start_s: int
    end_s: int
    temperature_c: float
    price_eur_per_kwh: float
    solar_w: float = 0.0
    carbon_g_per_kwh: float = 0.0
    counts: float = 1.0
    fee_eur_per_kwh: float = 0.0
    feed_in_eur_per_kwh: float = 0.0

    @property
    def length_s(self) -> int:
        """Length [s]."""
        return self.end_s - self.start_s


_SERIES = (
    "temperature_c",
    "price_eur_per_kwh",
    "solar_w",
    "carbon_g_per_kwh",
    "fee_eur_per_kwh",
    "feed_in_eur_per_kwh",
)
"""What a segment takes of a series, in the order of `cut_segments`."""


def cut_segments(
    horizon: Horizon,
    table: PueTable,
    temperature_c: StepSeries,
    price_eur_per_kwh: StepSeries,
    *,
    solar_w: StepSeries | None = None,
    carbon_g_per_kwh: StepSeries | None = None,
    fee_eur_per_kwh: StepSeries | None = None,
    feed_in_eur_per_kwh: StepSeries | None = None,
) -> tuple[Segment, ...]:
    """Cut the day wherever the temperature leaves its step in the table or one of the other series changes.

    Where cooling is linear between steps it is cut wherever the temperature changes.

    Neighbours with the same values are one segment, however finely the inputs are sampled.
    """
    start, end = horizon.start_unix, horizon.end_unix
    series = [
        one.between(start, end) if one is not None else StepSeries.constant("nothing", 0.0, start, end)
        for one in (temperature_c, price_eur_per_kwh, solar_w, carbon_g_per_kwh, fee_eur_per_kwh, feed_in_eur_per_kwh)
    ]
    edges = np.unique(np.concatenate([one.edges_unix for one in series]))
    moments = edges[:-1]
    steps = table.segment_temperature(series[0].at(moments))
    columns = np.column_stack([steps, *(one.at(moments) for one in series[1:])])
    changes = np.any(columns[1:] != columns[:-1], axis=1)
    firsts = np.flatnonzero(np.concatenate([[True], changes]))
    lasts = np.append(firsts[1:], len(moments))
    return tuple(
        Segment(
            int(edges[first] - start),
            int(edges[last] - start),
            **dict(zip(_SERIES, columns[first].tolist(), strict=True)),
        )
        for first, last in zip(firsts, lasts, strict=True)
    )


def join_segments(horizon: Horizon, of_days: Sequence[tuple[Horizon, tuple[Segment, ...]]]) -> tuple[Segment, ...]:
    """The segments of a stretch of time out of those of the days that it touches.

    Neighbours with the same values are one segment, also across midnight.
    """
    joined: list[Segment] = []
    for day, segments in of_days:
        shift = day.start_unix - horizon.start_unix
        for one in segments:
            start, end = max(one.start_s + shift, 0), min(one.end_s + shift, horizon.length_s)
            if start >= end:
                continue
            before = replace(joined[-1], start_s=start, end_s=end) if joined else None
            moved = replace(one, start_s=start, end_s=end)
            if moved == before:
                joined[-1] = replace(joined[-1], end_s=end)
            else:
                joined.append(moved)
    return tuple(joined)


def stretch_segments(segments: Sequence[Segment], length_s: int) -> tuple[Segment, ...]:
    """The segments of a day for one of another length, as when the clocks change: its last hour is longer, or cut."""
    kept = [one for one in segments if one.start_s < length_s]
    return (*kept[:-1], replace(kept[-1], end_s=length_s))


def split_segments(segments: Sequence[Segment], moments_s: Sequence[int]) -> tuple[Segment, ...]:
    """The same segments, cut at some moments as well."""
    split = []
    for one in segments:
        cuts = [moment for moment in moments_s if one.start_s < moment < one.end_s]
        split += [replace(one, start_s=start, end_s=end) for start, end in pairwise([one.start_s, *cuts, one.end_s])]
    return tuple(split)


@dataclass(frozen=True, eq=False)
class SegmentColumns:
    """Segments as arrays, one entry per segment.

    ``edges_s`` are the starts and the end of the last. ``full_price_eur_per_kwh`` is the price of bought electricity
    with its fees and its carbon. ``feed_in_eur_per_kwh`` is 0 where feeding in would cost something: then sun that the
    site does not use is curtailed. The site ``uses_sun`` where bought electricity costs more than feeding in earns.
    """

    edges_s: Ints
    length_s: Ints
    temperature_c: Floats
    price_eur_per_kwh: Floats
    carbon_g_per_kwh: Floats
    fee_eur_per_kwh: Floats
    full_price_eur_per_kwh: Floats
    solar_w: Floats
    feed_in_eur_per_kwh: Floats
    uses_sun: npt.NDArray[np.bool_]
    counts: Floats

    def __len__(self) -> int:
        return len(self.length_s)

    def counted_s(self, start_s: Ints, end_s: Ints) -> Floats:
        """Seconds of the segments between starts and ends, each as much as its segment counts."""
        until = np.concatenate([[0.0], np.cumsum(self.length_s * self.counts)])
        seconds: Floats = np.interp(end_s, self.edges_s, until) - np.interp(start_s, self.edges_s, until)
        return seconds


def segment_columns(segments: Sequence[Segment], carbon_eur_per_tonne: float) -> SegmentColumns:
    """The segments of a day as arrays; they follow each other without gaps."""

    def column(name: str) -> Floats:
        return np.array([getattr(segment, name) for segment in segments], dtype=np.float64)

    edges_s = np.array([*(segment.start_s for segment in segments), segments[-1].end_s], dtype=np.int64)
    price, fee, carbon_g = column("price_eur_per_kwh"), column("fee_eur_per_kwh"), column("carbon_g_per_kwh")
    feed_in = np.maximum(0.0, column("feed_in_eur_per_kwh"))
    full_price = price + fee + carbon_g / GRAMS_PER_TONNE * carbon_eur_per_tonne
    return SegmentColumns(
        edges_s=edges_s,
        length_s=np.diff(edges_s),
        temperature_c=column("temperature_c"),
        price_eur_per_kwh=price,
        carbon_g_per_kwh=carbon_g,
        fee_eur_per_kwh=fee,
        full_price_eur_per_kwh=full_price,
        solar_w=column("solar_w"),
        feed_in_eur_per_kwh=feed_in,
        uses_sun=full_price > feed_in,
        counts=column("counts"),
    )
