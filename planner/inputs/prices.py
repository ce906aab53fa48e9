"""The price and the carbon intensity of electricity over the planning day, constant, in daily bands or from a file.

And the rates of a day, by a scenario and what the day before left: use, demand charge, carbon, battery.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import numpy as np

from planner.domain.horizon import Horizon
from planner.domain.rates import Battery, Rates
from planner.domain.segment import StepSeries, mean_series
from planner.domain.situation import SiteState
from planner.errors import FileFormatError, InputError
from planner.inputs.csv_lines import members_of
from planner.inputs.local_times import clock_minutes, clock_shifts
from planner.inputs.timed_csv import read_timed_csv
from planner.limits import EUR_PER_KWH, EUR_PER_USD, G_PER_KWH_IN_FILE
from planner.scenario.revenue_tariff_carbon import (
    BandTariff,
    Carbon,
    ConstantCarbon,
    FeedIn,
    Fees,
    HourlyCarbon,
    HourlyTariff,
    Tariff,
    TariffBand,
    clock_minute,
)
from planner.scenario.schema import Scenario
from planner.scenario.words import PriceUnit

MINUTES_PER_DAY = 1440
UNITS: tuple[str, ...] = get_args(PriceUnit)
EUR = "EUR"
_EUR = {EUR: 1.0, "ct": 1e-2}
_PER_KWH = {"kWh": 1.0, "MWh": 1e-3}
_ENERGY = {"wh": "Wh", "kwh": "kWh", "mwh": "MWh", "gwh": "GWh"}
_OTHER_MONEY = (
    "aud|bgn|brl|cad|chf|clp|cny|czk|dkk|gbp|huf|inr|isk|jpy|krw|mxn|nok|nzd|pln|ron|rsd|rub|sek|sgd|try|uah|zar"
    "|kr|öre|øre|pence|rappen"
)
"""Currencies of other power markets, to tell them from words such as ``fee/kWh``; in capitals any three letters do."""
_UNIT = re.compile(
    rf"(eur|usd|(?<![a-z])ct|(?<![a-z])(?:{_OTHER_MONEY})|[£¥₹₩₽₺₴])(?:os?|s)?\.?"
    r"[\s_-]*(?:/|per|[\s_-])[\s_-]*(kwh|mwh|g?wh(?![a-z]))"
)
_SIGNS = {
    **{"£": ("GBP",), "¥": ("JPY", "CNY"), "₹": ("INR",), "₩": ("KRW",), "₽": ("RUB",), "₺": ("TRY",), "₴": ("UAH",)},
    "KR": ("SEK", "NOK", "DKK", "ISK"),
}
"""What may stand for a currency besides its code."""
_CAPITALS = re.compile(r"(?<![A-Za-z])([A-Z]{3})\s*/\s*((?:[kKMG]?W[hH]))(?![a-z])")


def price_of(choice: Tariff, horizon: Horizon, currency: str = EUR) -> StepSeries:
    """The price [EUR/kWh] over the planning day by the ``tariff:`` of a scenario that counts in a currency."""
    if isinstance(choice, HourlyTariff):
        return hourly_tariff(
            choice.file,
            horizon,
            unit=choice.unit,
            column=choice.column,
            members=choice.members or (),
            zone=choice.zone,
            eur_per_usd=choice.eur_per_usd,
            currency=currency,
        )
    if isinstance(choice, BandTariff):
        return band_tariff(choice.bands, choice.eur_per_kwh, horizon)
    return flat_tariff(choice.eur_per_kwh, horizon)


def fee_of(choice: Fees, horizon: Horizon, eur_per_usd: float | None = None, currency: str = EUR) -> StepSeries | None:
    """What is paid on top of the price [EUR/kWh] over the planning day by the ``fees:`` of a scenario.

    ``eur_per_usd`` is the rate of its ``tariff:``.
    """
    if choice.file is not None:
        assert choice.unit is not None
        return hourly_tariff(
            choice.file,
            horizon,
            unit=choice.unit,
            column=choice.column,
            zone=choice.zone,
            eur_per_usd=eur_per_usd,
            currency=currency,
        )
    if not choice.bands and not choice.eur_per_kwh:
        return None
    return band_tariff(choice.bands, choice.eur_per_kwh, horizon)


def feed_in_of(choice: FeedIn, price: StepSeries, horizon: Horizon) -> StepSeries | None:
    """What feeding in earns [EUR/kWh] over the planning day by the ``feed_in:`` of a scenario."""
    if choice.of_price is not None:
        return StepSeries("feed-in price", price.edges_unix, price.values * choice.of_price)
    return None if choice.eur_per_kwh is None else flat_tariff(choice.eur_per_kwh, horizon)


def price_members(choice: Tariff) -> tuple[str, ...]:
    """The columns of the members of a forecast of prices; none where there is none."""
    if not isinstance(choice, HourlyTariff) or not choice.members:
        return ()
    table = read_timed_csv(choice.file, zone=choice.zone)
    return members_of(table.path, table.value_names, choice.members)


def flat_tariff(eur_per_kwh: float, horizon: Horizon) -> StepSeries:
    """One price [EUR/kWh] all day."""
    return StepSeries.constant("flat price", eur_per_kwh, horizon.start_unix, horizon.end_unix)


def band_tariff(bands: Sequence[TariffBand], default_eur_per_kwh: float, horizon: Horizon) -> StepSeries:
    """Prices by the time on the local clock: those of bands, which do not overlap, and the default outside [EUR/kWh].

    On a day of 23 or 25 hours a band loses or gains the hour of the clock change.
    """
    prices = np.full(MINUTES_PER_DAY, float(default_eur_per_kwh))
    for band in bands:
        start, end = clock_minute(band.start), clock_minute(band.end)
        length = (end - start) % MINUTES_PER_DAY or MINUTES_PER_DAY
        prices[(start + np.arange(length)) % MINUTES_PER_DAY] = band.eur_per_kwh
    values = prices[clock_minutes(horizon)]
    firsts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    edges = np.append(horizon.start_unix + 60 * firsts, horizon.end_unix).astype(np.int64)
    return StepSeries("price bands", edges, values[firsts])


def hourly_tariff(
    path: Path | str,
    horizon: Horizon,
    *,
    unit: str,
    column: str | None = None,
    members: Sequence[str] = (),
    zone: str | None = None,
    eur_per_usd: float | None = None,
    currency: str = EUR,
) -> StepSeries:
    """Prices of a CSV with one row per hour (or per quarter of an hour), each from its time on [EUR/kWh].

    The column is by default the one whose name starts with "price"; the price of ``members`` of a forecast, columns or
    patterns of them, is their mean. Times that are written without a zone are of ``zone``. The ``currency`` that a
    site counts in stands wherever EUR is said, so prices in it are not converted, and USD by ``eur_per_usd`` elsewhere;
    a column that is in EUR by its name is then an InputError.

    Of local times, a row in the hour that does not exist in spring is left out, and a single row for the hour
    that exists twice in autumn holds for both. Any other missing hour of the day is a CoverageError.
    """
    factor = _eur_per_kwh(unit, eur_per_usd, currency)
    table = read_timed_csv(path, zone=zone)
    what = f"price of {table.path.name}"
    names = members_of(table.path, table.value_names, members) if members else (table.value_column(column, "price"),)
    found = []
    for name in names:
        declared = unit_in(name)
        if declared is not None and declared != unit:
            money, energy = declared.split("/")
            is_own = not unit.startswith("USD") and currency.upper() in (money, *_SIGNS.get(money, ()))
            declared = f"{EUR}/{energy}" if is_own else declared
        elif declared is not None and declared.startswith(EUR) and currency != EUR:
            raise InputError(
                f"{path}: column {name!r} is in {EUR}, but the scenario counts in {currency}; convert its numbers into"
                f" {currency}, and name that in the header"
            )
        if declared is not None and declared not in UNITS:
            raise InputError(
                f"{path}: column {name!r} is in {declared}; known are {', '.join(UNITS[:-1])} and {UNITS[-1]}: convert"
                " its numbers into one of them, and name it in the header"
            )
        if declared not in (None, unit):
            raise InputError(f"{path}: column {name!r} is in {declared}, but the unit given is {unit}; correct one")
        called = f"price {name} of {table.path.name}" if members else what
        found.append(table.samples(name, called).on(clock_shifts(horizon, None))[0])
    prices = mean_series(what, found) if members else found[0]
    for price in (prices.values.min() * factor, prices.values.max() * factor):
        EUR_PER_KWH.require(f"{what}, per kWh,", float(price))
    return StepSeries(prices.what, prices.edges_unix, prices.values * factor)


def unit_in(name: str) -> str | None:
    """The unit that the name of a column says: ``EUR/MWh``, ``price_eur_per_mwh``, ``€/kWh``, ``cents per kWh``.

    It need not be one that can be read: ``GBP/kWh``, ``EUR/GWh``.
    """
    plain = name.lower().replace("€", "eur").replace("$", "usd").replace("cent", "ct")
    plain = plain.replace("euroct", "ct").replace("eurct", "ct")
    said = _UNIT.search(plain) or _CAPITALS.search(name)
    if said is None:
        return None
    money = said[1] if said[1] == "ct" else said[1].upper()
    return f"{money}/{_ENERGY[said[2].lower()]}"


def _eur_per_kwh(unit: str, eur_per_usd: float | None, currency: str) -> float:
    money, energy = unit.split("/")
    if money in _EUR or money == currency:
        return _EUR.get(money, 1.0) * _PER_KWH[energy]
    if eur_per_usd is None:
        raise InputError(f"prices in {unit} need an exchange rate; give eur_per_usd, such as 0.92")
    EUR_PER_USD.require("eur_per_usd", eur_per_usd)
    return _PER_KWH[energy] * eur_per_usd


def carbon_of(choice: Carbon, horizon: Horizon) -> StepSeries | None:
    """Carbon intensity [gCO2eq/kWh] over the planning day by the ``carbon:`` of a scenario; None where unknown."""
    if isinstance(choice, HourlyCarbon):
        return hourly_carbon(choice.file, horizon, column=choice.column, zone=choice.zone)
    if isinstance(choice, ConstantCarbon):
        return StepSeries.constant("constant carbon intensity", choice.g_per_kwh, horizon.start_unix, horizon.end_unix)
    return None


def hourly_carbon(
    path: Path | str, horizon: Horizon, *, column: str | None = None, zone: str | None = None
) -> StepSeries:
    """Carbon intensity of a CSV with one row per hour, each from its time on [gCO2eq/kWh].

    The hourly files of Electricity Maps fit as they are. The column is by default the one that starts with "carbon",
    and of several the life-cycle one ("LCA"), which counts the building of plants and the supply of fuel too. Times
    that are written without a zone are of ``zone``. A missing hour is a CoverageError.
    """
    table = read_timed_csv(path, zone=zone)
    name = table.value_column(column, "carbon", prefer="lca")
    samples = table.samples(name, f"carbon intensity of {table.path.name}", G_PER_KWH_IN_FILE)
    carbon, _ = samples.on(clock_shifts(horizon, None))
    if np.any(carbon.values < 0):
        raise FileFormatError(
            path, f"{name} is {carbon.values.min():g} g/kWh on the day", remedy="it must be 0 or more"
        )
    return carbon


def rates_of(scenario: Scenario, day: dt.date, state: SiteState | None = None) -> Rates:
    """The rates of a day; ``state`` is what the day before left, None on a first day."""
    revenue, demand = scenario.revenue, scenario.demand
    return Rates(
        eur_per_core_hour=revenue.eur_per_core_hour,
        demand_eur_per_kw=demand.eur_per_kw,
        demand_interval_s=demand.interval_s,
        carbon_eur_per_tonne=scenario.carbon.eur_per_tonne,
        eur_per_hour=revenue.eur_per_hour,
        class_prices=revenue.class_prices(),
        account_factors=revenue.accounts,
        qos_factors=revenue.qos,
        demand_so_far_kw=_so_far_kw(scenario, day, state),
        battery=_battery(scenario, state),
        carbon_weight_eur_per_tonne=scenario.goal.carbon_weight,
    )


def _so_far_kw(scenario: Scenario, day: dt.date, state: SiteState | None) -> float:
    """The peak that is charged already: that of the month so far, where the month is what is charged."""
    if scenario.demand.period == "day":
        return 0.0
    if state is None:
        return scenario.demand.peak_kw
    return state.peak_kw if state.is_of_month(day) else 0.0


def _battery(scenario: Scenario, state: SiteState | None) -> Battery | None:
    chosen = scenario.battery
    if not chosen.capacity_kwh:
        return None
    held = chosen.start_fraction * chosen.capacity_kwh
    if state is not None and state.battery_kwh is not None:
        held = min(state.battery_kwh, chosen.capacity_kwh)
    return Battery(
        chosen.capacity_kwh, chosen.power_kw, chosen.efficiency, held, chosen.end_fraction * chosen.capacity_kwh
    )
