"""Work that is not to be decided: started jobs, jobs outside the subproblem, and outages, as constants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from planner.accounting.energy import energy_between
from planner.cp.pooled import busy_share
from planner.cp.subproblem import Subproblem
from planner.cp.used_room import UsedRoom
from planner.domain.columns import Ints, JobColumns
from planner.domain.plan import Plan
from planner.domain.problem import Problem
from planner.units import SECONDS_PER_HOUR

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
                charged = float(columns.group_charged[group, class_of[unit]])
                revenue += charged * float(columns.weight[job]) * seconds * rates
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
