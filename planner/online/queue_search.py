"""How the policy ``order`` goes about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class QueueSearch:
    """How much a round of the policy ``order`` tries: orders per waiting job; and the seed of its random changes.

    On several nodes ``most_looks`` ends the changes of a round early: so many bunches of like nodes are looked at for
    the jobs of its plans, the known orders included, which are always tried. 0: no limit.
    """

    evaluations: int = 10
    seed: int = 0
    most_looks: int = 0


USUAL_SEARCH = QueueSearch()
