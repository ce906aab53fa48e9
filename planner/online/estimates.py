"""The runtimes that a policy assumes: actual, requested, either times a factor, or predicted; for replays and planning.

Scaled ones may be no whole seconds: then a replay counts in parts of a second, ticks. In planning estimates are learned
from the jobs that have ended.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from planner.domain.cluster import Cluster
from planner.domain.columns import Floats, Ints
from planner.domain.job import Job
from planner.domain.situation import Situation, StartedJob
from planner.domain.trace import Trace, cluster_trace_of
from planner.errors import InputError
from planner.online.policies import Policy
from planner.online.predictors import PREDICTORS, Predictor, predictor_named

SOURCES = ("actual", "requested")
LARGEST_FACTOR, FINEST_FACTOR = 1000, 1_000_000
"""The largest factor, and into how many parts of 1 one may be cut."""
_SCALED = re.compile(r"(?P<source>[a-z0-9-]+)\s*[*x]\s*(?P<factor>.+)")

IN_TICKS = ("strict", "greedy", "list", "easy")
"""Kinds of policy that take estimates which are no whole seconds.

The others plan in whole seconds, or start jobs when a reservation begins, which would be between two seconds.
"""

MOST_TICKS = 1000
"""Parts of a second that a replay may count in, at most."""

LARGEST_PRODUCT = int(np.iinfo(np.int64).max // 4)
"""What the product of width and squared estimate must be below, by which spf sorts."""

REMEDY = "round the estimates up (--round-estimates)"


@dataclass(frozen=True, eq=False)
class RealEstimates:
    """Estimates that are no whole seconds: whole ticks, of which there are so many per second."""

    ticks: Ints
    per_second: int

    @property
    def seconds(self) -> Floats:
        """The estimates [s]."""
        found: Floats = self.ticks / self.per_second
        return found


@dataclass(frozen=True)
class Estimate:
    """A way to estimate runtimes: ``make`` gives the estimates of a trace, or a fresh predictor for it."""

    name: str
    make: Callable[[Trace], Ints | RealEstimates | Predictor]

    def make_whole(self, trace: Trace) -> Ints | Predictor:
        """The same in whole seconds, rounded up."""
        found = self.make(trace)
        return -(-found.ticks // found.per_second) if isinstance(found, RealEstimates) else found

    def rounded(self) -> Estimate:
        """The same estimate in whole seconds, rounded up."""
        return Estimate(self.name, self.make_whole)


def estimate_named(name: str) -> Estimate:
    """The estimate of a name: ``actual``, ``requested``, ``actual*0.5``, ``requested*2``, or a predictor.

    A factor applies to the actual or requested time; the product is not capped, and not rounded: it may be no whole
    number of seconds.
    """
    text = name.strip().lower()
    match = _SCALED.fullmatch(text)
    source, factor = (match["source"], _factor(match["factor"], name)) if match else (text, Fraction(1))
    if source in SOURCES:
        return Estimate(text, lambda trace: _scaled(_source(trace, source), factor))
    if match:
        raise InputError(f"estimate {name!r}: only {' and '.join(SOURCES)} times can be scaled, not {source!r}")
    if source not in PREDICTORS and not source.startswith("survival-"):
        known = ", ".join([*SOURCES, "actual*FACTOR", "requested*FACTOR", *PREDICTORS])
        raise InputError(f"unknown estimate or predictor {name!r}; known: {known}")
    make = predictor_named(source)
    return Estimate(text, make)


def _source(trace: Trace, source: str) -> Ints:
    return trace.runtime_s if source == "actual" else trace.requested_s


def _scaled(seconds: Ints, factor: Fraction) -> Ints | RealEstimates:
    ticks = seconds * factor.numerator
    if np.any(ticks % factor.denominator):
        return RealEstimates(ticks, factor.denominator)
    return np.maximum(ticks // factor.denominator, 1)


def _factor(text: str, name: str) -> Fraction:
    try:
        factor = Fraction(text.strip()) if 0 < float(text) <= LARGEST_FACTOR else Fraction(0)
    except ValueError:
        factor = Fraction(0)
    if not 0 < factor <= LARGEST_FACTOR or factor.denominator > FINEST_FACTOR:
        raise InputError(
            f"estimate {name!r}: the factor must be a number above 0 and at most {LARGEST_FACTOR:,}, with at most six"
            " digits after the point, as in actual*0.5"
        )
    return factor


def require_ticks(policy: Policy, trace: Trace, estimate: RealEstimates, *, starts_from_nothing: bool) -> None:
    """InputError where estimates that are no whole seconds cannot be."""
    if policy.kind not in IN_TICKS or policy.holds or not starts_from_nothing:
        raise InputError(f"policy {policy.name} counts in whole seconds here, and the estimates are none; {REMEDY}")
    if estimate.per_second > MOST_TICKS:
        raise InputError(
            f"estimates are counted in thousandths of a second at the finest, these in {estimate.per_second:,} parts;"
            f" give a factor of three digits after the point, or {REMEDY}"
        )
    longest, widest = int(estimate.ticks.max(initial=1)), int(trace.width.max(initial=1))
    if "spf" in (policy.order, policy.backfill_order) and widest * longest**2 >= LARGEST_PRODUCT:
        raise InputError(
            f"policy {policy.name}: width times squared estimate goes beyond 64 bits in parts of a second; {REMEDY}"
        )


def trace_in_ticks(trace: Trace, per_second: int) -> Trace:
    """The same trace with its times in ticks."""
    return replace(
        trace,
        submit_s=trace.submit_s * per_second,
        runtime_s=trace.runtime_s * per_second,
        requested_s=trace.requested_s * per_second,
        deadline_s=ticks_of(trace.deadline_s, per_second),
    )


def ticks_of(moments_s: Ints | None, per_second: int) -> Ints | None:
    """Moments in ticks; -1 stays."""
    return None if moments_s is None else np.where(moments_s >= 0, moments_s * per_second, -1)


def seconds_of(ticks: Ints, per_second: int) -> Ints:
    """Moments in seconds; -1 stays."""
    return np.where(ticks >= 0, ticks // per_second, -1)


def with_estimates(situation: Situation, cluster: Cluster, name: str) -> Situation:
    """The same situation with an estimate for every job that waits or runs; never above what it requested.

    A job that has outlived its estimate counts for all that it requested. Where no job has ended nothing is learned.
    """
    ended = {each.job.id: each for each in situation.started if each.end_unix is not None and not each.cancelled}
    if name == "requested" or not ended:
        return situation
    # Who waits for whom is no matter here.
    in_order = sorted(situation.jobs, key=lambda job: (job.release_unix, job.submission_key))
    jobs = [replace(job, after=()) for job in in_order]
    ran_s = {job: max(1, (each.end_unix or 0) - each.start_unix) for job, each in ended.items()}
    trace = cluster_trace_of(
        jobs,
        np.array([ran_s.get(job.id, job.requested_s) for job in jobs], dtype=np.int64),
        np.array([job.requested_s for job in jobs], dtype=np.int64),
        cluster,
        origin_unix=min((job.submit_unix for job in jobs), default=0),
        source=situation.source,
    )
    estimate = estimate_named(name).make_whole(trace)
    place = {job.id: index for index, job in enumerate(jobs)}
    if not isinstance(estimate, np.ndarray):
        for each in sorted(ended.values(), key=lambda each: (each.end_unix or 0, each.job.submission_key)):
            estimate.complete(place[each.job.id], (each.end_unix or 0) - (trace.origin_unix or 0))
    now_s = situation.moment_unix - (trace.origin_unix or 0)

    def estimated(job: Job) -> Job:
        index = place[job.id]
        seconds = estimate[index] if isinstance(estimate, np.ndarray) else estimate.predict(index, now_s)
        return replace(job, estimate_s=max(1, min(int(seconds), job.requested_s)))

    def started(each: StartedJob) -> StartedJob:
        if not each.is_running:
            return each
        job = estimated(each.job)
        outlived = each.start_unix + job.planned_s <= situation.moment_unix
        return replace(each, job=replace(job, estimate_s=None) if outlived else job)

    return replace(
        situation,
        pending=tuple(estimated(job) for job in situation.pending),
        started=tuple(started(each) for each in situation.started),
    )
