"""One cell of the study replayed and measured: slowdown and waits, and what its dispatches took."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from planner.inputs.traces import Source, read_cluster
from planner.online.estimates import estimate_named
from planner.online.policies import policy_named
from planner.online.round_watch import OutOfTimeError, RoundWatch
from planner.runs.simulate import Measured, cpu_now_s, simulate
from planner.scenario.schema import Scenario
from planner.studies.dispatchers.cells import Cell, Limits


def measured_bytes(path: Path, scenario: Scenario, jobs: int | None, cell: Cell, limits: Limits) -> bytes:
    """Replay a cell until its end or until its time is over, check it, and pack its figures."""
    source = read_cluster(path, scenario).first(jobs)
    watch = RoundWatch(cpu_now_s, limits.cell_s)
    try:
        found = _ended(source, cell, limits, watch)
    except OutOfTimeError as error:
        stopped = error.stopped
        counts = stopped.engine_counts
        found = {
            "cpu_s": watch.spent_s,
            "rounds": stopped.rounds,
            "engine": None if counts is None else asdict(counts),
            "stopped": {"moment_s": stopped.moment_s, "started": stopped.started, "waiting": stopped.waiting},
        }
    told = found | {"jobs": len(source.trace), "nodes": len(source.trace.machine.capacity), **times(watch.dispatch_s)}
    return json.dumps(told, sort_keys=True).encode()


def _ended(source: Source, cell: Cell, limits: Limits, watch: RoundWatch) -> dict[str, Any]:
    """What a replay says that has come to its end."""
    run = simulate(
        source,
        [policy_named(cell.policy)],
        [estimate_named(cell.estimate).rounded()],
        Measured.named(["stretch", "wait"]),
        conduct=limits.conduct,
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
