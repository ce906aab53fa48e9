"""Scenarios by methods and policies by days, side by side, with what each saves against EASY on the same jobs."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from planner.domain.columns import Ints
from planner.domain.day_summary import FORMAT, Waits
from planner.domain.horizon import Horizon
from planner.domain.plan import DEFERRED
from planner.errors import InputError
from planner.methods import Params
from planner.online.policies import Policy
from planner.pages.compare import compare_page
from planner.pages.index import write_index
from planner.pages.panels import column
from planner.places import full_path
from planner.runs.compare_rows import NO_PROMISE, forecast_members, member_rows, policy_days, wait_columns
from planner.runs.fanout import Outcome, RunTask, TaskEngine, run_tasks
from planner.runs.one_day import require_order
from planner.runs.run_figures import Row, day_rows, run_row
from planner.scenario.schema import Scenario
from planner.store.folder import held, put, renewed
from planner.store.read_tables import Came, read_table, ready_unix, start_unix, take_in
from planner.store.replay_files import write_rows
from planner.store.write_tables import COLUMNS, encoded

LONGEST_NAME = 100
EASY = Policy("easy")
SAVINGS = ("saved_eur", "saved_percent", "saved_energy_cost_eur", "saved_kwh", "saved_carbon_kg")
"""What a run saves against EASY of the same scenario."""


@dataclass(frozen=True)
class Comparison:
    """What was compared: one row per run with its differences, one row per day, and where the files are.

    ``notes`` say on what footing. ``members`` has what the same plans cost under each member of a forecast; None where
    that was not asked for.
    """

    baseline: str
    currency: str
    first: dt.date
    last: dt.date
    runs: list[Row]
    days: list[Row]
    notes: list[str]
    folder: Path
    members: list[Row] | None = None


def compare_runs(
    scenarios: Sequence[Scenario],
    methods: Sequence[str],
    first: dt.date,
    last: dt.date,
    out: Path,
    *,
    how: Params,
    policies: Sequence[Policy] = (),
    baseline: str | None = None,
    by_member: bool = False,
    engine: TaskEngine | None = None,
    on_done: Callable[[str], None] | None = None,
) -> Comparison:
    """Plan the same days in every scenario by every method, and set the results beside what EASY makes of the jobs.

    Every run starts anew on the first day. ``how`` gives all but the method; ``policies`` are replayed on the
    same jobs, after EASY. ``baseline`` is a scenario, with the first method, or ``SCENARIO:METHOD``. ``by_member``:
    plans are settled under each member of their scenario's forecasts as well. Days and tables are left in a folder of
    their own below ``out``.
    """
    require_order(first, last)
    _require_comparable(scenarios, methods)
    if by_member:
        for scenario in scenarios:
            forecast_members(scenario, Horizon(first, scenario.zone))
    done = on_done or (lambda name: None)
    replayed = list(dict.fromkeys([EASY, *policies]))
    pairs = [(scenario, method) for scenario in scenarios for method in methods]
    base = _baseline(baseline, [scenario.name for scenario in scenarios], methods)
    folder = full_path(out) / "compare" / _name_of(scenarios, methods) / _span(first, last)
    tasks = [
        RunTask(
            f"{scenario.name}, {method}",
            scenario,
            replace(how, method=method),
            first,
            last,
            folder / "runs" / scenario.name / method,
        )
        for scenario, method in pairs
    ]
    with held(folder):
        outcomes = run_tasks(tasks, engine or TaskEngine(), lambda task: done(task.name))
        runs: list[Found] = []
        for scenario in scenarios:
            group = []
            for found in () if scenario.outages else policy_days(scenario, replayed, first, last):
                group.append(found)
                done(f"{scenario.name}, {found[0]['method']}")
            for task, outcome in zip(tasks, outcomes, strict=True):
                if task.scenario is scenario:
                    group.append(_planned(task, outcome))
            runs += _with_savings(group)
        comparison = _compared(scenarios, runs, base, (first, last), folder)
        if by_member:
            comparison = replace(
                comparison,
                members=[
                    row
                    for task, outcome in zip(tasks, outcomes, strict=True)
                    for row in member_rows(task.scenario, task.params.method, outcome, task.folder)
                ],
            )
        _write(comparison, scenarios)
    write_index(folder.parents[2])
    return comparison


Found = tuple[Row, list[Row]]
"""The row of a run, and the rows of its days."""


def _planned(task: RunTask, summaries: Outcome) -> Found:
    names = {"scenario": task.scenario.name, "method": task.params.method, "kind": "plan"}
    waits = wait_columns(_waits_of(task.folder, summaries))
    return run_row(names, summaries) | waits | NO_PROMISE, day_rows(names, summaries)


def _waits_of(folder: Path, summaries: Outcome) -> Waits:
    """How long jobs waited from when they could first start: those that the run leaves waiting, until its end."""
    came = Came()
    ready: list[Ints] = []
    start: list[Ints] = []
    for summary in summaries:
        table = read_table(folder / summary.day.isoformat() / "schedule.csv", COLUMNS["schedule"])
        is_new = np.array([state == "planned" for state in column(table, "state")], dtype=np.bool_)
        take_in(came, table, summary.horizon)
        ready.append(ready_unix(table, summary.horizon, came)[is_new])
        start.append(start_unix(table, summary.horizon)[is_new])
    last = summaries[-1]
    table = read_table(folder / last.day.isoformat() / "deferred.csv", COLUMNS["deferred"])
    waits = np.array([kind == "deferred" for kind in column(table, "kind")], dtype=np.bool_)
    ready.append(ready_unix(table, last.horizon, came)[waits])
    start.append(np.full(len(ready[-1]), DEFERRED, dtype=np.int64))
    return Waits.of(np.concatenate(ready), np.concatenate(start), last.horizon.end_unix)


def _with_savings(group: list[Found]) -> list[Found]:
    """The runs of one scenario with what each saves against EASY."""
    easy = next((run for run, _ in group if run["kind"] == "policy" and run["method"] == EASY.name), None)
    return [(with_saving(run, easy), days) for run, days in group]


def with_saving(row: Row, easy: Row | None) -> Row:
    """A run with what it saves against EASY: positive is better; None where there is no EASY to compare with."""
    if easy is None:
        return row | dict.fromkeys(SAVINGS)
    saved = {"saved_eur": row["profit_eur"] - easy["profit_eur"]}
    saved |= {name: easy[name.removeprefix("saved_")] - row[name.removeprefix("saved_")] for name in SAVINGS[2:]}
    part = 100 * saved["saved_eur"] / abs(easy["profit_eur"]) if easy["profit_eur"] else None
    ordered = {"saved_eur": saved["saved_eur"], "saved_percent": part} | saved
    return row | {name: None if value is None else round(value, 6) + 0.0 for name, value in ordered.items()}


def _compared(
    scenarios: Sequence[Scenario],
    found: Sequence[Found],
    base: tuple[str, str],
    span: tuple[dt.date, dt.date],
    folder: Path,
) -> Comparison:
    base_row = next(row for row, _ in found if (row["scenario"], row["method"]) == base)
    return Comparison(
        baseline=":".join(base),
        currency=scenarios[0].currency,
        first=span[0],
        last=span[1],
        runs=[with_difference(row, base_row) for row, _ in found],
        days=[day for _, days in found for day in days],
        notes=_notes(scenarios, holds=any(row["delayed"] is not None for row, _ in found)),
        folder=folder,
    )


def _notes(scenarios: Sequence[Scenario], *, holds: bool) -> list[str]:
    """On what footing plans and policies stand; named by scenarios where these differ."""
    found = {scenario.name: _footing(scenario, holds=holds) for scenario in scenarios}
    first = next(iter(found.values()))
    if all(notes == first for notes in found.values()):
        return first
    return [f"{name}: {note}" for name, notes in found.items() for note in notes]


def _footing(scenario: Scenario, *, holds: bool) -> list[str]:
    rules = scenario.rules
    if scenario.outages:
        return ["Nodes are out of service, which policies do not know of, so that none is replayed."]
    length = "runs as long as it asked" if rules.execute == "requested" else "ends at its real runtime"
    promise = (
        f"; hold may hold a job for at most {(rules.max_delay_s or 0) / 3600:g} h (rules.max_delay)" if holds else ""
    )
    return [
        f"In plans and policies alike every job {length} (rules.execute: {rules.execute}).",
        f"Policies expect runtimes as {rules.estimate} (rules.estimate){promise}.",
    ]


def with_difference(row: Row, base: Row) -> Row:
    """A run with what it earns more than the baseline, in money and in percent of the baseline's profit."""
    more = row["profit_eur"] - base["profit_eur"]
    percent = 100 * more / abs(base["profit_eur"]) if base["profit_eur"] else None
    return row | {
        "profit_difference_eur": round(more, 6) + 0.0,
        "profit_difference_percent": None if percent is None else round(percent, 6) + 0.0,
    }


def _require_comparable(scenarios: Sequence[Scenario], methods: Sequence[str]) -> None:
    names = [scenario.name for scenario in scenarios]
    for what, given in (("scenario", names), ("method", list(methods))):
        twice = next((name for name in given if given.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"{what} {twice} is given twice; give each once")
    currencies = {scenario.currency for scenario in scenarios}
    if len(currencies) > 1:
        raise InputError(f"the scenarios count in {' and '.join(sorted(currencies))}; compare those of one currency")


def _baseline(given: str | None, scenarios: Sequence[str], methods: Sequence[str]) -> tuple[str, str]:
    scenario, _, method = (given or scenarios[0]).partition(":")
    if scenario not in scenarios:
        raise InputError(f"the baseline {scenario!r} is not compared; choose one of {', '.join(scenarios)}")
    if method and method not in methods:
        raise InputError(f"the baseline's method {method!r} is not compared; choose one of {', '.join(methods)}")
    return scenario, method or methods[0]


def _name_of(scenarios: Sequence[Scenario], methods: Sequence[str]) -> str:
    """A folder's name for what is compared."""
    name = "+".join([*(scenario.name for scenario in scenarios), *methods])
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME - 9]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _span(first: dt.date, last: dt.date) -> str:
    return first.isoformat() if first == last else f"{first}_{last}"


def _write(comparison: Comparison, scenarios: Sequence[Scenario]) -> None:
    """Put the tables and the page beside the days, all in one step."""
    about: dict[str, Any] = {
        "format": FORMAT,
        "baseline": comparison.baseline,
        "currency": comparison.currency,
        "from": comparison.first.isoformat(),
        "to": comparison.last.isoformat(),
        "scenarios": {scenario.name: scenario.description for scenario in scenarios},
        "notes": comparison.notes,
        "runs": comparison.runs,
        "days": comparison.days,
    }
    if comparison.members is not None:
        about["members"] = comparison.members
    with renewed(comparison.folder) as fresh:
        (fresh / "members.csv").unlink(missing_ok=True)  # of an earlier comparison that had asked for them
        if comparison.members is not None:
            write_rows(comparison.members, fresh / "members.csv")
        write_rows(comparison.runs, fresh / "runs.csv")
        write_rows(comparison.days, fresh / "days.csv")
        put(fresh / "compare.json", encoded(json.dumps(about, indent=2, ensure_ascii=False) + "\n"))
        put(fresh / "compare.html", encoded(compare_page(about)))
