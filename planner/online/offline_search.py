"""How long the search for off-line schedules goes on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OfflineSearch:
    """How long the search goes on: steps per job of the trace, or seconds if given; and its seed.

    With steps the result depends on the seed alone, with seconds on the machine too. ``bound_steps`` go into the proof
    of what no schedule can be below; 0: there is none.
    """

    steps: int = 60
    seed: int = 0
    seconds: float | None = None
    bound_steps: int = 1400
