"""The event loop of a replay, second by second: what ends or arrives, then a round; also the order within a second."""

from __future__ import annotations

import numpy as np

from planner.compiled import kernel, part
from planner.machine.heap import pop
from planner.machine.timeline import NEVER, forget_past
from planner.online.kernel.conservative_rounds import arrive, conservative_round, deadline_round, is_held, join_queue
from planner.online.kernel.corrections import correct
from planner.online.kernel.easy_list_rounds import can_start, easy_round, greedy_round, list_round, strict_round
from planner.online.kernel.hold_one_job import next_hold_end, release_due
from planner.online.kernel.likely_lengths import note_length
from planner.online.kernel.nodes import hold_job
from planner.online.kernel.order_policy import order_round
from planner.online.kernel.outages_and_cancels import is_changing, resume, take_changes, withdraw
from planner.online.kernel.queue_order import come_first, go_for_good
from planner.online.kernel.state import (
    CONSERVATIVE,
    DEADLINE,
    DEADLINE_EARLY,
    EASY,
    GREEDY,
    LIST,
    MACHINE,
    ORDERED,
    STRICT,
)


@part
def advance(state, seconds):
    """Replay up to so many event seconds; returns 0 when all is done, the entries needed to go on, or -1 to go on."""
    return _advance(state, seconds, True)


@kernel
def advance_simple(state, seconds):
    """The same under policies that plan nothing ahead, with rounds by the second.

    Baselines of a night need no more, and it is sooner compiled.
    """
    return _advance(state, seconds, None)


@part
def _advance(state, seconds, any_policy):
    """The same; where ``any_policy`` is None, only what `advance_simple` needs is compiled into it."""
    for _ in range(seconds):
        now = next_second(state)
        if now == NEVER:
            return np.int64(0)
        needed = entries_needed(state, now)
        if needed > state.times.shape[1]:
            return needed
        open_second(state, now)
        if any_policy is None:
            _round_after_all_events(state, now, None)
        elif state.clock.every_event > 0:
            _round_after_every_event(state, now)
        else:
            _round_after_all_events(state, now, any_policy)
    return np.int64(-1)


@part
def _round_after_all_events(state, now, any_policy):
    """All arrivals and completions of a second, then one round."""
    while is_arriving(state, now):
        take_arrival(state)
    while is_ending(state, now):
        take_completion(state, now)
    _schedule(state, now, any_policy)


@part
def _round_after_every_event(state, now):
    """The arrivals and completions of a second with a round after each; one round before them for all that came first.

    That is what nodes and cancelled jobs did, and reservations that are due when nothing else happens.
    """
    if state.clock.scan > 0 or not (is_arriving(state, now) or is_ending(state, now)):
        schedule(state, now)
    while is_arriving(state, now):
        take_arrival(state)
        schedule(state, now)
    while is_ending(state, now):
        take_completion(state, now)
        schedule(state, now)


@part
def next_second(state):
    """The next second at which anything happens: a job arrives, ends, goes, or is reserved to start; else NEVER."""
    now = state.clock.resume_at
    if state.clock.arrived < state.jobs.shape[0]:
        now = min(now, state.jobs[state.clock.arrived].submit)
    if state.clock.running > 0:
        now = min(now, state.ends[0].key)
    if state.clock.changes < state.changes.shape[0]:
        now = min(now, state.changes[state.clock.changes].moment)
    if state.clock.has_cancels > 0:
        for place in range(state.clock.queued):
            now = min(now, state.jobs[state.queue[place]].cancel_s)
        for place in range(state.clock.held):
            now = min(now, state.jobs[state.lists[place].held].cancel_s)
    now = min(now, next_hold_end(state))
    if state.clock.policy >= CONSERVATIVE:
        for place in range(state.clock.queued):
            reserved = state.jobs[state.queue[place]].reserved
            if reserved >= 0:
                now = min(now, reserved)
    return now if now < state.clock.until else NEVER


@part
def entries_needed(state, now):
    """Entries that a row of the timeline may need in this second: two more for every job that can be held."""
    longest = np.int64(0)
    for row in range(state.length.shape[0] // 2):
        longest = max(longest, state.length[row])
    next_job = state.clock.arrived
    while next_job < state.jobs.shape[0] and state.jobs[next_job].submit == now:
        next_job += 1
    waiting = state.clock.held + state.clock.holding + state.clock.queued + next_job - state.clock.arrived
    held = min(waiting, state.clock.crowd) + state.clock.expected + state.clock.resumes
    if is_changing(state, now):
        held += state.clock.running + state.changes.shape[0]
    return longest + 2 * held + 8


@part
def open_second(state, now):
    """Begin a second: what is past is forgotten, nodes and cancelled jobs go, and outlived estimates are corrected."""
    state.clock.now = now
    forget_past(state.times, state.free, state.length, state.length.shape[0] // 2, now)
    resume(state, now)
    take_changes(state, now)
    release_due(state, now)
    withdraw(state, now)
    correct(state, now)


@part
def is_arriving(state, now):
    """Whether another job arrives in this second."""
    return state.clock.arrived < state.jobs.shape[0] and state.jobs[state.clock.arrived].submit == now


@part
def take_arrival(state):
    """Let the next job arrive, unless it is cancelled in the same second."""
    if state.jobs[state.clock.arrived].cancel_s > state.clock.now:
        arrive(state, state.clock.arrived)
    else:
        go_for_good(state, state.clock.arrived)
        join_queue(state, state.clock.now)
    state.clock.arrived += 1
    state.clock.fresh += 1


@part
def is_ending(state, now):
    """Whether another job ends in this second."""
    return state.clock.running > 0 and state.ends[0].key == now


@part
def take_completion(state, now):
    """Let the next job that ends in this second give its nodes back."""
    job = pop(state.ends.key, state.ends.job, state.jobs.started_at, state.clock.running)
    state.clock.running -= 1
    if state.jobs[job].expected_end > now:
        hold_job(state, MACHINE, job, np.int64(-1), now, state.jobs[job].expected_end)
        state.clock.early += 1
    note_length(state, job)
    come_first(state, job, np.int64(1))
    join_queue(state, now)
    state.lists[state.clock.finished].finished = job
    state.clock.finished += 1
    state.clock.scan, state.clock.blocked = 1, 0


@part
def schedule(state, now):
    """A scheduling round, if one is due, and more of them as long as jobs join that waited for the start of others."""
    _schedule(state, now, True)


@part
def _schedule(state, now, any_policy):
    """The same; where ``any_policy`` is None, only for simple policies."""
    if is_due(state, now):
        _run(state, now, any_policy)
    while is_another_due(state, now):
        _run(state, now, any_policy)


@part
def _run(state, now, any_policy):
    """Run a round; numba leaves out the branch that is not taken, and all that it would need."""
    if any_policy is None:
        run_simple_round(state, now)
    else:
        run_round(state, now)


@part
def is_due(state, now):
    """Whether the policy looks at the queue after what happened since the last round."""
    return state.clock.queued > 0 and _looks_at_queue(state, now)


@part
def is_another_due(state, now):
    """Begin to note anew what happens until the next round; whether that is now, as jobs join the queue."""
    state.clock.scan, state.clock.fresh, state.clock.early, state.clock.broken = 0, 0, 0, 0
    if state.clock.joining == 0:
        return False
    join_queue(state, now)
    return True


@part
def _looks_at_queue(state, now):
    """Whether a round is due: always, or for plain EASY if a job has ended or one that has just arrived fits."""
    if state.clock.scan_only_if_fits == 0 or state.clock.scan > 0:
        return True
    for job in range(state.clock.arrived - state.clock.fresh, state.clock.arrived):
        if not is_held(state, job) and can_start(state, job, now):
            return True
    return False


@part
def run_round(state, now):
    """What a round does is the policy's. Rounds of cp are not here: Python runs them."""
    policy = state.clock.policy
    if policy in (STRICT, GREEDY, EASY):
        run_simple_round(state, now)
        return
    state.clock.rounds += 1
    if policy == LIST:
        list_round(state, now)
    elif policy == ORDERED:
        order_round(state, now)
    elif policy == CONSERVATIVE:
        conservative_round(state, now)
    elif policy in (DEADLINE, DEADLINE_EARLY):
        deadline_round(state, now)


@part
def run_simple_round(state, now):
    """A round of a policy that starts jobs and plans nothing ahead but one reservation."""
    state.clock.rounds += 1
    policy = state.clock.policy
    if policy == STRICT:
        strict_round(state, now)
    elif policy == GREEDY:
        greedy_round(state, now)
    else:
        easy_round(state, now)


@part
def run_list_round(state, now):
    """A round of list scheduling, whatever the policy."""
    state.clock.rounds += 1
    list_round(state, now)
