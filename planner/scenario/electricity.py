"""What a site pays besides the price of electricity, and what it does with its own: fees, feed-in, peaks, a battery."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from planner import bounds
from planner.scenario.forms import Duration, Within, problem
from planner.scenario.sections import Key, Section
from planner.scenario.tariff import TariffBand, apart
from planner.scenario.values import InputFile, Words, Zone
from planner.scenario.words import PriceUnit


class Fees(Section):
    """What is paid for each bought kWh on top of the price: grid fees, levies and taxes."""

    eur_per_kwh: Annotated[
        float, Within(bounds.EUR_PER_KWH), Key("EUR per kWh", "paid on top of the price, outside all bands")
    ] = 0.0
    bands: Annotated[tuple[TariffBand, ...], AfterValidator(apart)] = ()
    file: Annotated[InputFile | None, Key("path", "table of fees over time, instead of the two above")] = None
    column: Annotated[Words | None, Key("text", "column of the fee", default="found by its name")] = None
    unit: Annotated[PriceUnit | None, Key("word", "as of prices", default="required for file")] = None
    zone: Annotated[
        Zone | None, Key("time zone", "zone of times that the file gives without one", default="from the file")
    ] = None

    @model_validator(mode="after")
    def _one_way(self) -> Fees:
        if self.file is None:
            given = [name for name in ("column", "unit", "zone") if getattr(self, name) is not None]
            if given:
                raise problem("is of a file", "give fees.file, or remove it", at=given[0])
        elif self.unit is None:
            raise problem("missing", "a file needs it: write unit: EUR/MWh", at="unit")
        elif self.bands or self.eur_per_kwh:
            raise problem("stands beside bands or eur_per_kwh", "keep one of them", at="file")
        return self


class FeedIn(Section):
    """What the site's own sun earns that it does not use: a price of its own, or a part of the tariff's."""

    rivals = ("eur_per_kwh", "of_price")
    eur_per_kwh: Annotated[
        float | None,
        Within(bounds.EUR_PER_KWH),
        Key("EUR per kWh", "what a kWh of unused sun earns when it is fed into the grid", default="nothing is fed in"),
    ] = None
    of_price: Annotated[
        float | None,
        Within(bounds.FRACTION),
        Key("fraction", "instead: this part of the price of the hour, as of `tariff`", default="none"),
    ] = None


class Demand(Section):
    """A charge on the peak of the day or the month: money per kW of the highest mean power over an interval."""

    eur_per_kw: Annotated[float, Within(bounds.EUR_PER_KW), Key("EUR per kW", "charge on the day's peak")] = 0.0
    interval_s: Annotated[
        int,
        Duration(bounds.DEMAND_INTERVAL_S),
        Field(alias="interval"),
        Key("duration", "the peak is the highest mean over this long", default="`15m`"),
    ] = 900
    period: Annotated[
        Literal["day", "month"],
        Key(
            "word",
            "`day`: each day's peak is charged; `month`: the month's, each day by as much as it goes above the peak so"
            " far, which is carried from day to day",
        ),
    ] = "day"
    peak_kw: Annotated[
        float, Within(bounds.SITE_KW), Key("kW", "with `month`: the month's peak before the first planned day")
    ] = 0.0


class BatterySection(Section):
    """The site's battery; 0 kWh is none."""

    capacity_kwh: Annotated[
        float, Within(bounds.Bounds(0, bounds.BATTERY_KWH.high, "kWh")), Key("kWh", "what it holds; 0 is none")
    ] = 0.0
    power_kw: Annotated[
        float,
        Within(bounds.Bounds(0, bounds.BATTERY_KW.high, "kW")),
        Key("kW", "the most that it takes or gives", default="required with a capacity"),
    ] = 0.0
    efficiency: Annotated[
        float,
        Within(bounds.EFFICIENCY),
        Key("fraction", "part of what is put in that comes out again; half of the loss is at each end"),
    ] = 0.9
    start_fraction: Annotated[
        float, Within(bounds.FRACTION), Key("fraction", "part of its capacity that it holds on the first planned day")
    ] = 0.5
    end_fraction: Annotated[
        float,
        Within(bounds.FRACTION),
        Key("fraction", "part of its capacity that it holds at least when a day ends, as far as it can be charged"),
    ] = 0.5

    @model_validator(mode="after")
    def _as_physics_allows(self) -> BatterySection:
        if self.capacity_kwh and not self.power_kw:
            raise problem("missing", "a battery needs it: write power_kw: 50", at="power_kw")
        most = bounds.BATTERY_KW_PER_KWH.high * self.capacity_kwh
        if self.power_kw > most:
            told = f"{self.power_kw:g} kW would empty {self.capacity_kwh:g} kWh in less than three minutes"
            raise problem(told, f"give at most {most:g}, or a larger capacity_kwh", at="power_kw")
        return self


class Sleep(Section):
    """When nodes without work sleep; only those of classes with ``sleep_w`` do."""

    after_s: Annotated[
        int,
        Duration(bounds.NODE_SLEEP_S),
        Field(alias="after"),
        Key("duration", "a node sleeps after so long without work, as Slurm's SuspendTime", default="`0s`"),
    ] = 0
    wake_s: Annotated[
        int,
        Duration(bounds.NODE_SLEEP_S),
        Field(alias="wake"),
        Key(
            "duration",
            "what it takes to wake up, at its idle power; it is awake when its next job starts",
            default="`0s`",
        ),
    ] = 0
