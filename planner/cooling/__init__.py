"""The physical model behind the PUE tables: a site's cooling plant from its nameplate data."""

from planner.cooling.plant import (
    AIR,
    HYBRID,
    CoolingLoop,
    CoolingPlant,
    build_table,
    cooling_fraction,
    cooling_power,
    temperatures_between,
)

__all__ = [
    "AIR",
    "HYBRID",
    "CoolingLoop",
    "CoolingPlant",
    "build_table",
    "cooling_fraction",
    "cooling_power",
    "temperatures_between",
]
