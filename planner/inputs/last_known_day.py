"""A day's segments, from its weather and prices; what is not known of them yet is as on the last day that is known."""

from __future__ import annotations

from itertools import pairwise

from planner.domain.horizon import Horizon
from planner.domain.intake import Intake
from planner.domain.pue_table import PueTable
from planner.domain.segment import Segment, StepSeries, cut_segments, join_segments, split_segments, stretch_segments
from planner.errors import CoverageError
from planner.inputs.prices import carbon_of, fee_of, feed_in_of, price_of
from planner.inputs.weather.read import weather_of
from planner.inputs.weather.solar import solar_of
from planner.inputs.weather.wet_bulb import wet_bulb_of
from planner.scenario.schema import Scenario

QUARTER_S = 900
DAYS_BACK = 30
"""How far back a day is looked for of which prices and weather are known."""

Segments = tuple[tuple[Segment, ...], Intake, list[tuple[int, float]]]
"""Segments, what was kept of the weather, and from when on [Unix s] it has which temperature [C]."""


def segments_of(scenario: Scenario, day: Horizon, table: PueTable, *, repeats: bool = False) -> Segments:
    """The segments of a day; CoverageError where not all is known, unless it ``repeats`` the last day that is."""
    try:
        return _segments(scenario, day, table)
    except CoverageError as error:
        if not repeats:
            raise
        return _as_far_as_known(scenario, day, table, error)


def _segments(scenario: Scenario, horizon: Horizon, table: PueTable) -> Segments:
    """The segments of a day, what the reader of weather kept, and the temperature as the weather has it."""
    is_wet = scenario.cooling.temperature == "wet-bulb"
    weather, intake = weather_of(scenario.weather, horizon, humidity=is_wet)
    temperature_c = wet_bulb_of(weather) if is_wet else weather.temperature_c
    price = price_of(scenario.tariff, horizon, scenario.currency)
    segments = cut_segments(
        horizon,
        table,
        temperature_c,
        solar_w=solar_of(scenario.solar, weather, horizon),
        price_eur_per_kwh=price,
        fee_eur_per_kwh=fee_of(scenario.fees, horizon, scenario.tariff.eur_per_usd, scenario.currency),
        feed_in_eur_per_kwh=feed_in_of(scenario.feed_in, price, horizon),
        carbon_g_per_kwh=carbon_of(scenario.carbon, horizon),
    )
    return segments, intake, _steps(temperature_c.between(horizon.start_unix, horizon.end_unix))


def _as_far_as_known(scenario: Scenario, day: Horizon, table: PueTable, error: CoverageError) -> Segments:
    """The segments of a day of which not all is known: the rest is as at the same time of the last day that is."""
    segments, intake, temperatures = _last_known(scenario, day, table, error)
    rest = stretch_segments(segments, day.length_s)
    known_s = _known_s(day, error)
    while known_s:
        try:
            known, intake, temperatures = _segments(scenario, Horizon(day.day, day.zone, for_s=known_s), table)
        except CoverageError as earlier:  # prices may end before the weather does
            known_s, error = min(known_s - QUARTER_S, _known_s(day, earlier)), earlier
            continue
        rest = (*known, *(each for each in split_segments(rest, [known_s]) if each.start_s >= known_s))
        break
    since = day.to_datetime(known_s).isoformat(timespec="minutes")
    what = error.what or "prices or weather"
    intake.alerts.append(f"{what}: not known from {since} on; taken as on the last day of which all is known")
    return join_segments(day, [(day, rest)]), intake, temperatures


def _known_s(day: Horizon, error: CoverageError) -> int:
    """How much of a day is known, in whole quarters of an hour [s]."""
    known_s = 0 if error.until_unix is None else error.until_unix - day.start_unix
    return max(0, known_s // QUARTER_S * QUARTER_S)


def _last_known(scenario: Scenario, day: Horizon, table: PueTable, error: CoverageError) -> Segments:
    """The last day before one of which all is known; the error where there is none."""
    before = day
    for _ in range(DAYS_BACK):
        before = before.day_before()
        try:
            segments, intake, temperatures = _segments(scenario, before, table)
        except CoverageError:
            continue
        shift = day.start_unix - before.start_unix
        return segments, intake, [(unix + shift, value) for unix, value in temperatures]
    raise error


def _steps(series: StepSeries) -> list[tuple[int, float]]:
    """From when on [Unix seconds] a series has which value, each once."""
    pairs = list(zip(series.edges_unix.tolist(), series.values.tolist(), strict=False))
    return [pairs[0], *(now for before, now in pairwise(pairs) if now[1] != before[1])]
