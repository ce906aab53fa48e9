"""RebuildSearch: a plan improved by taking a few jobs out and putting them back otherwise, many thousand times.

It is a ruin-and-recreate search (Schrimpf et al. 2000; Christiaens and Vanden Berghe 2020) under simulated annealing,
on the real nodes. Only the jobs of a step are placed again, and only the pieces of the day that they touch are counted
again, so a step costs some tens of microseconds where a decode of the whole day costs milliseconds.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planner.domain.job_order import job_charged, job_core_equivalents, profit_per_kw
from planner.domain.plan import Plan
from planner.domain.problem import Problem
from planner.machine.node_timelines import Jobs, NodeTimelines, copy_timelines, wider_timelines
from planner.search.decode import opening_timelines, place_all
from planner.search.kernel.money import Money, Tally
from planner.search.kernel.rebuild import rebuild
from planner.search.kernel.search_state import BEST, LOOKS, Habits, SearchState
from planner.search.margin import job_margin_per_s
from planner.search.value import kernel_money, tally_of, with_battery
from planner.units import SECONDS_PER_HOUR

MOST_FOLLOWERS = 24
"""Jobs that a step may take out beside its own on a day with dependencies, because they wait for one of those."""

FREE_MARGIN = 1e9
"""Stands for the profit per kW of a job that draws no power: above all others, and finite."""


@dataclass
class Chain:
    """One search: its timelines, its money and where it stands."""

    problem: Problem
    jobs: Jobs
    money: Money
    habits: Habits
    timelines: NodeTimelines
    tally: Tally
    state: SearchState

    @classmethod
    def from_plan(cls, problem: Problem, plan: Plan, *, seed: int, habits: Habits) -> Chain:
        """A search that stands at a plan."""
        jobs, opening = opening_timelines(problem)
        money = kernel_money(problem)
        money, tally = with_battery(problem, money, tally_of(problem, money, plan), plan)
        timelines = load_plan(copy_timelines(opening), jobs, plan)
        return cls(problem, jobs, money, habits, timelines, tally, _search_state(problem, jobs, plan, seed, habits))

    def run(self, steps: int, temperature: float) -> None:
        """Take a number of steps at a temperature [EUR]."""
        self._look_around()
        left = steps
        while left > 0:
            done = rebuild(
                self.timelines, self.jobs, self.money, self.tally, self.state, self.habits, float(temperature), left
            )
            left -= done
            if left > 0:
                self.timelines = wider_timelines(self.timelines)

    def _look_around(self) -> None:
        """Sort the jobs by where they lie now, so that steps find their neighbours."""
        state = self.state
        number = np.arange(len(state.start_of))
        state.near[0] = np.lexsort((number, state.start_of))
        state.near[1] = np.lexsort((number, state.start_of, np.where(state.start_of >= 0, state.first_node, -1)))
        for row in range(2):
            state.near_at[row, state.near[row]] = number

    @property
    def best_profit_eur(self) -> float:
        """Profit of the best plan so far."""
        return float(self.state.profits[BEST])

    def present_plan(self) -> Plan:
        """The plan that it stands at."""
        return Plan(self.state.start_of.copy(), self.state.node_of_unit.copy())

    def best_plan(self) -> Plan:
        """The best plan so far."""
        return Plan(self.state.best_start_of.copy(), self.state.best_node_of_unit.copy())


def load_plan(timelines: NodeTimelines, jobs: Jobs, plan: Plan) -> NodeTimelines:
    """Put a plan's jobs on timelines that have none of them."""
    placed = np.flatnonzero(plan.is_placed)
    return place_all(timelines, jobs, placed, plan.start_s.copy(), plan.node_of_unit.copy())


def _search_state(problem: Problem, jobs: Jobs, plan: Plan, seed: int, habits: Habits) -> SearchState:
    count = len(problem.jobs)
    movable = _movable(problem)
    placed = np.flatnonzero(plan.is_placed & movable)
    members = np.concatenate([placed, np.flatnonzero(~plan.is_placed & movable)]).astype(np.int64)
    slot = np.full(count, -1, dtype=np.int64)
    slot[members] = np.arange(len(members))
    columns = problem.columns
    equivalents = job_core_equivalents(columns)
    per_core_s = problem.rates.eur_per_charged_hour / SECONDS_PER_HOUR
    first_node = np.where(plan.is_placed, plan.node_of_unit[jobs.unit_ptr[:-1]], 0) if count else np.zeros(0, np.int64)
    most_out = habits.largest + habits.guests + 1 + (MOST_FOLLOWERS if len(problem.columns.links) else 0)
    widest = np.sort(np.diff(jobs.unit_ptr))[-most_out:].sum() if count else 0
    margin = profit_per_kw(problem, columns)
    return SearchState(
        start_of=plan.start_s.copy(),
        node_of_unit=plan.node_of_unit.copy(),
        best_start_of=plan.start_s.copy(),
        best_node_of_unit=plan.node_of_unit.copy(),
        members=members,
        slot=slot,
        placed=np.array([len(placed)], dtype=np.int64),
        keys=np.array(
            [
                -equivalents * columns.duration_s,
                -columns.duration_s.astype(float),
                -equivalents,
                columns.duration_s.astype(float),
                -np.where(np.isfinite(margin), margin, FREE_MARGIN),
            ]
        ),
        near=np.zeros((2, count), dtype=np.int64),
        near_at=np.zeros((2, count), dtype=np.int64),
        margin=np.divide(job_margin_per_s(problem), equivalents, out=np.zeros(count), where=equivalents > 0),
        first_node=first_node.astype(np.int64),
        earns=job_charged(columns) * columns.weight * per_core_s,
        profits=np.array([-np.inf, -np.inf]),
        counts=np.zeros(3, dtype=np.int64),
        stream=np.array([seed], dtype=np.uint64),
        out=np.zeros(most_out, dtype=np.int64),
        rank=np.zeros(most_out),
        old_start_of=np.zeros(most_out, dtype=np.int64),
        old_nodes=np.zeros(int(widest) + 1, dtype=np.int64),
        times=np.zeros(LOOKS, dtype=np.int64),
        gains=np.zeros(LOOKS),
    )


def _movable(problem: Problem) -> npt.NDArray[np.bool_]:
    """Which jobs a step may take out: none that is overdue or has a deadline today, nor what such a job waits for."""
    movable: npt.NDArray[np.bool_] = problem.columns.latest_start_s >= problem.horizon.length_s
    movable &= ~problem.is_overdue
    links = problem.columns.links
    if len(links):
        for job in links.sorted(range(len(movable)))[::-1].tolist():
            movable[job] &= all(movable[other] for other, _ in links.followers_of(job))
    return movable


def run_chains(chains: list[Chain], steps: int, temperature: float, workers: int) -> None:
    """Let every chain take its steps, on as many threads as there are workers."""
    with ThreadPoolExecutor(max_workers=workers) as pool:
        list(pool.map(lambda chain: chain.run(steps, temperature), chains))
