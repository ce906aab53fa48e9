"""The rules of the day as constraints: one method per rule, each with a golden test of its text."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import docplex.cp.modeler as md
import numpy as np
from docplex.cp.expression import interval_var
from docplex.cp.model import CpoModel

from planner.cp.fixed_work import FixedWork, Pulse
from planner.cp.profit_objective import ProfitObjective
from planner.cp.subproblem import Subproblem, whole_node_class
from planner.cp.variables import Use, Variables
from planner.domain.problem import Problem


class Constraints:
    """Adds the rules of the day to a model."""

    def __init__(
        self,
        model: CpoModel,
        problem: Problem,
        subproblem: Subproblem,
        variables: Variables,
        fixed: FixedWork,
        objective: ProfitObjective,
    ) -> None:
        self._model = model
        self._problem = problem
        self._scope = subproblem
        self._variables = variables
        self._fixed = fixed
        self._objective = objective

    def add_all(self) -> None:
        """Add every rule."""
        self._units_take_nodes()
        self._seats_of_a_node_fill_in_order()
        self._nodes_are_not_overfilled()
        self._whole_nodes_are_counted()
        self._power_stays_within_the_limit()
        self._power_stays_within_the_table()
        self._jobs_come_after_others()
        self._profit_does_not_fall()

    def _units_take_nodes(self) -> None:
        """While a job runs, as many seats of its group are taken as the group has units, for just as long."""
        for choice in self._variables.choices:
            seats = [seat.interval for seat in choice.seats]
            self._model.add(md.alternative(self._variables.jobs[choice.job], seats, choice.taken))

    def _seats_of_a_node_fill_in_order(self) -> None:
        """A second seat on a node is taken only with the first: equal units need no order of their own."""
        for choice in self._variables.choices:
            for before, after in pairwise(choice.seats):
                if before.place == after.place:
                    self._model.add(md.presence_of(after.interval) <= md.presence_of(before.interval))

    def _nodes_are_not_overfilled(self) -> None:
        """On every node (in every class when pooled), at every second, each resource is used within capacity."""
        pooled = self._scope.pooled
        for place, uses in self._uses_by_place().items():
            if pooled and whole_node_class(self._problem, place):
                continue
            capacity = self._capacity(place)
            for resource in np.flatnonzero(capacity >= 0):
                amounts = [int(self._problem.columns.group_amount[use.group, resource]) * use.units for use in uses]
                taken = [(use, amount) for use, amount in zip(uses, amounts, strict=True) if amount > 0]
                pulses = self._fixed.place_pulses(place, int(resource), pooled=pooled)
                self._stay_within(taken, pulses, int(capacity[resource]))

    def _whole_nodes_are_counted(self) -> None:
        """When pooled, in a class where no two units share a node, at most as many units run as it has nodes."""
        if not self._scope.pooled:
            return
        for place, uses in self._uses_by_place().items():
            if whole_node_class(self._problem, place):
                taken = [(use, use.units) for use in uses]
                self._stay_within(taken, self._fixed.unit_pulses(place), self._problem.cluster.classes[place].count)

    def _power_stays_within_the_limit(self) -> None:
        """At every second, the power of all running jobs stays within the site's limit."""
        limit_mw = self._problem.cluster.power_limit_mw
        if limit_mw is None:
            return
        drawn = [(interval, int(self._problem.columns.power_mw[job])) for job, interval in self._variables.jobs.items()]
        pulses = [md.pulse(interval, power) for interval, power in drawn if power > 0]
        pulses += [md.pulse((start, end), height) for start, end, height in self._fixed.power_pulses()]
        if pulses:
            self._model.add(_total(pulses) <= limit_mw)

    def _power_stays_within_the_table(self) -> None:
        """In every segment that draws power, the mean IT power is one that the PUE table knows; not at mean cost."""
        if self._problem.table.clamp or self._scope.mean_cost:
            return
        for energy, least, most in self._objective.table_range():
            if least > 0:
                self._model.add(md.logical_or(energy == 0, energy >= least))
            self._model.add(energy <= most)

    def _jobs_come_after_others(self) -> None:
        """A job runs only if all that it waits for does, and starts no earlier than these start or end."""
        links, others = self._problem.columns.links, self._scope.others(self._problem)
        for job, interval in self._variables.jobs.items():
            for other, is_end in links.before_of(job):
                before = self._variables.jobs.get(other)
                if before is not None:
                    self._model.add(md.presence_of(interval) <= md.presence_of(before))
                elif others.is_placed[other]:
                    before = self._fixed_interval(other, int(others.start_s[other]))
                else:
                    self._model.add(md.presence_of(interval) <= 0)
                    continue
                self._model.add(_in_turn(before, interval, is_end))
            for other, is_end in links.followers_of(job):
                if other not in self._variables.jobs and others.is_placed[other]:
                    self._model.add(md.presence_of(interval) >= 1)
                    after = self._fixed_interval(other, int(others.start_s[other]))
                    self._model.add(_in_turn(interval, after, is_end))

    def _fixed_interval(self, job: int, start_s: int) -> Any:
        """A job that stays where it is."""
        size = int(self._problem.columns.duration_s[job])
        return interval_var(start=(start_s, start_s), size=size, name=f"fixed{job}")

    def _profit_does_not_fall(self) -> None:
        """The plan earns no less than the best one known: the engine starts there and has to find more."""
        if self._scope.at_least_eur is not None:
            self._model.add(self._objective.expression >= self._objective.units_at_least(self._scope.at_least_eur))

    def _uses_by_place(self) -> dict[int, list[Use]]:
        by_place: dict[int, list[Use]] = {}
        for use in self._variables.uses:
            by_place.setdefault(use.place, []).append(use)
        return dict(sorted(by_place.items()))

    def _capacity(self, place: int) -> Any:
        if not self._scope.pooled:
            return self._problem.nodes.capacity[place]
        first = self._problem.cluster.first_nodes[place]
        return self._problem.nodes.capacity[first] * self._problem.cluster.classes[place].count

    def _stay_within(self, taken: list[tuple[Use, int]], fixed: list[Pulse], capacity: int) -> None:
        if sum(height for _, height in taken) + max((height for _, _, height in fixed), default=0) <= capacity:
            return
        pulses = [md.pulse(use.interval, height) for use, height in taken]
        pulses += [md.pulse((start, end), height) for start, end, height in fixed]
        self._model.add(_total(pulses) <= capacity)


def _in_turn(before: Any, after: Any, is_end: int) -> Any:
    """One interval starts no earlier than another ends, or starts."""
    return md.end_before_start(before, after) if is_end else md.start_before_start(before, after)


def _total(pulses: list[Any]) -> Any:
    """A sum of pulses; a single one is its own sum."""
    return md.sum(pulses) if len(pulses) > 1 else pulses[0]
