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

from planner.accounting.intervals import energy_between
from planner.accounting.settle import battery_cut, waiting_of
from planner.domain.columns import Ints
from planner.domain.job_order import job_charged, job_core_equivalents, profit_per_kw
from planner.domain.plan import Plan
from planner.domain.problem import Problem
from planner.machine.node_timelines import JobTable, NodeTimelines, copy_timelines, wider_timelines
from planner.search.decode import opening_timelines, place_all
from planner.search.kernel.money import Money, Tally
from planner.search.kernel.rebuild_steps import MOST_FOLLOWERS, rebuild
from planner.search.kernel.recreate import LOOKS
from planner.search.kernel.search_state import BEST, CURRENT, Habits, SearchState
from planner.search.orderings import has_priced_queue, job_worth_per_core_s
from planner.units import MILLI, SECONDS_PER_HOUR

MOST_CUTS = 500
"""Cuts of a battery that a chain keeps."""

FREE_MARGIN = 1e9
"""Stands for the profit per kW of a job that draws no power: above all others, and finite."""


@dataclass
class Chain:
    """One search: its timelines, its money and where it stands."""

    problem: Problem
    jobs: JobTable
    money: Money
    habits: Habits
    timelines: NodeTimelines
    tally: Tally
    state: SearchState
    learned: int = 0

    @classmethod
    def from_plan(cls, problem: Problem, plan: Plan, *, seed: int, habits: Habits) -> Chain:
        """A search that stands at a plan."""
        jobs, opening = opening_timelines(problem)
        money = kernel_money(problem)
        tally = tally_of(problem, money, plan)
        timelines = load_plan(copy_timelines(opening), jobs, plan)
        chain = cls(problem, jobs, money, habits, timelines, tally, _search_state(problem, jobs, plan, seed, habits))
        if problem.rates.battery is not None:
            chain._settle_present()
        return chain

    def run(self, steps: int, temperature: float) -> None:
        """Take a number of steps at a temperature [EUR]."""
        self._look_around()
        left = steps
        while left > 0:
            done = rebuild(
                self.timelines, self.jobs, self.money, self.tally, self.state, self.habits, float(temperature), left
            )
            left -= done
            if self.state.pending[0]:
                self._learn_battery()
            elif left > 0:
                self.timelines = wider_timelines(self.timelines)
        if self.problem.rates.battery is not None and not self.habits.sooner:
            self._settle_present()

    def _settle_present(self) -> None:
        """Learn what the present plan earns with its battery, and note it where that is the most."""
        state = self.state
        self._learn_battery()
        rebuild(self.timelines, self.jobs, self.money, self.tally, state, self.habits, 0.0, 0)
        if state.profits[CURRENT] > state.profits[BEST]:
            state.profits[BEST] = state.profits[CURRENT]
            state.best_start_of[:] = state.start_of
            state.best_node_of_unit[:] = state.node_of_unit

    def _learn_battery(self) -> None:
        """Add the cut of a battery beside the present plan; of too many the oldest goes."""
        cuts, count = self.money.cuts, self.money.cut_count
        cuts[self.learned % len(cuts)] = battery_cut(self.problem, self.present_plan())
        self.learned += 1
        count[0] = min(self.learned, len(cuts))

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


def load_plan(timelines: NodeTimelines, jobs: JobTable, plan: Plan) -> NodeTimelines:
    """Put a plan's jobs on timelines that have none of them."""
    placed = np.flatnonzero(plan.is_placed)
    return place_all(timelines, jobs, placed, plan.start_s.copy(), plan.node_of_unit.copy())


def _search_state(problem: Problem, jobs: JobTable, plan: Plan, seed: int, habits: Habits) -> SearchState:
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
    worth = job_worth_per_core_s(problem)
    thrift = worth if has_priced_queue(problem) else profit_per_kw(problem, columns)
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
                -np.where(np.isfinite(thrift), thrift, FREE_MARGIN),
            ]
        ),
        near=np.zeros((2, count), dtype=np.int64),
        near_at=np.zeros((2, count), dtype=np.int64),
        worth=worth,
        first_node=first_node.astype(np.int64),
        earns=job_charged(columns) * columns.weight * per_core_s,
        latest=columns.latest_start_s,
        profits=np.array([-np.inf, -np.inf]),
        counts=np.zeros(3, dtype=np.int64),
        stream=np.array([seed], dtype=np.uint64),
        pending=np.zeros(1, dtype=np.int64),
        out=np.zeros(most_out, dtype=np.int64),
        rank=np.zeros(most_out),
        old_start_of=np.zeros(most_out, dtype=np.int64),
        old_nodes=np.zeros(int(widest) + 1, dtype=np.int64),
        times=np.zeros(LOOKS, dtype=np.int64),
        gains=np.zeros(LOOKS),
    )


def _movable(problem: Problem) -> npt.NDArray[np.bool_]:
    """Which jobs a step may take out: none that is overdue, nor what such a job waits for."""
    movable: npt.NDArray[np.bool_] = ~problem.is_overdue
    links = problem.columns.links
    if len(links):
        for job in links.sorted(range(len(movable)))[::-1].tolist():
            movable[job] &= all(movable[other] for other, _ in links.followers_of(job))
    return movable


def run_chains(chains: list[Chain], steps: int, temperature: float, workers: int) -> None:
    """Let every chain take its steps, on as many threads as there are workers."""
    with ThreadPoolExecutor(max_workers=workers) as pool:
        list(pool.map(lambda chain: chain.run(steps, temperature), chains))


def kernel_money(problem: Problem) -> Money:
    """What placements of a problem earn and cost, cut into pieces; of a battery nothing is known yet."""
    segments, length = problem.segment_columns, problem.horizon.length_s
    interval = problem.rates.demand_interval_s
    has_demand, battery = problem.rates.demand_eur_per_kw > 0, problem.rates.battery
    ticks = np.append(np.arange(0, length, interval), length) if has_demand else np.array([0, length])
    edges = np.unique(np.concatenate([segments.edges_s, ticks])).astype(np.int64)
    table, nodes, rule = problem.table, problem.nodes, problem.cluster.idle_rule
    rows = np.arange(len(table.cooling))
    group_job = np.repeat(np.arange(len(problem.columns)), np.diff(problem.columns.group_ptr))
    per_core_s = problem.rates.eur_per_charged_hour / SECONDS_PER_HOUR
    weights = problem.columns.weight[group_job]
    return Money(
        edges=edges,
        segment_of=(np.searchsorted(segments.edges_s, edges[:-1], side="right") - 1).astype(np.int64),
        interval_of=(np.searchsorted(ticks, edges[:-1], side="right") - 1).astype(np.int64),
        length=segments.length_s,
        counts=segments.counts,
        price=segments.full_price_eur_per_kwh * segments.counts,
        solar=np.where(segments.uses_sun, segments.solar_w, 0.0) * segments.length_s / (MILLI * SECONDS_PER_HOUR),
        feed=np.where(segments.uses_sun, segments.feed_in_eur_per_kwh, 0.0) * segments.counts,
        cooling=np.ascontiguousarray(table.cells(rows[None, :], segments.temperature_c[:, None])),
        grid=np.array([table.first_power_w * MILLI, table.power_step_w * MILLI], dtype=np.int64),
        interval_length=np.diff(ticks).astype(np.int64),
        demand=np.array([problem.rates.demand_eur_per_kw, problem.rates.demand_so_far_kw]),
        earns=problem.columns.group_charged * (weights * per_core_s),
        idle=nodes.idle_mw - nodes.busy_mw,
        sleeps=nodes.idle_mw - nodes.asleep_mw,
        rests=np.array([rule.after_s, rule.wake_s], dtype=np.int64),
        waits=problem.wait_prices,
        cuts=np.zeros((0 if battery is None else MOST_CUTS, 1 + _asked_of_battery(problem, len(ticks) - 1))),
        cut_count=np.zeros(1, dtype=np.int64),
        room=segments.length_s * (0.0 if battery is None else battery.power_kw) / SECONDS_PER_HOUR,
        spare=np.where(segments.uses_sun, 0.0, segments.solar_w) * segments.length_s / (MILLI * SECONDS_PER_HOUR),
    )


def _asked_of_battery(problem: Problem, intervals: int) -> int:
    """How many figures of a plan a battery's cuts are about."""
    return 2 * len(problem.segments) + (intervals if problem.rates.demand_eur_per_kw > 0 else 0)


def tally_of(problem: Problem, money: Money, plan: Plan) -> Tally:
    """What the started jobs and those that a plan starts add up to."""
    length, columns, placed = problem.horizon.length_s, problem.columns, np.flatnonzero(plan.is_placed)
    start_s = np.concatenate([problem.running_start_s, plan.start_s[placed]])
    end_s = np.concatenate([problem.running_end_s, (plan.start_s + columns.duration_s)[placed]])
    power_mw = np.concatenate([problem.running_columns.power_mw, columns.power_mw[placed]])
    earns_per_s = np.bincount(
        np.repeat(np.arange(len(columns)), np.diff(columns.unit_ptr)), money.earns[columns.unit_group], len(columns)
    )
    seconds = problem.segment_columns.counted_s(start_s, end_s)[len(problem.running) :]
    pieces, segments = len(money.segment_of), len(money.length)
    return Tally(
        energy=energy_between(money.edges, start_s, np.minimum(end_s, length), power_mw)
        + _closed_idle(problem, money)
        + int(problem.nodes.busy_mw.sum()) * np.diff(money.edges),
        revenue=np.array(
            [
                _running_revenue(problem)
                + _fed_in_any_case(problem)
                + (earns_per_s[placed] * seconds).sum()
                - waiting_of(problem, plan)
            ]
        ),
        idle=np.zeros(pieces, dtype=np.int64),
        by_segment=np.zeros(segments, dtype=np.int64),
        by_interval=np.zeros(len(money.interval_length)),
        rate=np.zeros(segments),
        asked=np.zeros(_asked_of_battery(problem, len(money.interval_length))),
    )


def _closed_idle(problem: Problem, money: Money) -> Ints:
    """Energy of empty nodes that outages close: on the timelines they look used, but they idle."""
    closed = problem.closed_room
    start_s = np.minimum(closed.start_s[closed.is_empty], problem.horizon.length_s)
    end_s = np.minimum(closed.end_s[closed.is_empty], problem.horizon.length_s)
    return energy_between(money.edges, start_s, end_s, money.idle[closed.node[closed.is_empty]])


def _fed_in_any_case(problem: Problem) -> float:
    """What sun earns that the site does not use, however little it feeds in [EUR]."""
    segments = problem.segment_columns
    earned = segments.solar_w * segments.length_s * segments.feed_in_eur_per_kwh * segments.counts
    return float(earned[~segments.uses_sun].sum() / (MILLI * SECONDS_PER_HOUR))


def _running_revenue(problem: Problem) -> float:
    columns = problem.running_columns
    seconds = problem.segment_columns.counted_s(problem.running_start_s, problem.running_end_s)
    job = np.repeat(np.arange(len(columns)), np.diff(columns.unit_ptr))
    total: float = sum((columns.group_charged[columns.unit_group] * columns.weight[job] * seconds[job]).tolist())
    return total * problem.rates.eur_per_charged_hour / SECONDS_PER_HOUR
