"""The learned predictor ``cvh``: regression on quadratic features, learning from one completed job at a time.

After Gaussier, Glesser, Reis and Trystram, "Improving backfilling by using machine learning to predict running times"
(SC 2015). Chosen here: their features of the job, its user's history and its user's running jobs; all products of two
of them; their asymmetric loss, squared for predictions that are too long and linear for those that are too short,
weighted by 1 + log(width * runtime); L2 regularisation; normalised adaptive gradient steps (Ross, Mineiro and Langford,
"Normalized online learning", UAI 2013). Step and regularisation are the ones that were tuned for bounded slowdown.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque

import numpy as np

from planner.domain.columns import Floats
from planner.online.kernel.learning import FEATURES, learn, products
from planner.online.trace import Trace

DAY_S, WEEK_S = 86400, 7 * 86400


class Learned:
    """Predicts with a linear model of quadratic features, at least 1 s and at most the requested time."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._width = trace.processors_of
        self._history: dict[int, deque[int]] = defaultdict(lambda: deque(maxlen=3))
        self._sums: dict[int, tuple[int, float, float]] = defaultdict(lambda: (0, 0.0, 0.0))
        self._last_end: dict[int, int] = {}
        self._running: dict[int, dict[int, int]] = defaultdict(dict)
        self._features: dict[int, Floats] = {}
        # weights, largest feature seen, sum of squared gradients; then count and normaliser
        self._model = np.zeros((3, FEATURES))
        self._model[1:] = 1e-9
        self._progress = np.array([1.0, 1e-9])

    def predict(self, job: int, now: int) -> int:
        """Predict from what is known of the job and its user; a job's features are those of its arrival."""
        if job not in self._features:
            self._features[job] = np.ones(FEATURES)
            products(self._describe(job, now), self._features[job])
        seconds = abs(float(self._model[0] @ self._features[job]))
        return max(1, min(int(min(seconds, 1e12)), int(self._trace.requested_s[job])))

    def begin(self, job: int, now: int) -> None:
        """Note that the user has one more running job."""
        self._running[int(self._trace.user[job])][job] = now

    def complete(self, job: int, now: int) -> None:
        """Take a step towards the job's runtime, and add it to its user's history."""
        user, runtime = int(self._trace.user[job]), int(self._trace.runtime_s[job])
        features = self._features.pop(job)
        weight = 1 + math.log(max(1.0, float(self._width[job]) * runtime))
        learn(self._model, self._progress, features, float(runtime), weight)
        count, seconds, widths = self._sums[user]
        self._sums[user] = (count + 1, seconds + runtime, widths + float(self._width[job]))
        self._history[user].appendleft(runtime)
        self._last_end[user] = now
        self._running[user].pop(job, None)

    def _describe(self, job: int, now: int) -> Floats:
        trace, user = self._trace, int(self._trace.user[job])
        requested, width = float(trace.requested_s[job]), float(self._width[job])
        past = [min(requested, float(seconds)) for seconds in self._history[user]]
        last = past + [requested] * (3 - len(past))
        count, seconds, widths = self._sums[user]
        elapsed = [now - start for start in self._running[user].values()]
        day, week = 2 * math.pi * (now % DAY_S) / DAY_S, 2 * math.pi * (now % WEEK_S) / WEEK_S
        return np.array(
            [
                requested,
                width,
                *last,
                sum(past[:2]) / len(past[:2]) if past else requested,
                sum(past) / len(past) if past else requested,
                seconds / count if count else 0.0,
                width * count / widths if count else 0.0,
                float(now - self._last_end[user]) if user in self._last_end else 0.0,
                float(sum(self._width[other] for other in self._running[user])),
                float(sum(elapsed)),
                float(len(elapsed)),
                float(max(elapsed, default=0)),
                math.cos(day),
                math.sin(day),
                math.cos(week),
                math.sin(week),
            ]
        )
