"""The kinds of ``solar:`` in a scenario: photovoltaics worked out from the weather, or their power from a file."""

from __future__ import annotations

from typing import Annotated, get_args

from pydantic import Discriminator, Tag

from planner.scenario.chooser import KeyChooser
from planner.scenario.sections import Key, Section
from planner.scenario.sections import Solar as ModelledSolar
from planner.scenario.values import InputFile, Words, Zone
from planner.scenario.words import SolarUnit

_UNITS = [f"`{unit}`" for unit in get_args(SolarUnit)]


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


__all__ = ["FileSolar", "ModelledSolar", "Solar"]

Solar = Annotated[
    Annotated[ModelledSolar, Tag("no file")] | Annotated[FileSolar, Tag("file")],
    Discriminator(KeyChooser("file", ("no file", "file")).kind_of),
]
