"""The carbon intensity of electricity over the planning day, constant or from an hourly file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from planner.domain.horizon import Horizon
from planner.domain.weather import StepSeries
from planner.errors import FileFormatError
from planner.inputs.local_times import clock_shifts
from planner.inputs.timed_csv import read_timed_csv
from planner.limits import G_PER_KWH_IN_FILE
from planner.scenario.carbon import Carbon, ConstantCarbon, HourlyCarbon


def carbon_of(choice: Carbon, horizon: Horizon) -> StepSeries | None:
    """Carbon intensity [gCO2eq/kWh] over the planning day by the ``carbon:`` of a scenario; None where unknown."""
    if isinstance(choice, HourlyCarbon):
        return hourly_carbon(choice.file, horizon, column=choice.column, zone=choice.zone)
    if isinstance(choice, ConstantCarbon):
        return StepSeries.constant("constant carbon intensity", choice.g_per_kwh, horizon.start_unix, horizon.end_unix)
    return None


def hourly_carbon(
    path: Path | str, horizon: Horizon, *, column: str | None = None, zone: str | None = None
) -> StepSeries:
    """Carbon intensity of a CSV with one row per hour, each from its time on [gCO2eq/kWh].

    The hourly files of Electricity Maps fit as they are. The column is by default the one that starts with "carbon",
    and of several the life-cycle one ("LCA"), which counts the building of plants and the supply of fuel too. Times
    that are written without a zone are of ``zone``. A missing hour is a CoverageError.
    """
    table = read_timed_csv(path, zone=zone)
    name = table.value_column(column, "carbon", prefer="lca")
    samples = table.samples(name, f"carbon intensity of {table.path.name}", G_PER_KWH_IN_FILE)
    carbon, _ = samples.on(clock_shifts(horizon, None))
    if np.any(carbon.values < 0):
        raise FileFormatError(
            path, f"{name} is {carbon.values.min():g} g/kWh on the day", remedy="it must be 0 or more"
        )
    return carbon
