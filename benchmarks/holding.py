"""Holding jobs: whether prices that nobody knows change anything, and how long a decision of `plan now` takes.

python benchmarks/holding.py mirror --data DIR      every day of three weeks of Curie, its prices turned round
python benchmarks/holding.py now --pending 2000     seconds of CPU of a decision
"""

from __future__ import annotations

import argparse
import datetime as dt
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from planner.bounds import DAY_S
from planner.domain.horizon import Horizon
from planner.domain.intake import Intake
from planner.domain.situation import Situation
from planner.inputs.build import build
from planner.inputs.jobs.read import submitted_jobs
from planner.online.holding import Holding
from planner.online.look_ahead import look_ahead
from planner.online.policies import policy_named
from planner.online.prices import QUARTERS_PER_DAY
from planner.online.replay import Replay, replay
from planner.places import shipped_folder
from planner.planning.energy_costs import holding_of, holding_of_trace
from planner.runs.replay_ledger import origin_of
from planner.scenario.load import load_scenario
from planner.studies.curie23_site import data_folder
from planner.studies.operation import UNSEEN
from planner.studies.operation_weeks import TRACES, WEEK_DAYS, Week, moved_prices, scenario_of, week_of

PUBLISHED_S = 13 * 3600
"""Prices of a day are known from 13:00 of the day before on."""


def turned(holding: Holding, day: int) -> Holding:
    """The same with the prices of one day of the table turned round, and a cent dearer."""
    assert holding.costs is not None
    price = holding.costs.eur_per_kwh.copy()
    own = slice(day * QUARTERS_PER_DAY, (day + 1) * QUARTERS_PER_DAY)
    price[own] = price[own][::-1] + 0.01
    return replace(holding, costs=replace(holding.costs, eur_per_kwh=price))


def held(week: Week, holding: Holding) -> Replay:
    """The week with jobs held."""
    past = week.before.past_at(week.first_s)
    return replay(week.source.trace, policy_named("hold"), week.estimate, holding=holding, past=past)


def mirror(data: Path | None, weeks: int, hours: int) -> int:
    """Print, for every day of some weeks, how many starts change before its prices are published, and after."""
    folder, trace = data_folder(data), data_folder(data) / TRACES["curie"].file
    wrong = 0
    for first in (dt.date.fromisoformat(each) for each in UNSEEN[2 : 2 + weeks]):
        week = week_of("curie", trace, first, None, 0, "requested")
        with tempfile.TemporaryDirectory() as tables:
            prices = moved_prices(folder, "fr-2012", first, Path(tables))
            scenario = scenario_of("curie", trace, prices, f"rules.max_delay={hours}h")
            holding = holding_of_trace(scenario, week.source.trace)
        assert holding.costs is not None
        plain = held(week, holding)
        for number in range(WEEK_DAYS):
            begin_s = week.first_s + number * DAY_S
            published_s = begin_s - DAY_S + PUBLISHED_S
            day = (begin_s + origin_of(week.source.trace) - holding.costs.first_unix) // DAY_S
            other = held(week, turned(holding, day))
            before = (plain.start_s < published_s) | (other.start_s < published_s)
            changed = plain.start_s != other.start_s
            wrong += int(np.sum(changed & before))
            told = f"{np.sum(changed & before)} of {np.sum(before)} starts before, {np.sum(changed & ~before)} after"
            print(f"{first + dt.timedelta(days=number)}: {told} publication changed", flush=True)
    print(f"{wrong} starts changed before publication")
    return wrong


def decision_s(pending: int, hours: int, repeats: int) -> list[tuple[float, float]]:
    """Seconds of CPU of a decision of `plan now` on the sample site with so many jobs that wait: reading, deciding.

    Jobs of eight days before are known; making them up is not counted.
    """
    settings = (f"rules.max_delay={hours}h", "jobs.load=1")
    scenario = load_scenario("hourly-tariff", folders=[shipped_folder() / "scenarios"], overrides=settings)
    horizon = Horizon(dt.date(2024, 6, 5), scenario.zone)
    jobs, _ = submitted_jobs(scenario, (horizon.start_unix - 9 * DAY_S, horizon.start_unix))
    waiting = tuple(sorted(jobs, key=lambda job: job.submission_key)[-pending:])
    names = {job.id for job in waiting}
    known = tuple(job for job in jobs if job.id not in names)
    found = []
    for _ in range(repeats):
        day = build(scenario, horizon, Situation(horizon.start_unix, waiting, ()), Intake("no new jobs"))
        began = time.process_time()
        holding = holding_of(scenario, horizon.start_unix, horizon.end_unix, 5e5)
        read = time.process_time()
        look_ahead(day.problem, replace(holding, history=known))
        found.append((read - began, time.process_time() - read))
    return found


def main(given: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("mirror", "now"))
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--weeks", type=int, default=3)
    parser.add_argument("--pending", type=int, default=2000)
    parser.add_argument("--hours", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args(given)
    if asked.what == "mirror":
        return min(1, mirror(asked.data, asked.weeks, asked.hours))
    times = decision_s(asked.pending, asked.hours, asked.repeats)
    reading, deciding = min(times, key=sum)
    print(f"{asked.pending} jobs wait: reading prices and weather {reading:.2f} s of CPU, deciding {deciding:.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
