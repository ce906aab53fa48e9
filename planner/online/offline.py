"""Off-line schedules: all submissions known ahead, a schedule of the whole trace improved for one objective.

What no on-line policy can know is known here, so the result shows how much is left for them to gain. Jobs start when
they were submitted or later and run for their actual runtimes on one pool of processors.

The search is simulated annealing (Kirkpatrick, Gelatt and Vecchi 1983) over windows of the schedule, each of which is
planned anew in another order; see `planner.online.kernel.offline_steps`. Memory is linear in the jobs. A step places
the jobs of one window, at most 256, so time is linear in the steps; a placement passes the starts and ends during the
runtime.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from planner.domain.columns import Ints
from planner.domain.trace import Trace, pool_trace
from planner.errors import InputError
from planner.online.kernel.offline_schedule import WindowJobs, empty_window, moments_of
from planner.online.kernel.offline_steps import improve, total_cost
from planner.online.objectives import FORMS, SENTENCES, Objective, objective_named
from planner.online.policies import OfflineSearch

KNOWN = tuple(name for name in SENTENCES if objective_named(name).is_regular)
"""Objectives of off-line schedules: those that are sums. P2SF is what the metric has above its fraction line."""

HOT, COLD = 1.0, 0.001
"""Temperatures at the beginning and the end, in what a job's wait costs on average in the first schedule."""

FROZEN = 0.95
"""Part of the search after which nothing is made worse any more."""

STAGES = 200
"""How often the temperature is lowered in all; after every stage the best schedule is kept."""

TIMED_STEPS = 10_000
"""Steps of a stage when time ends the search."""

OnSteps = Callable[[int, int], None]
"""Hears of how many steps of how many were done."""


@dataclass(frozen=True, eq=False)
class OfflineSchedule:
    """Starts of all jobs [s], the value of the objective with the first schedule and with this one, and steps done."""

    start_s: Ints
    first_value: float
    value: float
    steps: int


def offline_objective(name: str) -> Objective:
    """The objective of that name; InputError lists the known ones."""
    try:
        found = objective_named(name)
    except InputError:
        found = None
    if found is None or not found.is_regular:
        raise InputError(f"unknown off-line objective {name!r}; known: {', '.join(KNOWN)}, and other PxSF")
    return found


def require_pool(trace: Trace) -> None:
    """InputError unless the trace is on one pool and no job waits for another."""
    if len(trace.machine.capacity) != 1 or trace.machine.capacity.shape[1] != 1 or trace.machine.power_limit >= 0:
        raise InputError(f"{trace.source}: --offline plans one pool of processors, not the nodes of a cluster")
    if len(trace.waits.before):
        raise InputError(f"{trace.source}: --offline does not know of jobs that wait for others; leave them out")


def improve_schedule(
    trace: Trace,
    objective: Objective,
    start_s: Ints,
    search: OfflineSearch,
    *,
    on_steps: OnSteps | None = None,
) -> OfflineSchedule:
    """Improve a schedule of a whole trace; the result is never worse than the schedule."""
    require_pool(trace)
    start = start_s.copy()
    jobs = WindowJobs(trace.submit_s, trace.runtime_s, trace.width, _weights(trace), start)
    moments = moments_of(trace.submit_s, start, trace.runtime_s, trace.width, int(trace.machine.capacity[0, 0]))
    window, is_out = empty_window(), np.zeros(len(trace), dtype=np.uint8)
    stream, seat = np.array([search.seed], dtype=np.uint64), np.zeros(1, dtype=np.int64)
    form = np.int64(FORMS.index(objective.form))
    first = value = total_cost(jobs, form, objective.exponent, start)
    waiting = (first - total_cost(jobs, form, objective.exponent, trace.submit_s)) / max(1, len(trace))
    best_s, wanted, done, began = start.copy(), search.steps * len(trace), 0, time.perf_counter()
    while True:
        progress = done / max(1, wanted)
        if search.seconds is not None:
            progress = (time.perf_counter() - began) / max(1e-9, search.seconds)
        if progress >= 1.0 or wanted == 0:
            break
        temperature = waiting * HOT * (COLD / HOT) ** progress if progress < FROZEN else 0.0
        stage = -(-wanted // STAGES) if search.seconds is None else TIMED_STEPS
        tried = improve(
            *(jobs, form, objective.exponent, moments, window, is_out, stream, seat),
            *(temperature, min(stage, wanted - done) if search.seconds is None else stage),
        )
        if tried == 0:  # nobody waits
            break
        done += tried
        now = total_cost(jobs, form, objective.exponent, start)
        if now < value:
            value, best_s = now, start.copy()
        if on_steps is not None:
            on_steps(done, max(done, wanted))
    return OfflineSchedule(best_s, first, value, done)


def make_search_ready() -> None:
    """Compile or load the kernels of the search, so that none of its time goes into that."""
    ones = np.ones(2, dtype=np.int64)
    trace = pool_trace(("a", "b"), ones, ones, ones, ones, 1)
    improve_schedule(trace, objective_named("af"), np.array([1, 2]), OfflineSearch(1))


def _weights(trace: Trace) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """What multiplies each job's part of the objective: its priority, as in a round of the policy ``order``."""
    if trace.priority is None:
        return np.ones(len(trace))
    thousandths = np.round(trace.priority * 1000)
    return np.where(thousandths > 0, thousandths / 1000, 1.0)
