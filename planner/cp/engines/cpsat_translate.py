"""A docplex model walked into CP-SAT, expression by expression."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from docplex.cp.expression import CpoFunctionCall, CpoIntervalVar, CpoIntVar, CpoValue
from docplex.cp.model import CpoModel
from ortools.sat.python import cp_model

from planner.cp.engines.cpsat_intervals import Hint, Span, Spans
from planner.cp.engines.cpsat_terms import Arithmetic, Bands, Term, constant
from planner.cp.engines.engine import calls_of
from planner.errors import SolverError

MANY_INTERVALS = 100
"""A model of more intervals, and without a starting point, is large: presence and start are then two decisions, and no
start is suggested. Plans are found sooner that way, and proofs later."""


class Walk:
    """The CP-SAT twin of a docplex model; ``spans`` are its intervals by the id of the docplex variable."""

    def __init__(self, source: CpoModel) -> None:
        self.model = cp_model.CpModel()
        self.objective: Term | None = None
        self.spans: dict[int, Span] = {}
        self._arithmetic = Arithmetic(self.model)
        self._bands = Bands(self._arithmetic)
        self._makes = Spans(self._arithmetic)
        self._terms: dict[int, Term] = {}
        expressions = [expression for expression, _ in source.get_all_expressions()]
        parents = _parents(expressions)
        self._is_large = source.get_starting_point() is None and _tops(source, parents) > MANY_INTERVALS
        self._hints = {} if self._is_large else _starting_point(source)
        self._make_intervals(source, parents)
        for expression in expressions:
            if not isinstance(expression, CpoIntervalVar | CpoIntVar):
                self._state(expression)

    def _make_intervals(self, source: CpoModel, parents: dict[int, Any]) -> None:
        variables = [one for one in source.get_all_variables() if isinstance(one, CpoIntervalVar)]
        beyond = max((int(one.children[2].value) for one in calls_of(source, "overlapLength")), default=0)
        for variable in variables:
            if id(variable) in parents:
                continue
            if self._is_large and variable.is_optional():
                self.spans[id(variable)] = self._makes.loose(variable.start[0], variable.start[1], variable.size[0])
            else:
                self.spans[id(variable)] = self._makes.top(
                    variable.start[0],
                    variable.start[1],
                    variable.size[0],
                    optional=variable.is_optional(),
                    beyond=beyond,
                    hint=self._hints.get(id(variable)),
                )
        for variable in variables:
            if id(variable) in parents:
                parent = self.spans[id(parents[id(variable)])]
                self.spans[id(variable)] = self._makes.child(parent, self._hints.get(id(variable)))

    def _state(self, expression: Any) -> None:
        """A top-level expression: the objective or a constraint."""
        name = _name(expression)
        if name == "maximize":
            self.objective = self._term(expression.children[0])
            self.model.maximize(self.objective.expression)
        elif name == "minimize":
            self.objective = self._term(expression.children[0])
            self.model.minimize(self.objective.expression)
        elif name == "alternative":
            self._alternative(*expression.children)
        elif name == "lessOrEqual" and _is_cumulative(expression.children[0]):
            self._cumulative(*expression.children)
        elif name in ("endBeforeStart", "startBeforeStart"):
            self._in_turn(*(self.spans[id(child)] for child in expression.children[:2]), is_end=name[0] == "e")
        else:
            self._hold(expression, None)

    def _hold(self, expression: Any, literal: Any) -> None:
        """A comparison or a disjunction; if a literal is given, only when it is true."""
        name = _name(expression)
        if name == "||":
            literals = []
            for child in expression.children:
                one = self.model.new_bool_var("")
                self._hold(child, one)
                literals.append(one)
            self.model.add_bool_or(literals if literal is None else [*literals, ~literal])
            return
        if name not in ("lessOrEqual", "greaterOrEqual", "equal"):
            raise SolverError(f"the cpsat engine does not know {name!r} in a model; use --engine cpo")
        left, right = (self._term(child).expression for child in expression.children)
        made = {
            "lessOrEqual": lambda: self.model.add(left <= right),
            "greaterOrEqual": lambda: self.model.add(left >= right),
            "equal": lambda: self.model.add(left == right),
        }[name]()
        if literal is not None:
            made.only_enforce_if(literal)

    def _alternative(self, parent: Any, seats: Any, taken: Any) -> None:
        literals = [self.spans[id(seat)].presence for seat in seats.children]
        present = self.spans[id(parent)].present.expression
        self.model.add(cp_model.LinearExpr.sum(literals) == taken.value * present)

    def _cumulative(self, pulses: Any, capacity: Any) -> None:
        intervals, heights = [], []
        for pulse in _flat(pulses):
            if len(pulse.children) == 2:
                intervals.append(self.spans[id(pulse.children[0])].interval)
                heights.append(pulse.children[1].value)
            else:
                start, end, height = (child.value for child in pulse.children)
                intervals.append(self.model.new_fixed_size_interval_var(start, end - start, ""))
                heights.append(height)
        self.model.add_cumulative(intervals, heights, capacity.value)

    def _in_turn(self, before: Span, after: Span, *, is_end: bool) -> None:
        """If both are present, one starts no earlier than the other ends, or starts."""
        come_first = before.start.expression + (before.size if is_end else 0)
        made = self.model.add(come_first <= after.start.expression)
        made.only_enforce_if([span.presence for span in (before, after) if span.presence is not None])

    def _term(self, expression: Any) -> Term:
        if id(expression) not in self._terms:
            self._terms[id(expression)] = self._make_term(expression)
        return self._terms[id(expression)]

    def _make_term(self, expression: Any) -> Term:
        if isinstance(expression, CpoValue):
            return constant(int(expression.value))
        if isinstance(expression, CpoIntVar):
            return self._arithmetic.variable(expression.get_domain_min(), expression.get_domain_max(), None)
        rules: dict[str, Callable[..., Term]] = {
            "plus": self._plus,
            "minus": self._minus,
            "sum": self._plus,
            "times": self._times,
            "intDiv": lambda a, b: self._arithmetic.quotient(self._term(a), int(b.value)),
            "max": lambda *all_: self._arithmetic.largest(self._terms_of(all_)),
            "min": lambda *all_: self._arithmetic.smallest(self._terms_of(all_)),
            "element": lambda cells, index: self._arithmetic.cell(list(cells.value), self._term(index)),
            "overlapLength": lambda i, a, b: self._makes.overlap(self.spans[id(i)], int(a.value), int(b.value)),
            "presenceOf": lambda i: self.spans[id(i)].present,
            "startOf": self._start,
        }
        name = _name(expression)
        if name not in rules:
            raise SolverError(f"the cpsat engine does not know {name!r} in a model; use --engine cpo")
        return rules[name](*expression.children)

    def _times(self, left: Any, right: Any) -> Term:
        for amount, cell in ((left, right), (right, left)):
            if _is_call(cell, "element") and not isinstance(amount, CpoValue):
                cells, index = cell.children
                return self._bands.product(self._term(amount), list(cells.value), self._term(index))
        return self._arithmetic.product(self._term(left), self._term(right))

    def _plus(self, *children: Any) -> Term:
        return self._arithmetic.total(self._terms_of(children))

    def _minus(self, left: Any, right: Any | None = None) -> Term:
        if right is None:
            return self._arithmetic.scaled(self._term(left), -1)
        return self._arithmetic.total([self._term(left), self._arithmetic.scaled(self._term(right), -1)])

    def _start(self, interval: Any, *absent: Any) -> Term:
        """The start of an interval that is always present; what counts for an absent one is not known here."""
        span = self.spans[id(interval)]
        if span.presence is not None:
            raise SolverError("the cpsat engine knows the starts of mandatory intervals only; use --engine cpo")
        return span.start

    def _terms_of(self, children: Any) -> list[Term]:
        """Terms of the arguments of a call, which may come as one array."""
        if len(children) == 1 and isinstance(children[0], CpoValue):
            array = children[0]
            children = array.children or [CpoValue(value, None) for value in array.value]
        return [self._term(child) for child in children]


def _parents(expressions: list[Any]) -> dict[int, Any]:
    """The interval that each child of an alternative copies, by the id of the child."""
    found: dict[int, Any] = {}
    for expression in expressions:
        if _is_call(expression, "alternative"):
            found |= {id(child): expression.children[0] for child in expression.children[1].children}
    return found


def _tops(source: CpoModel, parents: dict[int, Any]) -> int:
    """How many intervals are no child of an alternative."""
    return sum(isinstance(one, CpoIntervalVar) and id(one) not in parents for one in source.get_all_variables())


def _name(expression: Any) -> str | None:
    return expression.operation.cpo_name if isinstance(expression, CpoFunctionCall) else None


def _is_call(expression: Any, name: str) -> bool:
    return _name(expression) == name


def _is_cumulative(expression: Any) -> bool:
    """Whether an expression is a sum of pulses."""
    while _name(expression) in ("plus", "sum"):
        expression = expression.children[0]
        if isinstance(expression, CpoValue):
            expression = expression.children[0] if expression.children else expression
    return _name(expression) == "pulse"


def _flat(expression: Any) -> list[Any]:
    """The pulses of a sum, however it is nested."""
    found, waiting = [], [expression]
    while waiting:
        one = waiting.pop()
        if _name(one) == "pulse":
            found.append(one)
        else:
            waiting += reversed(one.children)
    return found


def _starting_point(source: CpoModel) -> dict[int, Hint]:
    """The model's starting point; without one, nothing at all where nothing is mandatory.

    Large models otherwise stay without a first solution for minutes, though the empty one is there.
    """
    point = source.get_starting_point()
    if point is not None:
        found = point.get_all_var_solutions()
        return {id(one.expr): Hint(one.get_start() if one.is_present() else None) for one in found}
    intervals = [one for one in source.get_all_variables() if isinstance(one, CpoIntervalVar)]
    if not all(one.is_optional() for one in intervals):
        return {}
    return {id(one): Hint(None) for one in intervals}
