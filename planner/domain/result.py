"""What a method returns: a plan and how it was found; the best candidate of a search so far, and what ends a search."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from planner.domain.ledger import Ledger
from planner.domain.method_params import Strength
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


Stop = Callable[[float], bool]
"""Called with the best profit so far [EUR]; true means stop. Calling it changes nothing."""

Listener = Callable[[Trial], None]
"""Called with each trial that a search reports."""


def never(best_eur: float) -> bool:
    """The stop of a search that goes on to its end."""
    return False


class MaxRuntime:
    """Stop when a number of seconds has passed since the rule was made."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    def __call__(self, best_eur: float) -> bool:
        return time.monotonic() >= self._until


@dataclass(frozen=True)
class Candidate:
    """A complete plan with its settled ledger and the name of what made it."""

    plan: Plan
    ledger: Ledger
    name: str

    @property
    def worth_eur(self) -> float:
        """What the plan is compared by: its settled profit, less what waiting counts."""
        return self.ledger.worth_eur

    @property
    def trial(self) -> Trial:
        """What reports say about it."""
        return self.trial_called(self.name)

    def trial_called(self, name: str) -> Trial:
        """The same under another name."""
        return Trial(name, self.worth_eur, int(self.plan.is_placed.sum()))


class BestSoFar:
    """The best candidate of a search so far, its stop and its listener; makes the result at the end.

    ``trials`` are the candidates that the result will list. ``broken`` says which plans broke which rules: the best
    stands in for them.
    """

    def __init__(self, stop: Stop, on_trial: Listener | None) -> None:
        self.stop = stop
        self.trials: list[Trial] = []
        self.broken: list[str] = []
        self._on_trial = on_trial
        self._best: Candidate | None = None
        self._began = time.perf_counter()
        self._found_s: float | None = None

    @classmethod
    def after(cls, first: Result, stop: Stop, on_trial: Listener | None) -> BestSoFar:
        """What a search has in hand that goes on from the result of another one."""
        begun = cls(stop, on_trial)
        begun.trials = list(first.trials)
        begun.broken = [first.stands_in_for] if first.stands_in_for else []
        begun._best = Candidate(first.plan, first.ledger, first.best_trial)
        begun._began -= first.solve_s
        begun._found_s = first.found_s
        return begun

    @property
    def is_empty(self) -> bool:
        """Whether there is no candidate yet."""
        return self._best is None

    @property
    def best(self) -> Candidate:
        """The best candidate; there must be one."""
        assert self._best is not None, "no candidate yet"
        return self._best

    def keep_if_better(self, found: Candidate) -> bool:
        """Make a candidate the best if it earns more than all before it."""
        is_better = self._best is None or found.worth_eur > self._best.worth_eur
        if is_better:
            self._best = found
            self._found_s = time.perf_counter() - self._began
        return is_better

    def tell(self, trial: Trial) -> None:
        """Call the listener, if there is one."""
        if self._on_trial is not None:
            self._on_trial(trial)

    def is_over(self) -> bool:
        """Whether the search is to stop, given what it has."""
        return self.stop(self.best.worth_eur)

    def result(self, method: str, **facts: Any) -> Result:
        """The result of a method that ends here; ``facts`` are further fields of it."""
        best = self.best
        return Result(
            plan=best.plan,
            ledger=best.ledger,
            method=method,
            **{"status": "found", **facts},
            solve_s=time.perf_counter() - self._began,
            found_s=self._found_s,
            best_trial=best.name,
            trials=tuple(self.trials),
            stands_in_for=self._stands_in_for(),
        )

    def _stands_in_for(self) -> str:
        """The first plan that broke a rule, and how many others did."""
        texts = list(dict.fromkeys(self.broken))
        more = f"; so do {len(texts) - 1} more plans" if len(texts) > 1 else ""
        return f"{texts[0]}{more}" if texts else ""
