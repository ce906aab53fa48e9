"""What started work holds and outages close in each slot."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from planner.accounting.bound.slots import BoundSlots, Shares
from planner.accounting.energy import energy_between, merged_intervals, overlap_s
from planner.domain.columns import Floats
from planner.domain.problem import Problem
from planner.units import MILLI, MILLIWATT_SECONDS_PER_KWH, SECONDS_PER_HOUR


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
