"""Off-line schedules of a trace as rows beside the on-line policies, checked and measured in the same way."""

from __future__ import annotations

import time
from dataclasses import replace

from planner.domain.books import Run
from planner.inputs.traces import Source
from planner.metrics.registry import measure, metric_named
from planner.online.drawn_deadlines import draw_deadlines
from planner.online.estimates import estimate_named
from planner.online.lower_bounds import BOUNDED, lower_bound
from planner.online.objectives import Objective
from planner.online.offline import OfflineSchedule, improve_schedule, make_search_ready, require_pool
from planner.online.policies import policy_named
from planner.online.replay import make_ready, replay
from planner.online.search_options import OfflineSearch, QueueSearch
from planner.runs.simulate import USUAL, Conduct, Measured, OnRun, checked_run, outcome_of


def simulate_offline(
    source: Source,
    objectives: list[Objective],
    measured: Measured,
    search: OfflineSearch,
    *,
    conduct: Conduct = USUAL,
    on_run: OnRun | None = None,
) -> list[Run]:
    """Improve for every objective what the on-line policy ``order`` for it does with actual runtimes.

    Beside it stands what no schedule can be below, where that can be proven.
    """
    trace = source.trace
    require_pool(trace)
    deadlines = draw_deadlines(trace, conduct.deadline_percent, conduct.seed)
    runs = []
    for objective in objectives:
        policy, name = policy_named(f"order-{objective.name}"), f"offline-{objective.name}"
        make_ready(policy, estimate_named("actual").make)
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
        run = checked_run(source, (name, "actual"), result, measured, cpu_s, remark)
        if search.bound_steps > 0 and objective.name in BOUNDED:
            run = _with_bound(run, objective.name, search.bound_steps)
        runs.append(run)
    return runs


def _remark(name: str, first: str, found: OfflineSchedule) -> str:
    """How far the search came."""
    part = found.value / found.first_value if found.first_value else 1.0
    return f"{name}: {100 * part:.2f} % of the objective of {first}, from which it started; {found.steps:,} steps"


def _with_bound(run: Run, metric: str, steps: int) -> Run:
    """The run with what no schedule can be below in its metric, and how far above that it is; all jobs count."""
    least = lower_bound(run.replay.trace, metric, steps=steps).value
    value = measure(outcome_of(run.replay), [metric_named(metric)], "none")[metric]
    gap = f"{100 * (value / least - 1):.1f} %"
    words = f"; {metric} is {value:,.2f}, and no schedule is below {least:,.2f}: a gap of {gap}"
    return replace(run, at_least=least, remark=run.remark + words)
