"""The site's own electricity in a scenario: photovoltaics and a battery."""

from __future__ import annotations

from typing import Annotated, get_args

from pydantic import Discriminator, Tag, model_validator

from planner import limits
from planner.scenario.sections import FileZone, Key, KeyChooser, Section
from planner.scenario.values import InputFile, Within, Words, problem
from planner.scenario.words import SolarUnit


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
        if self.capacity_kwh and self.power_kw > most:
            text = f"{self.power_kw:g} kW would empty {self.capacity_kwh:g} kWh in less than three minutes"
            raise problem(text, f"give at most {most:g}, or a larger capacity_kwh", at="power_kw")
        return self


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
    zone: FileZone = None


Solar = Annotated[
    Annotated[ModelledSolar, Tag("no file")] | Annotated[FileSolar, Tag("file")],
    Discriminator(KeyChooser("file", ("no file", "file")).kind_of),
]
