"""Jobs that are held: the scheduler would start them, and they wait for cheaper hours; and the rule that says how long.

A held job is like one whose begin time is later: it is not in the queue, so it blocks nobody, and when its time has
come it joins the queue again at its place. From the first moment at which the scheduler would have started a job it is
held for no longer than the site allows, in all.

The rule finds the quarter of an hour at which a job costs least that could start now. Prices are told per quarter of
an hour: ``paid`` is what a kW costs from the moment ``paid_from`` until each quarter after it [EUR], so that what a
stretch of time costs is a difference. Whether there will be room then is left to the scheduler: the simulator uses the
rule on the jobs of the day, and the look ahead on those of tomorrow, and so finds how much holding pays.
"""

from __future__ import annotations

import math

import numpy as np

from planner.compiled import kernel, part
from planner.domain.method_params import LEAST_MARGIN_S, MARGIN_PART
from planner.machine.timeline import NEVER
from planner.online.kernel.likely_lengths import note_likely_lengths, note_what_is_left
from planner.online.kernel.queue_order import enqueue, go_for_good
from planner.online.kernel.state import NONE_YET

MILLIWATTS_PER_KW = 1e6

QUARTER_S = np.int64(900)

SECONDS_PER_HOUR = 3600.0

LEAST_GAIN = 1e-9
"""What a later start must save at least, as a part of the cost of starting now: less is rounding."""


@part
def is_kept_back(state, job, now):
    """Whether a job that the scheduler would start now is held; if so, it leaves the queue until then."""
    if state.clock.holds == 0:
        return False
    if state.jobs[job].reference < 0:
        in_time, longest = state.jobs[job].latest, now + state.clock.max_delay_s
        state.jobs[job].reference = now
        state.jobs[job].latest = longest if in_time < 0 else min(longest, in_time)
    eur_per_hour = state.clock.eur_per_held_hour
    last = min(state.jobs[job].latest, _last_before_shut(state, job, now))
    if last <= now or eur_per_hour == math.inf:
        return False
    # A hold that has ended by itself is over until all is looked at again; what was lost with a node has waited enough.
    if state.jobs[job].hold_until > state.clock.looked_at or state.jobs[job].restarts > 0:
        return False
    count = note_likely_lengths(state, job)
    power_kw = state.jobs[job].power / MILLIWATTS_PER_KW
    least = state.clock.least_eur_per_kwh
    until = cheapest_start(
        state.paid, state.clock.paid_from, least, power_kw, state.lengths, count, now, last, eur_per_hour
    )
    if until == now:
        return False
    state.jobs[job].saved_eur += _saved_by(state, job, now, until)
    state.jobs[job].hold_until = until
    state.lists[state.clock.holding].on_hold = job
    state.clock.holding += 1
    state.clock.left += 1
    return True


@part
def _saved_by(state, job, now, until):
    """What the energy of a job is likely to cost less if it starts at a later moment than now [EUR]."""
    count, power_kw = note_likely_lengths(state, job), state.jobs[job].power / MILLIWATTS_PER_KW
    cost_now = mean_cost(state.paid, state.clock.paid_from, power_kw, state.lengths, count, now)
    return cost_now - mean_cost(state.paid, state.clock.paid_from, power_kw, state.lengths, count, until)


@part
def _last_before_shut(state, job, now):
    """Until when a job may be held so that it ends, if it runs as long as it asks, before all nodes go down.

    Some time is left before that, as before a deadline, since other jobs may be first.
    """
    requested = state.jobs[job].requested
    margin = max(np.int64(LEAST_MARGIN_S * state.clock.per_second), requested // MARGIN_PART)
    for row in range(state.shut.shape[0]):
        if state.shut[row, 0] > now and state.shut[row, 1] <= now:
            return state.shut[row, 0] - requested - margin
    return NEVER


@part
def has_left(state, job, now):
    """Whether a job of the queue has started in this round, or is held."""
    return state.jobs[job].start >= 0 or state.jobs[job].hold_until > now


@part
def next_hold_end(state):
    """The next second at which a held job joins the queue or is cancelled; else NEVER."""
    moment = NEVER
    for place in range(state.clock.holding):
        job = state.lists[place].on_hold
        moment = min(moment, state.jobs[job].hold_until)
        if state.clock.has_cancels > 0:
            moment = min(moment, state.jobs[job].cancel_s)
    return moment


@part
def release_due(state, now):
    """Let the held jobs join the queue whose time has come."""
    kept = np.int64(0)
    for place in range(state.clock.holding):
        job = state.lists[place].on_hold
        if state.jobs[job].hold_until <= now:
            state.jobs[job].reserved = NONE_YET
            enqueue(state, job)
            state.clock.scan = 1
        else:
            state.lists[kept].on_hold = job
            kept += 1
    state.clock.holding = kept


@part
def withdraw_on_hold(state, now):
    """Let the held jobs go that are cancelled in this second."""
    kept = np.int64(0)
    for place in range(state.clock.holding):
        job = state.lists[place].on_hold
        if state.jobs[job].cancel_s <= now:
            state.jobs[job].hold_until = now
            go_for_good(state, job)
        else:
            state.lists[kept].on_hold = job
            kept += 1
    state.clock.holding = kept


@kernel
def note_outlook(state, jobs, lasting, now, likely, count):
    """Write the likely lengths of jobs, and how many there are; of those that run, what is left of them.

    The first so many are jobs of today; the others stand for jobs to come, as long as they were if they have ended.
    """
    for place in range(jobs.shape[0]):
        job = jobs[place]
        if place >= lasting:
            # What stands for days before has gone at its submission.
            begin = state.jobs[job].start
            if begin < 0 and state.jobs[job].cancel_s == state.jobs[job].submit:
                begin = state.jobs[job].submit
            if begin >= 0 and begin + state.jobs[job].runtime <= now:
                likely[place, 0], count[place] = state.jobs[job].runtime, 1
                continue
        is_running = place < lasting and state.jobs[job].start >= 0
        ran = now - state.jobs[job].start if is_running else np.int64(0)
        count[place] = note_what_is_left(state, job, ran)
        for k in range(count[place]):
            likely[place, k] = state.lengths[k]


@kernel
def look_again(state, now):
    """Release all held jobs at a moment; what the rest of their holds would have saved is not saved."""
    state.clock.looked_at = now
    for place in range(state.clock.holding):
        job = state.lists[place].on_hold
        if state.jobs[job].hold_until > now:
            state.jobs[job].saved_eur -= _saved_by(state, job, now, state.jobs[job].hold_until)
            state.jobs[job].hold_until = now


@part
def cheapest_start(paid, paid_from, least_eur_per_kwh, power_kw, lengths, count, now, last, eur_per_hour):
    """When a job had best start from now to ``last``: now, or at a quarter of an hour.

    Its energy costs the mean over so many likely lengths; an hour of waiting counts for ``eur_per_hour``. A kWh costs
    at least ``least_eur_per_kwh`` at any time.
    """
    cost_now = mean_cost(paid, paid_from, power_kw, lengths, count, now)
    best, start = cost_now - LEAST_GAIN * abs(cost_now), now
    least = power_kw * mean_length(lengths, count) / SECONDS_PER_HOUR * least_eur_per_kwh
    moment = paid_from + ((now - paid_from) // QUARTER_S + 1) * QUARTER_S
    while moment <= last:
        waiting = eur_per_hour * (moment - now) / SECONDS_PER_HOUR
        if waiting + least >= best:
            break
        cost = mean_cost(paid, paid_from, power_kw, lengths, count, moment) + waiting
        if cost < best:
            best, start = cost, moment
        moment += QUARTER_S
    return start


@part
def mean_cost(paid, paid_from, power_kw, lengths, count, start):
    """What the energy of a job costs from a start on, as the mean over so many likely lengths [EUR]."""
    before = paid_until(paid, paid_from, start)
    total = 0.0
    for k in range(count):
        total += paid_until(paid, paid_from, start + lengths[k]) - before
    return power_kw * total / count


@part
def mean_length(lengths, count):
    """The mean of so many likely lengths [s]."""
    total = 0.0
    for k in range(count):
        total += lengths[k]
    return max(1.0, total / count)


@part
def paid_until(paid, paid_from, moment):
    """What a kW costs until a moment [EUR]; beyond the last quarter as much as on average before."""
    quarters = paid.shape[0] - 1
    place = (moment - paid_from) / QUARTER_S
    if place >= quarters:
        return paid[quarters] + (place - quarters) * paid[quarters] / quarters
    if place <= 0.0:
        return 0.0
    entry = np.int64(place)
    return paid[entry] + (paid[entry + 1] - paid[entry]) * (place - entry)
