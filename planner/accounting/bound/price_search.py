"""How prices are found for which the bound is low: on a full machine, by descent, and by a linear program.

**A full machine.** Where more jobs wait than the machine can run, what they would all earn says little: the machine is
full before that. So room is sold at what jobs pay for it above their energy. At the price of the one who pays best no
job earns anything above its price, and the bound is what the full machine earns at most. At a price at which those who
pay more just fill the machine the bound is lower still, as a rule. This needs no search.

**Descent.** The bound is a convex function of the prices: a sum of greatest values, of each job over its starts, of the
site's side over its choices. Each is replaced by a smooth form that is a little higher (`best_starts`), and L-BFGS-B
lowers the sum; then again with less smoothing, from the best prices so far. What counts is the bound itself at the
prices met on the way. The work of a step is jobs times slots, whatever the prices: where the linear program becomes too
large for its solver, this still ends in minutes. How far the prices are from the best ones it cannot say.

**The linear program.** The site with a few starts of each offer, solved by HiGHS.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from planner.accounting.bound.kernel.best_starts import OfferTable, smooth_values, start_list
from planner.accounting.bound.offers import Offers
from planner.accounting.bound.site_model import SiteModel
from planner.accounting.intervals import overlap_s
from planner.domain.columns import Floats, Ints
from planner.domain.waits import wait_slopes
from planner.units import SECONDS_PER_HOUR


def full_machine_prices(site: SiteModel, offers: Offers, class_of: Ints, energy: Floats) -> Iterator[Floats]:
    """Prices of all rows, from given ones for energy: room in one measure of each class at what jobs pay for it."""
    if not len(offers):
        return
    power_eur = site.job_prices(energy)[-1]
    for measures in _one_of_each_class(class_of):
        used = offers.uses[:, measures].sum(axis=1)
        able = np.flatnonzero(used > 0)
        if not len(able):
            continue
        eur, kw = offers.eur_per_h[able] / used[able], offers.uses[able, -1] / used[able]
        most = np.array([max(0.0, float(np.max(eur - kw * each))) for each in power_eur])
        last = _last_with_room(site, offers, able, eur - kw * power_eur.mean(), measures)
        for room_eur in (most, np.maximum(0.0, eur[last] - kw[last] * power_eur)):
            price = energy.copy()
            site.job_prices(price)[measures] = room_eur
            yield price


def queue_prices(site: SiteModel, offers: Offers, class_of: Ints, energy: Floats) -> Iterator[Floats]:
    """Prices of all rows where waiting counts: room at a moment at what it saves those who wait behind.

    Were jobs a fluid, those whose waiting counts most for the room that they take would go first, and an hour of a node
    would be worth what all later hours save: the sum, from then on, of what those count who are served.
    """
    if not len(offers) or not len(offers.waits):
        return
    edges_h = offers.slots.edges_s / SECONDS_PER_HOUR
    rates = wait_slopes(offers.waits, offers.release_s_of_jobs)
    for measures in _one_of_each_class(class_of):
        nodes = offers.uses[:, measures].sum(axis=1)
        first = np.unique(offers.job, return_index=True)[1]
        first = first[nodes[first] > 0]
        area = nodes[first] * offers.duration_s[first] / SECONDS_PER_HOUR
        ratio = rates[offers.job[first]] / area
        order = np.argsort(-ratio, kind="stable")
        rows = (measures[:, None] * site.slots + np.arange(site.slots)).reshape(-1)
        room = np.maximum(site.rhs[rows], 0.0).reshape(len(measures), -1).sum(axis=0)
        served = np.interp(np.cumsum(area[order]), np.concatenate([[0.0], np.cumsum(room)]), edges_h)
        hours = np.diff(np.concatenate([[0.0], served]))
        left = np.cumsum((ratio[order] * hours)[::-1])[::-1]
        moment = np.concatenate([[0.0], served])
        worth = np.interp(edges_h, moment, np.concatenate([left, [0.0]]))
        for part in QUEUE_PARTS:
            price = energy.copy()
            site.job_prices(price)[measures] = part * (worth[:-1] + worth[1:]) / 2
            yield price


def _one_of_each_class(class_of: Ints) -> Iterator[Ints]:
    """The first measure of every class, the second, and so on; a class that has fewer takes its last."""
    of_class = [np.flatnonzero(class_of == each) for each in np.unique(class_of)]
    for place in range(max((len(each) for each in of_class), default=0)):
        yield np.array([each[min(place, len(each) - 1)] for each in of_class], dtype=np.int64)


def _last_with_room(site: SiteModel, offers: Offers, able: Ints, worth: Floats, measures: Ints) -> int:
    """Who comes last of those that pay best and together just fill the machine; a place among the able."""
    jobs, first = np.unique(offers.job[able], return_index=True)
    order = first[np.argsort(-worth[first], kind="stable")]
    wanted_h = offers.uses[able[order]][:, measures].sum(axis=1) * offers.duration_s[able[order]] / SECONDS_PER_HOUR
    rows = (measures[:, None] * site.slots + np.arange(site.slots)).reshape(-1)
    room_h = float(np.maximum(site.rhs[rows], 0.0).sum()) + _busy_hours(site, rows)
    full = int(np.searchsorted(np.cumsum(wanted_h), room_h))
    return int(order[min(full, len(jobs) - 1)])


def _busy_hours(site: SiteModel, rows: Ints) -> float:
    """Node-hours that can be in use on rows whose room is that of nodes in use, with idle power."""
    if not np.isin(site.entry_row, rows).any():
        return 0.0
    return float((-site.matrix[rows] @ site.high).sum())


QUEUE_PARTS = (0.6, 0.8, 1.0, 1.25)
"""Parts of what room is worth to a queue that are tried."""

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

    def run(self, is_over: Callable[[], bool], steps: int | None = None) -> None:
        """Go down with each smoothing in turn until it is over; with a number of steps, with the first alone."""
        from scipy.optimize import minimize

        self._open()
        bounds = [(low, None) for low in self._low]
        most = STEPS if steps is None else steps
        options = {"maxiter": most, "maxfun": 2 * most, "maxcor": MEMORY, "ftol": 1e-9, "gtol": 1e-6}
        with ThreadPoolExecutor(THREADS) as pool:
            for smoothing in SMOOTHINGS if steps is None else SMOOTHINGS[:1]:

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


@dataclass(frozen=True)
class Solved:
    """Prices of the site's rows, the value of the program, and what each start earns above its price.

    ``away`` is the part of each job that did not start although it must: with any above 0 the value says nothing.
    """

    price: Floats
    value_eur: float
    worth: Floats
    income: Floats
    away: Floats


def solve_master(
    site: SiteModel,
    offers: Offers,
    offer: Ints,
    start_s: Ints,
    *,
    away_eur: Floats,
    away_kwh: Floats,
    time_limit_s: float,
) -> Solved | None:
    """Solve the program over some starts; None when HiGHS does not finish.

    A job runs at most once, in parts of starts that add up to at most 1. One that must start has parts that add up to
    1, or has ``away_eur`` for the rest: the few starts at hand may not fit beside each other. That takes no room, but
    still the energy ``away_kwh`` that no start avoids, so that the program always has a solution.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, diags_array, eye_array, hstack, vstack

    end_s = np.minimum(start_s + offers.duration_s[offer], offers.slots.edges_s[-1])
    seconds = csr_array(overlap_s(offers.slots.edges_s, start_s, end_s))
    counted_h = offers.slots.integral(offers.slots.counts[None, :], np.array([start_s, end_s]))[0]
    income = offers.eur_per_h[offer] * (counted_h[1] - counted_h[0]) + offers.saved_waits(offer, start_s)
    uses = offers.uses[offer] / SECONDS_PER_HOUR
    entered = [(diags_array(uses[:, quantity]) @ seconds).T for quantity in range(site.quantities)]
    untouched = csr_array((len(site.rhs) - site.quantities * site.slots, len(offer)))
    columns = vstack([*entered, untouched], format="csr")
    jobs, which = np.unique(offers.job[offer], return_inverse=True)
    once = csr_array((np.ones(len(offer)), (which, np.arange(len(offer)))), shape=(len(jobs), len(offer)))
    owed = offers.is_owed[jobs]
    absent = csr_array(eye_array(len(jobs)))[:, owed]
    drawn = csr_array(away_kwh[jobs[owed]].T)
    above, below = (site.quantities - 1) * site.slots, len(site.rhs) - site.quantities * site.slots
    absent_uses = vstack([csr_array((above, drawn.shape[1])), drawn, csr_array((below, drawn.shape[1]))])
    rows = hstack([columns, site.matrix, absent_uses], format="csr")
    job_rows = hstack([once, csr_array((len(jobs), len(site.cost))), absent], format="csr")
    equal, whole = site.is_equal, np.ones(absent.shape[1])
    found = linprog(
        -np.concatenate([income, site.cost, away_eur[jobs[owed]]]),
        A_ub=vstack([rows[~equal], job_rows[~owed]], format="csr"),
        b_ub=np.concatenate([site.rhs[~equal], np.ones(int(np.count_nonzero(~owed)))]),
        A_eq=vstack([rows[equal], job_rows[owed]], format="csr"),
        b_eq=np.concatenate([site.rhs[equal], whole]),
        bounds=np.column_stack(
            [
                np.concatenate([np.zeros(len(offer)), site.low, 0 * whole]),
                np.concatenate([np.ones(len(offer)), site.high, whole]),
            ]
        ),
        method="highs-ds",
        options={"time_limit": max(0.01, time_limit_s)},
    )
    if found.status != 0:
        return None
    price = np.zeros(len(site.rhs))
    price[~equal] = -found.ineqlin.marginals[: int(np.count_nonzero(~equal))]
    price[equal] = -found.eqlin.marginals[: int(np.count_nonzero(equal))]
    away = np.zeros(len(away_eur))
    away[jobs[owed]] = found.x[len(offer) + len(site.cost) :]
    return Solved(price, -float(found.fun), income - columns.T @ price, income, away)
