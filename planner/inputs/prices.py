"""The price of electricity over the planning day, flat, in daily bands or from an hourly file, with its fees."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np

from planner.domain.horizon import Horizon
from planner.domain.weather import StepSeries, mean_series
from planner.errors import InputError
from planner.inputs.csv_lines import members_of
from planner.inputs.local_times import clock_minutes, clock_shifts
from planner.inputs.timed_csv import read_timed_csv
from planner.limits import EUR_PER_KWH, EUR_PER_USD
from planner.scenario.tariff import BandTariff, FeedIn, Fees, HourlyTariff, Tariff
from planner.scenario.words import PriceUnit

MINUTES_PER_DAY = 1440
UNITS: tuple[str, ...] = get_args(PriceUnit)
_EUR = {"EUR": 1.0, "ct": 1e-2}
_PER_KWH = {"kWh": 1.0, "MWh": 1e-3}

_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)|24:00")


@dataclass(frozen=True)
class PriceBand:
    """A price [EUR/kWh] between two local clock times, every day; ``22:00`` to ``06:00`` wraps over midnight."""

    start: str
    end: str
    eur_per_kwh: float


def price_of(choice: Tariff, horizon: Horizon) -> StepSeries:
    """The price [EUR/kWh] over the planning day by the ``tariff:`` of a scenario."""
    if isinstance(choice, HourlyTariff):
        return hourly_tariff(
            choice.file,
            horizon,
            unit=choice.unit,
            column=choice.column,
            members=choice.members or (),
            zone=choice.zone,
            eur_per_usd=choice.eur_per_usd,
        )
    if isinstance(choice, BandTariff):
        bands = [PriceBand(band.start, band.end, band.eur_per_kwh) for band in choice.bands]
        return band_tariff(bands, choice.eur_per_kwh, horizon)
    return flat_tariff(choice.eur_per_kwh, horizon)


def fee_of(choice: Fees, horizon: Horizon) -> StepSeries | None:
    """What is paid on top of the price [EUR/kWh] over the planning day by the ``fees:`` of a scenario."""
    if choice.file is not None:
        assert choice.unit is not None
        return hourly_tariff(choice.file, horizon, unit=choice.unit, column=choice.column, zone=choice.zone)
    if not choice.bands and not choice.eur_per_kwh:
        return None
    bands = [PriceBand(band.start, band.end, band.eur_per_kwh) for band in choice.bands]
    return band_tariff(bands, choice.eur_per_kwh, horizon)


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
    _check_price(eur_per_kwh)
    return StepSeries.constant("flat price", eur_per_kwh, horizon.start_unix, horizon.end_unix)


def band_tariff(bands: Sequence[PriceBand], default_eur_per_kwh: float, horizon: Horizon) -> StepSeries:
    """Prices by the time on the local clock.

    Parameters
    ----------
    bands
        Prices between clock times; they may touch, not overlap.
    default_eur_per_kwh
        Price [EUR/kWh] outside all bands.
    horizon
        The planning day. On a day of 23 or 25 hours a band loses or gains the hour of the clock change.
    """
    _check_price(default_eur_per_kwh)
    prices = np.full(MINUTES_PER_DAY, float(default_eur_per_kwh))
    owner = np.full(MINUTES_PER_DAY, -1)
    for index, band in enumerate(bands):
        _check_price(band.eur_per_kwh)
        minutes = _band_minutes(band)
        taken = owner[minutes]
        if np.any(taken >= 0):
            other = bands[int(taken[taken >= 0][0])]
            raise InputError(
                f"price bands {other.start} to {other.end} and {band.start} to {band.end} overlap;"
                " let one end where the other starts"
            )
        owner[minutes] = index
        prices[minutes] = band.eur_per_kwh
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
) -> StepSeries:
    """Prices of a CSV with one row per hour (or per quarter of an hour), each from its time on.

    Parameters
    ----------
    path
        The file, plain or packed.
    horizon
        The planning day.
    unit
        Unit of the file's prices, one of ``UNITS``.
    column
        Name of the price column; by default the one whose name starts with "price".
    members
        Columns of the members of a forecast, or patterns of them: the price is their mean.
    zone
        Zone of times that are written without one.
    eur_per_usd
        Exchange rate, needed for prices in USD.

    Returns
    -------
    StepSeries
        Price [EUR/kWh] over exactly the planning day; it may be negative.

    Notes
    -----
    Of local times, a row in the hour that does not exist in spring is left out, and a single row for the hour
    that exists twice in autumn holds for both. Any other missing hour of the day is a CoverageError.
    """
    factor = _eur_per_kwh(unit, eur_per_usd)
    table = read_timed_csv(path, zone=zone)
    what = f"price of {table.path.name}"
    if members:
        names = members_of(table.path, table.value_names, members)
    else:
        names = (table.column(column) if column is not None else table.column_starting("price"),)
    found = []
    for name in names:
        declared = next((known for known in UNITS if known.lower() in name.lower()), unit)
        if declared != unit:
            raise InputError(f"{path}: column {name!r} is in {declared}, but the unit given is {unit}; correct one")
        called = f"price {name} of {table.path.name}" if members else what
        found.append(table.samples(name, called).on(clock_shifts(horizon, None))[0])
    prices = mean_series(what, found) if members else found[0]
    for price in (prices.values.min() * factor, prices.values.max() * factor):
        EUR_PER_KWH.require(f"{what}, per kWh,", float(price))
    return StepSeries(prices.what, prices.edges_unix, prices.values * factor)


def _eur_per_kwh(unit: str, eur_per_usd: float | None) -> float:
    if unit not in UNITS:
        raise InputError(f"unknown unit of price {unit!r}; use one of {', '.join(UNITS)}")
    money, energy = unit.split("/")
    if money in _EUR:
        return _EUR[money] * _PER_KWH[energy]
    if eur_per_usd is None:
        raise InputError(f"prices in {unit} need an exchange rate; give eur_per_usd, such as 0.92")
    EUR_PER_USD.require("eur_per_usd", eur_per_usd)
    return _PER_KWH[energy] * eur_per_usd


def _band_minutes(band: PriceBand) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    start, end = _minute(band.start), _minute(band.end)
    if start == end:
        raise InputError(f"the price band {band.start} to {band.end} is empty; for a whole day write 00:00 to 24:00")
    length = (end - start) % MINUTES_PER_DAY or MINUTES_PER_DAY
    return (start + np.arange(length, dtype=np.int64)) % MINUTES_PER_DAY


def _minute(clock: str) -> int:
    # YAML 1.1 reads a bare 22:00 as the number 1320
    if not isinstance(clock, str) or not _CLOCK.fullmatch(clock):
        raise InputError(f"cannot read {clock!r} as a clock time; write it as '22:00', in quotes")
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)


def _check_price(eur_per_kwh: float) -> None:
    EUR_PER_KWH.require("the price per kWh", eur_per_kwh)
