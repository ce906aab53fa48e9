"""HarvestSearch, the planner's own: the best-paying work packed tightly, then the plan rebuilt piece by piece.

    1. MultiSearch: all orderings.
    2. Tiered orders (`tiers`), while they pay and for at most a part of the effort.
    3. RebuildSearch (`rebuild`) from the best plan, in two chains that meet now and then.

Every plan that is handed on is settled; under ``defer: full`` jobs that now have room are started first. With
an iteration limit the answer depends on the seed alone; with a time limit it depends on the machine as well.
"""

from __future__ import annotations

import time
from contextlib import suppress

from planner.accounting.audit import audit, why_broken
from planner.accounting.settle import settle
from planner.domain.method_params import HarvestParams
from planner.domain.plan import Plan
from planner.domain.problem import Problem
from planner.domain.result import BestSoFar, Candidate, Listener, Result, Stop
from planner.domain.segment import Segment
from planner.search.kernel.search_state import CURRENT, Habits
from planner.search.multisearch import multisearch
from planner.search.rebuild import Chain, run_chains
from planner.search.tiers import TierSearch
from planner.search.whole_plan_rules import evaluate_changed

CHAINS = 2
"""Searches side by side: fixed, so that the number of workers changes nothing."""

BATCH_STEPS = 500
"""Steps of rebuilding that a batch of tiered orders counts as."""

LISTED_TIERS = 10
"""The best of the tiered orders that the result lists among its trials."""

SMALL_DAY = 40
"""A day of at most this many jobs is searched more widely: there are enough steps to try jobs anywhere."""

WANDERS, WANDERS_ON_A_SMALL_DAY = 0.02, 0.4
"""Chance that a step puts its jobs back at some time on some nodes."""

PRICED = 0.5
"""Chance that a step puts its jobs back where they pay best, on a day whose price, temperature or sun varies."""


def harvest(
    problem: Problem,
    *,
    seed: int,
    workers: int,
    stop: Stop,
    time_limit_s: float,
    iterations: int | None = None,
    params: HarvestParams | None = None,
    known: Plan | None = None,
    on_trial: Listener | None = None,
) -> Result:
    """Search until ``stop``, the time limit, the iteration limit or an interrupt, and return the best plan.

    ``known`` is a plan that it may begin with; where it keeps all rules, nothing worse is returned.
    """
    chosen = params or HarvestParams()
    budget = Budget(time_limit_s=time_limit_s, iterations=iterations)
    first = multisearch(problem, workers=workers, stop=stop, on_trial=on_trial)
    so_far = BestSoFar.after(first, stop, on_trial)
    if known is not None and not audit(problem, known):
        found = Candidate(known, settle(problem, known), "EASY")
        so_far.trials.append(found.trial)
        so_far.keep_if_better(found)
    search = _Harvest(problem, so_far, budget, chosen, seed, workers)
    if problem.jobs:
        with suppress(KeyboardInterrupt):
            search.try_tiers()
            search.rebuild()
    if so_far.best.name.startswith("rebuilt"):
        so_far.trials.append(so_far.best.trial)
    # Without rebuilding, steps are left whenever tiered orders end by themselves.
    is_cut = bool(problem.jobs) and budget.is_short_of_steps and (chosen.rebuilds or so_far.is_over())
    return so_far.result("harvest", cut_short=is_cut)


class _Harvest:
    """The two parts of the search, each from the best plan so far."""

    def __init__(
        self, problem: Problem, so_far: BestSoFar, budget: Budget, params: HarvestParams, seed: int, workers: int
    ) -> None:
        self._problem = problem
        self._so_far = so_far
        self._budget = budget
        self._params = params
        self._seed = seed
        self._workers = workers
        self._habits = _habits(problem, params)
        self._pace = FIRST_PACE

    def try_tiers(self) -> None:
        """Try batches of tiered orders while they pay, and while their share of the effort lasts.

        They are for days that cannot take all work. Where all later money counts and waiting does, they never pay.
        """
        if self._problem.waits and (self._problem.segment_columns.counts == 1).all():
            return
        tiers = TierSearch(self._problem, self._so_far, seed=self._seed, workers=self._workers)
        try:
            while self._budget.spent < self._params.tier_share and not self._so_far.is_over():
                if not tiers.try_batch():
                    break
                self._budget.count(BATCH_STEPS)
        finally:
            best_first = sorted(tiers.trials, key=lambda trial: -trial.profit_eur)
            self._so_far.trials += best_first[:LISTED_TIERS]

    def rebuild(self) -> None:
        """Rebuild the best plan in chains; at each meeting the best is kept, and the chain behind goes on from it."""
        if not self._params.rebuilds or self._budget.spent >= 1 or self._so_far.is_over():
            return
        chains = [self._chain(self._seed * CHAINS + number + 1) for number in range(CHAINS)]
        heat = self._params.heat * abs(self._so_far.best.ledger.totals.revenue_eur)
        begun, meetings = self._budget.spent, self._params.meetings
        try:
            for meeting in range(1, meetings + 1):
                is_over = self._run(chains, begun + (1 - begun) * meeting / meetings, heat)
                self._keep_best_of(chains)
                if is_over:
                    return
                # The chain with the lowest present profit is the one behind.
                behind = min(range(CHAINS), key=lambda number: chains[number].state.profits[CURRENT])
                chains[behind] = self._chain(self._seed + 1000 * meeting)
        except KeyboardInterrupt:
            self._keep_best_of(chains)

    def _run(self, chains: list[Chain], until: float, heat: float) -> bool:
        """Let the chains take rounds of steps until a share of the budget is spent; true when the search is to stop."""
        while self._budget.spent < until:
            steps = self._budget.round_steps(until, self._pace, CHAINS)
            if steps == 0:
                break
            began = time.perf_counter()
            run_chains(chains, steps, heat * max(0.0, 1 - self._budget.spent), self._workers)
            self._pace = steps / max(1e-6, time.perf_counter() - began)
            self._budget.count(steps * CHAINS)
            if self._so_far.stop(max(chain.best_profit_eur for chain in chains)):
                return True
        return False

    def _chain(self, seed: int) -> Chain:
        """A chain that goes on from the best plan."""
        return Chain.from_plan(self._problem, self._so_far.best.plan, seed=seed, habits=self._habits)

    def _keep_best_of(self, chains: list[Chain]) -> None:
        """Keep the best plan of the chains if it earns more once it is completed and settled, and breaks no rule."""
        for chain in sorted(chains, key=lambda each: -each.best_profit_eur):
            best = self._so_far.best
            if chain.best_profit_eur <= best.worth_eur:
                continue
            name = f"rebuilt from {best.name.removeprefix('rebuilt from ')}"
            found = evaluate_changed(self._problem, chain.best_plan(), name)
            if found.worth_eur <= best.worth_eur:
                continue
            if why := why_broken(f"harvest, {name},", audit(self._problem, found.plan)):
                self._so_far.broken.append(why)
                continue
            self._so_far.keep_if_better(found)
            self._so_far.tell(found.trial_called("rebuild"))


def _prices(segment: Segment) -> tuple[float, ...]:
    return segment.price_eur_per_kwh, segment.fee_eur_per_kwh, segment.carbon_g_per_kwh


def _habits(problem: Problem, params: HarvestParams) -> Habits:
    """How the chains go about it, by what the day is like."""
    varies = len({(s.temperature_c, s.solar_w, s.feed_in_eur_per_kwh, *_prices(s)) for s in problem.segments}) > 1
    is_small = len(problem.jobs) <= SMALL_DAY
    return Habits(
        largest=params.largest,
        guests=params.guests,
        priced=PRICED if varies else 0.0,
        wanders=WANDERS_ON_A_SMALL_DAY if is_small else WANDERS,
        exact=is_small or any(segment.solar_w > 0 for segment in problem.segments),
        may_refuse=problem.defer == "free",
    )


ROUND_STEPS = 1000
"""Most steps that a chain takes in a round, where steps are counted."""

ROUND_S = 0.2
"""About how long a round takes where the clock decides [s]: short enough to stop in time."""

FIRST_PACE = 1000.0
"""Steps of a chain in a second, as long as no round has been timed."""


class Budget:
    """The effort of a search. Only `count` spends steps; all else asks."""

    def __init__(self, *, time_limit_s: float, iterations: int | None) -> None:
        self._time_limit_s = max(time_limit_s, 1e-9)
        self._iterations = iterations
        self._began = time.monotonic()
        self._steps = 0

    @property
    def spent(self) -> float:
        """The part that is spent, from 0 to 1 or more."""
        if self._iterations is not None:
            return self._steps / max(1, self._iterations)
        return (time.monotonic() - self._began) / self._time_limit_s

    @property
    def is_short_of_steps(self) -> bool:
        """Whether steps are counted and some of them are left."""
        return self._iterations is not None and self.spent < 0.99

    def count(self, steps: int) -> None:
        """Count steps that were taken."""
        self._steps += steps

    def round_steps(self, until: float, pace: float, chains: int) -> int:
        """Steps that each of some chains takes in the next round, on the way to a share of the budget.

        ``pace`` is how many steps a chain takes in a second.
        """
        if self._iterations is not None:
            left = until * self._iterations - self._steps
            return max(0, min(ROUND_STEPS, round(left / chains)))
        return max(1, round(pace * ROUND_S))
