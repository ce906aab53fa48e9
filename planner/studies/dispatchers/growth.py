"""What one dispatch takes as machine and queue grow: made-up queues, each dispatched once."""

from __future__ import annotations

import json
from dataclasses import asdict
from statistics import mean

from planner.online.policies import policy_named
from planner.online.replay import make_ready, replay
from planner.online.round_watch import RoundWatch
from planner.online.search_options import EngineCounts, QueueSearch
from planner.runs.simulate import cpu_now_s
from planner.studies.dispatchers.cells import Limits, QueueCell
from planner.studies.dispatches import NOW_S, made_queue

QUEUES_EACH = 3
"""Queues of each size; fewer where the time of the cell is over before."""


def dispatched_bytes(cell: QueueCell, limits: Limits) -> bytes:
    """Dispatch queues of one size, and pack what that took; runtimes are known."""
    policy = policy_named(cell.policy)
    solver = limits.round_engine.solver(policy, seed=0)
    make_ready(policy, lambda trace: trace.runtime_s, solver, is_watched=True)
    took_s: list[float] = []
    started: list[int] = []
    counts = EngineCounts()
    for seed in range(QUEUES_EACH):
        if sum(took_s) > limits.cell_s:
            break
        queue = made_queue(cell.nodes, cell.jobs, seed)
        trace, watch = queue.trace(), RoundWatch(cpu_now_s)
        result = replay(
            trace,
            policy,
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
    found = {
        "queues": len(took_s),
        "dispatch_ms": 1000 * mean(took_s),
        "most_ms": 1000 * max(took_s),
        "started": mean(started),
        "engine": asdict(counts) if counts.rounds else None,
    }
    return json.dumps(found, sort_keys=True).encode()
