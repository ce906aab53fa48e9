"""What work takes and outages close in each slot: power and energy of the day's jobs, and what started work holds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from planner.accounting.bound.slots import BoundSlots, Shares
from planner.accounting.intervals import energy_between, merged_intervals, overlap_s
from planner.domain.columns import Floats, Ints
from planner.domain.problem import Problem
from planner.units import MILLI, MILLIWATT_SECONDS_PER_KWH, SECONDS_PER_HOUR

_WIDER = 1e-6
"""Part of them, and kWh, by which ranges of energy are wider than worked out: for rounding, here and in the solver."""


@dataclass(frozen=True)
class RunningLoad:
    """Started work in each slot: energy, node-hours in each measure, hours of nodes in use per class; its revenue.

    ``closed_h`` are hours of empty nodes per class and slot that outages close.
    """

    work_kwh: Floats
    share_h: Floats
    busy_h: Floats
    closed_h: Floats
    revenue_eur: float
    most_kw: float


def running_load(problem: Problem, shares: Shares, slots: BoundSlots) -> RunningLoad:
    """What started work takes; in no measure more than the nodes that it is on."""
    columns, nodes = problem.running_columns, problem.nodes
    end = np.minimum(problem.running_end_s, problem.horizon.length_s)
    start = np.minimum(problem.running_start_s, end)
    unit_job = np.repeat(np.arange(len(columns)), np.diff(columns.unit_ptr))
    unit_node = problem.running_nodes
    unit_hours = overlap_s(slots.edges_s, start[unit_job], end[unit_job]) / SECONDS_PER_HOUR
    unit_class = nodes.class_of[unit_node]

    node, busy_start, busy_end = merged_intervals(unit_node, start[unit_job], end[unit_job])
    busy_h = np.zeros((len(problem.cluster.classes), len(slots)))
    np.add.at(busy_h, nodes.class_of[node], overlap_s(slots.edges_s, busy_start, busy_end) / SECONDS_PER_HOUR)
    share_h = np.zeros((len(shares.class_of), len(slots)))
    for measure, index in enumerate(shares.class_of):
        share = np.where(unit_class == index, shares.of_running[measure, columns.unit_group], 0.0)
        share_h[measure] = np.minimum(share @ unit_hours, busy_h[index])
    closed, closed_h = problem.closed_room, np.zeros_like(busy_h)
    inside = closed.is_empty & (closed.start_s < problem.horizon.length_s)
    closed_s = overlap_s(slots.edges_s, closed.start_s[inside], closed.end_s[inside])
    np.add.at(closed_h, nodes.class_of[closed.node[inside]], closed_s / SECONDS_PER_HOUR)
    earned = columns.group_charged[columns.unit_group] * columns.weight[unit_job]
    earned = earned * problem.segment_columns.counted_s(start, end)[unit_job]
    return RunningLoad(
        work_kwh=energy_between(slots.edges_s, start, end, columns.power_mw) / MILLIWATT_SECONDS_PER_KWH,
        share_h=share_h,
        busy_h=busy_h,
        closed_h=closed_h,
        revenue_eur=math.fsum(earned) * problem.rates.eur_per_charged_hour / SECONDS_PER_HOUR,
        most_kw=float(columns.power_mw.sum()) / MILLI**2,
    )


def most_power_kw(problem: Problem, shares: Shares) -> float:
    """A power that the day's jobs together never exceed: the machine filled with parts of those densest in power.

    One measure of each class is enough: in it the jobs that run at one moment take at most the class's nodes.
    """
    columns, classes = problem.columns, problem.cluster.classes
    if not len(columns):
        return 0.0
    share = np.full((len(columns.group_count), len(classes)), np.inf)
    for index in range(len(classes)):
        of_class = np.flatnonzero(shares.class_of == index)
        able = shares.fits[:, index]
        share[able, index] = shares.of_group[of_class[0], able] if len(of_class) else 0.0
    least = np.where(shares.fits.any(axis=1), share.min(axis=1), 0.0)
    nodes = np.add.reduceat(columns.group_count * least, columns.group_ptr[:-1])
    power_kw = columns.power_mw / MILLI**2
    density = np.divide(power_kw, nodes, out=np.full(len(nodes), np.inf), where=nodes > 0)
    order = np.argsort(-density)
    taken = np.concatenate([[0.0], np.cumsum(nodes[order])])
    room = np.clip(problem.cluster.node_count - taken[:-1], 0.0, nodes[order])
    part = np.divide(room, nodes[order], out=np.ones(len(order)), where=nodes[order] > 0)
    return float(part @ power_kw[order])


@dataclass(frozen=True)
class JobEnergy:
    """Energy of the jobs in each slot, whenever they start in time [kWh].

    ``forced_kwh`` is what each job draws in each slot at least; shape (jobs, slots). ``least_kwh`` and ``most_kwh`` are
    for all jobs together.
    """

    forced_kwh: Floats
    least_kwh: Floats
    most_kwh: Floats


def job_energy(problem: Problem, slots: BoundSlots, latest_start_s: Ints | None) -> JobEnergy:
    """Least and most energy of jobs that must start in time; one whose latest start is after the horizon need not.

    The seconds of a job in a slot rise, stay and fall again as it starts later: they are least at its first or at its
    last start.
    """
    columns, edges = problem.columns, slots.edges_s
    if latest_start_s is None:
        nothing = np.zeros((len(columns), len(slots)))
        return JobEnergy(nothing, np.zeros(len(slots)), np.full(len(slots), np.inf))
    first, length_s = columns.release_s, columns.duration_s
    last = np.minimum(latest_start_s, edges[-1] - 1)
    power_kw = columns.power_mw / MILLI**2
    owed_kw = np.where(latest_start_s < edges[-1], power_kw, 0.0)
    early, late = overlap_s(edges, first, first + length_s), overlap_s(edges, last, last + length_s)
    forced = owed_kw[:, None] * np.minimum(early, late) / SECONDS_PER_HOUR
    most_s = np.minimum(overlap_s(edges, first, last + length_s), length_s[:, None])
    least = np.maximum(forced.sum(axis=0) * (1 - _WIDER) - _WIDER, 0.0)
    return JobEnergy(forced, least, power_kw @ most_s / SECONDS_PER_HOUR * (1 + _WIDER) + _WIDER)
