"""One cell of the study replayed and measured: waits, stretches, misses and how much of a deadline was used."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from planner.domain.columns import Ints
from planner.inputs.traces import Source, read_pool
from planner.online.drawn_deadlines import LEAST_S, draw_deadlines
from planner.online.estimates import estimate_named
from planner.online.policies import policy_named
from planner.online.replay import Replay
from planner.runs.simulate import Conduct, Measured, simulate
from planner.studies.deadlines.cells import BLIND, Cell, Choice

SHARES = tuple(round(0.025 * k, 3) for k in range(41))
"""Parts of the jobs that wait for which the longest wait is told."""


def measured_bytes(path: Path, choice: Choice, cell: Cell) -> bytes:
    """Replay a cell, check it, and pack its figures for each draw."""
    source = _source(path, replace(choice, estimate=""))
    percent, seed = (0.0, 0) if cell.policy in BLIND else (cell.draws[0].percent, cell.draws[0].seed)
    run = simulate(
        source,
        [policy_named(cell.policy)],
        [estimate_named(choice.estimate)],
        Measured.named(["wait"]),
        conduct=Conduct(deadline_percent=percent, seed=seed),
    )[0]
    rounds = run.replay.round_count
    trace = source.trace
    found = {
        "trace": {
            "processors": trace.machine.processors,
            "jobs": len(trace),
            "dropped": dict(source.intake.dropped),
            "days": round(float(trace.submit_s.max() - trace.submit_s.min()) / 86400, 1),
        },
        "cpu_s": round(run.cpu_s, 3),
        "rounds": rounds,
        "round_ms": 1000 * run.cpu_s / rounds if rounds else None,
        "draws": [
            {"percent": each.percent, "seed": each.seed}
            | draw_figures(run.replay, draw_deadlines(trace, each.percent, each.seed))
            for each in cell.draws
        ],
    }
    return json.dumps(found, sort_keys=True).encode()


@lru_cache(maxsize=1)
def _source(path: Path, choice: Choice) -> Source:
    """The trace; it is the same for many cells, one after the other."""
    source = read_pool(path, choice.processors, partitions=choice.partitions, queues=choice.queues)
    return source.first(choice.jobs)


def draw_figures(replay: Replay, due_s: Ints) -> dict[str, Any]:
    """Figures of a replay when some jobs have a deadline, -1 for the others."""
    trace = replay.trace
    wait_s, is_due = replay.wait_s, due_s >= 0
    stretch = (wait_s + trace.requested_s) / trace.requested_s
    room_s = due_s - trace.submit_s
    is_long = is_due & (room_s > LEAST_S)
    is_missed = is_due & (replay.end_s > due_s)
    usage = (replay.end_s - trace.submit_s)[is_due] / room_s[is_due]
    waited = wait_s[is_due] > 0
    found: dict[str, Any] = {
        "deadline_jobs": int(is_due.sum()),
        "deadline_jobs_24h": int((is_due & ~is_long).sum()),
        "deadline_jobs_10x": int(is_long.sum()),
        "misses_24h": int((is_missed & ~is_long).sum()),
        "misses_10x": int((is_missed & is_long).sum()),
        "usage": _mean(usage),
        "usage_waited": _mean(usage[waited]),
        "regular_waits_s": _quantiles(wait_s[~is_due]),
        "deadline_waits_s": _quantiles(wait_s[is_due]),
    }
    for name, chosen in (("all", np.ones(len(trace), dtype=np.bool_)), ("regular", ~is_due), ("deadline", is_due)):
        found |= {
            f"wait_{name}_s": _mean(wait_s[chosen]),
            f"waiting_{name}_fraction": _mean(wait_s[chosen] > 0),
            f"wait_of_waiting_{name}_s": _mean(wait_s[chosen & (wait_s > 0)]),
            f"stretch_{name}": _mean(stretch[chosen]),
            f"max_stretch_{name}": float(stretch[chosen].max()) if chosen.any() else None,
        }
    return found


def _quantiles(wait_s: Ints) -> list[float]:
    """Waits below which parts of the jobs that wait are, `SHARES` of them; empty where none waits."""
    waits = wait_s[wait_s > 0]
    return [] if not len(waits) else [round(float(each), 1) for each in np.quantile(waits, SHARES)]


def _mean(values: np.ndarray[tuple[int, ...], np.dtype[Any]]) -> float | None:
    return float(values.mean()) if len(values) else None
