"""How the policy ``replan`` goes about it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from planner.domain.columns import Floats, Ints


@dataclass(frozen=True, eq=False)
class Replanning:
    """What the policy ``replan`` needs to know besides the jobs and the machine.

    Attributes
    ----------
    max_delay_s
        The promise: how much later than its reference start a job may start at most [s].
    every_s
        How often the order is searched and holds are decided again [s].
    price_s, price_eur_per_kwh
        Moments at which the price of energy changes [s of the trace], and the prices between them.
    eur_per_waiting_hour
        What an hour of waiting of one job counts for; a job is held only if that saves more.
    eur_per_width_hour
        What a width of one earns in an hour.
    steps
        Jobs that each search may place in its plans; 0: no search.
    ahead_s
        How far ahead a search looks [s].
    seed
        Seed of the search.
    repairs
        Whether freed room is given away at every event, not only every so often.
    holds
        Whether work is held for cheaper hours.
    """

    max_delay_s: int = 0
    every_s: int = 900
    price_s: Ints = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    price_eur_per_kwh: Floats = field(default_factory=lambda: np.zeros(0))
    eur_per_waiting_hour: float = 0.0
    eur_per_width_hour: float = 0.0
    steps: int = 0
    ahead_s: int = 86400
    seed: int = 0
    repairs: bool = True
    holds: bool = True

    @property
    def may_hold(self) -> bool:
        """Whether there is anything to hold work for."""
        return self.holds and self.max_delay_s > 0 and len(np.unique(self.price_eur_per_kwh)) > 1


NO_REPLANNING = Replanning()
