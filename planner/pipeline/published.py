"""Figures that others have published, to stand beside ours."""

from __future__ import annotations

METRICS = ("bsld", "af", "awf", "p2sf")
"""Columns of the metrics paper's tables."""

POLICIES = ("easy", "easy-sjbf", "sjf-list", "saf-list", "laf-list")
"""Its policies, compared with List-REG."""

KTH_JOBS = 28481
"""Jobs of the filtered KTH-SP2 trace, by which it is recognised."""

KTH_SP2: dict[str, dict[str, tuple[int, int, int, int]]] = {
    "actual": {
        "easy": (7, -4, 1, 4),
        "easy-sjbf": (-26, -10, 1, 5),
        "sjf-list": (-67, -18, 12, 102),
        "saf-list": (-69, -17, 68, 574),
        "laf-list": (117, 26, -6, 61),
    },
    "requested": {
        "easy": (-9, -7, 1, 6),
        "easy-sjbf": (-32, -12, 1, 10),
        "sjf-list": (-56, -19, 17, 229),
        "saf-list": (-56, -6, 194, 2946),
        "laf-list": (35, 20, -6, 27),
    },
}
"""Percent against List-REG, all jobs (Goponenko et al. 2022), by estimate and policy, in the order of `METRICS`."""


def published_change(jobs: int, estimate: str, policy: str, metric: str) -> int | None:
    """The published percentage for a trace of so many jobs; None where nothing was published or known."""
    if jobs != KTH_JOBS or policy not in KTH_SP2.get(estimate, {}):
        return None
    return KTH_SP2[estimate][policy][METRICS.index(metric)]


EASY_BSLD: dict[tuple[int, int], dict[str, float]] = {
    (28_481, 100): {"requested": 92.6, "actual": 71.7},
    (54_034, 128): {"requested": 87.9, "actual": 70.5},
    (232_536, 1_152): {"requested": 36.5, "actual": 30.6},
    (295_540, 80_640): {"requested": 202.1, "actual": 69.9},
}
"""Mean bounded slowdown of EASY (Gaussier, Glesser, Reis and Trystram 2015, "Improving Backfilling by using Machine
Learning to predict Running Times") on KTH-SP2, SDSC-SP2, SDSC-BLUE and Curie, by usable jobs and processors.
Quoted from memory, not checked against the text."""


def published_bsld(jobs: int, processors: int, estimate: str) -> float | None:
    """The published mean bounded slowdown of EASY on a trace of that size; None where none is known."""
    return EASY_BSLD.get((jobs, processors), {}).get(estimate)
