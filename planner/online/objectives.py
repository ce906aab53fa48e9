"""Local objectives by name: what a plan of the waiting jobs is judged by in a scheduling round."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from planner.domain.columns import Floats, Ints
from planner.domain.problem import Problem
from planner.domain.trace import Trace
from planner.errors import InputError
from planner.limits import DAY_S
from planner.units import MILLI, SECONDS_PER_HOUR

FORMS = ("response", "work", "slowdown", "power", "power-ratio", "short", "profit", "aged")
"""What is summed over the waiting jobs, in the order of their numbers in `planner.online.kernel.local_objective`."""

SENTENCES: dict[str, str] = {
    "af": "mean response time",
    "awf": "mean response time, each job counted with its work",
    "bsld": "mean bounded slowdown, of at least 1 and with runtimes of at least 10 s",
    "p2sf": "sum of width x (response^4 - wait^4), what the packing metric P2SF has above its line; any PxSF, x from 0",
    "p2sf-ratio": "P2SF of the waiting jobs alone, as published; gains where small jobs wait for nothing",
    "profit": "energy and waiting of the jobs in money, less what they earn in the time ahead; needs a scenario",
    "bsld-ahead": "mean response time, weighed by estimate^-0.4: between AF and BSLD, so that long jobs do not pile up",
    "af-ahead": "mean response time, weighed by (response x slowdown)^0.3, so that no wide job waits for months",
    "stretch": "mean slowdown without a bound, what dispatchers call total slowdown",
}

PUBLISHED_SEEDS: dict[str, tuple[str, ...]] = {"bsld": ("spf", "saf", "sjf"), "p2sf": ("fcfs",)}
"""Orders whose list plans are improved one by one in the published forms with a plus."""

AHEAD = -0.4
"""Exponent of the estimate in ``bsld-ahead``."""

AGED = 0.3
"""Exponent of response time and slowdown in ``af-ahead``."""

_POWER = re.compile(r"p(\d+(?:\.\d+)?)sf(-ratio)?")


@dataclass(frozen=True)
class Objective:
    """What a plan of the queue is judged by: a sum over its jobs, or for ``power-ratio`` a quotient of two."""

    name: str
    form: str
    exponent: float = 0.0

    @property
    def is_regular(self) -> bool:
        """Whether it is a sum over jobs, none of which falls when a job starts later."""
        return self.form not in ("power-ratio", "profit")

    @property
    def needs_prices(self) -> bool:
        """Whether it counts money."""
        return self.form == "profit"

    @property
    def seeds(self) -> tuple[str, ...]:
        """The published seeds of its form with a plus; none if there is no such form."""
        return PUBLISHED_SEEDS.get("p2sf" if self.form == "power" else self.name, ())


def objective_named(name: str) -> Objective:
    """The objective of a name; InputError lists the known ones."""
    text = name.strip().lower()
    fixed = {
        "af": Objective("af", "response"),
        "awf": Objective("awf", "work"),
        "bsld": Objective("bsld", "slowdown"),
        "stretch": Objective("stretch", "short", -1.0),
        "bsld-ahead": Objective("bsld-ahead", "short", AHEAD),
        "af-ahead": Objective("af-ahead", "aged", AGED),
        "profit": Objective("profit", "profit"),
    }
    if text in fixed:
        return fixed[text]
    found = _POWER.fullmatch(text)
    if found is None or float(found[1]) > MOST_POWER:
        raise InputError(
            f"unknown local objective {name!r}; known: {', '.join(SENTENCES)}, and P0SF to P{MOST_POWER}SF"
        )
    return Objective(text, "power-ratio" if found[2] else "power", float(found[1]))


MOST_POWER = 8
"""Largest x of PxSF: responses of years to the tenth power are still numbers."""


FOREVER_S = 10**12
"""The price after the last known hour holds until then [s]."""


WAITING_CORE_HOURS = 2.5
"""What an hour of waiting counts for under the local objective of profit: the energy of so many core-hours."""


@dataclass(frozen=True, eq=False)
class ProfitTerms:
    """What the local objective of profit needs to know besides the jobs and the machine.

    Attributes
    ----------
    price_s, price_eur_per_kwh
        Moments at which the price of energy changes [s of the trace], and the prices between them.
    eur_per_waiting_hour
        What an hour of waiting of one job counts for.
    eur_per_width_hour
        What a width of one earns in an hour.
    ahead_s
        How far ahead earnings count [s].
    """

    price_s: Ints = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    price_eur_per_kwh: Floats = field(default_factory=lambda: np.zeros(0))
    eur_per_waiting_hour: float = 0.0
    eur_per_width_hour: float = 0.0
    ahead_s: int = DAY_S

    @classmethod
    def of(cls, problem: Problem, trace: Trace) -> ProfitTerms:
        """What follows from the prices of a stretch of time and the jobs of a trace.

        Prices are those of a kWh with its carbon, without cooling, which makes all hours dearer by nearly the same
        part. The last price is the mean of all.
        """
        columns = problem.segment_columns
        price = columns.full_price_eur_per_kwh
        origin = 0 if trace.origin_unix is None else trace.origin_unix
        edges = columns.edges_s + (problem.horizon.start_unix - origin)
        price = np.append(price, float(np.average(price, weights=columns.length_s)))
        cores = float(trace.processors_of.sum())
        kw_per_core = float(trace.power_mw.sum()) / MILLI**2 / cores if cores else 0.0
        return cls(
            price_s=np.append(edges, FOREVER_S),
            price_eur_per_kwh=price,
            eur_per_waiting_hour=WAITING_CORE_HOURS * kw_per_core * float(price.mean()),
            eur_per_width_hour=problem.rates.full_node_eur_per_core_hour(problem.cluster) / trace.machine.scale,
        )

    @property
    def eur_per_kw(self) -> Floats:
        """What a kW costs from the first moment until each change of price [EUR]."""
        stretches_h = np.diff(self.price_s) / SECONDS_PER_HOUR
        return np.concatenate([np.zeros(1), np.cumsum(self.price_eur_per_kwh * stretches_h)])


NO_PROFIT = ProfitTerms()
