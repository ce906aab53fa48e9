"""How long the searches of the simulator go on, and how the engine of a policy did."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class QueueSearch:
    """How much a round of the policy ``order`` tries: orders per waiting job; and the seed of its random changes."""

    evaluations: int = 3
    seed: int = 0


USUAL_SEARCH = QueueSearch()


@dataclass(frozen=True)
class EngineCounts:
    """Rounds in which the engine of the policy ``cp`` was asked, those with a proven best plan, and those with none."""

    rounds: int = 0
    proven: int = 0
    fallbacks: int = 0


@dataclass(frozen=True)
class OfflineSearch:
    """How long the search for an off-line schedule goes on: steps per job, or seconds if given; and its seed.

    With steps the result depends on the seed alone, with seconds on the machine too. ``bound_steps`` go into the proof
    of what no schedule can be below; 0: there is none.
    """

    steps: int = 60
    seed: int = 0
    seconds: float | None = None
    bound_steps: int = 1400
