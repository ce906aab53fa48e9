"""What a method returns: a plan and how it was found, the candidates that it tried, and what it promises."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from planner.domain.hold_params import Strength
from planner.domain.ledger import Ledger
from planner.domain.plan import Plan


@dataclass(frozen=True, slots=True)
class Hold:
    """A job that is held: since when the scheduler would have started it, until when it is held, and until when it may.

    ``saved_eur`` is what its energy is expected to cost less at the end of the hold than now, ``waiting_eur`` what its
    waiting counts for. All moments are Unix seconds.
    """

    job_id: str
    reference_unix: int
    until_unix: int
    latest_unix: int
    saved_eur: float
    waiting_eur: float


@dataclass(frozen=True, slots=True)
class BrokenPromise:
    """A job that starts later than the last moment until which it might be held, by how much, and why."""

    job_id: str
    late_s: int
    reason: str


@dataclass(frozen=True)
class Promises:
    """Jobs that were held; how many start after the moment since which they were, by how much, and those beyond it.

    A job that has no start yet is late by what has passed of the time that was looked at.
    """

    given: int
    delayed: int
    mean_delay_s: float
    longest_delay_s: int
    broken: tuple[BrokenPromise, ...]


Status = Literal["found", "proven", "nothing"]
"""A plan, the best there is, or none at all: then no job starts."""


@dataclass(frozen=True)
class Trial:
    """One candidate that a method tried: its name, what its plan is worth, and the jobs it starts today.

    ``profit_eur`` is the profit less what waiting counts, where it counts.
    """

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
    method. ``holds`` are the jobs that the method ``hold`` holds, or has held, and ``strength`` is how strongly it
    was best to hold at the end; None: nothing told.
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
    strength: Strength | None = None
