"""The policy ``order`` beside plain enumeration: all orders of a small queue, and all starts of a tiny one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations, product

import numpy as np
import pytest

from planner.domain.trace import Trace, pool_trace
from planner.errors import InputError
from planner.online.check import violations
from planner.online.objectives import objective_named
from planner.online.policies import POLICIES, policy_named
from planner.online.queue_search import QueueSearch
from planner.online.replay import replay
from tests.online.traces import as_nodes, random_cluster_trace, random_trace

Cost = Callable[[int, int, int], float]
"""What a job of a width and a length costs after a wait."""

SUMS: dict[str, Cost] = {
    "af": lambda width, length, wait: wait + length,
    "awf": lambda width, length, wait: width * length * (wait + length),
    "bsld": lambda width, length, wait: max(1.0, (wait + length) / max(length, 10)),
    "p2sf": lambda width, length, wait: width * ((wait + length) ** 4 - wait**4),
    "p0.5sf": lambda width, length, wait: width * ((wait + length) ** 2.5 - wait**2.5),
    "bsld-ahead": lambda width, length, wait: (wait + length) * length**-0.4,
}
ENOUGH = QueueSearch(evaluations=400)


def small_queue(seed: int, jobs: int, *, longest: int = 40, processors: int = 6) -> Trace:
    """Jobs that all come at once, after one that came before and fills part of the pool."""
    rng = np.random.default_rng(seed)
    submit = np.array([0, *[5] * jobs])
    runtime = np.array([int(rng.integers(6, 12 + longest)), *rng.integers(1, longest + 1, jobs)])
    width = np.array([int(rng.integers(1, processors + 1)), *rng.integers(1, processors + 1, jobs)])
    return pool_trace(tuple(f"j{k}" for k in range(jobs + 1)), submit, runtime, runtime, width, processors)


def starts_in_order(trace: Trace, order: tuple[int, ...]) -> dict[int, int]:
    """Every job at its earliest second, one after another, by counting what is used in each second."""
    used: dict[int, int] = dict.fromkeys(range(int(trace.runtime_s[0])), int(trace.width[0]))
    found = {}
    for job in order:
        start, length, width = 5, int(trace.runtime_s[job]), int(trace.width[job])
        room = trace.machine.capacity[0, 0] - width
        while any(used.get(second, 0) > room for second in range(start, start + length)):
            start += 1
        for second in range(start, start + length):
            used[second] = used.get(second, 0) + width
        found[job] = start
    return found


def total(trace: Trace, cost: Cost, starts: dict[int, int]) -> float:
    """The objective of the jobs that come at once."""
    return sum(cost(int(trace.width[job]), int(trace.runtime_s[job]), start - 5) for job, start in starts.items())


def found_by(trace: Trace, policy: str, search: QueueSearch = ENOUGH) -> dict[int, int]:
    """The starts of the jobs that come at once under a policy."""
    result = replay(trace, policy_named(policy), trace.runtime_s, search=search)
    assert not violations(result)
    return {job: int(result.start_s[job]) for job in range(1, len(trace))}


@pytest.mark.parametrize("seed", range(24))
def test_no_order_of_a_small_queue_is_better(seed: int) -> None:
    """Runtimes are known and nobody comes later, so the whole replay is the plan of the first round, or better."""
    trace = small_queue(seed, 3 + seed % 4)
    plans = [starts_in_order(trace, each) for each in permutations(range(1, len(trace)))]
    for objective, cost in SUMS.items():
        best = min(total(trace, cost, starts) for starts in plans)
        assert total(trace, cost, found_by(trace, f"order-{objective}")) == pytest.approx(best)
        assert total(trace, cost, found_by(as_nodes(trace), f"order-{objective}")) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(10))
def test_no_schedule_at_all_is_better(seed: int) -> None:
    """Three short jobs at every combination of seconds: waiting for nothing never pays."""
    trace = small_queue(seed, 3, longest=4, processors=4)
    latest = 5 + int(trace.runtime_s.sum())
    every = [dict(zip(range(1, 4), starts, strict=True)) for starts in product(range(5, latest), repeat=3)]
    plans = [starts for starts in every if is_possible(trace, starts)]
    for objective, cost in SUMS.items():
        best = min(total(trace, cost, starts) for starts in plans)
        assert total(trace, cost, found_by(trace, f"order-{objective}")) == pytest.approx(best)


def is_possible(trace: Trace, starts: dict[int, int]) -> bool:
    """Whether there are processors enough at every start; at all other times fewer jobs run."""
    length, width, processors = trace.runtime_s.tolist(), trace.width.tolist(), trace.machine.processors
    runs = {0: 0, **starts}
    return all(
        sum(width[job] for job, start in runs.items() if start <= moment < start + length[job]) <= processors
        for moment in runs.values()
    )


@pytest.mark.parametrize("objective", SUMS)
def test_a_round_is_never_worse_than_the_list_plans(objective: str) -> None:
    """Without a single change the best list plan is taken, with changes one that is no worse."""
    cost = SUMS[objective]
    for seed in range(10):
        trace = small_queue(seed, 12, processors=8)
        lists = ("list", "sjf-list", "saf-list", "laf-list", "spf-list", "lrf-list")
        best = min(total(trace, cost, found_by(trace, each)) for each in lists)
        seeds = total(trace, cost, found_by(trace, f"order-{objective}", QueueSearch(0)))
        assert seeds <= best * (1 + 1e-12)
        assert total(trace, cost, found_by(trace, f"order-{objective}", QueueSearch(5))) <= best * (1 + 1e-12)


@pytest.mark.parametrize("objective", ["bsld", "p2sf"])
def test_a_plus_improves_each_of_the_published_seeds(objective: str) -> None:
    """It is no worse than they are, and differs from the plain form on some queues."""
    cost, seeds = SUMS[objective], [f"{order}-list" for order in objective_named(objective).seeds]
    differs = 0
    for seed in range(12):
        trace = small_queue(seed, 14, processors=8)
        plus = total(trace, cost, found_by(trace, f"order-{objective}+", QueueSearch(1)))
        plain = total(trace, cost, found_by(trace, f"order-{objective}", QueueSearch(1)))
        best = min(total(trace, cost, found_by(trace, each.replace("fcfs-", ""))) for each in seeds)
        assert plus <= best * (1 + 1e-12)
        differs += plus != plain
    assert differs


def test_replays_on_pools_and_nodes_break_no_rule_and_repeat() -> None:
    """Nodes of two classes with two resources, with wrong estimates; the same seed gives the same replay."""
    for seed in range(6):
        for trace in (random_trace(seed), random_cluster_trace(seed), random_cluster_trace(seed, power_limit=30_000)):
            for name in ("order-af", "order-p2sf-ratio", "order-bsld+"):
                runs = [replay(trace, policy_named(name), trace.requested_s, search=QueueSearch(3, 7)) for _ in "ab"]
                assert not violations(runs[0])
                assert np.array_equal(runs[0].start_s, runs[1].start_s)


def test_names_say_what_is_optimised() -> None:
    """Every known name leads to a policy of that name; what is not known is named with what is."""
    for name in POLICIES:
        if name.startswith("order"):
            assert policy_named(name).name == name
    assert policy_named("order").name == "order-af"
    assert policy_named("ORDER-P3SF").objective == objective_named("p3sf")
    with pytest.raises(InputError, match="unknown local objective 'speed'; known: af, awf, bsld, p2sf"):
        policy_named("order-speed")
    with pytest.raises(InputError, match="order-af\\+: no seeds were published"):
        policy_named("order-af+")
    with pytest.raises(InputError, match="unknown local objective 'p99sf'"):
        policy_named("order-p99sf")
