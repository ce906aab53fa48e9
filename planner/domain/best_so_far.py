"""The best candidate of a search so far, and what ends a search and hears of its trials."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from planner.domain.ledger import Ledger
from planner.domain.plan import Plan
from planner.domain.result import Result, Trial

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
