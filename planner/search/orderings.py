"""The orderings: the sequences in which the heuristic tries jobs.

Each key of `KEYS`, increasing (``+``) and decreasing (``-``). Ties go by submission: the older job first, then by
id as people count, so that no ordering depends on the order of the file. Jobs whose deadline falls on them today go
before all others, the tightest first, and before those the ones that are overdue: deferred more often than the site
allows.

What a job earns per watt is an estimate, made before anybody knows when it runs. Jobs whose estimates agree to two
significant digits are equals, and the last two keys say which of them goes first. That is our reading: the published
orderings break such ties by duration, and do not say what a tie is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from planner.domain.columns import Floats, Ints, JobColumns
from planner.domain.job_order import (
    by_job,
    cooled_prices,
    group_core_equivalents,
    job_core_equivalents,
    job_eur_per_hour,
    overdue_first,
)
from planner.domain.problem import Problem
from planner.domain.waits import wait_costs
from planner.units import MILLI, MILLIWATT_SECONDS_PER_KWH, SECONDS_PER_HOUR

DIGITS = 2
"""Significant digits of mean power over profit: jobs that agree in them are equals."""

Key = Callable[[Problem, JobColumns], Sequence[Floats | Ints]]
"""Columns to sort by, the first the most significant."""


def _earliest_start(problem: Problem, columns: JobColumns) -> Sequence[Ints]:
    return [columns.release_s]


def _latest_start(problem: Problem, columns: JobColumns) -> Sequence[Ints]:
    # A job too long to end today could still start no earlier than its release.
    last = np.maximum(problem.horizon.length_s - columns.duration_s, columns.release_s)
    return [np.minimum(last, columns.latest_start_s)]


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
    return [-_profit_per_watt(problem, columns)]


def _power_over_profit_short(problem: Problem, columns: JobColumns) -> Sequence[Floats | Ints]:
    return [-_profit_per_watt(problem, columns), columns.duration_s]


def _power_over_profit_long(problem: Problem, columns: JobColumns) -> Sequence[Floats | Ints]:
    return [-_profit_per_watt(problem, columns), -columns.duration_s]


def _profit_per_watt(problem: Problem, columns: JobColumns) -> Floats:
    """What each job earns over its whole run, at the day's mean cost of energy and cooling, per watt [EUR/W].

    Mean power over profit, increasing, is the same order as this, decreasing; this one also sorts jobs that lose money
    where they belong, at the end.
    """
    profit_eur, power_w = job_margin_per_s(problem) * columns.duration_s, columns.power_mw / MILLI
    per_watt: Floats = np.full(len(columns), np.inf)
    np.divide(profit_eur, power_w, out=per_watt, where=power_w > 0)
    return to_digits(per_watt, DIGITS)


def to_digits(values: Floats, digits: int) -> Floats:
    """Values rounded to so many significant digits."""
    rounded = values.copy()
    some = np.isfinite(values) & (values != 0)
    exponent = np.floor(np.log10(np.abs(values[some]))) - (digits - 1)
    whole = np.round(values[some] / 10.0**exponent)
    is_more = np.abs(whole) >= 10**digits  # 99.6 is 10 times ten, not 100: equal values must be one number
    rounded[some] = np.where(is_more, whole / 10, whole) * 10.0 ** (exponent + is_more)
    return rounded


KEYS: dict[str, tuple[Key, str]] = {
    "earliest-start": (_earliest_start, "first second at which the job may start"),
    "latest-start": (_latest_start, "last start that still ends today, or by the deadline; at least the first start"),
    "duration": (_duration, "requested time"),
    "units": (_units, "number of units"),
    "per-node": (_per_node, "core-equivalents of the job's largest unit"),
    "total": (_total, "core-equivalents of the whole job"),
    "area": (_area, "core-equivalents times requested time"),
    "power": (_power, "mean power"),
    "power-over-profit": (_power_over_profit, "mean power over profit of the whole job, to two digits"),
    "power-over-profit-short": (_power_over_profit_short, "mean power over profit, equals by shorter time"),
    "power-over-profit-long": (_power_over_profit_long, "mean power over profit, equals by longer time"),
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
    urgent_first = np.where(columns.latest_start_s < problem.starts_end_s, columns.latest_start_s, np.inf)
    # np.lexsort takes the least significant key first.
    return overdue_first(problem, np.lexsort((problem.submission_rank, *reversed(keys), urgent_first)).astype(np.int64))


def job_margin_per_s(problem: Problem) -> Floats:
    """What each job earns a second less its cooled energy, at the day's mean price and half the table's power [EUR]."""
    columns = problem.columns
    mean_price = float(np.average(cooled_prices(problem), weights=problem.segment_columns.length_s))
    earned = job_eur_per_hour(problem, columns) / SECONDS_PER_HOUR
    return earned - columns.power_mw / MILLIWATT_SECONDS_PER_KWH * mean_price


def job_worth_per_core_s(problem: Problem) -> Floats:
    """What a second of a core is worth with each job [EUR]: its margin and, on a machine that cannot take all work, the
    waiting that its start saves. Where the queue empties all jobs start, and only the margin is looked at."""
    equivalents = job_core_equivalents(problem.columns)
    worth: Floats = np.zeros(len(equivalents))
    np.divide(job_margin_per_s(problem), equivalents, out=worth, where=equivalents > 0)
    if has_priced_queue(problem):
        table, work = problem.wait_prices, equivalents * problem.columns.duration_s
        starts_s = np.array(problem.horizon.length_s), problem.columns.release_s
        never, at_once = (wait_costs(table, each) for each in starts_s)
        worth += np.divide(never - at_once, work, out=np.zeros(len(work)), where=work > 0)
    return worth


def has_priced_queue(problem: Problem) -> bool:
    """Whether waiting has a price, and money after the day counts less: on a machine that is full or overloaded."""
    return bool(problem.waits) and not (problem.segment_columns.counts == 1).all()
