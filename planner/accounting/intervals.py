"""Energy of overlapping intervals of constant power, in whole milliwatt-seconds."""

from __future__ import annotations

import numpy as np

from planner.domain.columns import Ints


def energy_between(edges_s: Ints, start_s: Ints, end_s: Ints, power_mw: Ints) -> Ints:
    """Energy of half-open intervals in each stretch between neighbouring edges, which increase [mW s].

    The total power over time is a step function; its running integral is taken at every edge, so the
    cost is that of sorting the starts and ends, however many edges there are.
    """
    if not len(start_s):
        return np.zeros(len(edges_s) - 1, dtype=np.int64)
    moments = np.concatenate([start_s, end_s])
    changes = np.concatenate([power_mw, -power_mw])
    order = np.argsort(moments, kind="stable")
    moments, changes = moments[order], changes[order]
    level = np.cumsum(changes)
    integral = np.concatenate([[0], np.cumsum(level[:-1] * np.diff(moments))])
    last = np.searchsorted(moments, edges_s, side="right") - 1
    inside = last >= 0
    at = np.where(inside, last, 0)
    running = np.where(inside, integral[at] + level[at] * (edges_s - moments[at]), 0)
    return np.diff(running).astype(np.int64)


def overlap_s(edges_s: Ints, start_s: Ints, end_s: Ints) -> Ints:
    """Seconds of each interval in each stretch between neighbouring edges; shape (intervals, stretches)."""
    clipped = np.clip(edges_s[None, :], start_s[:, None], end_s[:, None])
    return np.diff(clipped, axis=1)


def merged_intervals(owner: Ints, start_s: Ints, end_s: Ints) -> tuple[Ints, Ints, Ints]:
    """Union of the intervals of each owner, as owners, starts and ends of disjoint intervals."""
    if not len(owner):
        return owner, start_s, end_s
    order = np.lexsort((start_s, owner))
    owner, start_s, end_s = owner[order], start_s[order], end_s[order]
    # The latest end so far, per owner: one running maximum over ranks serves all, since later owners rank higher. Times
    # themselves would not do: far ends of many owners set apart go beyond 64 bits.
    ends, rank = np.unique(end_s, return_inverse=True)
    place = np.cumsum(np.append(False, owner[1:] != owner[:-1])) * len(ends)
    reach = ends[np.maximum.accumulate(rank + place) - place]
    opens = np.ones(len(owner), dtype=bool)
    opens[1:] = (owner[1:] != owner[:-1]) | (start_s[1:] > reach[:-1])
    first = np.flatnonzero(opens)
    last = np.append(first[1:], len(owner)) - 1
    return owner[first], start_s[first], reach[last]
