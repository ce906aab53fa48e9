"""Replays with estimates that are no whole seconds: all times are counted in ticks, parts of a second.

What happens to jobs happens at whole seconds all the same: they arrive and end at these, and start when others do.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.domain.columns import Ints
from planner.domain.trace import Trace
from planner.errors import InputError
from planner.online.estimates import RealEstimates
from planner.online.policies import Policy

IN_TICKS = ("strict", "greedy", "list", "easy")
"""Kinds of policy that take estimates which are no whole seconds.

The others plan in whole seconds, or start jobs when a reservation begins, which would be between two seconds.
"""

MOST_TICKS = 1000
"""Parts of a second that a replay may count in, at most."""

LARGEST_PRODUCT = int(np.iinfo(np.int64).max // 4)
"""What the product of width and squared estimate must be below, by which spf sorts."""

REMEDY = "round the estimates up (--round-estimates)"


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
