"""One step of the learned predictor: quadratic features, and a normalised adaptive gradient step on them."""

from __future__ import annotations

import math

from planner.compiled import kernel

STEP = 5000.0
REGULARISATION = 4e9
BASE = 18
"""Features before products."""

PAIRED = 16
"""The first so many of them are multiplied with each other, all with themselves."""

FEATURES = 1 + BASE + PAIRED * (PAIRED - 1) // 2 + BASE
TINY = 1e-9

COUNT, NORM = range(2)
WEIGHT, LARGEST, STEEPNESS = range(3)


@kernel
def products(base, features):
    """Write the features after the 1 that stands first, then products of two of them, then their squares."""
    place = 1
    for first in range(BASE):
        features[place] = base[first]
        place += 1
    for first in range(PAIRED):
        for second in range(first + 1, PAIRED):
            features[place] = base[first] * base[second]
            place += 1
    for first in range(BASE):
        features[place] = base[first] * base[first]
        place += 1


@kernel
def predicted(model, features):
    """What the linear model says."""
    total = 0.0
    for k in range(features.shape[0]):
        total += model[WEIGHT, k] * features[k]
    return total


@kernel
def learn(model, progress, features, runtime, weight):
    """One normalised adaptive gradient step; ``progress`` counts by two, as in the published runs."""
    norm = 0.0
    for k in range(features.shape[0]):
        size = abs(features[k])
        if size > model[LARGEST, k]:
            model[WEIGHT, k] *= model[LARGEST, k] / size
            model[LARGEST, k] = size
        norm += features[k] * features[k] / (model[LARGEST, k] * model[LARGEST, k])
    progress[NORM] += norm
    error = predicted(model, features) - runtime
    for k in range(features.shape[0]):
        slope = 0.0
        if error > 0:
            slope = weight * (2 * features[k] * error)
        elif error < 0:
            slope = -weight * features[k]
        slope += REGULARISATION * model[WEIGHT, k]
        model[STEEPNESS, k] += slope * slope
        scale = math.sqrt(progress[NORM] * model[STEEPNESS, k] / progress[COUNT]) * model[LARGEST, k]
        model[WEIGHT, k] += -STEP * slope / scale
    progress[COUNT] += 2
