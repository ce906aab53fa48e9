"""Off-line schedules beside plain enumeration on tiny traces, and audited on a slice of a real one."""

from __future__ import annotations

import os
from functools import cache
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from planner.domain.columns import Ints
from planner.domain.trace import Trace, pool_trace
from planner.errors import InputError
from planner.inputs.traces import read_pool
from planner.online.offline import KNOWN, OfflineSchedule, improve_schedule, offline_objective
from planner.online.policies import OfflineSearch, policy_named
from planner.online.replay import replay
from tests.online.test_queue_search import SUMS, Cost
from tests.online.traces import as_nodes, placed, random_trace

DATA = Path(os.environ.get("PLANNER_DATA", "nowhere")) / "swf" / "KTH-SP2-filtered.swf.gz"


def tiny_trace(seed: int) -> Trace:
    """Two to six jobs that come within a short time and are in each other's way."""
    rng = np.random.default_rng(seed)
    jobs, processors = int(rng.integers(2, 7)), int(rng.integers(2, 7))
    runtime = rng.integers(1, 30, jobs)
    submit = np.sort(rng.integers(0, 25, jobs))
    width = rng.integers(1, processors + 1, jobs)
    return pool_trace(tuple(f"j{k}" for k in range(jobs)), submit, runtime, runtime, width, processors)


@cache
def active_schedules(seed: int) -> frozenset[tuple[int, ...]]:
    """The starts of all list plans of a tiny trace, which are all its active schedules."""
    trace = tiny_trace(seed)
    return frozenset(tuple(placed(trace, order)) for order in permutations(range(len(trace))))


def value(trace: Trace, cost: Cost, starts: Ints | tuple[int, ...]) -> float:
    """The sum of what all jobs cost."""
    return sum(
        cost(int(trace.width[job]), int(trace.runtime_s[job]), int(starts[job]) - int(trace.submit_s[job]))
        for job in range(len(trace))
    )


def assert_feasible(trace: Trace, starts: Ints) -> None:
    """Nobody starts before submission, and no second has more in use than there is."""
    assert (starts >= trace.submit_s).all()
    used = np.zeros(int((starts + trace.runtime_s).max() - starts.min()) + 1, dtype=np.int64)
    np.add.at(used, starts - starts.min(), trace.width)
    np.add.at(used, starts - starts.min() + trace.runtime_s, -trace.width)
    assert np.cumsum(used).max() <= trace.machine.capacity[0, 0]


def improved(trace: Trace, objective: str, steps: int, *, seed: int = 0, policy: str = "list") -> OfflineSchedule:
    """The schedule of a policy, improved for an objective."""
    first = replay(trace, policy_named(policy), trace.runtime_s).start_s
    return improve_schedule(trace, offline_objective(objective), first, OfflineSearch(steps, seed))


@pytest.mark.slow(keep=3)
@pytest.mark.parametrize("objective", SUMS)
def test_finds_the_best_of_all_active_schedules_of_tiny_traces(objective: str) -> None:
    """Every active schedule is the list plan of some order, and one of them is best for any such sum."""
    for seed in range(25):
        trace = tiny_trace(seed)
        best = min(value(trace, SUMS[objective], starts) for starts in active_schedules(seed))
        found = improved(trace, objective, 300, seed=seed)
        assert value(trace, SUMS[objective], found.start_s) == pytest.approx(best, rel=1e-9), f"seed {seed}"
        assert_feasible(trace, found.start_s)


def test_every_objective_with_a_name_is_enumerated() -> None:
    """No objective that users can name is left out above."""
    assert set(KNOWN) <= set(SUMS)


@pytest.mark.parametrize("objective", ["af", "awf", "bsld", "p2sf"])
def test_is_feasible_and_never_worse_than_the_first_schedule(objective: str) -> None:
    """Hot as it begins, a short search makes things worse, but what it hands back is no worse."""
    for seed in range(12):
        trace = random_trace(seed, jobs=60)
        first = replay(trace, policy_named(f"order-{objective}"), trace.runtime_s).start_s
        for steps in (0, 1, 40):
            found = improve_schedule(trace, offline_objective(objective), first, OfflineSearch(steps, seed))
            assert_feasible(trace, found.start_s)
            assert value(trace, SUMS[objective], found.start_s) <= value(trace, SUMS[objective], first) * (1 + 1e-9)
            assert found.value <= found.first_value


def test_the_first_schedule_stays_as_it_was() -> None:
    """The starts that come in are not written to."""
    trace = random_trace(3)
    first = replay(trace, policy_named("list"), trace.runtime_s).start_s
    before = first.copy()
    found = improve_schedule(trace, offline_objective("af"), first, OfflineSearch(40))
    assert (first == before).all()
    assert (found.start_s != first).any()


def test_the_same_seed_and_steps_give_the_same_schedule() -> None:
    """And another seed gives another."""
    trace = random_trace(5, jobs=150)
    one, two, other = (improved(trace, "awf", 5, seed=seed) for seed in (1, 1, 2))
    assert (one.start_s == two.start_s).all()
    assert one.steps == two.steps
    assert (one.start_s != other.start_s).any()


def test_a_time_limit_ends_the_search() -> None:
    """Within seconds, however many steps there might be."""
    trace = random_trace(5, jobs=150)
    first = replay(trace, policy_named("list"), trace.runtime_s).start_s
    found = improve_schedule(trace, offline_objective("af"), first, OfflineSearch(10**6, seconds=0.2))
    assert found.value < found.first_value
    assert 0 < found.steps < 10**6 * len(trace)


def test_nothing_is_done_where_nobody_waits() -> None:
    """One job after another on an empty machine, or no job at all."""
    ones = np.ones(3, dtype=np.int64)
    trace = pool_trace(("a", "b", "c"), np.array([0, 10, 20]), ones, ones, ones, 1)
    found = improve_schedule(trace, offline_objective("af"), trace.submit_s, OfflineSearch())
    assert (found.start_s == trace.submit_s).all()
    assert found.steps == 0
    none = np.zeros(0, dtype=np.int64)
    empty = pool_trace((), none, none, none, none, 1)
    assert len(improve_schedule(empty, offline_objective("af"), none, OfflineSearch()).start_s) == 0


def test_unknown_objectives_are_answered_with_the_known_ones() -> None:
    """Quotients are not known either: a sum is what the search can change job by job."""
    for name in ("", "wait", "p2sf-ratio", "p99sf"):
        with pytest.raises(InputError, match="known: af, awf, bsld, p2sf"):
            offline_objective(name)


def test_a_cluster_is_refused() -> None:
    """Nodes are not planned."""
    trace = as_nodes(random_trace(1))
    with pytest.raises(InputError, match="one pool of processors"):
        improve_schedule(trace, offline_objective("af"), trace.submit_s, OfflineSearch())


@pytest.mark.skipif(not DATA.exists(), reason="PLANNER_DATA has no KTH-SP2")
@pytest.mark.parametrize(("objective", "most"), [("af", 0.999), ("awf", 0.999), ("bsld", 0.8), ("p2sf", 0.999)])
def test_a_slice_of_a_real_trace_is_improved(objective: str, most: float) -> None:
    """The first 500 jobs of KTH-SP2, from what the on-line policy for the same objective did."""
    whole = read_pool(DATA).trace
    columns = (whole.submit_s, whole.runtime_s, whole.requested_s, whole.width)
    trace = pool_trace(whole.ids[:500], *(column[:500] for column in columns), 100)
    found = improved(trace, objective, 20, policy=f"order-{objective}")
    assert_feasible(trace, found.start_s)
    assert found.value < most * found.first_value
