"""What a plan, the started work and outages hold, as the models and their repair look at it.

The audit has code of its own for the same question (`planner.accounting.room`): neither can hide a fault of the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planner.domain.columns import Ints
from planner.domain.plan import Plan
from planner.domain.problem import Problem


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
