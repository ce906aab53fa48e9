"""Whole numbers for money and energy: units small enough for the ledger, large enough for every engine.

CP Optimizer holds whole numbers up to 2^53, CP-SAT sums up to 2^63. The money unit is the most that the day could turn
over divided by 2^46, so that no sum of the objective passes 2^47. Energies are exact in milliwatt-seconds, divided by
what they all have in common; for the product of energy and cooling they are rounded once more, to 2^22 steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

MONEY_STEPS = 2**46
ENERGY_STEPS = 2**22


@dataclass
class Scale:
    """The units of one model, and the most by which its objective can differ from the ledger.

    Attributes
    ----------
    unit_eur
        Money of one unit of the objective [EUR].
    unit_mws
        Energy of one unit of an energy expression [mW s].
    error_units
        Sum of the rounding errors that the objective may make, in units of money.
    """

    unit_eur: float
    unit_mws: int
    error_units: float = field(default=0.0)

    @classmethod
    def of(cls, turnover_eur: float, energies_mws: Iterable[int]) -> Scale:
        """Units for a model that turns over at most so much and whose energies are multiples of these."""
        common = math.gcd(*(abs(energy) for energy in energies_mws))
        return cls(turnover_eur / MONEY_STEPS if turnover_eur > 0 else 1.0, common or 1)

    @property
    def error_eur(self) -> float:
        """The most by which the objective can differ from the ledger [EUR]."""
        return self.error_units * self.unit_eur

    def money(self, eur: float, times: float = 1.0) -> int:
        """An amount in whole units; ``times`` is the largest factor that it will be multiplied with."""
        self.error_units += 0.5 * times
        return round(eur / self.unit_eur)

    def energy(self, mws: int) -> int:
        """An energy in whole units, exactly."""
        assert mws % self.unit_mws == 0
        return mws // self.unit_mws

    def coarse(self, most: int) -> int:
        """The step to which an energy expression of at most this many units is rounded before a product."""
        return max(1, -(-most // ENERGY_STEPS))
