"""Replays on nodes keep the rules of the queue under every policy, looked at second by second."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from planner.domain.cluster import Cluster, NodeClass
from planner.domain.job import Job, UnitGroup
from planner.domain.trace import cluster_trace_of
from planner.online.policies import policy_named
from planner.online.replay import Replay, replay
from tests.queue_rules.rules import broken_rules, with_rules

CLUSTER = Cluster((NodeClass("cpu", 2, {"cores": 4}), NodeClass("gpu", 2, {"cores": 4, "gpus": 2})))
POLICIES = ("easy", "conservative", "list", "hold")


def jobs_of(seed: int) -> list[Job]:
    """Jobs that crowd four nodes for a few hundred seconds, most with rules."""
    rng = np.random.default_rng(seed)
    jobs = []
    for number in range(25):
        amounts = {"cores": float(rng.integers(1, 5))}
        units = (UnitGroup.of(int(rng.integers(1, 3)), amounts),)
        submit, length = int(rng.integers(0, 100)), int(rng.integers(1, 40))
        jobs.append(
            with_rules(rng, Job(f"j{number:02d}", submit, length + 5, units, 10.0, runtime_s=length), CLUSTER, 80)
        )
    return sorted(jobs, key=lambda job: (job.release_unix, job.id))


def replayed(jobs: list[Job], policy: str) -> Replay:
    runtime = np.array([job.runtime_s for job in jobs], dtype=np.int64)
    requested = np.array([job.requested_s for job in jobs], dtype=np.int64)
    trace = cluster_trace_of(jobs, runtime, requested, CLUSTER, origin_unix=0, source="test")
    return replay(trace, policy_named(policy), requested)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seed", range(4))
def test_replays_keep_the_rules(policy: str, seed: int) -> None:
    """Every job runs, within capacity at every second, and where and when it may."""
    jobs = jobs_of(seed)
    result = replayed(jobs, policy)
    assert result.is_started.all()
    pointers = result.trace.unit_ptr
    held = [
        (job, int(result.start_s[k]), int(result.end_s[k]), tuple(result.node_of_unit[pointers[k] : pointers[k + 1]]))
        for k, job in enumerate(jobs)
    ]
    assert broken_rules(CLUSTER, held, 0) == []
    assert result.wait_s.tolist() == [start - max(job.submit_unix, job.begin_unix or 0) for job, start, _, _ in held]
    for second in range(int(result.end_s.max())):
        cores: Counter[int] = Counter()
        for job, start, end, nodes in held:
            for node in nodes if start <= second < end else ():
                cores[node] += int(job.units[0].amount("cores"))
        assert max(cores.values(), default=0) <= 4


def test_the_rules_matter_in_these_replays() -> None:
    """The same jobs without rules break them: the test above can fail."""
    jobs = sorted(jobs_of(0), key=lambda job: job.submission_key)
    result = replayed([replace(job, classes=(), exclusive=False, begin_unix=None) for job in jobs], "easy")
    pointers = result.trace.unit_ptr
    held = [
        (job, int(result.start_s[k]), int(result.end_s[k]), tuple(result.node_of_unit[pointers[k] : pointers[k + 1]]))
        for k, job in enumerate(jobs)
    ]
    broken = " ".join(broken_rules(CLUSTER, held, 0))
    assert all(word in broken for word in ("on cpu", "on node", " at "))
