"""How the policy ``replan`` goes about it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from planner.domain.columns import Floats, Ints
from planner.domain.problem import Problem
from planner.domain.search_params import ReplanParams
from planner.domain.trace import Trace
from planner.units import MILLI, SECONDS_PER_HOUR

LEAST_DIFFERENCE = 1e-9
"""Prices that differ by no more than this are the same [EUR/kWh]."""

FOREVER_S = 10**12
"""The price after the last known hour holds until then [s]."""


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
        Whether work is held for cheaper hours; never where no delay is allowed.
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

    @classmethod
    def of(cls, problem: Problem, trace: Trace, params: ReplanParams, *, max_delay_s: int, seed: int = 0) -> Replanning:
        """What follows from the prices of a stretch of time, the jobs of a trace and the site's wishes."""
        edges_s, price = energy_prices(problem, trace)
        cores = float(trace.processors_of.sum())
        kw_per_core = float(trace.power_mw.sum()) / MILLI**2 / cores if cores else 0.0
        return cls(
            max_delay_s=max_delay_s,
            every_s=params.every_s,
            price_s=edges_s,
            price_eur_per_kwh=price,
            eur_per_waiting_hour=params.waiting_core_hours * kw_per_core * float(price.mean()),
            eur_per_width_hour=problem.rates.full_node_eur_per_core_hour(problem.cluster) / trace.machine.scale,
            steps=params.steps,
            ahead_s=params.ahead_s,
            seed=seed,
            repairs=params.repairs,
            holds=params.holds and max_delay_s > 0,
        )

    @property
    def eur_per_kw(self) -> Floats:
        """What a kW costs from the first moment until each change of price [EUR]."""
        stretches_h = np.diff(self.price_s) / SECONDS_PER_HOUR
        return np.concatenate([np.zeros(1), np.cumsum(self.price_eur_per_kwh * stretches_h)])

    @property
    def may_hold(self) -> bool:
        """Whether there is anything to hold work for."""
        is_told = self.holds and len(self.price_eur_per_kwh) > 0
        return is_told and float(np.ptp(self.price_eur_per_kwh)) > LEAST_DIFFERENCE


NO_REPLANNING = Replanning()


def energy_prices(problem: Problem, trace: Trace) -> tuple[Ints, Floats]:
    """What a kWh costs with its carbon: moments of change [s of the trace], and prices between them.

    Cooling is left out: it makes all hours dearer by nearly the same part. The last price is the mean of all.
    """
    columns = problem.segment_columns
    price = columns.full_price_eur_per_kwh
    origin = 0 if trace.origin_unix is None else trace.origin_unix
    edges = columns.edges_s + (problem.horizon.start_unix - origin)
    mean = float(np.average(price, weights=columns.length_s))
    return np.append(edges, FOREVER_S), np.append(price, mean)
