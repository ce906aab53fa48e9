"""A ledger: the energy and money that follow from a plan, line by line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields

from planner.domain.columns import Floats, Ints


@dataclass(frozen=True)
class SegmentLines:
    """One line per segment. ``work`` is what jobs draw, ``idle`` what nodes draw by themselves, ``it`` both.

    ``asleep_h`` are hours of nodes that sleep. ``solar`` is the site's own sun that it uses, ``fed`` what goes into the
    grid, ``curtailed`` what is left. The battery takes ``charged`` and gives ``discharged``, and holds ``battery_kwh``
    at the end of the segment; ``battery_eur`` is what it saves less what charging it costs. ``fees_eur`` is the part of
    the costs of IT and cooling that is paid on top of the price, for what the site would buy without the battery.
    """

    length_s: Ints
    temperature_c: Floats
    price_eur_per_kwh: Floats
    core_hours: Floats
    work_kwh: Floats
    idle_kwh: Floats
    cooling_kwh: Floats
    solar_kwh: Floats
    bought_kwh: Floats
    carbon_kg: Floats
    revenue_eur: Floats
    it_cost_eur: Floats
    cooling_cost_eur: Floats
    carbon_cost_eur: Floats
    asleep_h: Floats
    fed_kwh: Floats
    curtailed_kwh: Floats
    charged_kwh: Floats
    discharged_kwh: Floats
    battery_kwh: Floats
    fees_eur: Floats
    feed_in_eur: Floats
    battery_eur: Floats

    @property
    def it_kwh(self) -> Floats:
        """IT energy."""
        return self.work_kwh + self.idle_kwh

    @property
    def profit_eur(self) -> Floats:
        """Revenue less all costs of the segment; the demand charge is the day's, not a segment's."""
        spent = self.it_cost_eur + self.cooling_cost_eur + self.carbon_cost_eur
        return self.revenue_eur + self.feed_in_eur + self.battery_eur - spent


@dataclass(frozen=True)
class JobLines:
    """One line per job that runs today: first those that run at midnight, then the placed ones.

    The costs of idle nodes, cooling and carbon are shared among the jobs of a segment in proportion to their
    energy in it, the demand charge in proportion to their energy of the day; ``idle_kwh``, ``cooling_kwh`` and
    ``carbon_kg`` are those shares.
    """

    job_ids: tuple[str, ...]
    start_s: Ints
    end_s: Ints
    core_equivalents: Floats
    core_hours: Floats
    work_kwh: Floats
    idle_kwh: Floats
    cooling_kwh: Floats
    revenue_eur: Floats
    it_cost_eur: Floats
    cooling_cost_eur: Floats
    carbon_cost_eur: Floats
    demand_cost_eur: Floats
    carbon_kg: Floats

    @property
    def profit_eur(self) -> Floats:
        """Revenue less the job's share of all costs."""
        return self.revenue_eur - self.it_cost_eur - self.cooling_cost_eur - self.carbon_cost_eur - self.demand_cost_eur


@dataclass(frozen=True)
class Sums:
    """What is added up over a day."""

    core_hours: float
    work_kwh: float
    idle_kwh: float
    cooling_kwh: float
    solar_kwh: float
    bought_kwh: float
    carbon_kg: float
    revenue_eur: float
    it_cost_eur: float
    cooling_cost_eur: float
    carbon_cost_eur: float
    demand_cost_eur: float
    asleep_h: float = field(default=0.0, kw_only=True)
    fed_kwh: float = field(default=0.0, kw_only=True)
    curtailed_kwh: float = field(default=0.0, kw_only=True)
    charged_kwh: float = field(default=0.0, kw_only=True)
    discharged_kwh: float = field(default=0.0, kw_only=True)
    fees_eur: float = field(default=0.0, kw_only=True)
    feed_in_eur: float = field(default=0.0, kw_only=True)
    battery_eur: float = field(default=0.0, kw_only=True)


@dataclass(frozen=True)
class Totals(Sums):
    """The day's sums, and what follows from them."""

    @property
    def it_kwh(self) -> float:
        """IT energy."""
        return self.work_kwh + self.idle_kwh

    @property
    def energy_cost_eur(self) -> float:
        """Cost of all bought energy with its carbon and demand charges."""
        return self.it_cost_eur + self.cooling_cost_eur + self.carbon_cost_eur + self.demand_cost_eur

    @property
    def profit_eur(self) -> float:
        """Revenue, with what feeding in and the battery bring, less all costs."""
        return self.revenue_eur + self.feed_in_eur + self.battery_eur - self.energy_cost_eur

    @property
    def pue(self) -> float:
        """Energy of the whole site per unit of IT energy; 1 when nothing runs."""
        return 1.0 + self.cooling_kwh / self.it_kwh if self.it_kwh else 1.0

    def as_dict(self) -> Mapping[str, float]:
        """All sums and what follows from them, by name."""
        return {
            **asdict(self),
            "it_kwh": self.it_kwh,
            "energy_cost_eur": self.energy_cost_eur,
            "profit_eur": self.profit_eur,
            "pue": self.pue,
        }


@dataclass(frozen=True)
class Ledger:
    """Energy and money of one day.

    ``peak_kw`` is the day's highest mean bought power over the demand interval; ``site_cost_eur`` is the
    part of the costs that falls in segments where no job runs, so that no job can carry it. ``waiting_eur`` is what
    waiting counts when plans are compared; it is no money, and no part of any other number.
    """

    segments: SegmentLines
    jobs: JobLines
    peak_kw: float
    demand_cost_eur: float
    site_cost_eur: float
    waiting_eur: float = 0.0

    @property
    def totals(self) -> Totals:
        """Sums of the segment lines, and the demand charge."""
        sums = {
            each.name: math.fsum(getattr(self.segments, each.name))
            for each in fields(Totals)
            if each.name != "demand_cost_eur"
        }
        return Totals(demand_cost_eur=self.demand_cost_eur, **sums)

    @property
    def profit_eur(self) -> float:
        """The day's profit."""
        return self.totals.profit_eur

    @property
    def worth_eur(self) -> float:
        """What plans are compared by: the profit, less what waiting counts."""
        return self.profit_eur - self.waiting_eur
