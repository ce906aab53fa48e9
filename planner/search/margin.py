"""What jobs are worth: profit by the second at the day's mean cost of energy and cooling."""

from __future__ import annotations

import numpy as np

from planner.domain.columns import Floats
from planner.domain.job_order import cooled_prices, job_eur_per_hour
from planner.domain.problem import Problem
from planner.units import MILLIWATT_SECONDS_PER_KWH, SECONDS_PER_HOUR


def job_margin_per_s(problem: Problem) -> Floats:
    """What each job earns a second less its cooled energy, at the day's mean price and half the table's power [EUR]."""
    columns = problem.columns
    mean_price = float(np.average(cooled_prices(problem), weights=problem.segment_columns.length_s))
    earned = job_eur_per_hour(problem, columns) / SECONDS_PER_HOUR
    return earned - columns.power_mw / MILLIWATT_SECONDS_PER_KWH * mean_price
