"""One cell of the study of dispatchers: a replay with what its dispatches took, or made-up queues dispatched once.

Made-up queues stand on nodes of one class, most of which run something: 20 cores and 64 GB each, as most of KIT ForHLR
II. Three of ten are free, two half free, five taken, for up to half a day. Jobs have 1 to 32 units of 1, 10 or 20
cores, and have waited for up to six hours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from planner.domain.columns import Ints
from planner.domain.trace import Machine, Trace
from planner.inputs.traces import Source, read_cluster
from planner.online.estimates import estimate_named
from planner.online.initial_state import Past
from planner.online.policies import EngineCounts, QueueSearch, policy_named
from planner.online.replay import make_ready, replay
from planner.online.round_watch import OutOfTimeError, RoundWatch
from planner.runs.measured_replays import Conduct, Measurement, RoundEngine, cpu_now_s, simulate
from planner.scenario.schema import Scenario

CAPACITY = np.array([20, 64], dtype=np.int64)
NOW_S = 20_000
"""The moment of the dispatch: later than the longest wait [s]."""

QUEUES_EACH = 3
"""Queues of each size; fewer where the time of the cell is over before."""


@dataclass(frozen=True)
class DispatchLimits:
    """How much dispatchers may try in a round, and how long a cell may take [s of CPU]."""

    engine: str
    time_limit_s: float
    dispatch_steps: int
    evaluations: int
    cell_s: float

    @property
    def round_engine(self) -> RoundEngine:
        """For the policies that an engine or a search of their own plans."""
        return RoundEngine(self.engine, self.time_limit_s, self.dispatch_steps)


def dispatch_figures(
    path: Path, scenario: Scenario, jobs: int | None, policy: str, estimate: str, limits: DispatchLimits
) -> dict[str, Any]:
    """Slowdown and waits of a replay until its end or until its time is over, and what its dispatches took."""
    source = read_cluster(path, scenario).first(jobs)
    watch = RoundWatch(cpu_now_s, limits.cell_s)
    try:
        found = _ended(source, policy, estimate, limits, watch)
    except OutOfTimeError as error:
        stopped = error.stopped
        counts = stopped.engine_counts
        found = {
            "cpu_s": watch.spent_s,
            "rounds": stopped.rounds,
            "engine": None if counts is None else asdict(counts),
            "stopped": {"moment_s": stopped.moment_s, "started": stopped.started, "waiting": stopped.waiting},
        }
    return found | {"jobs": len(source.trace), "nodes": len(source.trace.machine.capacity), **times(watch.dispatch_s)}


def _ended(source: Source, policy: str, estimate: str, limits: DispatchLimits, watch: RoundWatch) -> dict[str, Any]:
    """What a replay says that has come to its end."""
    run = simulate(
        source,
        [policy_named(policy)],
        [estimate_named(estimate).rounded()],
        Measurement.named(["stretch", "wait"]),
        conduct=Conduct(evaluations=limits.evaluations),
        engine=limits.round_engine,
        watch=watch,
    )[0]
    counts = run.replay.engine_counts
    return {
        **run.values,
        "longest_wait": int(run.replay.wait_s.max()),
        "cpu_s": run.cpu_s - watch.own_s,
        "rounds": run.replay.round_count,
        "engine": None if counts is None else asdict(counts),
        "stopped": None,
    }


def times(dispatch_s: Sequence[float]) -> dict[str, Any]:
    """How many dispatches there were, and what they took: the mean, 95 of 100 at most, and the most [ms]."""
    took = 1000 * np.array(dispatch_s)
    if len(took) == 0:
        return {"dispatches": 0, "dispatch_ms": None}
    all_but_few = float(np.quantile(took, 0.95, method="higher"))
    return {
        "dispatches": len(took),
        "dispatch_ms": {"mean": float(took.mean()), "most_of_95": all_but_few, "most": float(took.max())},
    }


def growth_figures(nodes: int, jobs: int, policy: str, limits: DispatchLimits) -> dict[str, Any]:
    """What one dispatch takes: made-up queues of one size, each dispatched once; runtimes are known."""
    named = policy_named(policy)
    solver = limits.round_engine.solver(named, seed=0)
    make_ready(named, lambda trace: trace.runtime_s, solver, is_watched=True)
    took_s: list[float] = []
    started: list[int] = []
    counts = EngineCounts()
    for seed in range(QUEUES_EACH):
        if sum(took_s) > limits.cell_s:
            break
        queue = made_queue(nodes, jobs, seed)
        trace, watch = queue.trace(), RoundWatch(cpu_now_s)
        result = replay(
            trace,
            named,
            trace.runtime_s,
            past=queue.past(),
            until_s=NOW_S + 1,
            search=QueueSearch(limits.evaluations),
            solver=solver,
            watch=watch,
        )
        took_s.append(sum(watch.dispatch_s))
        started.append(int((result.start_s == NOW_S).sum()))
        if (told := result.engine_counts) is not None:
            pairs = zip(asdict(counts).values(), asdict(told).values(), strict=True)
            counts = EngineCounts(*(one + other for one, other in pairs))
    return {
        "queues": len(took_s),
        "dispatch_ms": 1000 * mean(took_s),
        "most_ms": 1000 * max(took_s),
        "started": mean(started),
        "engine": asdict(counts) if counts.rounds else None,
    }


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
