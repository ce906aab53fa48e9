"""One step of the learned predictor: quadratic features, and a normalised adaptive gradient step on them."""

from __future__ import annotations

import math

from planner.compiled import kernel

STEP = 5000.0
REGULARISATION = 4e9
BASE = 18
"""Features before products."""

FEATURES = 1 + BASE + BASE * (BASE + 1) // 2


@kernel
def products(base, features):
    """Write the features and all products of two of them after the 1 that stands first."""
    place = 1
    for first in range(BASE):
        features[place] = base[first]
        place += 1
    for first in range(BASE):
        for second in range(first, BASE):
            features[place] = base[first] * base[second]
            place += 1


@kernel
def learn(model, progress, features, runtime, weight):
    """One normalised adaptive gradient step."""
    predicted = 0.0
    for k in range(features.shape[0]):
        size = abs(features[k])
        if size > model[1, k]:
            model[0, k] *= model[1, k] / size
            model[1, k] = size
        progress[1] += (features[k] / model[1, k]) ** 2
        predicted += model[0, k] * features[k]
    slope = weight * (2 * (predicted - runtime) if predicted > runtime else -1.0)
    for k in range(features.shape[0]):
        gradient = slope * features[k] + 2 * REGULARISATION * model[0, k]
        model[2, k] += gradient * gradient
        model[0, k] -= STEP * gradient / (math.sqrt(progress[1] * model[2, k] / progress[0]) * model[1, k])
    progress[0] += 1
