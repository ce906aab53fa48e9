"""The linear program that finds prices: the site with a few starts of each offer, solved by HiGHS."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planner.accounting.bound.offers import Offers
from planner.accounting.bound.site import SiteModel
from planner.accounting.energy import overlap_s
from planner.domain.columns import Floats, Ints
from planner.units import SECONDS_PER_HOUR


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
    income = offers.eur_per_h[offer] * (end_s - start_s) / SECONDS_PER_HOUR
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
