"""HarvestSearch, the planner's own: the best-paying work packed tightly, then the plan rebuilt piece by piece.

    1. MultiSearch: the 22 orderings.
    2. Tiered orders (`tiers`), while they pay and for at most a part of the time.
    3. RebuildSearch (`rebuild`) from the best plan, in two chains that meet now and then.

Every plan that is handed on is settled; under ``defer: full`` jobs that have come to have room are started first. With
an iteration limit the answer depends on the seed alone; with a time limit it depends on the machine as well.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from planner.accounting.audit import audit
from planner.accounting.settle import settle
from planner.domain.problem import Problem
from planner.domain.result import Result, Trial
from planner.search.complete import complete
from planner.search.kernel.search_state import Habits
from planner.search.multisearch import multisearch
from planner.search.rebuild import Chain, run_chains
from planner.search.stop import Stop
from planner.search.tiers import Candidate, tier_search

SMALL_DAY = 40
"""A day of at most so many jobs is searched more widely: there are steps enough to try jobs anywhere."""

CHAINS = 2
"""Searches side by side: fixed, so that the number of workers changes nothing."""


@dataclass(frozen=True)
class HarvestParams:
    """How HarvestSearch shares its effort.

    Attributes
    ----------
    tier_share
        Largest part of the time or of the iterations that tiered orders get; 0 leaves them out.
    rebuilds
        Whether the plan is rebuilt after that.
    meetings
        How often the chains of RebuildSearch meet.
    heat
        First temperature, as a part of the revenue; it falls to nothing.
    largest, guests
        Most jobs taken out in a step, and most waiting jobs that compete with them.
    """

    tier_share: float = 0.25
    rebuilds: bool = True
    meetings: int = 12
    heat: float = 1e-7
    largest: int = 8
    guests: int = 8


class Budget:
    """How much of the effort is spent: by the clock, or by a number of steps."""

    def __init__(self, *, time_limit_s: float, iterations: int | None) -> None:
        self._time_limit_s = max(time_limit_s, 1e-9)
        self._iterations = iterations
        self._began = time.monotonic()
        self.steps = 0

    @property
    def spent(self) -> float:
        """The part that is spent, from 0 to 1 or more."""
        if self._iterations is not None:
            return self.steps / max(1, self._iterations)
        return (time.monotonic() - self._began) / self._time_limit_s

    def steps_until(self, share: float, pace: float) -> int:
        """Steps per chain to take now: those left until a share of the budget, or about a fifth of a second's."""
        if self._iterations is not None:
            left = share * self._iterations - self.steps
            return max(0, min(1000, round(left / CHAINS)))
        return max(1, round(pace * 0.2))


def harvest(
    problem: Problem,
    *,
    seed: int,
    workers: int,
    stop: Stop,
    time_limit_s: float,
    iterations: int | None = None,
    params: HarvestParams | None = None,
    on_trial: Callable[[Trial], None] | None = None,
) -> Result:
    """Search until ``stop``, the time limit, the iteration limit or an interrupt, and return the best plan."""
    began = time.perf_counter()
    chosen = params or HarvestParams()
    budget = Budget(time_limit_s=time_limit_s, iterations=iterations)
    first = multisearch(problem, workers=workers, stop=stop, on_trial=on_trial)
    best = Candidate(first.plan, first.ledger, first.best_trial)
    trials = list(first.trials)
    try:
        if problem.jobs and budget.spent < chosen.tier_share and not stop(best.ledger.profit_eur):
            best, tried = tier_search(
                problem,
                best,
                seed=seed,
                workers=workers,
                stop=lambda profit: _tick(budget) >= chosen.tier_share or stop(profit),
                on_trial=on_trial,
            )
            trials += sorted(tried, key=lambda trial: -trial.profit_eur)[:10]
        if problem.jobs and chosen.rebuilds and budget.spent < 1 and not stop(best.ledger.profit_eur):
            best = _rebuild(problem, best, chosen, budget, seed, workers, stop, on_trial)
    except KeyboardInterrupt:
        pass
    if best.name.startswith("rebuilt"):
        trials.append(Trial(best.name, best.ledger.profit_eur, int(best.plan.is_placed.sum())))
    return Result(
        plan=best.plan,
        ledger=best.ledger,
        method="harvest",
        status="found",
        solve_s=time.perf_counter() - began,
        best_trial=best.name,
        trials=tuple(trials),
        cut_short=iterations is not None and bool(problem.jobs) and budget.spent < 0.99,
    )


def _tick(budget: Budget) -> float:
    """Count a batch of tiered orders as so many steps of rebuilding, and say what is spent."""
    budget.steps += 500
    return budget.spent


def _rebuild(
    problem: Problem,
    best: Candidate,
    params: HarvestParams,
    budget: Budget,
    seed: int,
    workers: int,
    stop: Stop,
    on_trial: Callable[[Trial], None] | None,
) -> Candidate:
    """RebuildSearch in chains that meet: the one behind goes on from the plan of the one ahead."""
    varies = len({(s.temperature_c, s.price_eur_per_kwh, s.solar_w, s.carbon_g_per_kwh) for s in problem.segments}) > 1
    is_small = len(problem.jobs) <= SMALL_DAY
    habits = Habits(
        largest=params.largest,
        guests=params.guests,
        priced=0.5 if varies else 0.0,
        wanders=0.4 if is_small else 0.02,
        exact=is_small or any(segment.solar_w > 0 for segment in problem.segments),
        may_refuse=problem.defer == "free",
    )
    chains = [
        Chain.from_plan(problem, best.plan, seed=seed * CHAINS + number + 1, habits=habits) for number in range(CHAINS)
    ]
    heat = params.heat * abs(best.ledger.totals.revenue_eur)
    begun = budget.spent
    pace = 1000.0
    try:
        for meeting in range(1, params.meetings + 1):
            until = begun + (1 - begun) * meeting / params.meetings
            while budget.spent < until and (steps := budget.steps_until(until, pace)) > 0:
                clock = time.perf_counter()
                run_chains(chains, steps, heat * max(0.0, 1 - budget.spent), workers)
                budget.steps += steps * CHAINS
                pace = steps / max(1e-6, time.perf_counter() - clock)
                if stop(max(chain.best_profit_eur for chain in chains)):
                    return _better(problem, best, chains, on_trial)
            best = _better(problem, best, chains, on_trial)
            chains = _met(problem, chains, best, seed + 1000 * meeting, habits)
    except KeyboardInterrupt:
        return _better(problem, best, chains, on_trial)
    return best


def _better(
    problem: Problem, best: Candidate, chains: list[Chain], on_trial: Callable[[Trial], None] | None
) -> Candidate:
    """The best of a candidate and the chains' best plans, once completed, settled and audited."""
    for chain in chains:
        if chain.best_profit_eur <= best.ledger.profit_eur:
            continue
        plan = complete(problem, chain.best_plan())
        ledger = settle(problem, plan)
        if ledger.profit_eur > best.ledger.profit_eur and not audit(problem, plan):
            best = Candidate(plan, ledger, f"rebuilt from {best.name.removeprefix('rebuilt from ')}")
            if on_trial is not None:
                on_trial(Trial("rebuild", ledger.profit_eur, int(plan.is_placed.sum())))
    return best


def _met(problem: Problem, chains: list[Chain], best: Candidate, seed: int, habits: Habits) -> list[Chain]:
    """The chains after a meeting: the one with the lowest present profit starts anew from the best plan."""
    behind = min(range(len(chains)), key=lambda index: (chains[index].state.profits[0], index))
    renewed = list(chains)
    renewed[behind] = Chain.from_plan(problem, best.plan, seed=seed, habits=habits)
    return renewed
