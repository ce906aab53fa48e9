"""Keys that orders of jobs are made of: who is overdue, who came first, what a job asks and what it earns."""

from __future__ import annotations

import numpy as np

from planner.domain.columns import Floats, Ints, JobColumns
from planner.domain.problem import Problem
from planner.units import MILLI


def overdue_first(problem: Problem, order: Ints) -> Ints:
    """The same sequence with the overdue jobs before all others."""
    if not problem.overdue:
        return order
    goes_first = problem.is_overdue[order]
    return np.concatenate([order[goes_first], order[~goes_first]])


def predecessors_first(problem: Problem, order: Ints) -> Ints:
    """The same sequence with every job after those that it waits for."""
    links = problem.columns.links
    return links.sorted(order) if len(links) else order


def by_priority(problem: Problem, order: Ints) -> Ints:
    """The same sequence with jobs of high priority before others."""
    return order[np.argsort(-problem.priority[order], kind="stable")]


def group_core_equivalents(columns: JobColumns) -> Floats:
    """Core-equivalents of a unit of each group on the first class that it fits."""
    by_class = columns.group_core_equivalents
    first = np.argmax(by_class > 0, axis=1) if len(by_class) else np.zeros(0, dtype=np.int64)
    picked: Floats = by_class[np.arange(len(first)), first]
    return picked


def job_core_equivalents(columns: JobColumns) -> Floats:
    """Core-equivalents of each whole job."""
    return by_job(columns, group_core_equivalents(columns) * columns.group_count, np.add)


def job_charged(columns: JobColumns) -> Floats:
    """Core-hours that an hour of each whole job is charged as."""
    return by_job(columns, columns.group_charged * columns.group_count, np.add)


def job_eur_per_hour(problem: Problem, columns: JobColumns) -> Floats:
    """What each whole job earns in an hour."""
    earned: Floats = job_charged(columns) * columns.weight * problem.rates.eur_per_charged_hour
    return earned


def profit_per_kw(problem: Problem, columns: JobColumns) -> Floats:
    """Profit that a job earns per kW that it draws and hour that it runs, at the day's mean price.

    Mean power over profit, increasing, is the same order as this, decreasing; this one also sorts jobs that lose
    money where they belong, at the end.
    """
    segments = problem.segment_columns
    price = float(np.average(segments.price_eur_per_kwh + segments.fee_eur_per_kwh, weights=segments.length_s))
    earned = job_eur_per_hour(problem, columns)
    power_kw = columns.power_mw / MILLI**2
    margin: Floats = np.full(len(columns), np.inf)
    np.divide(earned - power_kw * price, power_kw, out=margin, where=power_kw > 0)
    return margin


def cooled_prices(problem: Problem) -> Floats:
    """Price of a kWh of IT with its carbon and its cooling in each segment, at half the table's power [EUR]."""
    table, segments = problem.table, problem.segment_columns
    cooling = table.cells(np.array(len(table.cooling) // 2), segments.temperature_c)
    cooled: Floats = segments.full_price_eur_per_kwh * (1 + cooling)
    return cooled


def by_job(columns: JobColumns, per_group: Floats, how: np.ufunc) -> Floats:
    """One value per job from one per group, put together by a function such as ``np.add``."""
    if not len(columns):
        return np.zeros(0)
    reduced: Floats = how.reduceat(per_group, columns.group_ptr[:-1])
    return reduced
