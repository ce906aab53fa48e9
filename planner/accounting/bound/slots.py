"""What the bound counts in: slots of time, shares of nodes, what work takes in a slot, and what a segment costs.

A slot has one price of room and one of power.

A measure gives each unit a share of a node such that the units on one node never add up to more than 1. Each resource
is one: amount over capacity. Another one per resource sees that wide units cannot share a node: 1 for units of more
than half of the node, 1/2 for exactly half, 0 for less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from planner.accounting.intervals import energy_between, merged_intervals, overlap_s
from planner.domain.columns import Floats, Ints
from planner.domain.problem import Problem
from planner.domain.pue_table import PueTable
from planner.domain.segment import Segment
from planner.units import MILLI, MILLIWATT_SECONDS_PER_KWH, SECONDS_PER_HOUR

SLOT_S = 3600
"""How long a slot is unless somebody says otherwise [s]."""

_WIDER = 1e-6
"""Part of them, and kWh, by which ranges of energy are wider than worked out: for rounding, here and in the solver."""


@dataclass(frozen=True)
class BoundSlots:
    """The day cut at the edges of its segments and at regular moments; ``segment`` is the segment of each slot.

    ``counts`` is what the money of each slot counts.
    """

    edges_s: Ints
    segment: Ints
    counts: Floats

    def __len__(self) -> int:
        return len(self.segment)

    @cached_property
    def hours(self) -> Floats:
        """Length of each slot [h]."""
        return np.diff(self.edges_s) / SECONDS_PER_HOUR

    def integral(self, height: Floats, moments_s: Ints) -> Floats:
        """Integral over time from the start of the day to each moment of step functions, in their unit times hours.

        ``height`` has one row per function and one column per slot; the result has a leading axis for the functions.
        """
        slot = np.clip(np.searchsorted(self.edges_s, moments_s, side="right") - 1, 0, len(self) - 1)
        into = (moments_s - self.edges_s[slot]) / SECONDS_PER_HOUR
        before = np.concatenate([np.zeros((len(height), 1)), np.cumsum(height * self.hours, axis=1)], axis=1)
        return before[:, slot] + height[:, slot] * into


def cut_slots(problem: Problem, slot_s: int) -> BoundSlots:
    """Slots of at most that length, none across the edge of a segment."""
    borders = problem.segment_columns.edges_s
    edges = np.unique(np.concatenate([borders, np.arange(0, problem.horizon.length_s, max(1, slot_s))]))
    segment = np.searchsorted(borders, edges[:-1], side="right") - 1
    return BoundSlots(edges, segment, problem.segment_columns.counts[segment])


def demand_windows(problem: Problem, slots: BoundSlots, bills_s: Ints) -> list[tuple[int, int]]:
    """Shortest runs of slots within one segment that hold whole demand intervals only: first slot and end."""
    on_tick = np.flatnonzero(_ends_interval(problem, slots.edges_s, bills_s))
    return [
        (int(first), int(end)) for first, end in pairwise(on_tick) if slots.segment[first] == slots.segment[end - 1]
    ]


def demand_blocks(problem: Problem, bills_s: Ints) -> list[tuple[int, int]]:
    """Shortest runs of segments that hold whole demand intervals only: first segment and end."""
    on_tick = np.flatnonzero(_ends_interval(problem, problem.segment_columns.edges_s, bills_s))
    return [(int(first), int(end)) for first, end in pairwise(on_tick)]


def _ends_interval(problem: Problem, edges_s: Ints, bills_s: Ints) -> npt.NDArray[np.bool_]:
    """Which edges are ends of demand intervals; these are counted from the beginning of each bill."""
    into_bill_s = edges_s - bills_s[np.searchsorted(bills_s, edges_s, side="right") - 1]
    ends = into_bill_s % problem.rates.demand_interval_s == 0
    return np.asarray(ends | (edges_s == problem.horizon.length_s), dtype=np.bool_)


@dataclass(frozen=True)
class Shares:
    """Measures of node room: ``class_of`` each, and the share that a unit of each group takes, NaN-free.

    ``of_group`` has one row per measure and one column per group of the jobs; ``of_running`` likewise for running work.
    ``fits`` says which groups can be on which class at all; shape (groups, classes).
    """

    class_of: Ints
    of_group: Floats
    of_running: Floats
    fits: npt.NDArray[np.bool_]


def node_shares(problem: Problem) -> Shares:
    """All measures that some other one does not make idle."""
    capacities = problem.class_capacity
    amounts = problem.columns.group_amount
    running = problem.running_columns.group_amount
    fits = np.all(amounts[:, None, :] <= capacities[None, :, :], axis=2)
    classes, rows = [], []
    for index, capacity in enumerate(capacities):
        able = np.concatenate([fits[:, index], np.all(running <= capacity, axis=1)])
        asked = np.where(able[:, None], np.concatenate([amounts, running]), 0)
        measures = [row for r in np.flatnonzero(capacity) for row in _measures(asked[:, r], int(capacity[r]))]
        kept = _undominated(measures)
        classes += [index] * len(kept)
        rows += kept
    table = np.array(rows).reshape(len(rows), len(amounts) + len(running))
    return Shares(np.array(classes, dtype=np.int64), table[:, : len(amounts)], table[:, len(amounts) :], fits)


def _measures(amount: Ints, capacity: int) -> list[Floats]:
    plain = amount / capacity
    halves = np.select([2 * amount > capacity, 2 * amount == capacity], [1.0, 0.5], 0.0)
    return [plain, halves]


def _undominated(measures: list[Floats]) -> list[Floats]:
    """The measures that are not everywhere at most another one; of equal ones the first."""
    kept: list[Floats] = []
    for index, row in enumerate(measures):
        others = measures[index + 1 :]
        if not any(np.all(row <= other) for other in kept) and not any(
            np.all(row <= other) and np.any(row < other) for other in others
        ):
            kept.append(row)
    return kept


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


def cooling_rows(table: PueTable, segment: Segment, low_kwh: float, high_kwh: float) -> tuple[Floats, Floats, Floats]:
    """The table's rows that IT energies from low to high can fall in: each row's energies and its cooling.

    Beyond the table its first and last row hold, as in a table that clamps: in one that does not, no plan with such
    an energy can be settled at all. Both ends of a row's energies count as its own, so that a limit of energies
    towards an edge is covered whichever way halves go.
    """
    hours = segment.length_s / SECONDS_PER_HOUR
    middle = table.powers_w / MILLI
    half = table.power_step_w / MILLI / 2
    low = np.concatenate([[-np.inf], (middle[1:] - half) * hours])
    high = np.concatenate([(middle[:-1] + half) * hours, [np.inf]])
    cooling = table.cells(np.arange(len(middle)), np.array(segment.temperature_c))
    holds = (low <= high_kwh) & (high >= low_kwh)
    return np.maximum(low[holds], low_kwh), np.minimum(high[holds], high_kwh), cooling[holds]


def bought_points(
    table: PueTable, segment: Segment, low_kwh: float, high_kwh: float, *, uses_sun: bool = True
) -> tuple[Floats, Floats, Floats]:
    """Points (IT energy, bought, sun left unused) whose convex hull holds everything possible in the segment [kWh].

    Within a row the bought energy max(0, (1 + cooling) * it - sun) has two straight pieces, and so has the sun that is
    left; the ends of all pieces of all rows span the hull. Without ``uses_sun`` all is bought and all sun is left.
    """
    first, last, cooling = cooling_rows(table, segment, low_kwh, high_kwh)
    sun_kwh = segment.solar_w * segment.length_s / (MILLI * SECONDS_PER_HOUR)
    used_kwh = sun_kwh if uses_sun else 0.0
    bend = np.clip(used_kwh / (1 + cooling), first, last)
    it = np.concatenate([first, bend, last])
    site = it * (1 + np.tile(cooling, 3))
    return it, np.maximum(0.0, site - used_kwh), sun_kwh - np.minimum(site, used_kwh)


def hull(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Corners of the convex hull of points in the plane."""
    points = sorted(set(zip(x.tolist(), y.tolist(), strict=True)))
    corners = set(_lower(points)) | set(_lower([(a, -b) for a, b in points], sign=-1.0))
    kept = sorted(corners)
    return np.array([a for a, _ in kept]), np.array([b for _, b in kept])


def lower_hull(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Corners of the lower side of the convex hull: the greatest convex function below the points."""
    kept = _lower(sorted(set(zip(x.tolist(), y.tolist(), strict=True))))
    return np.array([a for a, _ in kept]), np.array([b for _, b in kept])


def _lower(points: list[tuple[float, float]], sign: float = 1.0) -> list[tuple[float, float]]:
    """Lower corners of points, read with their second coordinate times ``sign`` when given back."""
    chain: list[tuple[float, float]] = []
    for x, y in sorted(points):
        if chain and chain[-1][0] == x:
            continue
        while len(chain) > 1 and _turns_up(chain[-2], chain[-1], (x, y)):
            chain.pop()
        chain.append((x, y))
    return [(x, sign * y) for x, y in chain]


def _turns_up(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Whether b lies on or above the line from a to c, and so is no corner."""
    return (b[1] - a[1]) * (c[0] - a[0]) >= (c[1] - a[1]) * (b[0] - a[0])
