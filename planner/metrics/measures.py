"""The metrics: Q wait, D runtime, F = Q + D, r width, R machine size; NaN where there is nothing to measure.

Sources: bounded slowdown after Feitelson (2001); AF, AWF and P^a SF after Goponenko, Lamar, Allan, Brandt and Dechev,
"Metrics for packing efficiency and fairness of HPC cluster batch job scheduling" (SBAC-PAD 2022); loss of capacity
after Zhang, Franke, Moreira and Sivasubramaniam (2000); deadlines after N'Takpé and Suter (2017).
"""

from __future__ import annotations

import math

import numpy as np

from planner.domain.columns import Floats, Ints
from planner.metrics.outcome import Outcome

SHORTEST_S = 10
"""Runtimes below this count as this in a bounded slowdown [s]."""


def bounded_slowdown(outcome: Outcome) -> float:
    """BSLD = mean max(1, F / max(D, 10))."""
    return _mean(np.maximum(1.0, outcome.flow_s / np.maximum(outcome.runtime_s, SHORTEST_S)))


def average_flow(outcome: Outcome) -> float:
    """AF = mean F [s]."""
    return _mean(outcome.flow_s)


def area_weighted_flow(outcome: Outcome) -> float:
    """AWF = sum r D F / sum r D [s]."""
    area = outcome.width * outcome.runtime_s
    return _ratio(float(np.sum(area * outcome.flow_s)), float(np.sum(area)))


def powered_flow(outcome: Outcome, power: float = 2.0) -> float:
    """P^a SF = (a+1)/(a+2) * sum r (F^(a+2) - Q^(a+2)) / sum r (F^(a+1) - Q^(a+1)) [s]."""
    flow, wait = outcome.flow_s.astype(np.float64), outcome.wait_s.astype(np.float64)
    above = outcome.width * (flow ** (power + 2) - wait ** (power + 2))
    below = outcome.width * (flow ** (power + 1) - wait ** (power + 1))
    return (power + 1) / (power + 2) * _ratio(float(np.sum(above)), float(np.sum(below)))


def mean_wait(outcome: Outcome) -> float:
    """Mean Q [s]."""
    return _mean(outcome.wait_s)


def mean_stretch(outcome: Outcome) -> float:
    """Mean F / D."""
    return _mean(outcome.flow_s / outcome.runtime_s)


def largest_stretch(outcome: Outcome) -> float:
    """Largest F / D."""
    return float(np.max(outcome.flow_s / outcome.runtime_s)) if len(outcome) else math.nan


def makespan(outcome: Outcome) -> float:
    """From the first submission to the last end [s]."""
    return float(outcome.end_s.max() - outcome.submit_s.min()) if len(outcome) else math.nan


def utilisation(outcome: Outcome) -> float:
    """Share of the machine that is in use from the first submission to the last end."""
    return _ratio(float(np.sum(outcome.width * outcome.runtime_s)), outcome.processors * makespan(outcome))


def loss_of_capacity(outcome: Outcome) -> float:
    """LOC = integral of min(width waiting, idle width) / (span * R)."""
    if not len(outcome):
        return math.nan
    moments = np.concatenate([outcome.submit_s, outcome.start_s, outcome.start_s, outcome.end_s])
    width, nothing = outcome.width, np.zeros(len(outcome))
    waits = np.concatenate([width, -width, nothing, nothing])
    runs = np.concatenate([nothing, nothing, width, -width])
    order = np.argsort(moments, kind="stable")
    moments = moments[order]
    waiting, running = np.cumsum(waits[order]), np.cumsum(runs[order])
    lost = np.minimum(waiting, outcome.processors - running)[:-1] * np.diff(moments)
    return _ratio(float(np.sum(lost)), outcome.processors * makespan(outcome))


def deadline_jobs(outcome: Outcome) -> float:
    """How many jobs have a deadline."""
    return float(np.count_nonzero(outcome.deadline_s >= 0))


def deadline_misses(outcome: Outcome) -> float:
    """How many jobs end after their deadline."""
    return float(np.count_nonzero((outcome.deadline_s >= 0) & (outcome.end_s > outcome.deadline_s)))


def deadline_usage(outcome: Outcome) -> float:
    """Mean of (completion - submit) / (deadline - submit) over the jobs with a deadline."""
    due = outcome.where(outcome.deadline_s >= 0)
    return _mean(due.flow_s / (due.deadline_s - due.submit_s))


def high_wait(outcome: Outcome) -> float:
    """95th percentile of the wait [s]."""
    return float(np.percentile(outcome.wait_s, 95)) if len(outcome) else math.nan


def longest_wait(outcome: Outcome) -> float:
    """The longest wait [s]."""
    return float(outcome.wait_s.max()) if len(outcome) else math.nan


def held_jobs(outcome: Outcome) -> float:
    """How many jobs were held; NaN where the policy holds none."""
    return float(len(_holds(outcome))) if _may_hold(outcome) else math.nan


def mean_hold(outcome: Outcome) -> float:
    """Mean time from when the scheduler would have started a held job until it was held no longer [s]."""
    return _mean(_holds(outcome))


def longest_hold(outcome: Outcome) -> float:
    """The longest such time [s]; NaN where no job is held."""
    holds = _holds(outcome)
    return float(holds.max()) if len(holds) else math.nan


def broken_promises(outcome: Outcome) -> float:
    """How many jobs were held for longer than promised; NaN where the policy holds none."""
    late = (outcome.promise_s >= 0) & (outcome.held_until_s > outcome.promise_s)
    return float(np.count_nonzero(late)) if _may_hold(outcome) else math.nan


def _may_hold(outcome: Outcome) -> bool:
    return bool(np.any(outcome.reference_s >= 0))


def _holds(outcome: Outcome) -> Ints:
    is_held = outcome.held_until_s >= 0
    found: Ints = (outcome.held_until_s - outcome.reference_s)[is_held]
    return found


def estimate_r2(outcome: Outcome) -> float:
    """R2 of the first estimates: 1 - sum (E - D)^2 / sum (D - mean D)^2."""
    runtime = outcome.runtime_s.astype(np.float64)
    spread = float(np.sum((runtime - _mean(runtime)) ** 2)) if len(outcome) else 0.0
    return 1 - _ratio(float(np.sum((outcome.estimate_s - runtime) ** 2)), spread)


def under_prediction(outcome: Outcome) -> float:
    """Share of jobs that outlive their first estimate."""
    return _mean(outcome.estimate_s < outcome.runtime_s)


def _mean(values: Floats | np.ndarray[tuple[int, ...], np.dtype[np.int64 | np.bool_]]) -> float:
    return float(np.mean(values)) if len(values) else math.nan


def _ratio(above: float, below: float) -> float:
    return above / below if below else math.nan
