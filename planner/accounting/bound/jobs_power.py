"""Power and energy of the day's jobs, wherever they are placed: the most power, and least and most energy by slot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.accounting.bound.slots import BoundSlots, Shares
from planner.accounting.energy import overlap_s
from planner.domain.columns import Floats, Ints
from planner.domain.problem import Problem
from planner.units import MILLI, SECONDS_PER_HOUR

_WIDER = 1e-6
"""Part of them, and kWh, by which ranges of energy are wider than worked out: for rounding, here and in the solver."""


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
