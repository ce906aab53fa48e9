"""Whether the gain that a day is told to have against EASY is what is left once the same jobs have run.

python benchmarks/headline.py                                      20 days of the sample: hourly tariff, German prices
python benchmarks/headline.py --first 2024-09-02 --days 5 --tariffs de-2022

Each day is planned by itself. Its headline says what the plan earns more than EASY until all known jobs have run. Then
the days after it are planned night by night, without new jobs, until the machine is empty; and the same under EASY. The
difference is what was gained. A line for each day, then on how many days the sign is right, and on how many the
headline is within a factor of two.
"""

from __future__ import annotations

import argparse
import datetime as dt
import tempfile
from pathlib import Path

from days import plain_params
from emptied_weeks import scenario_of

from planner.runs.run_days import run_days
from planner.scenario.schema import Scenario

TARIFFS = ("hourly", "de-2022")
ABOUT_NOTHING_EUR = 0.02
"""Gains below this are none: both sides are sums of thousands of jobs that are rounded to a millionth."""


def told_and_kept(scenario: Scenario, day: dt.date, iterations: int) -> tuple[float, float]:
    """The gain of the headline, and the gain when all jobs have run [EUR]."""
    profit, told = {}, 0.0
    for method in ("harvest", "easy"):
        params = plain_params(method, iterations)
        with tempfile.TemporaryDirectory() as folder:
            done = list(run_days(scenario, params, day, day, Path(folder), until_empty=True))
        profit[method] = sum(each.summary.totals.profit_eur for each in done)
        ahead = done[0].summary.ahead
        if ahead is not None:
            told = ahead.plan.profit_eur - ahead.easy.profit_eur
    return told, profit["harvest"] - profit["easy"]


def has_sign(told: float, kept: float) -> bool:
    """Whether a headline has the sign of what was gained."""
    return told * kept > 0 or max(abs(told), abs(kept)) < ABOUT_NOTHING_EUR


def is_near(told: float, kept: float) -> bool:
    """Whether a headline is within a factor of two of what was gained."""
    return has_sign(told, kept) and (
        max(abs(told), abs(kept)) < ABOUT_NOTHING_EUR or 0.5 <= abs(told) / max(abs(kept), 1e-9) <= 2
    )


def main() -> None:
    """Print a line for each day, and the counts."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--first", type=dt.date.fromisoformat, default=dt.date(2024, 6, 3))
    asked.add_argument("--days", type=int, default=10)
    asked.add_argument("--tariffs", default=",".join(TARIFFS))
    asked.add_argument("--iterations", type=int, default=20_000)
    given = asked.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for tariff in given.tariffs.split(","):
            scenario = scenario_of(tariff, given.first, 0, [], 0, Path(folder))
            for number in range(given.days):
                day = given.first + dt.timedelta(days=number)
                found.append(told_and_kept(scenario, day, given.iterations))
                told, kept = found[-1]
                words = "" if is_near(told, kept) else "  FAR" if has_sign(told, kept) else "  WRONG"
                print(f"{day}  {tariff:8}  told {told:+8.2f} EUR   gained {kept:+8.2f} EUR{words}", flush=True)
    right, near = (sum(test(*each) for each in found) for test in (has_sign, is_near))
    print(f"{len(found)} days: the sign is right on {right}, within a factor of two on {near}")


if __name__ == "__main__":
    main()
