"""Tiered orders: the best-paying work first, and within each tier the large jobs first, so that it packs tightly.

An order by profit alone leaves holes that jobs of little profit fill; an order by size alone starts the wrong jobs. A
tiered order is both: jobs are ranked by what they are worth per core and second, cut into tiers of so much work each,
and sorted by size within a tier. How wide the tiers are, how much of the release time counts and what size means is
searched for.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from planner.domain.columns import Floats, Ints
from planner.domain.job_order import job_core_equivalents
from planner.domain.problem import Problem
from planner.domain.result import BestSoFar, Candidate, Trial
from planner.search.decode import decode
from planner.search.orderings import job_worth_per_core_s
from planner.search.whole_plan_rules import evaluate_decoded

BATCH = 8
"""Orders tried between two looks at the best: fixed, so that the number of workers changes nothing."""

MOST_IDLE = 100
"""Orders in a row without a better plan after which tiers have given what they can."""

NEAR_CHANCE = 0.7
"""Chance that an order is drawn near the best one instead of anywhere."""

SPREAD = 0.15
"""How far a tiering near another lies from it: standard deviation of both exponents, and of the width's logarithm."""

RELEASE_FACTORS = (0.7, 1.4)
"""The release stretch of a tiering near another, least and most, as parts of the other's."""

_WHOLE_DAY_S = 10**9
_RELEASES_S = (1, 900, 3600, 14400, _WHOLE_DAY_S)
"""Release stretches of the grid: from each second by itself to the whole day at once [s]."""

_WIDTHS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 4.0, 100.0)
"""Widths of the grid, the last of which puts all jobs into one tier."""

_SIZES = ((1.0, 1.0), (0.0, 1.0), (1.0, 0.0), (0.5, 1.0), (1.0, 0.5), (0.0, -1.0), (-1.0, 0.0))
"""Exponents of the grid: by work, time, cores, two mixtures, and the shortest or narrowest first."""


@dataclass(frozen=True)
class Tiering:
    """How an order is made.

    Attributes
    ----------
    release_s
        Jobs released within the same stretch of this length compete; earlier stretches go first.
    width
        Work in a tier, in what the machine can do in the day.
    wide, long
        Exponents of core-equivalents and of time in the size of a job; the largest go first.
    """

    release_s: float
    width: float
    wide: float
    long: float

    @property
    def name(self) -> str:
        """A short name for reports."""
        hours = f"{self.release_s / 3600:.2g} h" if self.release_s < 86400 else "day"
        return f"tiers of {self.width:.3g} by {hours}, size {self.wide:.1f}/{self.long:.1f}"


FIRST = tuple(
    Tiering(release_s, width, wide, 1.0)
    for release_s, width, wide in (
        (_WHOLE_DAY_S, 1.0, 0.3),
        (_WHOLE_DAY_S, 1.4, 0.3),
        (_WHOLE_DAY_S, 2.0, 0.3),
        (_WHOLE_DAY_S, 1.0, 0.0),
        (_WHOLE_DAY_S, 1.4, 0.0),
        (_WHOLE_DAY_S, 1.4, 0.5),
        (14400, 2.0, 0.3),
        (14400, 1.4, 1.0),
    )
)
"""The batch that comes first: of 192 orders tried on thirteen mornings of a long queue, those that were often the best.

That is the long jobs first, whenever they came in, among the best-paying work of one to two days.
"""


class TierSearch:
    """Tiered orders tried batch by batch: `FIRST`, then drawn widely and, once one has helped, mostly near the best.

    ``trials`` are all that were tried.
    """

    def __init__(self, problem: Problem, so_far: BestSoFar, *, seed: int, workers: int) -> None:
        self._problem = problem
        self._so_far = so_far
        self._workers = workers
        self._rng = np.random.default_rng(seed)
        self._facts = _Facts.of(problem)
        self._near: Tiering | None = None
        self._idle = 0
        self.trials: list[Trial] = []

    def try_batch(self) -> bool:
        """Try a batch of orders; false once `MOST_IDLE` in a row were of no use."""
        tierings = self._draw()
        with ThreadPoolExecutor(max_workers=self._workers) as pool:
            for tiering, found in zip(tierings, pool.map(self._attempt, tierings), strict=True):
                self.trials.append(found.trial)
                self._idle += 1
                if self._so_far.keep_if_better(found):
                    self._near, self._idle = tiering, 0
                    self._so_far.tell(found.trial)
        return self._idle < MOST_IDLE

    def _attempt(self, tiering: Tiering) -> Candidate:
        return evaluate_decoded(self._problem, decode(self._problem, self._facts.order(tiering)), tiering.name)

    def _draw(self) -> list[Tiering]:
        """The first batch, or one drawn at random, most of it near the best tiering if there is one."""
        if not self.trials:
            return list(FIRST)
        rng, near = self._rng, self._near
        anywhere = [_any_tiering(rng) for _ in range(BATCH)]
        if near is None:
            return anywhere
        return [_near(rng, near) if rng.random() < NEAR_CHANCE else tiering for tiering in anywhere]


@dataclass(frozen=True)
class _Facts:
    """What orders are made from."""

    urgent: Floats
    release_s: Ints
    rank: Floats
    equivalents: Floats
    inside_s: Ints
    submitted: Ints

    @classmethod
    def of(cls, problem: Problem) -> _Facts:
        columns, day = problem.columns, problem.horizon.length_s
        equivalents = job_core_equivalents(columns)
        # A job that waits for others may not come into the day at all.
        inside = np.minimum(columns.duration_s, np.maximum(1, day - columns.release_s))
        submitted = problem.submission_rank
        best_first = np.lexsort((submitted, -job_worth_per_core_s(problem)))
        rank = np.empty(len(columns))
        capacity = problem.cluster.total("cores") * day
        rank[best_first] = np.cumsum((equivalents * inside)[best_first]) / capacity
        urgent = np.where(columns.latest_start_s < problem.starts_end_s, columns.latest_start_s, np.inf)
        return cls(urgent, columns.release_s, rank, equivalents, inside, submitted)

    def order(self, tiering: Tiering) -> Ints:
        """The sequence of jobs of a tiering."""
        size = np.maximum(self.equivalents, 1e-9) ** tiering.wide * self.inside_s.astype(float) ** tiering.long
        keys = (
            self.submitted,
            -size,
            np.floor(self.rank / tiering.width),
            np.floor(self.release_s / tiering.release_s),
            self.urgent,
        )
        return np.lexsort(keys).astype(np.int64)


def _any_tiering(rng: np.random.Generator) -> Tiering:
    """A tiering drawn from the grid."""
    return Tiering(
        float(_RELEASES_S[rng.integers(len(_RELEASES_S))]),
        float(_WIDTHS[rng.integers(len(_WIDTHS))]),
        *_SIZES[rng.integers(len(_SIZES))],
    )


def _near(rng: np.random.Generator, tiering: Tiering) -> Tiering:
    """A tiering much like another."""
    return replace(
        tiering,
        release_s=tiering.release_s * float(rng.uniform(*RELEASE_FACTORS)),
        width=tiering.width * float(np.exp(rng.normal(0, SPREAD))),
        wide=tiering.wide + float(rng.normal(0, SPREAD)),
        long=tiering.long + float(rng.normal(0, SPREAD)),
    )
