"""A plan: a start and nodes for every job that runs today. It holds no money."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from planner.domain.columns import Ints
from planner.domain.problem import Problem
from planner.errors import InputError

DeferralKind = Literal["deferred", "rejected", "withdrawn"]
DEFERRED = -1
"""Start of a job that does not start today, and node of each of its units."""


@dataclass(frozen=True, slots=True)
class Placement:
    """One job's start [s from the start of the day] and the node of each of its units."""

    job_id: str
    start_s: int
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Deferral:
    """A job left for later (``deferred``), refused for good (``rejected``) or taken back (``withdrawn``); the reason.

    ``times`` counts the days that deferred it, this one included; 0 for the others. ``planned_start_s`` is when it is
    planned to start after the day, where that is known.
    """

    job_id: str
    kind: DeferralKind
    reason: str
    times: int = 0
    planned_start_s: int | None = None


@dataclass(frozen=True, eq=False)
class Plan:
    """Start of each job and node of each unit, in the order of the problem's jobs and units."""

    start_s: Ints
    node_of_unit: Ints

    def __post_init__(self) -> None:
        self.start_s.setflags(write=False)
        self.node_of_unit.setflags(write=False)

    @classmethod
    def of(cls, problem: Problem, placements: dict[str, Placement]) -> Plan:
        """A plan from placements by job id; jobs without one are deferred."""
        columns = problem.columns
        start_s = np.full(len(columns), DEFERRED, dtype=np.int64)
        node_of_unit = np.full(int(columns.unit_ptr[-1]), DEFERRED, dtype=np.int64)
        for index, job in enumerate(problem.jobs):
            placement = placements.get(job.id)
            if placement is not None:
                if len(placement.nodes) != job.unit_count:
                    raise InputError(f"job {job.id} has {job.unit_count} units on {len(placement.nodes)} nodes")
                start_s[index] = placement.start_s
                node_of_unit[columns.unit_ptr[index] : columns.unit_ptr[index + 1]] = placement.nodes
        return cls(start_s, node_of_unit)

    @property
    def is_placed(self) -> npt.NDArray[np.bool_]:
        """Which jobs start today."""
        return np.not_equal(self.start_s, DEFERRED)

    def placements(self, problem: Problem) -> Iterator[Placement]:
        """The placed jobs, in the order of the problem."""
        pointers = problem.columns.unit_ptr
        for index in np.flatnonzero(self.is_placed):
            nodes = self.node_of_unit[pointers[index] : pointers[index + 1]]
            yield Placement(problem.jobs[index].id, int(self.start_s[index]), tuple(nodes.tolist()))
