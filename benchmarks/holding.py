"""Holding jobs: whether prices that nobody knows change anything, how long a decision takes, and what could be saved.

python benchmarks/holding.py mirror --data DIR      every day of three weeks of Curie, its prices turned round
python benchmarks/holding.py now --pending 2000     seconds of CPU of a decision of `plan now`
python benchmarks/holding.py reach --data DIR       weeks with all known ahead: the limit, and a schedule that was found
python benchmarks/holding.py peak --eur-per-kw 1    weeks with a charge on the peak, of which holds know nothing
python benchmarks/holding.py knows --hours 6        the weeks tuned on, real runtimes told to one use of them at a time
"""

from __future__ import annotations

import argparse
import datetime as dt
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from planner.domain.horizon import Horizon
from planner.domain.intake import Intake
from planner.domain.situation import Situation
from planner.inputs.build import build
from planner.inputs.jobs.read import submitted_jobs
from planner.limits import DAY_S
from planner.online.day_under_policy import look_ahead
from planner.online.expected_prices import QUARTER_S, QUARTERS_PER_DAY
from planner.online.holding import Holding, HoldingReplay
from planner.online.policies import policy_named
from planner.online.replay import Replay, replay
from planner.places import data_folder, shipped_folder
from planner.planning.hold_settings import holding_of, holding_of_trace
from planner.runs.replay_ledger import origin_of
from planner.scenario.load import load_scenario
from planner.studies.operation import TUNED, UNSEEN
from planner.studies.operation_replays import (
    TRACES,
    WEEK_DAYS,
    Week,
    decided_without,
    energy_eur,
    limit_figures,
    moved_prices,
    require_conserved,
    scenario_of,
    week_of,
)
from planner.units import MILLI, SECONDS_PER_HOUR

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


JOB, GUESSES, PRICES = "the job itself", "guesses of the time ahead", "prices"
KNOWLEDGE: tuple[tuple[str, ...], ...] = (
    (), (JOB, GUESSES), (JOB,), (GUESSES,), (PRICES,), (JOB, GUESSES, PRICES),
)  # fmt: skip
"""Which uses of runtimes and prices are told what will be."""


@contextmanager
def told(known: tuple[str, ...]) -> Iterator[None]:
    """Replays within tell the real lengths of jobs to some uses of them.

    Each job has a row of its own as that of its name, which says how long it is; where that is not to be known, one of
    which nothing is seen, so that it is as long as those of its kind. In Curie's trace names say no more than kinds.
    """

    class Told(HoldingReplay):
        def __init__(self, playing: Any, trace: Any, holding: Holding, **more: Any) -> None:
            state, count = playing.state, len(trace)
            rows, width = state.taken.shape
            own = np.arange(rows - 1, rows - 1 + count)
            taken = np.zeros((rows + 2 * count, width))
            taken[: rows - 1], taken[-1] = state.taken[:-1], state.taken[-1]
            taken[own, 0] = width - 1
            taken[own, 1:] = (state.jobs["runtime"] / np.maximum(1, state.jobs["estimate"]))[:, None]
            playing.state = state._replace(taken=taken)
            self._rows = {True: own, False: own + count}
            super().__init__(playing, trace, holding, **more)
            self._tell(JOB)

        def _tell(self, use: str) -> None:
            self.state.jobs["like_name"][:] = self._rows[use in known]

        def _cheapest_strength(self, *given: Any) -> float:
            self._tell(GUESSES)
            found = super()._cheapest_strength(*given)
            self._tell(JOB)
            return found

    with patch("planner.online.replay.HoldingReplay", Told):
        yield


def knows(data: Path | None, weeks: tuple[str, ...], hours: int, repeats: int) -> None:
    """Print what weeks save with real runtimes told to one use of them at a time, and which held jobs come too late.

    EASY believes the requested times throughout.
    """
    folder, trace = data_folder(data), data_folder(data) / TRACES["curie"].file
    rows: dict[tuple[str, ...], list[list[float]]] = {known: [] for known in KNOWLEDGE}
    for first, repeat in ((each, k) for each in weeks for k in range(repeats)):
        day = dt.date.fromisoformat(first)
        week = week_of("curie", trace, day, None, repeat, "requested")
        with tempfile.TemporaryDirectory() as tables:
            prices = moved_prices(folder, "fr-2012", day, Path(tables))
            scenario = scenario_of("curie", trace, prices, f"rules.max_delay={hours}h")
            holding = holding_of_trace(scenario, week.source.trace)
            easy = energy_eur(scenario, week, week.easy, day)
            wait_s = week.easy.wait_s[week.is_counted].mean()
            print(f"{first}, repeat {repeat}: EASY costs {easy:.2f} EUR, mean wait {wait_s / 60:.1f} min")
            for known in KNOWLEDGE:
                with told(known):
                    found = held(week, decided_without("publication", holding) if PRICES in known else holding)
                saved = 1 - energy_eur(scenario, week, found, day) / easy
                wait_s = found.wait_s[week.is_counted].mean()
                part, eur = held_too_far(week, found, holding)
                rows[known].append([saved, wait_s / 60, part, eur / easy])
                print(_told(known, rows[known][-1]), flush=True)
    print("means")
    for known, each in rows.items():
        print(_told(known, np.mean(each, axis=0).tolist()))


def held_too_far(week: Week, found: Replay, holding: Holding) -> tuple[float, float]:
    """Which part of the energy of held jobs starts after the end of its hold, and what it costs more for that [EUR]."""
    trace, paid = week.source.trace, paid_by_second(week, holding)
    kw, length = trace.power_mw / MILLI**2, trace.runtime_s
    is_held = week.is_counted & (found.held_until_s >= 0)
    late = np.flatnonzero(is_held & (found.start_s > found.held_until_s))
    start, until = found.start_s[late], found.held_until_s[late]
    eur = kw[late] @ (paid[start + length[late]] - paid[start] - paid[until + length[late]] + paid[until])
    return float((kw * length)[late].sum() / max(1.0, (kw * length)[is_held].sum())), float(eur)


def _told(known: tuple[str, ...], row: list[float]) -> str:
    saved, wait_min, part, lost = row
    late = f"{part:.0%} of the energy held starts after the end of its hold, which costs {lost:.2%}"
    return f"  known {', '.join(known) or 'nothing'}: saved {saved:.2%}, mean wait {wait_min:.1f} min; {late}"


def best_found(week: Week, holding: Holding, hours: int, rounds: int) -> tuple[Replay, float]:
    """The schedule of the best round, and the part of the energy that starts too late."""
    trace, easy = week.source.trace, week.easy
    own, length = np.flatnonzero(week.is_counted), trace.runtime_s
    last_s = easy.start_s + hours * 3600
    paid = paid_by_second(week, holding)
    room = np.full(len(paid) // 60, int(trace.machine.capacity[:, 0].sum()))
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


def paid_by_second(week: Week, holding: Holding) -> np.ndarray:
    """What a kW costs from the begin of the trace until each second, by what prices and weather really were [EUR]."""
    assert holding.costs is not None
    costs = holding.costs
    seconds = np.arange(int(week.easy.end_s.max()) + 10 * DAY_S)
    place = (seconds + origin_of(week.source.trace) - costs.first_unix) // QUARTER_S
    price = (costs.eur_per_kwh * costs.cooled)[np.minimum(place, len(costs.cooled) - 1)] / SECONDS_PER_HOUR
    return np.concatenate([np.zeros(1), np.cumsum(np.where(np.isnan(price), np.nanmean(price), price))])


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
    parser.add_argument("what", choices=("mirror", "now", "reach", "peak", "knows"))
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--weeks", type=int, default=3)
    parser.add_argument("--pending", type=int, default=2000)
    parser.add_argument("--hours", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=None, help="weeks of reach, peak and knows, by their Mondays")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--eur-per-kw", type=float, default=1.0)
    asked = parser.parse_args(given)
    if asked.what == "mirror":
        return min(1, mirror(asked.data, asked.weeks, asked.hours))
    if asked.what == "knows":
        knows(asked.data, tuple(asked.only or TUNED), asked.hours, asked.repeats)
        return 0
    if asked.what == "reach":
        reach(asked.data, tuple(asked.only or UNSEEN), asked.hours, asked.rounds)
        return 0
    if asked.what == "peak":
        peak(asked.data, tuple(asked.only or UNSEEN), asked.hours, asked.eur_per_kw)
        return 0
    times = decision_s(asked.pending, asked.hours, asked.repeats)
    reading, deciding = min(times, key=sum)
    print(f"{asked.pending} jobs wait: reading prices and weather {reading:.2f} s of CPU, deciding {deciding:.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
