"""Random numbers for kernels: a stream of their own for each search, the same on every machine (splitmix64)."""

from __future__ import annotations

import numpy as np

from planner.compiled import part

_STEP = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(0xBF58476D1CE4E5B9)
_TWO = np.uint64(0x94D049BB133111EB)
_53 = 1.0 / 9007199254740992.0


@part
def fraction(stream):
    """A number from 0 to below 1; moves the stream on."""
    stream[0] += _STEP
    mixed = stream[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _ONE
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _TWO
    mixed = mixed ^ (mixed >> np.uint64(31))
    return np.float64(mixed >> np.uint64(11)) * _53


@part
def below(stream, limit):
    """A whole number from 0 to below the limit; moves the stream on."""
    return np.int64(fraction(stream) * limit)
