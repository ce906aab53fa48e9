"""The money of a problem as the kernels take it."""

from __future__ import annotations

import numpy as np

from planner.accounting.energy import energy_between
from planner.accounting.settle import moved_by_battery
from planner.domain.columns import Ints
from planner.domain.plan import Plan
from planner.domain.problem import Problem
from planner.search.kernel.money import Money, Tally
from planner.units import MILLI, SECONDS_PER_HOUR


def kernel_money(problem: Problem) -> Money:
    """What placements of a problem earn and cost, cut into pieces; without a battery."""
    segments, length = problem.segment_columns, problem.horizon.length_s
    interval = problem.rates.demand_interval_s
    has_demand = problem.rates.demand_eur_per_kw > 0
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
        moved=np.zeros(len(ticks) - 1),
        demand=np.array([problem.rates.demand_eur_per_kw, problem.rates.demand_so_far_kw]),
        earns=problem.columns.group_charged * (weights * per_core_s)[:, None],
        class_of=nodes.class_of,
        idle=nodes.idle_mw - nodes.busy_mw,
        sleeps=nodes.idle_mw - nodes.asleep_mw,
        rests=np.array([rule.after_s, rule.wake_s], dtype=np.int64),
    )


def with_battery(problem: Problem, money: Money, tally: Tally, plan: Plan) -> tuple[Money, Tally]:
    """The same with the battery used as is best beside a plan, whatever the placement."""
    if problem.rates.battery is None:
        return money, tally
    moved, saved_eur = moved_by_battery(problem, plan)
    tally.revenue[0] += saved_eur
    return money._replace(moved=moved) if problem.rates.demand_eur_per_kw > 0 else money, tally


def tally_of(problem: Problem, money: Money, plan: Plan) -> Tally:
    """What the started jobs and those that a plan starts add up to."""
    length, columns, placed = problem.horizon.length_s, problem.columns, np.flatnonzero(plan.is_placed)
    start_s = np.concatenate([problem.running_start_s, plan.start_s[placed]])
    end_s = np.concatenate([problem.running_end_s, (plan.start_s + columns.duration_s)[placed]])
    power_mw = np.concatenate([problem.running_columns.power_mw, columns.power_mw[placed]])
    unit_earns = money.earns[columns.unit_group, money.class_of[plan.node_of_unit]]
    earns_per_s = np.bincount(
        np.repeat(np.arange(len(columns)), np.diff(columns.unit_ptr)), unit_earns, minlength=len(columns)
    )
    seconds = problem.segment_columns.counted_s(start_s, end_s)[len(problem.running) :]
    pieces, segments = len(money.segment_of), len(money.length)
    return Tally(
        energy=energy_between(money.edges, start_s, np.minimum(end_s, length), power_mw)
        + _closed_idle(problem, money)
        + int(problem.nodes.busy_mw.sum()) * np.diff(money.edges),
        revenue=np.array(
            [_running_revenue(problem) + _fed_in_any_case(problem) + (earns_per_s[placed] * seconds).sum()]
        ),
        idle=np.zeros(pieces, dtype=np.int64),
        by_segment=np.zeros(segments, dtype=np.int64),
        by_interval=np.zeros(len(money.interval_length)),
        rate=np.zeros(segments),
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
    columns, class_of = problem.running_columns, problem.nodes.class_of
    seconds = problem.segment_columns.counted_s(problem.running_start_s, problem.running_end_s)
    total = 0.0
    unit = 0
    for index, work in enumerate(problem.running):
        for node in work.nodes:
            group = columns.unit_group[unit]
            total += columns.group_charged[group, class_of[node]] * columns.weight[index] * seconds[index]
            unit += 1
    return total * problem.rates.eur_per_charged_hour / SECONDS_PER_HOUR
