"""What a scenario says of money: ``revenue:``, ``budgets:``, ``tariff:`` with what belongs to the bill, ``carbon:``.

That is what use earns and what accounts may be billed; electricity at a flat price, in daily bands or hourly from a
file, with fees, feed-in and peak; what a tonne of CO2 costs, and how much of it bought electricity stands for.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from planner import limits
from planner.domain.rates import UsePrice
from planner.scenario.sections import Chooser, FileZone, Key, KeyChooser, Named, Section
from planner.scenario.values import Clock, Duration, InputFile, Members, Name, Within, Words, problem
from planner.scenario.words import PriceUnit

EurPerHour = Annotated[float, Within(limits.EUR_PER_CORE_HOUR)]
Factor = Annotated[float, Within(limits.REVENUE_WEIGHT)]


class ClassRevenue(Section):
    """What use earns on the nodes of one class; what is not said here is as elsewhere, resource by resource."""

    eur_per_core_hour: Annotated[
        EurPerHour | None,
        Key("EUR per core-hour", "what a core-equivalent earns there", default="that of `revenue`"),
    ] = None
    eur_per_hour: Annotated[
        dict[Name, EurPerHour],
        Named,
        Key(
            "EUR per hour",
            "what each unit of a resource that a job asks for earns there on top, such as `gpus`",
            default="that of `revenue`, resource by resource",
            each="resource",
        ),
    ] = Field(default_factory=dict)


class Revenue(Section):
    """What the use of nodes earns: by core-equivalents, by single resources, by class of nodes and by who pays."""

    eur_per_core_hour: Annotated[
        EurPerHour,
        Key("EUR per core-hour", "what used resources earn, in core-equivalents", example="0.02"),
    ]
    eur_per_hour: Annotated[
        dict[Name, EurPerHour],
        Named,
        Key(
            "EUR per hour",
            "what each unit of a resource that a job asks for earns on top, such as `gpus` or `memory_gb`",
            default="none",
            each="resource",
        ),
    ] = Field(default_factory=dict)
    classes: Annotated[dict[Name, ClassRevenue], Named, Key("", "", each="class")] = Field(default_factory=dict)
    accounts: Annotated[
        dict[Name, Factor],
        Named,
        Key("factor", "on all that the jobs of an account earn, such as `2.5`", default="`1`", each="account"),
    ] = Field(default_factory=dict)
    qos: Annotated[
        dict[Name, Factor],
        Named,
        Key("factor", "on all that the jobs of a QOS earn", default="`1`", each="qos"),
    ] = Field(default_factory=dict)

    def class_prices(self) -> dict[str, UsePrice]:
        """What use earns on the nodes of each class that has prices of its own, those of the site where it has none."""
        return {
            name: UsePrice(
                self.eur_per_core_hour if each.eur_per_core_hour is None else each.eur_per_core_hour,
                {**self.eur_per_hour, **each.eur_per_hour},
            )
            for name, each in self.classes.items()
        }


class Budgets(Section):
    """What accounts may be billed; it decides nothing, and reports mark 80 and 100 % of it."""

    period: Annotated[
        Literal["month", "year"], Key("word", "how long a budget is for: a calendar `month` or `year`")
    ] = "year"
    accounts: Annotated[
        dict[Name, Annotated[float, Within(limits.BUDGET_EUR)]],
        Named,
        Key(
            "EUR",
            "what an account may be billed in the period; reports mark it from 80 and from 100 % on",
            each="account",
            default="none",
        ),
    ] = Field(default_factory=dict)


_DAY_MIN = 24 * 60
_UNITS = [f"`{unit}`" for unit in get_args(PriceUnit)]
_KIND = Key("word", "`flat`, `bands` or `hourly`", default="`flat`")

FlatPrice = Annotated[
    float,
    Within(limits.EUR_PER_KWH),
    Key("EUR per kWh", "the price, or the price outside all bands", default="required for flat, bands"),
]
Rate = Annotated[
    float | None,
    Within(limits.EUR_PER_USD),
    Key(
        "EUR per USD",
        "rate at which prices and fees of files are converted; none where `currency` is USD",
        default="required for USD",
    ),
]


class TariffBand(Section):
    """A price between two local clock times such as ``22:00``; it runs over midnight when it ends first."""

    start: Annotated[
        Clock,
        Field(alias="from"),
        Key("clock time", 'start of a band, such as `"22:00"`', example='"22:00"'),
    ]
    end: Annotated[
        Clock,
        Field(alias="to"),
        Key("clock time", 'end of a band, up to `"24:00"`; before `from` it is the next day\'s', example='"06:00"'),
    ]
    eur_per_kwh: Annotated[
        float, Within(limits.EUR_PER_KWH), Key("EUR per kWh", "price within the band", example="0.11")
    ]


def _some(bands: tuple[TariffBand, ...]) -> tuple[TariffBand, ...]:
    if not bands:
        raise problem("missing", "kind: bands needs it")
    return bands


def apart(bands: tuple[TariffBand, ...]) -> tuple[TariffBand, ...]:
    """Bands must not overlap, also past midnight, nor be empty."""
    owner: dict[int, int] = {}
    for index, band in enumerate(bands):
        start, end = clock_minute(band.start), clock_minute(band.end)
        length = (end - start) % _DAY_MIN or (_DAY_MIN if end != start else 0)
        if not length:
            raise problem("begins and ends at the same time", "change from or to", at=f"[{index}]")
        for minute in range(start, start + length):
            other = owner.setdefault(minute % _DAY_MIN, index)
            if other != index:
                moment = f"{minute % _DAY_MIN // 60:02d}:{minute % 60:02d}"
                raise problem(f"overlaps band [{other}] at {moment}", "bands must not overlap", at=f"[{index}]")
    return bands


def clock_minute(clock: str) -> int:
    """The minute of the day, up to 1440, of a clock time such as ``22:00``."""
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)


class FlatTariff(Section):
    """One price all day."""

    kind: Annotated[Literal["flat"], _KIND] = "flat"
    eur_per_kwh: FlatPrice
    eur_per_usd: Rate = None


class BandTariff(Section):
    """Prices by the time on the local clock; ``eur_per_kwh`` is the price outside all bands."""

    kind: Annotated[Literal["bands"], _KIND]
    eur_per_kwh: FlatPrice
    bands: Annotated[
        tuple[TariffBand, ...], AfterValidator(_some), AfterValidator(apart), Field(validate_default=True)
    ] = ()
    eur_per_usd: Rate = None


class HourlyTariff(Section):
    """Prices of a file, in its unit."""

    rivals = ("column", "members")
    kind: Annotated[Literal["hourly"], _KIND]
    file: Annotated[InputFile, Key("path", "table of prices over time", default="required for hourly")]
    column: Annotated[Words | None, Key("text", "column of the price", default="found by its name")] = None
    members: Annotated[
        Members | None,
        Key(
            "list of columns",
            "members of a forecast, in place of `column`: columns, or patterns such as `price_*`; planned on their"
            " mean",
        ),
    ] = None
    unit: Annotated[PriceUnit, Key("word", f"{', '.join(_UNITS[:-1])} or {_UNITS[-1]}", default="required for hourly")]
    zone: FileZone = None
    published_at: Annotated[
        Clock,
        Key("clock time", "when the prices of a day become known, on the day before; jobs are held by known prices"),
    ] = "13:00"
    eur_per_usd: Rate = None


Tariff = Annotated[
    Annotated[FlatTariff, Tag("flat")] | Annotated[BandTariff, Tag("bands")] | Annotated[HourlyTariff, Tag("hourly")],
    Discriminator(Chooser("kind", ("flat", "bands", "hourly")).kind_of),
]


class Fees(Section):
    """What is paid for each bought kWh on top of the price: grid fees, levies and taxes."""

    eur_per_kwh: Annotated[
        float, Within(limits.EUR_PER_KWH), Key("EUR per kWh", "paid on top of the price, outside all bands")
    ] = 0.0
    bands: Annotated[tuple[TariffBand, ...], AfterValidator(apart)] = ()
    file: Annotated[InputFile | None, Key("path", "table of fees over time, instead of the two above")] = None
    column: Annotated[Words | None, Key("text", "column of the fee", default="found by its name")] = None
    unit: Annotated[
        PriceUnit | None, Key("word", "as of prices; USD by `tariff.eur_per_usd`", default="required for file")
    ] = None
    zone: FileZone = None

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
    zone: FileZone = None


Carbon = Annotated[
    Annotated[NoCarbon, Tag("no g_per_kwh or file")]
    | Annotated[ConstantCarbon, Tag("g_per_kwh")]
    | Annotated[HourlyCarbon, Tag("file")],
    Discriminator(KeyChooser("file", ("no g_per_kwh or file", "g_per_kwh", "file")).kind_of),
]
