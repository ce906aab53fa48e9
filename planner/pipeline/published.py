"""Figures that others have published, to stand beside ours."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True)
class Campaign:
    """Runs that were published of one trace: its jobs there, and the mean bounded slowdown of each run.

    A run is a policy, an estimate, and what becomes of an estimate that a job outlives.
    """

    jobs: int
    bsld: dict[tuple[str, str, str], float]


PREDICTIONS: dict[tuple[int, int], Campaign] = {
    (28_481, 100): Campaign(
        jobs=28_481,
        bsld={
            ("easy", "requested", "request"): 92.57653973362949,
            ("easy", "requested*2", "request"): 79.9302510862489,
            ("easy", "actual", "request"): 71.7223851124418,
            ("easy", "last2", "request"): 65.7235894400489,
            ("easy", "last2", "steps"): 85.4429055860284,
            ("easy", "last2", "double"): 76.9224423223752,
            ("easy", "cvh", "request"): 72.2094323161655,
            ("easy", "cvh", "steps"): 71.2977655452963,
            ("easy", "cvh", "double"): 70.1579366090176,
            ("easy-sjbf", "requested", "request"): 69.40540058030349,
            ("easy-sjbf", "requested*2", "request"): 58.9125322399729,
            ("easy-sjbf", "actual", "request"): 49.8477189313406,
            ("easy-sjbf", "last2", "request"): 62.8568827272923,
            ("easy-sjbf", "last2", "steps"): 63.5006771704074,
            ("easy-sjbf", "last2", "double"): 64.527474221916,
        },
    ),
    (53_999, 128): Campaign(
        jobs=54_006,
        bsld={
            ("easy", "requested", "request"): 87.8703241921987,
            ("easy", "requested*2", "request"): 82.13522465093959,
            ("easy", "actual", "request"): 70.4779419668026,
            ("easy-sjbf", "requested", "request"): 84.8889445442655,
            ("easy-sjbf", "requested*2", "request"): 77.9010408094305,
            ("easy-sjbf", "actual", "request"): 56.836221269454,
            ("easy-sjbf", "last2", "request"): 65.063601053285,
            ("easy-sjbf", "last2", "steps"): 79.3962818520491,
            ("easy-sjbf", "last2", "double"): 98.0031571790094,
        },
    ),
    (232_536, 1_152): Campaign(
        jobs=232_542,
        bsld={
            ("easy", "requested", "request"): 36.523363539312896,
            ("easy", "requested*2", "request"): 33.3701998672158,
            ("easy", "actual", "request"): 30.6214539423518,
            ("easy-sjbf", "requested", "request"): 19.826011515171498,
            ("easy-sjbf", "requested*2", "request"): 18.275664563958003,
            ("easy-sjbf", "actual", "request"): 13.1775880058696,
            ("easy-sjbf", "last2", "request"): 16.826861218912,
            ("easy-sjbf", "last2", "steps"): 20.9864307955655,
            ("easy-sjbf", "last2", "double"): 22.339324670744098,
        },
    ),
    (295_540, 80_640): Campaign(
        jobs=295_540,
        bsld={
            ("easy", "requested", "request"): 202.133161662561,
            ("easy", "requested*2", "request"): 255.290734570217,
            ("easy", "actual", "request"): 69.9259347073813,
            ("easy-sjbf", "requested", "request"): 169.030310143181,
            ("easy-sjbf", "requested*2", "request"): 198.990042815193,
            ("easy-sjbf", "actual", "request"): 12.079795446879,
            ("easy-sjbf", "last2", "request"): 21.3284265658258,
            ("easy-sjbf", "last2", "steps"): 193.471297793165,
            ("easy-sjbf", "last2", "double"): 192.473112415704,
        },
    ),
}
"""Result tables published with Gaussier, Glesser, Reis and Trystram, "Improving backfilling by using machine learning
to predict running times" (SC 2015): KTH-SP2, SDSC-SP2, SDSC-BLUE and CEA-Curie, by usable jobs and processors here.

All jobs, no trimming, a scheduling round an event. The paper prints some of them to one digit. Read from copies of the
authors' repository predictsim on GitHub, ``jad-darrous/predictsim`` and, for Curie, ``dinesh121991/predictsim``: column
``avgbsld`` of ``experiments/data/<trace>/sim_analysis/metrics_complete``.
"""

RUNS = tuple(PREDICTIONS[28_481, 100].bsld)
"""What is run on a trace of which nothing was published."""
