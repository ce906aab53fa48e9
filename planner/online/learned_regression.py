"""The learned predictor ``cvh``: regression on quadratic features, learning from one completed job at a time.

Gaussier, Glesser, Reis and Trystram, "Improving backfilling by using machine learning to predict running times" (SC
2015): features of the job, its user's history and its user's running jobs; products of two of them; a loss that is
squared for predictions that are too long and linear for those that are too short, weighted by 1 + log(width * runtime);
L2 regularisation; normalised adaptive gradient steps (Ross, Mineiro and Langford, "Normalized online learning", UAI
2013). Details are those of the runs published with that paper, to the order of the sums: it is their results that this
predictor reproduces. Two of them surprise. The runtimes of the user's last jobs stand as the time since those jobs were
submitted, and the mean of three is a third of the sum rounded to 0.33.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque

import numpy as np

from planner.domain.columns import Floats
from planner.domain.trace import Trace
from planner.online.kernel.regression_step import FEATURES, TINY, learn, predicted, products

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
        # weights, largest feature seen, sum of squared gradients; then count and norm
        self._model = np.zeros((3, FEATURES))
        self._model[1:] = TINY
        self._progress = np.array([1.0, TINY])

    def predict(self, job: int, now: int) -> int:
        """Predict from what is known about the job and its user; a job's features are those of its arrival."""
        if job not in self._features:
            self._features[job] = np.ones(FEATURES)
            products(self._describe(job, now), self._features[job])
        seconds = abs(float(predicted(self._model, self._features[job])))
        return max(1, min(int(min(seconds, 1e12)), int(self._trace.requested_s[job])))

    def begin(self, job: int, now: int) -> None:
        """Note that the user has one more running job."""
        self._running[int(self._trace.user[job])][job] = now

    def stop(self, job: int, now: int) -> None:
        """Note that the user has one running job less."""
        self._running[int(self._trace.user[job])].pop(job, None)

    def complete(self, job: int, now: int) -> None:
        """Take a step towards the job's runtime, and add it to its user's history."""
        user, runtime = int(self._trace.user[job]), int(self._trace.runtime_s[job])
        features = self._features.pop(job)
        weight = 1 + math.log(max(1.0, float(self._width[job]) * runtime))
        learn(self._model, self._progress, features, float(runtime), weight)
        count, seconds, widths = self._sums[user]
        self._sums[user] = (count + 1, seconds + runtime, widths + float(self._width[job]))
        self._history[user].appendleft(int(self._trace.submit_s[job]))
        self._last_end[user] = now
        self._running[user].pop(job, None)

    def _describe(self, job: int, now: int) -> Floats:
        trace, user = self._trace, int(self._trace.user[job])
        requested, width = float(trace.requested_s[job]), float(self._width[job])
        past = [min(requested, float(now - submitted)) for submitted in self._history[user]]
        last = past + [requested] * (3 - len(past))
        mean_of_2 = 0.5 * (last[0] + last[1]) if len(past) > 1 else last[0]
        mean_of_3 = 0.33 * (last[0] + last[1] + last[2]) if len(past) > 2 else mean_of_2
        count, seconds, widths = self._sums[user]
        elapsed = [now - start for start in self._running[user].values()]
        day = 2 * math.pi * float(trace.submit_s[job] % DAY_S) / DAY_S
        week = 2 * math.pi * float(trace.submit_s[job] % WEEK_S) / WEEK_S
        return np.array(
            [
                *last,
                requested,
                mean_of_2,
                mean_of_3,
                seconds / count if count else 0.0,
                float(now - self._last_end[user]) if user in self._last_end else 0.0,
                width / (widths / count) if count else 0.0,
                float(sum(self._width[other] for other in self._running[user])),
                float(sum(elapsed)),
                float(len(elapsed)),
                float(max(elapsed, default=0)),
                math.cos(day),
                math.sin(day),
                math.cos(week),
                math.sin(week),
                width,
            ]
        )
