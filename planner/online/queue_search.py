"""How the policy ``order`` goes about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class QueueSearch:
    """How much a round of the policy ``order`` tries: orders per waiting job; and the seed of its random changes."""

    evaluations: int = 3
    seed: int = 0


USUAL_SEARCH = QueueSearch()
