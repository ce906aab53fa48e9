"""Metrics of what happened to jobs: what each means, and how it is computed; NaN where there is nothing to measure.

Q is the wait, D the runtime, F = Q + D, r the width, R the size of the machine. Sources: bounded slowdown after
Feitelson (2001); AF, AWF and P^a SF after Goponenko, Lamar, Allan, Brandt and Dechev, "Metrics for packing efficiency
and fairness of HPC cluster batch job scheduling" (SBAC-PAD 2022); loss of capacity after Zhang, Franke, Moreira and
Sivasubramaniam (2000); deadlines after N'Takpé and Suter (2017).

Late starts are counted beside a shadow of the same scheduler that holds nothing: who starts later, and by how much.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from typing import Protocol

import numpy as np

from planner.domain.columns import Floats, Ints
from planner.errors import InputError

Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]

TRIMMING: dict[str, str] = {
    "none": "all jobs",
    "steady": "without the first 1 % of completions and without what ends after the last submission",
    "last": "without the job that ends last",
}
"""Rules by which jobs are left out of a metric: steady after Tsafrir, Etsion and Feitelson (2007).

The figures of Goponenko et al. (2022) are met without the last job to end; on KTH-SP2 with it as well.
"""

SHORTEST_S = 10
"""Runtimes below this count as this in a bounded slowdown [s]."""

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


@dataclass(frozen=True, eq=False)
class Outcome:
    """Jobs as they ran, one entry per job; times in seconds.

    ``deadline_s`` is the latest end, -1 for none; ``estimate_s`` the first estimate. Of policies that
    hold jobs ``reference_s`` is when the scheduler would have started each job, ``promise_s`` until when it might be
    held, ``held_until_s`` until when it was; -1 for none. ``processors`` is the machine's size.
    """

    submit_s: Ints
    start_s: Ints
    runtime_s: Ints
    width: Floats
    processors: float
    deadline_s: Ints
    estimate_s: Ints | Floats
    reference_s: Ints
    promise_s: Ints
    held_until_s: Ints

    def __len__(self) -> int:
        return len(self.submit_s)

    @property
    def wait_s(self) -> Ints:
        """Q: from submission to start."""
        return self.start_s - self.submit_s

    @property
    def end_s(self) -> Ints:
        """Second at which each job has ended."""
        return self.start_s + self.runtime_s

    @property
    def flow_s(self) -> Ints:
        """F = Q + D: from submission to end."""
        return self.end_s - self.submit_s

    def trimmed(self, rule: str) -> Outcome:
        """The jobs that count by a rule."""
        if rule not in TRIMMING:
            raise InputError(f"unknown trimming rule {rule!r}; known: {', '.join(TRIMMING)}")
        if rule == "none" or not len(self):
            return self
        end_s = self.end_s
        if rule == "last":
            return self.where(np.arange(len(self)) != np.argmax(end_s))
        is_first = np.zeros(len(self), dtype=np.bool_)
        is_first[np.argsort(end_s, kind="stable")[: len(self) // 100]] = True
        return self.where(~is_first & (end_s < self.submit_s.max()))

    def where(self, kept: Flags) -> Outcome:
        """Only some of the jobs."""
        columns = (each.name for each in fields(self) if each.name != "processors")
        return replace(self, **{name: getattr(self, name)[kept] for name in columns})


def _slowdowns(outcome: Outcome) -> Floats:
    return np.maximum(1.0, outcome.flow_s / np.maximum(outcome.runtime_s, SHORTEST_S))


def _area_weighted_flow(outcome: Outcome) -> float:
    area = outcome.width * outcome.runtime_s
    return _ratio(float(np.sum(area * outcome.flow_s)), float(np.sum(area)))


def _powered_flow(power: float) -> Callable[[Outcome], float]:
    """P^a SF = (a+1)/(a+2) * sum r (F^(a+2) - Q^(a+2)) / sum r (F^(a+1) - Q^(a+1)) [s]."""

    def of(outcome: Outcome) -> float:
        flow, wait = outcome.flow_s.astype(np.float64), outcome.wait_s.astype(np.float64)
        above = outcome.width * (flow ** (power + 2) - wait ** (power + 2))
        below = outcome.width * (flow ** (power + 1) - wait ** (power + 1))
        return (power + 1) / (power + 2) * _ratio(float(np.sum(above)), float(np.sum(below)))

    return of


def _makespan(outcome: Outcome) -> float:
    return float(outcome.end_s.max() - outcome.submit_s.min()) if len(outcome) else math.nan


def _utilisation(outcome: Outcome) -> float:
    return _ratio(float(np.sum(outcome.width * outcome.runtime_s)), outcome.processors * _makespan(outcome))


def _loss_of_capacity(outcome: Outcome) -> float:
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
    return _ratio(float(np.sum(lost)), outcome.processors * _makespan(outcome))


def _misses(outcome: Outcome) -> float:
    return float(np.count_nonzero((outcome.deadline_s >= 0) & (outcome.end_s > outcome.deadline_s)))


def _deadline_usage(outcome: Outcome) -> float:
    due = outcome.where(outcome.deadline_s > np.maximum(outcome.submit_s, 0))
    return _mean(due.flow_s / (due.deadline_s - due.submit_s))


def _holds(outcome: Outcome) -> Ints:
    """How long each job was held that was."""
    found: Ints = (outcome.held_until_s - outcome.reference_s)[outcome.held_until_s >= 0]
    return found


def _of_holding(outcome: Outcome, count: int) -> float:
    """A count; NaN where the policy holds no jobs."""
    return float(count) if np.any(outcome.reference_s >= 0) else math.nan


def _held(outcome: Outcome) -> float:
    return _of_holding(outcome, len(_holds(outcome)))


def _broken(outcome: Outcome) -> float:
    late = (outcome.promise_s >= 0) & (outcome.held_until_s > outcome.promise_s)
    return _of_holding(outcome, int(np.count_nonzero(late)))


def _estimate_r2(outcome: Outcome) -> float:
    """1 - sum (E - D)^2 / sum (D - mean D)^2, of the first estimates E."""
    runtime = outcome.runtime_s.astype(np.float64)
    spread = float(np.sum((runtime - _mean(runtime)) ** 2)) if len(outcome) else 0.0
    return 1 - _ratio(float(np.sum((outcome.estimate_s - runtime) ** 2)), spread)


def _mean(values: Floats | np.ndarray[tuple[int, ...], np.dtype[np.int64 | np.bool_]]) -> float:
    return float(np.mean(values)) if len(values) else math.nan


def _most(values: Ints | Floats) -> float:
    return float(np.max(values)) if len(values) else math.nan


def _ratio(above: float, below: float) -> float:
    return above / below if below else math.nan


@dataclass(frozen=True)
class Metric:
    """A metric: its name, formula in words, and function; ``trims`` is off for those of the machine as a whole."""

    name: str
    meaning: str
    of: Callable[[Outcome], float]
    trims: bool = True


_ALL = (
    Metric("bsld", "mean bounded slowdown, max(1, F / max(D, 10))", lambda jobs: _mean(_slowdowns(jobs))),
    Metric("af", "mean flow time F [s]", lambda jobs: _mean(jobs.flow_s)),
    Metric("awf", "flow time weighted by area, sum r D F / sum r D [s]", _area_weighted_flow),
    Metric("p2sf", "P^a SF with a = 2 [s]; p1sf, p4sf, ... for other a", _powered_flow(2.0)),
    Metric("wait", "mean wait Q [s]", lambda jobs: _mean(jobs.wait_s)),
    Metric(
        "wait95",
        "95th percentile of the wait Q [s]",
        lambda jobs: float(np.percentile(jobs.wait_s, 95)) if len(jobs) else math.nan,
    ),
    Metric("max-wait", "longest wait Q [s]", lambda jobs: _most(jobs.wait_s)),
    Metric("stretch", "mean stretch F / D", lambda jobs: _mean(jobs.flow_s / jobs.runtime_s)),
    Metric("max-stretch", "largest stretch F / D", lambda jobs: _most(jobs.flow_s / jobs.runtime_s)),
    Metric("loc", "loss of capacity: share of the machine idle while enough waited", _loss_of_capacity, False),
    Metric("utilisation", "share of the machine in use from first submission to last end", _utilisation, False),
    Metric("makespan", "first submission to last end [s]", _makespan, False),
    Metric("deadlines", "jobs with a deadline", lambda jobs: float(np.count_nonzero(jobs.deadline_s >= 0))),
    Metric("misses", "jobs that end after their deadline", _misses),
    Metric(
        "usage",
        "mean (completion - submit) / (deadline - submit), where there is one after the submission",
        _deadline_usage,
    ),
    Metric("held", "jobs that are held for cheaper hours", _held),
    Metric(
        "hold",
        "mean hold of those jobs, from when the scheduler would have started them [s]",
        lambda jobs: _mean(_holds(jobs)),
    ),
    Metric("max-hold", "longest hold [s]", lambda jobs: _most(_holds(jobs))),
    Metric("broken", "jobs that are held for longer than promised", _broken),
    Metric("r2", "R2 of the first estimates against runtimes", _estimate_r2),
    Metric(
        "under", "share of jobs that outlive their first estimate", lambda jobs: _mean(jobs.estimate_s < jobs.runtime_s)
    ),
)

METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}


def metric_named(name: str) -> Metric:
    """The metric of that name; ``p3sf`` and the like are P^a SF with that a. InputError lists the known ones."""
    text = name.strip().lower()
    if text in METRICS:
        return METRICS[text]
    match = _POWERED.fullmatch(text)
    if match:
        power = float(match[1])
        return Metric(text, f"P^a SF with a = {power:g} [s]", _powered_flow(power))
    raise InputError(f"unknown metric {name!r}; known: {', '.join([*METRICS, *MONEY])}")


def measure(outcome: Outcome, metrics: list[Metric], trimming: str) -> dict[str, float]:
    """The value of each metric."""
    steady = outcome.trimmed(trimming)
    return {metric.name: metric.of(steady if metric.trims else outcome) for metric in metrics}


class Starts(Protocol):
    """A replay, as far as late starts are about it."""

    @property
    def start_s(self) -> Ints:
        """When each job starts [s]."""

    @property
    def is_started(self) -> Flags:
        """Whether each job has started."""


@dataclass(frozen=True)
class LateStarts:
    """How much later some jobs start than in the shadow: their number, and how many later than allowed [s].

    ``mean`` counts jobs that start earlier as such; ``late95`` and ``latest`` are of all jobs, too.
    """

    late_of: int
    later_than_allowed: int
    late_mean_s: float
    late95_s: float
    latest_s: int

    @classmethod
    def of(cls, late_s: Ints, allowed_s: int) -> LateStarts:
        """From how much later each job starts; at least one."""
        return cls(
            len(late_s),
            int(np.sum(late_s > allowed_s)),
            round(float(late_s.mean()), 1),
            round(float(np.quantile(late_s, 0.95)), 1),
            int(late_s.max()),
        )

    def as_dict(self) -> dict[str, float]:
        """By name."""
        return asdict(self)


@dataclass(frozen=True)
class LateTable:
    """Late starts of all jobs, and of those of each class and account, worst first."""

    all_jobs: LateStarts
    by: dict[str, dict[str, LateStarts]]


def late_starts(
    happened: Starts,
    shadow: Starts,
    allowed_s: int,
    counted: Flags | None = None,
    groups: dict[str, list[str]] | None = None,
) -> LateTable:
    """Compare starts with those of a shadow on the same jobs.

    ``counted`` says which jobs count, all that start in both unless given; ``groups`` has, by what they are grouped,
    the name of each job's group.
    """
    both = happened.is_started & shadow.is_started
    both = both if counted is None else both & counted
    late_s = happened.start_s - shadow.start_s
    nothing = LateStarts(0, 0, 0.0, 0.0, 0)
    found: dict[str, dict[str, LateStarts]] = {}
    for what, names in (groups or {}).items():
        of = np.array(names, dtype=object)
        told = {str(name): LateStarts.of(late_s[both & (of == name)], allowed_s) for name in np.unique(of[both])}
        found[what] = dict(sorted(told.items(), key=lambda item: -item[1].latest_s))
    return LateTable(LateStarts.of(late_s[both], allowed_s) if both.any() else nothing, found)
