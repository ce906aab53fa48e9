"""DelaySearch: one job after another is pushed later, and the heuristic is run again with the best ordering.

Pick a job; raise its earliest start by a step; place all jobs again; keep the plan if it earns more. When the job has
reached the end of the day, fix its earliest start where the best plan has it and pick the next, until time is up or
every job was tried. Overdue jobs are not delayed. A job's earliest start touches only the jobs placed after it, so only
those are placed again: the timelines before it are kept and copied.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from planner.domain.columns import Ints
from planner.domain.job_order import predecessors_first
from planner.domain.method_params import DelayParams
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem
from planner.domain.result import BestSoFar, Listener, Result, Stop
from planner.machine.node_timelines import JobTable, copy_timelines
from planner.search.decode import opening_timelines, place_all
from planner.search.multisearch import multisearch
from planner.search.orderings import ORDERINGS, job_order
from planner.search.whole_plan_rules import complete, evaluate_decoded


def delay_search(
    problem: Problem,
    *,
    workers: int,
    stop: Stop,
    params: DelayParams | None = None,
    on_trial: Listener | None = None,
) -> Result:
    """Delay jobs in the sequence of MultiSearch's best ordering, from its plan on; never worse than that plan."""
    seed = multisearch(problem, workers=workers, stop=stop, on_trial=on_trial)
    so_far = BestSoFar.after(seed, stop, on_trial)
    step_s = (params or DelayParams()).step_s
    ordering = seed.best_trial if seed.best_trial in ORDERINGS else ORDERINGS[0]
    prefix = _Prefix(problem, job_order(problem, ordering))
    with suppress(KeyboardInterrupt):
        for position in range(len(prefix.order)):
            if so_far.is_over():
                break
            _delay(problem, so_far, prefix, position, step_s, f"{seed.best_trial}, delayed")
    so_far.trials.append(so_far.best.trial_called("delay"))
    return so_far.result("delay")


def _delay(problem: Problem, so_far: BestSoFar, prefix: _Prefix, position: int, step_s: int, name: str) -> None:
    """Push the job at a position step by step, and fix it where the best plan found on the way has it."""
    job = int(prefix.order[position])
    own = int(prefix.jobs.release[job])
    kept = own
    for release in range(own + step_s, _latest(problem, job), step_s):
        found = evaluate_decoded(problem, prefix.decode(position, release), name)
        if so_far.keep_if_better(found):
            kept = int(found.plan.start_s[job])
            so_far.tell(found.trial_called("delay"))
        if so_far.is_over():
            break
    prefix.fix(position, max(own, kept))


def _latest(problem: Problem, job: int) -> int:
    """End of the releases that a job is pushed to [s]: its deadline stays in reach, an overdue job is not pushed."""
    if problem.is_overdue[job]:
        return 0
    last_in_time = int(problem.columns.latest_start_s[job])
    return min(problem.starts_end_s, last_in_time + 1)


class _Prefix:
    """The timelines with the jobs before a position on them, from which the rest is placed again and again."""

    def __init__(self, problem: Problem, order: Ints) -> None:
        jobs, opening = opening_timelines(problem)
        self._problem = problem
        self.order = predecessors_first(problem, order)
        self.jobs: JobTable = jobs._replace(release=jobs.release.copy())
        self._timelines = copy_timelines(opening)
        self._start_s = np.full(len(order), DEFERRED, dtype=np.int64)
        self._node_of_unit = np.full(int(jobs.unit_ptr[-1]), DEFERRED, dtype=np.int64)

    def decode(self, position: int, release_s: int) -> Plan:
        """The plan in which the job at a position is released later, unless that is too late for it."""
        job = self.order[position]
        before = self.jobs.release[job]
        self.jobs.release[job] = release_s
        start_s, node_of_unit = self._start_s.copy(), self._node_of_unit.copy()
        place_all(copy_timelines(self._timelines), self.jobs, self.order, start_s, node_of_unit, position=position)
        self.jobs.release[job] = before
        plan = Plan(start_s, node_of_unit)
        is_too_late = start_s[job] == DEFERRED or start_s[job] > self._problem.columns.latest_start_s[job]
        return complete(self._problem, plan) if is_too_late else plan

    def fix(self, position: int, release_s: int) -> None:
        """Place the job at a position for good, released as given."""
        self.jobs.release[self.order[position]] = release_s
        upto = self.order[: position + 1]
        self._timelines = place_all(
            self._timelines, self.jobs, upto, self._start_s, self._node_of_unit, position=position
        )
