"""What the study of 23 days of CEA Curie runs: calibrations of what the paper leaves open, methods, and scenarios.

Submissions of 23 days from 2012-08-07 on, known a day ahead, on 300 nodes of 32 cores.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from planner.methods import METHODS, RULES
from planner.places import TRACE, scenario_folders
from planner.runs.bounds_over_days import run_bound
from planner.runs.compare_results import Row
from planner.scenario.load import load_scenario
from planner.scenario.schema import Scenario
from planner.studies.published import CURIE23
from planner.units import clock

FIRST_DAY = dt.date(2012, 8, 7)
SCENARIOS = tuple(CURIE23)
TRACE_CORES = 93_312
"""Cores of the traced machine, by the header of the trace."""

WEATHER = "weather/FRA_AR_Lyon-Bron.AP.074800_TMYx.2004-2018.epw.gz"
OPEN = "not named"


@dataclass(frozen=True)
class Calibration:
    """Values of what the paper does not name, as scenario settings."""

    words: str
    settings: tuple[str, ...]


CALIBRATIONS = {
    "ours": Calibration(
        "jobs scaled from the 93,312 cores of the trace's header, 0.02 EUR per core-hour",
        (f"jobs.core_scale=9600/{TRACE_CORES}",),
    ),
    "fitted": Calibration(
        "jobs scaled from the 80,640 cores of Curie's thin nodes, after the paper's 54 days, and 2.14 EUR per"
        " core-hour, after the mean of its Table 2",
        ("jobs.core_scale=9600/80640", "revenue.eur_per_core_hour=2.14"),
    ),
}


@dataclass(frozen=True)
class StudyRun:
    """A method and its settings; ``name`` is for commands and folders, ``words`` for people."""

    name: str
    method: str
    settings: tuple[str, ...] = ()
    words: str = ""

    @property
    def label(self) -> str:
        """What people read."""
        return self.words or self.name

    @property
    def kind(self) -> str:
        """A rule models a common scheduler, as EASY does, which the paper does not have; all others are searches."""
        return "rule" if self.method in RULES else "easy" if self.method == EASY else "search"


EASY = "easy"
_SEARCHES = tuple(reversed([method for method in METHODS if method not in (*RULES, EASY)]))
_AHEAD = StudyRun("harvest-ahead", "harvest", ("search.lookahead_days=2",), "harvest, two days together")
_WHOLE = StudyRun(
    "harvest-whole", "harvest", ("goal.kind=whole", "goal.later=0", "goal.waiting=0.005"), "harvest, waits priced"
)

RUNS = {
    each.name: each for each in (*(StudyRun(method, method) for method in (*RULES, EASY, *_SEARCHES)), _AHEAD, _WHOLE)
}
"""Every run by name: the methods as they are, rules first, each day by itself; then methods with other settings."""

USUAL_RUNS = tuple(name for name in RUNS if name != "hold")
"""What the study runs if nothing is said; ``hold`` needs a site that lets jobs be held."""


@cache
def study_scenario(name: str, data: Path, settings: tuple[str, ...]) -> Scenario:
    """A shipped scenario with the study's jobs, machine and weather; each of ``settings`` goes over those before it."""
    weather = data / WEATHER
    usual = [
        f"jobs.source={data / TRACE}",
        "jobs.visibility=day",
        "jobs.lookback=0",
        "search.lookahead_days=1",
        "goal.kind=published",
        "zone=UTC",
        "power.draw_w_per_core=[7.8, 11.11]",
        "cluster.classes={cpu: {count: 300, capacity: {cores: 32, memory_gb: 128}}, gpu: null}",
        *([f"weather.source={weather}"] if weather.is_file() else []),
    ]
    return load_scenario(name, folders=[scenario_folders(Path.cwd())[-1]], overrides=[*usual, *settings])


def bound_figures(scenario: Scenario, days: int, time_s: float) -> dict[str, Any]:
    """What no plans of the first days can earn together [EUR]."""
    last = FIRST_DAY + dt.timedelta(days=days - 1)
    return {"profit_eur": run_bound(scenario, FIRST_DAY, last, time_limit_s=time_s).profit_eur}


def choice_rows(
    scenarios: dict[str, Scenario], days: int, time_limit_s: float, iterations: int, settings: tuple[str, ...]
) -> list[Row]:
    """What the paper leaves open, each with a column for each calibration and one for what the paper says."""
    told = {name: _told(scenario, days, time_limit_s, iterations) for name, scenario in scenarios.items()}
    if settings:
        told = {name: lines | {"set besides": (", ".join(settings), "")} for name, lines in told.items()}
    lines = next(iter(told.values()))
    return [{"choice": what, **{name: told[name][what][0] for name in told}, "paper": lines[what][1]} for what in lines]


def _told(scenario: Scenario, days: int, time_limit_s: float, iterations: int) -> dict[str, tuple[str, str]]:
    """Each choice as it is in a scenario, and what the paper says of it."""
    plain = scenario.as_dict()
    low, high = plain["power"]["draw_w_per_core"] or (None, None)
    draw = "by the scenario" if low is None else f"{low:g} to {high:g} W per core"
    price = plain["tariff"].get("eur_per_kwh")
    weather = str(plain["weather"]["source"]).rsplit("/", 1)[-1]
    revenue = f"{scenario.revenue.eur_per_core_hour:g} EUR per core-hour"
    return {
        "window": (f"{days} days from {FIRST_DAY} on, UTC", "23 days; which ones is not named"),
        "jobs scaled by": (f"9,600 / {9600 / plain['jobs'].get('core_scale', 1):,.0f}", OPEN),
        "revenue (K1)": (revenue, f"{OPEN}; about 1.10 fits Table 2"),
        "electricity (K2)": (f"{price:g} EUR per kWh" if price is not None else str(plain["tariff"]["kind"]), OPEN),
        "weather": (f"{weather}, season of the scenario", OPEN),
        "cooling": ("tables of the planner's own plant models", "tables of its plants, not published"),
        "power of a job": (f"{draw}, drawn with seed {scenario.seed}", "7.8 to 11.11 W per core, drawn"),
        "time of cp, relaxation, delay": (f"{clock(time_limit_s)} a day", "4,000 s a day"),
        "steps of harvest": (f"{iterations:,} a day", ""),
    }
