"""Where a moment lies among the edges of stretches of time that follow each other."""

from __future__ import annotations

import numpy as np

from planner.compiled import part


@part
def piece_at(edges, moment):
    """The stretch that holds a moment: the last one for moments beyond all edges, the first for those before."""
    low, high = np.int64(0), np.int64(edges.shape[0] - 1)
    while high - low > 1:
        middle = (low + high) // 2
        if edges[middle] <= moment:
            low = middle
        else:
            high = middle
    return low
