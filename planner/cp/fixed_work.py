"""Work that is not to be decided, as constants: started jobs, jobs outside the subproblem, and outages.

The audit has code of its own for what work holds (`planner.accounting.could_have_started`): neither can hide a fault
of the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planner.accounting.intervals import energy_between
from planner.cp.subproblem import Subproblem, busy_share
from planner.domain.columns import Ints, JobColumns
from planner.domain.plan import Plan
from planner.domain.problem import Problem
from planner.units import SECONDS_PER_HOUR


@dataclass(frozen=True)
class UsedRoom:
    """Started jobs, placed ones, what outages close, each list in its order; and their units in the same order.

    Attributes
    ----------
    start_s, end_s, power_mw
        Of each job.
    unit_job, unit_node, unit_amount
        Of each unit: its job in these lists, its node, and what it takes of every resource.
    unit_counts
        Whether each unit takes a node: not what is left of a closed one beside the work on it.
    """

    start_s: Ints
    end_s: Ints
    power_mw: Ints
    unit_job: Ints
    unit_node: Ints
    unit_amount: Ints
    unit_counts: npt.NDArray[np.bool_]

    @classmethod
    def by(cls, problem: Problem, plan: Plan) -> UsedRoom:
        """What the started jobs, a plan and outages hold."""
        running, columns, closed = problem.running_columns, problem.columns, problem.closed_room
        placed = np.flatnonzero(plan.is_placed)
        number = np.zeros(len(columns), dtype=np.int64)
        number[placed] = len(running) + np.arange(len(placed))
        job_of_unit = _job_of_unit(columns.unit_ptr)
        units = np.flatnonzero(plan.is_placed[job_of_unit])
        groups = running.unit_group, columns.unit_group[units]
        closed_jobs = len(running) + len(placed) + np.arange(len(closed))
        own_end_s = plan.start_s[placed] + columns.duration_s[placed]
        no_power = np.zeros(len(closed), dtype=np.int64)
        own_units = np.ones(len(running.unit_group) + len(units), dtype=np.bool_)
        return cls(
            start_s=np.concatenate([problem.running_start_s, plan.start_s[placed], closed.start_s]),
            end_s=np.concatenate([problem.running_end_s, own_end_s, closed.end_s]),
            power_mw=np.concatenate([running.power_mw, columns.power_mw[placed], no_power]),
            unit_job=np.concatenate([_job_of_unit(running.unit_ptr), number[job_of_unit[units]], closed_jobs]),
            unit_node=np.concatenate([problem.running_nodes, plan.node_of_unit[units], closed.node]),
            unit_amount=np.concatenate(
                [running.group_amount[groups[0]], columns.group_amount[groups[1]], closed.amount]
            ),
            unit_counts=np.append(own_units, closed.is_empty),
        )

    @property
    def unit_start_s(self) -> Ints:
        """Start of each unit."""
        return self.start_s[self.unit_job]

    @property
    def unit_end_s(self) -> Ints:
        """End of each unit."""
        return self.end_s[self.unit_job]


class Usage:
    """What intervals hold of some rows, when each takes its amount from its row."""

    def __init__(self, rows: int, row: Ints, start_s: Ints, end_s: Ints, amount: Ints) -> None:
        rows_twice, begins = np.append(row, row), np.repeat([True, False], len(row))
        # Row by row through time; what ends at a moment goes before what begins at it.
        order = np.lexsort((begins, np.append(start_s, end_s), rows_twice))
        self._rows = rows
        self._row = rows_twice[order]
        self._start_s, self._end_s = np.append(start_s, start_s)[order], np.append(end_s, end_s)[order]
        self._change = np.concatenate([amount, -amount])[order]

    def most(self, begin_s: int, until_s: int) -> Ints:
        """The most that is held of each row at any moment of a stretch."""
        inside = np.flatnonzero((self._start_s < until_s) & (self._end_s > begin_s))
        row, most = self._row[inside], np.zeros((self._rows, self._change.shape[1]), dtype=np.int64)
        if len(inside):
            # Every row's changes add up to nothing, so one running sum serves all rows.
            held = np.cumsum(self._change[inside], axis=0)
            first = np.flatnonzero(np.append(True, row[1:] != row[:-1]))
            most[row[first]] = np.maximum.reduceat(held, first, axis=0)
        return most


def _job_of_unit(unit_ptr: Ints) -> Ints:
    return np.repeat(np.arange(len(unit_ptr) - 1), np.diff(unit_ptr))


Pulse = tuple[int, int, int]
"""A constant height from a start to an end."""


@dataclass(frozen=True)
class FixedWork:
    """Constant work of a day; times are cut at the day's end."""

    problem: Problem
    work: UsedRoom
    class_of_unit: Ints
    idle_saved_mw: Ints
    revenue_eur: float

    @classmethod
    def of(cls, problem: Problem, subproblem: Subproblem) -> FixedWork:
        """The constant work around a subproblem."""
        others = subproblem.others(problem)
        work = UsedRoom.by(problem, others)
        class_of = problem.nodes.class_of[work.unit_node]
        saved = np.zeros(len(class_of), dtype=np.int64)
        revenue, rates = 0.0, problem.rates.eur_per_charged_hour / SECONDS_PER_HOUR
        unit = 0
        for columns, job, seconds in _constant_jobs(problem, others):
            for group in columns.unit_group[columns.unit_ptr[job] : columns.unit_ptr[job + 1]]:
                cores = float(columns.group_core_equivalents[group, class_of[unit]])
                share = busy_share(problem, cores, int(class_of[unit]))
                saved[unit] = int(problem.nodes.saved_mw[work.unit_node[unit]] * share)
                revenue += float(columns.group_charged[group]) * float(columns.weight[job]) * seconds * rates
                unit += 1
        return cls(problem, work, class_of, saved, revenue)

    def place_pulses(self, place: int, resource: int, *, pooled: bool) -> list[Pulse]:
        """What is used of a resource on a node, or in a class when pooled."""
        here = (self.class_of_unit if pooled else self.work.unit_node) == place
        amounts = self.work.unit_amount[here, resource]
        return self._profile(self.work.unit_start_s[here], self.work.unit_end_s[here], amounts)

    def unit_pulses(self, node_class: int) -> list[Pulse]:
        """Number of units on the nodes of a class."""
        here = (self.class_of_unit == node_class) & self.work.unit_counts
        ones = np.ones(int(here.sum()), dtype=np.int64)
        return self._profile(self.work.unit_start_s[here], self.work.unit_end_s[here], ones)

    def power_pulses(self) -> list[Pulse]:
        """Power of the constant work [mW]."""
        return self._profile(self.work.start_s, self.work.end_s, self.work.power_mw)

    def energy_mws(self, start_s: int, end_s: int) -> int:
        """IT energy of the constant work and of all nodes that it leaves idle, between two moments [mW s]."""
        edges = np.array([start_s, end_s], dtype=np.int64)
        day = self.problem.horizon.length_s
        drawn = energy_between(edges, self.work.start_s, np.minimum(self.work.end_s, day), self.work.power_mw)
        idle = int(self.problem.nodes.asleep_mw.sum()) * (end_s - start_s)
        saved = energy_between(edges, self.work.unit_start_s, np.minimum(self.work.unit_end_s, day), self.idle_saved_mw)
        return int(drawn[0]) + idle - int(saved[0])

    def _profile(self, start_s: Ints, end_s: Ints, height: Ints) -> list[Pulse]:
        """The sum of pulses, as disjoint pulses with different neighbours."""
        day = self.problem.horizon.length_s
        start_s, end_s = np.minimum(start_s, day), np.minimum(end_s, day)
        moments, where = np.unique(np.concatenate([start_s, end_s]), return_inverse=True)
        change = np.zeros(len(moments), dtype=np.int64)
        np.add.at(change, where, np.concatenate([height, -height]))
        turns = np.flatnonzero(change)
        levels = np.cumsum(change)[turns]
        times = moments[turns]
        return [(int(times[k]), int(times[k + 1]), int(levels[k])) for k in range(len(turns) - 1) if levels[k] != 0]


def _constant_jobs(problem: Problem, others: Plan) -> Iterator[tuple[JobColumns, int, float]]:
    """Started jobs, then placed ones: their columns, index, and seconds within the day, as much as these count."""
    columns, segments = problem.columns, problem.segment_columns
    seconds = segments.counted_s(problem.running_start_s, problem.running_end_s)
    for index in range(len(problem.running)):
        yield problem.running_columns, index, float(seconds[index])
    seconds = segments.counted_s(others.start_s, others.start_s + columns.duration_s)
    for job in np.flatnonzero(others.is_placed):
        yield columns, int(job), float(seconds[job])
