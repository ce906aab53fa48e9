"""The ``carbon:`` of a scenario: what a tonne of CO2 costs, and how much of it bought electricity stands for."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Discriminator, Tag

from planner import limits
from planner.scenario.chooser import KeyChooser
from planner.scenario.sections import FileZone, Key, Section
from planner.scenario.values import InputFile, Within, Words, problem

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
