"""The study run, or gone on with: one calibration after another, then tables, curves and page of all that is there."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from planner.runs.fanout import Engine, Outcome, RunTask, run_tasks
from planner.runs.whole_run import run_bound
from planner.scenario.schema import Scenario
from planner.studies.curie23.beside import published_rows
from planner.studies.curie23.cells import FIRST_DAY, RUNS, Cell, Group, StudyChoice
from planner.studies.curie23.choices import choice_rows
from planner.studies.curie23.curves import curve_rows
from planner.studies.curie23.rows import run_rows
from planner.studies.curie23.show import StudyFound, write_study
from planner.studies.curie23.sites import data_folder, require_known, scenario_of, settings_of
from planner.studies.kept import IDLE_ROOMS, Task, code_mark, made, piece

BOUND_MAKERS = ("cells", "sites")
BOUND_IDLE_ROOMS = (*IDLE_ROOMS, "cp", "machine", "metrics", "online", "planning", "search")
"""Rooms whose code changes no bound of a run."""


def run_study(
    choice: StudyChoice,
    data: Path | None,
    out: Path,
    *,
    engine: Engine | None = None,
    command: Sequence[str] = (),
    on_done: Callable[[RunTask], None] | None = None,
    run_bound_time_s: float = 0.0,
) -> StudyFound:
    """Run the study, or go on with it, and write its files below ``out`` whenever a calibration is done.

    ``run_bound_time_s`` is for the bound of all days together, in each scenario; 0 leaves it out.
    """
    require_known(choice)
    traces = data_folder(data)
    folder = out.resolve() / "studies" / "curie23"
    cells = [cell for calibration in choice.calibrations for cell in choice.cells(calibration)]
    # A setting that is wrong is refused before anything is run.
    scenarios = {cell: scenario_of(cell.group, traces, choice, RUNS[cell.run].settings) for cell in cells}
    grounds = {group: scenario_of(group, traces, choice) for group in dict.fromkeys(cell.group for cell in cells)}
    outcomes: dict[Cell, Outcome] = {}
    bounds: dict[Group, float | None] = {}
    found = StudyFound(folder)
    for calibration in choice.calibrations:
        here = _rules_first(choice.cells(calibration))
        tasks = [_task(cell, scenarios[cell], choice, folder, command) for cell in here]
        outcomes |= zip(here, run_tasks(tasks, engine or Engine(), on_done), strict=True)
        of_calibration = [group for group in grounds if group.calibration == calibration]
        bounds |= _bounds_of(of_calibration, choice, traces, folder, run_bound_time_s)
        done = {cell: outcomes[cell] for cell in cells if cell in outcomes}
        runs = run_rows(done, choice.days, bounds)
        found = StudyFound(
            folder,
            runs,
            published_rows(runs, has_all_days=choice.has_all_days),
            curve_rows(done, choice.days),
            choice_rows({group: grounds[group] for group in bounds}, choice),
        )
        write_study(found, choice, command)
    return found


def _bounds_of(
    groups: Iterable[Group], choice: StudyChoice, traces: Path, folder: Path, time_s: float
) -> dict[Group, float | None]:
    """What no plans of the first days of a scenario can earn together [EUR], kept between calls; None without time."""
    if time_s <= 0:
        return dict.fromkeys(groups)
    code = code_mark(tuple(f"curie23/{each}" for each in BOUND_MAKERS), BOUND_IDLE_ROOMS)
    tasks = {}
    for group in groups:
        facts = {"settings": choice.settings, "days": choice.days, "time_s": time_s, "traces": traces}
        path = piece(folder, "bounds", f"{group.calibration}-{group.scenario}-{choice.days}-days", facts, code)
        make = partial(_bound, group, choice, traces, time_s)
        tasks[group] = Task(f"bound of {group.calibration}, {group.scenario}", path, make)
    # One after the other: each uses all cores, and is better the more it gets done in its time.
    return {group: found["profit_eur"] for group, found in made(tasks, 1, lambda name: None).items()}


def _bound(group: Group, choice: StudyChoice, traces: Path, time_s: float) -> bytes:
    last = FIRST_DAY + dt.timedelta(days=choice.days - 1)
    bound = run_bound(scenario_of(group, traces, choice), FIRST_DAY, last, time_limit_s=time_s)
    return json.dumps({"profit_eur": bound.profit_eur}).encode()


def _task(cell: Cell, scenario: Scenario, choice: StudyChoice, folder: Path, command: Sequence[str]) -> RunTask:
    return RunTask(
        cell.name,
        settings_of(cell, scenario, choice, command),
        FIRST_DAY,
        FIRST_DAY + dt.timedelta(days=choice.days - 1),
        folder / "runs" / choice.ground(cell.calibration) / cell.scenario / cell.run,
        until_empty=choice.until_empty,
    )


def _rules_first(cells: Sequence[Cell]) -> list[Cell]:
    """Quick runs first, and each run in all scenarios, so that there is something to look at early."""
    runs = list(dict.fromkeys(cell.run for cell in cells))
    return sorted(cells, key=lambda cell: (not RUNS[cell.run].is_rule, runs.index(cell.run)))
