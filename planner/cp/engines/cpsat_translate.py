"""A docplex model walked into CP-SAT, expression by expression.

Interval variables have a start, a fixed size and a presence. An absent interval starts after everything, or, in large
models, anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from docplex.cp.expression import CpoFunctionCall, CpoIntervalVar, CpoIntVar, CpoValue
from docplex.cp.model import CpoModel
from ortools.sat.python import cp_model

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


@dataclass(frozen=True)
class Hint:
    """Where the starting point has an interval; ``start`` is None where it is absent."""

    start: int | None


@dataclass
class Span:
    """One interval: its start, size, presence literal (None: always present), and the interval itself.

    ``parent`` is the interval that it copies when present, for the children of an alternative. ``is_loose``: while it
    is absent its start means nothing.
    """

    start: Term
    size: int
    presence: Any
    interval: Any
    hinted_present: bool | None
    parent: Span | None = None
    is_loose: bool = False
    elapsed: dict[int, Term] = field(default_factory=dict)

    @property
    def present(self) -> Term:
        """1 when the interval is present."""
        if self.presence is None:
            return constant(1)
        return Term(self.presence, 0, 1, None if self.hinted_present is None else int(self.hinted_present))


class Spans:
    """Makes intervals and measures how much of them lies before a moment."""

    def __init__(self, arithmetic: Arithmetic) -> None:
        self._arithmetic = arithmetic
        self._model = arithmetic.model

    def top(self, first: int, last: int, size: int, *, optional: bool, beyond: int, hint: Hint | None) -> Span:
        """An interval of its own; if it is absent its start is ``beyond``, which no question reaches."""
        away = max(last + 1, beyond)
        hinted = None if hint is None else (away if hint.start is None else hint.start)
        if not optional:
            start = constant(first) if first == last else self._arithmetic.variable(first, last, hinted)
            interval = self._model.new_fixed_size_interval_var(start.expression, size, "")
            return Span(start, size, None, interval, True)
        domain = cp_model.Domain.from_intervals([[first, last], [away, away]])
        variable = self._model.new_int_var_from_domain(domain, "")
        presence = self._model.new_bool_var("")
        self._model.add(variable <= last).only_enforce_if(presence)
        self._model.add(variable == away).only_enforce_if(~presence)
        if hint is not None:
            self._model.add_hint(variable, hinted)
            self._model.add_hint(presence, hint.start is not None)
        interval = self._model.new_optional_fixed_size_interval_var(variable, size, presence, "")
        start = Term(variable, first, away, hinted)
        return Span(start, size, presence, interval, None if hint is None else hint.start is not None)

    def loose(self, first: int, last: int, size: int) -> Span:
        """An interval of its own that may be absent, and whose start then means nothing.

        Engines find plans of many jobs more easily so: presence and start are two decisions.
        """
        start = self._arithmetic.variable(first, last, None)
        presence = self._model.new_bool_var("")
        interval = self._model.new_optional_fixed_size_interval_var(start.expression, size, presence, "")
        return Span(start, size, presence, interval, None, is_loose=True)

    def child(self, parent: Span, hint: Hint | None) -> Span:
        """A copy of an interval that may be absent when its parent is present."""
        presence = self._model.new_bool_var("")
        if hint is not None:
            self._model.add_hint(presence, hint.start is not None)
        start = parent.start.expression
        interval = self._model.new_optional_fixed_size_interval_var(start, parent.size, presence, "")
        present = None if hint is None else hint.start is not None
        return Span(parent.start, parent.size, presence, interval, present, parent)

    def overlap(self, span: Span, start_s: int, end_s: int) -> Term:
        """Seconds of an interval between two moments; 0 when it is absent."""
        if span.parent is not None:
            whole = self.overlap(span.parent, start_s, end_s)
        else:
            whole = self._between(self._elapsed(span, start_s), self._elapsed(span, end_s), end_s - start_s)
            if not span.is_loose:
                return whole
        hint = None if whole.hint is None or span.hinted_present is None else whole.hint * span.hinted_present
        made = self._arithmetic.variable(0, whole.most, hint)
        self._model.add(made.expression == whole.expression).only_enforce_if(span.presence)
        self._model.add(made.expression == 0).only_enforce_if(~span.presence)
        if span.is_loose:
            self._model.add(made.expression <= whole.most * span.presence)
        return made

    def _elapsed(self, span: Span, moment: int) -> Term:
        """Seconds of an interval before a moment: max(0, min(size, moment - start))."""
        if moment not in span.elapsed:
            start, arithmetic = span.start, self._arithmetic
            hint = None if start.hint is None else moment - start.hint
            gone = Term(moment - start.expression, moment - start.most, moment - start.least, hint)
            capped = arithmetic.smallest([constant(span.size), gone])
            span.elapsed[moment] = arithmetic.largest([constant(0), capped])
        return span.elapsed[moment]

    def _between(self, before: Term, after: Term, length_s: int) -> Term:
        hint = None if after.hint is None or before.hint is None else after.hint - before.hint
        expression = after.expression - before.expression
        if not before.is_constant and not after.is_constant:
            # It follows from what both are, but the linear relaxation does not see it.
            self._model.add_linear_constraint(expression, 0, length_s)
        most = min(length_s, after.most - before.least)
        several = not before.is_constant and not after.is_constant
        return Term(expression, max(0, after.least - before.most), most, hint, several)
