"""Prices by descent: the bound is a convex function of the prices, and a smooth form of it is followed downhill.

The bound that follows from prices is a sum of greatest values: of each job over its starts, of the site's side over its
choices. Each is replaced by a smooth form that is a little higher (`best_starts`), and L-BFGS-B lowers the sum; then
again with less smoothing, from the best prices so far. What counts is the bound itself at the prices met on the way.

The work of a step is jobs times slots, whatever the prices: where the linear program becomes too large for its solver,
this still ends in minutes. How far the prices are from the best ones it cannot say.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from planner.accounting.bound.kernel.best_starts import OfferTable, smooth_values, start_list
from planner.accounting.bound.site import SiteModel
from planner.domain.columns import Floats

SMOOTHINGS = (3e-3, 1e-3, 3e-4, 1e-4)
"""How much is smoothed, as a part of what each job can earn; one after another."""

STEPS = 80
"""Steps with one smoothing."""

MEMORY = 30
"""Steps that L-BFGS-B remembers."""

FIRST_ROOM = 15
"""So many prices of room, the same in all slots, are tried before the first step."""

THREADS = 2


class PriceDescent:
    """The search for prices of one problem."""

    def __init__(self, site: SiteModel, offers: OfferTable, stake_eur: Floats, *, is_limited: bool) -> None:
        from scipy.sparse import csr_array

        self._site, self._offers, self._stake_eur = site, offers, stake_eur
        self._map, self._low = _free_prices(site, is_limited=is_limited)
        self._matrix, self._transposed = csr_array(site.matrix), csr_array(site.matrix.T)
        self._chooses = site.choice_row >= 0
        self._stake_of_all = float(np.abs(stake_eur).sum()) + 1e-9
        self._best_eur = math.inf
        self.best = np.zeros(self._map.shape[1])

    @property
    def best_price(self) -> Floats:
        """The prices with the lowest bound so far."""
        price: Floats = self._map @ self.best
        return price

    def run(self, is_over: Callable[[], bool]) -> None:
        """Go down with each smoothing in turn until it is over."""
        from scipy.optimize import minimize

        self._open()
        bounds = [(low, None) for low in self._low]
        options = {"maxiter": STEPS, "maxfun": 2 * STEPS, "maxcor": MEMORY, "ftol": 1e-9, "gtol": 1e-6}
        with ThreadPoolExecutor(THREADS) as pool:
            for smoothing in SMOOTHINGS:

                def height(free: Floats, smoothing: float = smoothing) -> tuple[float, Floats]:
                    if is_over():
                        raise StopIteration
                    return self._height(free, smoothing, pool)

                try:
                    minimize(height, self.best, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
                except StopIteration:
                    return

    def _open(self) -> None:
        """Begin with the site's opening prices, and the best of some prices of room that are the same in all slots."""
        site = self._site
        energy = np.where(self._low < 0, self._map.T @ site.opening_prices(0.7) / self._rows_of_each(), 0.0)
        dearest = float(np.abs(self._offers.eur_per_h / np.maximum(self._offers.uses[:, 0], 1e-9)).max(initial=0.0))
        is_room = np.zeros(len(site.rhs))
        is_room[: site.slots] = 1.0
        with ThreadPoolExecutor(THREADS) as pool:
            for part in np.linspace(0.0, 1.0, FIRST_ROOM):
                room = self._map.T @ (is_room * dearest * part)
                self._height(energy + np.where(self._low < 0, 0.0, room), SMOOTHINGS[0], pool)

    def _rows_of_each(self) -> Floats:
        rows: Floats = self._map.T @ np.ones(self._map.shape[0])
        return rows

    def _height(self, free: Floats, smoothing: float, pool: ThreadPoolExecutor) -> tuple[float, Floats]:
        """The smooth form at some prices, and how it changes with each; notes the bound itself."""
        site, price = self._site, self._map @ free
        jobs_eur, jobs_exact_eur, used = self._jobs(np.ascontiguousarray(site.job_prices(price)), smoothing, pool)
        site_eur, site_exact_eur, chosen = self._side(price, smoothing)
        slope = site.rhs - self._matrix @ chosen
        slope[: used.size] -= used.reshape(-1)
        exact_eur = jobs_exact_eur + site_exact_eur
        if exact_eur < self._best_eur:
            self._best_eur, self.best = exact_eur, free.copy()
        return jobs_eur + site_eur, self._map.T @ slope

    def _jobs(self, price: Floats, smoothing: float, pool: ThreadPoolExecutor) -> tuple[float, float, Floats]:
        """The jobs' side: its smooth form, its value, and what the jobs use by quantity and slot."""
        count = len(self._stake_eur)
        cuts = np.linspace(0, count, THREADS + 1).astype(np.int64)
        used, sums = np.zeros((THREADS, *price.shape)), np.zeros((THREADS, 2))
        each = np.maximum(smoothing * self._stake_eur, 1e-12)

        def one(part: int) -> None:
            found = start_list(price.shape[1])
            smooth_values(self._offers, price, found, cuts[part], cuts[part + 1], each, used[part], sums[part])

        list(pool.map(one, range(THREADS)))
        return float(sums[:, 0].sum()), float(sums[:, 1].sum()), used.sum(axis=0)

    def _side(self, price: Floats, smoothing: float) -> tuple[float, float, Floats]:
        """The site's side: its smooth form, its value, and what it chooses of each variable."""
        site, chooses = self._site, self._chooses
        left = site.cost - self._transposed @ price
        fixed = float(price @ site.rhs)
        chosen = np.empty(len(left))
        smooth_eur, exact_eur = fixed, fixed

        free = ~chooses
        spread = site.high[free] - site.low[free]
        per_unit = smoothing * self._stake_of_all / (max(1, int(free.sum())) * np.maximum(spread, 1e-9))
        over = np.clip(left[free] / per_unit, -700.0, 700.0)
        chosen[free] = site.low[free] + spread / (1.0 + np.exp(-over))
        base = float((site.low[free] * left[free]).sum())
        exact_eur += base + float((spread * np.maximum(left[free], 0.0)).sum())
        smooth_eur += base + float((spread * per_unit * np.logaddexp(0.0, over)).sum())

        row = site.choice_row[chooses]
        best = np.full(len(site.rhs), -np.inf)
        np.maximum.at(best, row, left[chooses])
        rows = np.unique(row)
        m = smoothing * self._stake_of_all / (20.0 * max(1, len(rows)))
        weight = np.exp((left[chooses] - best[row]) / m)
        total = np.bincount(row, weight, minlength=len(site.rhs))
        chosen[chooses] = weight / total[row]
        exact_eur += float(best[rows].sum())
        smooth_eur += float((best[rows] + m * np.log(total[rows])).sum())
        return smooth_eur, exact_eur, chosen


def _free_prices(site: SiteModel, *, is_limited: bool) -> tuple[Any, Floats]:
    """A matrix from the prices that are searched for to all prices, and the least value of each searched one.

    Power costs in each slot what energy costs in its segment, and more only where a limit on power may bind. What a
    segment chooses has no price of its own (`SiteModel.settled`).
    """
    from scipy.sparse import csr_array

    rows: list[int] = []
    free: list[int] = []
    low: list[float] = []

    def add(row: int, least: float) -> int:
        rows.append(row)
        free.append(len(low))
        low.append(least)
        return len(low) - 1

    energy = [add(link, -math.inf) for link, _, _ in site.curves]
    power = range((site.quantities - 1) * site.slots, site.quantities * site.slots)
    for slot, row in enumerate(power):
        rows.append(row)
        free.append(energy[int(site.segment[slot])])
        if is_limited:
            add(row, 0.0)
    known = {*rows, *site.choice_row[site.choice_row >= 0].tolist()}
    for row in range(len(site.rhs)):
        if row not in known:
            add(row, -math.inf if site.is_equal[row] else 0.0)
    return csr_array((np.ones(len(rows)), (rows, free)), shape=(len(site.rhs), len(low))), np.array(low)
