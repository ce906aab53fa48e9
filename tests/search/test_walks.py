"""The walks of the chains, pinned: the same seed takes the same steps on every machine and in every release.

Each walk is also held against the ledger. Whoever changes a search on purpose writes its new walks here.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from planner.accounting.settle import settle
from planner.domain.plan import Plan
from planner.domain.problem import Problem
from planner.search.decode import decode
from planner.search.kernel.search_state import CURRENT, Habits
from planner.search.orderings import job_order
from planner.search.rebuild import Chain
from tests.factories import random_problem
from tests.plain_day import day, job

STEPS = 70
HOTTEST = 0.02
"""Temperature of the second half of a walk [EUR]."""


def crowded(seed: int, *, extras: bool) -> Problem:
    """A small day with more jobs than room, so that some of them wait."""
    return replace(random_problem(np.random.default_rng(seed), jobs=18, extras=extras), defer="free")


WALKS = [
    # seed, sun and idle power, priced, wanders, exact, may refuse; steps, accepted and improving ones, and the walk
    (0, True, 1.0, 0.0, True, True, "70/54/6 c1b9ce918363"),
    (1, True, 0.5, 0.5, False, True, "70/29/9 720dff04ccbc"),
    (2, True, 0.0, 0.0, False, False, "70/38/12 9572a2bfc942"),
    (3, False, 0.5, 1.0, True, True, "70/19/15 54f394c381a5"),
    (4, False, 1.0, 0.3, False, False, "70/42/8 17b0d897860c"),
    (5, True, 0.7, 0.2, True, True, "70/54/3 5e10748ad93c"),
]


@pytest.mark.parametrize(("seed", "extras", "priced", "wanders", "exact", "may_refuse", "expected"), WALKS)
def test_the_walk_of_a_chain(
    seed: int, extras: bool, priced: float, wanders: float, exact: bool, may_refuse: bool, expected: str
) -> None:
    """On random days, with the ways of putting jobs back in all mixtures."""
    problem = crowded(seed, extras=extras)
    plan = decode(problem, job_order(problem, "+area"))
    assert walk(problem, plan, seed, Habits(4, 4, priced, wanders, exact, may_refuse)) == expected


@pytest.mark.parametrize(
    ("count", "placed", "expected"),
    [(9, 9, "70/32/1 dbdc929ae7d8"), (12, 12, "70/25/4 fb91e0cc5696"), (8, 0, "70/50/8 48506b2f1b2d")],
)
def test_the_walk_of_a_chain_among_equals(count: int, placed: int, expected: str) -> None:
    """Jobs of a node and 3 h each, of which eight have room: one job waits, or four do, or all do at first."""
    jobs = [job(f"j{k}", 3, weight=1 + k % 3) for k in range(count)]
    problem = day(*jobs, prices=(0.3, 0.1, 0.2))
    plan = decode(problem, job_order(problem, "+area")[:placed])
    assert walk(problem, plan, count, Habits(3, 2, 0.5, 0.2, True, True)) == expected


def test_the_last_demand_interval_may_be_shorter() -> None:
    """Of intervals of 50,000 s a day has one and a part of 36,400 s; the peak is that of the ledger on the way."""
    problem = crowded(3, extras=False)
    problem = replace(problem, rates=replace(problem.rates, demand_eur_per_kw=2.0, demand_interval_s=50_000))
    plan = decode(problem, job_order(problem, "+area"))
    assert settle(problem, plan).peak_kw > 0
    assert walk(problem, plan, 3, Habits(4, 4, 0.5, 0.2, True, False))


def walk(problem: Problem, plan: Plan, seed: int, habits: Habits) -> str:
    """Counts of a walk from a plan, and a hash of where it led; half of the steps are without heat, half with.

    The last random state stands for all draws on the way.
    """
    chain = Chain.from_plan(problem, plan, seed=seed, habits=habits)
    for heat in (0.0, HOTTEST):
        chain.run(STEPS // 2, heat)
        present = chain.present_plan()
        assert chain.state.profits[CURRENT] == pytest.approx(settle(problem, present).profit_eur, abs=1e-9)
    best = chain.best_plan()
    assert chain.best_profit_eur == pytest.approx(settle(problem, best).profit_eur, abs=1e-9)
    walked = [chain.state.stream.tolist(), present.start_s.tolist(), present.node_of_unit.tolist()]
    walked += [best.start_s.tolist(), best.node_of_unit.tolist()]
    counts = "/".join(map(str, chain.state.counts.tolist()))
    return f"{counts} {hashlib.sha256(repr(walked).encode()).hexdigest()[:12]}"
