"""A slice of the small queues; ``python -m tests.small_queues --count 300`` compares many more."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from planner.cp import queue_model
from planner.cp.engines import ENGINES
from planner.cp.queue_model import EngineSolver
from planner.domain.trace import Trace
from planner.online.policies import policy_named
from planner.online.replay import replay
from tests.online.test_queue_search import SUMS, small_queue, starts_in_order, total
from tests.small_queues.enumeration import AT, Table, best_sum, choices_of
from tests.small_queues.queues import before, cluster_queue, compare

SOLVERS = [EngineSolver(ENGINES["cpsat"], 60.0)]


@pytest.mark.parametrize(
    ("machine", "seed"),
    [
        *(pytest.param("pool", k, marks=[pytest.mark.slow] if k > 2 else []) for k in range(7)),
        *(pytest.param("nodes", k, marks=[pytest.mark.slow] if k > 1 else []) for k in range(5)),
    ],
)
def test_search_and_engine_find_the_best_of_all_plans(machine: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two to eight jobs on a pool, two to six on nodes, every objective that is a sum."""
    monkeypatch.setattr(queue_model, "PRECISION", 1e-9)
    rows = compare(seed, SOLVERS, machine)
    assert [(row.objective, row.best, row.wrong) for row in rows if row.wrong] == []
    assert {row.jobs for row in rows} == {2 + seed}
    assert {row.witness for row in rows} == {"proof" if machine == "nodes" and seed > 3 else "enumeration"}
    assert [row.objective for row in rows] == list(SUMS)
    assert all(set(row.found) == {"order", "cpsat"} and not row.unproven for row in rows)


@pytest.mark.parametrize("seed", range(4))
def test_the_enumeration_is_that_of_all_orders(seed: int) -> None:
    trace = small_queue(seed, 5)
    for cost in SUMS.values():
        plain = min(total(trace, cost, starts_in_order(trace, each)) for each in permutations(range(1, 6)))
        assert best_sum(trace, cost, trace.width[:1, None]) == pytest.approx(plain)


@pytest.mark.parametrize("seed", range(12))
def test_the_enumeration_is_that_of_all_starts_on_all_nodes(seed: int) -> None:
    """Two short jobs at every combination of seconds and nodes."""
    trace = cluster_queue(seed, 2, longest=4)
    first = before(replay(trace, policy_named("list"), trace.runtime_s))
    latest = AT + int(trace.runtime_s.sum())
    ways = [list(product(range(AT, latest), choices_of(trace, job))) for job in (1, 2)]
    plans = [
        {job: start for job, (start, _) in enumerate(both, start=1)}
        for both in product(*ways)
        if is_possible(trace, [(0, first), *both])
    ]
    for cost in SUMS.values():
        plain = min(total(trace, cost, starts) for starts in plans)
        assert best_sum(trace, cost, first) == pytest.approx(plain)


def is_possible(trace: Trace, runs: list[tuple[int, Table]]) -> bool:
    """Whether the nodes have room enough at every start; at all other times fewer jobs run."""
    ends = [start + length for (start, _), length in zip(runs, trace.runtime_s.tolist(), strict=True)]
    return all(
        np.all(
            sum(asked for (start, asked), end in zip(runs, ends, strict=True) if start <= moment < end)
            <= trace.machine.capacity
        )
        for moment, _ in runs
    )
