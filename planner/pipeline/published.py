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
