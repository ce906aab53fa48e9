"""The day's profit as an expression, in whole units of money.

For each segment s with W_s the IT energy, L_s its length and e_s the price with its carbon::

    row_s  = (W_s - first * L_s + step / 2 * L_s) div (step * L_s)             halves go up, as in the ledger
    cost_s = e_s * W_s + W_s * lut_s[row_s]                                     lut_s[k] = e_s * cooling[k]
    cost_s = f_s * site_s + max(0, (e_s - f_s) * (site_s - sun_s))              in segments whose sun is used, with
                                                                                f_s what feeding it in would earn

W_s and row_s are exact. An idle node's power counts exactly where no two units can share a node; elsewhere a unit saves
it in proportion to its share of the node, and the ledger decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import docplex.cp.modeler as md
import numpy as np

from planner.cp.fixed_work import FixedWork
from planner.cp.interval_rates import MONEY_STEPS, Rate, WholeUnits, interval_rates
from planner.cp.subproblem import Subproblem, must_start
from planner.cp.variables import Variables
from planner.domain.job_order import cooled_prices
from planner.domain.problem import Problem
from planner.domain.segment import Segment
from planner.units import MILLI, MILLIWATT_SECONDS_PER_KWH


@dataclass(frozen=True)
class Energy:
    """IT energy of a stretch of the day as an expression in units of the scale, and its bounds."""

    expression: Any
    least: int
    most: int


class ProfitObjective:
    """Profit of a model: ``expression`` times the money unit, plus ``constant_eur``."""

    def __init__(self, problem: Problem, subproblem: Subproblem, variables: Variables, fixed: FixedWork) -> None:
        self._problem = problem
        self._fixed = fixed
        self._rates = interval_rates(problem, subproblem, variables)
        segments = problem.segment_columns
        # With carbon, per milliwatt-second, as much as the segment counts.
        counted = segments.full_price_eur_per_kwh * segments.counts
        self._prices = (counted / MILLIWATT_SECONDS_PER_KWH).tolist()
        self._feeds = (segments.feed_in_eur_per_kwh * segments.counts / MILLIWATT_SECONDS_PER_KWH).tolist()
        self._shines = ((segments.solar_w > 0) & segments.uses_sun).tolist()
        self._urgent = [interval for job, interval in variables.jobs.items() if must_start(problem, job)]
        self._shares = len(self._urgent) if subproblem.soft_deadlines and self._urgent else 1
        self.scale = self._make_scale()
        self.constant_eur = fixed.revenue_eur
        self._energies: dict[tuple[int, int], Energy] = {}
        self._table_rows: dict[int, tuple[Any, int, int]] = {}
        self.expression = self._linear_profit() if subproblem.mean_cost else self._profit()
        if subproblem.soft_deadlines and self._urgent:
            self.expression = self.expression + self._bonus()

    def units_at_least(self, eur: float) -> int:
        """The least value of the expression that a plan of that profit can have."""
        return int(np.floor((eur - self.constant_eur - self.scale.error_eur) / self.scale.unit_eur)) - 1

    def to_eur(self, value: float) -> float:
        """The profit of a value of the expression [EUR]; not with soft deadlines."""
        return value * self.scale.unit_eur + self.constant_eur

    def table_range(self) -> list[tuple[Any, int, int]]:
        """For each segment that can leave the table: its energy, and the least and the most that the table knows."""
        ranges = []
        for segment in self._problem.segments:
            energy = self._energy(segment.start_s, segment.end_s)
            step, lowest = self._table_step(segment)
            most = lowest + len(self._problem.table.cooling) * step - 1
            if energy.most > most or energy.least < lowest:
                ranges.append((energy.expression, max(0, lowest), most))
        return ranges

    def _profit(self) -> Any:
        """Revenue less the cost of every segment less the demand charge."""
        terms: list[Any] = []
        for rate in self._rates:
            terms += self._earned_less_linear_cost(rate)
        for index, segment in enumerate(self._problem.segments):
            price = self._prices[index]
            if not self._shines[index]:
                self.constant_eur += segment.solar_w * MILLI * segment.length_s * self._feeds[index]
            if price == 0:
                continue
            if self._shines[index]:
                terms.append(-self._bought(index, segment))
            else:
                base = self._fixed.energy_mws(segment.start_s, segment.end_s)
                self.constant_eur -= base * price
                terms += self._less_cooling(index, segment)
        if self._problem.rates.demand_eur_per_kw > 0:
            terms.append(-self._demand_charge())
        return md.sum(terms) if terms else md.sum([0, 0])

    def _linear_profit(self) -> Any:
        """Revenue less energy at its mean cost, without sunlight and demand charges: by stretches of one price."""
        terms: list[Any] = []
        for start_s, end_s, price in stretches_of_one_price(self._problem):
            self.constant_eur -= self._fixed.energy_mws(start_s, end_s) * price
            for rate in self._rates:
                most = rate.longest_in(start_s, end_s)
                earned = self.scale.money(rate.earns_eur_per_s - rate.draws_mw * price, most) if most else 0
                if earned and start_s <= rate.first_s and rate.last_s <= end_s and rate.is_whole:
                    terms.append(earned * rate.duration_s * md.presence_of(rate.interval))
                elif earned:
                    terms.append(earned * md.overlap_length(rate.interval, (start_s, end_s)))
        return md.sum(terms) if terms else md.sum([0, 0])

    def _earned_less_linear_cost(self, rate: Rate) -> list[Any]:
        """Revenue of an interval less the price of what it draws, by the seconds it spends in each segment."""
        day, counts = self._problem.horizon.length_s, self._problem.segment_columns.counts
        if rate.draws_mw == 0 and (counts == 1).all():
            most = rate.longest_in(0, day)
            earned = self.scale.money(rate.earns_eur_per_s, most)
            return [earned * md.overlap_length(rate.interval, (0, day))] if earned else []
        terms = []
        for segment, price, shines in zip(self._problem.segments, self._prices, self._shines, strict=True):
            most = rate.longest_in(segment.start_s, segment.end_s)
            paid = 0.0 if shines else rate.draws_mw * price
            counted = rate.earns_eur_per_s * segment.counts
            coefficient = self.scale.money(counted - paid, most) if most else 0
            if coefficient:
                terms.append(coefficient * md.overlap_length(rate.interval, (segment.start_s, segment.end_s)))
        return terms

    def _less_cooling(self, index: int, segment: Segment) -> list[Any]:
        """The cost of cooling a segment, negative: energy times the table's cell for its mean power."""
        cells = self._cells(segment) * self._prices[index]
        if not cells.any():
            return []
        return [-self._times_cell(index, segment, (segment.start_s, segment.end_s), cells)]

    def _bought(self, index: int, segment: Segment) -> Any:
        """The cost of a segment whose sun is used: all at what feeding in earns, and beyond the sun at the price."""
        feed, more = self._feeds[index], self._prices[index] - self._feeds[index]
        stretch, sun_mws = (segment.start_s, segment.end_s), segment.solar_w * MILLI * segment.length_s
        drawn = self._times_cell(index, segment, stretch, (1 + self._cells(segment)) * more)
        cost = md.max([0, drawn - self.scale.money(sun_mws * more)])
        if feed == 0:
            return cost
        self.constant_eur += sun_mws * feed
        return cost + self._times_cell(index, segment, stretch, (1 + self._cells(segment)) * feed)

    def _demand_charge(self) -> Any:
        """The charge on the highest mean bought power of the demand intervals."""
        problem, interval = self._problem, self._problem.rates.demand_interval_s
        per_mw = problem.rates.demand_eur_per_kw / MILLI**2
        means = []
        for start in range(0, problem.horizon.length_s, interval):
            end = min(start + interval, problem.horizon.length_s)
            pieces = []
            for index, segment in enumerate(problem.segments):
                first, last = max(start, segment.start_s), min(end, segment.end_s)
                if first >= last:
                    continue
                cells = (1 + self._cells(segment)) * per_mw / (end - start)
                drawn = self._times_cell(index, segment, (first, last), cells)
                solar_w = segment.solar_w if self._shines[index] else 0.0
                sun = self.scale.money(solar_w * MILLI * per_mw * (last - first) / (end - start))
                pieces.append(md.max([0, drawn - sun]) if sun else drawn)
            means.append(md.sum(pieces) if len(pieces) > 1 else pieces[0])
        so_far = self.scale.money(problem.rates.demand_so_far_kw * problem.rates.demand_eur_per_kw)
        if so_far:
            # Only what is above the peak so far is charged.
            return md.max([0, *(mean - so_far for mean in means)])
        return md.max(means) if len(means) > 1 else means[0]

    def _times_cell(self, index: int, segment: Segment, stretch: tuple[int, int], eur_per_mws: Any) -> Any:
        """Energy of a stretch times the value of its segment's row, in units of money."""
        energy = self._energy(*stretch)
        row, first, last = self._row(index, segment)
        step = self.scale.coarse(energy.most)
        rounded = energy.expression if step == 1 else md.int_div(energy.expression + step // 2, step)
        most = energy.most // step + 1
        cells = [self.scale.money(value * step * self.scale.unit_mws) for value in eur_per_mws[first : last + 1]]
        self.scale.error_units += 0.5 * most + (0.5 * max(map(abs, cells)) if step > 1 else 0)
        if first == last or len(set(cells)) == 1:
            return cells[0] * rounded
        return rounded * md.element(cells, row)

    def _row(self, index: int, segment: Segment) -> tuple[Any, int, int]:
        """Row of a segment's mean power in the table counted from the first that can be reached, with the bounds."""
        if index not in self._table_rows:
            energy = self._energy(segment.start_s, segment.end_s)
            step, lowest = self._table_step(segment)
            end = len(self._problem.table.cooling) - 1
            first = min(max(0, (energy.least - lowest) // step), end)
            last = min(max(0, (energy.most - lowest) // step), end)
            shift = lowest + first * step
            above = energy.expression - shift if shift else energy.expression
            if energy.least < shift:
                above = md.max([0, above])
            row = md.int_div(above, step)
            if (energy.most - shift) // step > last - first:
                row = md.min([row, last - first])
            self._table_rows[index] = row, first, last
        return self._table_rows[index]

    def _table_step(self, segment: Segment) -> tuple[int, int]:
        """Energy of one row of the table in a segment, and the least energy that belongs to its first row."""
        table = self._problem.table
        step = self.scale.energy(table.power_step_w * MILLI * segment.length_s)
        half_below = (table.first_power_w * MILLI - table.power_step_w * MILLI // 2) * segment.length_s
        return step, self.scale.energy(half_below)

    def _cells(self, segment: Segment) -> Any:
        """Cooling per IT energy by row at a segment's temperature."""
        rows = np.arange(len(self._problem.table.cooling), dtype=np.int64)
        return self._problem.table.look_up(rows, np.full(len(rows), segment.temperature_c, dtype=np.float64))

    def _energy(self, start_s: int, end_s: int) -> Energy:
        """IT energy between two moments: what the intervals draw, on top of what is constant."""
        if (start_s, end_s) not in self._energies:
            base = self.scale.energy(self._fixed.energy_mws(start_s, end_s))
            terms, least, most = [base], base, base
            for rate in self._rates:
                seconds, draws = rate.longest_in(start_s, end_s), self.scale.energy(rate.draws_mw)
                if seconds and draws:
                    terms.append(draws * md.overlap_length(rate.interval, (start_s, end_s)))
                    least += min(0, draws) * seconds
                    most += max(0, draws) * seconds
            self._energies[start_s, end_s] = Energy(
                md.sum(terms) if len(terms) > 1 else base + md.sum([0, 0]), least, most
            )
        return self._energies[start_s, end_s]

    def _make_scale(self) -> WholeUnits:
        problem, table = self._problem, self._problem.table
        worst = 1 + float(table.cooling.max())
        per_mw_of_peak = problem.rates.demand_eur_per_kw / MILLI**2
        dearest = max(map(abs, self._prices)) + per_mw_of_peak / problem.rates.demand_interval_s
        turnover, energies = 0.0, [rate.draws_mw for rate in self._rates]
        for rate in self._rates:
            seconds = rate.longest_in(0, problem.horizon.length_s)
            turnover += seconds * (rate.earns_eur_per_s + abs(rate.draws_mw) * dearest * worst)
        for start_s, end_s in self._stretches():
            base = self._fixed.energy_mws(start_s, end_s)
            energies += [base, table.power_step_w * MILLI // 2 * (end_s - start_s)]
            energies.append(table.first_power_w * MILLI * (end_s - start_s))
            turnover += base * dearest * worst
        return WholeUnits.of(turnover * self._shares, energies)

    def _stretches(self) -> list[tuple[int, int]]:
        """Every stretch whose energy is asked for."""
        problem = self._problem
        stretches = [(segment.start_s, segment.end_s) for segment in problem.segments]
        if problem.rates.demand_eur_per_kw > 0:
            ticks = range(0, problem.horizon.length_s, problem.rates.demand_interval_s)
            edges = sorted({*ticks, problem.horizon.length_s, *(start for start, _ in stretches)})
            stretches += list(pairwise(edges))
        return stretches

    def _bonus(self) -> Any:
        """More than any profit for each deadline that is met."""
        worth = 2 * MONEY_STEPS // self._shares
        return md.sum([worth * md.presence_of(interval) for interval in self._urgent])


def stretches_of_one_price(problem: Problem) -> list[tuple[int, int, float]]:
    """Where electricity costs the same for a while: start and end [s], and the mean cost with cooling [EUR/mWs]."""
    columns = problem.segment_columns
    turns = np.flatnonzero(np.diff(columns.full_price_eur_per_kwh)) + 1
    firsts = np.concatenate([[0], turns])
    spent = np.add.reduceat(cooled_prices(problem) * columns.length_s, firsts)
    edges = [*columns.edges_s[firsts].tolist(), int(columns.edges_s[-1])]
    return [
        (start, end, float(cost) / (end - start) / MILLIWATT_SECONDS_PER_KWH)
        for (start, end), cost in zip(pairwise(edges), spent, strict=True)
    ]
