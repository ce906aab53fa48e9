"""What planning with tomorrow in mind earns, part by part, on days of CEA Curie as in the published study.

python benchmarks/look_ahead.py                                       five days of air-winter, every variant
python benchmarks/look_ahead.py --scenario hybrid-summer --first 2012-06-12 --days 10 --variants by-day,ahead
python benchmarks/look_ahead.py --days 23 --bound 300                 and what no plans of these days could earn

Each line: a variant, what its days earn, how much of the machine they use, the time of a day and that of day by day in
it, and with a bound how much of the distance from day by day to the bound is closed. Variants run one after the other,
so that their times can be compared. The cost grows with days x jobs in the queue.
"""

from __future__ import annotations

import argparse
import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from days import planned_days

from planner.places import data_folder
from planner.runs.bounds_over_days import run_bound
from planner.scenario.schema import Scenario
from planner.studies.curie23_setup import CALIBRATIONS, FIRST_DAY, SCENARIOS, study_scenario

VARIANTS: dict[str, tuple[str, int, dict[str, object]]] = {
    "by-day": ("each day by itself", 1, {}),
    "ahead": ("two days together: the default", 2, {}),
    "in-full": (
        "the same, with the second day counting in full",
        2,
        {"planner.planning.outlook.part_known": lambda day: 1.0},
    ),
    "half": ("the same, with it counting half", 2, {"planner.planning.outlook.part_known": lambda day: 0.5}),
    "by-age": (
        "the same, with it counting the part of the queue that is older than a day, however small",
        2,
        {"planner.planning.outlook.LEAST_COUNTS": 0.0},
    ),
    "three": ("three days together", 3, {}),
}
"""By name: in words, days planned together, and what stands in for parts of the planner."""


@contextmanager
def replaced(parts: dict[str, object]) -> Iterator[None]:
    """Let other functions or numbers stand in for parts of the planner."""
    patches = [patch(name, other) for name, other in parts.items()]
    for each in patches:
        each.start()
    try:
        yield
    finally:
        for each in patches:
            each.stop()


def run(scenario: Scenario, first: dt.date, days: int, iterations: int) -> tuple[float, float, float]:
    """Profit of the days [EUR], use of the machine and time of a day [s]."""
    done, took = planned_days(scenario, first, days, iterations)
    profit = sum(each.totals.profit_eur for each in done)
    use = sum(each.utilisation_fraction or 0.0 for each in done) / days
    return profit, use, took / days


def main() -> None:
    """Print one line per variant."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--scenario", choices=SCENARIOS, default="air-winter")
    asked.add_argument("--first", type=dt.date.fromisoformat, default=FIRST_DAY)
    asked.add_argument("--days", type=int, default=5)
    asked.add_argument("--variants", default=",".join(VARIANTS))
    asked.add_argument("--iterations", type=int, default=20_000)
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--bound", type=float, default=0.0, metavar="SECONDS")
    given = asked.parse_args()
    data = data_folder()

    def scenario(together: int) -> Scenario:
        settings = (*CALIBRATIONS["ours"].settings, f"search.lookahead_days={together}", f"seed={given.seed}")
        return study_scenario(given.scenario, data, settings)

    last = given.first + dt.timedelta(days=given.days - 1)
    print(f"{given.scenario}, {given.first} to {last}, {given.iterations} steps, seed {given.seed}")
    limit = None
    if given.bound > 0:
        limit = run_bound(scenario(1), given.first, last, time_limit_s=given.bound).profit_eur
        print(f"  no plans of these days could earn more than {limit:,.2f} EUR", flush=True)
    run(scenario(2), given.first, 1, 500)  # machine code is loaded before the clock starts
    base: tuple[float, float] | None = None
    for name in given.variants.split(","):
        words, together, parts = VARIANTS[name]
        with replaced(parts):
            profit, use, took = run(scenario(together), given.first, given.days, given.iterations)
        text = f"  {name:<10} {profit:12,.2f} EUR  {100 * use:6.2f} %  {took:6.1f} s a day"
        if name == "by-day":
            base = profit, took
        elif base is not None:
            text += f", {took / base[1]:.2f} times, {profit - base[0]:+10,.2f} EUR"
            if limit is not None:
                text += f", {100 * (profit - base[0]) / (limit - base[0]):.0f} % of the distance"
        print(f"{text}  {words}", flush=True)


if __name__ == "__main__":
    main()
