"""Local objectives by name: what a plan of the waiting jobs is judged by in a scheduling round."""

from __future__ import annotations

import re
from dataclasses import dataclass

from planner.errors import InputError

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
