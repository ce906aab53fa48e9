"""The words that a scenario and the readers share: each list stands here once; nothing heavy is loaded."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Literal

JobsFormat = Literal["auto", "swf", "csv", "parquet"]
"""Formats of files of jobs; ``auto`` goes by the file's name."""

WeatherFormat = Literal["auto", "epw", "tmy3", "open-meteo", "csv"]
"""Formats of weather files; ``auto`` goes by the file."""

Season = Literal["winter", "spring", "summer", "autumn"]
"""Seasons whose weather can be laid over any day."""

CoolingLookup = Literal["step", "linear"]
"""How a PUE table is read between its cells."""

CoolingTemperature = Literal["dry-bulb", "wet-bulb"]
"""Temperatures of the air outside that the columns of a PUE table may be."""

SolarUnit = Literal["W", "kW", "MW"]
"""Units of a file of the power of photovoltaics."""

PriceUnit = Literal["EUR/kWh", "EUR/MWh", "ct/kWh", "USD/kWh", "USD/MWh"]
"""Units of the prices of an hourly file: money, then the energy that it buys."""


def guess(word: str, known: Iterable[str]) -> str:
    """The words ``did you mean X?`` for the nearest known word, or nothing."""
    names = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word.lower(), names, n=1)
    return f"did you mean {names[near[0]]}?" if near else ""
