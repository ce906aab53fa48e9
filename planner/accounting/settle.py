"""The ledger of a plan: the only place where energy and money are summed.

For each segment s of the day, with exec(i, s) the seconds that job i runs inside s::

    G_s = sum_i exec(i, s) * charged(i)                 resources used, in core-hours as they are charged
    W_s = sum_i exec(i, s) * power_i + idle energy      IT energy
    P_s = round(W_s / length_s, to the table's step)    mean IT power
    J_s = W_s * cooling(P_s, temperature_s)             cooling energy
    B_s = max(0, W_s + J_s - solar energy)              bought energy; all of it where sun is worth more fed in
    F_s = solar energy that the site does not use       fed in, or curtailed where that would cost money
    profit = sum_s G_s * K1 - B_s * (K2_s + fees_s + carbon price * intensity_s) + F_s * feed-in price_s
             - demand charge * max(0, peak - peak so far)

A battery is used in the best way beside the plan (`planner.accounting.battery_dispatch`); B_s, F_s and the peak are
with it.

Energies are summed in whole milliwatt-seconds, so W_s and P_s are exact. Cost: a sort of the jobs, and a
table of jobs by segments for the shares of the jobs.

In a problem with days that count less, G_s and B_s stand for what their money counts; such a sum is no money.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from planner.accounting.battery_dispatch import Dispatch, PeakRows, best_dispatch, idle_battery
from planner.accounting.intervals import energy_between, merged_intervals, overlap_s
from planner.domain.columns import Floats, Ints
from planner.domain.ledger import JobLines, Ledger, SegmentLines
from planner.domain.plan import Plan
from planner.domain.problem import Problem
from planner.domain.waits import wait_costs
from planner.units import MILLI, MILLIWATT_SECONDS_PER_KWH, SECONDS_PER_HOUR


@dataclass(frozen=True)
class _Work:
    """All that runs today, started jobs first: bounds clipped to the day, power, core-equivalents, what is charged."""

    job_ids: tuple[str, ...]
    start_s: Ints
    end_s: Ints
    power_mw: Ints
    core_equivalents: Floats
    charged: Floats
    weight: Floats
    busy_node: Ints
    busy_start_s: Ints
    busy_end_s: Ints


@dataclass(frozen=True)
class _Flows:
    """The energy of a plan by segment [kWh]: IT, cooling, sun, and what the battery does; the rest is bought."""

    work: _Work
    asleep_h: Floats
    work_kwh: Floats
    idle_kwh: Floats
    it_kwh: Floats
    cooling_kwh: Floats
    solar_kwh: Floats
    unused_kwh: Floats
    pieces: _Pieces
    battery: Dispatch
    battery_cut: Floats

    @property
    def site_kwh(self) -> Floats:
        """Energy of the whole site."""
        return self.it_kwh + self.cooling_kwh


def settle(problem: Problem, plan: Plan) -> Ledger:
    """Settle a plan: energy and money per segment and per job."""
    flows = _flows(problem, plan)
    work, battery, rates, segments = flows.work, flows.battery, problem.rates, problem.segment_columns
    edges, price = segments.edges_s, segments.price_eur_per_kwh
    counted_price = (price + segments.fee_eur_per_kwh) * segments.counts
    it_kwh, cooling_kwh, site_kwh = flows.it_kwh, flows.cooling_kwh, flows.site_kwh
    needed_kwh = site_kwh - flows.solar_kwh
    bought_kwh, unused_kwh = needed_kwh + battery.bought_kwh, flows.unused_kwh - battery.from_sun_kwh
    feeds_in = segments.feed_in_eur_per_kwh > 0
    bought_share = np.divide(needed_kwh, site_kwh, out=np.zeros_like(site_kwh), where=site_kwh > 0)
    carbon_kg = bought_kwh * segments.carbon_g_per_kwh / 1000

    seconds = overlap_s(edges, work.start_s, work.end_s)
    core_hours = seconds * (work.core_equivalents / SECONDS_PER_HOUR)[:, None]
    charged_hours = seconds * (work.charged / SECONDS_PER_HOUR)[:, None]
    earned = charged_hours * (work.weight * rates.eur_per_charged_hour)[:, None] * segments.counts
    lines = SegmentLines(
        length_s=segments.length_s,
        temperature_c=segments.temperature_c,
        price_eur_per_kwh=price,
        core_hours=core_hours.sum(axis=0),
        work_kwh=flows.work_kwh,
        idle_kwh=flows.idle_kwh,
        cooling_kwh=cooling_kwh,
        solar_kwh=flows.solar_kwh,
        bought_kwh=bought_kwh,
        carbon_kg=carbon_kg,
        revenue_eur=earned.sum(axis=0),
        it_cost_eur=it_kwh * bought_share * counted_price,
        cooling_cost_eur=cooling_kwh * bought_share * counted_price,
        carbon_cost_eur=carbon_kg / 1000 * rates.carbon_eur_per_tonne * segments.counts,
        asleep_h=flows.asleep_h,
        fed_kwh=np.where(feeds_in, unused_kwh, 0.0),
        curtailed_kwh=np.where(feeds_in, 0.0, unused_kwh),
        charged_kwh=battery.from_sun_kwh + battery.from_grid_kwh,
        discharged_kwh=battery.given_kwh,
        battery_kwh=battery.level_kwh,
        fees_eur=needed_kwh * segments.fee_eur_per_kwh * segments.counts,
        feed_in_eur=unused_kwh * segments.feed_in_eur_per_kwh * segments.counts,
        battery_eur=-battery.bought_kwh * counted_price,
    )
    peak_kw = flows.pieces.peak_kw(battery)
    demand_cost = max(0.0, peak_kw - rates.demand_so_far_kw) * rates.demand_eur_per_kw
    jobs = _job_lines(work, seconds, lines, core_hours.sum(axis=1), earned.sum(axis=1), demand_cost)
    carried = math.fsum(jobs.revenue_eur) - math.fsum(jobs.profit_eur)
    spent = math.fsum(lines.revenue_eur) - math.fsum(lines.profit_eur) + demand_cost
    waiting_eur = waiting_of(problem, plan)
    return Ledger(lines, jobs, peak_kw, demand_cost, site_cost_eur=spent - carried, waiting_eur=waiting_eur)


def waiting_of(problem: Problem, plan: Plan) -> float:
    """What the waits of a plan count; a job that it does not start waits until the end of the horizon."""
    if not problem.waits:
        return 0.0
    start_s = np.where(plan.is_placed, plan.start_s, problem.horizon.length_s)
    return math.fsum(wait_costs(problem.wait_prices, start_s))


def battery_cut(problem: Problem, plan: Plan) -> Floats:
    """The cut of a battery's program beside a plan (`planner.accounting.battery_dispatch`)."""
    return _flows(problem, plan).battery_cut


def _flows(problem: Problem, plan: Plan) -> _Flows:
    work = _gather(problem, plan)
    segments = problem.segment_columns
    edges, length_s = segments.edges_s, segments.length_s
    work_mws = energy_between(edges, work.start_s, work.end_s, work.power_mw)
    asleep = _asleep(problem, work)
    idle_mws = _idle_energy(problem, work, asleep, edges)
    it_mws = work_mws + idle_mws
    cooling = _cooling(problem, it_mws, length_s, segments.temperature_c)

    work_kwh, idle_kwh, it_kwh = (mws / MILLIWATT_SECONDS_PER_KWH for mws in (work_mws, idle_mws, it_mws))
    cooling_kwh = it_kwh * cooling
    site_kwh = it_kwh + cooling_kwh
    sun_kwh = segments.solar_w * length_s / (MILLI * SECONDS_PER_HOUR)
    solar_kwh = np.where(segments.uses_sun, np.minimum(sun_kwh, site_kwh), 0.0)
    pieces = _Pieces.of(problem, work, asleep, cooling)
    battery, cut = _dispatch(problem, pieces, site_kwh - solar_kwh, sun_kwh - solar_kwh)
    node, start_s, end_s = asleep
    asleep_h = energy_between(edges, start_s, end_s, np.ones_like(node)) / SECONDS_PER_HOUR
    return _Flows(
        work, asleep_h, work_kwh, idle_kwh, it_kwh, cooling_kwh, solar_kwh, sun_kwh - solar_kwh, pieces, battery, cut
    )


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
    unit_work = np.concatenate(
        [
            np.repeat(np.arange(len(running)), np.diff(running.unit_ptr)),
            np.repeat(np.arange(len(placed)) + len(running), np.diff(columns.unit_ptr)[placed]),
        ]
    )

    def of_jobs(per_unit: Floats) -> Floats:
        summed = np.zeros(len(start_s))
        np.add.at(summed, unit_work, per_unit)
        return summed

    equivalents = np.concatenate([running.group_core_equivalents, columns.group_core_equivalents])

    return _Work(
        job_ids=(*(work.job.id for work in problem.running), *(problem.jobs[index].id for index in placed)),
        start_s=start_s,
        end_s=end_s,
        power_mw=np.concatenate([running.power_mw, columns.power_mw[placed]]),
        core_equivalents=of_jobs(equivalents[group, nodes.class_of[node]]),
        charged=of_jobs(np.concatenate([running.group_charged, columns.group_charged])[group]),
        weight=np.concatenate([running.weight, columns.weight[placed]]),
        busy_node=node,
        busy_start_s=start_s[unit_work],
        busy_end_s=end_s[unit_work],
    )


def _idle_energy(problem: Problem, work: _Work, asleep: _Asleep, edges: Ints) -> Ints:
    """What nodes draw by themselves between edges: while nothing runs on them, and where jobs' power leaves it out."""
    nodes = problem.nodes
    if not nodes.idle_mw.any():
        return np.zeros(len(edges) - 1, dtype=np.int64)
    node, start_s, end_s = merged_intervals(work.busy_node, work.busy_start_s, work.busy_end_s)
    drawn = int(nodes.idle_mw.sum()) * np.diff(edges)
    drawn -= energy_between(edges, start_s, end_s, (nodes.idle_mw - nodes.busy_mw)[node])
    node, start_s, end_s = asleep
    return drawn - energy_between(edges, start_s, end_s, (nodes.idle_mw - nodes.asleep_mw)[node])


_Asleep = tuple[Ints, Ints, Ints]
"""When nodes sleep: nodes, starts and ends."""


def _asleep(problem: Problem, work: _Work) -> _Asleep:
    """When nodes sleep; one that an outage closes stays on."""
    if not problem.nodes.sleeps:
        nobody = np.zeros(0, dtype=np.int64)
        return nobody, nobody, nobody
    closed, rule, day_s = problem.closed_room, problem.cluster.idle_rule, problem.horizon.length_s
    sleeps = np.flatnonzero(problem.nodes.asleep_mw != problem.nodes.idle_mw)
    # Every node is awake at both ends of the day: that is where its first rest begins, and its last one ends.
    node = np.concatenate([work.busy_node, closed.node[closed.is_empty], sleeps, sleeps])
    start_s = np.concatenate([work.busy_start_s, closed.start_s[closed.is_empty], 0 * sleeps, 0 * sleeps + day_s])
    end_s = np.concatenate([work.busy_end_s, closed.end_s[closed.is_empty], 0 * sleeps, 0 * sleeps + day_s])
    node, start_s, end_s = merged_intervals(node, np.minimum(start_s, day_s), np.minimum(end_s, day_s))
    rests = np.flatnonzero((node[1:] == node[:-1]) & np.isin(node[1:], sleeps))
    begins = end_s[rests] + rule.after_s
    ends = np.where(start_s[rests + 1] == day_s, day_s, start_s[rests + 1] - rule.wake_s)
    long = begins < ends
    return node[rests][long], begins[long], ends[long]


def _cooling(problem: Problem, it_mws: Ints, length_s: Ints, temperature_c: Floats) -> Floats:
    """Cooling energy per unit of IT energy of each segment; 0 where nothing draws power."""
    cooling = np.zeros(len(it_mws))
    draws = it_mws > 0
    rows = problem.table.rows(it_mws[draws], length_s[draws])
    cooling[draws] = problem.table.look_up(rows, temperature_c[draws])
    return cooling


@dataclass(frozen=True)
class _Pieces:
    """What is bought without a battery in each piece of the day, cut at edges of segments and demand intervals."""

    ticks: Ints
    edges: Ints
    segment: Ints
    bought_mws: Floats
    segment_length_s: Ints

    @classmethod
    def of(cls, problem: Problem, work: _Work, asleep: _Asleep, cooling: Floats) -> _Pieces:
        interval, columns = problem.rates.demand_interval_s, problem.segment_columns
        edges = columns.edges_s
        ticks = np.append(np.arange(0, problem.horizon.length_s, interval), problem.horizon.length_s)
        pieces = np.unique(np.concatenate([edges, ticks]))
        segment = np.searchsorted(edges, pieces[:-1], side="right") - 1
        it_mws = energy_between(pieces, work.start_s, work.end_s, work.power_mw)
        it_mws = it_mws + _idle_energy(problem, work, asleep, pieces)
        site_mws = it_mws * (1 + cooling[segment])
        sun_mws = np.where(columns.uses_sun, columns.solar_w, 0.0)[segment] * MILLI * np.diff(pieces)
        return cls(ticks, pieces, segment, np.maximum(0, site_mws - sun_mws), columns.length_s)

    def by_interval(self, mws: Floats) -> Floats:
        """Sums over the demand intervals of a figure of each piece."""
        return np.add.reduceat(mws, np.searchsorted(self.edges, self.ticks[:-1]))

    @cached_property
    def share(self) -> Floats:
        """Part of each segment that lies in each demand interval; shape (intervals, segments)."""
        share = np.zeros((len(self.ticks) - 1, len(self.segment_length_s)))
        interval = np.searchsorted(self.ticks, self.edges[:-1], side="right") - 1
        np.add.at(share, (interval, self.segment), np.diff(self.edges) / self.segment_length_s[self.segment])
        return share

    def peak_kw(self, battery: Dispatch) -> float:
        """Highest mean bought power over the demand intervals of the day [kW]."""
        bought_mws = self.by_interval(self.bought_mws)
        if battery.bought_kwh.any():
            moved_mws = self.share @ battery.bought_kwh * MILLIWATT_SECONDS_PER_KWH
            bought_mws = np.maximum(0.0, bought_mws + moved_mws)
        return float(np.max(bought_mws / np.diff(self.ticks))) / MILLI**2


def _dispatch(problem: Problem, pieces: _Pieces, needed_kwh: Floats, unused_kwh: Floats) -> tuple[Dispatch, Floats]:
    """What the site's battery does beside the plan, and the cut of its program."""
    rates, segments = problem.rates, problem.segment_columns
    if rates.battery is None:
        return idle_battery(len(needed_kwh)), np.zeros(0)
    peak = None
    if rates.demand_eur_per_kw > 0:
        peak = PeakRows(
            share=pieces.share,
            bought_kwh=pieces.by_interval(pieces.bought_mws) / MILLIWATT_SECONDS_PER_KWH,
            hours=np.diff(pieces.ticks) / SECONDS_PER_HOUR,
            eur_per_kw=rates.demand_eur_per_kw,
            so_far_kw=rates.demand_so_far_kw,
        )
    return best_dispatch(
        rates.battery,
        segments.length_s,
        needed_kwh,
        unused_kwh,
        segments.full_price_eur_per_kwh * segments.counts,
        segments.feed_in_eur_per_kwh * segments.counts,
        peak,
    )


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
        carbon_kg=share @ lines.carbon_kg,
    )
