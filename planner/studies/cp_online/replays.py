"""One cell of the study replayed and measured: metrics, time, and how long the queue was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from planner.domain.columns import Floats, Ints
from planner.inputs.traces import read_pool
from planner.online.estimates import estimate_named
from planner.online.policies import policy_named
from planner.online.replay import Replay
from planner.runs.simulate import Conduct, Measured, simulate
from planner.studies.cp_online.cells import METRICS, Cell

DAY_S = 86400
STRETCHES = 60
"""Points of the curve of queue lengths."""

SHARES = (0.5, 0.75, 0.9, 0.99, 1.0)
"""Parts of all rounds whose longest queue is told."""


def measured_bytes(path: Path, processors: int | None, jobs: int | None, cell: Cell, evaluations: int) -> bytes:
    """Replay a cell, check it, and pack its figures."""
    source = read_pool(path, processors).first(jobs)
    run = simulate(
        source,
        [policy_named(cell.policy)],
        [estimate_named(cell.estimate).rounded()],
        Measured.named([*METRICS, "wait"]),
        conduct=Conduct(seed=cell.seed, evaluations=evaluations),
    )[0]
    sizes = queue_in_rounds(run.replay)
    found: dict[str, Any] = {
        **run.values,
        "jobs": run.counted,
        "rounds": run.replay.round_count,
        "cpu_s": round(run.cpu_s, 3),
        "queue_quantiles": {f"{share:g}": int(np.quantile(sizes, share, method="higher")) for share in SHARES},
        "queue_by_day": queue_by_day(run.replay),
    }
    return json.dumps(found, sort_keys=True).encode()


def queue_in_rounds(replay: Replay) -> Ints:
    """How many jobs wait in each scheduling round, before any of them starts."""
    moments = np.unique(np.concatenate([replay.trace.submit_s, replay.end_s]))
    came = np.searchsorted(np.sort(replay.trace.submit_s), moments, side="right")
    gone = np.searchsorted(np.sort(replay.start_s), moments, side="left")
    return np.asarray(came - gone, dtype=np.int64)


def queue_by_day(replay: Replay) -> list[tuple[float, float]]:
    """Mean number of waiting jobs over equal stretches of the replay: the middle of each [days], and the mean."""
    first, last = int(replay.trace.submit_s.min()), int(replay.start_s.max())
    edges = np.linspace(first, max(last, first + 1), STRETCHES + 1)
    waited = _passed(edges, replay.trace.submit_s) - _passed(edges, replay.start_s)
    means = np.diff(waited) / np.diff(edges)
    middles = (edges[:-1] + edges[1:]) / 2 - first
    return [(round(float(day), 2), round(float(mean), 3)) for day, mean in zip(middles / DAY_S, means, strict=True)]


def _passed(edges: Floats, moments: Ints) -> Floats:
    """For each edge, the seconds that have passed since each of some moments before it, summed."""
    ordered = np.sort(moments).astype(np.float64)
    sums = np.concatenate([np.zeros(1), np.cumsum(ordered)])
    before = np.searchsorted(ordered, edges, side="right")
    return np.asarray(before * edges - sums[before], dtype=np.float64)
