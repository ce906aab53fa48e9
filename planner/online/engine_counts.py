"""How the engine of the policy ``cp`` did in a replay."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class EngineCounts:
    """Rounds in which the engine was asked, those whose plan is proven best, and those in which it found nothing."""

    rounds: int = 0
    proven: int = 0
    fallbacks: int = 0
