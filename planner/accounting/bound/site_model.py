"""The site's side of the bound: node room, idle nodes, power, cooling, sun, tariff and demand charge as linear rows.

Every variable lies in a box, so that any prices of the rows give a bound (see `SiteModel.value`), however they were
found. The first rows are those that jobs enter: one per priced quantity and slot.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from planner.accounting.bound.slots import (
    BoundSlots,
    JobEnergy,
    RunningLoad,
    Shares,
    bought_points,
    cooling_rows,
    demand_blocks,
    demand_windows,
    hull,
    lower_hull,
    most_power_kw,
)
from planner.domain.columns import Floats, Ints
from planner.domain.problem import Problem
from planner.units import MILLI, SECONDS_PER_HOUR


@dataclass(frozen=True)
class SiteModel:
    """Maximise ``cost @ z`` with ``matrix @ z + (what jobs use) <= or = rhs`` and z between ``low`` and ``high``.

    The matrix has ``entry`` in ``entry_row`` and ``entry_variable``, each place once and in the order of rows.
    ``choice_row`` is the row in which a point of a segment's curve is chosen, -1 for other variables; ``curves`` has
    for each segment the row of its IT energy, and the corners of a convex curve of cost over it, for first prices.
    """

    quantities: int
    slots: int
    entry: Floats
    entry_row: Ints
    entry_variable: Ints
    rhs: Floats
    is_equal: npt.NDArray[np.bool_]
    cost: Floats
    low: Floats
    high: Floats
    choice_row: Ints
    segment: Ints
    curves: tuple[tuple[int, Floats, Floats], ...]

    @cached_property
    def matrix(self) -> Any:
        """The matrix, for what needs it whole; to look at prices it is not worth the loading of scipy."""
        from scipy.sparse import csr_array

        places = (self.entry_row, self.entry_variable)
        return csr_array((self.entry, places), shape=(len(self.rhs), len(self.cost)))

    def opening_prices(self, load_fraction: float) -> Floats:
        """Prices to begin with: energy at what it costs in each segment at some load, and room for nothing."""
        price = np.zeros(len(self.rhs))
        power = price[(self.quantities - 1) * self.slots : self.quantities * self.slots]
        for slot in range(self.slots):
            link, energy, cost = self.curves[self.segment[slot]]
            at = energy[0] + load_fraction * (energy[-1] - energy[0])
            step = min(max(1, int(np.searchsorted(energy, at))), len(energy) - 1)
            if step:
                price[link] = (cost[step] - cost[step - 1]) / max(energy[step] - energy[step - 1], 1e-9)
            power[slot] = price[link]
        return price

    def job_prices(self, price: Floats) -> Floats:
        """Prices of the rows that jobs enter; one row per priced quantity, one column per slot."""
        return price[: self.quantities * self.slots].reshape(self.quantities, self.slots)

    def settled(self, price: Floats) -> Floats:
        """Prices made fit for a bound: no inequality below zero, and each segment's choice at its best price."""
        price = np.where(self.is_equal, price, np.maximum(price, 0.0))
        chooses = self.choice_row >= 0
        price[self.choice_row[chooses]] = 0.0
        left = self._left(price)[chooses]
        best = np.full(len(price), -np.inf)
        np.maximum.at(best, self.choice_row[chooses], left)
        return np.where(np.isfinite(best), best, price)

    def value(self, price: Floats) -> tuple[float, float]:
        """Most that the site's side can be at settled prices, and the sum of the sizes of its terms."""
        left = self._left(price)
        terms = np.concatenate([price * self.rhs, np.where(left > 0, self.high * left, self.low * left)])
        return float(terms.sum()), float(np.abs(terms).sum())

    def _left(self, price: Floats) -> Floats:
        """What each variable earns above the prices of the rows that it enters."""
        paid = self.entry * price[self.entry_row]
        return self.cost - np.bincount(self.entry_variable, weights=paid, minlength=len(self.cost))


class _Rows:
    """Rows and variables as they are written down."""

    def __init__(self) -> None:
        self.rhs: list[float] = []
        self.equal: list[bool] = []
        self.cost: list[float] = []
        self.low: list[float] = []
        self.high: list[float] = []
        self.choice: list[int] = []
        self.entries: list[tuple[int, int, float]] = []

    def row(self, rhs: float, *, equal: bool = False) -> int:
        self.rhs.append(rhs)
        self.equal.append(equal)
        return len(self.rhs) - 1

    def variable(self, low: float, high: float, cost: float = 0.0, choice: int = -1) -> int:
        self.low.append(low)
        self.high.append(high)
        self.cost.append(cost)
        self.choice.append(choice)
        return len(self.low) - 1

    def put(self, row: int, variable: int, factor: float) -> None:
        self.entries.append((row, variable, factor))

    def model(self, quantities: int, slots: BoundSlots, curves: list[tuple[int, Floats, Floats]]) -> SiteModel:
        row, variable, factor = zip(*self.entries, strict=True)
        places, same = np.unique(np.array(row) * len(self.low) + np.array(variable), return_inverse=True)
        return SiteModel(
            quantities=quantities,
            slots=len(slots),
            entry=np.bincount(same, weights=factor).astype(np.float64),
            entry_row=places // len(self.low),
            entry_variable=places % len(self.low),
            rhs=np.array(self.rhs),
            is_equal=np.array(self.equal),
            cost=np.array(self.cost),
            low=np.array(self.low),
            high=np.array(self.high),
            choice_row=np.array(self.choice, dtype=np.int64),
            segment=slots.segment,
            curves=tuple(curves),
        )


class SiteRows:
    """The site's rows and variables, one method per rule.

    At each of ``bills_s``, edges of segments, a demand charge begins.
    """

    def __init__(
        self,
        problem: Problem,
        shares: Shares,
        idle_classes: Ints,
        slots: BoundSlots,
        load: RunningLoad,
        energy: JobEnergy,
        bills_s: Ints,
    ) -> None:
        self.problem, self.shares, self.slots, self.load = problem, shares, slots, load
        self.job_energy, self.bills_s = energy, bills_s
        self.idle_classes = idle_classes
        self.rows = _Rows()
        self.count = np.array([node_class.count for node_class in problem.cluster.classes])
        first = list(problem.cluster.first_nodes[:-1])
        nodes = problem.nodes
        # A node that rests draws at least what it draws asleep; in use it draws that much less, or more if below zero.
        self.saved_kw = nodes.saved_mw[first] / MILLI**2
        self.all_idle_kw = float(self.count @ (nodes.asleep_mw[first] / MILLI**2))
        self.awake_kw = float(self.count @ ((nodes.idle_mw - nodes.asleep_mw)[first] / MILLI**2))
        self.more_kw = float(self.count @ np.maximum(0.0, -self.saved_kw)) + self.awake_kw
        self.most_kw = most_power_kw(problem, shares)

    def build(self) -> SiteModel:
        self._room()
        self._units()
        self._power()
        self._segments()
        self._battery()
        self._demand()
        return self.rows.model(len(self.shares.class_of) + len(self.idle_classes) + 1, self.slots, self.curves)

    def _room(self) -> None:
        """In each measure, the units on a class take at most its busy nodes; without idle power, all its nodes."""
        self.busy = {
            int(c): [
                self.rows.variable(float(self.load.busy_h[c, h]), self._open_h(int(c), h))
                for h in range(len(self.slots))
            ]
            for c in self.idle_classes
        }
        for measure, c in enumerate(self.shares.class_of.tolist()):
            for h in range(len(self.slots)):
                held = float(self.load.share_h[measure, h])
                if c in self.busy:
                    self.rows.put(self.rows.row(-held), self.busy[c][h], -1.0)
                else:
                    self.rows.row(self._open_h(c, h) - held)

    def _open_h(self, c: int, h: int) -> float:
        """Node-hours of a class in a slot that outages leave; never less than what started work is on."""
        left = float(self.count[c] * self.slots.hours[h]) - float(self.load.closed_h[c, h])
        return max(left, float(self.load.busy_h[c, h]))

    def _units(self) -> None:
        """A busy node has a unit on it: one that was running, or one of today's."""
        for c in self.idle_classes.tolist():
            for h in range(len(self.slots)):
                self.rows.put(self.rows.row(float(self.load.busy_h[c, h])), self.busy[c][h], 1.0)

    def _power(self) -> None:
        """The energy of today's jobs in each slot; the power limit is one end of its box."""
        limit_mw = self.problem.cluster.power_limit_mw
        self.energy = []
        for h, hours in enumerate(self.slots.hours):
            most = self.most_kw * hours
            if limit_mw is not None:
                most = min(most, max(0.0, limit_mw / MILLI**2 * hours - self.load.work_kwh[h]))
            least = float(min(self.job_energy.least_kwh[h], most))
            self.energy.append(self.rows.variable(least, float(min(self.job_energy.most_kwh[h], most))))
            self.rows.put(self.rows.row(0.0, equal=True), self.energy[h], -1.0)

    def _segments(self) -> None:
        """IT energy of a segment: jobs, running work, idle nodes; a point of its curve gives what it buys."""
        self.bought: list[list[tuple[int, float]]] = []
        self.curves: list[tuple[int, Floats, Floats]] = []
        self.least_cooling = []
        rates, columns = self.problem.rates, self.problem.segment_columns
        prices = (columns.full_price_eur_per_kwh * columns.counts).tolist()
        for index, segment in enumerate(self.problem.segments):
            within = np.flatnonzero(self.slots.segment == index)
            hours = float(self.slots.hours[within].sum())
            held = float(self.load.work_kwh[within].sum())
            by_itself = (self.all_idle_kw + self.more_kw) * hours
            top = held + sum(self.rows.high[self.energy[h]] for h in within) + by_itself
            price, feed_in = prices[index], float((columns.feed_in_eur_per_kwh * columns.counts)[index])
            bottom = held + sum(self.rows.low[self.energy[h]] for h in within)
            uses_sun = bool(columns.uses_sun[index])
            it, bought, unused = bought_points(self.problem.table, segment, bottom, top, uses_sun=uses_sun)
            curve = lower_hull(it, price * bought - feed_in * unused)
            if rates.demand_eur_per_kw:
                if not (uses_sun and feed_in and segment.solar_w):
                    # What it costs goes with what is bought, so that the corners of the one are those of both.
                    it, bought = hull(it, bought)
                    unused = np.full(len(it), 0.0 if uses_sun else unused[0])
                cost = feed_in * unused - price * bought
            else:
                it, cost, bought = curve[0], -curve[1], np.zeros(len(curve[0]))
            self.least_cooling.append(float(cooling_rows(self.problem.table, segment, bottom, top)[2].min()))
            link = self.rows.row(-(held + self.all_idle_kw * hours), equal=True)
            choose = self.rows.row(1.0, equal=True)
            self.curves.append((link, *curve))
            self._it_energy(link, within, 1.0)
            if self.awake_kw:
                # Nodes that rest may be awake: the more energy, the lower the costs where a price is below zero.
                self.rows.put(link, self.rows.variable(0.0, self.awake_kw * hours), 1.0)
            points = []
            for energy, eur, amount in zip(it.tolist(), cost.tolist(), bought.tolist(), strict=True):
                point = self.rows.variable(0.0, 1.0, eur, choose)
                self.rows.put(link, point, -energy)
                self.rows.put(choose, point, 1.0)
                points.append((point, amount))
            self.bought.append(points)

    def _demand(self) -> None:
        """The peak of a bill is at least the mean bought power over any whole number of its demand intervals."""
        rates = self.problem.rates
        if not rates.demand_eur_per_kw:
            return
        tables = self.problem.table.cooling
        battery_kw = 0.0 if rates.battery is None else rates.battery.power_kw
        by_itself_kw = self.all_idle_kw + self.more_kw
        highest = (self.most_kw + by_itself_kw + float(self.load.most_kw)) * (1 + float(tables.max())) + battery_kw
        so_far = [rates.demand_so_far_kw, *(0.0 for _ in self.bills_s[1:])]
        peaks = [self.rows.variable(low, max(low, highest), -rates.demand_eur_per_kw) for low in so_far]
        # What is charged already comes back as a constant.
        self.rows.variable(1.0, 1.0, rates.demand_eur_per_kw * rates.demand_so_far_kw)
        edges_s = self.problem.segment_columns.edges_s.tolist()
        for first, end in demand_blocks(self.problem, self.bills_s):
            hours = (edges_s[end] - edges_s[first]) / SECONDS_PER_HOUR
            block = self.rows.row(0.0)
            self.rows.put(block, peaks[self._bill_at(edges_s[first])], -hours)
            for points in self.bought[first:end]:
                for point, amount in points:
                    self.rows.put(block, point, amount)
            for segment in range(first, end):
                self._moved(block, segment, 1.0)
        for first, end in demand_windows(self.problem, self.slots, self.bills_s):
            within = np.arange(first, end)
            index = int(self.slots.segment[first])
            hours = float(self.slots.hours[within].sum())
            per_it = 1 + self.least_cooling[index]
            fixed = float(self.load.work_kwh[within].sum()) + self.all_idle_kw * hours
            sun = self.problem.segments[index].solar_w / MILLI * hours
            sun = sun if self.problem.segment_columns.uses_sun[index] else 0.0
            window = self.rows.row(sun - per_it * fixed)
            self.rows.put(window, peaks[self._bill_at(int(self.slots.edges_s[first]))], -hours)
            self._it_energy(window, within, per_it)
            self._moved(window, index, hours * SECONDS_PER_HOUR / self.problem.segments[index].length_s)

    def _battery(self) -> None:
        """What a battery takes and gives in each segment, and what it holds after it.

        Whatever the plan, what it gives saves the price of the segment at most, and what it takes costs the price, or
        up to the sun that there is what feeding that in would earn.
        """
        battery, columns = self.problem.rates.battery, self.problem.segment_columns
        self.flows: list[tuple[int, int]] = []
        if battery is None:
            return
        before = self.rows.variable(battery.start_kwh, battery.start_kwh)
        prices, feeds = (
            each * columns.counts for each in (columns.full_price_eur_per_kwh, columns.feed_in_eur_per_kwh)
        )
        for index, segment in enumerate(self.problem.segments):
            hours = segment.length_s / SECONDS_PER_HOUR
            room, is_last = battery.power_kw * hours, index == len(self.problem.segments) - 1
            sun = min(room, segment.solar_w / MILLI * hours)
            sunny = self.rows.variable(0.0, sun, -float(feeds[index]))
            takes = self.rows.variable(0.0, room, -float(prices[index]))
            gives = self.rows.variable(0.0, room, float(prices[index]))
            least = battery.end_kwh_within(self.problem.horizon.length_s / SECONDS_PER_HOUR) if is_last else 0.0
            holds = self.rows.variable(least, battery.capacity_kwh)
            at_once = self.rows.row(room)
            for variable in (sunny, takes, gives):
                self.rows.put(at_once, variable, 1.0)
            level = self.rows.row(0.0, equal=True)
            for variable, factor in (
                (holds, 1.0),
                (before, -1.0),
                (sunny, -battery.one_way),
                (takes, -battery.one_way),
                (gives, 1 / battery.one_way),
            ):
                self.rows.put(level, variable, factor)
            self.flows.append((takes, gives))
            before = holds

    def _moved(self, row: int, segment: int, part: float) -> None:
        """What a battery buys more in part of a segment."""
        if self.flows:
            takes, gives = self.flows[segment]
            self.rows.put(row, takes, part)
            self.rows.put(row, gives, -part)

    def _bill_at(self, moment_s: int) -> int:
        return int(np.searchsorted(self.bills_s, moment_s, side="right")) - 1

    def _it_energy(self, row: int, within: Ints, factor: float) -> None:
        """Energy of today's jobs in some slots, less what busy nodes do not draw as idle ones."""
        for h in within.tolist():
            self.rows.put(row, self.energy[h], factor)
            for c, busy in self.busy.items():
                self.rows.put(row, busy[h], -factor * float(self.saved_kw[c]))
