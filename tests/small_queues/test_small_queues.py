"""A slice of the small queues; ``python -m tests.small_queues --count 300`` compares many more."""

from __future__ import annotations

from itertools import permutations

import pytest

from planner.cp import queue_costs
from planner.cp.engines.choose import ENGINES
from planner.cp.queue_solver import EngineSolver
from tests.online.test_queue_search import SUMS, small_queue, starts_in_order, total
from tests.small_queues.queues import best_sum, compare

SOLVERS = [EngineSolver(ENGINES["cpsat"], 60.0)]


@pytest.mark.parametrize("seed", range(7))
def test_search_and_engine_find_the_best_of_all_plans(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two to eight jobs, every objective that is a sum."""
    monkeypatch.setattr(queue_costs, "PRECISION", 1e-9)
    rows = compare(seed, SOLVERS)
    assert [(row.objective, row.best, row.wrong) for row in rows if row.wrong] == []
    assert {row.jobs for row in rows} == {2 + seed}
    assert all(set(row.found) == {"order", "cpsat"} for row in rows)


@pytest.mark.parametrize("seed", range(4))
def test_the_enumeration_is_that_of_all_orders(seed: int) -> None:
    trace = small_queue(seed, 5)
    for cost in SUMS.values():
        plain = min(total(trace, cost, starts_in_order(trace, each)) for each in permutations(range(1, 6)))
        assert best_sum(trace, cost) == pytest.approx(plain)
