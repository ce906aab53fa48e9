"""What a site earns and pays, besides the price of electricity in the segments; and its battery."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from planner import limits
from planner.domain.cluster import Cluster
from planner.domain.columns import Floats, JobColumns
from planner.domain.job import Job
from planner.errors import InputError
from planner.units import MILLI


@dataclass(frozen=True)
class Battery:
    """A battery that serves the site: it is charged from unused sun or from the grid, and never feeds the grid.

    ``power_kw`` is the most that it takes or gives, ``efficiency`` the part of what is put in that comes out again;
    half of the loss is at each end. It holds ``start_kwh`` when the day begins, and at least ``end_kwh`` when it ends,
    as far as it can be charged by then.
    """

    capacity_kwh: float
    power_kw: float
    efficiency: float
    start_kwh: float
    end_kwh: float

    def __post_init__(self) -> None:
        limits.BATTERY_KWH.require("the battery's capacity", self.capacity_kwh)
        limits.BATTERY_KW.require("the battery's power", self.power_kw)
        limits.EFFICIENCY.require("the battery's efficiency", self.efficiency)
        for what, held in (("at the start", self.start_kwh), ("at the end", self.end_kwh)):
            if not 0 <= held <= self.capacity_kwh:
                raise InputError(f"the battery holds {held:g} kWh {what}; it must be from 0 to {self.capacity_kwh:g}")

    @property
    def one_way(self) -> float:
        """Part of the energy that is left after going in, and again after coming out."""
        return float(self.efficiency**0.5)

    def end_kwh_within(self, hours: float) -> float:
        """What it must hold at the end: no more than it can be charged to in that time."""
        return min(self.end_kwh, self.start_kwh + self.power_kw * self.one_way * hours)


@dataclass(frozen=True)
class UsePrice:
    """What the use of a node's resources earns: per core-equivalent and hour, and per hour of single resources."""

    eur_per_core_hour: float
    eur_per_hour: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        limits.EUR_PER_CORE_HOUR.require("the revenue per core-hour", self.eur_per_core_hour)
        for resource, eur in self.eur_per_hour.items():
            limits.EUR_PER_CORE_HOUR.require(f"the revenue per hour of {resource}", eur)


@dataclass(frozen=True)
class Rates:
    """What use earns and what is paid for peaks and carbon.

    The demand charge is on the day's highest mean bought power over ``demand_interval_s``, as far as it is above
    ``demand_so_far_kw``: the peak that is charged already. ``carbon_weight_eur_per_tonne`` is what a tonne of CO2
    counts besides its price when plans are compared; it is no part of the money. ``eur_per_hour`` is what each unit of
    a resource earns in an hour on top, by the resource's name; ``class_prices`` are those of some classes instead: a
    job is billed at the cheapest class that it may use, wherever it runs. The factors are on all that the jobs of an
    account or a QOS pay. ``battery`` is the site's as the day finds it.
    """

    eur_per_core_hour: float
    demand_eur_per_kw: float = 0.0
    demand_interval_s: int = 900
    carbon_eur_per_tonne: float = 0.0
    eur_per_hour: Mapping[str, float] = field(default_factory=dict)
    class_prices: Mapping[str, UsePrice] = field(default_factory=dict)
    account_factors: Mapping[str, float] = field(default_factory=dict)
    qos_factors: Mapping[str, float] = field(default_factory=dict)
    demand_so_far_kw: float = 0.0
    battery: Battery | None = None
    carbon_weight_eur_per_tonne: float = 0.0

    def __post_init__(self) -> None:
        UsePrice(self.eur_per_core_hour, self.eur_per_hour)
        for payer, factor in (*self.account_factors.items(), *self.qos_factors.items()):
            limits.REVENUE_WEIGHT.require(f"the factor on the revenue of {payer}", factor)
        limits.EUR_PER_KW.require("the demand charge per kW", self.demand_eur_per_kw)
        limits.SITE_KW.require("the peak so far", self.demand_so_far_kw)
        limits.ANY_INTERVAL_S.require("the demand interval", self.demand_interval_s)
        limits.EUR_PER_TONNE.require("the carbon price per tonne", self.carbon_eur_per_tonne)
        limits.EUR_PER_TONNE.require("the weight of carbon per tonne", self.carbon_weight_eur_per_tonne)

    @property
    def counted(self) -> Rates:
        """The rates as methods see them: a tonne of CO2 costs what it counts."""
        more = self.carbon_weight_eur_per_tonne
        if not more:
            return self
        return replace(self, carbon_eur_per_tonne=self.carbon_eur_per_tonne + more, carbon_weight_eur_per_tonne=0.0)

    @property
    def eur_per_charged_hour(self) -> float:
        """What a charged core-hour earns: the price of a core-equivalent, or 1 where that is free."""
        return self.eur_per_core_hour or 1.0

    def price_on(self, node_class: str) -> UsePrice:
        """What use earns on the nodes of a class."""
        return self.class_prices.get(node_class) or UsePrice(self.eur_per_core_hour, self.eur_per_hour)

    def charged(self, columns: JobColumns, cluster: Cluster, jobs: Sequence[Job]) -> Floats:
        """Core-hours that an hour of a unit of each group is charged as: at the cheapest class that its job may use.

        What it asked decides, and not the node that it was given. Work that runs where its job may not, or where a unit
        of it has no room, is charged at the cheapest class with room for it; 0 where there is none.
        """
        on_class = self._charged_on(columns, cluster)
        fits = columns.group_core_equivalents > 0
        names = [each.name for each in cluster.classes]
        asked = [[not job.classes or name in job.classes for name in names] for job in jobs]
        of_job = np.array(asked, dtype=np.bool_).reshape(len(jobs), len(names))
        may_use = fits & np.repeat(of_job, np.diff(columns.group_ptr), axis=0)
        may_use |= fits & ~may_use.any(axis=1, keepdims=True)
        return np.where(may_use.any(axis=1), np.where(may_use, on_class, np.inf).min(axis=1), 0.0)

    def _charged_on(self, columns: JobColumns, cluster: Cluster) -> Floats:
        """Core-hours that an hour of a unit of each group would be charged as at the price of each class.

        With one price for all core-equivalents that is what the unit takes of them.
        """
        if not self.eur_per_hour and not self.class_prices and self.eur_per_core_hour:
            return columns.group_core_equivalents
        charged = np.zeros_like(columns.group_core_equivalents)
        for place, node_class in enumerate(cluster.classes):
            price = self.price_on(node_class.name)
            earned = columns.group_core_equivalents[:, place] * price.eur_per_core_hour
            for resource, eur in price.eur_per_hour.items():
                earned += columns.group_amount[:, cluster.resources.index(resource)] / MILLI * eur
            charged[:, place] = earned / self.eur_per_charged_hour
        return charged

    def weights(self, jobs: Sequence[Job]) -> Floats:
        """Factor on what each job's resources earn: its own, its account's and its QOS's."""
        accounts, qos = self.account_factors, self.qos_factors
        return np.array(
            [job.revenue_weight * accounts.get(job.account, 1.0) * qos.get(job.qos, 1.0) for job in jobs],
            dtype=np.float64,
        )

    def require_known(self, cluster: Cluster) -> None:
        """InputError when a price is for a class or a resource that the cluster does not have."""
        names = [node_class.name for node_class in cluster.classes]
        unknown = next((name for name in self.class_prices if name not in names), None)
        if unknown is not None:
            raise InputError(f"revenue.classes: no node class {unknown!r}; the classes are {', '.join(names)}")
        for where, priced in (("", self.eur_per_hour), *((c, p.eur_per_hour) for c, p in self.class_prices.items())):
            unknown = next((name for name in priced if name not in cluster.resources), None)
            if unknown is not None:
                key = f"revenue.classes.{where}.eur_per_hour" if where else "revenue.eur_per_hour"
                raise InputError(f"{key}: no node has {unknown!r}; the resources are {', '.join(cluster.resources)}")

    def full_node_eur_per_core_hour(self, cluster: Cluster) -> float:
        """What a core earns in an hour of the whole machine in use."""
        earned = cores = 0.0
        for node_class in cluster.classes:
            price, own = self.price_on(node_class.name), node_class.capacity["cores"]
            of_resources = sum(node_class.capacity.get(name, 0.0) * eur for name, eur in price.eur_per_hour.items())
            earned += node_class.count * (own * price.eur_per_core_hour + of_resources)
            cores += node_class.count * own
        return earned / cores
