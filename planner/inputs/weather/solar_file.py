"""Power of on-site photovoltaics as a file has it, measured or forecast."""

from __future__ import annotations

import re

import numpy as np

from planner import bounds
from planner.domain.horizon import Horizon
from planner.domain.series import StepSeries
from planner.errors import InputError
from planner.inputs.local_times import clock_shifts
from planner.inputs.prices.hourly_csv import read_timed_csv
from planner.scenario.electricity import FileSolar

_WATTS = {"W": 1.0, "kW": 1e3, "MW": 1e6}
_UNIT_AT_END = re.compile(r"(?:^|[_ (\[/])(mw|kw|w)[)\]]?$", re.IGNORECASE)
_DRAWN_SHARE, _DRAWN_W = 0.05, 1000.0
"""Inverters draw a little at night; more than this part of the day's peak, or this much, is another sign."""


def solar_from_file(choice: FileSolar, horizon: Horizon) -> StepSeries:
    """AC power [W] over the planning day, each value from its time on.

    What inverters draw at night counts as nothing. A missing hour of the day is a CoverageError: as with prices,
    nothing is invented.
    """
    table = read_timed_csv(choice.file, zone=choice.zone)
    name = table.column(choice.column) if choice.column is not None else table.column_starting("power")
    said = _UNIT_AT_END.search(name)
    declared = next((unit for unit in _WATTS if said and unit.lower() == said[1].lower()), choice.unit)
    if declared != choice.unit:
        raise InputError(
            f"{choice.file}: column {name!r} is in {declared}, but solar.unit is {choice.unit}; correct one"
        )
    what = f"photovoltaic power of {table.path.name}"
    power, _ = table.samples(name, what).on(clock_shifts(horizon, None))
    watts = power.values * _WATTS[choice.unit]
    lowest, highest = float(watts.min()), float(watts.max())
    bounds.SOLAR_KW.require(f"{what}, in kW,", max(highest, 0.0) / 1e3)
    if lowest < -max(_DRAWN_SHARE * highest, _DRAWN_W):
        raise InputError(f"{what} falls to {lowest / 1e3:g} kW; give what the modules feed in as positive numbers")
    return StepSeries(what, power.edges_unix, np.maximum(watts, 0.0))
