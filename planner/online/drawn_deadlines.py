"""Deadlines of a trace: those that its jobs were given, and for studies drawn ones.

A share of the jobs, drawn at random, must end within a day or ten times their request.
"""

from __future__ import annotations

import numpy as np

from planner.domain.columns import Ints
from planner.domain.trace import Trace
from planner.errors import InputError

LEAST_S = 24 * 3600
TIMES_REQUEST = 10


def draw_deadlines(trace: Trace, percent: float, seed: int) -> Ints:
    """Latest end of each job [s]: submit + max(24 h, 10 * requested time) for a share of the jobs, -1 for the others.

    Jobs that were given a deadline keep it, drawn or not. Every seed draws as many jobs, the share rounded; draws of
    other shares or seeds do not depend on each other.
    """
    if not 0 <= percent <= 100:
        raise InputError(f"{percent} % of jobs with a deadline; give a number from 0 to 100")
    rng = np.random.default_rng([seed, round(percent * 1000)])
    chosen = np.zeros(len(trace), dtype=np.bool_)
    chosen[rng.permutation(len(trace))[: round(len(trace) * percent / 100)]] = True
    slack = np.maximum(LEAST_S, TIMES_REQUEST * trace.requested_s)
    drawn = np.where(chosen, trace.submit_s + slack, -1).astype(np.int64)
    return drawn if trace.deadline_s is None else np.where(trace.deadline_s >= 0, trace.deadline_s, drawn)
