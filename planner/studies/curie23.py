"""The published experiment on 23 days of CEA Curie: its tables and figures beside ours, for each calibration."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from planner.defaults import ITERATIONS as STEPS
from planner.defaults import RUN_BOUND_TIME_S, STUDY_BOUND_TIME_S, TIME_LIMIT_S
from planner.limits import ITERATIONS, WORKERS, Bounds
from planner.methods import Params
from planner.pages.markup import counted
from planner.places import data_folder
from planner.runs.compare_results import Row
from planner.runs.parallel_calls import RunTask, run_tasks
from planner.scenario.schema import Scenario
from planner.store.provenance import versions
from planner.studies.curie23_numbers import curve_rows, published_rows, run_rows
from planner.studies.curie23_page import calibration_section, choices_table
from planner.studies.curie23_setup import (
    CALIBRATIONS,
    FIRST_DAY,
    RUNS,
    SCENARIOS,
    USUAL_RUNS,
    bound_figures,
    choice_rows,
    study_scenario,
)
from planner.studies.kept_pieces import OnDone, clear
from planner.studies.report import StudyReport, StudySection, grouped
from planner.studies.study import Study, StudyCell, option, require_known

DAYS = 23
BY_THE_CLOCK = ("cp", "relaxation", "delay")
"""Methods that search until their time is over; the others end by themselves, so that time changes no answer."""

AMPLE_TIME_S = 3600.0
"""Time per day of methods that end by themselves."""

NO_PAPER = (
    f"The paper's figures are of {DAYS} days. They stand beside a study of all of them, and are left out of this one."
)

NOT_EMPTIED = "The study ends with its last day, before queues are empty: there is no makespan, and no published PUE."
ASKED = (
    *("days", "until_empty", "scenarios", "runs", "settings", "time_limit_s"),
    *("bound_time_s", "iterations"),
)
"""Options that study.json tells."""

BOUNDED = ("harvest",)
"""Runs whose days get a bound."""


@dataclass(frozen=True, kw_only=True)
class Curie23Study(Study):
    """Four scenarios by every rule and search over 23 days of CEA Curie, with the published figures beside ours.

    Leaves the paper's tables and figures beside ours on one page, for each calibration of what the paper does not name.
    An interrupted study goes on where it stopped.

    A slice of it: plan study curie23 --days 3 --calibrations ours --scenarios air-summer --methods est,multisearch
    """

    name = "curie23"
    title = "The published study: 23 days of CEA Curie"
    reading = (
        "Submissions of CEA Curie, known a day ahead, on 300 nodes of 32 cores. Every day is planned, audited and"
        " settled from where the same run's day before ended. A rule is a common scheduler that walks through time; all"
        " others are searches. The best rule and the best search are those that have earned the most by the last day of"
        " submissions.",
        "Runs go on without new jobs until their queues are empty; figures have a line at the last day of submissions."
        " PUE and days until the queue is empty are of the whole, all else is of the days of submissions.",
    )
    days: int = option(DAYS, "number", "Days of submissions.", bounds=Bounds(1, DAYS))
    until_empty: bool = option(
        True, "flag", "Whether days go on until the queue is empty.", "--until-empty/--days-only"
    )
    calibrations: tuple[str, ...] = option(
        tuple(CALIBRATIONS), "names", "ours, fitted, or both by commas; both is the default."
    )
    scenarios: tuple[str, ...] = option(SCENARIOS, "names", "By commas; default all four.")
    runs: tuple[str, ...] = option(USUAL_RUNS, "names", "By commas; default all of the study.", "--methods")
    data: Path | None = option(None, "path", "Folder of the traces; default PLANNER_DATA.", metavar="DIR")
    settings: tuple[str, ...] = option(
        (), "texts", "Override a scenario key; may be repeated.", "--set", metavar="KEY=VALUE"
    )
    time_limit_s: float = option(TIME_LIMIT_S, "time", "Per day, of cp, relaxation and delay: 30s, 5m.", "--time-limit")
    bound_time_s: float = option(STUDY_BOUND_TIME_S, "time", "Per day, for the bound; 0 leaves it out.", "--bound-time")
    run_bound_time_s: float = option(
        RUN_BOUND_TIME_S,
        "time",
        "Per scenario, for the bound of all days together; 0 leaves it out.",
        "--run-bound-time",
    )
    iterations: int = option(
        STEPS, "number", "Steps of a search; the same number gives the same plan.", bounds=Bounds(1, ITERATIONS.high)
    )
    workers: int = option(
        0, "number", "Runs side by side; 0 is one per core.", "--processes", bounds=Bounds(0, WORKERS.high)
    )

    def __post_init__(self) -> None:
        require_known("calibration", self.calibrations, tuple(CALIBRATIONS))
        require_known("scenario", self.scenarios, SCENARIOS)
        require_known("method", self.runs, tuple(RUNS))

    @property
    def has_all_days(self) -> bool:
        """Whether published figures, which are of all 23 days, can stand beside it."""
        return self.days == DAYS

    @property
    def notes(self) -> list[str]:
        """What a reader has to know of a part of the study."""
        return [*([] if self.has_all_days else [NO_PAPER]), *([] if self.until_empty else [NOT_EMPTIED])]

    def scenario_of(self, calibration: str, scenario: str, run: str | None = None) -> Scenario:
        """A scenario: what makes a run goes over the calibration, and what the user sets over both."""
        more = () if run is None else RUNS[run].settings
        settings = (*CALIBRATIONS[calibration].settings, *more, *self.settings)
        return study_scenario(scenario, data_folder(self.data), settings)

    def ground(self, calibration: str) -> str:
        """The folder of its runs: another number of days, or other settings, must not take the place of whole runs."""
        days = "" if self.has_all_days else f"-{self.days}-days"
        mark = hashlib.sha256("\n".join(self.settings).encode()).hexdigest()[:8]
        return f"{calibration}{days}{f'-set-{mark}' if self.settings else ''}"

    def tasks(self, calibration: str) -> list[tuple[Row, RunTask]]:
        """The runs of a calibration with their labels: each in all scenarios, quick ones first."""
        found = []
        for name in sorted(self.runs, key=lambda each: RUNS[each].kind):
            for scenario in self.scenarios:
                task = RunTask(
                    f"{calibration}, {scenario}, {name}",
                    self.scenario_of(calibration, scenario, name),
                    self._params(name),
                    FIRST_DAY,
                    FIRST_DAY + dt.timedelta(days=self.days - 1),
                    self.folder / "runs" / self.ground(calibration) / scenario / name,
                    until_empty=self.until_empty,
                )
                found.append(({"calibration": calibration, "scenario": scenario, "run": name}, task))
        return found

    def _params(self, name: str) -> Params:
        """How the days of a run are planned."""
        method = RUNS[name].method
        return Params(
            method,
            iterations=self.iterations,
            command=self.command,
            page=False,
            baselines=False,
            time_limit_s=self.time_limit_s if method in BY_THE_CLOCK else AMPLE_TIME_S,
            bound_time_s=self.bound_time_s if name in BOUNDED else 0.0,
        )

    def count(self) -> int:
        """The runs of days; a setting that is wrong is refused here, before anything is run."""
        return sum(len(self.tasks(calibration)) for calibration in self.calibrations)

    def stages(self, on_done: OnDone) -> Iterator[list[Row]]:
        """The runs of one calibration after another, each with its days and the bound of its scenario."""
        if self.fresh:
            clear(self.folder / "runs")
        done: list[Row] = []
        for calibration in self.calibrations:
            tasks = self.tasks(calibration)
            outcomes = run_tasks([task for _, task in tasks], self.place, lambda task: on_done(task.name))
            bounds = self._bounds(calibration)
            done += [
                {**labels, "summaries": outcome, "run_bound_eur": bounds.get(labels["scenario"])}
                for (labels, _), outcome in zip(tasks, outcomes, strict=True)
            ]
            yield sorted(done, key=self._place)

    def _place(self, told: Row) -> tuple[int, int, int]:
        """Where a run stands among those that were asked for."""
        place = self.calibrations.index(told["calibration"]), self.scenarios.index(told["scenario"])
        return *place, self.runs.index(told["run"])

    def _bounds(self, calibration: str) -> dict[str, float]:
        """What no plans of the days can earn together [EUR], by scenario; in turn, as each uses all cores."""
        cells = [
            StudyCell(
                f"{calibration}-{scenario}-{self.days}-days",
                {"scenario": scenario},
                bound_figures,
                {
                    "scenario": self.scenario_of(calibration, scenario),
                    "days": self.days,
                    "time_s": self.run_bound_time_s,
                },
                kind="bounds",
            )
            for scenario in (self.scenarios if self.run_bound_time_s > 0 else ())
        ]
        found = self.found(cells, lambda name: None, in_turn=True)
        return {told["scenario"]: told["profit_eur"] for told in found}

    def report(self, found: Sequence[Row]) -> StudyReport:
        """For each calibration its tables and figures, then what is our choice."""
        runs = run_rows(found, self.days)
        rows = {"runs": runs, "published": published_rows(runs, has_all_days=self.has_all_days)}
        drawn, choices = curve_rows(found, self.days), self.choices(found)
        names = [group[0]["calibration"] for group in grouped(runs, "calibration")]
        sections = [
            calibration_section(
                name,
                *([row for row in each if row["calibration"] == name] for each in (*rows.values(), drawn)),
                days=self.days,
                settings=self.settings,
            )
            for name in names
        ]
        sections.append(StudySection("What is our choice", [choices_table(choices)]))
        asked = {each.name: getattr(self, each.name) for each in fields(self) if each.name in ASKED}
        asked |= {"command": list(self.command), "versions": versions()}
        asked["calibrations"] = {name: asdict(CALIBRATIONS[name])["settings"] for name in self.calibrations}
        files = {f"{name}.csv": each for name, each in rows.items()} | {"curves.csv": drawn}
        texts = {"study.json": json.dumps(asked, indent=2) + "\n"}
        return StudyReport(rows | {"choices": choices}, files, sections, self.notes, texts)

    def choices(self, found: Sequence[Row]) -> list[Row]:
        """What the paper leaves open, and what it is here."""
        firsts = [group[0] for group in grouped(found, "calibration")]
        scenarios = {told["calibration"]: self.scenario_of(told["calibration"], told["scenario"]) for told in firsts}
        return choice_rows(scenarios, self.days, self.time_limit_s, self.iterations, self.settings)

    def page(self, report: StudyReport) -> str:
        """Its page, whose title says how many days there are."""
        return report.page(self.name, f"The published study: {counted(self.days, 'day')} of CEA Curie", self.reading)
