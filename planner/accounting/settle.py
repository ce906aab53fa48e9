"""The ledger of a plan: the only place where energy and money are summed.

For each segment s of the day, with exec(i, s) the seconds that job i runs inside s::

    G_s = sum_i exec(i, s) * core_equivalents(i)        resources used
    W_s = sum_i exec(i, s) * power_i + idle energy      IT energy
    P_s = round(W_s / length_s, to the table's step)    mean IT power
    J_s = W_s * cooling(P_s, temperature_s)             cooling energy
    B_s = max(0, W_s + J_s - solar energy)              bought energy
    profit = sum_s G_s * K1 - B_s * (K2_s + carbon price * intensity_s)  -  demand charge * peak

Energies are summed in whole milliwatt-seconds, so W_s and P_s are exact. Cost: a sort of the jobs, and a
table of jobs by segments for the shares of the jobs.

In a problem with days that count less, G_s and B_s stand for what their money counts; such a sum is no money.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from planner.accounting.energy import energy_between, merged_intervals, overlap_s
from planner.domain.columns import Floats, Ints
from planner.domain.ledger import JobLines, Ledger, SegmentLines
from planner.domain.plan import Plan
from planner.domain.problem import Problem
from planner.units import MILLI, MILLIWATT_SECONDS_PER_KWH, SECONDS_PER_HOUR


@dataclass(frozen=True)
class _Work:
    """All that runs today, started jobs first: bounds clipped to the day, power, core-equivalents, weight."""

    job_ids: tuple[str, ...]
    start_s: Ints
    end_s: Ints
    power_mw: Ints
    core_equivalents: Floats
    weight: Floats
    busy_node: Ints
    busy_start_s: Ints
    busy_end_s: Ints


def settle(problem: Problem, plan: Plan) -> Ledger:
    """Settle a plan: energy and money per segment and per job."""
    work = _gather(problem, plan)
    rates, segments = problem.rates, problem.segment_columns
    edges, length_s, price = segments.edges_s, segments.length_s, segments.price_eur_per_kwh
    counted_price = price * segments.counts

    work_mws = energy_between(edges, work.start_s, work.end_s, work.power_mw)
    idle_mws = _idle_energy(problem, work, edges)
    it_mws = work_mws + idle_mws
    cooling = _cooling(problem, it_mws, length_s, segments.temperature_c)

    work_kwh, idle_kwh, it_kwh = (mws / MILLIWATT_SECONDS_PER_KWH for mws in (work_mws, idle_mws, it_mws))
    cooling_kwh = it_kwh * cooling
    site_kwh = it_kwh + cooling_kwh
    solar_kwh = np.minimum(segments.solar_w * length_s / (MILLI * SECONDS_PER_HOUR), site_kwh)
    bought_kwh = site_kwh - solar_kwh
    bought_share = np.divide(bought_kwh, site_kwh, out=np.zeros_like(site_kwh), where=site_kwh > 0)
    carbon_kg = bought_kwh * segments.carbon_g_per_kwh / 1000

    seconds = overlap_s(edges, work.start_s, work.end_s)
    core_hours = seconds * (work.core_equivalents / SECONDS_PER_HOUR)[:, None]
    earned = core_hours * (work.weight * rates.eur_per_core_hour)[:, None] * segments.counts
    lines = SegmentLines(
        length_s=length_s,
        temperature_c=segments.temperature_c,
        price_eur_per_kwh=price,
        core_hours=core_hours.sum(axis=0),
        work_kwh=work_kwh,
        idle_kwh=idle_kwh,
        cooling_kwh=cooling_kwh,
        solar_kwh=solar_kwh,
        bought_kwh=bought_kwh,
        carbon_kg=carbon_kg,
        revenue_eur=earned.sum(axis=0),
        it_cost_eur=it_kwh * bought_share * counted_price,
        cooling_cost_eur=cooling_kwh * bought_share * counted_price,
        carbon_cost_eur=carbon_kg / 1000 * rates.carbon_eur_per_tonne * segments.counts,
    )
    peak_kw = _peak_kw(problem, work, edges, cooling)
    demand_cost = peak_kw * rates.demand_eur_per_kw
    jobs = _job_lines(work, seconds, lines, core_hours.sum(axis=1), earned.sum(axis=1), demand_cost)
    carried = math.fsum(jobs.revenue_eur) - math.fsum(jobs.profit_eur)
    spent = math.fsum(lines.revenue_eur) - math.fsum(lines.profit_eur) + demand_cost
    return Ledger(lines, jobs, peak_kw, demand_cost, site_cost_eur=spent - carried)


def _gather(problem: Problem, plan: Plan) -> _Work:
    running, columns, nodes = problem.running_columns, problem.columns, problem.nodes
    placed = np.flatnonzero(plan.is_placed)
    start_s = np.concatenate([problem.running_start_s, plan.start_s[placed]])
    own_end = plan.start_s[placed] + columns.duration_s[placed]
    end_s = np.minimum(np.concatenate([problem.running_end_s, own_end]), problem.horizon.length_s)

    unit_job = np.repeat(np.arange(len(columns)), np.diff(columns.unit_ptr))
    placed_units = np.flatnonzero(plan.is_placed[unit_job])
    placed_nodes = plan.node_of_unit[placed_units]
    group = np.concatenate([running.unit_group, columns.unit_group[placed_units] + len(running.group_count)])
    node = np.concatenate([problem.running_nodes, placed_nodes])
    per_group = np.concatenate([running.group_core_equivalents, columns.group_core_equivalents])
    unit_work = np.concatenate(
        [
            np.repeat(np.arange(len(running)), np.diff(running.unit_ptr)),
            np.repeat(np.arange(len(placed)) + len(running), np.diff(columns.unit_ptr)[placed]),
        ]
    )
    equivalents = np.zeros(len(start_s))
    np.add.at(equivalents, unit_work, per_group[group, nodes.class_of[node]])
    return _Work(
        job_ids=(*(work.job.id for work in problem.running), *(problem.jobs[index].id for index in placed)),
        start_s=start_s,
        end_s=end_s,
        power_mw=np.concatenate([running.power_mw, columns.power_mw[placed]]),
        core_equivalents=equivalents,
        weight=np.concatenate([running.weight, columns.weight[placed]]),
        busy_node=node,
        busy_start_s=start_s[unit_work],
        busy_end_s=end_s[unit_work],
    )


def _idle_energy(problem: Problem, work: _Work, edges: Ints) -> Ints:
    """Energy of nodes while nothing runs on them, between edges [mW s]."""
    idle_mw = problem.nodes.idle_mw
    if not idle_mw.any():
        return np.zeros(len(edges) - 1, dtype=np.int64)
    node, start_s, end_s = merged_intervals(work.busy_node, work.busy_start_s, work.busy_end_s)
    return int(idle_mw.sum()) * np.diff(edges) - energy_between(edges, start_s, end_s, idle_mw[node])


def _cooling(problem: Problem, it_mws: Ints, length_s: Ints, temperature_c: Floats) -> Floats:
    """Cooling energy per unit of IT energy of each segment; 0 where nothing draws power."""
    cooling = np.zeros(len(it_mws))
    draws = it_mws > 0
    rows = problem.table.rows(it_mws[draws], length_s[draws])
    cooling[draws] = problem.table.look_up(rows, temperature_c[draws])
    return cooling


def _peak_kw(problem: Problem, work: _Work, edges: Ints, cooling: Floats) -> float:
    """Highest mean bought power over the demand intervals of the day [kW]."""
    interval = problem.rates.demand_interval_s
    ticks = np.append(np.arange(0, problem.horizon.length_s, interval), problem.horizon.length_s)
    pieces = np.unique(np.concatenate([edges, ticks]))
    segment = np.searchsorted(edges, pieces[:-1], side="right") - 1
    it_mws = energy_between(pieces, work.start_s, work.end_s, work.power_mw)
    it_mws = it_mws + _idle_energy(problem, work, pieces)
    site_mws = it_mws * (1 + cooling[segment])
    solar_mws = problem.segment_columns.solar_w[segment] * MILLI * np.diff(pieces)
    bought_mws = np.maximum(0, site_mws - solar_mws)
    per_interval = np.add.reduceat(bought_mws, np.searchsorted(pieces, ticks[:-1]))
    return float(np.max(per_interval / np.diff(ticks))) / MILLI**2


def _job_lines(
    work: _Work,
    seconds: Ints,
    lines: SegmentLines,
    core_hours: Floats,
    earned: Floats,
    demand_cost: float,
) -> JobLines:
    energy_kwh = seconds * (work.power_mw / MILLIWATT_SECONDS_PER_KWH)[:, None]
    drawn = energy_kwh.sum(axis=0)
    share = np.divide(energy_kwh, drawn, out=np.zeros_like(energy_kwh), where=drawn > 0)
    own_kwh = energy_kwh.sum(axis=1)
    all_kwh = own_kwh.sum()
    demand_share = own_kwh / all_kwh if all_kwh > 0 else np.zeros_like(own_kwh)
    return JobLines(
        job_ids=work.job_ids,
        start_s=work.start_s,
        end_s=work.end_s,
        core_equivalents=work.core_equivalents,
        core_hours=core_hours,
        work_kwh=own_kwh,
        idle_kwh=share @ lines.idle_kwh,
        cooling_kwh=share @ lines.cooling_kwh,
        revenue_eur=earned,
        it_cost_eur=share @ lines.it_cost_eur,
        cooling_cost_eur=share @ lines.cooling_cost_eur,
        carbon_cost_eur=share @ lines.carbon_cost_eur,
        demand_cost_eur=demand_share * demand_cost,
    )
