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
from planner.runs.figures import Row, run_row
from planner.runs.one_day import Settings
from planner.scenario.load import load_scenario
from planner.scenario.schema import Scenario
from planner.store.replay_files import write_rows

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

PUBLISHED: dict[str, dict[str, float]] = {
    "air-winter": {"over_best_rule_percent": 7.71, "pue": 1.11},
    "air-summer": {"over_best_rule_percent": 7.66, "pue": 1.43},
    "hybrid-winter": {"over_best_rule_percent": 7.86, "pue": 1.00},
    "hybrid-summer": {"over_best_rule_percent": 7.95, "pue": 1.09},
}
"""Best search over best rule in profit at the end of day 23, and the PUE of the whole."""
PUBLISHED_OVER_CP = (10.4, 10.8)
"""Best search over the engine's default search [%], least and most of the scenarios."""
PUBLISHED_IMPROVED = {"delay": 48.0, "relaxation": 8.5}
"""Part of the days on which a search improves on its seed, MultiSearch [%]."""


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
    runs = _run_rows(ordered, found, choice.days)
    published = _published_rows(runs, choice)
    write_rows(runs, folder / "runs.csv")
    write_rows(published, folder / "published.csv")
    for scenario in choice.scenarios:
        rows = _cumulative_rows({method: found[scenario, method] for method in methods}, scenario)
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


def _run_rows(
    pairs: Sequence[tuple[str, str]], found: Mapping[tuple[str, str], list[dict[str, Any]]], days: int
) -> list[Row]:
    """One row a run: the profit at the end of the days of the study, and the whole until the queue is empty."""
    from planner.search.orderings import ORDERINGS

    rows = []
    for scenario, method in pairs:
        summaries = found[scenario, method]
        names = {"scenario": scenario, "method": method}
        study, whole = run_row(names, summaries[:days]), run_row(names, summaries)
        rows.append(
            {
                **names,
                "profit_eur": study["profit_eur"],
                "bound_eur": study["bound_eur"],
                "utilisation_fraction": study["utilisation_fraction"],
                "waiting": study["deferred"],
                "makespan_days": round(whole["makespan_h"] / 24, 3),
                "profit_in_the_end_eur": whole["profit_eur"],
                "pue": whole["pue"],
                "jobs": whole["finished"],
                "solve_s_per_day": round(sum(s["solve_s"] for s in summaries) / len(summaries), 3),
                "days_better_than_orderings": sum(
                    s["best_trial"] not in (*ORDERINGS, *RULES) for s in summaries if s["jobs"]["started"]
                ),
                "days": len(summaries),
            }
        )
    for row in rows:
        rules = [r["profit_eur"] for r in rows if r["scenario"] == row["scenario"] and r["method"] in RULES]
        best = max(rules, default=None)
        row["over_best_rule_percent"] = None if best is None else round(100 * (row["profit_eur"] / best - 1), 3)
    return rows


def _published_rows(runs: Sequence[Row], choice: StudyChoice) -> list[Row]:
    """The paper's figures of each scenario beside ours."""
    rows: list[Row] = []
    for scenario in choice.scenarios:
        here = [row for row in runs if row["scenario"] == scenario]
        searches = [row for row in here if row["method"] not in RULES]
        rules = [row for row in here if row["method"] in RULES]
        best = max(searches, key=lambda row: row["profit_eur"], default=None)
        rule = max(rules, key=lambda row: row["profit_eur"], default=None)
        said = PUBLISHED[scenario]
        shorter = None if best is None or rule is None else rule["makespan_days"] - best["makespan_days"]
        by_cp = next((row["profit_eur"] for row in here if row["method"] == "cp"), None)
        improved = {
            row["method"]: round(100 * row["days_better_than_orderings"] / row["days"], 1)
            for row in here
            if row["method"] in PUBLISHED_IMPROVED
        }
        rows.append(
            {
                "scenario": scenario,
                "best_search": best["method"] if best else "",
                "best_rule": rule["method"] if rule else "",
                "over_best_rule_percent": best["over_best_rule_percent"] if best else None,
                "published_percent": said["over_best_rule_percent"],
                "days_shorter": None if shorter is None else round(shorter, 3),
                "published_days_shorter": 1,
                "pue": (best or rule or here[0])["pue"],
                "published_pue": said["pue"],
                "over_cp_percent": round(100 * (best["profit_eur"] / by_cp - 1), 3) if best and by_cp else None,
                "delay_improves_percent": improved.get("delay"),
                "relaxation_improves_percent": improved.get("relaxation"),
            }
        )
    return rows


def _cumulative_rows(found: Mapping[str, list[dict[str, Any]]], scenario: str) -> list[Row]:
    """Profit from the first day on, one row a method and day."""
    rows = []
    for method, summaries in found.items():
        total = 0.0
        for number, summary in enumerate(summaries, start=1):
            total += summary["totals"]["profit_eur"]
            rows.append(
                {
                    "scenario": scenario,
                    "method": method,
                    "number": number,
                    "day": summary["day"],
                    "profit_eur": summary["totals"]["profit_eur"],
                    "cumulative_profit_eur": round(total, 6),
                    "utilisation_fraction": summary["utilisation_fraction"],
                    "waiting": summary["jobs"]["deferred"],
                    "solve_s": summary["solve_s"],
                }
            )
    return rows


def _require_known(what: str, given: Sequence[str], known: Sequence[str] | Mapping[str, Any]) -> None:
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        raise InputError(f"unknown {what} {unknown!r} of the study; known: {', '.join(known)}")
