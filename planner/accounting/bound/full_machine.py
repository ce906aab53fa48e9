"""Prices at which a full machine earns as much as its jobs can bring: a bound that needs no search.

Where more jobs wait than the machine can run, what they would all earn says little: the machine is full before that.
So room is sold at what jobs pay for it above their energy. At the price of the one who pays best no job earns anything
above its price, and the bound is what the full machine earns at most. At a price at which those who pay more just fill
the machine the bound is lower still, as a rule. Both are prices like any other, and hold for the same reason.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planner.accounting.bound.offers import Offers
from planner.accounting.bound.site import SiteModel
from planner.domain.columns import Floats, Ints
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
    entries = site.matrix[rows]
    return float((-entries @ site.high).sum()) if entries.nnz else 0.0
