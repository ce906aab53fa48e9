"""The metrics by name: how each is computed, what it means, and whether the trimming rule applies."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from planner.errors import InputError
from planner.metrics import measures
from planner.metrics.outcome import Outcome


@dataclass(frozen=True)
class Metric:
    """A metric: its name, formula in words, and function; ``trims`` is off for those of the machine as a whole."""

    name: str
    meaning: str
    of: Callable[[Outcome], float]
    trims: bool = True


_ALL = (
    Metric("bsld", "mean bounded slowdown, max(1, F / max(D, 10))", measures.bounded_slowdown),
    Metric("af", "mean flow time F [s]", measures.average_flow),
    Metric("awf", "flow time weighted by area, sum r D F / sum r D [s]", measures.area_weighted_flow),
    Metric("p2sf", "P^a SF with a = 2 [s]; p1sf, p4sf, ... for other a", measures.powered_flow),
    Metric("wait", "mean wait Q [s]", measures.mean_wait),
    Metric("wait95", "95th percentile of the wait Q [s]", measures.high_wait),
    Metric("max-wait", "longest wait Q [s]", measures.longest_wait),
    Metric("stretch", "mean stretch F / D", measures.mean_stretch),
    Metric("max-stretch", "largest stretch F / D", measures.largest_stretch),
    Metric("loc", "loss of capacity: share of the machine idle while enough waited", measures.loss_of_capacity, False),
    Metric("utilisation", "share of the machine in use from first submission to last end", measures.utilisation, False),
    Metric("makespan", "first submission to last end [s]", measures.makespan, False),
    Metric("deadlines", "jobs with a deadline", measures.deadline_jobs),
    Metric("misses", "jobs that end after their deadline", measures.deadline_misses),
    Metric("usage", "mean (completion - submit) / (deadline - submit), where there is one", measures.deadline_usage),
    Metric("held", "jobs that are held for cheaper hours", measures.held_jobs),
    Metric("hold", "mean hold of those jobs, from when the scheduler would have started them [s]", measures.mean_hold),
    Metric("max-hold", "longest hold [s]", measures.longest_hold),
    Metric("broken", "jobs that are held for longer than promised", measures.broken_promises),
    Metric("r2", "R2 of the first estimates against runtimes", measures.estimate_r2),
    Metric("under", "share of jobs that outlive their first estimate", measures.under_prediction),
)

METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}
MONEY: dict[str, str] = {
    "it_kwh": "IT energy [kWh]; like the following ones through the ledger of a scenario",
    "cooling_kwh": "cooling energy [kWh]",
    "pue": "energy of the site per IT energy",
    "energy_cost_eur": "cost of all bought energy",
    "revenue_eur": "what the resources used earn",
    "profit_eur": "revenue less all costs",
}
"""Metrics that need a scenario: what accounting says about the days of the replay."""

DEFAULT = ("bsld", "af", "awf", "p2sf", "wait", "stretch", "loc", "utilisation", "makespan")

_POWERED = re.compile(r"p(\d+(?:\.\d+)?)sf")


def metric_named(name: str) -> Metric:
    """The metric of that name; ``p3sf`` and the like are P^a SF with that a. InputError lists the known ones."""
    text = name.strip().lower()
    if text in METRICS:
        return METRICS[text]
    match = _POWERED.fullmatch(text)
    if match:
        power = float(match[1])
        return Metric(text, f"P^a SF with a = {power:g} [s]", partial(measures.powered_flow, power=power))
    raise InputError(f"unknown metric {name!r}; known: {', '.join([*METRICS, *MONEY])}")


def measure(outcome: Outcome, metrics: list[Metric], trimming: str) -> dict[str, float]:
    """The value of each metric."""
    steady = outcome.trimmed(trimming)
    return {metric.name: metric.of(steady if metric.trims else outcome) for metric in metrics}
