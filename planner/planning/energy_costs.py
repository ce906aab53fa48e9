"""What a kWh of work costs at each hour, with the prices and the weather of the time of a trace."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from planner.domain.columns import Floats
from planner.domain.horizon import Horizon
from planner.domain.pue_table import PueTable
from planner.domain.segment import StepSeries
from planner.domain.trace import Trace
from planner.errors import CoverageError, InputError
from planner.inputs.build import frame
from planner.inputs.prices import carbon_of, fee_of, feed_in_of, price_of
from planner.inputs.pue_csv import read_cooling
from planner.inputs.weather.read import weather_of
from planner.inputs.weather.solar import solar_of
from planner.inputs.weather.wet_bulb import wet_bulb_of
from planner.limits import DAY_S
from planner.online.expected_prices import DAYS_BEFORE, DAYS_LIKE_IT, QUARTER_S, EnergyCosts
from planner.online.objectives import ProfitTerms
from planner.scenario.revenue_tariff_carbon import HourlyTariff
from planner.scenario.schema import Scenario
from planner.scenario.solar_battery import FileSolar
from planner.units import GRAMS_PER_TONNE, MILLI, SECONDS_PER_HOUR


def profit_terms_of(scenario: Scenario, trace: Trace) -> ProfitTerms:
    """What the local objective of profit needs to know, with the prices of the time of a trace."""
    origin = origin_of(trace)
    first = Horizon.of_unix(origin, scenario.zone)
    length_s = origin - first.start_unix + last_end_s(trace) + (scenario.rules.max_delay_s or 0) + DAY_S
    problem, _ = frame(scenario, Horizon.from_moment(first.start_unix, length_s, scenario.zone))
    return ProfitTerms.of(problem, trace)


def energy_costs(scenario: Scenario, first_unix: int, last_unix: int, busy_w: float) -> EnergyCosts:
    """What a kWh of work costs by quarters of an hour on a stretch of time, and on some days before it.

    A quarter in which the site has more sun than it uses costs what feeding it in would earn. A battery changes nothing
    as long as the site draws more than it gives; a demand charge is left out (docs/holding.md).
    """
    table, _ = read_cooling(scenario.cooling.table, scenario.cooling.lookup)
    table = replace(table, clamp=True)
    first, last = (Horizon.of_unix(each, scenario.zone) for each in (first_unix, last_unix))
    days = [first.day + dt.timedelta(days=n) for n in range(-DAYS_BEFORE, (last.day - first.day).days + 1)]
    prices, cooled, known_from = [], [], []
    for day in days:
        horizon = Horizon(day, scenario.zone)
        quarters = horizon.start_unix + QUARTER_S * np.arange(horizon.length_s // QUARTER_S)
        is_old = day < first.day - dt.timedelta(days=DAYS_LIKE_IT)
        prices.append(_known(lambda part: _price(scenario, part, busy_w), horizon))
        cooled.append(
            np.full(len(quarters), np.nan)
            if is_old
            else _known(lambda part: _cooled(scenario, part, table, busy_w), horizon)
        )
        known_from.append(np.full(len(quarters), _published_unix(scenario, day)))
    return EnergyCosts(
        first_unix=Horizon(days[0], scenario.zone).start_unix,
        eur_per_kwh=np.concatenate(prices),
        known_from_unix=np.concatenate(known_from),
        cooled=np.concatenate(cooled),
    )


def origin_of(trace: Trace) -> int:
    if trace.origin_unix is None:
        raise InputError(f"{trace.source}: the trace has no date; add UnixStartTime for the price of the hour")
    return trace.origin_unix


def last_end_s(trace: Trace) -> int:
    return int(trace.submit_s[-1] + trace.requested_s.max()) if len(trace) else 0


def _published_unix(scenario: Scenario, day: dt.date) -> int:
    """When the prices of a day become known [Unix s]: on the day before, or always where they are no market's."""
    if not isinstance(scenario.tariff, HourlyTariff):
        return 0
    hour, minute = (int(part) for part in scenario.tariff.published_at.split(":"))
    before = Horizon(day - dt.timedelta(days=1), scenario.zone)
    return before.start_unix + hour * SECONDS_PER_HOUR + minute * 60


def _known(read: Callable[[Horizon], Floats], day: Horizon) -> Floats:
    """The quarters of a day as far as they are known, and NaN from then on."""
    found = np.full(day.length_s // QUARTER_S, np.nan)
    part = day
    while True:
        try:
            known = read(part)
        except CoverageError as error:
            until_s = 0 if error.until_unix is None else error.until_unix - day.start_unix
            until_s = min(until_s, part.length_s - QUARTER_S) // QUARTER_S * QUARTER_S
            if until_s <= 0:
                return found
            part = Horizon(day.day, day.zone, for_s=until_s)
            continue
        found[: len(known)] = known
        return found


def _price(scenario: Scenario, horizon: Horizon, busy_w: float) -> Floats:
    """What a bought kWh costs in each quarter of a day with its fees and its carbon [EUR]."""
    price = price_of(scenario.tariff, horizon, scenario.currency)
    found = _by_quarter(price, horizon)
    fee = fee_of(scenario.fees, horizon, scenario.tariff.eur_per_usd, scenario.currency)
    for extra, each in ((fee, 1.0), (carbon_of(scenario.carbon, horizon), None)):
        if extra is not None:
            per = scenario.carbon.eur_per_tonne / GRAMS_PER_TONNE if each is None else each
            found = found + per * _by_quarter(extra, horizon)
    if not isinstance(scenario.solar, FileSolar) and scenario.solar.peak_kw <= 0:
        return found
    try:
        weather, _ = weather_of(scenario.weather, horizon, humidity=False)
        sun = solar_of(scenario.solar, weather, horizon)
    except CoverageError:
        return found
    if sun is None:
        return found
    feed_in = feed_in_of(scenario.feed_in, price, horizon)
    earned = np.zeros(len(found)) if feed_in is None else np.maximum(0.0, _by_quarter(feed_in, horizon))
    return np.where((_by_quarter(sun, horizon) > busy_w) & (found > earned), earned, found)


def _cooled(scenario: Scenario, horizon: Horizon, table: PueTable, busy_w: float) -> Floats:
    """A kWh of work with its cooling in each quarter of a day, as a multiple of it."""
    is_wet = scenario.cooling.temperature == "wet-bulb"
    weather, _ = weather_of(scenario.weather, horizon, humidity=is_wet)
    temperature = table.segment_temperature(
        _by_quarter(wet_bulb_of(weather) if is_wet else weather.temperature_c, horizon)
    )
    busy_mws = np.full(len(temperature), round(busy_w * MILLI) * QUARTER_S, dtype=np.int64)
    length_s = np.full(len(temperature), QUARTER_S, dtype=np.int64)
    return 1.0 + table.look_up(table.rows(busy_mws, length_s), temperature)


def _by_quarter(series: StepSeries, horizon: Horizon) -> Floats:
    """The mean of a series over every quarter of an hour of a day."""
    edges = horizon.start_unix + QUARTER_S * np.arange(horizon.length_s // QUARTER_S + 1)
    until = np.concatenate([np.zeros(1), np.cumsum(series.values * np.diff(series.edges_unix))])
    found: Floats = np.diff(np.interp(edges, series.edges_unix, until)) / QUARTER_S
    return found
