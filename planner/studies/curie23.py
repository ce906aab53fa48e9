"""The published experiment on 23 days of CEA Curie: four scenarios, every method, and what the paper found beside it.

Submissions of 23 days from 2012-08-07 on, known a day ahead, on 300 nodes of 32 cores; the trace's cores are scaled to
that machine. Days go on after the 23rd until the queue is empty.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from planner.defaults import STUDY_BOUND_TIME_S, TIME_LIMIT_S
from planner.errors import InputError
from planner.methods import METHODS, RULES
from planner.places import scenario_folders, shipped_folder
from planner.runs.fanout import Engine, RunTask, run_tasks
from planner.runs.figures import Row
from planner.runs.one_day import Settings
from planner.scenario.load import load_scenario
from planner.scenario.schema import Scenario
from planner.store.replay_files import write_rows
from planner.studies.curie23_tables import cumulative_rows, published_rows, run_rows

FIRST_DAY = dt.date(2012, 8, 7)
DAYS = 23
SCENARIOS = ("air-winter", "air-summer", "hybrid-winter", "hybrid-summer")
BY_THE_CLOCK = ("cp", "relaxation", "delay")
"""Methods that search until their time is over; the others end by themselves, so that time changes no answer."""
AMPLE_TIME_S = 3600.0
"""Time per day of methods that end by themselves."""
TRACE_CORES = 93_312
"""Cores of the traced machine, by the header of the trace."""
TRACE = "swf/CEA-Curie-2011-2.1-cln.swf.gz"
WEATHER = "weather/FRA_AR_Lyon-Bron.AP.074800_TMYx.2004-2018.epw.gz"


@dataclass(frozen=True)
class StudyChoice:
    """Which part of the study to run, and how.

    ``time_limit_s`` is per day, of the methods that go by the clock; ``bounded`` are those whose days get a bound.
    """

    days: int = DAYS
    scenarios: tuple[str, ...] = SCENARIOS
    methods: tuple[str, ...] = ()
    time_limit_s: float = TIME_LIMIT_S
    bound_time_s: float = STUDY_BOUND_TIME_S
    iterations: int | None = None
    bounded: tuple[str, ...] = ("harvest",)
    trace_cores: int = TRACE_CORES


@dataclass(frozen=True)
class StudyFound:
    """Rows of the study's tables, and where everything is."""

    runs: list[Row]
    published: list[Row]
    folder: Path


def run_study(
    choice: StudyChoice,
    data: Path | None,
    out: Path,
    *,
    engine: Engine | None = None,
    command: Sequence[str] = (),
    on_done: Callable[[RunTask], None] | None = None,
) -> StudyFound:
    """Run the study, or go on with it, and write its tables below ``out``."""
    methods = choice.methods or tuple(METHODS)
    _require_known("scenario", choice.scenarios, SCENARIOS)
    _require_known("method", methods, METHODS)
    folder = out.resolve() / "studies" / "curie23"
    settings = _settings(choice, data, command)
    pairs = [(scenario, method) for method in _rules_first(methods) for scenario in choice.scenarios]
    last = FIRST_DAY + dt.timedelta(days=choice.days - 1)
    tasks = [
        RunTask(
            f"{scenario}, {method}",
            _of_method(settings[scenario], method, choice),
            FIRST_DAY,
            last,
            folder / "runs" / scenario / method,
            until_empty=True,
        )
        for scenario, method in pairs
    ]
    outcomes = run_tasks(tasks, engine or Engine(), on_done)
    found = dict(zip(pairs, outcomes, strict=True))
    ordered = [(scenario, method) for scenario in choice.scenarios for method in methods]
    runs = run_rows(ordered, found, choice.days)
    published = published_rows(runs, choice.scenarios)
    write_rows(runs, folder / "runs.csv")
    write_rows(published, folder / "published.csv")
    for scenario in choice.scenarios:
        rows = cumulative_rows({method: found[scenario, method] for method in methods}, scenario)
        write_rows(rows, folder / f"cumulative-{scenario}.csv")
    return StudyFound(runs, published, folder)


def data_folder(given: Path | None) -> Path:
    """The folder of public traces; InputError says what must be in it."""
    folder = given or Path(os.environ.get("PLANNER_DATA") or shipped_folder().parent / "shared" / "data")
    if not (folder / TRACE).is_file():
        raise InputError(
            f"{folder / TRACE}: the trace is not there; get it from the Parallel Workloads Archive and give its folder"
            " with --data DIR, or in PLANNER_DATA"
        )
    return folder.resolve()


def study_scenario(name: str, data: Path, trace_cores: int = TRACE_CORES) -> Scenario:
    """A shipped scenario with the study's jobs, machine and weather in place of its own.

    Cores asked for are scaled from a machine of ``trace_cores`` to one of 9,600.
    """
    weather = data / WEATHER
    settings = [
        f"jobs.source={data / TRACE}",
        "jobs.visibility=day",
        "jobs.lookback=0",
        f"jobs.core_scale=9600/{trace_cores}",
        "zone=UTC",
        "power.draw_w_per_core=[7.8, 11.11]",
        "cluster.classes={cpu: {count: 300, capacity: {cores: 32, memory_gb: 128}}, gpu: null}",
        *([f"weather.source={weather}"] if weather.is_file() else []),
    ]
    return load_scenario(name, folders=[scenario_folders(Path.cwd())[-1]], overrides=settings)


def _settings(choice: StudyChoice, data: Path | None, command: Sequence[str]) -> dict[str, Settings]:
    folder = data_folder(data)
    return {
        name: Settings(
            study_scenario(name, folder, choice.trace_cores),
            RULES[0],
            time_limit_s=choice.time_limit_s,
            iterations=choice.iterations,
            bound_time_s=choice.bound_time_s,
            command=tuple(command),
            page=False,
        )
        for name in choice.scenarios
    }


def _of_method(settings: Settings, method: str, choice: StudyChoice) -> Settings:
    return replace(
        settings,
        method=method,
        time_limit_s=choice.time_limit_s if method in BY_THE_CLOCK else AMPLE_TIME_S,
        bound_time_s=choice.bound_time_s if method in choice.bounded else 0.0,
    )


def _rules_first(methods: Sequence[str]) -> list[str]:
    """Quick runs first, so that there is something to look at early."""
    return sorted(methods, key=lambda method: method not in RULES)


def _require_known(what: str, given: Sequence[str], known: Sequence[str] | Mapping[str, Any]) -> None:
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        raise InputError(f"unknown {what} {unknown!r} of the study; known: {', '.join(known)}")
