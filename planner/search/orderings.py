"""The orderings: the sequences in which the heuristic tries jobs.

Each key of `KEYS`, increasing (``+``) and decreasing (``-``). Ties go by submission: the older job first, then by
id as people count, so that no ordering depends on the order of the file. Jobs whose deadline falls on them today go
before all others, the tightest first, and before those the ones that are overdue: deferred more often than the site
allows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from planner.domain.columns import Floats, Ints, JobColumns
from planner.domain.job_order import (
    by_job,
    group_core_equivalents,
    job_core_equivalents,
    overdue_first,
    profit_per_kw,
    submission_rank,
)
from planner.domain.problem import Problem

Key = Callable[[Problem, JobColumns], Sequence[Floats | Ints]]
"""Columns to sort by, the first the most significant."""


def _earliest_start(problem: Problem, columns: JobColumns) -> Sequence[Ints]:
    return [columns.release_s]


def _latest_start(problem: Problem, columns: JobColumns) -> Sequence[Ints]:
    return [np.minimum(problem.horizon.length_s - columns.duration_s, columns.latest_start_s)]


def _duration(problem: Problem, columns: JobColumns) -> Sequence[Ints]:
    return [columns.duration_s]


def _units(problem: Problem, columns: JobColumns) -> Sequence[Ints]:
    return [np.diff(columns.unit_ptr)]


def _per_node(problem: Problem, columns: JobColumns) -> Sequence[Floats]:
    return [by_job(columns, group_core_equivalents(columns), np.maximum)]


def _total(problem: Problem, columns: JobColumns) -> Sequence[Floats]:
    return [job_core_equivalents(columns)]


def _area(problem: Problem, columns: JobColumns) -> Sequence[Floats]:
    return [job_core_equivalents(columns) * columns.duration_s]


def _power(problem: Problem, columns: JobColumns) -> Sequence[Ints]:
    return [columns.power_mw]


def _power_over_profit(problem: Problem, columns: JobColumns) -> Sequence[Floats]:
    return [-profit_per_kw(problem, columns)]


def _power_over_profit_short(problem: Problem, columns: JobColumns) -> Sequence[Floats | Ints]:
    return [-profit_per_kw(problem, columns), columns.duration_s]


def _power_over_profit_long(problem: Problem, columns: JobColumns) -> Sequence[Floats | Ints]:
    return [-profit_per_kw(problem, columns), -columns.duration_s]


KEYS: dict[str, tuple[Key, str]] = {
    "earliest-start": (_earliest_start, "first second at which the job may start"),
    "latest-start": (_latest_start, "last start that still ends today, or by the deadline"),
    "duration": (_duration, "requested time"),
    "units": (_units, "number of units"),
    "per-node": (_per_node, "core-equivalents of the job's largest unit"),
    "total": (_total, "core-equivalents of the whole job"),
    "area": (_area, "core-equivalents times requested time"),
    "power": (_power, "mean power"),
    "power-over-profit": (_power_over_profit, "mean power over profit"),
    "power-over-profit-short": (_power_over_profit_short, "mean power over profit, ties by shorter time"),
    "power-over-profit-long": (_power_over_profit_long, "mean power over profit, ties by longer time"),
}

ORDERINGS: tuple[str, ...] = tuple(f"{sign}{name}" for name in KEYS for sign in "+-")


def describe(ordering: str) -> str:
    """One sentence on an ordering."""
    return f"by {'increasing' if ordering[0] == '+' else 'decreasing'} {KEYS[ordering[1:]][1]}"


def job_order(problem: Problem, ordering: str) -> Ints:
    """Indices of the problem's jobs in the sequence of an ordering."""
    columns = problem.columns
    keys = list(KEYS[ordering[1:]][0](problem, columns))
    if ordering[0] == "-":
        keys[0] = -keys[0]
    urgent_first = np.where(columns.latest_start_s < problem.horizon.length_s, columns.latest_start_s, np.inf)
    # np.lexsort takes the least significant key first.
    return overdue_first(
        problem, np.lexsort((submission_rank(problem), *reversed(keys), urgent_first)).astype(np.int64)
    )
