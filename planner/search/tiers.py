"""Tiered orders: the best-paying work first, and within each tier the large jobs first, so that it packs tightly.

An order by profit alone leaves holes that jobs of little profit fill; an order by size alone starts the wrong jobs. A
tiered order is both: jobs are ranked by profit per core and second, cut into tiers of so much work each, and sorted by
size within a tier. How wide the tiers are, how much of the release time counts and what size means is searched for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from planner.domain.columns import Floats, Ints
from planner.domain.job_order import job_core_equivalents, submission_rank
from planner.domain.ledger import Ledger
from planner.domain.plan import Plan
from planner.domain.problem import Problem
from planner.domain.result import Trial
from planner.search.complete import settle_decoded
from planner.search.decode import decode
from planner.search.margin import job_margin_per_s
from planner.search.stop import Stop

BATCH = 8
"""Orders tried between two looks at the best: fixed, so that the number of workers changes nothing."""

_RELEASES_S = (1, 900, 3600, 14400, 10**9)
_WIDTHS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 4.0, 100.0)
_SIZES = ((1.0, 1.0), (0.0, 1.0), (1.0, 0.0), (0.5, 1.0), (1.0, 0.5), (0.0, -1.0), (-1.0, 0.0))


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


@dataclass(frozen=True)
class Candidate:
    """A plan with its ledger and the name of what made it."""

    plan: Plan
    ledger: Ledger
    name: str


def tier_search(
    problem: Problem,
    best: Candidate,
    *,
    seed: int,
    workers: int,
    stop: Stop,
    on_trial: Callable[[Trial], None] | None = None,
) -> tuple[Candidate, list[Trial]]:
    """Try tiered orders, widely and near the best one, until ``stop`` or until a hundred in a row are of no use."""
    rng = np.random.default_rng(seed)
    facts = _Facts.of(problem)
    trials: list[Trial] = []
    near: Tiering | None = None
    idle = 0

    def attempt(tiering: Tiering) -> Candidate:
        return Candidate(*settle_decoded(problem, decode(problem, facts.order(tiering))), tiering.name)

    with ThreadPoolExecutor(max_workers=workers) as pool:
        for batch in _batches(rng):
            tierings = [_near(rng, near) if near is not None and rng.random() < 0.7 else one for one in batch]
            for tiering, found in zip(tierings, pool.map(attempt, tierings), strict=True):
                profit = found.ledger.profit_eur
                trial = Trial(found.name, profit, int(found.plan.is_placed.sum()))
                trials.append(trial)
                idle += 1
                if profit > best.ledger.profit_eur:
                    best, near, idle = found, tiering, 0
                    if on_trial is not None:
                        on_trial(trial)
            if idle >= 100 or stop(best.ledger.profit_eur):
                return best, trials
    return best, trials


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
        inside = np.minimum(columns.duration_s, day - columns.release_s)
        margin = np.divide(job_margin_per_s(problem), equivalents, out=np.zeros(len(columns)), where=equivalents > 0)
        submitted = submission_rank(problem)
        best_first = np.lexsort((submitted, -margin))
        rank = np.empty(len(columns))
        capacity = problem.cluster.total("cores") * day
        rank[best_first] = np.cumsum((equivalents * inside)[best_first]) / capacity
        urgent = np.where(columns.latest_start_s < day, columns.latest_start_s, np.inf)
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


def _batches(rng: np.random.Generator) -> Iterator[list[Tiering]]:
    """Batches of tierings drawn at random, without end."""
    while True:
        yield [
            Tiering(
                float(_RELEASES_S[rng.integers(len(_RELEASES_S))]),
                float(_WIDTHS[rng.integers(len(_WIDTHS))]),
                *_SIZES[rng.integers(len(_SIZES))],
            )
            for _ in range(BATCH)
        ]


def _near(rng: np.random.Generator, tiering: Tiering) -> Tiering:
    """A tiering much like another."""
    return replace(
        tiering,
        release_s=tiering.release_s * float(rng.uniform(0.7, 1.4)),
        width=tiering.width * float(np.exp(rng.normal(0, 0.15))),
        wide=tiering.wide + float(rng.normal(0, 0.15)),
        long=tiering.long + float(rng.normal(0, 0.15)),
    )
