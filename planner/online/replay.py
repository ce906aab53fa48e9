"""A trace replayed under a policy: who started when, and on which nodes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from planner.compiled import tell_if_missing
from planner.domain.columns import Floats, Ints
from planner.domain.method_params import Strength
from planner.domain.trace import Trace, pool_trace
from planner.domain.waiting_queue import QueueSolver
from planner.errors import InputError
from planner.online.estimates import RealEstimates, require_ticks, seconds_of, ticks_of, trace_in_ticks
from planner.online.expected_prices import EnergyCosts
from planner.online.holding import NO_HOLDING, Holding, HoldingReplay
from planner.online.initial_state import Past, initial_state
from planner.online.kernel import event_loop, steps
from planner.online.like_nodes import with_like_nodes
from planner.online.objectives import NO_PROFIT, ProfitTerms
from planner.online.outages import NO_OUTAGES, UNTIL_FURTHER_NOTICE, LostRun, Outages
from planner.online.policies import SIMPLE, USUAL_SEARCH, EngineCounts, Policy, QueueSearch
from planner.online.predictors import Predictor
from planner.online.replay_loops import (
    FixedReplay,
    OnProgress,
    Playing,
    SteppedReplay,
    TaughtReplay,
    play,
    require_started,
)
from planner.online.round_watch import RoundWatch
from planner.online.solver_rounds import DispatchRounds, EngineRounds, PlannedRounds

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
"""When scheduling rounds run. What completes in one second is known to one round, or to one round after the other."""

PREDICTIONS: dict[str, str] = {
    "usual": "as published: anew in every round under greedy, list, easy, easy-sjbf, order and cp with at most one"
    " round per second; else those of arrival",
    "arrival": "a job keeps the prediction of its arrival",
    "round": "waiting jobs are predicted anew in every round after a completion",
}
"""When a predictor is asked about waiting jobs, whenever rounds run."""


@dataclass(frozen=True, eq=False)
class Replay:
    """What happened, one entry per job of the trace.

    ``estimate_s`` is the first estimate of each job; ``start_s`` is -1 for jobs that have not started. ``node_of_unit``
    has the node of each unit, in the order of the trace's units, -1 for jobs that have not started. ``deadline_s`` is
    -1 where there is none, and ``promised`` 1 where the deadline policy's first reservation met it. ``cancel_s`` is
    when jobs were to be cancelled, -1 for those that were not; ``restarts`` how often each was lost with a node.
    ``ready_s`` is when each joined the queue: at its submission, or when all that it waits for had come first.
    ``from_s`` and ``until_s`` are where the replay began and stopped. ``round_count`` counts scheduling rounds, and
    ``engine_counts`` those of the policy ``cp`` in which its engine was asked.

    Under policies that hold jobs, ``reference_s`` is the first moment at which the scheduler would have started each
    job, ``latest_s`` until when it might be held, ``held_until_s`` until when it was, and ``saved_eur`` what its energy
    costs less then; -1 where that did not happen, but for ``latest_s`` of jobs with deadlines. ``max_delay_s`` is how
    long a job may be held at most, and ``eur_per_waiting_hour`` what an hour of its waiting counted for last.
    ``strength`` is how strongly it was best to hold at the end; None: nothing told.
    """

    trace: Trace
    policy: Policy
    estimate_s: Ints | Floats
    start_s: Ints
    corrections: Ints
    node_of_unit: Ints
    deadline_s: Ints
    promised: Ints
    reference_s: Ints
    latest_s: Ints
    held_until_s: Ints
    saved_eur: Floats
    cancel_s: Ints
    restarts: Ints
    ready_s: Ints
    lost_runs: tuple[LostRun, ...]
    outages: Outages
    until_s: int
    round_count: int
    from_s: int = 0
    max_delay_s: int = 0
    eur_per_waiting_hour: float = 0.0
    strength: Strength | None = None
    engine_counts: EngineCounts | None = None

    @property
    def is_started(self) -> npt.NDArray[np.bool_]:
        """Whether each job has started."""
        return self.start_s >= 0

    @property
    def is_cancelled(self) -> npt.NDArray[np.bool_]:
        """Whether each job was cancelled before it was done."""
        is_ended = self.is_started & (self.start_s + self.trace.runtime_s <= self.cancel_s)
        return (self.cancel_s >= 0) & (self.cancel_s < self.until_s) & ~is_ended

    @property
    def wait_s(self) -> Ints:
        """Seconds from submission to start; -1 for jobs that have not started."""
        return np.where(self.is_started, self.start_s - self.trace.submit_s, -1)

    @property
    def end_s(self) -> Ints:
        """Second at which each job has ended, or will end; -1 for jobs that have not started."""
        done = self.start_s + self.trace.runtime_s
        return np.where(self.is_started, np.where(self.cancel_s >= 0, np.minimum(done, self.cancel_s), done), -1)

    def past_at(self, moment_s: int) -> Past:
        """What is decided at the moment at which the replay was stopped, to go on from there."""
        return Past(moment_s, self.start_s, self.node_of_unit, self.reference_s, self.latest_s)


def replay(
    trace: Trace,
    policy: Policy,
    estimate: Ints | RealEstimates | Predictor,
    *,
    correction: str = "request",
    rounds: str = "second",
    predictions: str = "usual",
    deadline_s: Ints | None = None,
    profit: ProfitTerms = NO_PROFIT,
    holding: Holding = NO_HOLDING,
    past: Past | None = None,
    until_s: int | None = None,
    outages: Outages = NO_OUTAGES,
    cancel_s: Ints | None = None,
    rank: Ints | None = None,
    search: QueueSearch = USUAL_SEARCH,
    solver: QueueSolver | None = None,
    watch: RoundWatch | None = None,
    on_progress: OnProgress | None = None,
) -> Replay:
    """Replay a trace.

    Parameters
    ----------
    trace
        The jobs and the machine; every job must fit on the empty machine.
    estimate
        Estimates of all jobs [s], or a predictor, which predicts jobs as they arrive and learns as they complete.
        Those that are no whole seconds are for policies of `planner.online.estimates.IN_TICKS`, without past and
        outages.
    correction, rounds, predictions
        See `CORRECTIONS`, `ROUNDS` and `PREDICTIONS`.
    deadline_s
        Latest end of each job, -1 for none, in place of those of the trace; deadline policies and holds heed it.
    past
        What is decided already; the replay begins at its moment. Jobs submitted until then wait, run or have ended.
    until_s
        Nothing happens from this moment on.
    outages
        Nodes that are lost for a while, with what runs there.
    cancel_s
        When each job is cancelled, -1 for never: a waiting job leaves the queue, a running one ends.
    rank
        What comes first in the order of the queue, in place of priorities: the job with the lowest.
    solver
        What plans the queue under the policy ``cp``, which needs one.
    watch
        Times the rounds, and may end the replay with an OutOfTimeError.
    """
    if correction not in CORRECTIONS:
        raise InputError(f"unknown correction {correction!r}; known: {', '.join(CORRECTIONS)}")
    if rounds not in ROUNDS:
        raise InputError(f"unknown rounds {rounds!r}; known: {', '.join(ROUNDS)}")
    if predictions not in PREDICTIONS:
        raise InputError(f"unknown predictions {predictions!r}; known: {', '.join(PREDICTIONS)}")
    if policy.kind == "cp" and solver is None:
        raise InputError(f"policy {policy.name} needs a CP search; `plan simulate` has one, order-... needs none")
    real = estimate if isinstance(estimate, RealEstimates) else None
    per_second, in_seconds = 1 if real is None else real.per_second, trace
    if real is not None:
        require_ticks(policy, trace, real, starts_from_nothing=past is None and not len(outages))
        trace, estimate = trace_in_ticks(trace, per_second), real.ticks
        deadline_s, cancel_s = ticks_of(deadline_s, per_second), ticks_of(cancel_s, per_second)
        until_s = None if until_s is None else until_s * per_second
    assert not isinstance(estimate, RealEstimates)
    outages.require_nodes(len(trace.machine.capacity))
    cancels = np.full(len(trace), -1, dtype=np.int64) if cancel_s is None else cancel_s
    _require_submitted(trace, cancels)
    given = trace.deadline_s if deadline_s is None else deadline_s
    deadlines = np.full(len(trace), -1, dtype=np.int64) if given is None else given
    predicted = not isinstance(estimate, np.ndarray)
    fixed = estimate if isinstance(estimate, np.ndarray) else trace.requested_s
    if past is not None:
        past.require_possible(trace)
    # A node that is lost is not like the others, and dispatchers choose nodes themselves.
    like = None if len(outages) or policy.dispatcher else with_like_nodes(trace)
    state = initial_state(
        trace if like is None else like.trace, policy, fixed, deadlines,
        correction=list(CORRECTIONS).index(correction), rounds=rounds, predicted=predicted, profit=profit,
        max_delay_s=holding.max_delay_s, past=past if like is None else like.past(past), outages=outages,
        cancel_s=cancels, rank=rank, search=search, per_second=per_second,
    )  # fmt: skip
    first = np.maximum(fixed, 1)
    planned: PlannedRounds | None = None
    if policy.kind == "cp" and solver is not None:
        planned = DispatchRounds(policy, solver) if policy.dispatcher else EngineRounds(policy, solver)
    schedule = steps.schedule if planned is None else planned.schedule
    if watch is not None:
        schedule = watch.over(schedule, planned)
    playing: Playing
    by_steps = predicted or planned is not None or watch is not None
    is_simple = policy.kind in SIMPLE and rounds == "second"
    tell_if_missing(event_loop.advance_simple if is_simple and not by_steps else steps.step)
    if not isinstance(estimate, np.ndarray):
        playing = taught = TaughtReplay(
            state, estimate, refresh=policy.refreshes(rounds, predictions), schedule=schedule, on_progress=on_progress
        )
        taught.learn_past(-1 if past is None else past.moment_s)
        first = taught.first
    elif planned is not None or watch is not None:
        playing = SteppedReplay(state, schedule=schedule, on_progress=on_progress)
    else:
        playing = FixedReplay(state, on_progress, is_simple=is_simple)
    if policy.holds and holding.may_hold:
        playing = HoldingReplay(
            playing, trace if like is None else like.trace, holding, first_s=0 if past is None else past.moment_s
        )
    stop = UNTIL_FURTHER_NOTICE if until_s is None else until_s
    lost = play(playing, outages, 0 if past is None else past.moment_s, stop)
    state = playing.state
    if until_s is None:
        require_started(trace, state)
    start = state.jobs["start"].copy()
    nodes = state.units["node"]
    if like is not None:
        done = start + trace.runtime_s
        nodes = like.nodes(nodes, start, np.where(cancels >= 0, np.minimum(done, cancels), done), past)
    has_node = np.repeat(start >= 0, np.diff(trace.unit_ptr))
    happened = Replay(
        trace=trace,
        policy=policy,
        estimate_s=first,
        start_s=start,
        corrections=state.jobs["corrections"].copy(),
        node_of_unit=np.where(has_node, nodes, -1),
        deadline_s=deadlines,
        promised=state.jobs["promised"].copy(),
        reference_s=state.jobs["reference"].copy(),
        latest_s=state.jobs["latest"].copy(),
        held_until_s=state.jobs["hold_until"].copy(),
        saved_eur=state.jobs["saved_eur"].copy(),
        cancel_s=cancels,
        restarts=state.jobs["restarts"].copy(),
        ready_s=state.jobs["ready"].copy(),
        lost_runs=lost,
        outages=outages,
        until_s=stop,
        round_count=int(state.clock.rounds),
        from_s=0 if past is None else past.moment_s,
        max_delay_s=holding.max_delay_s,
        eur_per_waiting_hour=playing.eur_per_hour if isinstance(playing, HoldingReplay) else 0.0,
        strength=playing.best_strength if isinstance(playing, HoldingReplay) else None,
        engine_counts=None if planned is None else planned.counts,
    )
    return happened if real is None else _in_seconds(happened, in_seconds, real)


def _in_seconds(happened: Replay, trace: Trace, estimate: RealEstimates) -> Replay:
    """A replay in ticks as one of the trace in seconds."""
    per_second = estimate.per_second
    assert not np.any(happened.start_s[happened.is_started] % per_second), "a job starts between two seconds"
    return replace(
        happened,
        trace=trace,
        estimate_s=estimate.seconds,
        start_s=seconds_of(happened.start_s, per_second),
        deadline_s=seconds_of(happened.deadline_s, per_second),
        cancel_s=seconds_of(happened.cancel_s, per_second),
        ready_s=happened.ready_s // per_second,
        until_s=happened.until_s if happened.until_s == UNTIL_FURTHER_NOTICE else happened.until_s // per_second,
    )


def _require_submitted(trace: Trace, cancel_s: Ints) -> None:
    """InputError when a job is cancelled before it is submitted."""
    for job in np.flatnonzero((cancel_s >= 0) & (cancel_s < trace.submit_s)):
        raise InputError(
            f"{trace.source}: job {trace.ids[job]} is cancelled at {cancel_s[job]} s, before its submission at"
            f" {trace.submit_s[job]} s"
        )


def make_ready(
    policy: Policy,
    estimate: Callable[[Trace], Ints | RealEstimates | Predictor],
    solver: QueueSolver | None = None,
    *,
    is_watched: bool = False,
    rounds: str = "second",
) -> None:
    """Compile or load what a replay needs, so that no time of it goes into that: replay two jobs of a second."""
    ones = np.ones(2, dtype=np.int64)
    trace = pool_trace(("a", "b"), ones, ones, ones, ones, 1)
    costs = EnergyCosts(0, np.arange(96.0), np.zeros(96, dtype=np.int64), np.ones(96))
    replay(
        trace,
        policy,
        estimate(trace),
        holding=Holding(1, costs, 1.0) if policy.holds else NO_HOLDING,
        solver=solver,
        rounds=rounds,
        watch=RoundWatch(time.process_time) if is_watched else None,
    )
