"""`profit_bound`: prices found by a linear program, and the bound that follows from them, whatever they are.

With a price on every row of the site (room on the nodes in each slot, energy in each segment, the peak), no plan can
earn more than the most that the site's side is worth at these prices, plus the most that each job by itself can earn
above what it uses at these prices. Each part is worked out in closed form and without the solver; the solver only
finds prices for which the sum is small. The proof is in docs/bound.md.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from planner.accounting.bound.offers import Offers, offers_of
from planner.accounting.bound.price_search import PriceDescent, Solved, full_machine_prices, queue_prices, solve_master
from planner.accounting.bound.site_model import SiteModel, SiteRows
from planner.accounting.bound.slots import (
    SLOT_S,
    JobEnergy,
    RunningLoad,
    cut_slots,
    job_energy,
    node_shares,
    running_load,
)
from planner.defaults import BOUND_TIME_S
from planner.domain.columns import Floats, Ints
from planner.domain.problem import Problem
from planner.domain.waits import wait_costs
from planner.units import SECONDS_PER_HOUR

TOLERANCE = 1e-4
"""Prices are good enough when better ones could lower the bound by at most this part of it."""
ROUNDING = 1e-9
"""Safety against rounding in sums of floats, as a part of the sum of the sizes of all terms."""
_DESCENT_SHARE = 0.5
"""Part of the time in which prices are looked for by descent, where a linear program comes after it."""
_FEW_CELLS = 60_000
"""With no more jobs times slots than this the linear program alone is quicker."""
_MANY_CELLS = 3_000_000
"""With more jobs times slots than this there is no linear program: it would not end."""
_MOST_ROUNDS = 60
_STEPS = (1.0, 0.7, 0.4, 0.2)
_MANY_STARTS = 20_000
_DEARER = 4.0
"""By how much staying away becomes dearer for a job that must start and in a program did not."""
_HARDLY_AWAY = 1e-7
_NEARLY = 0.1
"""Where there are many, a start is kept while it misses the best of its job by less than this part of the stake."""


@dataclass(frozen=True)
class Bound:
    """An upper limit on what any plan is worth: no plan that the rules allow settles to more.

    That is its profit, less what waiting counts in the problem. ``slots`` of the day have a price of their own.
    ``rounds`` are linear programs solved; 0 when the time allowed none, so that the limit is a rough one. The same
    model could bring the limit lower by ``slack_eur`` at most with the best prices; None when not known.
    """

    profit_eur: float
    slots: int
    solve_s: float
    rounds: int
    slack_eur: float | None

    def gap_fraction(self, profit_eur: float) -> float | None:
        """How far a profit is below the limit, as a part of the limit; None when the limit is not above zero."""
        return max(0.0, self.profit_eur - profit_eur) / self.profit_eur if self.profit_eur > 0 else None


def profit_bound(
    problem: Problem,
    *,
    latest_start_s: Ints | None = None,
    bills_s: Sequence[int] = (0,),
    slot_s: int | None = None,
    time_limit_s: float = BOUND_TIME_S,
    tolerance: float = TOLERANCE,
    descent_steps: int | None = None,
    is_wanted: Callable[[], bool] = lambda: True,
) -> Bound:
    """An upper limit on the day's profit, from prices per slot of that length.

    It is the least that such prices give, but for ``tolerance`` as a part of it; more when the time runs out, or when
    the bound is no longer wanted.

    ``latest_start_s`` has a promise for each job: it must start by then, unless that is after the horizon. The limit is
    then on plans that keep all promises. With ``descent_steps`` prices are looked for in so many steps and no more.
    At each of ``bills_s``, edges of segments, a new demand charge begins.
    """
    began = time.perf_counter()
    until = began + time_limit_s
    search = _PriceSearch(problem, slot_s or SLOT_S, until, tolerance, is_wanted, latest_start_s, bills_s)
    search.run(descent_steps)
    return Bound(
        profit_eur=search.best_eur,
        slots=len(search.offers.slots),
        solve_s=time.perf_counter() - began,
        rounds=search.rounds,
        slack_eur=None if search.program_eur is None else search.best_eur - search.program_eur,
    )


class _PriceSearch:
    """Column generation: solve the program, price every job exactly, add the starts that earn more, again."""

    def __init__(
        self,
        problem: Problem,
        slot_s: int,
        until: float,
        tolerance: float,
        is_wanted: Callable[[], bool],
        latest_start_s: Ints | None = None,
        bills_s: Sequence[int] = (0,),
    ) -> None:
        self.problem, self.until, self.tolerance, self.is_wanted = problem, until, tolerance, is_wanted
        slots, shares = cut_slots(problem, slot_s), node_shares(problem)
        idle = np.flatnonzero(problem.nodes.saved_mw[list(problem.cluster.first_nodes[:-1])])
        self.load: RunningLoad = running_load(problem, shares, slots)
        self.energy: JobEnergy = job_energy(problem, slots, latest_start_s)
        rows = SiteRows(problem, shares, idle, slots, self.load, self.energy, np.array(bills_s))
        self.site: SiteModel = rows.build()
        self.offers: Offers = offers_of(problem, shares, idle, slots, latest_start_s)
        # Every job counts as waiting until the end; a start saves some of that.
        self.waiting_eur = math.fsum(wait_costs(problem.wait_prices, np.array(problem.horizon.length_s)))
        self.income_eur = self.income()
        self.stake_eur = self.stakes()
        self.fine_eur = self.stake_eur.copy()
        self.rounds = 0
        self.program_eur: float | None = None
        self.best_eur = math.inf
        self.best_price = np.zeros(len(self.site.rhs))
        full = self.site.opening_prices(1.0)
        prices = [self.best_price, self.site.opening_prices(0.5), full]
        prices += full_machine_prices(self.site, self.offers, shares.class_of, full)
        prices += queue_prices(self.site, self.offers, shares.class_of, full)
        self.consider(*prices)

    def run(self, descent_steps: int | None) -> None:
        """Prices by descent where there are many jobs and slots, by the linear program where they are not too many."""
        if descent_steps is not None:
            self.descend(lambda: not self.is_wanted(), descent_steps)
            return
        cells = len(self.problem.jobs) * len(self.offers.slots)
        if cells > _FEW_CELLS:
            began, until = time.perf_counter(), self.until
            share = 1.0 if cells > _MANY_CELLS else _DESCENT_SHARE
            self.descend(lambda: time.perf_counter() - began > share * (until - began) or not self.is_wanted())
        if cells <= _MANY_CELLS:
            self.improve(parts=1 if cells > _FEW_CELLS else 4)

    def descend(self, is_over: Callable[[], bool], steps: int | None = None) -> None:
        """Look for prices by descent, in some steps or as long as it takes."""
        if steps == 0:
            return
        is_limited = self.problem.cluster.power_limit_mw is not None
        descent = PriceDescent(self.site, self.offers.table, self.stake_eur, is_limited=is_limited)
        descent.run(is_over, steps)
        self.consider(descent.best_price)

    def first_starts(self, parts: int) -> tuple[Ints, Ints]:
        """Starts over all of the day that are not far from the best of their job at the best prices so far."""
        price = self.site.job_prices(self.best_price)
        return self.offers.good_starts(price, self.offers.best(price) - _NEARLY * self.stake_eur, parts=parts)

    def improve(self, *, parts: int) -> None:
        """Solve and add starts until prices are nearly the best, or the time is over.

        The first program has the best starts in each of that many parts of the time.
        """
        offer, start_s = self.first_starts(parts=parts)
        for _ in range(_MOST_ROUNDS):
            offer, start_s = _distinct(offer, start_s)
            left_s = self.until - time.perf_counter()
            if left_s <= 0 or not self.is_wanted():
                return
            solved = solve_master(
                self.site,
                self.offers,
                offer,
                start_s,
                away_eur=self.income_eur - self.fine_eur,
                away_kwh=self.energy.forced_kwh,
                time_limit_s=left_s,
            )
            if solved is None:
                return
            self.rounds += 1
            between = self.approach(solved.price)
            is_away = solved.away > _HARDLY_AWAY
            self.fine_eur[is_away] *= _DEARER
            if not is_away.any():
                self.program_eur = solved.value_eur + self.load.revenue_eur - self.waiting_eur
                open_eur = abs(self.best_eur - math.fsum(self.income_eur[self.offers.is_owed]))
                if self.best_eur - self.program_eur <= self.tolerance * open_eur:
                    return
            floor = self.floor(offer, solved)
            new = [self.offers.good_starts(self.site.job_prices(p), floor + 1e-9) for p in (solved.price, between)]
            if not len(new[0][0]) and not is_away.any():
                return
            if len(offer) > _MANY_STARTS:
                job = self.offers.job[offer]
                stake = np.where(self.offers.is_owed[job], self.stake_eur[job], np.abs(solved.income))
                near = solved.worth >= floor[job] - _NEARLY * stake
                offer, start_s = offer[near], start_s[near]
            offer = np.concatenate([offer, *(each for each, _ in new)])
            start_s = np.concatenate([start_s, *(each for _, each in new)])

    def approach(self, price: Floats) -> Floats:
        """Consider prices on the way from the best so far to those of a program; return the best of them."""
        base, lowest, found = self.best_price, math.inf, price
        for part in _STEPS:
            between = base + part * (price - base)
            [bound] = self.consider(between)
            if bound < lowest:
                lowest, found = bound, between
        return found

    def floor(self, offer: Ints, solved: Solved) -> Floats:
        """What each job earns above its price with the starts that the program has, or by staying away."""
        floor = self.offers.away_eur.copy()
        np.maximum.at(floor, self.offers.job[offer], solved.worth)
        return floor

    def income(self) -> Floats:
        """The size of what each job earns at most."""
        income = np.zeros(len(self.problem.jobs))
        np.maximum.at(
            income, self.offers.job, np.abs(self.offers.eur_per_h * self.offers.duration_s / SECONDS_PER_HOUR)
        )
        return income

    def stakes(self) -> Floats:
        """What can be won or lost with each job: its income, or the cost of its energy if it starts in any case."""
        dearest = np.abs(self.site.job_prices(self.site.opening_prices(1.0))[-1]).max()
        energy = np.zeros(len(self.problem.jobs))
        np.maximum.at(energy, self.offers.job, self.offers.uses[:, -1] * self.offers.duration_s / SECONDS_PER_HOUR)
        stake = np.where(self.offers.is_owed, energy * dearest + 1e-3 * self.income_eur + 1e-6, self.income_eur)
        if len(self.offers.waits):
            release, last = self.problem.columns.release_s, np.array(self.problem.horizon.length_s)
            stake = stake + wait_costs(self.offers.waits, last) - wait_costs(self.offers.waits, release)
        return np.abs(stake)

    def consider(self, *prices: Floats) -> list[float]:
        """Work out the bounds that follow from some prices, and keep the lowest so far."""
        settled = [self.site.settled(price) for price in prices]
        best_eur = self.offers.best_of_each([self.site.job_prices(price) for price in settled])
        return [self.bound(price, best) for price, best in zip(settled, best_eur, strict=True)]

    def bound(self, price: Floats, best_eur: Floats) -> float:
        """The bound that follows from prices and from what each job earns at most at them, kept if it is the lowest."""
        site_eur, size = self.site.value(price)
        bound = site_eur + math.fsum(best_eur) + self.load.revenue_eur - self.waiting_eur
        sizes = math.fsum(np.abs(best_eur)) + abs(self.load.revenue_eur) + self.waiting_eur
        bound += ROUNDING * (1.0 + size + sizes)
        if bound < self.best_eur:
            self.best_eur, self.best_price = bound, price
        return bound


def _distinct(offer: Ints, start_s: Ints) -> tuple[Ints, Ints]:
    """Each pair of an offer and a start once."""
    pairs = np.unique(np.column_stack([offer, start_s]), axis=0)
    return pairs[:, 0], pairs[:, 1]
