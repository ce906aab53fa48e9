"""Offers: every way in which a job may use the machine, and the most that it can earn at given prices.

An offer is a job with a class of nodes for each of its groups of units. Units of one group on different classes are
mixtures of offers, so that the best offer is at least as good as the best mixture.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
import numpy.typing as npt

from planner.accounting.bound.kernel.best_starts import OfferTable, best_values, start_list
from planner.accounting.bound.slots import BoundSlots, Shares
from planner.domain.columns import NO_DEADLINE, Floats, Ints
from planner.domain.problem import Problem
from planner.domain.waits import wait_costs
from planner.errors import InputError
from planner.units import MILLI

MOST_CHOICES = 64
"""A job with more ways to choose classes than this is taken to need no room: a higher bound, never a wrong one."""
_CHUNK = 2_000_000


@dataclass(frozen=True)
class Offers:
    """Offers as arrays: job, release, latest start and duration, what an hour earns and uses of each priced quantity.

    The priced quantities are the measures of node room, minus the units on each class (they save idle power), and
    the job's power [kW]. ``away_eur`` has one entry per job: 0 for one that may stay away, minus infinity for one that
    must start. ``waits`` is what waiting counts, one row per job, or none; a start then earns what it saves of the wait
    until the end of the horizon.
    """

    job: Ints
    release_s: Ints
    latest_s: Ints
    duration_s: Ints
    eur_per_h: Floats
    uses: Floats
    away_eur: Floats
    slots: BoundSlots
    waits: Floats

    def __len__(self) -> int:
        return len(self.job)

    @cached_property
    def is_owed(self) -> npt.NDArray[np.bool_]:
        """Which jobs must start."""
        return np.isneginf(self.away_eur)

    @cached_property
    def table(self) -> OfferTable:
        """The same for the compiled loops; offers are in order of their jobs."""
        jobs = np.arange(len(self.away_eur) + 1)
        return OfferTable(
            first=np.searchsorted(self.job, jobs).astype(np.int64),
            release=self.release_s,
            latest=self.latest_s,
            duration=self.duration_s,
            eur_per_h=self.eur_per_h,
            uses=np.ascontiguousarray(self.uses),
            is_owed=self.is_owed,
            edges=self.slots.edges_s.astype(np.int64),
            counts=self.slots.counts,
            waits=self.waits[self.job] if len(self.waits) else self.waits,
        )

    @cached_property
    def _spans(self) -> tuple[Ints, Ints]:
        """Distinct (release, duration, latest start), and which of them each offer has."""
        spans = np.column_stack([self.release_s, self.duration_s, self.latest_s])
        distinct, which = np.unique(spans, axis=0, return_inverse=True)
        return distinct, which.reshape(-1)

    @cached_property
    def _starts(self) -> tuple[Ints, Ints]:
        """Starts of each span at which what it earns can be greatest, and the ends within the day.

        Prices are constant within slots, so what a job earns is straight in its start between the moments at which
        its start or its end passes an edge of a slot. Half of the columns are starts at edges, half are ends at edges;
        the first and the last moment at which the job may start stand in for edges beyond them.
        """
        (spans, _), edges = self._spans, self.slots.edges_s
        release, duration, latest = spans[:, :1], spans[:, 1:2], np.minimum(spans[:, 2:], edges[-1] - 1)
        started, ended, width = self._first_edges(release, duration, latest)
        step = np.arange(width)
        moments = [edges[np.minimum(first + step, len(self.slots))] for first in (started, ended)]
        start = np.clip(np.concatenate([moments[0], moments[1] - duration], axis=1), release, latest)
        return start, np.minimum(start + duration, edges[-1])

    def _first_edges(self, release: Ints, duration: Ints, latest: Ints) -> tuple[Ints, Ints, int]:
        """First edge at which each span may start or end, and the most edges that any of them can meet."""
        edges, none = self.slots.edges_s, np.zeros_like(release)
        if not self.is_owed.any():
            return none, none + 1, len(self.slots)
        started = np.searchsorted(edges, release, side="right") - 1
        ended = np.searchsorted(edges, release + duration, side="right")
        starts = np.searchsorted(edges, latest, side="left") - started
        ends = np.searchsorted(edges, latest + duration, side="right") - ended
        return started, ended, int(max(starts.max(initial=0), ends.max(initial=0))) + 1

    def chunks(self, price: Floats) -> Iterator[tuple[slice, Floats]]:
        """What each offer earns, less its price, at each of its candidate starts; some offers at a time.

        ``price`` has one row per priced quantity and one column per slot.
        """
        start, end = self._starts
        _, which = self._spans
        spent = self.slots.integral(price, end) - self.slots.integral(price, start)
        counts = self.slots.counts[None, :]
        hours = (self.slots.integral(counts, end) - self.slots.integral(counts, start))[0]
        size = max(1, _CHUNK // max(1, start.shape[1] * len(price)))
        for first in range(0, len(self), size):
            part = slice(first, min(first + size, len(self)))
            earned = self.eur_per_h[part, None] * hours[which[part]] + self.saved_waits(part, start[which[part]])
            yield part, earned - np.einsum("op,poc->oc", self.uses[part], spent[:, which[part]])

    @cached_property
    def release_s_of_jobs(self) -> Ints:
        """From when on each job may start; the end of the horizon for one that cannot."""
        release = np.full(len(self.away_eur), self.slots.edges_s[-1])
        release[self.job] = self.release_s
        return release

    def saved_waits(self, offers: Ints | slice, start_s: Ints) -> Floats:
        """What starts of some offers save of the wait until the end of the horizon [EUR]; a row per offer."""
        if not len(self.waits) or not start_s.size:
            return np.zeros(start_s.shape)
        table, last = self.waits[self.job[offers]], np.full(len(self.job[offers]), self.slots.edges_s[-1])
        most = wait_costs(table, last)
        columns = start_s.reshape(len(table), -1).T
        return np.array([most - wait_costs(table, each) for each in columns]).T.reshape(start_s.shape)

    def best(self, price: Floats) -> Floats:
        """The most that each job can earn above its price with any start and classes, or by staying away."""
        most: Floats = self.best_of_each([price])[0]
        return most

    def best_of_each(self, prices: Sequence[Floats]) -> Floats:
        """The same with each of some prices, which takes less time than one after another; a row for each."""
        most = np.tile(self.away_eur, (len(prices), 1))
        best_values(self.table, np.stack(prices), start_list(len(self.slots)), most)
        return most

    def good_starts(self, price: Floats, floor: Floats, *, parts: int = 1) -> tuple[Ints, Ints]:
        """Offers and starts that earn more above their price than the floor of their job.

        Up to two an offer for each of that many parts of the day: the best with its start, and with its end, at the
        edge of a slot.
        """
        start, _ = self._starts
        _, which = self._spans
        offers, starts = [], []
        stretches = [each for each in np.array_split(np.arange(start.shape[1]), 2 * parts) if len(each)]
        for part, value in self.chunks(price):
            for stretch in stretches:
                column = np.argmax(value[:, stretch], axis=1) + stretch[0]
                wanted = np.flatnonzero(value[np.arange(len(value)), column] > floor[self.job[part]])
                offers.append(wanted + part.start)
                starts.append(start[which[part][wanted], column[wanted]])
        if not offers:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        return np.concatenate(offers), np.concatenate(starts)


def offers_of(
    problem: Problem, shares: Shares, idle_classes: Ints, slots: BoundSlots, latest_start_s: Ints | None = None
) -> Offers:
    """All offers of the jobs; the priced quantities are the measures, the units on idle classes, and power.

    With ``latest_start_s`` every job whose latest start is within the horizon must have started by then.
    """
    columns = problem.columns
    latest_s = np.full(len(columns), NO_DEADLINE) if latest_start_s is None else latest_start_s
    late = np.flatnonzero(latest_s < columns.release_s)
    if len(late):
        raise InputError(f"job {problem.jobs[late[0]].id} would have to start before it is submitted")
    # What a job waits for, or its own begin, may leave it no second of the day.
    able = np.flatnonzero(columns.release_s < problem.horizon.length_s).tolist()
    made = list(_each_offer(problem, shares, idle_classes, able))
    owner = np.array([job for job, _, _ in made], dtype=np.int64)
    return Offers(
        job=owner,
        release_s=columns.release_s[owner],
        latest_s=latest_s[owner],
        duration_s=columns.duration_s[owner],
        eur_per_h=np.array([earned for _, earned, _ in made], dtype=np.float64),
        uses=np.array([uses for _, _, uses in made]).reshape(len(made), len(shares.class_of) + len(idle_classes) + 1),
        away_eur=np.where(latest_s < problem.horizon.length_s, -np.inf, 0.0),
        slots=slots,
        waits=problem.wait_prices,
    )


def _each_offer(
    problem: Problem, shares: Shares, idle_classes: Ints, jobs: Sequence[int]
) -> Iterator[tuple[int, float, Floats]]:
    """The offers of jobs: each with what an hour earns and uses. Jobs that ask the same have the same ones."""
    columns = problem.columns
    known: dict[tuple[bytes, ...], list[Floats]] = {}
    for job in jobs:
        groups = slice(int(columns.group_ptr[job]), int(columns.group_ptr[job + 1]))
        counts, fits, of_group = columns.group_count[groups], shares.fits[groups], shares.of_group[:, groups]
        asked = counts.tobytes(), fits.tobytes(), of_group.tobytes()
        if asked not in known:
            known[asked] = list(_choices_of_classes(counts, fits, of_group, shares.class_of, idle_classes))
        paid = problem.rates.eur_per_charged_hour * columns.weight[job]
        earns = float((counts * columns.group_charged[groups] * paid).sum())
        power_kw = [columns.power_mw[job] / MILLI**2]
        for uses in known[asked]:
            yield job, earns, np.concatenate([uses, power_kw])


def _choices_of_classes(
    counts: Ints, fits: npt.NDArray[np.bool_], of_group: Floats, class_of: Ints, idle_classes: Ints
) -> Iterator[Floats]:
    """What groups of units use of the room and of idle nodes, for each choice of a class for each group."""
    if math.prod(int(row.sum()) for row in fits) > MOST_CHOICES:
        yield np.concatenate([np.zeros(len(class_of)), -(counts @ fits[:, idle_classes])])
        return
    for classes in product(*(np.flatnonzero(row) for row in fits)):
        chosen = np.array(classes)
        room = np.where(chosen[None, :] == class_of[:, None], of_group, 0.0) @ counts
        units = (chosen[None, :] == idle_classes[:, None]) @ counts
        yield np.concatenate([room, -units])
