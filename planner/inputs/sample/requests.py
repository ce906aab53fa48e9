"""Requested wallclock times: round values, mostly far above what a job then runs.

After D. Tsafrir, Y. Etsion and D. G. Feitelson, Modeling user runtime estimates, JSSPP 2005 (LNCS 3834): users
choose among some twenty round values, a tenth or so of the jobs reach their limit, and the share of the
request that the others use is spread evenly.
"""

from __future__ import annotations

import numpy as np

from planner.inputs.sample.lublin import Floats, Ints

_MINUTES = (5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 360, 480, 600, 720, 1080, 1440, 2160, 2880)
ROUND_REQUESTS_S = 60 * np.array(_MINUTES, dtype=np.int64)
"""The values that users choose, from 5 minutes to 48 hours [s]."""

AT_LIMIT_SHARE = 0.1
"""Share of jobs that run into their limit and are ended there."""

LEAST_USED_FRACTION = 0.1
"""Smallest part of the request that a job uses before rounding up."""


def draw_requests(rng: np.random.Generator, runtimes_s: Floats) -> tuple[Ints, Ints]:
    """Requested and actual wallclock times for jobs that would run so long [s].

    A job at its limit ends at the last round value below its runtime; the others ask for the first round value
    that holds their runtime divided by a uniform fraction. The actual time never exceeds the request.
    """
    at_limit, used = rng.random((2, len(runtimes_s)))
    wanted_s = runtimes_s / (LEAST_USED_FRACTION + (1.0 - LEAST_USED_FRACTION) * used)
    last = len(ROUND_REQUESTS_S) - 1
    requested_s = ROUND_REQUESTS_S[np.minimum(np.searchsorted(ROUND_REQUESTS_S, wanted_s), last)]
    below = np.searchsorted(ROUND_REQUESTS_S, runtimes_s, side="right") - 1
    ended = (at_limit < AT_LIMIT_SHARE) & (below >= 0)
    requested_s = np.where(ended, ROUND_REQUESTS_S[below], requested_s)
    actual_s = np.clip(runtimes_s.astype(np.int64), 1, requested_s)
    return requested_s, actual_s
