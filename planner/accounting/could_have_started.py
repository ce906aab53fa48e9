"""Room and turns in a finished plan: could a job have started as well? Written for the audit, apart from any search.

A unit of length d cannot start at t on a node if the node lacks room anywhere in [t, t + d). So every stretch
[b, e) in which a node lacks room forbids the starts (b - d, e). A job of U equal units can start at t when the
nodes, each counted once for every unit that it could take, less those that forbid t, are at least U. It is enough
to look at the release and at the ends of forbidden stretches.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from planner.domain.columns import Ints, JobColumns
from planner.domain.plan import Plan, copies_of, is_decidable, main_group, nodes_for
from planner.domain.problem import Problem

FOR_EVER = np.int64(2**50)


@dataclass(frozen=True)
class Occupation:
    """Everything that holds nodes: one row per unit, or per job."""

    unit_node: Ints
    unit_start_s: Ints
    unit_end_s: Ints
    unit_amount: Ints
    job_start_s: Ints
    job_end_s: Ints
    job_power_mw: Ints


def occupation(problem: Problem, plan: Plan, without: int | None = None) -> Occupation:
    """What the started jobs and a plan hold; ``without`` leaves one job of the plan out."""
    running, columns = problem.running_columns, problem.columns
    held = plan.is_placed
    if without is not None:
        held = held & (np.arange(len(held)) != without)
    units_of = np.diff(columns.unit_ptr)
    unit_held = np.repeat(held, units_of)
    running_start = problem.running_start_s
    start, end = plan.start_s[held], (plan.start_s + columns.duration_s)[held]
    return Occupation(
        unit_node=np.concatenate([problem.running_nodes, plan.node_of_unit[unit_held]]),
        unit_start_s=np.concatenate(
            [np.repeat(running_start, np.diff(running.unit_ptr)), np.repeat(start, units_of[held])]
        ),
        unit_end_s=np.concatenate(
            [np.repeat(problem.running_end_s, np.diff(running.unit_ptr)), np.repeat(end, units_of[held])]
        ),
        unit_amount=np.concatenate(
            [running.group_amount[running.unit_group], columns.group_amount[columns.unit_group[unit_held]]]
        ),
        job_start_s=np.concatenate([running_start, start]),
        job_end_s=np.concatenate([problem.running_end_s, end]),
        job_power_mw=np.concatenate([running.power_mw, columns.power_mw[held]]),
    )


@dataclass(frozen=True)
class StepTable:
    """What is free on each row over time: entries sorted by row and time, each until the next of its row."""

    row: Ints
    time_s: Ints
    free: Ints

    @cached_property
    def until_s(self) -> Ints:
        """End of each entry."""
        until = np.append(self.time_s[1:], FOR_EVER)
        until[np.append(self.row[1:] != self.row[:-1], True)] = FOR_EVER
        return until

    def forbidden_starts(self, blocked: npt.NDArray[np.bool_], duration: int) -> tuple[Ints, Ints]:
        """Sorted first and end moments of the starts at which work of this length would meet a blocked entry of a row.

        Entries are in order, and so are their ends: those of a row that overlap follow one another.
        """
        row, first, until = self.row[blocked], self.time_s[blocked] - duration + 1, self.until_s[blocked]
        opens = (row[1:] != row[:-1]) | (first[1:] > until[:-1])
        some = len(row) > 0
        return np.sort(first[np.append(some, opens)[: len(row)]]), np.sort(until[np.append(opens, some)[: len(row)]])


def step_table(capacity: Ints, row: Ints, start_s: Ints, end_s: Ints, amount: Ints) -> StepTable:
    """Free capacity of each row over time when each interval takes its amount from its row."""
    rows = np.concatenate([np.arange(len(capacity)), row, row])
    moments = np.concatenate([np.zeros(len(capacity), dtype=np.int64), start_s, end_s])
    changes = np.concatenate([np.zeros_like(capacity), amount, -amount])
    order = np.lexsort((moments, rows))
    rows, moments, changes = rows[order], moments[order], changes[order]
    # Every row's changes add up to nothing, so one running sum serves all rows.
    used = np.cumsum(changes, axis=0)
    last = np.append((rows[1:] != rows[:-1]) | (moments[1:] != moments[:-1]), True)
    return StepTable(rows[last], moments[last], capacity[rows[last]] - used[last])


class Room:
    """The room that a plan leaves, for questions about jobs that are not in it."""

    def __init__(self, problem: Problem, plan: Plan, without: int | None = None) -> None:
        held = occupation(problem, plan, without)
        self._columns: JobColumns = problem.columns
        self._node_count = len(problem.nodes.capacity)
        self._capacity = problem.nodes.capacity
        # A node that is down has nothing for new work, whatever else runs there: all of it is taken.
        down = np.array([(out.node, out.start_s, out.end_s) for out in problem.outages], dtype=np.int64).reshape(-1, 3)
        self._nodes = step_table(
            problem.nodes.capacity,
            np.concatenate([held.unit_node, down[:, 0]]),
            np.concatenate([held.unit_start_s, down[:, 1]]),
            np.concatenate([held.unit_end_s, down[:, 2]]),
            np.concatenate([held.unit_amount, problem.nodes.capacity[down[:, 0]]]),
        )
        self._site: StepTable | None = None
        if problem.cluster.power_limit_mw is not None:
            self._site = step_table(
                np.array([[problem.cluster.power_limit_mw]], dtype=np.int64),
                np.zeros(len(held.job_start_s), dtype=np.int64),
                held.job_start_s,
                held.job_end_s,
                held.job_power_mw[:, None],
            )

    def can_start(self, job: int, release: int, latest_s: int) -> bool:
        """Whether a job could start from its release to ``latest_s``.

        A job of so many sizes of units that it cannot be decided is said to fit nowhere.
        """
        columns = self._columns
        groups = range(int(columns.group_ptr[job]), int(columns.group_ptr[job + 1]))
        duration = int(columns.duration_s[job])
        counts = [int(columns.group_count[group]) for group in groups]
        if release > latest_s or (sum(counts) > max(counts) + 1 and not is_decidable(counts, self._node_count)):
            return False
        amounts = [columns.group_amount[group] for group in groups]
        forbidden = [self._forbidden_starts(a, n, duration) for a, n in zip(amounts, counts, strict=True)]
        moments = np.concatenate([[release], *(end for levels in forbidden for _, end in levels)])
        if len(groups) > 1:
            moments = np.concatenate([moments, self._nodes.time_s])
        veto = self._power_veto(int(columns.power_mw[job]), duration)
        if veto is not None:
            moments = np.concatenate([moments, veto[1]])
        moments = np.unique(moments[(moments >= release) & (moments <= latest_s)])
        fits = np.ones(len(moments), dtype=bool)
        if veto is not None:
            fits &= _count_at(*veto, moments) == 0
        for levels, count in zip(forbidden, counts, strict=True):
            room = sum(self._node_count - _count_at(*level, moments) for level in levels)
            fits &= np.asarray(room) >= count
        if len(groups) == 1:
            return bool(fits.any())
        return any(self._packs(int(moment), duration, amounts, counts) for moment in moments[fits])

    def _forbidden_starts(self, amount: Ints, count: int, duration: int) -> list[tuple[Ints, Ints]]:
        """For one unit on a node, for two at once, ...: sorted first and end moments of forbidden starts."""
        table = self._nodes
        levels = []
        for copies in range(1, count + 1):
            needed = copies * amount
            if not np.any(np.all(needed <= self._capacity, axis=1)):
                break
            levels.append(table.forbidden_starts(np.any(table.free < needed, axis=1), duration))
        return levels

    def _power_veto(self, power_mw: int, duration: int) -> tuple[Ints, Ints] | None:
        if self._site is None:
            return None
        return self._site.forbidden_starts(self._site.free[:, 0] < power_mw, duration)

    def _packs(self, start: int, duration: int, amounts: list[Ints], counts: list[int]) -> bool:
        """Whether units of several sizes fit at a start; a single odd one is tried on every node."""
        least = self._least_free(start, start + duration)
        if sum(counts) > max(counts) + 1:
            return nodes_for(least, amounts, counts) is not None
        main = main_group(counts)
        odd = 1 - main
        before = copies_of(least, amounts[main])
        takes_odd = np.all(least >= amounts[odd], axis=1)
        after = copies_of(least - amounts[odd], amounts[main])
        total = before.sum() - before + after
        return bool(np.any(takes_odd & (total >= counts[main])))

    def _least_free(self, start: int, end: int) -> Ints:
        """What each node has free all the way from start to end."""
        table = self._nodes
        inside = (table.time_s < end) & (table.until_s > start)
        least = self._capacity.copy()
        np.minimum.at(least, table.row[inside], table.free[inside])
        return least


def _count_at(starts: Ints, ends: Ints, moments: Ints) -> npt.NDArray[np.int64]:
    """How many half-open intervals hold at each moment, from their sorted starts and ends."""
    return np.searchsorted(starts, moments, side="right") - np.searchsorted(ends, moments, side="right")


def first_starts(problem: Problem, plan: Plan) -> Ints:
    """First second at which each job may start, from now on, with all other jobs where the plan has them."""
    first_s: Ints = np.maximum(ready_moments(problem, plan), problem.now_s)
    return first_s


def ready_moments(problem: Problem, plan: Plan) -> Ints:
    """When each job is submitted, may begin, and all that it waits for has come first, as the plan has it [s].

    `FOR_EVER` where a job that must come first does not run today. A job that is neither planned nor running nor
    refused is long gone.
    """
    released = [problem.horizon.to_s(job.release_unix) for job in problem.jobs]
    first_s: Ints = np.array(released, dtype=np.int64)
    if not any(job.after for job in problem.jobs):
        return first_s
    planned = dict(zip((job.id for job in problem.jobs), plan.start_s.tolist(), strict=True))
    lengths_s = {job.id: job.planned_s for job in problem.jobs}
    held_until_s = {work.job.id: work.end_s for work in problem.running}
    for index, job in enumerate(problem.jobs):
        for needed in job.after:
            other = needed.job_id
            allowed_s = held_until_s.get(other, 0) if needed.waits_for_end else 0
            if other in planned:
                allowed_s = planned[other] + (lengths_s[other] if needed.waits_for_end else 0)
            if other in problem.never or (other in planned and planned[other] < 0):
                allowed_s = int(FOR_EVER)
            first_s[index] = max(first_s[index], allowed_s)
    return first_s
