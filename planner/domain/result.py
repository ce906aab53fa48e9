"""What a method returns: a plan with what is known about how it was found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from planner.domain.ledger import Ledger
from planner.domain.plan import Plan
from planner.domain.promises import Hold

Status = Literal["found", "proven", "nothing"]
"""A plan, the best there is, or none at all: then no job starts."""


@dataclass(frozen=True)
class Trial:
    """One candidate that a method tried: its name, the profit of its plan and the jobs it starts today."""

    name: str
    profit_eur: float
    started: int


@dataclass(frozen=True)
class Result:
    """A plan with its ledger, the method that found it, and every candidate tried on the way.

    ``found_s`` is when the search came to this plan, from its beginning; None where nothing was searched.
    ``leaves_room`` is set by rules that walk through time, and where a CP engine's plan does: what they defer, or end
    after its deadline, might have had room, and the audit does not hold it against them. ``cut_short`` is set by a
    search with an iteration limit that the clock or an interrupt ended first: its answer depends on the machine too.
    ``engine_died``: the CP engine was lost on the way, and the plan is the best until then. ``stands_in_for`` says
    which plan broke which rule, where this one was taken in its place; the broken one may be another of the same
    method. ``holds`` are the jobs that the method ``hold`` holds, or has held.
    """

    plan: Plan
    ledger: Ledger
    method: str
    status: Status
    solve_s: float
    best_trial: str
    trials: tuple[Trial, ...] = field(default=())
    leaves_room: bool = False
    cut_short: bool = False
    engine_died: bool = False
    stands_in_for: str = ""
    found_s: float | None = None
    holds: tuple[Hold, ...] = ()
