"""Claims about what jobs are worth to a search, before they have a start."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.domain.job_order import profit_per_kw
from planner.domain.waits import WaitPrice
from planner.search.orderings import job_margin_per_s, job_order, job_worth_per_core_s
from tests.plain_day import HOUR, day, job


def test_the_margin_of_a_job_is_its_revenue_less_its_energy() -> None:
    """4 cores at 0.10 EUR with a weight of 3 earn 1.20 EUR an hour; 2 kW cost 0.40 EUR at the day's mean price.

    That is the mean over time: an hour at 2.50 EUR/kWh and 23 at 0.10 EUR/kWh come to 0.20 EUR/kWh.
    """
    problem = day(job("a", 5, power_w=2000, weight=3), prices=(2.5, 0.1))
    assert job_margin_per_s(problem).tolist() == pytest.approx([0.80 / HOUR])
    # for each of its 2 kW
    assert profit_per_kw(problem, problem.columns).tolist() == pytest.approx([0.40])


def test_a_job_without_power_is_the_best_there_is() -> None:
    """It earns for nothing: it leads by profit for its power, and nothing is divided by 0."""
    problem = day(job("rich", 1, weight=9), job("free", 1, power_w=0))
    assert profit_per_kw(problem, problem.columns)[1] == np.inf
    assert job_order(problem, "+power-over-profit").tolist() == [1, 0]


def test_on_a_full_machine_the_waiting_that_a_start_saves_is_part_of_what_a_job_is_worth() -> None:
    """Both earn 0.40 - 0.10 EUR an hour on 4 cores: 0.075 EUR for a core and hour.

    A start at once saves 24 h at 0.01 EUR, a day older at the end: 0.24 * (1 + 24/48) = 0.36 EUR. For the job of 1 h
    that is 0.09 EUR more for a core and hour, for that of 9 h 0.01 EUR. It counts where later money counts less.
    """
    problem = day(job("short", 1), job("long", 9))
    waits = {each.id: WaitPrice(0, 0.01, 24 * HOUR, 0.0) for each in problem.jobs}
    margins = np.array([0.075, 0.075]) / HOUR
    assert job_worth_per_core_s(problem) == pytest.approx(margins)
    assert job_worth_per_core_s(replace(problem, waits=waits)) == pytest.approx(margins)
    full = replace(problem, segments=tuple(replace(one, counts=0.5) for one in problem.segments))
    assert job_worth_per_core_s(full) == pytest.approx(margins)
    saved = np.array([0.09, 0.01]) / HOUR
    assert job_worth_per_core_s(replace(full, waits=waits)) == pytest.approx(margins + saved)
