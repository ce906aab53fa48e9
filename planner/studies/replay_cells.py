"""One cell of a study on a trace: the trace replayed, checked, and what each study measures of it, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from planner.domain.columns import Floats, Ints
from planner.domain.trace import LEAST_DEADLINE_S, draw_deadlines
from planner.inputs.traces import Source, read_pool
from planner.metrics import TRIMMING, measure
from planner.online.estimates import estimate_named
from planner.online.policies import policy_named
from planner.online.replay import Replay
from planner.runs.measured_replays import Conduct, Measurement, ReplayRun, outcome_of, simulate

DAY_S = 86400
STRETCHES = 60
"""Points of the curve of queue lengths."""

ROUND_SHARES = (0.5, 0.75, 0.9, 0.99, 1.0)
"""Parts of all rounds whose longest queue is told."""

WAIT_SHARES = tuple(round(0.025 * k, 3) for k in range(41))
"""Parts of the jobs that wait for which the longest wait is told."""

Told = dict[str, Any]


@lru_cache(maxsize=1)
def source_of(path: Path, processors: int | None = None, jobs: int | None = None, **more: Any) -> Source:
    """The first jobs of a trace; it is the same for many cells, one after the other."""
    return read_pool(path, processors, **more).first(jobs)


def _run(
    source: Source,
    policy: str,
    estimate: str,
    metrics: Sequence[str],
    conduct: Conduct,
    *,
    rounded: bool = False,
    trimming: str = "none",
) -> ReplayRun:
    believed = estimate_named(estimate)
    measured = Measurement.named(list(metrics), trimming)
    policies, estimates = [policy_named(policy)], [believed.rounded() if rounded else believed]
    return simulate(source, policies, estimates, measured, conduct=conduct)[0]


def queue_figures(
    path: Path,
    processors: int | None,
    jobs: int | None,
    policy: str,
    estimate: str,
    metrics: Sequence[str],
    seed: int,
    evaluations: int,
) -> Told:
    """Metrics, time, and how long the queue was; the jobs count that counted in what was published."""
    conduct = Conduct(seed=seed, evaluations=evaluations)
    source = source_of(path, processors, jobs, unrequested="drop")
    run = _run(source, policy, estimate, (*metrics, "wait"), conduct, rounded=True, trimming="last")
    sizes = queue_in_rounds(run.replay)
    return {
        **run.values,
        "jobs": run.counted,
        "rounds": run.replay.round_count,
        "cpu_s": round(run.cpu_s, 3),
        "queue_quantiles": {f"{share:g}": int(np.quantile(sizes, share, method="higher")) for share in ROUND_SHARES},
        "queue_by_day": queue_by_day(run.replay),
    }


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


def trimmed_figures(
    path: Path,
    processors: int | None,
    jobs: int | None,
    policy: str,
    estimate: str,
    metrics: Sequence[str],
    unrequested: str,
) -> Told:
    """Metrics with every rule on which jobs count."""
    source = source_of(path, processors, jobs, unrequested=unrequested)
    run = _run(source, policy, estimate, metrics, Conduct())
    outcome = outcome_of(run.replay)
    return {
        "jobs": len(outcome),
        "processors": source.trace.machine.processors,
        "cpu_s": round(run.cpu_s, 3),
        "trims": {rule: measure(outcome, list(Measurement.named(list(metrics)).metrics), rule) for rule in TRIMMING},
    }


def bsld_figures(
    path: Path, processors: int | None, jobs: int | None, policy: str, estimate: str, correction: str
) -> Told:
    """Bounded slowdown with a round after every event, and with at most one a second."""
    source = source_of(path, processors, jobs, unrequested="drop")
    conducts = {rounds: Conduct(correction=correction, rounds=rounds) for rounds in ("event", "second")}
    return {
        rounds: _run(source, policy, estimate, ["bsld"], conduct).values["bsld"] for rounds, conduct in conducts.items()
    }


def deadline_figures(
    path: Path,
    processors: int | None,
    jobs: int | None,
    selection: Mapping[str, Any],
    policy: str,
    estimate: str,
    replayed: tuple[float, int],
    draws: Sequence[tuple[float, int]],
) -> Told:
    """Figures for each draw, a percentage and a seed, of a replay with the deadlines of one of them."""
    source = source_of(path, processors, jobs, **selection)
    percent, seed = replayed
    run = _run(source, policy, estimate, ["wait"], Conduct(deadline_percent=percent, seed=seed))
    rounds, trace = run.replay.round_count, source.trace
    return {
        "processors": trace.machine.processors,
        "jobs": len(trace),
        "dropped": dict(source.intake.dropped),
        "days": round(float(trace.submit_s.max() - trace.submit_s.min()) / DAY_S, 1),
        "cpu_s": round(run.cpu_s, 3),
        "rounds": rounds,
        "round_ms": 1000 * run.cpu_s / rounds if rounds else None,
        "draws": [
            {"percent": percent, "seed": seed} | draw_figures(run.replay, draw_deadlines(trace, percent, seed))
            for percent, seed in draws
        ],
    }


def draw_figures(replay: Replay, due_s: Ints) -> Told:
    """Waits, stretches, misses and how much of a deadline was used, when some jobs have one, -1 for the others."""
    trace = replay.trace
    wait_s, is_due = replay.wait_s, due_s >= 0
    stretch = (wait_s + trace.requested_s) / trace.requested_s
    room_s = due_s - trace.submit_s
    is_long = is_due & (room_s > LEAST_DEADLINE_S)
    is_missed = is_due & (replay.end_s > due_s)
    usage = (replay.end_s - trace.submit_s)[is_due] / room_s[is_due]
    waited = wait_s[is_due] > 0
    found: Told = {
        "deadline_jobs": int(is_due.sum()),
        "deadline_jobs_24h": int((is_due & ~is_long).sum()),
        "deadline_jobs_10x": int(is_long.sum()),
        "misses_24h": int((is_missed & ~is_long).sum()),
        "misses_10x": int((is_missed & is_long).sum()),
        "usage": _mean(usage),
        "usage_waited": _mean(usage[waited]),
        "regular_waits_s": _quantiles(wait_s[~is_due]),
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
    """Waits below which parts of the jobs that wait are, `WAIT_SHARES` of them; empty where none waits."""
    waits = wait_s[wait_s > 0]
    return [] if not len(waits) else [round(float(each), 1) for each in np.quantile(waits, WAIT_SHARES)]


def _mean(values: np.ndarray[tuple[int, ...], np.dtype[Any]]) -> float | None:
    return float(values.mean()) if len(values) else None
