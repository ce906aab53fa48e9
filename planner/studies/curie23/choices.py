"""What the paper leaves open, and what it is here: choices of ours, each named as such."""

from __future__ import annotations

from collections.abc import Mapping

from planner.runs.figures import Row
from planner.scenario.schema import Scenario
from planner.studies.curie23.cells import FIRST_DAY, Group, StudyChoice
from planner.units import clock

OPEN = "not named"


def choice_rows(grounds: Mapping[Group, Scenario], choice: StudyChoice) -> list[Row]:
    """One row per choice, with a column for each calibration and one for what the paper says."""
    firsts: dict[str, Scenario] = {}
    for group, scenario in grounds.items():
        firsts.setdefault(group.calibration, scenario)
    told = {name: _told(scenario, choice) for name, scenario in firsts.items()}
    lines = next(iter(told.values()))
    return [{"choice": what, **{name: told[name][what][0] for name in told}, "paper": lines[what][1]} for what in lines]


def _told(scenario: Scenario, choice: StudyChoice) -> dict[str, tuple[str, str]]:
    """Each choice as it is in a scenario, and what the paper says of it."""
    plain = scenario.as_dict()
    low, high = plain["power"]["draw_w_per_core"] or (None, None)
    draw = "by the scenario" if low is None else f"{low:g} to {high:g} W per core"
    price = plain["tariff"].get("eur_per_kwh")
    lines = {
        "window": (f"{choice.days} days from {FIRST_DAY} on, UTC", "23 days; which ones is not named"),
        "jobs scaled by": (f"9,600 / {9600 / plain['jobs'].get('core_scale', 1):,.0f}", OPEN),
        "revenue (K1)": (
            f"{scenario.revenue.eur_per_core_hour:g} EUR per core-hour",
            f"{OPEN}; about 1.10 fits Table 2",
        ),
        "electricity (K2)": (f"{price:g} EUR per kWh" if price is not None else str(plain["tariff"]["kind"]), OPEN),
        "weather": (f"{_file(plain['weather']['source'])}, season of the scenario", OPEN),
        "cooling": ("tables of the planner's own plant models", "tables of its plants, not published"),
        "power of a job": (f"{draw}, drawn with seed {scenario.seed}", "7.8 to 11.11 W per core, drawn"),
        "time of cp, relaxation, delay": (f"{clock(choice.time_limit_s)} a day", "4,000 s a day"),
        "steps of harvest": ("by the clock" if choice.iterations is None else f"{choice.iterations:,} a day", ""),
    }
    return lines | ({"set besides": (", ".join(choice.settings), "")} if choice.settings else {})


def _file(source: object) -> str:
    return str(source).rsplit("/", 1)[-1]
