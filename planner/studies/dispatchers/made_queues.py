"""Made-up queues on nodes of one class, most of which run something: what a dispatcher is asked.

Nodes have 20 cores and 64 GB, as most of KIT ForHLR II. Three of ten are free, two half free, five taken, for up to
half a day. Jobs have 1 to 32 units of 1, 10 or 20 cores, and have waited for up to six hours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.domain.columns import Ints
from planner.domain.trace import Machine, Trace
from planner.online.past import Past

CAPACITY = np.array([20, 64], dtype=np.int64)
NOW_S = 20_000
"""The moment of the dispatch: later than the longest wait [s]."""


@dataclass(frozen=True, eq=False)
class MadeQueue:
    """Waiting jobs, highest slowdown first, and what runs: the amounts that each node has taken, and until when.

    Each job has one group of ``count`` units of ``amount``; times are in seconds, ``until_s`` from now, 0 for nothing.
    """

    length_s: Ints
    waited_s: Ints
    count: Ints
    amount: Ints
    taken: Ints
    until_s: Ints

    def trace(self) -> Trace:
        """The running jobs, one for each node that is taken, then the waiting ones as they came."""
        running = np.flatnonzero(self.until_s)
        came = np.argsort(-self.waited_s, kind="stable")
        count = np.concatenate([np.ones(len(running), dtype=np.int64), self.count[came]])
        amount = np.concatenate([self.taken[running], self.amount[came]])
        runtime = np.concatenate([NOW_S + self.until_s[running], self.length_s[came]])
        submit = np.concatenate([np.zeros(len(running), dtype=np.int64), NOW_S - self.waited_s[came]])
        return trace_of(submit, runtime, count, amount, len(self.taken))

    def past(self) -> Past:
        """What has started by the moment of the dispatch, and where."""
        running = np.flatnonzero(self.until_s)
        jobs = len(running) + len(self.length_s)
        unknown = np.full(jobs, -1, dtype=np.int64)
        start = np.where(np.arange(jobs) < len(running), 0, -1)
        waiting = np.full(int(self.count.sum()), -1, dtype=np.int64)
        return Past(NOW_S, start, np.concatenate([running, waiting]), unknown, unknown)


def made_queue(nodes: int, jobs: int, seed: int) -> MadeQueue:
    """A queue of this size on a machine of that size."""
    rng = np.random.default_rng(seed)
    length, waited = rng.integers(60, 80_000, jobs), rng.integers(0, NOW_S, jobs)
    order = np.argsort(-(waited + length) / length, kind="stable")
    count = np.minimum(2 ** rng.integers(0, 6, jobs), max(1, nodes // 4))
    amount = np.stack([rng.choice([20, 20, 10, 1], jobs), rng.integers(1, 64, jobs)], axis=1)
    halves = rng.choice([0, 1, 2], nodes, p=[0.3, 0.2, 0.5])
    until = np.where(halves > 0, rng.integers(60, 50_000, nodes), 0)
    return MadeQueue(length[order], waited[order], count, amount, halves[:, None] * CAPACITY // 2, until)


def trace_of(submit_s: Ints, runtime_s: Ints, count: Ints, amount: Ints, nodes: int) -> Trace:
    """Jobs in submit order, each with one group of ``count`` units of ``amount``, on so many nodes."""
    jobs = len(count)
    unknown = np.full(jobs, -1, dtype=np.int64)
    return Trace(
        ids=tuple(str(k) for k in range(jobs)),
        submit_s=submit_s,
        runtime_s=runtime_s,
        requested_s=runtime_s,
        width=count * amount[:, 0],
        machine=Machine(np.tile(CAPACITY, (nodes, 1))),
        group_ptr=np.arange(jobs + 1),
        group_count=count,
        group_amount=np.ascontiguousarray(amount),
        unit_ptr=np.concatenate([[0], np.cumsum(count)]),
        power_mw=np.zeros(jobs, dtype=np.int64),
        user=unknown,
        name=unknown,
        group=unknown,
        queue=unknown,
        source="made-up queue",
    )
