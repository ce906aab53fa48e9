"""The policy ``order`` where more jobs wait than it searches: the most urgent ones are searched, nobody is lost."""

from __future__ import annotations

import numpy as np
import pytest

from planner.domain.trace import Trace, pool_trace
from planner.online.audit_replay import violations
from planner.online.kernel.order_policy import MOST_SEARCHED
from planner.online.policies import QueueSearch, policy_named
from planner.online.replay import Replay, replay
from tests.online.traces import as_nodes

JOBS = 2 * MOST_SEARCHED + 40


def long_queue(processors: int, widest: int, seed: int = 1) -> Trace:
    """Jobs of different lengths that all come at once."""
    rng = np.random.default_rng(seed)
    length, width = rng.permutation(JOBS) + 30, rng.integers(1, widest + 1, JOBS)
    names = tuple(f"j{k}" for k in range(JOBS))
    return pool_trace(names, np.zeros(JOBS, dtype=np.int64), length, length, width, processors)


def played(trace: Trace, policy: str, evaluations: int = 0) -> Replay:
    """A replay that compares the known orders alone, or some more per job."""
    return replay(trace, policy_named(policy), trace.runtime_s, search=QueueSearch(evaluations))


@pytest.mark.parametrize("objective", ["af", "stretch", "bsld-ahead", "af-ahead"])
def test_on_one_processor_the_shortest_of_all_go_first(objective: str) -> None:
    """That is the best order of all jobs for these sums, though only some of them are searched at a time."""
    trace = long_queue(processors=1, widest=1)
    result = played(trace, f"order-{objective}")
    assert np.argsort(result.start_s).tolist() == np.argsort(trace.runtime_s).tolist()


def test_of_equally_urgent_jobs_the_first_submitted_are_searched() -> None:
    """For the work every job is as urgent as another; who starts is always among the oldest that wait."""
    result = played(long_queue(processors=1, widest=1), "order-awf", evaluations=1)
    for place, job in enumerate(np.argsort(result.start_s).tolist()):
        assert job < place + MOST_SEARCHED


@pytest.mark.parametrize("objective", ["awf", "p2sf-ratio"])
def test_all_jobs_of_a_long_queue_run_once(objective: str) -> None:
    """On a pool and on nodes, with room for all of them."""
    trace = long_queue(processors=24, widest=20)
    for machine in (trace, as_nodes(trace)):
        result = played(machine, f"order-{objective}")
        assert not violations(result)
        assert result.start_s.min() == 0


def test_small_jobs_of_a_long_queue_fill_the_gaps() -> None:
    """Jobs that are not searched start beside those that are, where there is room."""
    wide, length = 2 * MOST_SEARCHED, np.full(2 * MOST_SEARCHED + 1, 100)
    length[-1] = 50
    width = np.full(wide + 1, 3)
    width[-1] = 1
    names = tuple(f"j{k}" for k in range(wide + 1))
    trace = pool_trace(names, np.zeros(wide + 1, dtype=np.int64), length, length, width, 4)
    assert played(trace, "order-awf").start_s[-1] == 0
