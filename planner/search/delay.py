"""DelaySearch: one job after another is pushed later, and the heuristic is run again with the best ordering.

Pick a job; raise its earliest start by a step; place all jobs again; keep the plan if it earns more. When the job has
reached the end of the day, fix its earliest start where the best plan has it and pick the next, until time is up or
every job was tried. Overdue jobs are not delayed. A job's earliest start touches only the jobs placed after it, so only
those are placed again: the timelines before it is kept and copied.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem
from planner.domain.result import Result, Trial
from planner.machine.node_timelines import Jobs, copy_timelines
from planner.search.complete import complete, settle_decoded
from planner.search.decode import opening_timelines, place_all
from planner.search.multisearch import multisearch
from planner.search.orderings import ORDERINGS, job_order
from planner.search.stop import Stop

STEP_S = 3600
"""How far an earliest start is pushed at a time."""


def delay_search(
    problem: Problem,
    *,
    workers: int,
    stop: Stop,
    step_s: int = STEP_S,
    on_trial: Callable[[Trial], None] | None = None,
) -> Result:
    """Delay jobs in the sequence of MultiSearch's best ordering, from its plan on; never worse than that plan."""
    began = time.perf_counter()
    seed = multisearch(problem, workers=workers, stop=stop, on_trial=on_trial)
    plan, ledger, name = seed.plan, seed.ledger, seed.best_trial
    order = job_order(problem, name if name in ORDERINGS else ORDERINGS[0])
    prefix = _Prefix(problem, order)
    try:
        for position, job in enumerate(order):
            if stop(ledger.profit_eur):
                break
            own = int(prefix.jobs.release[job])
            kept = own
            for release in range(own + step_s, _latest(problem, int(job)), step_s):
                found, settled = settle_decoded(problem, prefix.decode(position, release))
                if settled.profit_eur > ledger.profit_eur:
                    plan, ledger, name, kept = found, settled, f"{seed.best_trial}, delayed", int(found.start_s[job])
                    if on_trial is not None:
                        on_trial(Trial("delay", ledger.profit_eur, int(plan.is_placed.sum())))
                if stop(ledger.profit_eur):
                    break
            prefix.fix(position, max(own, kept))
    except KeyboardInterrupt:
        pass
    return Result(
        plan=plan,
        ledger=ledger,
        method="delay",
        status="found",
        solve_s=time.perf_counter() - began,
        best_trial=name,
        trials=(*seed.trials, Trial("delay", ledger.profit_eur, int(plan.is_placed.sum()))),
    )


def _latest(problem: Problem, job: int) -> int:
    """End of the releases that a job is pushed to [s]: its deadline stays in reach, an overdue job is not pushed."""
    if problem.is_overdue[job]:
        return 0
    last_in_time = int(problem.columns.latest_start_s[job])
    return min(problem.horizon.length_s, last_in_time + 1)


class _Prefix:
    """The timelines with the jobs before a position on them, from which the rest is placed again and again."""

    def __init__(self, problem: Problem, order: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
        jobs, opening = opening_timelines(problem)
        self._problem = problem
        self._order = order
        self.jobs: Jobs = jobs._replace(release=jobs.release.copy())
        self._board = copy_timelines(opening)
        self._start_s = np.full(len(order), DEFERRED, dtype=np.int64)
        self._node_of_unit = np.full(int(jobs.unit_ptr[-1]), DEFERRED, dtype=np.int64)

    def decode(self, position: int, release_s: int) -> Plan:
        """The plan in which the job at a position is released later, unless that is too late for it."""
        job = self._order[position]
        before = self.jobs.release[job]
        self.jobs.release[job] = release_s
        start_s, node_of_unit = self._start_s.copy(), self._node_of_unit.copy()
        place_all(copy_timelines(self._board), self.jobs, self._order, start_s, node_of_unit, position=position)
        self.jobs.release[job] = before
        plan = Plan(start_s, node_of_unit)
        is_too_late = start_s[job] == DEFERRED or start_s[job] > self._problem.columns.latest_start_s[job]
        return complete(self._problem, plan) if is_too_late else plan

    def fix(self, position: int, release_s: int) -> None:
        """Place the job at a position for good, released as given."""
        self.jobs.release[self._order[position]] = release_s
        upto = self._order[: position + 1]
        self._board = place_all(self._board, self.jobs, upto, self._start_s, self._node_of_unit, position=position)
