"""Bounds over days: what no sequence of plans, and no schedule of a replay, could earn, even knowing all jobs ahead.

The bound of a run: every job is released at its submission, or with ``visibility: midnight`` on the day that first
knows it. The limit is on the profit of the days together, each settled by itself; what runs beyond the last day counts
only as far as it is inside. The first day begins with what the day before it left. The bound of a run of one day is
that day's bound.

The clairvoyant bound of a replay: every job is released at its submission, takes the time that it really took, and
starts no later than it was promised. The limit is on the profit of whole calendar days, as `settle_window` gives it.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from planner.accounting.bound import Bound, profit_bound
from planner.accounting.bound.slots import SLOT_S
from planner.domain.columns import NO_DEADLINE, Ints
from planner.domain.day_summary import DaySummary
from planner.domain.horizon import Horizon
from planner.domain.job import Job
from planner.domain.ledger import Totals
from planner.domain.problem import Problem, Running, executed
from planner.domain.situation import node_outages
from planner.domain.trace import Trace
from planner.errors import InputError
from planner.inputs.build import build, sorted_out
from planner.inputs.jobs.read import known_jobs
from planner.online.replay import Replay
from planner.planning.plan_day import BOUND_TOLERANCE
from planner.runs.one_day import ground_of
from planner.runs.replay_ledger import as_they_ran, frame_of, origin_of, settle_window, sum_of_days, window_of
from planner.scenario.schema import Scenario
from planner.store.folder import alone_in, put
from planner.store.read_last_plan import LastPlan, situation_of
from planner.text_files import encoded
from planner.units import SECONDS_PER_HOUR, rounded

MOST_SLOTS = 200
"""Slots with a price of their own, about: in a long run they are longer than an hour."""
TIME_S = 300.0
TOLERANCE = 5e-4
"""As a part of what a replay leaves to gain: the jobs that must start earn the same whenever they do."""


@dataclass(frozen=True)
class WholeRun:
    """The days of a run together: what they earn, and the bound on it, None where that was not worked out."""

    first: dt.date
    last: dt.date
    profit_eur: float
    bound_eur: float | None
    gap_fraction: float | None

    @classmethod
    def of(cls, first: dt.date, last: dt.date, profit_eur: float, bound: Bound | None) -> WholeRun:
        """The days from the first to the last, which earn this much."""
        limit_eur = None if bound is None else rounded(bound.profit_eur)
        gap = None if bound is None else bound.gap_fraction(profit_eur)
        return cls(first, last, rounded(profit_eur), limit_eur, gap)

    def as_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "first": self.first.isoformat(), "last": self.last.isoformat()}

    def write(self, folder: Path) -> None:
        """Write it beside the days, as run-FIRST-LAST.json."""
        with alone_in(folder):
            put(folder / f"run-{self.first}-{self.last}.json", encoded(json.dumps(self.as_dict(), indent=2) + "\n"))


def whole_run(
    scenario: Scenario,
    first: dt.date,
    last: dt.date,
    folder: Path,
    bound_time_s: float,
    summaries: Sequence[DaySummary],
    *,
    fresh: bool,
) -> WholeRun:
    """The days together, with the bound from what the day before them left where it is wanted; written to disk."""
    profit_eur = sum(each.totals.profit_eur for each in summaries[: (last - first).days + 1])
    bound = None
    if bound_time_s > 0:
        before = None if fresh else ground_of(folder, scenario, first)
        bound = run_bound(scenario, first, last, before, time_limit_s=bound_time_s)
    whole = WholeRun.of(first, last, profit_eur, bound)
    if bound is not None:
        whole.write(folder)
    return whole


def run_bound(
    scenario: Scenario,
    first: dt.date,
    last: dt.date,
    before: LastPlan | None = None,
    *,
    time_limit_s: float,
) -> Bound:
    """A proven limit on what any plans of the days from the first to the last earn together.

    ``before`` is the plan of the day before the first; None: it starts from nothing.
    """
    problem, midnights = run_problem(scenario, first, last, before)
    hours = math.ceil(problem.horizon.length_s / SECONDS_PER_HOUR / MOST_SLOTS)
    return profit_bound(
        problem,
        bills_s=_bills(scenario, first, midnights),
        slot_s=SLOT_S * hours,
        time_limit_s=time_limit_s,
        tolerance=BOUND_TOLERANCE,
    )


def run_problem(
    scenario: Scenario, first: dt.date, last: dt.date, before: LastPlan | None
) -> tuple[Problem, list[int]]:
    """All days of a run as one problem, its segments cut at midnight, and the midnights [s]."""
    horizon = Horizon(first, scenario.zone)
    situation, intake = situation_of(scenario, horizon, before)
    begun = build(scenario, horizon, situation, intake).problem
    window = window_of(scenario, first, (last - first).days + 1)
    empty, midnights = frame_of(scenario, window)
    jobs = sorted([*begun.jobs, *_later_jobs(scenario, first, last)], key=lambda job: job.submission_key)
    outages = node_outages(situation.outages, window)
    problem = replace(
        empty, jobs=tuple(jobs), running=begun.running, never=begun.never, rates=begun.rates, outages=outages
    )
    return executed(problem) if scenario.rules.execute == "actual" else problem, midnights


def _bills(scenario: Scenario, first: dt.date, midnights: Sequence[int]) -> list[int]:
    """The midnights at which a new demand charge begins: all, or those of a new month."""
    if scenario.demand.period == "day":
        return list(midnights)
    days = [first + dt.timedelta(days=number) for number in range(len(midnights))]
    return [at for at, day in zip(midnights, days, strict=True) if day == first or day.day == 1]


def _later_jobs(scenario: Scenario, first: dt.date, last: dt.date) -> list[Job]:
    """The jobs that the first day does not know yet, none released before the day that first knows it."""
    if last == first:
        return []
    sees_day = scenario.jobs.visibility == "day"
    second, end = Horizon(first, scenario.zone).next_day(), Horizon(last, scenario.zone)
    until_unix = end.end_unix if sees_day else end.start_unix
    new, _ = known_jobs(scenario, second, continues=True, until_unix=until_unix)
    jobs, _ = sorted_out(scenario, new)
    return [job if sees_day else _known_next_day(job, scenario.zone) for job in jobs]


def _known_next_day(job: Job, zone: str) -> Job:
    """The job, to begin no earlier than the midnight after its submission."""
    midnight = Horizon.of_unix(job.submit_unix, zone).next_day().start_unix
    return replace(job, begin_unix=max(midnight, job.begin_unix or midnight))


def clairvoyant_bound(
    scenario: Scenario,
    jobs: tuple[Job, ...],
    trace: Trace,
    latest_s: Ints,
    *,
    first_day: dt.date,
    days: int,
    time_limit_s: float = TIME_S,
) -> Bound:
    """A proven limit on the profit of so many days of any schedule that starts each job in time.

    Jobs are in the order of the trace, none submitted before the first day. ``latest_s`` is the latest start of each [s
    of the trace]; one beyond the last day leaves open whether the job starts. ``time_limit_s`` is when to be content
    with the bound so far.
    """
    window = window_of(scenario, first_day, days)
    shift_s = window.start_unix - origin_of(trace)
    early = np.flatnonzero(trace.submit_s < shift_s)
    if len(early):
        raise InputError(f"job {trace.ids[early[0]]} was submitted before {first_day}: begin with the first submission")
    inside = np.flatnonzero(trace.submit_s < shift_s + window.length_s)
    inside = np.array(sorted(inside.tolist(), key=lambda index: jobs[index].submission_key), dtype=np.int64)
    empty, midnights = frame_of(scenario, window)
    real = as_they_ran(jobs, trace)
    problem = replace(empty, jobs=tuple(real[k] for k in inside.tolist()))
    return profit_bound(
        problem,
        latest_start_s=np.minimum(latest_s[inside] - shift_s, NO_DEADLINE),
        bills_s=midnights,
        time_limit_s=time_limit_s,
        tolerance=TOLERANCE,
    )


@dataclass(frozen=True)
class LimitBeside:
    """What no schedule saves more of than another costs [EUR], with what that one's energy costs.

    ``slack_eur`` is by how much the limit might still be lower.
    """

    saved_eur: float
    slack_eur: float | None
    easy_eur: float


def limit_beside(
    scenario: Scenario,
    jobs: tuple[Job, ...],
    easy: Replay,
    delay_s: int,
    *,
    first_day: dt.date,
    time_limit_s: float,
    slot_s: int | None = None,
    repeats: bool = False,
    settled: Sequence[tuple[dt.date, Totals]] = (),
) -> LimitBeside:
    """What no schedule saves more of, with all known ahead, in which jobs start so late after their start at most.

    What has started before the first day runs as it did. ``repeats``: days without prices or weather are like the day
    before them. ``settled``: the days of the replay from the first on, where they are known for long enough.
    """
    ran, origin = easy.trace, origin_of(easy.trace)
    last_unix = int(easy.end_s.max()) + delay_s + origin - 1
    days = (Horizon.of_unix(last_unix, scenario.zone).day - first_day).days + 1
    window = window_of(scenario, first_day, days)
    first_s = window.start_unix - origin
    empty, midnights = frame_of(scenario, window, repeats=repeats)
    real = as_they_ran(jobs, ran)
    is_own = easy.start_s >= first_s
    running = [
        Running(real[k], int(easy.start_s[k]) - first_s, int(easy.end_s[k]) - first_s, _nodes(easy, k))
        for k in np.flatnonzero(~is_own & (easy.end_s > first_s)).tolist()
    ]
    own = sorted(np.flatnonzero(is_own).tolist(), key=lambda k: jobs[k].submission_key)
    problem = replace(empty, jobs=tuple(real[k] for k in own), running=tuple(running))
    bound = profit_bound(
        problem,
        latest_start_s=np.minimum(easy.start_s[own] + delay_s - first_s, NO_DEADLINE),
        bills_s=midnights,
        slot_s=slot_s,
        time_limit_s=time_limit_s,
        tolerance=TOLERANCE,
    )
    if len(settled) < days:
        settled = settle_window(scenario, jobs, easy, first_day=first_day, days=days, repeats=repeats)
    totals = sum_of_days(settled[:days])
    saved = bound.profit_eur - float(totals["profit_eur"])
    return LimitBeside(saved, bound.slack_eur, float(totals["energy_cost_eur"]))


def _nodes(happened: Replay, job: int) -> tuple[int, ...]:
    units = happened.trace.unit_ptr
    return tuple(happened.node_of_unit[units[job] : units[job + 1]].tolist())
