"""What a site does with electricity besides its price: fees, carbon, own sun, feed-in, peaks and a battery."""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from planner import limits
from planner.scenario.chooser import KeyChooser
from planner.scenario.sections import Key, Section
from planner.scenario.tariff import TariffBand, apart
from planner.scenario.values import Duration, InputFile, Within, Words, Zone, problem
from planner.scenario.words import PriceUnit, SolarUnit


class Fees(Section):
    """What is paid for each bought kWh on top of the price: grid fees, levies and taxes."""

    eur_per_kwh: Annotated[
        float, Within(limits.EUR_PER_KWH), Key("EUR per kWh", "paid on top of the price, outside all bands")
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
        Within(limits.EUR_PER_KWH),
        Key("EUR per kWh", "what a kWh of unused sun earns when it is fed into the grid", default="nothing is fed in"),
    ] = None
    of_price: Annotated[
        float | None,
        Within(limits.FRACTION),
        Key("fraction", "instead: this part of the price of the hour, as of `tariff`", default="none"),
    ] = None


class Demand(Section):
    """A charge on the peak of the day or the month: money per kW of the highest mean power over an interval."""

    eur_per_kw: Annotated[float, Within(limits.EUR_PER_KW), Key("EUR per kW", "charge on the day's peak")] = 0.0
    interval_s: Annotated[
        int,
        Duration(limits.DEMAND_INTERVAL_S),
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
        float, Within(limits.SITE_KW), Key("kW", "with `month`: the month's peak before the first planned day")
    ] = 0.0


class BatterySection(Section):
    """The site's battery; 0 kWh is none."""

    capacity_kwh: Annotated[
        float, Within(limits.Bounds(0, limits.BATTERY_KWH.high, "kWh")), Key("kWh", "what it holds; 0 is none")
    ] = 0.0
    power_kw: Annotated[
        float,
        Within(limits.Bounds(0, limits.BATTERY_KW.high, "kW")),
        Key("kW", "the most that it takes or gives", default="required with a capacity"),
    ] = 0.0
    efficiency: Annotated[
        float,
        Within(limits.EFFICIENCY),
        Key("fraction", "part of what is put in that comes out again; half of the loss is at each end"),
    ] = 0.9
    start_fraction: Annotated[
        float, Within(limits.FRACTION), Key("fraction", "part of its capacity that it holds on the first planned day")
    ] = 0.5
    end_fraction: Annotated[
        float,
        Within(limits.FRACTION),
        Key("fraction", "part of its capacity that it holds at least when a day ends, as far as it can be charged"),
    ] = 0.5

    @model_validator(mode="after")
    def _as_physics_allows(self) -> BatterySection:
        if self.capacity_kwh and not self.power_kw:
            raise problem("missing", "a battery needs it: write power_kw: 50", at="power_kw")
        most = limits.BATTERY_KW_PER_KWH.high * self.capacity_kwh
        if self.power_kw > most:
            text = f"{self.power_kw:g} kW would empty {self.capacity_kwh:g} kWh in less than three minutes"
            raise problem(text, f"give at most {most:g}, or a larger capacity_kwh", at="power_kw")
        return self


class Sleep(Section):
    """When nodes without work sleep; only those of classes with ``sleep_w`` do."""

    after_s: Annotated[
        int,
        Duration(limits.NODE_SLEEP_S),
        Field(alias="after"),
        Key("duration", "a node sleeps after so long without work, as Slurm's SuspendTime", default="`0s`"),
    ] = 0
    wake_s: Annotated[
        int,
        Duration(limits.NODE_SLEEP_S),
        Field(alias="wake"),
        Key(
            "duration",
            "what it takes to wake up, at its idle power; it is awake when its next job starts",
            default="`0s`",
        ),
    ] = 0


CarbonPrice = Annotated[
    float,
    Within(limits.EUR_PER_TONNE),
    Key("EUR per tonne", "price of emitted CO2; needs an intensity"),
]


def _without_price(eur_per_tonne: float) -> float:
    if eur_per_tonne > 0:
        raise problem(f"a price of {eur_per_tonne:g} needs the carbon intensity", "give g_per_kwh or file")
    return eur_per_tonne


class NoCarbon(Section):
    """Nothing is known about the carbon intensity, so carbon has no price."""

    eur_per_tonne: Annotated[CarbonPrice, AfterValidator(_without_price)] = 0.0


class ConstantCarbon(Section):
    """A carbon price, and a constant carbon intensity of bought electricity."""

    eur_per_tonne: CarbonPrice = 0.0
    g_per_kwh: Annotated[
        float,
        Within(limits.G_PER_KWH),
        Key("g per kWh", "constant carbon intensity of bought electricity", default="none"),
    ]


class HourlyCarbon(Section):
    """A carbon price, and the carbon intensity of bought electricity from a file."""

    eur_per_tonne: CarbonPrice = 0.0
    file: Annotated[InputFile, Key("path", "table of carbon intensity over time", default="none")]
    column: Annotated[Words | None, Key("text", "column of the intensity", default="found by its name")] = None
    zone: Annotated[
        Zone | None,
        Key("time zone", "zone of times that the file gives without one", default="from the file"),
    ] = None


Carbon = Annotated[
    Annotated[NoCarbon, Tag("no g_per_kwh or file")]
    | Annotated[ConstantCarbon, Tag("g_per_kwh")]
    | Annotated[HourlyCarbon, Tag("file")],
    Discriminator(KeyChooser("file", ("no g_per_kwh or file", "g_per_kwh", "file")).kind_of),
]


_UNITS = [f"`{unit}`" for unit in get_args(SolarUnit)]


class ModelledSolar(Section):
    """The site's own photovoltaics; azimuth 180 is south."""

    peak_kw: Annotated[float, Within(limits.SOLAR_KW), Key("kW", "peak power of the site's photovoltaics")] = 0.0
    tilt_deg: Annotated[float, Within(limits.TILT_DEG), Key("degrees", "tilt of the modules from the horizontal")] = (
        30.0
    )
    azimuth_deg: Annotated[
        float, Within(limits.AZIMUTH_DEG), Key("degrees", "direction they face, clockwise from north: 180 is south")
    ] = 180.0
    losses_fraction: Annotated[float, Within(limits.FRACTION), Key("fraction", "losses between modules and use")] = 0.14


class FileSolar(Section):
    """The power of the site's photovoltaics, measured or forecast, from a file."""

    file: Annotated[
        InputFile,
        Key(
            "path",
            "table of the photovoltaics' power over time, in place of `peak_kw` and the rest",
            default="none",
        ),
    ]
    column: Annotated[Words | None, Key("text", "column of the power", default="found by its name")] = None
    unit: Annotated[
        SolarUnit, Key("word", f"{', '.join(_UNITS[:-1])} or {_UNITS[-1]}", default="required for a file", example="kW")
    ]
    zone: Annotated[
        Zone | None,
        Key("time zone", "zone of times that the file gives without one", default="from the file"),
    ] = None


Solar = Annotated[
    Annotated[ModelledSolar, Tag("no file")] | Annotated[FileSolar, Tag("file")],
    Discriminator(KeyChooser("file", ("no file", "file")).kind_of),
]
