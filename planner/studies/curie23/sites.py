"""The scenarios of the study: shipped ones with the study's jobs, machine and weather in place of their own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from planner.errors import InputError
from planner.places import scenario_folders, shipped_folder
from planner.runs.one_day import Settings
from planner.scenario.load import load_scenario
from planner.scenario.schema import Scenario
from planner.studies.curie23.cells import BY_THE_CLOCK, CALIBRATIONS, RUNS, SCENARIOS, Cell, Group, StudyChoice

AMPLE_TIME_S = 3600.0
"""Time per day of methods that end by themselves."""
TRACE = "swf/CEA-Curie-2011-2.1-cln.swf.gz"
WEATHER = "weather/FRA_AR_Lyon-Bron.AP.074800_TMYx.2004-2018.epw.gz"


def data_folder(given: Path | None) -> Path:
    """The folder of public traces; InputError says what must be in it."""
    folder = given or Path(os.environ.get("PLANNER_DATA") or shipped_folder().parent / "shared" / "data")
    if not (folder / TRACE).is_file():
        raise InputError(
            f"{folder / TRACE}: the trace is not there; get it from the Parallel Workloads Archive and give its folder"
            " with --data DIR, or in PLANNER_DATA"
        )
    return folder.resolve()


@cache
def study_scenario(name: str, data: Path, settings: tuple[str, ...]) -> Scenario:
    """A scenario of the study, of which each of ``settings`` goes over those before it."""
    weather = data / WEATHER
    usual = [
        f"jobs.source={data / TRACE}",
        "jobs.visibility=day",
        "jobs.lookback=0",
        "search.lookahead_days=1",
        "zone=UTC",
        "power.draw_w_per_core=[7.8, 11.11]",
        "cluster.classes={cpu: {count: 300, capacity: {cores: 32, memory_gb: 128}}, gpu: null}",
        *([f"weather.source={weather}"] if weather.is_file() else []),
    ]
    return load_scenario(name, folders=[scenario_folders(Path.cwd())[-1]], overrides=[*usual, *settings])


def scenario_of(group: Group, data: Path, choice: StudyChoice, more: tuple[str, ...] = ()) -> Scenario:
    """The scenario of a group: what the user sets goes over the calibration, and what makes a run goes over both."""
    settings = (*CALIBRATIONS[group.calibration].settings, *choice.settings, *more)
    return study_scenario(group.scenario, data, settings)


def settings_of(cell: Cell, scenario: Scenario, choice: StudyChoice, command: Sequence[str]) -> Settings:
    """How the days of a cell are planned."""
    method = RUNS[cell.run].method
    usual = Settings(
        scenario, method, iterations=choice.iterations, command=tuple(command), page=False, baselines=False
    )
    return replace(
        usual,
        time_limit_s=choice.time_limit_s if method in BY_THE_CLOCK else AMPLE_TIME_S,
        bound_time_s=choice.bound_time_s if cell.run in choice.bounded else 0.0,
    )


def require_known(choice: StudyChoice) -> None:
    """InputError for a name that the study does not know, and where nothing is named."""
    asked = {
        "calibration": (choice.calibrations, tuple(CALIBRATIONS)),
        "scenario": (choice.scenarios, SCENARIOS),
        "method": (choice.runs, tuple(RUNS)),
    }
    for what, (given, known) in asked.items():
        named = (*given, *choice.bounded) if what == "method" else given
        unknown = next((name for name in named if name not in known), None)
        if unknown is not None or not given:
            raise InputError(f"unknown {what} {unknown or ''!r} of the study; known: {', '.join(known)}")
