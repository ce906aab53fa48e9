"""The runtimes that a policy assumes: actual, requested, either times a factor, or predicted."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from planner.domain.columns import Ints
from planner.domain.trace import Trace
from planner.errors import InputError
from planner.online.predictor import Predictor
from planner.online.predictors import PREDICTORS, predictor_named

SOURCES = ("actual", "requested")
_SCALED = re.compile(r"(?P<source>[a-z0-9-]+)\s*[*x]\s*(?P<factor>.+)")


@dataclass(frozen=True)
class Estimate:
    """A way to estimate runtimes: ``make`` gives the estimates of a trace, or a fresh predictor for it."""

    name: str
    make: Callable[[Trace], Ints | Predictor]


def estimate_named(name: str) -> Estimate:
    """The estimate of a name: ``actual``, ``requested``, ``actual*0.5``, ``requested*2``, or a predictor.

    A factor applies to the actual or requested time; the product is rounded up to whole seconds and is not capped.
    """
    text = name.strip().lower()
    match = _SCALED.fullmatch(text)
    source, factor = (match["source"], _factor(match["factor"], name)) if match else (text, 1.0)
    if source in SOURCES:
        return Estimate(text, lambda trace: _scaled(_source(trace, source), factor))
    if match:
        raise InputError(f"estimate {name!r}: only {' and '.join(SOURCES)} times can be scaled, not {source!r}")
    if source not in PREDICTORS and not source.startswith("survival-"):
        known = ", ".join([*SOURCES, "actual*FACTOR", "requested*FACTOR", *PREDICTORS])
        raise InputError(f"unknown estimate or predictor {name!r}; known: {known}")
    make = predictor_named(source)
    return Estimate(text, make)


def _source(trace: Trace, source: str) -> Ints:
    return trace.runtime_s if source == "actual" else trace.requested_s


def _scaled(seconds: Ints, factor: float) -> Ints:
    if factor == 1.0:
        return np.maximum(seconds, 1)
    scaled: Ints = np.maximum(np.ceil(seconds * factor), 1).astype(np.int64)
    return scaled


def _factor(text: str, name: str) -> float:
    try:
        factor = float(text)
    except ValueError:
        factor = math.nan
    if not 0 < factor < math.inf:
        raise InputError(f"estimate {name!r}: the factor must be a number above 0, as in actual*0.5")
    return factor
