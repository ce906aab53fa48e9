"""Holding jobs: whether prices that nobody knows change anything, how long a decision takes, and what could be saved.

python benchmarks/holding.py mirror --data DIR      every day of three weeks of Curie, its prices turned round
python benchmarks/holding.py now --pending 2000     seconds of CPU of a decision of `plan now`
python benchmarks/holding.py reach --data DIR       weeks with all known ahead: the limit, and a schedule that was found
python benchmarks/holding.py peak --eur-per-kw 1    weeks with a charge on the peak, of which holds know nothing
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

from planner.domain.horizon import Horizon
from planner.domain.intake import Intake
from planner.domain.situation import Situation
from planner.inputs.build import build
from planner.inputs.jobs.read import submitted_jobs
from planner.limits import DAY_S
from planner.online.expected_prices import QUARTER_S, QUARTERS_PER_DAY
from planner.online.hold_day import look_ahead
from planner.online.holding import Holding
from planner.online.policies import policy_named
from planner.online.replay import Replay, replay
from planner.places import shipped_folder
from planner.planning.how_to_hold import holding_of, holding_of_trace
from planner.runs.replay_ledger import origin_of
from planner.scenario.load import load_scenario
from planner.studies.data_files import data_folder
from planner.studies.operation import UNSEEN
from planner.studies.operation_replays import (
    TRACES,
    WEEK_DAYS,
    Week,
    energy_eur,
    limit_figures,
    moved_prices,
    require_conserved,
    scenario_of,
    week_of,
)

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


def reach(data: Path | None, weeks: tuple[str, ...], hours: int, rounds: int) -> None:
    """Print what no schedule saves more of than with all known ahead, and what one saves that is found so.

    Jobs are put one by one at their cheapest minute with room within the hours after EASY's start, those of most energy
    first. Jobs for which no room is left then come earlier in the next round. The first round without any is told, or
    the one in which they have the least energy.
    """
    folder, trace = data_folder(data), data_folder(data) / TRACES["curie"].file
    for first in weeks:
        day = dt.date.fromisoformat(first)
        with tempfile.TemporaryDirectory() as tables:
            prices = moved_prices(folder, "fr-2012", day, Path(tables))
            scenario = scenario_of("curie", trace, prices, f"rules.max_delay={hours}h")
            week = week_of("curie", trace, day, None, 0, "requested")
            limit = limit_figures("curie", trace, prices, first, None, hours, 600.0)
            found, late = best_found(week, holding_of_trace(scenario, week.source.trace), hours, rounds)
            require_conserved(week, found)
            saved = 1 - energy_eur(scenario, week, found, day) / energy_eur(scenario, week, week.easy, day)
        most = limit["limit_eur"] / limit["easy_eur"]
        print(f"{first}: limit {most:.2%} ({limit['limit_cpu_s']:.0f} s of CPU), found {saved:.2%}", end=" ")
        print(
            f"({saved / most:.0%} of it), {late:.2%} of the energy later than {hours} h after EASY's start", flush=True
        )


def peak(data: Path | None, weeks: tuple[str, ...], hours: int, eur_per_kw: float) -> None:
    """Print what energy and a charge on its peak cost less than under EASY, though holds know nothing of the charge."""
    folder, trace = data_folder(data), data_folder(data) / TRACES["curie"].file
    for first in weeks:
        day = dt.date.fromisoformat(first)
        week = week_of("curie", trace, day, None, 0, "requested")
        with tempfile.TemporaryDirectory() as tables:
            prices = moved_prices(folder, "fr-2012", day, Path(tables))
            settings = (f"rules.max_delay={hours}h", f"demand.eur_per_kw={eur_per_kw}", "demand.period=month")
            scenario = scenario_of("curie", trace, prices, *settings)
            free = scenario_of("curie", trace, prices, settings[0])
            found = held(week, holding_of_trace(scenario, week.source.trace))
            require_conserved(week, found)
            eur, easy = (energy_eur(scenario, week, one, day) for one in (found, week.easy))
            energy, easy_energy = (energy_eur(free, week, one, day) for one in (found, week.easy))
        charge, easy_charge = eur - energy, easy - easy_energy
        print(
            f"{first}: charge {easy_charge / easy:.0%} of EASY's cost; saved {1 - eur / easy:.2%} of all,"
            f" energy {1 - energy / easy_energy:.2%}, peak {charge / easy_charge - 1:+.2%}",
            flush=True,
        )


def best_found(week: Week, holding: Holding, hours: int, rounds: int) -> tuple[Replay, float]:
    """The schedule of the best round, and the part of the energy that starts too late."""
    assert holding.costs is not None
    trace, easy, costs = week.source.trace, week.easy, holding.costs
    own, length = np.flatnonzero(week.is_counted), trace.runtime_s
    last_s = easy.start_s + hours * 3600
    seconds = np.arange(int(easy.end_s.max()) + 10 * DAY_S)
    place = (seconds + origin_of(trace) - costs.first_unix) // QUARTER_S
    price = (costs.eur_per_kwh * costs.cooled)[np.minimum(place, len(costs.cooled) - 1)]
    paid = np.concatenate([np.zeros(1), np.cumsum(np.where(np.isnan(price), np.nanmean(price), price))])
    room = np.full(len(seconds) // 60, int(trace.machine.capacity[:, 0].sum()))
    for job in np.flatnonzero(~week.is_counted).tolist():
        room[easy.start_s[job] // 60 : (easy.end_s[job] - 1) // 60 + 1] -= trace.width[job]
    energy = trace.power_mw[own] * length[own].astype(float)
    rank, stream = np.argsort(np.argsort(-energy)).astype(float), np.random.default_rng(0)
    best: tuple[float, np.ndarray] = (2.0, easy.start_s)
    for _ in range(rounds):
        start, left = easy.start_s.copy(), room.copy()
        for job in own[np.argsort(rank)].tolist():
            start[job] = _cheapest(left, paid, week, job, int(last_s[job]))
            left[start[job] // 60 : (start[job] + length[job] - 1) // 60 + 1] -= trace.width[job]
        is_late = start[own] > last_s[own]
        best = min(best, (float(energy[is_late].sum() / energy.sum()), start), key=lambda each: each[0])
        if not is_late.any():
            break
        rank[is_late] = rank[is_late] * stream.uniform(0.2, 0.7, int(is_late.sum())) - 1
    return replace(easy, start_s=best[1]), best[0]


def _cheapest(left: np.ndarray, paid: np.ndarray, week: Week, job: int, last_s: int) -> int:
    """The cheapest minute with room until a moment [s]; else the first one after it."""
    trace = week.source.trace
    length, first = int(trace.runtime_s[job]), -(-max(int(trace.submit_s[job]), week.first_s) // 60)
    minutes, ahead = -(-length // 60), max(1, last_s // 60 - first + 1)
    while True:
        full = np.concatenate([[0], np.cumsum(left[first : first + ahead + minutes] < trace.width[job])])
        free = np.flatnonzero(full[minutes : minutes + ahead] == full[:ahead])
        if len(free):
            start = (first + free) * 60
            in_time = start[start <= last_s]
            return int(in_time[np.argmin(paid[in_time + length] - paid[in_time])] if len(in_time) else start[0])
        ahead += DAY_S // 60


def main(given: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("mirror", "now", "reach", "peak"))
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--weeks", type=int, default=3)
    parser.add_argument("--pending", type=int, default=2000)
    parser.add_argument("--hours", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=UNSEEN, help="weeks of reach and peak, by their Mondays")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--eur-per-kw", type=float, default=1.0)
    asked = parser.parse_args(given)
    if asked.what == "mirror":
        return min(1, mirror(asked.data, asked.weeks, asked.hours))
    if asked.what == "reach":
        reach(asked.data, tuple(asked.only), asked.hours, asked.rounds)
        return 0
    if asked.what == "peak":
        peak(asked.data, tuple(asked.only), asked.hours, asked.eur_per_kw)
        return 0
    times = decision_s(asked.pending, asked.hours, asked.repeats)
    reading, deciding = min(times, key=sum)
    print(f"{asked.pending} jobs wait: reading prices and weather {reading:.2f} s of CPU, deciding {deciding:.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
