"""The section ``cooling`` of a scenario."""

from __future__ import annotations

from typing import Annotated

from planner.scenario.sections import Key, Section
from planner.scenario.values import InputFile
from planner.scenario.words import CoolingLookup, CoolingTemperature


class Cooling(Section):
    """The PUE table of the cooling system."""

    table: Annotated[
        InputFile,
        Key("path", "PUE table, such as `../tables/air.csv` or `../tables/hybrid.csv`", example="../tables/air.csv"),
    ]
    lookup: Annotated[
        CoolingLookup,
        Key("word", "`step`: the nearest cell of the table; `linear`: between cells, in temperature and power"),
    ] = "step"
    temperature: Annotated[
        CoolingTemperature,
        Key(
            "word",
            "`dry-bulb`, or `wet-bulb` for a table of cooling towers: which temperature of the air outside its columns"
            " are; wet-bulb needs humidity in the weather",
        ),
    ] = "dry-bulb"
