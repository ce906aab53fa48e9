"""The cells of the study: one policy on one trace with one estimate, as part of one of its tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.studies.published import POLICIES, PREDICTED, PREDICTORS

BASE = "list"
"""The policy that all others are compared with, List-REG."""

PARTS: dict[str, str] = {
    "policies": "Table II: nine policies against List-REG, with actual and requested times",
    "predictors": "Tables III and IV: predicted against requested times",
    "distortion": "figures 3 and 4: actual runtimes times a factor",
}
ESTIMATES = ("actual", "requested")
LOW, HIGH = 0.5, 2.0
"""The least and the largest factor of a distortion."""

TRIM = "last"
"""The trimming rule that meets the published figures; the paper does not name it."""

UNREQUESTED = "drop"
"""What becomes of jobs without a requested time, of which SDSC-SP2 has some: so most published figures are met."""


@dataclass(frozen=True)
class Cell:
    """One replay; ``trace`` is the trace's name, ``unrequested`` what becomes of jobs without a requested time."""

    trace: str
    policy: str
    estimate: str
    unrequested: str = UNREQUESTED

    @property
    def name(self) -> str:
        """Its name, such as ``KTH-SP2/drop/actual/easy``."""
        return f"{self.trace}/{self.unrequested}/{self.estimate}/{self.policy}"


def factors(steps: int) -> list[float]:
    """Factors of runtimes from 0.5 to 2 in equal steps, and 1 among them."""
    found = {round(LOW + (HIGH - LOW) * k / steps, 6) for k in range(steps + 1)}
    return sorted(found | {1.0})


def distorted(factor: float) -> str:
    """The estimate that is the actual runtime times a factor."""
    return "actual" if factor == 1 else f"actual*{factor:g}"


def predicted_runs() -> list[tuple[str, str]]:
    """Policies and estimates of the tables on predictors, requested times first."""
    runs = dict.fromkeys((policy, estimate) for _, policy, estimate in PREDICTORS)
    return sorted(runs, key=lambda run: (list(PREDICTED).index(run[0]), run[1] != "requested"))


def cells_of(trace: str, part: str, unrequested: str, steps: int) -> list[Cell]:
    """The cells of a part of the study on one trace; those of two parts may be the same."""
    runs: Sequence[tuple[str, str]]
    if part == "policies":
        runs = [(policy, estimate) for estimate in ESTIMATES for policy in (BASE, *POLICIES)]
    elif part == "predictors":
        runs = predicted_runs()
    else:
        runs = [(policy, distorted(factor)) for policy in PREDICTED for factor in factors(steps)]
    return [Cell(trace, policy, estimate, unrequested) for policy, estimate in runs]
