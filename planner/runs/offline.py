"""Off-line schedules of a trace as rows beside the on-line policies, checked and measured in the same way."""

from __future__ import annotations

import time
from dataclasses import replace

from planner.inputs.traces import Source
from planner.online.drawn_deadlines import draw_deadlines
from planner.online.objectives import Objective
from planner.online.offline import OfflineSchedule, improve_schedule, make_search_ready, require_pool
from planner.online.offline_search import OfflineSearch
from planner.online.policies import policy_named
from planner.online.queue_search import QueueSearch
from planner.online.replay import make_ready, replay
from planner.runs.simulate import USUAL, Conduct, Measured, OnRun, Run, checked_run


def simulate_offline(
    source: Source,
    objectives: list[Objective],
    measured: Measured,
    search: OfflineSearch,
    *,
    conduct: Conduct = USUAL,
    on_run: OnRun | None = None,
) -> list[Run]:
    """Improve for every objective what the on-line policy ``order`` for it does with actual runtimes."""
    trace = source.trace
    require_pool(trace)
    deadlines = draw_deadlines(trace, conduct.deadline_percent, conduct.seed)
    runs = []
    for objective in objectives:
        policy, name = policy_named(f"order-{objective.name}"), f"offline-{objective.name}"
        make_ready(trace, policy)
        make_search_ready()
        began = time.process_time()
        first = replay(
            trace,
            policy,
            trace.runtime_s,
            rounds=conduct.rounds,
            deadline_s=deadlines,
            search=QueueSearch(conduct.evaluations, conduct.seed),
        )
        found = improve_schedule(
            trace,
            objective,
            first.start_s,
            search,
            on_steps=None if on_run is None else lambda done, of, name=name: on_run(name, done, of),  # type: ignore[misc]
        )
        cpu_s = time.process_time() - began
        result = replace(first, start_s=found.start_s)
        remark = _remark(name, policy.name, found)
        runs.append(checked_run(source, (name, "actual"), result, measured, cpu_s, remark))
    return runs


def _remark(name: str, first: str, found: OfflineSchedule) -> str:
    """How far the search came; what is proven of how far it could come belongs at the end of this line."""
    part = found.value / found.first_value if found.first_value else 1.0
    return f"{name}: {100 * part:.2f} % of the objective of {first}, from which it started; {found.steps:,} steps"
