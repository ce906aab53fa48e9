"""What plans cost under each member of a forecast: planned once on the mean, settled again member by member."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from planner.accounting.settle import settle
from planner.domain.day_summary import DaySummary
from planner.domain.horizon import Horizon
from planner.domain.ledger import Totals
from planner.errors import InputError, TableError
from planner.inputs.build import frame
from planner.inputs.prices import price_members
from planner.inputs.weather.read import weather_of
from planner.runs.figures import Row
from planner.scenario.schema import Scenario
from planner.scenario.tariff import HourlyTariff
from planner.scenario.weather import FileWeather
from planner.store.read_day import read_day

MEAN = "mean"
FIGURES = (
    "profit_eur",
    "revenue_eur",
    "energy_cost_eur",
    "cooling_cost_eur",
    "it_kwh",
    "cooling_kwh",
    "bought_kwh",
    "solar_kwh",
    "carbon_kg",
)
"""Figures of a member, which add up over days."""


@dataclass(frozen=True)
class Member:
    """A member of the forecast of weather or prices: a column of its file."""

    forecast: Literal["weather", "price"]
    name: str

    def scenario(self, whole: Scenario) -> Scenario:
        """The scenario with this member for certain, and the other forecast at its mean."""
        section = "weather" if self.forecast == "weather" else "tariff"
        alone = getattr(whole, section).model_copy(update={"members": (self.name,)})
        return whole.model_copy(update={section: alone})


def forecast_members(scenario: Scenario, horizon: Horizon) -> list[Member]:
    """The members of a scenario's forecasts; InputError where it has none."""
    found: list[Member] = []
    if isinstance(scenario.weather, FileWeather) and scenario.weather.members:
        weather, _ = weather_of(scenario.weather, horizon)
        found += [Member("weather", name) for name in weather.members]
    if isinstance(scenario.tariff, HourlyTariff):
        found += [Member("price", name) for name in price_members(scenario.tariff)]
    if not found:
        raise InputError(
            f"scenario {scenario.name} has no members of a forecast; give weather.members, or tariff.members with"
            " kind: hourly, or leave --members out"
        )
    return found


def member_rows(scenario: Scenario, method: str, summaries: Sequence[DaySummary], folder: Path) -> list[Row]:
    """A row for the mean on which the written days of a run were planned, and one for each member of a forecast.

    Each has the sums over the days of the same plans, and the profit more than under the mean.
    """
    written = [read_day(folder / summary.day.isoformat()) for summary in summaries]
    members = forecast_members(scenario, summaries[0].horizon)
    mean = [day.ledger.totals for day in written]
    names: Row = {"scenario": scenario.name, "method": method}
    rows = [names | {"forecast": MEAN, "member": MEAN} | _sums(mean)]
    for member in members:
        alone = member.scenario(scenario)
        totals = []
        for day in written:
            segments = frame(alone, day.happened.horizon)[0].segments
            try:
                totals.append(settle(replace(day.happened, segments=segments), day.plan).totals)
            except TableError as error:
                raise TableError(f"{member.forecast} member {member.name}: {error}") from error
        rows.append(names | {"forecast": member.forecast, "member": member.name} | _sums(totals))
    return [row | {"profit_difference_eur": round(row["profit_eur"] - rows[0]["profit_eur"], 6) + 0.0} for row in rows]


def _sums(days: Sequence[Totals]) -> Row:
    sums = {name: round(math.fsum(getattr(day, name) for day in days), 6) + 0.0 for name in FIGURES}
    return sums | {"pue": round(1 + sums["cooling_kwh"] / sums["it_kwh"], 6) if sums["it_kwh"] else 1.0}
