"""Random small replays on which everything happens: jobs are cancelled, nodes go and return, estimates are wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.domain.trace import Trace
from planner.domain.waiting_queue import QueueAnswer, QueuePlan, WaitingQueue
from planner.online.estimates import estimate_named
from planner.online.holding import NO_HOLDING, Holding
from planner.online.initial_state import Past
from planner.online.outages import Outages
from planner.online.policies import policy_named
from planner.online.predictors import Predictor
from planner.online.replay import CORRECTIONS, Replay, replay
from tests.online.traces import as_nodes, one_group_each, random_cluster_trace, random_trace


@dataclass(frozen=True)
class HardDay:
    """A trace and all that happens to it."""

    trace: Trace
    estimate: np.ndarray | None
    outages: Outages
    cancel_s: np.ndarray
    deadline_s: np.ndarray
    correction: str
    rounds: str
    holding: Holding = NO_HOLDING

    def replay(
        self,
        policy: str,
        *,
        until_s: int | None = None,
        past: Past | None = None,
        predictor: Predictor | None = None,
    ) -> Replay:
        """Replay it; with a predictor of its own where there are no estimates."""
        estimate = self.estimate
        if estimate is None:
            estimate = predictor or estimate_named("last2").make(self.trace)  # type: ignore[assignment]
        assert estimate is not None
        return replay(
            self.trace,
            policy_named(policy),
            estimate,
            correction=self.correction,
            rounds=self.rounds,
            deadline_s=self.deadline_s,
            holding=self.holding,
            outages=self.outages,
            cancel_s=self.cancel_s,
            until_s=until_s,
            past=past,
            solver=nothing_found,
        )


def nothing_found(queue: WaitingQueue, known: QueuePlan, *, from_known: bool) -> QueueAnswer:
    """An engine for the policy ``cp`` that finds nothing, so that every round is list scheduling's."""
    return QueueAnswer()


def hard_day(seed: int, *, jobs: int = 16) -> HardDay:
    """A pool, nodes of one processor, or nodes of two classes (with a power limit or not), by the seed."""
    rng = np.random.default_rng(seed)
    kind = seed % 4
    if kind == 0:
        trace = random_trace(seed, jobs=jobs, processors=6)
    elif kind == 1:
        trace = as_nodes(random_trace(seed, jobs=jobs, processors=6))
    elif kind == 2:
        trace = one_group_each(random_cluster_trace(seed, jobs=jobs, power_limit=int(rng.choice([-1, 80]))))
    else:
        trace = random_cluster_trace(seed, jobs=jobs)
    wrong = np.maximum(1, (trace.requested_s * rng.uniform(0.2, 1.3, jobs)).astype(np.int64))
    estimates = (trace.requested_s, wrong, np.maximum(1, trace.runtime_s // 2), None)
    later = trace.submit_s + rng.integers(0, 150, jobs)
    return HardDay(
        trace=trace,
        estimate=estimates[int(rng.integers(0, 4))],
        outages=random_outages(rng, len(trace.machine.capacity)),
        cancel_s=np.where(rng.random(jobs) < 0.25, later, -1),
        deadline_s=np.where(rng.random(jobs) < 0.5, trace.submit_s + 3 * trace.requested_s + 40, -1),
        correction=list(CORRECTIONS)[int(rng.integers(0, 3))],
        rounds=str(rng.choice(["second", "second", "event"])),
    )


def random_outages(rng: np.random.Generator, nodes: int) -> Outages:
    """Up to five outages: announced or not, drained or not, their end known or not; they may overlap."""
    count = int(rng.integers(0, 6))
    start = rng.integers(0, 300, count)
    announced = rng.integers(0, 2, count) * rng.integers(1, 80, count)
    return Outages(
        node=rng.integers(0, nodes, count),
        start_s=start,
        end_s=start + rng.integers(1, 150, count),
        known_from_s=np.maximum(0, start - announced),
        drains=rng.random(count) < 0.3,
        is_open=rng.random(count) < 0.4,
    )
