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


RUNS: tuple[tuple[str, str, str], ...] = (
    ("easy", "requested", "request"),
    ("easy", "requested*2", "request"),
    ("easy", "actual", "request"),
    ("easy-sjbf", "requested", "request"),
    ("easy-sjbf", "requested*2", "request"),
    ("easy-sjbf", "actual", "request"),
    ("easy-sjbf", "last2", "request"),
    ("easy-sjbf", "last2", "steps"),
    ("easy-sjbf", "last2", "double"),
    ("easy", "last2", "request"),
    ("easy", "last2", "steps"),
    ("easy", "last2", "double"),
    ("easy", "cvh", "request"),
    ("easy", "cvh", "steps"),
    ("easy", "cvh", "double"),
)
"""The runs of `PREDICTIONS`; all of them are made of a trace of which nothing was published."""


def _campaign(jobs: int, *bsld: float) -> Campaign:
    """Runs of a trace with these bounded slowdowns: the first of `RUNS`, so many."""
    return Campaign(jobs, dict(zip(RUNS, bsld, strict=False)))


PREDICTIONS: dict[tuple[int, int], Campaign] = {
    (28_481, 100): _campaign(
        28_481,
        *(92.57653973362949, 79.9302510862489, 71.7223851124418),
        *(69.40540058030349, 58.9125322399729, 49.8477189313406),
        *(62.8568827272923, 63.5006771704074, 64.527474221916),
        *(65.7235894400489, 85.4429055860284, 76.9224423223752),
        *(72.2094323161655, 71.2977655452963, 70.1579366090176),
    ),
    (53_999, 128): _campaign(
        54_006,
        *(87.8703241921987, 82.13522465093959, 70.4779419668026),
        *(84.8889445442655, 77.9010408094305, 56.836221269454),
        *(65.063601053285, 79.3962818520491, 98.0031571790094),
    ),
    (232_536, 1_152): _campaign(
        232_542,
        *(36.523363539312896, 33.3701998672158, 30.6214539423518),
        *(19.826011515171498, 18.275664563958003, 13.1775880058696),
        *(16.826861218912, 20.9864307955655, 22.339324670744098),
    ),
    (295_540, 80_640): _campaign(
        295_540,
        *(202.133161662561, 255.290734570217, 69.9259347073813),
        *(169.030310143181, 198.990042815193, 12.079795446879),
        *(21.3284265658258, 193.471297793165, 192.473112415704),
    ),
}
"""Result tables published with Gaussier, Glesser, Reis and Trystram, "Improving backfilling by using machine learning
to predict running times" (SC 2015): KTH-SP2, SDSC-SP2, SDSC-BLUE and CEA-Curie, by usable jobs and processors here.

All jobs, no trimming, a scheduling round an event. The paper prints some of them to one digit. Read from copies of the
authors' repository predictsim on GitHub, ``jad-darrous/predictsim`` and, for Curie, ``dinesh121991/predictsim``: column
``avgbsld`` of ``experiments/data/<trace>/sim_analysis/metrics_complete``.
"""
