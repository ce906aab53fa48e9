"""Jobs that must start in time: the best of all their starts, the energy that they draw, and the bound by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.accounting.audit import audit
from planner.accounting.bound import profit_bound
from planner.accounting.bound.offers import offers_of
from planner.accounting.bound.slots import cut_slots, job_energy, node_shares
from planner.accounting.intervals import overlap_s
from planner.accounting.settle import settle
from planner.domain.columns import Ints
from planner.domain.problem import Problem
from planner.domain.rates import Rates
from planner.search.decode import decode
from planner.search.orderings import ORDERINGS, job_order
from planner.units import MILLI
from tests.accounting.bound_days import odd_problem
from tests.factories import DAY
from tests.plain_day import HOUR, day, job

CHEAP_AT_SIX = (0.5,) * 6 + (0.1,)
"""A kWh costs 0.50 EUR until six o'clock and 0.10 EUR from then on."""


def some_promises(problem: Problem, seed: int) -> Ints:
    """Latest starts from the release on; some of them after the day."""
    rng = np.random.default_rng(seed)
    release = problem.columns.release_s
    within = rng.choice([0, 1, 1000, 3600, 20_000, DAY.length_s], len(release))
    return release + (within * rng.random(len(release))).astype(np.int64)


@pytest.mark.parametrize("seed", range(60))
def test_no_start_in_time_is_better_than_the_best(seed: int) -> None:
    """At random prices, the best of all seconds from release to latest start; 0 only for a job that may stay away."""
    problem, rng = odd_problem(seed), np.random.default_rng(seed)
    slots, shares = cut_slots(problem, int(rng.choice([1800, 3600, 14_400]))), node_shares(problem)
    latest = some_promises(problem, seed)
    offers = offers_of(problem, shares, np.zeros(0, dtype=np.int64), slots, latest)
    price = rng.normal(0.0, 1.0, (offers.uses.shape[1], len(slots)))
    best = np.where(latest < DAY.length_s, -np.inf, 0.0)
    for k in range(len(offers)):
        start = np.arange(offers.release_s[k], min(int(offers.latest_s[k]), DAY.length_s - 1) + 1)
        end = np.minimum(start + offers.duration_s[k], DAY.length_s)
        spent = offers.uses[k] @ (slots.integral(price, end) - slots.integral(price, start))
        earned = offers.eur_per_h[k] * (end - start) / HOUR - spent
        best[offers.job[k]] = max(best[offers.job[k]], earned.max())
    assert offers.best(price) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(40))
def test_jobs_draw_between_least_and_most_in_every_slot(seed: int) -> None:
    """The least and the most seconds over every start in time, worked out start by start, times the power."""
    problem = odd_problem(seed)
    slots, latest = cut_slots(problem, 7200), some_promises(problem, seed)
    least, most = np.zeros(len(slots)), np.zeros(len(slots))
    columns = problem.columns
    for k in range(len(columns)):
        start = np.unique(np.append(np.arange(columns.release_s[k], min(latest[k], DAY.length_s - 1), 60), latest[k]))
        start = start[start < DAY.length_s]
        # Where an edge is met between two of these minutes, the seconds change by less than a minute.
        seconds = overlap_s(slots.edges_s, start, start + columns.duration_s[k])
        power_kw = columns.power_mw[k] / MILLI**2
        if latest[k] < DAY.length_s:
            least += power_kw * seconds.min(axis=0) / HOUR
        most += power_kw * seconds.max(axis=0) / HOUR
    found = job_energy(problem, slots, latest)
    minute = columns.power_mw.sum() / MILLI**2 / 60
    assert np.all(found.least_kwh <= least)
    assert found.least_kwh == pytest.approx(least, abs=minute)
    assert np.all(found.most_kwh >= most)
    assert found.most_kwh == pytest.approx(most, abs=minute)


@pytest.mark.slow(keep=10)
@pytest.mark.parametrize("seed", range(25))
def test_no_plan_in_time_earns_more(seed: int) -> None:
    """With the starts of a plan promised, to the second or with some hours added, it earns at most the bound."""
    problem, rng = odd_problem(seed), np.random.default_rng(seed)
    for name in list(ORDERINGS)[:: 4 + seed % 3]:
        plan = decode(problem, job_order(problem, name))
        if [violation for violation in audit(problem, plan) if violation.rule != "deadline"]:
            continue
        slack_s = rng.choice([0, 900, 20_000], len(problem.jobs))
        latest = np.where(plan.is_placed, plan.start_s + slack_s, DAY.length_s)
        bound = profit_bound(problem, latest_start_s=latest, slot_s=7200)
        assert settle(problem, plan).profit_eur <= bound.profit_eur


def test_a_job_pays_what_its_promise_leaves() -> None:
    """2 h of 1 kW: 0.20 EUR from six o'clock on, 0.60 with one hour of it before six, 1.00 at once.

    It earns 0.80, at 0.10 per core-hour on four cores; with 0.40 and kept from waiting it loses 0.60, and must run.
    """
    problem = day(job("a", 2.0), prices=CHEAP_AT_SIX)
    for latest_h, spent in ((20, 0.2), (6, 0.2), (5, 0.6), (4, 1.0), (0, 1.0)):
        promised = np.array([latest_h * HOUR])
        assert profit_bound(problem, latest_start_s=promised).profit_eur == pytest.approx(0.8 - spent, abs=1e-6)
    poor = replace(problem, rates=Rates(0.05))
    assert profit_bound(poor, latest_start_s=np.array([0])).profit_eur == pytest.approx(0.4 - 1.0, abs=1e-6)
    assert profit_bound(poor, latest_start_s=np.array([24 * HOUR])).profit_eur == pytest.approx(0.2, abs=1e-6)


def test_two_that_must_start_share_the_machine() -> None:
    """Two jobs of 2 h on the one node, both by six: one from six on for 0.20 EUR, the other until six for 1.00.

    The bound mixes starts, and comes to within the cost of one hour.
    """
    problem = day(job("a", 2.0), job("b", 2.0), prices=CHEAP_AT_SIX)
    bound = profit_bound(problem, latest_start_s=np.array([6 * HOUR, 6 * HOUR]))
    assert 1.6 - 1.2 <= bound.profit_eur <= 1.6 - 1.2 + 0.4
    assert bound.slack_eur is not None


def test_a_demand_charge_begins_anew_with_each_bill() -> None:
    """1 kW for 2 h around noon, 1 EUR per kW: paid once for the day, or for each of its halves."""
    problem = day(job("a", 2.0, release_s=11 * HOUR), prices=(0.0,) * 12 + (0.1,), rates=Rates(0.1, 1.0, HOUR))
    promised = np.array([11 * HOUR])
    once = profit_bound(problem, latest_start_s=promised).profit_eur
    twice = profit_bound(problem, latest_start_s=promised, bills_s=(0, 12 * HOUR)).profit_eur
    assert once == pytest.approx(0.8 - 0.1 - 1.0, abs=1e-6)
    assert twice == pytest.approx(once - 1.0, abs=1e-6)
