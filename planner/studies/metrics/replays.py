"""One cell of the study replayed and measured, with every trimming rule."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

from planner.inputs.traces import Source, read_pool
from planner.metrics.outcome import TRIMMING
from planner.metrics.registry import measure
from planner.online.estimates import estimate_named
from planner.online.policies import policy_named
from planner.runs.simulate import Measured, outcome_of, simulate
from planner.studies.metrics.cells import Cell
from planner.studies.published import METRICS

MEASURED = (*METRICS, "r2", "under")


def measured_bytes(path: Path, processors: int | None, jobs: int | None, cell: Cell) -> bytes:
    """Replay a cell, check it, and pack its figures by trimming rule."""
    source = _source(path, processors, cell.unrequested).first(jobs)
    measured = Measured.named(list(MEASURED))
    run = simulate(source, [policy_named(cell.policy)], [estimate_named(cell.estimate)], measured)[0]
    outcome = outcome_of(run.replay)
    found = {
        "jobs": len(outcome),
        "processors": source.trace.machine.processors,
        "cpu_s": round(run.cpu_s, 3),
        "trims": {rule: measure(outcome, list(measured.metrics), rule) for rule in TRIMMING},
    }
    return json.dumps(found, sort_keys=True).encode()


@lru_cache(maxsize=1)
def _source(path: Path, processors: int | None, unrequested: str) -> Source:
    """The trace; it is the same for many cells, one after the other."""
    return read_pool(path, processors, unrequested=unrequested)
