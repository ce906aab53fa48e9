"""A trace replayed under a policy: who started when, and on which nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from planner.domain.columns import Ints
from planner.domain.packing import most_cells
from planner.domain.trace import Trace
from planner.errors import InputError
from planner.online.kernel.state import State
from planner.online.policies import KINDS, Policy
from planner.online.predictor import Predictor
from planner.online.replanning import NO_REPLANNING, Replanning

CORRECTIONS: dict[str, str] = {
    "request": "the requested time (as in the published runs)",
    "steps": "the estimate and 1, 5, 15, 30 min, 1, 2, 5, 10, 20, 50, 100 h more (Tsafrir, Etsion and Feitelson 2007)",
    "double": "twice the estimate, again and again, also beyond the requested time (Gaussier et al. 2015)",
}
"""What the estimate of a job becomes when the job outlives it; the first two never go beyond the requested time."""

ROUNDS: dict[str, str] = {
    "second": "at most one per second, after all its arrivals and completions",
    "event": "one after every arrival and every completion (Gaussier et al. 2015)",
}
"""When scheduling rounds run. What completes in one second is known to one round, or to one round after the other.

With a round after every event, a job also keeps the prediction of its arrival: see `Policy.refreshes`.
"""

SECONDS_AT_A_TIME = 4096
"""Event seconds between two reports of progress."""

OnProgress = Callable[[int, int], None]
"""Hears how many jobs have finished, and of how many."""


@dataclass(frozen=True, eq=False)
class Replay:
    """What happened, one entry per job of the trace.

    ``estimate_s`` is the first estimate of each job; ``deadline_s`` is -1 where there is none, and ``promised`` 1 where
    the deadline policy's first reservation met it. ``reference_s`` and ``latest_s`` are the reference start of each job
    under replan and when it had to start at the latest; else -1. ``node_of_unit`` has the node of each unit, in the
    order of the trace's units. ``round_count`` counts scheduling rounds.
    """

    trace: Trace
    policy: Policy
    estimate_s: Ints
    start_s: Ints
    corrections: Ints
    node_of_unit: Ints
    deadline_s: Ints
    promised: Ints
    reference_s: Ints
    latest_s: Ints
    round_count: int

    @property
    def wait_s(self) -> Ints:
        """Seconds from submission to start."""
        return self.start_s - self.trace.submit_s

    @property
    def end_s(self) -> Ints:
        """Second at which each job has ended."""
        return self.start_s + self.trace.runtime_s


def replay(
    trace: Trace,
    policy: Policy,
    estimate: Ints | Predictor,
    *,
    correction: str = "request",
    rounds: str = "second",
    deadline_s: Ints | None = None,
    replanning: Replanning = NO_REPLANNING,
    on_progress: OnProgress | None = None,
) -> Replay:
    """Replay a trace.

    Parameters
    ----------
    trace
        The jobs and the machine; every job must fit on the empty machine.
    policy
        What a scheduling round does.
    estimate
        Estimates of all jobs [s], or a predictor, which predicts jobs as they arrive and learns as they complete.
    correction
        What an estimate becomes when a job outlives it; see `CORRECTIONS`.
    rounds
        When scheduling rounds run; see `ROUNDS`.
    deadline_s
        Latest end of each job, -1 for none; only the deadline policy heeds it.
    on_progress
        Hears of progress now and then.
    """
    from planner.online.kernel import state as places
    from planner.online.kernel.clock import advance
    from planner.online.predictor_loop import replay_predicted

    if correction not in CORRECTIONS:
        raise InputError(f"unknown correction {correction!r}; known: {', '.join(CORRECTIONS)}")
    if rounds not in ROUNDS:
        raise InputError(f"unknown rounds {rounds!r}; known: {', '.join(ROUNDS)}")
    deadlines = np.full(len(trace), -1, dtype=np.int64) if deadline_s is None else deadline_s
    predicted = not isinstance(estimate, np.ndarray)
    fixed = estimate if isinstance(estimate, np.ndarray) else trace.requested_s
    state = _state(
        trace, policy, fixed, deadlines, correction=correction, rounds=rounds, predicted=predicted, conduct=replanning
    )
    first = np.maximum(fixed, 1)
    if isinstance(estimate, np.ndarray):
        status = -1
        while status != 0:
            status = int(advance(state, SECONDS_AT_A_TIME))
            if status > 0:
                state = places.widened(state, status)
            if on_progress is not None:
                on_progress(int(state.clock[places.FINISHED]), len(trace))
    else:
        state, first = replay_predicted(state, estimate, refresh=policy.refreshes(rounds), on_progress=on_progress)
    return Replay(
        trace=trace,
        policy=policy,
        estimate_s=first,
        start_s=state.job[places.START].copy(),
        corrections=state.job[places.CORRECTIONS].copy(),
        node_of_unit=state.unit[places.NODE].copy(),
        deadline_s=deadlines,
        promised=state.job[places.PROMISED].copy(),
        reference_s=state.job[places.REFERENCE].copy(),
        latest_s=state.job[places.LATEST].copy(),
        round_count=int(state.clock[places.ROUNDS]),
    )


def make_ready(trace: Trace, policy: Policy) -> None:
    """Compile or load the kernel of a replay with fixed estimates, so that none of its time goes into that."""
    from planner.online.kernel.clock import advance

    advance(_state(trace, policy, trace.requested_s, np.full(len(trace), -1, dtype=np.int64)), 0)


def _state(
    trace: Trace,
    policy: Policy,
    estimate: Ints,
    deadline_s: Ints,
    *,
    correction: str = "request",
    rounds: str = "second",
    predicted: bool = False,
    conduct: Replanning = NO_REPLANNING,
) -> State:
    """The state before the first event."""
    from planner.machine.timeline import NEVER
    from planner.online.kernel import state as places
    from planner.online.kernel.queue_order import backfill_code, queue_code

    count, units = len(trace), int(trace.unit_ptr[-1])
    nodes, resources = trace.machine.capacity.shape
    limited = trace.machine.power_limit >= 0
    rows = nodes + (1 if limited else 0)
    free = np.zeros((2 * rows, places.FIRST_CAPACITY, resources), dtype=np.int64)
    free[:nodes, 0] = trace.machine.capacity
    if limited:
        free[nodes, 0, 0] = trace.machine.power_limit
    job = np.zeros((places.JOB_ROWS, count), dtype=np.int64)
    job[places.SUBMIT], job[places.RUNTIME], job[places.REQUESTED] = trace.submit_s, trace.runtime_s, trace.requested_s
    job[places.ESTIMATE] = np.maximum(estimate, 1)
    job[places.DEADLINE_S] = np.where(deadline_s >= 0, deadline_s, NEVER)
    job[places.WIDTH], job[places.POWER] = trace.width, trace.power_mw
    for row in (places.START, places.RESERVED, places.SAVED_START, places.REFERENCE, places.LATEST):
        job[row] = places.NONE_YET
    clock = np.zeros(places.CLOCK_SIZE, dtype=np.int64)
    clock[places.POLICY] = KINDS.index(policy.kind)
    is_exact = not predicted and np.array_equal(estimate, trace.runtime_s)
    clock[places.ORDER] = queue_code(policy.kind, policy.order, is_exact=is_exact)
    backfill = "fcfs" if policy.kind == "replan" else policy.backfill_order
    clock[places.BACKFILL_ORDER] = backfill_code(policy.order, backfill)
    clock[places.CORRECTION] = list(CORRECTIONS).index(correction)
    clock[places.NODES], clock[places.LIMITED] = nodes, int(limited)
    clock[places.SCAN_ONLY_IF_FITS] = int(policy.scans_only_if_fits(rounds, predicted=predicted))
    clock[places.EVERY_EVENT] = int(rounds == "event")
    clock[places.EVERY_S], clock[places.MAX_DELAY_S] = conduct.every_s, conduct.max_delay_s
    clock[places.HOLDS], clock[places.LISTED_AT] = int(conduct.may_hold), places.NONE_YET
    clock[places.STEPS], clock[places.AHEAD_S] = conduct.steps, conduct.ahead_s
    clock[places.REPAIRS] = int(conduct.repairs)
    clock[places.CAPACITY] = trace.machine.capacity[:, 0].sum()
    return places.State(
        job=job,
        ptr=np.array([trace.group_ptr, trace.unit_ptr], dtype=np.int64),
        group_count=trace.group_count,
        group_amount=trace.group_amount,
        unit=np.full((2, units), 0 if nodes == 1 else -1, dtype=np.int64),
        times=np.zeros((2 * rows, places.FIRST_CAPACITY), dtype=np.int64),
        free=free,
        length=np.ones(2 * rows, dtype=np.int64),
        price_s=conduct.price_s,
        price=conduct.price_eur_per_kwh,
        price_sum=np.zeros(len(conduct.price_s)),
        worth=np.array([conduct.eur_per_waiting_hour, conduct.eur_per_width_hour]),
        use=np.zeros(4),
        stream=np.array([conduct.seed], dtype=np.uint64),
        capacity=trace.machine.capacity,
        most=np.ascontiguousarray(trace.machine.capacity[:, 0]),
        ready=np.zeros(max(nodes, _most_at_once(trace)), dtype=np.int64),
        known=np.zeros(nodes, dtype=np.int64),
        least=np.zeros((nodes, resources), dtype=np.int64),
        watts=np.zeros(1, dtype=np.int64),
        cells=np.zeros(most_cells(trace.group_ptr, trace.group_count, nodes), dtype=np.int64),
        pattern=np.zeros(int(np.diff(trace.group_ptr).max(initial=1)), dtype=np.int64),
        clock=clock,
    )


def _most_at_once(trace: Trace) -> int:
    """The most units of one kind that the empty machine takes at once, as far as any job asks."""
    from planner.online.kernel.rounds import REMEMBERED

    capacity = trace.machine.capacity
    most = REMEMBERED
    for amount, count in {
        (tuple(a.tolist()), int(c)) for a, c in zip(trace.group_amount, trace.group_count, strict=True)
    }:
        asked = np.array(amount)
        copies = np.min(capacity[:, asked > 0] // asked[asked > 0], axis=1)
        most = max(most, int(np.minimum(copies, count).sum()))
    return most
