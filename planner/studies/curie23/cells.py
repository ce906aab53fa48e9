"""The cells of the study: a calibration of what the paper leaves open, a scenario, and a method with its settings.

Submissions of 23 days from 2012-08-07 on, known a day ahead, on 300 nodes of 32 cores. Days go on after the 23rd until
the queue is empty.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from dataclasses import dataclass

from planner.defaults import STUDY_BOUND_TIME_S, TIME_LIMIT_S
from planner.methods import METHODS, RULES

FIRST_DAY = dt.date(2012, 8, 7)
DAYS = 23
SCENARIOS = ("air-winter", "air-summer", "hybrid-winter", "hybrid-summer")
BY_THE_CLOCK = ("cp", "relaxation", "delay")
"""Methods that search until their time is over; the others end by themselves, so that time changes no answer."""
TRACE_CORES = 93_312
"""Cores of the traced machine, by the header of the trace."""
DEFAULT_SEARCH = "cp"
"""The run that figures 5 to 8 compare searches with: the engine's default search."""


@dataclass(frozen=True)
class Calibration:
    """Values of what the paper does not name, as scenario settings."""

    name: str
    words: str
    settings: tuple[str, ...]


CALIBRATIONS = {
    each.name: each
    for each in (
        Calibration(
            "ours",
            "jobs scaled from the 93,312 cores of the trace's header, 0.02 EUR per core-hour",
            (f"jobs.core_scale=9600/{TRACE_CORES}",),
        ),
        Calibration(
            "fitted",
            "jobs scaled from the 80,640 cores of Curie's thin nodes, after the paper's 54 days, and 1.1 EUR per"
            " core-hour, after its Table 2",
            ("jobs.core_scale=9600/80640", "revenue.eur_per_core_hour=1.1"),
        ),
    )
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
    def is_rule(self) -> bool:
        """Whether it models a common scheduler; all others are searches."""
        return self.method in RULES


_SEARCHES = tuple(reversed([method for method in METHODS if method not in RULES]))

_AHEAD = StudyRun("harvest-ahead", "harvest", ("search.lookahead_days=2",), "harvest, two days together")

RUNS = {each.name: each for each in (*(StudyRun(method, method) for method in (*RULES, *_SEARCHES)), _AHEAD)}
"""Every run by name: the methods as they are, rules first, each day by itself; then methods with other settings."""

USUAL_RUNS = tuple(name for name in RUNS if name != "hold")
"""What the study runs if nothing is said; ``hold`` needs a site that lets jobs be held."""


@dataclass(frozen=True)
class Group:
    """Runs of one calibration and scenario, which are compared with each other."""

    calibration: str
    scenario: str


@dataclass(frozen=True)
class Cell:
    """One run of days, by names."""

    calibration: str
    scenario: str
    run: str

    @property
    def name(self) -> str:
        """Its name, such as ``ours, air-winter, harvest``."""
        return f"{self.calibration}, {self.scenario}, {self.run}"

    @property
    def group(self) -> Group:
        """The runs that it is compared with."""
        return Group(self.calibration, self.scenario)


@dataclass(frozen=True)
class StudyChoice:
    """Which part of the study to run, and how.

    ``time_limit_s`` is per day, of the methods that go by the clock; ``bounded`` are the runs whose days get a bound.
    ``settings`` go over every scenario. Without ``until_empty`` the study ends with its last day.
    """

    days: int = DAYS
    until_empty: bool = True
    calibrations: tuple[str, ...] = tuple(CALIBRATIONS)
    scenarios: tuple[str, ...] = SCENARIOS
    runs: tuple[str, ...] = USUAL_RUNS
    settings: tuple[str, ...] = ()
    time_limit_s: float = TIME_LIMIT_S
    bound_time_s: float = STUDY_BOUND_TIME_S
    iterations: int | None = None
    bounded: tuple[str, ...] = ("harvest",)

    @property
    def has_all_days(self) -> bool:
        """Whether published figures, which are of all 23 days, can stand beside it."""
        return self.days == DAYS

    def cells(self, calibration: str) -> list[Cell]:
        """The cells of a calibration, scenario by scenario."""
        return [Cell(calibration, scenario, run) for scenario in self.scenarios for run in self.runs]

    def ground(self, calibration: str) -> str:
        """The folder of its runs: another number of days, or other settings, must not take the place of whole runs."""
        days = "" if self.has_all_days else f"-{self.days}-days"
        mark = hashlib.sha256("\n".join(self.settings).encode()).hexdigest()[:8]
        return f"{calibration}{days}{f'-set-{mark}' if self.settings else ''}"
