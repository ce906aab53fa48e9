"""The bound of a day on which a job may not begin does not count the job."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.accounting.bound import profit_bound
from tests.factories import DAY, random_problem


def test_a_job_of_a_later_day_earns_nothing_today() -> None:
    """Without idle power and other jobs the day is worth nothing."""
    problem = random_problem(np.random.default_rng(3), jobs=1)
    (job,) = problem.jobs
    later = replace(problem, running=(), jobs=(replace(job, begin_unix=DAY.end_unix),))
    assert abs(profit_bound(later).profit_eur) < 1e-6
    assert profit_bound(replace(later, jobs=(job,))).profit_eur > 1e-3
