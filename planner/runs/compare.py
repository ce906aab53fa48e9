"""Scenarios by methods by days, side by side, with what each earns more or less than a baseline."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from planner.errors import InputError
from planner.pages.compare import compare_page
from planner.pages.index import write_index
from planner.runs.fanout import Engine, Outcome, RunTask, run_tasks
from planner.runs.figures import Row, day_rows, run_row
from planner.runs.one_day import Settings, require_order
from planner.scenario.schema import Scenario
from planner.store.files import put
from planner.store.folder import held, renewed
from planner.store.replay_files import write_rows
from planner.store.write_tables import encoded

LONGEST_NAME = 100


@dataclass(frozen=True)
class Comparison:
    """What was compared: one row per run with its differences, one row per day, and where the files are."""

    baseline: str
    currency: str
    first: dt.date
    last: dt.date
    runs: list[Row]
    days: list[Row]
    folder: Path


def compare_runs(
    scenarios: Sequence[Scenario],
    methods: Sequence[str],
    first: dt.date,
    last: dt.date,
    out: Path,
    *,
    how: Settings,
    baseline: str | None = None,
    engine: Engine | None = None,
    on_done: Callable[[RunTask], None] | None = None,
) -> Comparison:
    """Plan the same days in every scenario by every method, and set the results side by side.

    Every run starts anew on the first day. ``how`` gives all but scenario and method; ``baseline`` is a scenario, with
    the first method, or ``SCENARIO:METHOD``. Days and tables are left in a folder of their own below ``out``.
    """
    require_order(first, last)
    _require_comparable(scenarios, methods)
    pairs = [(scenario, method) for scenario in scenarios for method in methods]
    base = _baseline(baseline, [scenario.name for scenario in scenarios], methods)
    folder = out.resolve() / "compare" / _name_of(scenarios, methods) / _span(first, last)
    tasks = [
        RunTask(
            f"{scenario.name}, {method}",
            replace(how, scenario=scenario, method=method),
            first,
            last,
            folder / "runs" / scenario.name / method,
        )
        for scenario, method in pairs
    ]
    with held(folder):
        outcomes = run_tasks(tasks, engine or Engine(), on_done)
        comparison = _compared(pairs, outcomes, base, first, last, folder)
        _write(comparison, scenarios)
    write_index(folder.parents[2])
    return comparison


def _compared(
    pairs: Sequence[tuple[Scenario, str]],
    outcomes: Sequence[Outcome],
    base: tuple[str, str],
    first: dt.date,
    last: dt.date,
    folder: Path,
) -> Comparison:
    named = [{"scenario": scenario.name, "method": method} for scenario, method in pairs]
    runs = [run_row(names, summaries) for names, summaries in zip(named, outcomes, strict=True)]
    days = [row for names, summaries in zip(named, outcomes, strict=True) for row in day_rows(names, summaries)]
    base_row = next(row for row in runs if (row["scenario"], row["method"]) == base)
    runs = [with_difference(row, base_row) for row in runs]
    return Comparison(":".join(base), pairs[0][0].currency, first, last, runs, days, folder)


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
        "baseline": comparison.baseline,
        "currency": comparison.currency,
        "from": comparison.first.isoformat(),
        "to": comparison.last.isoformat(),
        "scenarios": {scenario.name: scenario.description for scenario in scenarios},
        "runs": comparison.runs,
        "days": comparison.days,
    }
    with renewed(comparison.folder) as fresh:
        write_rows(comparison.runs, fresh / "runs.csv")
        write_rows(comparison.days, fresh / "days.csv")
        put(fresh / "compare.json", encoded(json.dumps(about, indent=2, ensure_ascii=False) + "\n"))
        put(fresh / "compare.html", encoded(compare_page(about)))
