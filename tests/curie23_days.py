"""A study of 23 days made by hand, whose tables can be worked out in the head."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace

from planner.domain.result import Trial
from planner.runs.compare_results import Row
from planner.runs.parallel_calls import Outcome
from planner.studies.curie23 import Curie23Study
from planner.studies.curie23_setup import CALIBRATIONS, FIRST_DAY, SCENARIOS
from planner.studies.report import StudyReport
from tests.factories import day_summary

NOTHING = Trial("cpsat found nothing in time", 1.0, 1)
ORDERED, IMPROVED = Trial("+duration", 1.0, 1), Trial("+duration, delayed", 2.0, 1)


def days_of(
    profits: list[float],
    *,
    search_s: float = 0.0,
    trial: Trial = ORDERED,
    found_s: float | None = None,
    cooling_kwh: float = 0.1,
    last_end_s: int = 0,
    waiting: int = 0,
) -> Outcome:
    """A run of days that earn so much; the last ends ``last_end_s`` after its midnight with so many jobs left."""
    found = []
    for number, profit in enumerate(profits):
        is_last = number == len(profits) - 1
        plain = day_summary(solve_s=search_s, found_s=found_s, best_trial=trial.name, trials=(ORDERED, trial))
        found.append(
            replace(
                plain,
                day=FIRST_DAY + dt.timedelta(days=number),
                totals=replace(plain.totals, profit_eur=profit, it_kwh=1.0, cooling_kwh=cooling_kwh),
                jobs=replace(plain.jobs, started=1, finished=1, deferred=waiting if is_last else 0),
                last_end_s=last_end_s if is_last else 0,
                status="nothing" if trial is NOTHING else "found",
            )
        )
    return found


def told(name: str, days: Outcome, scenario: str = "air-winter", calibration: str = "ours") -> Row:
    """What is found of a run."""
    return {"calibration": calibration, "scenario": scenario, "run": name, "summaries": days, "run_bound_eur": None}


def whole_study(scenario: str = "air-winter", calibration: str = "ours") -> list[Row]:
    """23 days, then others: ``est`` earns 100 a day and takes 54 days, ``harvest`` earns 110 in 2 s and takes 53."""
    est = days_of([100.0] * 23 + [1.0] * 31, last_end_s=86_400, cooling_kwh=0.12)
    weak = days_of([90.0] * 23 + [1.0] * 32)
    cp = days_of([99.0] * 23 + [1.0] * 30, search_s=4.0, trial=NOTHING, found_s=4.0)
    delay = days_of([105.0] * 23 + [1.0] * 27, search_s=5.0, trial=IMPROVED, found_s=3.0)
    best = days_of([110.0] * 23 + [1.0] * 30, search_s=2.0, found_s=1.5, last_end_s=86_400)
    runs = {"est": est, "wt": weak, "cp": cp, "delay": delay, "harvest": best}
    return [told(name, outcome, scenario, calibration) for name, outcome in runs.items()]


class HandMadeStudy(Curie23Study):
    """The study without its trace."""

    def choices(self, found: Sequence[Row]) -> list[Row]:
        """One, as no scenario is read."""
        return [{"choice": "revenue (K1)", "ours": "0.02 EUR", "fitted": "2.14 EUR", "paper": "not named"}]


def shown(study: Curie23Study, bound_eur: float | None = None) -> StudyReport:
    """Both calibrations and all four scenarios of the hand-made study."""
    found = [
        row for calibration in CALIBRATIONS for scenario in SCENARIOS for row in whole_study(scenario, calibration)
    ]
    return study.report([row | {"run_bound_eur": bound_eur} for row in found])
