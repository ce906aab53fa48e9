"""Sizes, runtimes and submit times of jobs after the workload model of Lublin and Feitelson.

U. Lublin and D. G. Feitelson, The workload on parallel supercomputers: modeling the characteristics of rigid
jobs, J. Parallel Distrib. Comput. 63(11), 2003. Parameters are those for all jobs together, without types.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

SERIAL_SHARE = 0.244
POWER_OF_TWO_SHARE = 0.576
SIZE_LOW, SIZE_MEDIUM = 0.8, 4.5
SIZE_LOWER_SHARE = 0.86
"""Log2 of the size of a parallel job is uniform in [low, medium] with this probability, else in [medium, high]."""

SHORT_SHAPE, SHORT_SCALE = 4.2, 0.94
LONG_SHAPE, LONG_SCALE = 312.0, 0.03
SHORT_SHARE_SLOPE, SHORT_SHARE_AT_ZERO = -0.0054, 0.78
LONGEST_LOG_RUNTIME = 12.0
"""The natural logarithm of the runtime [s] is a mixture of two gammas, drawn again when above the longest."""

GAP_SHAPE, GAP_SCALE = 10.2303 * 1.0225, 0.4871
LONGEST_LOG_GAP = 10.0
"""The natural logarithm of the time between submissions [s]; the model itself cuts at 13, which is five days
and leaves days without a job."""

BUCKET_S = 1800
CYCLE_WEIGHTS = (
    0.01057959843178319, 0.009502539102676932, 0.008510663507641226, 0.007601317258210264,
    0.006771137452215825, 0.00601623538454911, 0.005332356101827831, 0.004715015450610213,
    0.0041596157879862025, 0.0036615418821931357, 0.003435789025920002, 0.004976987538631733,
    0.006860454771155355, 0.009064817342836649, 0.011548007245469744, 0.01425062893333902,
    0.017100503780095824, 0.020017779387239174, 0.022920060525558714, 0.025727130602239547,
    0.02836496120052636, 0.030768833087129004, 0.032885502607728614, 0.034674435929339734,
    0.03610819799022456, 0.037172124280200294, 0.03786342462927971, 0.03818987292978341,
    0.038168229308449625, 0.037822525627655604, 0.03718232474706818, 0.03628104149546708,
    0.035154390894091586, 0.033839008317949865, 0.032371267914742076, 0.03078631021230212,
    0.029117277581546464, 0.02739474698251779, 0.02564634294186298, 0.023896509629999542,
    0.02216641882170622, 0.020473990026940038, 0.018833999784208754, 0.017258258671602474,
    0.015755836713710534, 0.014333320301295395, 0.01299508630031381, 0.011743581560178485,
)  # fmt: skip
"""Share of a day's submissions in each half-hour from midnight, in local time; two hours a line.

The half-hours are numbered from 1, bucket i ending i/2 hours after midnight. Its share is cdf(i + 0.5) - cdf(i - 0.5)
of gamma(8.1737, scale 3.9631) for i from 11 to 58, where 49 is again the first half-hour of the day. The day thus turns
at 5 o'clock in the morning and peaks around 2 in the afternoon. Written out: to work it out would be to load a library
for half a second at every start.
"""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_MINUTES = (5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 360, 480, 600, 720, 1080, 1440, 2160, 2880)
ROUND_REQUESTS_S = 60 * np.array(_MINUTES, dtype=np.int64)
"""The values that users choose, from 5 minutes to 48 hours [s]."""
AT_LIMIT_SHARE = 0.1
"""Share of jobs that run into their limit and are ended there."""
LEAST_USED_FRACTION = 0.1
"""Smallest part of the request that a job uses before rounding up."""


def draw_sizes(rng: np.random.Generator, count: int, largest: int) -> Ints:
    """Numbers of processors of this many jobs, from 1 to ``largest``.

    A job is serial with probability 0.244; with 0.576 its size is a power of two; else any number. The medium
    of the two-stage uniform is kept between 3.5 and 1.5 below the high, as the authors advise.
    """
    high = math.log2(largest)
    medium = max(min(max(SIZE_MEDIUM, high - 3.5), high - 1.5), min(SIZE_LOW, high))
    low = min(SIZE_LOW, medium)
    kind, stage, within = rng.random((3, count))
    exponent = np.where(stage < SIZE_LOWER_SHARE, low + within * (medium - low), medium + within * (high - medium))
    rounded = np.minimum(np.floor(exponent + 0.5), math.floor(high))
    exponent = np.where(kind < SERIAL_SHARE + POWER_OF_TWO_SHARE, rounded, exponent)
    parallel = np.clip(np.floor(2.0**exponent + 0.5), min(2, largest), largest).astype(np.int64)
    return np.where(kind < SERIAL_SHARE, 1, parallel)


def draw_runtimes(rng: np.random.Generator, sizes: Ints) -> Floats:
    """Runtimes of jobs of these sizes [s], at most exp(12) s; larger jobs are more often long."""
    short_share = np.clip(SHORT_SHARE_SLOPE * sizes + SHORT_SHARE_AT_ZERO, 0.0, 1.0)
    logs = np.full(len(sizes), np.inf)
    while len(again := np.flatnonzero(logs > LONGEST_LOG_RUNTIME)):
        short = rng.random(len(again)) < short_share[again]
        logs[again] = np.where(
            short,
            rng.gamma(SHORT_SHAPE, SHORT_SCALE, len(again)),
            rng.gamma(LONG_SHAPE, LONG_SCALE, len(again)),
        )
    runtimes_s: Floats = np.exp(logs)
    return runtimes_s


def draw_submit_times(rng: np.random.Generator, count: int, bucket_weights: Floats) -> Ints:
    """Submit times of this many jobs [s from the day's start], rising, over consecutive half-hours of these weights.

    Gaps are drawn from the model and scaled to fill the day with exactly ``count`` jobs, from a random start and
    round the clock, so that no hour is favoured. They are then spent as the model spends them: a busy half-hour
    takes a larger part of the total than a quiet one.
    """
    logs = np.full(count, np.inf)
    while len(again := np.flatnonzero(logs > LONGEST_LOG_GAP)):
        logs[again] = rng.gamma(GAP_SHAPE, GAP_SCALE, len(again))
    spent = np.cumsum(np.exp(logs))
    shares = np.sort((spent / spent[-1] + rng.random()) % 1.0) if count else spent
    total = np.concatenate([[0.0], np.cumsum(bucket_weights)])
    edges_s = BUCKET_S * np.arange(len(total), dtype=np.int64)
    times = np.interp(shares, total / total[-1], edges_s).astype(np.int64)
    times_s: Ints = np.minimum(times, edges_s[-1] - 1)
    return times_s


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
