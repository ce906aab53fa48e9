"""The variables of the profit model: one interval per job, and optional intervals for the nodes it may take."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from docplex.cp.expression import interval_var

from planner.cp.subproblem import Subproblem, must_start
from planner.domain.problem import Problem

Interval = Any
"""A docplex interval variable; docplex carries no types."""


@dataclass(frozen=True)
class Use:
    """While ``interval`` is present, ``units`` units of a group run on a place: a node, or a class when pooled."""

    interval: Interval
    job: int
    group: int
    place: int
    units: int


@dataclass(frozen=True)
class SeatChoice:
    """The seats among which the units of a group choose; seats of one node stand next to each other."""

    job: int
    group: int
    seats: tuple[Use, ...]
    taken: int


@dataclass
class Variables:
    """All decisions: when each job starts and what its units use."""

    jobs: dict[int, Interval] = field(default_factory=dict)
    fixed_uses: list[Use] = field(default_factory=list)
    choices: list[SeatChoice] = field(default_factory=list)

    @property
    def uses(self) -> list[Use]:
        """Everything that takes room."""
        return [*self.fixed_uses, *(seat for choice in self.choices for seat in choice.seats)]


def make_variables(problem: Problem, subproblem: Subproblem) -> Variables:
    """The intervals of a subproblem."""
    variables = Variables()
    for job in subproblem.jobs:
        variables.jobs[job] = _job_interval(problem, subproblem, job)
        kept = subproblem.kept_nodes(problem, job)
        if kept is not None:
            _use_kept_nodes(problem, variables, job, kept.tolist(), pooled=subproblem.pooled)
            continue
        for group in range(int(problem.columns.group_ptr[job]), int(problem.columns.group_ptr[job + 1])):
            if subproblem.pooled:
                _choose_class(problem, subproblem, variables, job, group)
            else:
                _choose_nodes(problem, subproblem, variables, job, group)
    return variables


def _job_interval(problem: Problem, subproblem: Subproblem, job: int) -> Interval:
    optional = subproblem.soft_deadlines or not must_start(problem, job)
    return interval_var(
        start=subproblem.starts_of(problem, job),
        size=subproblem.counted_duration(problem, job),
        optional=optional,
        name=f"job{job}",
    )


def _use_kept_nodes(problem: Problem, variables: Variables, job: int, nodes: list[int], *, pooled: bool) -> None:
    first = int(problem.columns.unit_ptr[job])
    places = [int(problem.nodes.class_of[node]) for node in nodes] if pooled else nodes
    counts: dict[tuple[int, int], int] = {}
    for unit, place in enumerate(places):
        key = int(problem.columns.unit_group[first + unit]), place
        counts[key] = counts.get(key, 0) + 1
    for (group, place), units in counts.items():
        variables.fixed_uses.append(Use(variables.jobs[job], job, group, place, units))


def _choose_class(problem: Problem, subproblem: Subproblem, variables: Variables, job: int, group: int) -> None:
    """A group goes to one class as a whole."""
    columns, interval = problem.columns, variables.jobs[job]
    units = int(columns.group_count[group])
    counts = [node_class.count for node_class in problem.cluster.classes]
    room = np.array([_copies(problem, group, k) * counts[k] for k in range(len(counts))])
    fitting = [int(k) for k in np.flatnonzero(room >= units)] or [int(np.argmax(room))]
    if len(fitting) == 1:
        variables.fixed_uses.append(Use(interval, job, group, fitting[0], units))
        return
    seats = tuple(
        Use(_seat(problem, subproblem, job, f"job{job}_group{group}_class{place}"), job, group, place, units)
        for place in fitting
    )
    variables.choices.append(SeatChoice(job, group, seats, 1))


def _choose_nodes(problem: Problem, subproblem: Subproblem, variables: Variables, job: int, group: int) -> None:
    """Each node offers a seat for every unit that it could take at once."""
    units = int(problem.columns.group_count[group])
    offered: list[int] = []
    for node in _allowed(problem, subproblem, job):
        offered += [node] * min(units, _copies(problem, group, int(problem.nodes.class_of[node])))
    if len(offered) == units:
        for node in sorted(set(offered)):
            variables.fixed_uses.append(Use(variables.jobs[job], job, group, node, offered.count(node)))
        return
    seats = []
    for position, node in enumerate(offered):
        copy = position - offered.index(node)
        name = f"job{job}_group{group}_node{node}" + (f"_{copy}" if copy else "")
        seats.append(Use(_seat(problem, subproblem, job, name), job, group, node, 1))
    variables.choices.append(SeatChoice(job, group, tuple(seats), units))


def _allowed(problem: Problem, subproblem: Subproblem, job: int) -> list[int]:
    if subproblem.nodes is None:
        return list(range(problem.cluster.node_count))
    return sorted({*subproblem.nodes, *subproblem.also_allowed.get(job, ())})


def _copies(problem: Problem, group: int, node_class: int) -> int:
    """How many units of a group an empty node of a class takes."""
    amount = problem.columns.group_amount[group]
    capacity = problem.nodes.capacity[problem.cluster.first_nodes[node_class]]
    asked = amount > 0
    return int(np.min(capacity[asked] // amount[asked]))


def _seat(problem: Problem, subproblem: Subproblem, job: int, name: str) -> Interval:
    return interval_var(size=subproblem.counted_duration(problem, job), optional=True, name=name)
