"""Holding work for cheaper hours: until when a job is held, and above which price waiting gains nothing."""

from __future__ import annotations

import math

import numpy as np

from planner.compiled import part
from planner.online.kernel.energy import energy_cost, entry_after
from planner.online.kernel.nodes import idle_now
from planner.online.kernel.state import (
    CAPACITY,
    ESTIMATE,
    EUR_PER_WAITING_HOUR,
    HOLDS,
    LATEST,
    MAX_DELAY_S,
    USED,
    USED_AT,
    USED_NOW,
    WISH,
)

SPARE = 0.5
"""A machine that is busy in at most this part of its room has room in every hour."""

MEMORY_S = 86400.0
"""How far back the use of the machine is remembered [s]: an hour that long ago counts a third."""

SECONDS_PER_HOUR = 3600.0


@part
def hold(state, job, now):
    """Note when a job had best start: the cheapest time within its promise, an hour of waiting at its price.

    Hours that are cheaper than the level count as if they cost that much: the machine is full then anyway. What a job
    costs is straight in its start between the moments at which its start or its end passes a change of price, so only
    these are looked at.
    """
    state.job[WISH, job] = now
    last = state.job[LATEST, job]
    if state.clock[HOLDS] == 0 or last <= now:
        return
    length = max(np.int64(1), state.job[ESTIMATE, job])
    best = energy_cost(state, job, now, now + length)
    edge = entry_after(state, now)
    while edge < state.price_s.shape[0] and state.price_s[edge] - length <= last:
        for moment in (state.price_s[edge], state.price_s[edge] - length):
            if now < moment <= last:
                cost = energy_cost(state, job, moment, moment + length)
                cost += state.worth[EUR_PER_WAITING_HOUR] * (moment - now) / SECONDS_PER_HOUR
                if cost < best:
                    best = cost
                    state.job[WISH, job] = moment
        edge += 1


@part
def set_level(state, now):
    """Raise every price from now on to the level: what the dearest of the hours costs that the machine needs anyway.

    A machine that was busy lately in a part of its room, beyond what is always spare, needs as large a part of the
    hours within the promise: the cheapest ones. Waiting for a cheaper one of these gains nothing; others want it too.
    """
    edges, prices, sums = state.price_s, state.price, state.price_sum
    until = now + state.clock[MAX_DELAY_S]
    first = max(np.int64(0), entry_after(state, now) - 1)
    needed = max(0.0, (state.use[USED] - SPARE) / (1.0 - SPARE)) * (until - now)
    level, filled = -np.inf, 0.0
    while filled < needed:
        following = np.inf
        for k in range(first, prices.shape[0]):
            if edges[k] >= until:
                break
            if level < prices[k] < following:
                following = prices[k]
        if following == np.inf:
            break
        level = following
        for k in range(first, prices.shape[0]):
            if edges[k] >= until:
                break
            if prices[k] == level:
                filled += min(edges[k + 1], until) - max(edges[k], now)
    for k in range(first, prices.shape[0]):
        sums[k + 1] = sums[k] + max(prices[k], level) * (edges[k + 1] - edges[k]) / SECONDS_PER_HOUR


@part
def note_use(state, now):
    """Bring up to date which part of the machine was in use lately: the mean, older hours counting less and less."""
    passed = now - state.clock[USED_AT]
    if passed > 0:
        weight = 1.0 - math.exp(-passed / MEMORY_S)
        state.use[USED] += (state.use[USED_NOW] - state.use[USED]) * weight
        state.clock[USED_AT] = now
    state.use[USED_NOW] = 1.0 - idle_now(state) / state.clock[CAPACITY]
